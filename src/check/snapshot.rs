//! A snapshot: one version of the repository in memory, either the working tree or the base of the
//! comparison.

pub(crate) mod base;
pub(crate) mod handoff;

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::check::CheckError;
use crate::check::repository::Repository;
use crate::check::repository_file::RepositoryFile;
use crate::check::rules::roles::Roles;
use crate::check::rules::static_context::{MAX_IMPORT_DEPTH, imports};
use crate::core::note::decode::{Decoded, decode};
use crate::core::time::Timestamp;
use base::{Base, Version};
use handoff::CommittedHandoff;

pub(crate) struct Snapshot<'r> {
    pub(crate) version: Version<'r>,
    /// All files, sorted by path; those that a check reads have a text.
    pub(crate) files: Vec<RepositoryFile>,
    pub(crate) handoffs: Vec<CommittedHandoff>,
    /// Files that differ from the newest commit.
    pub(crate) uncommitted: HashSet<String>,
}

#[derive(Clone, Copy)]
pub(crate) struct SnapshotReader<'r> {
    pub(crate) repository: &'r Repository,
    pub(crate) roles: Roles<'r>,
    /// Larger files are not read.
    pub(crate) max_bytes: u64,
}

type Texts = HashMap<String, String>;

impl<'r> SnapshotReader<'r> {
    pub(crate) fn working_tree(self) -> Result<Snapshot<'r>, CheckError> {
        let repository = self.repository;
        let changed = repository.tree.changed_since(None)?;
        let uncommitted: HashSet<String> = changed.union(&repository.untracked).cloned().collect();
        let is_read = |path: &&str| self.roles.is_read(path) || is_gitignore(path);
        let paths = || repository.paths.iter().map(String::as_str);
        let read: Vec<&str> = paths().filter(is_read).collect();
        let baseline = Some(repository.file.settings.baseline.as_str());
        let dated = read.iter().copied().chain(baseline.filter(|path| repository.has(path)));
        // The history has no time for uncommitted changes; git would search all of it in vain.
        let dated = dated.filter(|path| !uncommitted.contains(*path)).collect();
        let times = repository.tree.times(None, &dated)?;
        let version = Version::WorkingTree;
        let mut texts = self.texts(version, &read)?;
        self.read_imports(version, &mut texts)?;
        let modified = |path: &str| {
            // Without a history, the age of a handoff is unknown, so it does not count as too old.
            let is_ageless = repository.tree.newest.is_none() && self.roles.is_handoff(path);
            let undated = if is_ageless { repository.now } else { repository.undated() };
            times.get(path).copied().unwrap_or(undated)
        };
        let snapshot = self.snapshot(version, paths(), texts, modified);
        Ok(Snapshot { uncommitted, ..snapshot })
    }

    pub(crate) fn base(
        self,
        base: &'r Base,
        head: &Snapshot<'_>,
    ) -> Result<Snapshot<'r>, CheckError> {
        let now: HashMap<&str, &RepositoryFile> =
            head.files.iter().map(|file| (file.path.as_str(), file)).collect();
        let unchanged = |path: &str| {
            let file = now.get(path).filter(|_| !base.differing.contains(path))?;
            Some((path.to_owned(), file.text.clone()?))
        };
        let paths = || base.files.keys().map(String::as_str);
        let read: Vec<&str> = paths().filter(|path| self.roles.is_read(path)).collect();
        let mut texts: Texts = read.iter().filter_map(|path| unchanged(path)).collect();
        let others: Vec<&str> =
            read.iter().copied().filter(|path| !texts.contains_key(*path)).collect();
        let version = Version::Base(base);
        texts.extend(self.texts(version, &others)?);
        self.read_imports(version, &mut texts)?;
        let removed = read.into_iter().filter(|path| !now.contains_key(path)).collect();
        let times = self.repository.tree.times(Some(&base.commit), &removed)?;
        // A file in both versions keeps its current time, renamed or not: an edit or a rename makes
        // an old note recent, but adds nothing.
        let modified = |path: &str| {
            let file = now.get(path).or_else(|| now.get(base.renamed.get(path)?.as_str()));
            let at = file.map(|file| file.modified).or_else(|| times.get(path).copied());
            at.unwrap_or_else(|| self.repository.undated())
        };
        Ok(self.snapshot(version, paths(), texts, modified))
    }

    fn snapshot<'a>(
        self,
        version: Version<'r>,
        paths: impl Iterator<Item = &'a str>,
        mut texts: Texts,
        modified: impl Fn(&str) -> Timestamp,
    ) -> Snapshot<'r> {
        let file = |path: &str| RepositoryFile {
            path: path.to_owned(),
            text: texts.remove(path),
            modified: modified(path),
        };
        let files: Vec<RepositoryFile> = paths.map(file).collect();
        let handoffs = files.iter().filter(|file| self.roles.is_handoff(&file.path));
        let handoffs = handoffs.filter_map(CommittedHandoff::read).collect();
        Snapshot { version, files, handoffs, uncommitted: HashSet::new() }
    }

    fn texts(self, version: Version<'_>, paths: &[&str]) -> Result<Texts, CheckError> {
        let read = version.read(&self.repository.tree, paths, self.max_bytes)?;
        Ok(read.into_iter().map(|(path, bytes)| (path, text(bytes))).collect())
    }

    /// Reads the files that static files import, directly or indirectly.
    fn read_imports(self, version: Version<'_>, texts: &mut Texts) -> Result<(), CheckError> {
        let is_static = |path: &&String| self.roles.static_limit(path).is_some();
        let mut importers: Vec<String> = texts.keys().filter(is_static).cloned().collect();
        for _ in 0..MAX_IMPORT_DEPTH {
            let read = importers.iter().filter_map(|path| Some((path, texts.get(path)?)));
            let named = read.flat_map(|(path, text)| imports(path, text));
            let is_new = |path: &String| {
                !texts.contains_key(path) && version.has_file(self.repository, path)
            };
            let new: BTreeSet<String> = named.filter(is_new).collect();
            if new.is_empty() {
                break;
            }
            texts.extend(self.texts(version, &new.iter().map(String::as_str).collect::<Vec<_>>())?);
            importers = new.into_iter().collect();
        }
        Ok(())
    }
}

impl Snapshot<'_> {
    /// The files that a session reads from disk: ignore rules, and the files that handoffs list.
    pub(crate) fn files_on_disk(&self, repository: &Repository) -> BTreeSet<String> {
        let ignore_rules = self.files.iter().map(|file| &file.path);
        let ignore_rules = ignore_rules.filter(|path| is_gitignore(path)).cloned();
        let listed = self.handoffs.iter().flat_map(CommittedHandoff::listed);
        let listed = listed.filter(|path| self.version.has_file(repository, path));
        ignore_rules.chain(listed).collect()
    }
}

fn is_gitignore(path: &str) -> bool {
    path == ".gitignore" || path.ends_with("/.gitignore")
}

/// Decodes a file. Keeps valid UTF-8 unchanged, so that columns match those in an editor. Also
/// decodes files that sessions skip as binary, because hosts read them.
pub(crate) fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| {
        let lossy = String::from_utf8_lossy(error.as_bytes()).into_owned();
        match decode(error.into_bytes()) {
            Decoded::Text(text, _) => text,
            Decoded::Binary => lossy,
        }
    })
}
