//! Writes what sessions leave that have ended, in a process of its own that nobody waits for.

use std::time::Duration;

use crate::adapters::claude_code::transcript;
use crate::adapters::directories::Directories;
use crate::adapters::environment::Environment;
use crate::adapters::state::{Ending, State};
use crate::adapters::{clock, summariser};
use crate::app::handoff::{Desk, Draft, HandoffError};
use crate::app::workspace::{Request, Strictness};
use crate::domain::conversation::Conversation;
use crate::domain::handoff::{Document, Occasion};
use crate::domain::handoff_record::HandoffRecord;
use crate::engine::ending;

/// Another process that is writing the state is waited for this long.
const PATIENCE: Duration = Duration::from_secs(5);
/// A summary takes no longer.
const SUMMARY_PATIENCE: Duration = Duration::from_secs(120);

/// Writes the handoffs of all sessions that have ended without one. Whatever goes wrong is left as it is, and tried again
/// when the next session starts.
pub fn finish_all() {
    let Ok(directories) = Directories::locate(&Environment::of_process()) else { return };
    let now_ms = || clock::now().milliseconds();
    let Ok(Some(mut state)) = State::open_if_there(&directories.state, PATIENCE) else { return };
    let mut failed: Vec<String> = Vec::new();
    while let Ok(Some(ending)) = state.take_ending(now_ms()) {
        if failed.contains(&ending.session) {
            return;
        }
        // One that cannot be written is not in the way of the others.
        if finish(&ending).is_err() || state.finish_ending(&ending.session).is_err() {
            failed.push(ending.session);
        }
    }
}

fn finish(ended: &Ending) -> Result<(), HandoffError> {
    let request = Request {
        dir: Some(ended.folder.clone()),
        strictness: Strictness::Lenient,
        ..Request::default()
    };
    let mut desk = Desk::open_for(&request, &ended.session)?;
    if !desk.writes_endings() || desk.has_written()? {
        return Ok(());
    }
    let conversation = match &ended.transcript {
        Some(file) => transcript::read(file).unwrap_or_default(),
        None => Conversation::default(),
    };
    let Some(document) = document(&desk, ended, &conversation) else { return Ok(()) };
    let gives_way = desk.has_one_on_purpose()?;
    desk.create(Draft { document, author: Some(ended.session.clone()), gives_way })?;
    Ok(())
}

/// What a session leaves; `None` where it is too short to leave anything.
fn document(desk: &Desk, ended: &Ending, conversation: &Conversation) -> Option<Document> {
    let transcript = ended.transcript.as_ref().map(|file| file.to_string_lossy());
    let ending = ending::Ending::of(
        &ended.session,
        desk.channel(),
        transcript.as_deref(),
        conversation,
        desk.min_turns(),
    );
    let ending = ending.ok()?;
    let command = desk.summariser();
    if command.is_empty() {
        return Some(ending.without_summary());
    }
    let answer = summariser::ask(command, &ending.question(), SUMMARY_PATIENCE);
    let summed_up = answer.ok().and_then(|answer| ending.summed_up(&answer).ok());
    Some(summed_up.unwrap_or_else(|| ending.without_summary()))
}

impl Desk {
    fn writes_endings(&self) -> bool {
        self.is_on() && self.settings().enabled.value
    }

    fn min_turns(&self) -> usize {
        self.settings().min_turns.value as usize
    }

    fn summariser(&self) -> &[String] {
        &self.settings().summariser.value
    }

    /// Whether the session has left something itself: what it wrote is better than what could be written about it. What was
    /// written about an earlier end of it, before it was taken up again, is none of that.
    fn has_written(&self) -> Result<bool, HandoffError> {
        let (session, since) = (self.session(), self.ended_at()?);
        let is_of_this_end = |record: &HandoffRecord| {
            record.session.as_deref() == session
                && (record.occasion != Occasion::End || since.is_none_or(|at| record.created >= at))
        };
        Ok(self.list(true)?.iter().any(is_of_this_end))
    }

    /// Whether something waits that somebody left on purpose: what is written about a session does not take its place.
    fn has_one_on_purpose(&self) -> Result<bool, HandoffError> {
        match self.find(None) {
            Ok(current) => Ok(!matches!(current.occasion, Occasion::End | Occasion::Auto)),
            Err(HandoffError::NoCurrent(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
