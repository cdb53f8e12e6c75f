//! A session of a check: builds its context with the code that builds all contexts, and the report
//! about it.

use crate::app::inject::inject;
use crate::app::recorder::Recording;
use crate::app::session::Session;
use crate::check::CheckError;
use crate::check::contexts::ContextBuilder;
use crate::check::report::{EntryName, SessionReport, part_tokens};
use crate::check::settings::SessionSpec;
use crate::check::snapshot::handoff::{CommittedHandoff, choose, load};
use crate::core::context::candidate::{Line, Part, quoted_name};
use crate::core::context::receipt::{Entry, Fault, FaultSource, Injection, Receipt};
use crate::core::handoff::HandoffSection;
use crate::core::host::Host;
use crate::core::time_limits;

/// More than any context needs.
const UNLIMITED: usize = 100_000_000;

/// A session and its context.
pub(crate) struct SessionContext {
    pub(crate) report: SessionReport,
    pub(crate) text: String,
    /// Whether there is content, but the budget has no room for any of it.
    pub(crate) is_shut_out: bool,
    /// The tokens of the session's budget that are kept for its first prompt.
    pub(crate) kept: usize,
    /// The part of the handoff that does not fit.
    pub(crate) cut: Option<Cut>,
    pub(crate) faults: Vec<Fault>,
}

/// A handoff that does not fit whole.
pub(crate) struct Cut {
    pub(crate) handoff: String,
    /// The tokens that fit, and all tokens of the handoff.
    pub(crate) shown: usize,
    pub(crate) wanted: usize,
}

impl ContextBuilder<'_> {
    /// Builds the session's context, and a second one without limits to find what does not fit.
    pub(super) fn context(&self, session: &SessionSpec) -> Result<SessionContext, CheckError> {
        let Injection { text, receipt, .. } = self.inject(session, session.host, session.budget)?;
        let unlimited = self.inject(session, Host::Plain, Some(UNLIMITED))?.receipt;
        let handoff = self.handoff(session).map(CommittedHandoff::name).unwrap_or_default();
        let (shown, omitted) = names(&receipt, &handoff);
        let tokens = |receipt: &Receipt| part_tokens(&receipt.parts, Part::Handoff);
        let cut = Cut { handoff, shown: tokens(&receipt), wanted: tokens(&unlimited) };
        // A handoff that does not fit is a finding, not a fault.
        let faults =
            receipt.faults.into_iter().filter(|fault| fault.source != FaultSource::Handoff);
        let faults = faults.map(|Fault { source, reason }| Fault {
            reason: self.facts.sandbox.checkout.as_in_repository(&reason),
            source,
        });
        Ok(SessionContext {
            kept: receipt.kept_tokens,
            is_shut_out: text.is_empty() && unlimited.used.tokens > 0,
            cut: Some(cut).filter(|cut| cut.shown < cut.wanted),
            faults: faults.collect(),
            text,
            report: SessionReport {
                name: session.name.clone(),
                host: session.host,
                budget: receipt.budget,
                used: receipt.used,
                wanted: unlimited.used.tokens,
                parts: receipt.parts,
                limits: self.facts.repository.file.settings.limits_in(session.host),
                shown,
                omitted,
                growth: None,
            },
        })
    }

    fn handoff(&self, session: &SessionSpec) -> Option<&CommittedHandoff> {
        let now = self.facts.repository.now_of(session);
        choose(&self.snapshot.handoffs, &self.facts.sandbox.places[&session.dir], now)
    }

    pub(super) fn inject(
        &self,
        session: &SessionSpec,
        host: Host,
        budget: Option<usize>,
    ) -> Result<Injection, CheckError> {
        let request = self.facts.sandbox.enter(session)?;
        let place = &self.facts.sandbox.places[&session.dir];
        let handoff = load(self.handoff(session), place);
        let session = Session {
            budget,
            now: Some(self.facts.repository.now_of(session)),
            within: Some(time_limits::CHECK),
            is_watched: true,
            handoff: Some(handoff),
            ..Session::new(&session.name, request, host)
        };
        Ok(inject(&session, Recording::Off)?)
    }
}

/// The names of the shown and of the omitted entries.
fn names(receipt: &Receipt, handoff_name: &str) -> (Vec<EntryName>, Vec<EntryName>) {
    let (mut shown, mut omitted) = (Vec::new(), Vec::new());
    if let Some(HandoffSection::Handoff(handoff)) = &receipt.handoff {
        let mut add = |part: Part, name: &str| {
            let has_room = receipt.parts.iter().any(|used| used.name == part);
            let entries = if has_room { &mut shown } else { &mut omitted };
            entries.push(EntryName { part, name: name.to_owned() });
        };
        add(Part::Handoff, handoff_name);
        handoff.files.iter().for_each(|file| add(Part::Files, &file.path));
    }
    for entry in &receipt.entries {
        let entries = if entry.shown.is_some() { &mut shown } else { &mut omitted };
        entries.push(name(entry));
    }
    (shown, omitted)
}

fn name(entry: &Entry) -> EntryName {
    let part = entry.candidate.part;
    let name = match &entry.candidate.line {
        Line::Described { uri, .. } if part == Part::Recent => uri.clone(),
        Line::Described { name, .. } => {
            let plain = name.strip_prefix("[[").and_then(|name| name.strip_suffix("]]"));
            plain.unwrap_or(name).to_owned()
        }
        Line::Quoted { name, title, .. } => quoted_name(name, title),
        Line::Connected { concept, .. } => concept.to_string(),
    };
    EntryName { part, name }
}
