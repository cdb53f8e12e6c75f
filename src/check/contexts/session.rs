//! A session of a check: its context, made by the path that makes all contexts, and what is reported of it.

use std::time::Duration;

use crate::app::inject::inject;
use crate::app::recorder::Recording;
use crate::app::session::Session;
use crate::check::CheckError;
use crate::check::report::{EntryName, SessionReport};
use crate::check::settings::SessionSpec;
use crate::check::snapshot::Scene;
use crate::check::snapshot::handoff::{Left, load};
use crate::core::context::candidate::{Line, Part};
use crate::core::context::receipt::{Entry, Fault, Injection, Receipt};
use crate::core::handoff::HandoffSection;
use crate::core::host::Host;
use crate::core::session::Moment;

/// More than any context could have.
const ROOM_WITHOUT_END: usize = 100_000_000;
/// Nobody waits for a check at a prompt.
const PATIENCE: Duration = Duration::from_secs(3_600);

/// A session and what it would be given.
pub(crate) struct Played {
    pub(crate) report: SessionReport,
    pub(crate) text: String,
    /// Whether there is something to say and no room to say anything.
    pub(crate) is_shut_out: bool,
    /// What there is no room for of the handoff.
    pub(crate) cut: Option<Cut>,
    pub(crate) faults: Vec<Fault>,
}

/// A handoff that is not given whole.
pub(crate) struct Cut {
    /// What it is called.
    pub(crate) handoff: String,
    /// How many of its tokens have room, and how many it has.
    pub(crate) shown: usize,
    pub(crate) wanted: usize,
}

impl Played {
    /// All entries, with room or without.
    pub(crate) fn has(&self, entry: &EntryName) -> bool {
        self.report.shown.contains(entry) || self.report.omitted.contains(entry)
    }
}

/// Makes a session's context, and another one without limits to know what it lacks.
pub(crate) fn play(scene: &Scene<'_>, session: &SessionSpec) -> Result<Played, CheckError> {
    let chosen = scene.chosen(session)?;
    let Injection { text, receipt, .. } =
        make(scene, session, chosen, session.host, session.budget)?;
    let room = Some(ROOM_WITHOUT_END);
    let unlimited = make(scene, session, chosen, Host::Plain, room)?.receipt;
    let handoff = chosen.map(Left::name).unwrap_or_default();
    let (shown, omitted) = names(&receipt, &handoff);
    let is_shut_out = text.is_empty() && unlimited.used.tokens > 0;
    let of_handoff = |receipt: &Receipt| {
        let part = receipt.parts.iter().find(|part| part.name == Part::Handoff);
        part.map_or(0, |part| part.tokens)
    };
    let cut = Cut { handoff, shown: of_handoff(&receipt), wanted: of_handoff(&unlimited) };
    let cut = Some(cut).filter(|cut| cut.shown < cut.wanted);
    // What has no room is a finding, not a fault.
    let faults = receipt.faults.into_iter().filter(|fault| fault.source != "handoff").collect();
    let report = SessionReport {
        name: session.name.clone(),
        host: session.host,
        budget: receipt.budget,
        used: receipt.used,
        wanted: unlimited.used.tokens,
        parts: receipt.parts,
        limits: scene.repository.file.settings.limits_in(session.host),
        shown,
        omitted,
        growth: None,
    };
    Ok(Played { report, text, is_shut_out, cut, faults })
}

/// Makes a session's context alone.
pub(crate) fn play_text(scene: &Scene<'_>, session: &SessionSpec) -> Result<String, CheckError> {
    let chosen = scene.chosen(session)?;
    Ok(make(scene, session, chosen, session.host, session.budget)?.text)
}

fn make(
    scene: &Scene<'_>,
    session: &SessionSpec,
    chosen: Option<&Left>,
    host: Host,
    budget: Option<usize>,
) -> Result<Injection, CheckError> {
    let (request, place) = scene.enter(session)?;
    let now = scene.repository.now_of(session);
    let session = Session {
        id: session.name.clone(),
        moment: Moment::Start,
        place: request,
        host,
        budget,
        now: Some(now),
        within: Some(PATIENCE),
        is_watched: true,
        handoff: Some(load(chosen, place)),
    };
    Ok(inject(&session, Recording::Off)?)
}

/// The names of what is shown, and of what is not.
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
        Line::Connected { concept, .. } => concept.to_string(),
    };
    EntryName { part, name }
}
