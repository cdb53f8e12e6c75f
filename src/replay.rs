//! `kgctx replay`: measures on the git history of a vault how many of the notes that each session went on to need its
//! context would have shown. Writes nothing but a temporary folder.
//!
//! - `history`: the vault's commits, read with git
//! - `past_vault`: the vault as a session found it, with an index of its own, and the contexts of that session
//! - `report`: the result

mod history;
mod past_vault;
pub mod report;

use thiserror::Error;

use crate::core::replay::past_notes::PastNotes;
use crate::core::replay::session::{LEAST_NOTES, PastSessions};
use crate::core::replay::step::Blob;
use crate::replay::history::VaultHistory;
use crate::replay::past_vault::PastVault;
use crate::replay::report::{ReplayReport, recall_by_ranking};
use crate::system::git_program::GitError;
use crate::workspace::{AppError, Request};

#[derive(Debug, Clone)]
pub struct ReplayRequest {
    pub place: Request,
    /// The most sessions to replay.
    pub most_sessions: usize,
}

#[derive(Debug, Error)]
pub enum ReplayError {
    /// The request or the vault is wrong.
    #[error("{0}")]
    Wrong(String),
    /// Git, a write or a context fails.
    #[error("{0}")]
    Failed(String),
    #[error(transparent)]
    App(#[from] AppError),
}

impl From<GitError> for ReplayError {
    fn from(error: GitError) -> ReplayError {
        match &error {
            GitError::Foreign(_) => ReplayError::Wrong(error.to_string()),
            GitError::Failed { .. } | GitError::Late { .. } => {
                ReplayError::Failed(error.to_string())
            }
        }
    }
}

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    ReadingCommits,
    ReplayingSessions,
}

/// Replays the history of a vault. Calls `progress` with the number of finished commits or sessions, and of all.
pub fn replay(
    request: &ReplayRequest,
    progress: &mut dyn FnMut(Stage, usize, usize),
) -> Result<ReplayReport, ReplayError> {
    let history = VaultHistory::find(&request.place)?;
    let steps = history.steps()?;
    let mut notes = PastNotes::new(history.contents()?);
    let report = &mut |done| progress(Stage::ReadingCommits, done, steps.len());
    let found = PastSessions::find(&steps, &mut notes, report)?;
    if found.usable.is_empty() {
        return Err(too_few(&found, &history));
    }
    let chosen = found.spread(request.most_sessions);
    let mut vault = PastVault::new(&history)?;
    let mut sessions = Vec::with_capacity(chosen.len());
    for (n, session) in chosen.iter().enumerate() {
        progress(Stage::ReplayingSessions, n, chosen.len());
        vault.advance(&steps[..session.steps.start], &mut notes)?;
        sessions.push(vault.replay(session, &mut notes)?);
    }
    Ok(ReplayReport {
        vault: history.root.display().to_string(),
        project: history.project(),
        encoding: history.place.settings.encoding.value,
        commits: steps.len(),
        sessions_found: found.n_all,
        sessions_usable: found.usable.len(),
        rankings: recall_by_ranking(&sessions),
        sessions,
    })
}

fn too_few(found: &PastSessions, history: &VaultHistory) -> ReplayError {
    let sessions = match found.n_all {
        1 => "1 session".to_owned(),
        n => format!("{n} sessions"),
    };
    ReplayError::Wrong(format!(
        "the history of {} has {sessions}, but none to replay: a session is a run of commits at most 4 hours apart, \
        and counts from the 11th on, if there were {LEAST_NOTES} notes or more and it edited 1 to 20 of them; try \
        again with more history, or pass another vault with --vault",
        history.root.display()
    ))
}

/// Reads a content by its name.
pub(crate) trait ReadContent: FnMut(&Blob) -> Result<Vec<u8>, ReplayError> {}
impl<R: FnMut(&Blob) -> Result<Vec<u8>, ReplayError>> ReadContent for R {}
