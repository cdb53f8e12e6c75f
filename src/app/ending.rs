//! Writes what sessions leave that have ended, in a process of its own that nobody waits for.

use std::path::PathBuf;
use std::time::Duration;

use crate::app::handoff::{Draft, HandoffError, Handoffs};
use crate::core::handoff::conversation::Conversation;
use crate::core::handoff::ending;
use crate::core::handoff::record::HandoffRecord;
use crate::core::handoff::{Document, Kind, Occasion, Status};
use crate::core::time::Timestamp;
use crate::hosts::claude_code::transcript;
use crate::store::state::{Ending, State};
use crate::system::clock;
use crate::system::directories::Directories;
use crate::system::environment::Environment;
use crate::system::summariser;
use crate::workspace::{Request, Strictness};

/// Another process that is writing the state is waited for this long.
const PATIENCE: Duration = Duration::from_secs(5);
/// A summary takes no longer.
const SUMMARY_PATIENCE: Duration = Duration::from_secs(120);

/// Writes the handoffs of all sessions that have ended without one, and of `just_ended`, which could not be noted. Whatever
/// goes wrong is left as it is, and tried again when the next session starts.
pub fn finish_all(just_ended: Option<Ended>) {
    let Ok(directories) = Directories::locate(&Environment::of_process()) else { return };
    let now_ms = || clock::now().milliseconds();
    let Ok(Some(mut state)) = State::open_if_there(&directories.state, PATIENCE) else { return };
    if let Some(Ended { session, folder, transcript }) = just_ended {
        let ending = Ending { session, folder, transcript, at_ms: now_ms() };
        let _ = state.end_session(&ending.session, Some(&ending), ending.at_ms);
    }
    let mut failed: Vec<String> = Vec::new();
    while let Ok(Some(ending)) = state.take_ending(now_ms()) {
        if failed.contains(&ending.session) {
            return;
        }
        // One that cannot be written is not in the way of the others.
        if finish(&ending).is_err() || state.finish_ending(&ending).is_err() {
            failed.push(ending.session);
        }
    }
}

/// A session that has just ended.
pub struct Ended {
    /// Its id.
    pub session: String,
    /// The folder that it worked in.
    pub folder: PathBuf,
    /// The host's record of it.
    pub transcript: Option<PathBuf>,
}

fn finish(ended: &Ending) -> Result<(), HandoffError> {
    let request = Request {
        dir: Some(ended.folder.clone()),
        strictness: Strictness::Lenient,
        ..Request::default()
    };
    let mut handoffs = Handoffs::open_for(&request, &ended.session)?;
    if !handoffs.writes_endings() || handoffs.has_written(ended)? {
        return Ok(());
    }
    let conversation = match &ended.transcript {
        Some(file) => transcript::read(file).unwrap_or_default(),
        None => Conversation::default(),
    };
    let Some(mut document) = document(&handoffs, ended, &conversation) else { return Ok(()) };
    // A summary takes its time, in which somebody else may have written it.
    if handoffs.has_written(ended)? {
        return Ok(());
    }
    // Of two sessions the one that ended later leaves the newer one, whoever sums up faster.
    document.head.created_at = Some(Timestamp::from_milliseconds(ended.at_ms));
    handoffs.create(Draft { document, author: Some(ended.session.clone()) })?;
    Ok(())
}

/// What a session leaves; `None` where it is too short to leave anything.
fn document(handoffs: &Handoffs, ended: &Ending, conversation: &Conversation) -> Option<Document> {
    let transcript = ended.transcript.as_ref().map(|file| file.to_string_lossy());
    let ending = ending::Ending::of(
        &ended.session,
        handoffs.channel(),
        transcript.as_deref(),
        conversation,
        handoffs.min_turns(),
    );
    let ending = ending.ok()?;
    let command = handoffs.summariser();
    if command.is_empty() {
        return Some(ending.without_summary());
    }
    let answer = summariser::ask(command, &ending.question(), SUMMARY_PATIENCE);
    let summed_up = answer.ok().and_then(|answer| ending.summed_up(&answer).ok());
    Some(summed_up.unwrap_or_else(|| ending.without_summary()))
}

impl Handoffs {
    fn writes_endings(&self) -> bool {
        self.is_on() && self.settings().enabled.value
    }

    fn min_turns(&self) -> usize {
        self.settings().min_turns.value as usize
    }

    fn summariser(&self) -> &[String] {
        &self.settings().summariser.value
    }

    /// Whether the session has left something itself since it was last taken up, or something of it still waits: what it wrote
    /// is better than what could be written about it. Tasks are another matter, and so is what was written about an earlier
    /// end.
    fn has_written(&self, ended: &Ending) -> Result<bool, HandoffError> {
        let since = self.taken_up_at()?.unwrap_or(i64::MIN);
        let of_this_end = |record: &HandoffRecord| {
            record.kind == Kind::Session
                && record.session.as_deref() == self.session()
                && match record.occasion {
                    Occasion::End => record.created.milliseconds() >= ended.at_ms,
                    _ => record.status == Status::Active || record.created.milliseconds() >= since,
                }
        };
        Ok(self.list(true)?.iter().any(of_this_end))
    }
}
