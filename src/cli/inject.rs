//! `kgctx inject`

use std::borrow::Cow;
use std::thread;
use std::time::Duration;

use serde::Serialize;

use crate::app::deliver::http::{self, Delivered, ServerDelivery};
use crate::app::deliver::{NotDelivered, Refusal};
use crate::app::inject::{inject, peak_memory};
use crate::app::recorder::Recording;
use crate::app::session::Session;
use crate::cli::args::{Format, InjectArgs, LimitArgs, PlaceArgs};
use crate::cli::outcome::Outcome;
use crate::cli::screen::Screen;
use crate::core::context::candidate::{Line, Part};
use crate::core::context::receipt::{Entry, Fault, Injection, PartUse, Stage};
use crate::core::session::{Moment, Recipients};
use crate::core::source::SourceChoice;
use crate::core::text::for_terminal;
use crate::core::text::number::thousands;

/// How often a busy session is looked at by who waits for it.
const BUSY_INTERVAL: Duration = Duration::from_millis(200);

/// The answer as JSON.
#[derive(Serialize)]
struct Answer<'a> {
    session: &'a str,
    /// The stored message that carries it.
    message: Option<&'a str>,
    project: Option<&'a str>,
    text: &'a str,
    tokens: usize,
    chars: usize,
    budget: usize,
    /// Who answered about maenifold's memory, and why.
    source: Option<&'a SourceChoice>,
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

pub(super) fn run(place: &PlaceArgs, args: &InjectArgs, screen: &mut Screen) -> Outcome {
    if !args.dry_run {
        return deliver_to_server(place, args, screen);
    }
    let injection = inject(&session(place, &args.session, &args.limits), Recording::New)?;
    match args.format {
        Format::Markdown => screen.print(&injection.text),
        Format::Json => screen.json(&answer(&injection, None)),
    }
    // The text is there before anything is said about it.
    screen.flush();
    remark(&injection, args, screen);
    Ok(())
}

/// Stores the context in a session of a running server.
fn deliver_to_server(place: &PlaceArgs, args: &InjectArgs, screen: &mut Screen) -> Outcome {
    let request = ServerDelivery {
        session: args.session.clone(),
        place: place.request_of(&args.limits.source),
        budget: args.limits.budget.map(|tokens| tokens as usize),
        now: args.limits.now,
        to: Recipients::All,
    };
    let deliver = || {
        http::check_enabled(&request)?;
        let server = match &args.server {
            Some(server) => server.clone(),
            None => http::usual_server(&request.place)?,
        };
        loop {
            match deliver_once(&server, &request) {
                Err(refusal) if args.wait && refusal.is_transient() => thread::sleep(BUSY_INTERVAL),
                done => return done,
            }
        }
    };
    let done = deliver();
    let Delivered { injection, message } = match done {
        Ok(delivered) => delivered,
        Err(refusal) if refusal.kind() == Refusal::Fine => {
            screen.complain(&format!("kgctx: {refusal}\n"));
            return Ok(());
        }
        Err(refusal) => return Err(refusal.into()),
    };
    let tokens = thousands(injection.receipt.used.tokens);
    match args.format {
        Format::Markdown => screen.line(format!("{tokens} tokens are in {message}")),
        Format::Json => screen.json(&answer(&injection, Some(&message))),
    }
    remark(&injection, args, screen);
    Ok(())
}

/// Has the service do it, where there is one.
fn deliver_once(server: &str, request: &ServerDelivery) -> Result<Delivered, NotDelivered> {
    #[cfg(unix)]
    if let Some(done) = crate::service::deliver(server, request) {
        return done;
    }
    http::run(server, request)
}

/// Says what there is to say about a context.
fn remark(injection: &Injection, args: &InjectArgs, screen: &mut Screen) {
    if args.format == Format::Markdown {
        for Fault { source, reason } in &injection.receipt.faults {
            screen.complain(&format!("kgctx: {source}: {}\n", for_terminal::one_line(reason)));
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
}

/// The session that the arguments speak of.
pub(super) fn session(place: &PlaceArgs, id: &str, limits: &LimitArgs) -> Session {
    Session {
        id: id.to_owned(),
        moment: Moment::Start,
        place: place.request_of(&limits.source),
        host: limits.host.unwrap_or_default(),
        budget: limits.budget.map(|tokens| tokens as usize),
        now: limits.now,
        within: None,
        is_watched: false,
        handoff: None,
    }
}

fn answer<'a>(injection: &'a Injection, message: Option<&'a str>) -> Answer<'a> {
    let receipt = &injection.receipt;
    Answer {
        session: &receipt.session,
        message,
        project: receipt.project.as_deref(),
        text: &injection.text,
        tokens: receipt.used.tokens,
        chars: receipt.used.chars,
        budget: receipt.budget.tokens,
        source: receipt.source.as_ref(),
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
