//! The commands for handoffs: one file per group of commands.

mod adopt;
mod answers;
mod create;
mod export;
mod import;
mod keep;
mod pickup;
mod reconcile;
mod repair;

use std::cmp::Ordering;
use std::path::PathBuf;

use thiserror::Error;

pub use crate::app::handoff::adopt::{Adopted, ProjectHandoffs};
pub use crate::app::handoff::answers::{Listed, masked};
pub use crate::app::handoff::create::Created;
pub(crate) use crate::app::handoff::import::is_known;
pub use crate::app::handoff::import::{Imported, ImportedHandoff};
pub use crate::app::handoff::keep::Pruned;
pub use crate::app::handoff::pickup::Picked;
pub use crate::app::handoff::reconcile::{Finding, Reconciled, Verdict};
pub use crate::app::handoff::repair::{RepairedState, repair_state};

use crate::core::handoff::document::{self, Incomplete, InputError, Read};
use crate::core::handoff::life::Actor;
use crate::core::handoff::record::{HandoffRecord, LogLine};
use crate::core::handoff::{HandoffId, Kind, Status, TypedId};
use crate::core::time::Timestamp;
use crate::core::time_limits;
use crate::store::handoff_files::HandoffFiles;
use crate::store::state::{State, StateError};
use crate::system::clock;
use crate::system::environment::Environment;
use crate::system::folders;
use crate::workspace::{AppError, Place, Request};

