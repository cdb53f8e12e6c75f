//! Gives a context to a host that takes it from our standard output: it is delivered when it is written, and whoever dies
//! before gives back what he had claimed.

use std::path::PathBuf;
use std::time::Instant;

use crate::app::hook::{STATE_PATIENCE, now_ms, origin};
use crate::app::inject::inject;
use crate::app::recorder::Recording;
use crate::app::session;
use crate::app::session_handoff::{SessionHandoff, claim_handoff};
use crate::core::context::budget::Host;
use crate::core::session::Moment;
use crate::store::state::{Claim, HandoffRequest, State, Token};
use crate::system::breakpoint;
use crate::system::process::identity::Process;
use crate::workspace::{Place, Request, Strictness};

/// A session that is to be given its context.
pub(super) struct Subject<'a> {
    pub(super) session: &'a str,
    pub(super) host: Host,
    pub(super) moment: Moment,
    pub(super) wanted: HandoffRequest,
    /// When it is of no use any more.
    pub(super) until: Instant,
}

/// A context on its way: whoever writes it out says what became of it.
pub struct Underway {
    /// What is to be written.
    pub text: String,
    claim: Option<Claimed>,
    until: Instant,
}

struct Claimed {
    folder: PathBuf,
    token: Token,
    receipt: Option<i64>,
}

impl Underway {
    /// The same claim for another text.
    pub(super) fn saying(self, text: String) -> Underway {
        Underway { text, ..self }
    }

    /// The host has it.
    pub fn delivered(self) {
        breakpoint::reach("load:printed");
        let Some(Claimed { folder, token, receipt }) = self.claim else { return };
        // What is not written down now comes twice: whoever else is writing is waited for as long as there is time.
        let left = self.until.saturating_duration_since(Instant::now());
        let _ =
            State::open(&folder, left.max(STATE_PATIENCE)).and_then(|mut state| match receipt {
                Some(receipt) => state.settle(receipt, now_ms()).map(drop),
                None => state.settle_claim(token, now_ms()),
            });
        breakpoint::reach("load:settled");
    }

    /// It could not be written.
    pub fn not_delivered(self) {
        let Some(Claimed { folder, token, .. }) = self.claim else { return };
        // If it cannot be released, it is void when this process has ended.
        let _ = State::open(&folder, STATE_PATIENCE)
            .and_then(|mut state| state.release_claim(token, now_ms()));
    }
}

/// The folder of a session, as far as that can be told.
pub(super) fn request(folder: PathBuf) -> Request {
    Request { dir: Some(folder), strictness: Strictness::Lenient, ..Request::default() }
}

/// Makes the context of a session, if it is not given it by somebody else; `None` where there is nothing to say.
pub(super) fn give(place: &Place, request: Request, subject: &Subject<'_>) -> Option<Underway> {
    let Subject { session, moment, wanted, .. } = subject;
    let folder = place.directories.state.clone();
    let process = Process::this();
    let claimed = match State::open(&folder, STATE_PATIENCE) {
        Ok(mut state) => match state.claim_for(Some(process), session, moment, now_ms(), None) {
            Ok(Claim::Won(token)) => Some((state, token)),
            Ok(Claim::Held | Claim::Settled) => return None,
            // Whoever has it at the moment may be giving it.
            Err(error) if error.is_transient() => return None,
            Err(_) => None,
        },
        Err(error) if error.is_transient() => return None,
        Err(_) => None,
    };
    let host = Process::host();
    let (loaded, recording, token) = match claimed {
        Some((mut state, token)) => {
            let at = request.dir.clone().unwrap_or_default();
            // Where it lives is of use to others, not to this one.
            let _ = state.remember_session(session, &origin(place, at), host);
            let loaded = claim_handoff(&mut state, token, place, session, *wanted, host);
            (loaded, Recording::UnderClaim(state, token), Some(token))
        }
        None => (SessionHandoff::default(), Recording::Off, None),
    };
    let context = session::Session {
        id: (*session).to_owned(),
        moment: moment.clone(),
        place: request,
        host: subject.host,
        budget: None,
        now: None,
        within: Some(subject.until.saturating_duration_since(Instant::now())),
        is_watched: false,
        handoff: Some(loaded),
    };
    let has_handoff = matches!(&context.handoff, Some(loaded) if loaded.section.is_some());
    let made = match moment {
        // It was taken up again for this one alone, which somebody else has got by now.
        Moment::Handoff(_) if !has_handoff => None,
        _ => inject(&context, recording).ok(),
    };
    breakpoint::reach("load:composed");
    // A handoff for which there was no room, and of which no receipt tells that it was given back, must not be settled.
    let is_unshown = made
        .as_ref()
        .is_some_and(|made| made.id.is_none() && made.receipt.omitted_handoff().is_some());
    let (text, receipt) = made.map_or((String::new(), None), |made| (made.text, made.id));
    let token = token.filter(|_| !is_unshown);
    let claim = token.map(|token| Claimed { folder, token, receipt });
    let underway = Underway { text, claim, until: subject.until };
    if underway.text.is_empty() {
        underway.not_delivered();
        return None;
    }
    Some(underway)
}
