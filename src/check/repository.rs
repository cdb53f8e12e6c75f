//! The repository of a check: the checkout, what it asks for, and what was decided from it once for all sessions.

mod git;
mod walk;
pub mod working_tree;

use std::collections::HashSet;
use std::path::PathBuf;

use crate::check::finding::Spot;
use crate::check::repository::working_tree::{History, Listing, RepositoryError, WorkingTree};
use crate::check::repository_file::Unread;
use crate::check::settings;
use crate::check::settings::SessionSpec;
use crate::check::settings::file::CheckFile;
use crate::check::settings::{host_name, is_project_name};
use crate::check::{CheckError, CheckRequest};
use crate::core::context::budget::Host;
use crate::core::project::Layout;
use crate::core::project::identify;
use crate::core::secrets;
use crate::core::text::for_model;
use crate::core::time::{Timespan, Timestamp};
use crate::system::environment::Environment;

/// The repository's settings, at its top.
pub(crate) const SETTINGS: &str = "kgctx.toml";
/// More settings than this are none.
const MAX_SETTINGS_BYTES: u64 = 1024 * 1024;
/// A longer line is cut in an excerpt.
const MAX_EXCERPT_CHARS: usize = 160;

/// The repository of a check.
pub(crate) struct Repository {
    pub(crate) tree: WorkingTree,
    /// All files, in order.
    pub(crate) paths: Vec<String>,
    /// Those that git does not know yet.
    pub(crate) untracked: HashSet<String>,
    /// What is there beside them.
    pub(crate) unread: Vec<Unread>,
    /// The text of the settings, if there are any.
    pub(crate) text: Option<String>,
    pub(crate) file: CheckFile,
    pub(crate) project: String,
    pub(crate) now: Timestamp,
    /// The moment that the user named.
    asked_now: Option<Timestamp>,
    pub(crate) sessions: Vec<SessionSpec>,
}

impl Repository {
    pub(crate) fn find(request: &CheckRequest) -> Result<Repository, CheckError> {
        let dir = match &request.dir {
            Some(dir) => dir.clone(),
            None => Environment::of_process().current_dir().unwrap_or_else(|_| PathBuf::from(".")),
        };
        // Without the environment: whose home the repository lies in is not its matter.
        let facts = crate::system::git::facts(&dir, &Environment::default())
            .map_err(|cause| RepositoryError::Dir { dir: dir.clone(), cause })?;
        let repository =
            facts.repository.as_ref().filter(|repository| repository.layout != Layout::Bare);
        let top = match repository {
            Some(repository) => &repository.checkout,
            None => facts.marked.as_ref().unwrap_or(&facts.folder),
        };
        let tree = WorkingTree::find(top, repository.is_some())?;
        let Listing { paths, untracked, unread } = tree.files()?;
        let has_settings = has(&paths, SETTINGS);
        let bytes = has_settings.then(|| tree.read(SETTINGS, MAX_SETTINGS_BYTES)).flatten();
        let text = bytes.map(String::from_utf8).transpose().map_err(|error| {
            let line =
                error.as_bytes()[..error.utf8_error().valid_up_to()].split(|&b| b == b'\n').count();
            CheckError::Place(format!(
                "{SETTINGS}:{line}: this is no UTF-8; save the file in that encoding"
            ))
        })?;
        let file = match &text {
            Some(text) => settings::file::read(SETTINGS, text)?,
            None => CheckFile::default(),
        };
        let named = || identify::project(&facts, None, &[]).name;
        let project = file
            .settings
            .project
            .clone()
            .or_else(|| tree.origin.clone())
            .or_else(named)
            .filter(|name| is_project_name(name))
            .unwrap_or_else(|| "project".to_owned());
        let now = request.now.or(tree.newest).unwrap_or(Timestamp(0));
        let sessions = match &file.settings.sessions[..] {
            [] => Host::ALL.into_iter().map(at_the_top).collect(),
            declared => declared.to_vec(),
        };
        let asked_now = request.now;
        Ok(Repository {
            tree,
            paths,
            untracked,
            unread,
            text,
            file,
            project,
            now,
            asked_now,
            sessions,
        })
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        has(&self.paths, path)
    }

    /// The moment at which a session starts.
    pub(crate) fn now_of(&self, session: &SessionSpec) -> Timestamp {
        self.asked_now.or(session.now).unwrap_or(self.now)
    }

    /// When a file was changed of which the history says nothing: now where there is one, and so long ago that it is not
    /// recent where there is none.
    pub(crate) fn undated(&self) -> Timestamp {
        match self.tree.newest {
            Some(_) => self.now,
            None => self.now.before(Timespan::from_hours(30 * 24)),
        }
    }

    /// Whether there is a repository, so that its top is the project.
    pub(crate) fn has_repository(&self) -> bool {
        self.tree.history != History::NoRepository
    }

    /// Whether there are settings at the top that are not the repository's: ignored, a link, or too large to be any.
    pub(crate) fn has_unread_settings(&self) -> bool {
        self.text.is_none() && self.tree.is_taken(SETTINGS)
    }

    /// The place of the first of some keys that is set; the settings' first line where none is. `None` without settings.
    pub(crate) fn spot(&self, keys: &[String]) -> Option<Spot> {
        self.text.as_ref()?;
        let set = keys.iter().find_map(|key| self.file.places.get(key)).cloned();
        let first = || Spot { path: SETTINGS.to_owned(), line: 1, column: 1, length: 0 };
        Some(set.unwrap_or_else(first))
    }

    /// The line of a place in the settings, as it may be shown.
    pub(crate) fn excerpt(&self, spot: &Spot) -> Option<String> {
        let text = self.text.as_ref().filter(|_| spot.path == SETTINGS)?;
        let line = secrets::mask(text.lines().nth(spot.line.checked_sub(1)?)?).into_owned();
        Some(for_model::one_line(&line).chars().take(MAX_EXCERPT_CHARS).collect())
    }
}

fn has(paths: &[String], path: &str) -> bool {
    paths.binary_search_by(|known| known.as_str().cmp(path)).is_ok()
}

/// A session at the top of the repository.
fn at_the_top(host: Host) -> SessionSpec {
    SessionSpec {
        name: host_name(host).to_owned(),
        dir: String::new(),
        host,
        budget: None,
        now: None,
        branch: None,
    }
}
