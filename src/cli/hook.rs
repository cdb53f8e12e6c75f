//! `kgctx hook`: the one command that must never disturb its caller. It ends with 0, prints nothing
//! to standard error, and answers in time.

use std::io::{self, IsTerminal, Read};
use std::panic;
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use clap::Args as ClapArgs;
use serde_json::{Map, Value};

use crate::app::deliver::PendingDelivery;
use crate::app::hook::{self, Caller, HookLimits};
use crate::cli::place::PlaceArgs;
use crate::cli::screen::Screen;
use crate::cli::values::some_of;
use crate::core::host::Host;
use crate::core::time_limits;
use crate::hosts::opencode::BridgeReply;
use crate::hosts::words::words;
use crate::service;

/// No question is longer: it holds no messages, only the marks in them.
const LONGEST_QUESTION: u64 = 4 * 1024 * 1024;

/// Answer a host's plugin or hook: reads JSON from standard input, prints JSON
///
/// For plugins and hooks, not for people. Always exits with 0 and within 1.2 seconds.
#[derive(Debug, ClapArgs)]
pub(super) struct HookArgs {
    /// The host
    #[arg(value_parser = some_of(|host: Host| host.facts().hook))]
    host: Host,
}

pub(super) fn run(place: &PlaceArgs, args: &HookArgs, mut screen: Screen) -> ExitCode {
    // A panic leads to a reply without a context, and prints nothing.
    panic::set_hook(Box::new(|_| {}));
    let until = Instant::now() + time_limits::HOOK;
    let is_summariser = hook::is_summariser();
    let reason = match is_summariser {
        true => "this session summarises another one",
        false => "no answer in time, or kgctx crashed; `kgctx doctor` may show more",
    };
    let nothing = match words(args.host) {
        Some(words) => words.nothing(),
        None => BridgeReply::none(reason).to_json().ok(),
    };
    let limits = HookLimits { dir: place.dir.clone(), vaults: place.vaults.clone() };
    let answered = if is_summariser { None } else { in_time(until, args.host, limits) };
    if let Some(pending) = answered.or_else(|| nothing.map(PendingDelivery::unclaimed)) {
        screen.print(&format!("{}\n", pending.content));
        // Counts as delivered only after the last byte was written.
        if screen.written().is_ok() {
            pending.sent();
        }
    }
    ExitCode::SUCCESS
}

/// Whether a host waits for an answer: it has written an event to standard input.
pub(super) fn is_asked() -> bool {
    if io::stdin().is_terminal() {
        return false;
    }
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut chunk = [0; 1 << 16];
        // Ends when nobody listens any more.
        while let Ok(n @ 1..) = io::stdin().read(&mut chunk) {
            if sender.send(chunk[..n].to_vec()).is_err() {
                break;
            }
        }
    });
    let until = Instant::now() + time_limits::HOOK_QUESTION;
    let left = || until.saturating_duration_since(Instant::now());
    let mut told = Vec::new();
    while let Ok(chunk) = receiver.recv_timeout(left()) {
        told.extend(chunk);
        if is_event(&told) {
            return true;
        }
        if told.len() as u64 > LONGEST_QUESTION {
            break;
        }
    }
    false
}

/// Whether a text is what a host tells a hook.
fn is_event(text: &[u8]) -> bool {
    let event: Option<Map<String, Value>> = serde_json::from_slice(text).ok();
    let keys = ["hook_event_name", "hookEventName", "session_id", "sessionId"];
    event.is_some_and(|event| keys.iter().any(|key| event.contains_key(*key)))
}

/// What to print, if anything.
type Answer = Option<PendingDelivery<String>>;

/// Answers a host. The bridge in OpenCode is answered by the service, where there is one.
fn answer(host: Host, question: io::Result<Vec<u8>>, until: Instant, limits: HookLimits) -> Answer {
    if host != Host::Opencode {
        return hook::direct(host, &question.ok()?, until, limits);
    }
    let pending = match question {
        // The service knows of no limits.
        Ok(question) => match limits.is_none().then(|| service::hook(&question)).flatten() {
            Some(reply) => PendingDelivery::unclaimed(reply),
            None => hook::opencode(&question, &Caller { limits, ..Caller::alone(until) }),
        },
        Err(error) => PendingDelivery::unclaimed(BridgeReply::none(error)),
    };
    let json = pending.content.to_json().ok()?;
    Some(pending.map(|_| json))
}

/// Reads the question and works out the answer, on a thread that is left behind when time is up.
fn in_time(until: Instant, host: Host, limits: HookLimits) -> Answer {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut question = Vec::new();
        let read = io::stdin().take(LONGEST_QUESTION).read_to_end(&mut question);
        // A late answer is dropped together with its claim.
        let until = until - time_limits::HOOK_REPLY;
        let _ = sender.send(answer(host, read.map(|_| question), until, limits));
    });
    receiver.recv_timeout(until.saturating_duration_since(Instant::now())).ok().flatten()
}