/// Why a command for handoffs failed.
#[derive(Debug, Error)]
pub enum HandoffError {
    #[error(transparent)]
    App(#[from] AppError),
    #[error(transparent)]
    State(#[from] StateError),
    #[error("{0}")]
    Input(#[from] InputError),
    #[error("{0}; add --goal and --next, or the keys goal and next_step")]
    Incomplete(#[from] Incomplete),
    #[error(
        "the handoff has {0} bytes, more than 1,048,576; move long parts to files and list them under `files`"
    )]
    TooLong(usize),
    #[error("cannot use {}: {cause}; check its permissions and the disk", path.display())]
    Document { path: PathBuf, cause: String },
    /// A rotation was asked for with a file that is not there. Agents know the first words.
    #[error("Error: File not found: {}; write the handoff there, or name another file", .0.display())]
    NoFile(PathBuf),
    /// What was typed cannot be a handoff.
    #[error("{0}")]
    Usage(String),
    /// The handoffs do not allow it.
    #[error("{0}")]
    No(String),
}

impl HandoffError {
    fn document(path: impl Into<PathBuf>, cause: impl ToString) -> HandoffError {
        HandoffError::Document { path: path.into(), cause: cause.to_string() }
    }

    pub(super) fn empty() -> HandoffError {
        let why = "the handoff has no text; write some below its header, or pass --goal and --next";
        HandoffError::Usage(why.to_owned())
    }
}

pub fn now() -> Timestamp {
    clock::now()
}

/// The result of a command for handoffs.
pub type Result<T, E = HandoffError> = std::result::Result<T, E>;

pub struct Handoffs {
    pub(super) place: Place,
    pub(super) scope: String,
    pub channel: String,
    pub(super) session: Option<String>,
    /// The folder that relative paths on the command line start from.
    standing: PathBuf,
    pub(super) state: State,
}

impl Handoffs {
    /// Opens the handoffs of a place. The channel is the named one, else the one where the session
    /// started, else the folder's.
    pub fn open(
        request: &Request,
        channel: Option<&str>,
        session: Option<&str>,
    ) -> Result<Handoffs> {
        let environment = request.environment.clone().unwrap_or_else(Environment::of_process);
        let session = session.map(str::to_owned).or_else(|| {
            environment.get("KGCTX_SESSION_ID").map(|id| id.to_string_lossy().into_owned())
        });
        let session = session.filter(|id| !id.trim().is_empty());
        let environment = match channel {
            Some(channel) => environment.with("KGCTX_CHANNEL", channel),
            None => environment,
        };
        let request = Request { environment: Some(environment), ..request.clone() };
        let is_named = channel.is_some() || request.dir.is_some();
        Handoffs::open_at(&request, session, !is_named)
    }

    /// Opens the handoffs of a place, or of the one where the session started.
    pub(super) fn open_at(
        request: &Request,
        session: Option<String>,
        follows_session: bool,
    ) -> Result<Handoffs> {
        let standing = folders::settled(request.dir.clone().unwrap_or_else(|| ".".into()));
        let mut place = Place::find(request)?;
        let mut state = State::open(&place.directories.state, time_limits::STATE)?;
        state.make_durable()?;
        let (mut scope, mut channel) = (place.project.scope.clone(), place.project.channel.clone());
        if let Some(session) = session.as_deref().filter(|_| follows_session)
            && let Some(origin) = state.session_origin(session)?
        {
            (scope, channel) = (origin.scope, origin.channel);
            // Listed files are relative to the session's folder, not to the shell's current one.
            let there = Request { dir: Some(origin.folder), ..request.clone() };
            place = Place::find(&there).unwrap_or(place);
        }
        let mut handoffs = Handoffs { place, scope, channel, session, standing, state };
        handoffs.recover()?;
        Ok(handoffs)
    }

    /// Why this place is not in a git repository.
    pub fn outside_of_git(&self) -> Option<&str> {
        let project = &self.place.project;
        project.is_outside_of_git.then_some(project.because.as_str())
    }

    pub fn path(&self, record: &HandoffRecord) -> PathBuf {
        self.files(&record.scope).path(&record.id)
    }

    /// Claimed handoffs, then active ones, then archived ones. The active ones are in the order in
    /// which they are given: that for the next session, then the tasks as a pickup takes them. The
    /// other groups are by priority, then newest first.
    pub fn list(&self, with_archive: bool) -> Result<Vec<HandoffRecord>> {
        let mut records = self.state.list_handoffs(&self.scope)?;
        records.retain(|record| with_archive || !record.is_archived());
        self.put_in_order(&mut records)?;
        Ok(records)
    }

    /// How many documents of the project the state does not know, as after its loss.
    pub fn n_unregistered(&self) -> Result<usize> {
        let files = self.files(&self.scope);
        let all = files.all().map_err(|cause| HandoffError::document(files.folder(), cause))?;
        let known = self.state.list_handoffs(&self.scope)?;
        let is_lost = |id: &&HandoffId| known.iter().all(|record| record.id != **id);
        Ok(all.iter().filter(is_lost).count())
    }

    /// The last handoff that a session was given by itself.
    pub fn last_given(&self) -> Result<Option<HandoffRecord>> {
        let records = self.state.list_handoffs(&self.scope)?.into_iter();
        let given = records.filter(|record| record.status == Status::Consumed);
        Ok(given.max_by_key(|record| record.changed))
    }

    /// Sorts records that are sorted by age, newest first, and finds out who claims them.
    fn put_in_order(&self, records: &mut [HandoffRecord]) -> Result<()> {
        let group = |record: &HandoffRecord| match (record.status.as_str(), record.kind) {
            ("claimed", _) => 0,
            ("active", Kind::Session) => 1,
            ("active", Kind::Task) => 2,
            _ => 3,
        };
        records.sort_by(|a, b| {
            let by_priority = (group(a), a.priority).cmp(&(group(b), b.priority));
            by_priority.then_with(|| match group(a) {
                2 => (a.created, &a.id).cmp(&(b.created, &b.id)),
                _ => Ordering::Equal,
            })
        });
        for record in records.iter_mut().filter(|record| record.status == Status::Claimed) {
            record.is_abandoned = self.is_abandoned(record)?;
        }
        Ok(())
    }

    /// Whether the session that claims a handoff is over.
    fn is_abandoned(&self, record: &HandoffRecord) -> Result<bool> {
        let session = record.changed_by.as_deref().filter(|_| record.status == Status::Claimed);
        Ok(session.map(|session| self.state.is_session_over(session)).transpose()?.unwrap_or(false))
    }

    /// The handoff that is meant by an id as it was typed.
    pub fn named(&self, typed: &TypedId) -> Result<HandoffId> {
        let ids = self.state.list_handoffs(&self.scope)?.into_iter().map(|record| record.id);
        let ids: Vec<HandoffId> = ids.collect();
        let whole = HandoffId::parse(typed.as_str());
        // One that was removed still has its log, and its id may be the beginning of another.
        if let Ok(id) = &whole
            && !self.state.handoff_log(&self.scope, Some(id), 1)?.is_empty()
        {
            return Ok(id.clone());
        }
        match (&typed.among(&ids)[..], whole) {
            ([id], _) => Ok((*id).clone()),
            ([], Ok(id)) => Ok(id),
            ([], Err(_)) => {
                let (typed, channel) = (typed.as_str(), &self.channel);
                Err(HandoffError::No(format!(
                    "no handoff in channel {channel} starts with {typed}; `kgctx handoff list --all` lists them"
                )))
            }
            (several, _) => {
                let ids: Vec<&str> = several.iter().map(|id| id.as_str()).take(5).collect();
                let (typed, number, ids) = (typed.as_str(), several.len(), ids.join(", "));
                Err(HandoffError::No(format!(
                    "{number} handoffs start with {typed}: {ids}{}; type more of the id",
                    if number > 5 { ", …" } else { "" }
                )))
            }
        }
    }

    /// Finds a handoff, or the one that waits for the next session. Changes nothing.
    pub fn find(&self, id: Option<&HandoffId>) -> Result<HandoffRecord> {
        match id {
            Some(id) => {
                let found = self.state.handoff(&self.scope, id.as_str())?;
                found.ok_or_else(|| self.unknown(id))
            }
            None => self.state.current_handoff(&self.scope)?.ok_or_else(|| {
                let channel = &self.channel;
                HandoffError::No(format!(
                    "no handoff waits in channel {channel}; `kgctx handoff list --all` lists earlier ones"
                ))
            }),
        }
    }

    /// The document as stored.
    pub fn text(&self, record: &HandoffRecord) -> Result<String> {
        let bytes = self.files(&record.scope).read(&record.id);
        let bytes = bytes.map_err(|cause| HandoffError::document(self.path(record), cause))?;
        String::from_utf8(bytes)
            .map_err(|_| HandoffError::document(self.path(record), "it is not UTF-8 text"))
    }

    /// The parsed document.
    pub fn document(&self, record: &HandoffRecord) -> Result<Read> {
        document::read(self.text(record)?.as_bytes())
            .map_err(|cause| HandoffError::document(self.path(record), cause))
    }

    /// The last log lines, newest first.
    pub fn log(&self, id: Option<&HandoffId>, limit: usize) -> Result<Vec<LogLine>> {
        let lines = self.state.handoff_log(&self.scope, id, limit)?;
        match id {
            // A removed handoff still has its log.
            Some(id) if lines.is_empty() => Err(self.unknown(id)),
            _ => Ok(lines),
        }
    }

    fn files(&self, scope: &str) -> HandoffFiles {
        HandoffFiles::new(&self.place.directories, scope)
    }

    fn actor(&self) -> Actor {
        Actor { session: self.session.clone(), now_ms: clock::now_ms() }
    }

    /// Finishes the work of processes that have ended: activates or forgets their drafts, releases
    /// their claims, and completes their removals.
    fn recover(&mut self) -> Result<()> {
        let actor = self.actor();
        self.files(&self.scope).finish_drafts(&mut self.state, &self.scope, &actor)?;
        self.state.reconsider_rotations(clock::tick_ms(), &actor)?;
        self.state.release_void_handoffs(&self.scope, &actor)?;
        for record in self.state.condemned_handoffs(&self.scope)? {
            // A file that still cannot be removed must not block the other handoffs.
            let _ = self.remove(&record, "its removal had begun");
        }
        Ok(())
    }

    fn unknown(&self, id: &HandoffId) -> HandoffError {
        let channel = &self.channel;
        HandoffError::No(format!(
            "there is no handoff {id} in channel {channel}; `kgctx handoff list --all` lists all of them"
        ))
    }
}
