//! `kgctx inject`

use std::path::PathBuf;
use std::thread;

use clap::{Args as ClapArgs, ValueEnum};
use serde::Serialize;

use crate::app::deliver::Refusal;
use crate::app::deliver::http::{self, Delivered, ServerDelivery};
use crate::app::inject::inject;
use crate::app::process::peak_memory;
use crate::app::recorder::Recording;
use crate::app::session::{Session, read_prompt};
use crate::app::supplement::at_first_prompt;
use crate::cli::outcome::Outcome;
use crate::cli::place::PlaceArgs;
use crate::cli::progress::during;
use crate::cli::screen::Screen;
use crate::cli::values::{moment, one_of, some_of, source_help, tokens};
use crate::core::context::candidate::{Line, Part, quoted_name};
use crate::core::context::receipt::{Entry, Fault, Injection, PartUse, Stage};
use crate::core::context::uncommitted::UncommittedRecord;
use crate::core::host::Host;
use crate::core::session::Recipients;
use crate::core::source::{SourceChoice, SourcePreference};
use crate::core::text::for_terminal;
use crate::core::text::number::thousands;
use crate::core::time::Timestamp;
use crate::core::time_limits;
use crate::workspace::AppError;

/// Give a session its context, once
///
/// Selects the notes that the session most likely needs, quoted, best first, within an exact number of tokens. Stores them in a session of a running OpenCode server as a message that the model reads
/// without answering. Reads the server's password from OPENCODE_SERVER_PASSWORD. A session gets its context only while it is
/// idle, and only once. Every context has a receipt: see `kgctx explain`.
#[derive(Debug, ClapArgs)]
pub(super) struct InjectArgs {
    /// The session that gets the context
    #[arg(long, value_name = "ID")]
    session: String,
    /// The OpenCode server [default: the first of `servers` in the configuration, http://127.0.0.1:4096]
    #[arg(long, value_name = "URL", conflicts_with = "dry_run")]
    server: Option<String>,
    /// Wait until the session is idle
    #[arg(long, conflicts_with = "dry_run")]
    wait: bool,
    /// Print exactly what kgctx would deliver, and deliver nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    prompt: PromptArgs,
    #[command(flatten)]
    limits: LimitArgs,
    /// What to print
    #[arg(long, default_value = "markdown")]
    format: Format,
    /// Print how long each stage took, on standard error
    #[arg(long)]
    timings: bool,
}

/// The first prompt of a session.
#[derive(Debug, ClapArgs)]
pub(super) struct PromptArgs {
    /// A file with the session's first prompt, to select notes for it
    #[arg(long, value_name = "FILE", requires = "dry_run")]
    prompt_file: Option<PathBuf>,
    /// Print only what that prompt adds to the session's context, or to the last one built for it
    #[arg(long, requires = "prompt_file")]
    supplement: bool,
}

impl PromptArgs {
    /// The session with its prompt.
    pub(super) fn add_to(&self, session: Session) -> Result<Session, AppError> {
        let prompt = self.prompt_file.as_deref().map(read_prompt).transpose()?;
        let session = Session { prompt, ..session };
        if self.supplement { at_first_prompt(session) } else { Ok(session) }
    }
}

/// Limits of a context.
#[derive(Debug, ClapArgs)]
pub(super) struct LimitArgs {
    /// The maximum number of tokens [default: 4000, or KGCTX_TOKEN_LIMIT or the configuration]
    #[arg(long, value_name = "TOKENS", value_parser = tokens)]
    pub(super) budget: Option<u32>,
    /// Also respect the limits of this host [default: plain]
    #[arg(long, value_parser = some_of(|host: Host| Some(host.facts().limits.as_ref()?.help)))]
    pub(super) host: Option<Host>,
    /// Build it as of this time, like 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(super) now: Option<Timestamp>,
    /// The source for the notes of maenifold's memory [default: auto, or the configuration]
    #[arg(long, value_name = "SOURCE", value_parser = one_of(source_help))]
    pub(super) source: Option<SourcePreference>,
}

/// What to print of a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Only the text
    Markdown,
    /// The text, and how kgctx built it
    Json,
}

/// The answer as JSON.
#[derive(Serialize)]
struct InjectAnswer<'a> {
    session: &'a str,
    /// The stored message that carries it.
    message: Option<&'a str>,
    project: Option<&'a str>,
    text: &'a str,
    tokens: usize,
    chars: usize,
    budget: usize,
    /// The tokens that are kept for what the first prompt adds.
    kept: usize,
    /// Who answered about maenifold's memory, and why.
    source: Option<&'a SourceChoice>,
    parts: &'a [PartUse],
    omitted: Vec<Omitted>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uncommitted: Option<&'a UncommittedRecord>,
    faults: &'a [Fault],
    ms: f64,
}

