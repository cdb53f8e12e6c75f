//! `kgctx inject`

use std::borrow::Cow;

use serde::Serialize;

use crate::app::inject::{Keep, Session, inject, is_switched_off, peak_memory};
use crate::cli::args::{Format, InjectArgs, LimitArgs, PlaceArgs};
use crate::cli::outcome::{Failure, UNAVAILABLE};
use crate::cli::screen::{Screen, harmless};
use crate::domain::budget::Host;
use crate::domain::candidate::{Line, Part};
use crate::domain::receipt::{Entry, Fault, Injection, PartUse, Stage};
use crate::domain::session::Moment;

/// The answer as JSON.
#[derive(Serialize)]
struct Answer<'a> {
    session: &'a str,
    project: Option<&'a str>,
    text: &'a str,
    tokens: usize,
    chars: usize,
    budget: usize,
    parts: &'a [PartUse],
    omitted: Vec<Omitted<'a>>,
    faults: &'a [Fault],
    ms: f64,
}

/// An entry for which there was no room.
#[derive(Serialize)]
struct Omitted<'a> {
    part: Part,
    name: Cow<'a, str>,
}

pub(super) fn run(
    place: &PlaceArgs,
    args: &InjectArgs,
    screen: &mut Screen,
) -> Result<(), Failure> {
    if !args.dry_run {
        if let Some(Fault { source, reason }) = is_switched_off(&place.request())? {
            screen.complain(&format!("kgctx: {source}: {reason}\n"));
            return Ok(());
        }
        return Err(Failure {
            code: UNAVAILABLE,
            message: format!(
                "there is no server to deliver to for session {:?}: this version prints contexts and does not \
                 deliver them; add --dry-run, and give its output to the session as a noReply prompt",
                args.session
            ),
        });
    }
    let injection = inject(&session(place, &args.session, &args.limits), Keep::Receipt)?;
    match args.format {
        Format::Markdown => screen.print(&injection.text),
        Format::Json => screen.json(&answer(&injection)),
    }
    // The text is there before anything is said about it.
    screen.flush();
    if args.format == Format::Markdown {
        for Fault { source, reason } in &injection.receipt.faults {
            screen.complain(&format!("kgctx: {source}: {}\n", harmless(reason)));
        }
    }
    if args.timings {
        for Stage { name, ms } in &injection.receipt.stages {
            screen.complain(&format!("{name:<8} {ms:>8.3} ms\n"));
        }
        if let Some(bytes) = peak_memory() {
            screen.complain(&format!("{:<8} {:>8.1} MB\n", "memory", bytes as f64 / 1e6));
        }
    }
    Ok(())
}

/// The session that the arguments speak of.
pub(super) fn session(place: &PlaceArgs, id: &str, limits: &LimitArgs) -> Session {
    Session {
        id: id.to_owned(),
        moment: Moment::Start,
        place: place.request(),
        host: limits.host.map_or_else(Host::default, Host::from),
        budget: limits.budget.map(|tokens| tokens as usize),
        now: limits.now,
        within: None,
        is_watched: false,
    }
}

fn answer(injection: &Injection) -> Answer<'_> {
    let receipt = &injection.receipt;
    Answer {
        session: &receipt.session,
        project: receipt.project.as_deref(),
        text: &injection.text,
        tokens: receipt.used.tokens,
        chars: receipt.used.chars,
        budget: receipt.budget.tokens,
        parts: &receipt.parts,
        omitted: receipt.omitted().map(omitted).collect(),
        faults: &receipt.faults,
        ms: receipt.stages.iter().find(|stage| stage.name == "all").map_or(0.0, |stage| stage.ms),
    }
}

fn omitted(entry: &Entry) -> Omitted<'_> {
    let name = match &entry.candidate.line {
        Line::Described { name, .. } => Cow::Borrowed(name.as_str()),
        Line::Connected { concept, .. } => Cow::Owned(format!("[[{concept}]]")),
    };
    Omitted { part: entry.candidate.part, name }
}
