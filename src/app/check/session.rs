//! A session of a check: its context, made by the path that makes all contexts, and what is reported of it.

use std::time::Duration;

use super::CheckError;
use super::left_behind::choose;
use super::scene::Scene;
use crate::app::inject::{Keep, LeftBehind, Session, inject};
use crate::domain::budget::Host;
use crate::domain::candidate::{Line, Part};
use crate::domain::check::{EntryName, SessionReport, SessionSpec};
use crate::domain::handoff::Legacy;
use crate::domain::receipt::{Entry, Fault, Injection, Receipt};
use crate::domain::session::Moment;

/// More than any context could have.
const ROOM_WITHOUT_END: usize = 100_000_000;
/// Nobody waits for a check at a prompt.
const PATIENCE: Duration = Duration::from_secs(3_600);

/// A session and what it would be given.
pub(super) struct Played {
    pub(super) report: SessionReport,
    pub(super) text: String,
    /// Whether there is something to say and no room to say anything.
    pub(super) is_shut_out: bool,
    /// The handoff for which there is no room.
    pub(super) omitted_handoff: Option<String>,
    pub(super) faults: Vec<Fault>,
}

impl Played {
    /// All entries, with room or without.
    pub(super) fn has(&self, entry: &EntryName) -> bool {
        self.report.shown.contains(entry) || self.report.omitted.contains(entry)
    }
}

/// Makes a session's context, and another one without limits to know what it lacks.
pub(super) fn play(scene: &Scene<'_>, session: &SessionSpec) -> Result<Played, CheckError> {
    let Injection { text, receipt, .. } = make(scene, session, session.host, session.budget)?;
    let unlimited = make(scene, session, Host::Plain, Some(ROOM_WITHOUT_END))?.receipt;
    let named = |id: &str| scene.name_of_handoff(id);
    let (shown, omitted) = names(&receipt, named);
    let is_shut_out = text.is_empty() && unlimited.used.tokens > 0;
    let omitted_handoff = receipt.omitted_handoff().map(|handoff| named(&handoff.id));
    // What has no room is a finding, not a fault.
    let faults = receipt.faults.into_iter().filter(|fault| fault.source != "handoff").collect();
    let report = SessionReport {
        name: session.name.clone(),
        host: session.host,
        budget: receipt.budget,
        used: receipt.used,
        wanted: unlimited.used.tokens,
        parts: receipt.parts,
        limits: scene.ground.file.settings.limits_in(session.host),
        shown,
        omitted,
        growth: None,
    };
    Ok(Played { report, text, is_shut_out, omitted_handoff, faults })
}

/// Makes a session's context alone.
pub(super) fn play_text(scene: &Scene<'_>, session: &SessionSpec) -> Result<String, CheckError> {
    Ok(make(scene, session, session.host, session.budget)?.text)
}

fn make(
    scene: &Scene<'_>,
    session: &SessionSpec,
    host: Host,
    budget: Option<usize>,
) -> Result<Injection, CheckError> {
    let (request, place, left) = scene.enter(session)?;
    let now = scene.ground.now_of(session);
    let session = Session {
        id: session.name.clone(),
        moment: Moment::Start,
        place: request,
        host,
        budget,
        now: Some(now),
        within: Some(PATIENCE),
        is_watched: true,
        handoff: LeftBehind::Known(choose(left, place, now)),
    };
    Ok(inject(&session, Keep::Nothing)?)
}

/// The names of what is shown, and of what is not.
fn names(
    receipt: &Receipt,
    handoff_name: impl Fn(&str) -> String,
) -> (Vec<EntryName>, Vec<EntryName>) {
    let (mut shown, mut omitted) = (Vec::new(), Vec::new());
    if let Some(Legacy::Handoff(handoff)) = &receipt.handoff {
        let mut add = |part: Part, name: &String| {
            let has_room = receipt.parts.iter().any(|used| used.name == part);
            let entries = if has_room { &mut shown } else { &mut omitted };
            entries.push(EntryName { part, name: name.clone() });
        };
        add(Part::Handoff, &handoff_name(&handoff.id));
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