/// An entry for which there was no room.
#[derive(Serialize)]
struct Omitted {
    part: Part,
    name: String,
}

pub(super) fn run(place: &PlaceArgs, args: &InjectArgs, screen: &mut Screen) -> Outcome {
    if !args.dry_run {
        return deliver_to_server(place, args, screen);
    }
    let session = args.prompt.add_to(session(place, &args.session, &args.limits))?;
    let injection = during("Making the context", |_| inject(&session, Recording::New))?;
    match args.format {
        Format::Markdown => screen.print(&injection.text),
        Format::Json => screen.json(&answer(&injection, None)),
    }
    // Prints the text before any remarks about it.
    screen.flush();
    remark(&injection, args, screen);
    Ok(())
}

/// Stores the context in a session of a running server.
fn deliver_to_server(place: &PlaceArgs, args: &InjectArgs, screen: &mut Screen) -> Outcome {
    let request = ServerDelivery {
        session: args.session.clone(),
        place: place.request_from(args.limits.source),
        budget: args.limits.budget.map(|tokens| tokens as usize),
        now: args.limits.now,
        to: Recipients::All,
    };
    let deliver = || {
        let server = http::server_of(&request, args.server.as_ref())?;
        loop {
            // The service does it, where there is one.
            let done = crate::service::deliver(&server, &request);
            match done.unwrap_or_else(|| http::run(&server, &request)) {
                Err(refusal) if args.wait && refusal.is_transient() => {
                    thread::sleep(time_limits::BUSY_POLL)
                }
                done => return done,
            }
        }
    };
    let Delivered { injection, message } = match during("Delivering the context", |_| deliver()) {
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

/// Says what there is to say about a context.
fn remark(injection: &Injection, args: &InjectArgs, screen: &mut Screen) {
    if args.format == Format::Markdown {
        for Fault { source, reason } in &injection.receipt.faults {
            screen.complain(&format!("kgctx: {source}: {}\n", for_terminal::one_line(reason)));
        }
        if let Some(reason) = emptiness(injection, args) {
            screen.complain(&format!("kgctx: the context is empty: {reason}\n"));
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

/// Why a context has no text, if nothing else says so. A first prompt may well add none.
fn emptiness(injection: &Injection, args: &InjectArgs) -> Option<String> {
    let receipt = &injection.receipt;
    if !injection.text.is_empty() || !receipt.faults.is_empty() || args.prompt.supplement {
        return None;
    }
    Some(match receipt.omitted().next() {
        Some(_) => {
            format!("{} tokens are too few for any of it", thousands(receipt.budget.tokens))
        }
        None => "there is nothing to show; `kgctx doctor` checks why".to_owned(),
    })
}

/// The session that the arguments speak of.
pub(super) fn session(place: &PlaceArgs, id: &str, limits: &LimitArgs) -> Session {
    Session {
        budget: limits.budget.map(|tokens| tokens as usize),
        now: limits.now,
        ..Session::new(id, place.request_from(limits.source), limits.host.unwrap_or_default())
    }
}

fn answer<'a>(injection: &'a Injection, message: Option<&'a str>) -> InjectAnswer<'a> {
    let receipt = &injection.receipt;
    InjectAnswer {
        session: &receipt.session,
        message,
        project: receipt.project.as_deref(),
        text: &injection.text,
        tokens: receipt.used.tokens,
        chars: receipt.used.chars,
        budget: receipt.budget.tokens,
        kept: receipt.kept_tokens,
        source: receipt.source.as_ref(),
        parts: &receipt.parts,
        omitted: receipt.omitted().map(omitted).collect(),
        uncommitted: receipt.uncommitted.as_ref(),
        faults: &receipt.faults,
        ms: receipt.stages.iter().find(|stage| stage.name == "all").map_or(0.0, |stage| stage.ms),
    }
}

fn omitted(entry: &Entry) -> Omitted {
    let name = match &entry.candidate.line {
        Line::Described { name, .. } => name.clone(),
        Line::Quoted { name, title, .. } => quoted_name(name, title),
        Line::Connected { concept, .. } => format!("[[{concept}]]"),
    };
    Omitted { part: entry.candidate.part, name }
}
