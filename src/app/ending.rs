//! Writes the handoffs of ended sessions, in a separate process that no host waits for.

use std::path::PathBuf;

use crate::app::handoff::{Handoffs, Result};
use crate::core::handoff::conversation::Conversation;
use crate::core::handoff::ending::{self, EmptyAnswer};
use crate::core::handoff::life::Actor;
use crate::core::handoff::record::HandoffRecord;
use crate::core::handoff::{Document, Kind, Occasion, Status};
use crate::core::time::Timestamp;
use crate::core::time_limits;
use crate::hosts::opencode::said;
use crate::hosts::transcript;
use crate::store::state::{Ending, State};
use crate::system::clock;
use crate::system::directories::Directories;
use crate::system::environment::Environment;
use crate::system::summariser;
use crate::workspace::Request;

/// Writes the handoffs of all sessions that ended without one. `just_ended` names one more, with its
/// folder, if the hook could not record it. Failures are retried when the next session starts.
pub fn finish_all(just_ended: Option<(String, PathBuf)>, transcript: Option<PathBuf>) {
    let Ok(directories) = Directories::locate(&Environment::of_process()) else { return };
    let Ok(Some(mut state)) = State::open_if_there(&directories.state, time_limits::STATE) else {
        return;
    };
    if let Some((session, folder)) = just_ended {
        let ending = Ending { session, folder, transcript, at_ms: clock::now_ms() };
        let _ = state.end_session(&ending.session, Some(&ending), ending.at_ms);
    }
    let mut failed: Vec<String> = Vec::new();
    while let Ok(Some(ending)) = state.take_ending(clock::now_ms()) {
        if failed.contains(&ending.session) {
            return;
        }
        // A failure does not block the others.
        if finish(&ending).is_err() || state.finish_ending(&ending).is_err() {
            failed.push(ending.session);
        } else if let Some(file) = &ending.transcript {
            said::forget(file);
        }
    }
}

fn finish(ended: &Ending) -> Result<()> {
    let request = Request::lenient(ended.folder.clone());
    let mut handoffs = Handoffs::open_at(&request, Some(ended.session.clone()), true)?;
    let settings = &handoffs.place.settings;
    let is_on = settings.enabled.value && settings.handoff.enabled.value;
    if !is_on {
        return Ok(());
    }
    let file = ended.transcript.as_ref();
    let conversation = file.and_then(|file| transcript::read(file).ok()).unwrap_or_default();
    if handoffs.has_written(ended, &conversation)? {
        return Ok(());
    }
    let left = document(&handoffs, ended, &conversation);
    let Some((mut document, failure)) = left else { return Ok(()) };
    // The session may have written one itself during the summary.
    if handoffs.has_written(ended, &conversation)? {
        return Ok(());
    }
    // The session that ended later leaves the newer handoff, however long its summary took.
    document.head.created_at = Some(Timestamp::from_milliseconds(ended.at_ms));
    let created = handoffs.create(document)?;
    if let Some(failure) = failure {
        let actor = Actor { session: Some(ended.session.clone()), now_ms: clock::now_ms() };
        handoffs.state.note_summary_failure(&created.id, &failure, &actor)?;
    }
    Ok(())
}

/// The handoff of a session, and why it has no summary if one was wanted; `None` if the session was too short.
fn document(
    handoffs: &Handoffs,
    ended: &Ending,
    conversation: &Conversation,
) -> Option<(Document, Option<String>)> {
    // A file of ours is about to be removed.
    let file = ended.transcript.as_ref().filter(|file| !said::is_one(file));
    let name = file.map(|file| file.to_string_lossy());
    let settings = &handoffs.place.settings.handoff;
    let (channel, min_turns) = (&handoffs.channel, settings.min_turns.value as usize);
    let ending =
        ending::Ending::new(&ended.session, channel, name.as_deref(), conversation, min_turns);
    let work = handoffs.work_of(&ended.session, conversation, time_limits::SESSION_WORK);
    let origin = handoffs.state.last_received(&ended.session).ok().flatten();
    let ending = ending
        .ok()?
        .after(origin.as_ref())
        .with_work(&work)
        .counted_in(handoffs.place.settings.encoding.value);
    let command = &settings.summariser.value;
    let Some(program) = command.first() else { return Some((ending.without_summary(None), None)) };
    let answer = summariser::ask(command, &ending.question(), time_limits::SUMMARY);
    let summed_up = answer.map_err(|error| error.to_string()).and_then(|answer| {
        ending.with_summary(&answer).map_err(|error: EmptyAnswer| error.to_string())
    });
    Some(match summed_up {
        Ok(document) => (document, None),
        Err(reason) => {
            let failure = format!("the summariser {program} gave no summary: {reason}");
            (ending.without_summary(Some(&failure)), Some(failure))
        }
    })
}

impl Handoffs {
    /// Whether the session has written a handoff itself since it was last resumed, or one of its
    /// handoffs still waits: either is better than a summary. Ignores tasks, and what was written at
    /// an earlier end or before a compaction if the session went on since.
    fn has_written(&self, ended: &Ending, conversation: &Conversation) -> Result<bool> {
        let origin = self.state.session_origin(&ended.session)?;
        let since = origin.map_or(i64::MIN, |origin| origin.seen_ms);
        let is_last = |record: &HandoffRecord| {
            conversation.last_ms.is_some_and(|last| record.created.milliseconds() >= last)
        };
        let of_this_end = |record: &HandoffRecord| {
            record.kind == Kind::Session
                && record.session.as_ref() == Some(&ended.session)
                && match record.occasion {
                    Occasion::End => {
                        record.created.milliseconds() >= ended.at_ms || is_last(record)
                    }
                    Occasion::Auto => is_last(record),
                    _ => record.status == Status::Active || record.created.milliseconds() >= since,
                }
        };
        Ok(self.list(true)?.iter().any(of_this_end))
    }
}
