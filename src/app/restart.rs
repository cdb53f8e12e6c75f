//! What the hooks of an agent tell the wrapper that runs it: the session that it is in, and that the session is to be
//! followed by a new one, because its context is full.

use std::path::Path;
use std::thread;
use std::time::Instant;

use crate::app::capture::{Forgetful, capture};
use crate::app::monitor;
use crate::core::handoff::conversation::{Message, Role};
use crate::core::monitor::Level;
use crate::core::time_limits;
use crate::hosts::claude_code::usage;
use crate::hosts::transcript;
use crate::hosts::words::SessionEvent;
use crate::store::state::State;
use crate::system::environment::Environment;
use crate::system::process::identity::Process;
use crate::workspace::{Place, Request};

/// Names the wrapper in the environment of its agent.
pub(super) const WRAPPER: &str = "KGCTX_WRAP";

/// How much of a transcript is read at the end of a turn.
const SOON_READ_BYTES: u64 = 16 * 1024 * 1024;
/// Where the last words of a turn are.
const LAST_WORDS_BYTES: u64 = 256 * 1024;

/// Tells the wrapper, if there is one, which session its agent is in. Missing it means that the session is not followed.
pub(super) fn track(state: &mut State, session: &str, folder: &Path) {
    if let (Some(token), Some(host)) = (wrapper(), Process::host()) {
        let _ = state.track_session(&token, host, session, folder);
    }
}

/// At the end of a turn: if the context is full and a wrapper starts this very agent again, writes a handoff, and asks
/// for it. Otherwise does nothing.
pub(super) fn after_turn(event: &SessionEvent, is_working: bool, is_scripted: bool) -> Option<()> {
    let (token, host) = (wrapper()?, Process::host()?);
    let SessionEvent { session, folder, transcript, .. } = event;
    let place = Place::find(&Request::lenient(folder.clone())).ok()?;
    let looked = State::look(&place.directories.state, time_limits::HOOK_STATE).ok()??;
    // A session that goes on by itself is not ended.
    let is_asked_for = looked.wrap(&token).ok()??.restarts(session, host)
        && looked.rotation_of(session).ok()?.is_none();
    let record = monitor::own(looked.context(session).ok()?);
    drop(looked);
    let file = transcript.as_deref()?;
    // What works in the background would end with the agent.
    if !is_asked_for || is_working {
        return None;
    }
    let began = Instant::now();
    let missing = missing_answer(file, event.answer.as_deref());
    let fill =
        monitor::measure(&record, Some(file), usage::MOST_BYTES).fill(&place.settings.monitor);
    if fill.level < Level::Critical {
        return None;
    }
    let mut conversation = transcript::read_ends(file, SOON_READ_BYTES).ok()?;
    conversation.messages.extend(missing);
    // Without a handoff the new session would know nothing.
    let (handoff, _) = capture(&Forgetful {
        session,
        folder: folder.clone(),
        conversation: &conversation,
        transcript: Some(file),
        is_scripted,
        environment: None,
        patience: time_limits::TURN_WORK.saturating_sub(began.elapsed()),
    })?;
    let mut state = State::open(&place.directories.state, time_limits::HOOK_STATE).ok()?;
    state.ask_for_restart(&token, session, &handoff).ok().map(drop)
}

/// The last words of the turn, if the transcript does not have them. Claude Code may write them a moment later.
fn missing_answer(file: &Path, answer: Option<&str>) -> Option<Message> {
    let answer = answer.map(str::trim).filter(|answer| !answer.is_empty())?;
    // The transcript's is cut like this.
    let answer = transcript::shortened(answer.to_owned());
    let is_there = || {
        let heard = transcript::read_end(file, LAST_WORDS_BYTES).ok()?;
        Some(heard.last_of(Role::Assistant)?.text.trim() == answer)
    };
    let until = Instant::now() + time_limits::LATE_TRANSCRIPT;
    while is_there() != Some(true) {
        if Instant::now() >= until {
            return Some(Message { role: Role::Assistant, text: answer });
        }
        thread::sleep(time_limits::HELD_POLL);
    }
    None
}

fn wrapper() -> Option<String> {
    let environment = Environment::of_process();
    Some(environment.get(WRAPPER)?.to_str()?.to_owned())
}
