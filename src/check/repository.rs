//! The checked repository: its working tree, its settings, and the values that they set for all
//! sessions.

mod git;
mod history;
pub(crate) mod listing;
pub(crate) mod working_tree;

use std::path::{Path, PathBuf};

use crate::check::finding::Spot;
use crate::check::settings::file::{self, CheckFile};
use crate::check::settings::{SessionSpec, is_project_name};
use crate::check::{CheckError, CheckRequest};
use crate::core::host::Host;
use crate::core::project::{FolderFacts, Layout, identify};
use crate::core::secrets;
use crate::core::text::for_model;
use crate::core::time::{Timespan, Timestamp};
use crate::system;
use crate::system::environment::Environment;
use listing::Listing;
use working_tree::{History, WorkingTree};

/// The repository's settings, at its top.
pub(crate) const SETTINGS: &str = "kgctx.toml";
/// Larger settings are not read.
pub(crate) const MAX_SETTINGS_BYTES: u64 = 1024 * 1024;
/// Longer lines are cut in an excerpt.
const MAX_EXCERPT_CHARS: usize = 160;

pub(crate) struct Repository {
    pub(crate) tree: WorkingTree,
    pub(crate) listing: Listing,
    /// The text of the settings file, if it was read.
    pub(crate) text: Option<String>,
    pub(crate) file: CheckFile,
    pub(crate) project: String,
    pub(crate) now: Timestamp,
    asked_now: Option<Timestamp>,
    pub(crate) sessions: Vec<SessionSpec>,
}

impl Repository {
    pub(crate) fn find(request: &CheckRequest) -> Result<Repository, CheckError> {
        let dir = request.dir.clone().or_else(|| Environment::of_process().current_dir().ok());
        let dir = dir.unwrap_or_else(|| PathBuf::from("."));
        let mut facts = system::git::facts(None, &dir, &Environment::of_process())
            .map_err(|cause| format!("cannot use the folder {}: {cause}", dir.display()))
            .map_err(CheckError::Wrong)?;
        // Where the user's home folder is must not matter in a project.
        let home = facts.home.take();
        let repository = facts.repository.as_ref();
        let repository = repository.filter(|repository| {
            repository.layout != Layout::Bare
                && !is_too_large(&repository.checkout, home.as_deref())
        });
        let top = match repository {
            Some(repository) => repository.checkout.as_path(),
            None => folder_of_project(&facts, home.as_deref())?,
        };
        let tree = WorkingTree::find(top, repository.is_some())?;
        let listing = tree.files()?;
        let text = if listing.paths.contains(SETTINGS) { settings_text(&tree)? } else { None };
        let file = text.as_ref().map(|text| file::read(SETTINGS, text)).transpose()?;
        let file = file.unwrap_or_default();
        let project = file.settings.project.clone().or_else(|| tree.origin.clone());
        let project = project
            .or_else(|| identify::project(&facts, None, &[]).name)
            .filter(|name| is_project_name(name))
            .unwrap_or_else(|| "project".to_owned());
        let asked_now = request.now;
        let now = asked_now.or(tree.newest).unwrap_or(Timestamp(0));
        let sessions = match &file.settings.sessions[..] {
            [] => {
                let at_the_top = |host: Host| SessionSpec {
                    name: host.to_string(),
                    host,
                    ..SessionSpec::default()
                };
                Host::with_limits().map(at_the_top).collect()
            }
            declared => declared.to_vec(),
        };
        Ok(Repository { tree, listing, text, file, project, now, asked_now, sessions })
    }

    /// The moment at which a session starts.
    pub(crate) fn now_of(&self, session: &SessionSpec) -> Timestamp {
        self.asked_now.or(session.now).unwrap_or(self.now)
    }

    /// The time of a file that the history does not have: now if there is a history, else long
    /// enough ago not to be recent.
    pub(crate) fn undated(&self) -> Timestamp {
        match self.tree.newest {
            Some(_) => self.now,
            None => self.now.before(Timespan::from_hours(30 * 24)),
        }
    }

    /// Whether there is a git repository; its top is then the project.
    pub(crate) fn has_repository(&self) -> bool {
        self.tree.history != History::NoRepository
    }

    /// Whether a settings file exists that is not read: ignored by git, a link, or too large.
    pub(crate) fn has_unread_settings(&self) -> bool {
        self.text.is_none() && self.tree.exists(SETTINGS)
    }

    /// The position of the first of these keys that is set.
    pub(crate) fn spot(&self, keys: &[String]) -> Option<&Spot> {
        keys.iter().find_map(|key| self.file.places.get(key))
    }

    /// The line of a spot in the settings, safe to show.
    pub(crate) fn excerpt(&self, spot: &Spot) -> Option<String> {
        let text = self.text.as_ref().filter(|_| spot.path == SETTINGS)?;
        let line = secrets::mask(text.lines().nth(spot.line.checked_sub(1)?)?).into_owned();
        Some(for_model::one_line(&line).chars().take(MAX_EXCERPT_CHARS).collect())
    }
}

/// Whether a folder has all files, or all files of the user: to list them takes minutes.
fn is_too_large(folder: &Path, home: Option<&Path>) -> bool {
    folder.parent().is_none() || home.is_some_and(|home| home.starts_with(folder))
}

/// The project around a folder that is in no repository, or only in one of too many files. Refuses a folder of too many.
fn folder_of_project<'f>(
    facts: &'f FolderFacts,
    home: Option<&Path>,
) -> Result<&'f Path, CheckError> {
    let marked = facts.marked.as_deref().filter(|marked| !is_too_large(marked, home));
    let folder = marked.unwrap_or(&facts.folder);
    if is_too_large(folder, home) {
        return Err(CheckError::Wrong(format!(
            "{} is not a project, and your home folder is in it; run this in a project, or pass its folder with --dir",
            folder.display()
        )));
    }
    Ok(folder)
}

fn settings_text(tree: &WorkingTree) -> Result<Option<String>, CheckError> {
    let bytes = tree.read(SETTINGS, MAX_SETTINGS_BYTES);
    bytes.map(String::from_utf8).transpose().map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.split(|&byte| byte == b'\n').count();
        let message =
            format!("{SETTINGS}:{line}: this is not UTF-8; save the file in that encoding");
        CheckError::Wrong(message)
    })
}
