//! Delivers a session's context exactly once. All doors lead through `deliver`: the bridge in
//! OpenCode, hooks whose standard output the host reads, and OpenCode servers over HTTP, with or
//! without the service.
//!
//! Rules for all of them:
//! - Only the process that won the claim to a session's moment delivers a context.
//! - The session is recorded with its folder and its process: from then on it counts as live.
//! - Its handoff is claimed under that claim, consumed when the claim is settled, and available
//!   again when it is released.
//! - The receipt is recorded under that claim, too.
//! - A claim is settled when the session has the context, released when it does not (on every early
//!   return, error, panic and missed deadline), and left to expire if the outcome is unknown.
//! - A handoff that the session did not see is never consumed.

mod claim;
mod door;
pub mod http;
mod pending;
mod refusal;

use std::path::Path;
use std::time::Instant;

pub use crate::app::deliver::claim::{release_receipt, settle_receipt};
pub use crate::app::deliver::door::Door;
pub use crate::app::deliver::pending::PendingDelivery;
pub use crate::app::deliver::refusal::{NotDelivered, Refusal, ServiceRefusal};

use crate::app::deliver::claim::{ClaimEnd, SessionClaim, Taken};
use crate::app::inject::inject;
use crate::app::recorder::Recording;
use crate::app::session::Session;
use crate::app::session_handoff::{SessionHandoff, claim_handoff};
use crate::app::warm::Warm;
use crate::core::context::receipt::{Fault, FaultSource, Injection};
use crate::core::handoff::HandoffSection;
use crate::core::handoff::choice::HandoffRequest;
use crate::core::session::Moment;
use crate::store::state::{SessionOrigin, State};
use crate::system::breakpoint;
use crate::system::clock::now_ms;
use crate::system::process::identity::Process;
use crate::workspace::{AppError, Place};

/// A session that needs the context of a moment.
pub struct DeliveryRequest<'a> {
    pub door: Door,
    pub session: Session,
    /// The place that the session's request resolves to.
    pub place: &'a Place,
    /// Which handoff goes with the context, if one does.
    pub wanted: Option<HandoffRequest>,
    /// The process that the session runs in, if known.
    pub process: Option<Process>,
    /// The time after which the context is useless.
    pub until: Option<Instant>,
    pub warm: Option<&'a Warm>,
}

/// Claims the session's moment, builds its context, and returns it with the claim.
pub fn deliver(request: DeliveryRequest<'_>) -> Result<PendingDelivery<Injection>, NotDelivered> {
    let DeliveryRequest { door, ref session, place, until, .. } = request;
    if let Some(reason) = &place.closed {
        return Err(NotDelivered::Closed(reason.clone()));
    }
    if !place.settings.enabled.value {
        return Err(NotDelivered::Off(place.settings.enabled.origin.to_string()));
    }
    let folder = &place.directories.state;
    let claimed = SessionClaim::take(folder, &session.id, &session.moment, door, until)?;
    let (mut claim, handoff, recording) = match claimed {
        Taken::Claimed(claim, mut state) => {
            let (token, process) = (claim.token, request.process);
            let folder = session.place.dir.as_deref().unwrap_or(Path::new(""));
            remember(&mut state, &session.id, place, folder, process);
            let handoff = request
                .wanted
                .map(|wanted| claim_handoff(&mut state, token, place, session, wanted, process));
            let handoff = handoff.unwrap_or_default();
            let recording = match &handoff.section {
                Some(HandoffSection::Handoff(_)) if door.is_bridge() => Recording::OrNotAtAll,
                _ => Recording::UnderClaim,
            };
            (Some(claim), handoff, recording(*state, token))
        }
        // Without a claim, every prompt would bring a supplement.
        Taken::Unclaimed { reason } if session.moment == Moment::Prompt => {
            return Err(NotDelivered::Nothing(reason));
        }
        Taken::Unclaimed { reason } => {
            let reason = format!("kgctx did not look for a handoff: {reason}");
            let faults = vec![Fault::new(FaultSource::Handoff, reason)];
            (None, SessionHandoff { section: None, faults }, Recording::New)
        }
    };
    if matches!(session.moment, Moment::Handoff(_)) && handoff.section.is_none() {
        return Err(NotDelivered::Nothing("another session has the handoff".to_owned()));
    }
    let needs_receipt = matches!(recording, Recording::OrNotAtAll(..));
    let mut injection = request.inject(handoff, recording)?;
    breakpoint::reach("load:composed");
    if needs_receipt && injection.id.is_none() {
        // The bridge settles by receipt id, so it could never settle this one: the handoff becomes
        // available again when the claim expires.
        let reason = "it was not delivered, because no receipt could be recorded".to_owned();
        let faults = vec![Fault::new(FaultSource::Handoff, reason)];
        injection = request.inject(SessionHandoff { section: None, faults }, Recording::Unsaved)?;
    }
    if injection.text.is_empty() {
        if let (Moment::Prompt, Some(claim)) = (&session.moment, &mut claim) {
            // No note is worth adding. There is no second first prompt.
            claim.end = ClaimEnd::Settle { receipt: None };
        }
        return Err(nothing_to_say(&injection.receipt.faults));
    }
    Ok(PendingDelivery::of(injection, claim, door))
}

impl DeliveryRequest<'_> {
    fn inject(&self, handoff: SessionHandoff, recording: Recording) -> Result<Injection, AppError> {
        let left = |until: Instant| until.saturating_duration_since(Instant::now());
        let session = Session {
            found: Some(self.place.clone()),
            within: self.until.map(left),
            handoff: Some(handoff),
            ..self.session.clone()
        };
        match self.warm {
            Some(warm) => warm.inject(self.place, session, recording),
            None => inject(&session, recording),
        }
    }
}

/// Records where a session runs. Only other sessions need that, so an error is ignored.
pub(super) fn remember(
    state: &mut State,
    session: &str,
    place: &Place,
    folder: &Path,
    process: Option<Process>,
) {
    let now_ms = now_ms();
    let origin = SessionOrigin {
        scope: place.project.scope.clone(),
        channel: place.project.channel.clone(),
        folder: folder.to_path_buf(),
        at_ms: now_ms,
        seen_ms: now_ms,
    };
    let _ = state.remember_session(session, &origin, process);
}

/// Why a context is empty: the notes could not be read in time, which is transient, or there are
/// none, which is not.
fn nothing_to_say(faults: &[Fault]) -> NotDelivered {
    use FaultSource::{Graph, Index, Notes, Project, Recent, Search};
    let said = |fault: &Fault| format!("{}: {}", fault.source, fault.reason);
    let is_of_notes =
        |fault: &&Fault| matches!(fault.source, Project | Index | Search | Recent | Notes | Graph);
    match (faults.iter().find(is_of_notes), faults.first()) {
        (Some(fault), _) => NotDelivered::Unready(said(fault)),
        (None, Some(fault)) => NotDelivered::Nothing(said(fault)),
        (None, None) => NotDelivered::Nothing("no notes were found".to_owned()),
    }
}

#[cfg(test)]
mod tests;
