//! A snapshot: one version of the repository in memory, either the working tree or the base of the
//! comparison.

pub(crate) mod base;
pub(crate) mod handoff;

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::check::CheckError;
use crate::check::contexts::sandbox::Sandbox;
use crate::check::repository_file::RepositoryFile;
use crate::check::rules::static_context::{MAX_IMPORT_DEPTH, imports};
use crate::core::note::decode::{Decoded, decode};
use crate::core::time::Timestamp;
use base::Base;
use handoff::CommittedHandoff;

pub(crate) struct Snapshot<'r> {
    /// `None` for the working tree.
    pub(crate) base: Option<&'r Base>,
    /// All files, sorted by path; those that a check reads have a text.
    pub(crate) files: Vec<RepositoryFile>,
    pub(crate) handoffs: Vec<CommittedHandoff>,
    /// Notes, handoffs and the baseline that differ from the newest commit, and untracked files.
    pub(crate) uncommitted: HashSet<String>,
}

type Texts = HashMap<String, String>;

impl<'r> Snapshot<'r> {
    /// With an earlier snapshot of the same tree, takes from there when files changed: git is asked
    /// once.
    pub(crate) fn of_working_tree(
        sandbox: &Sandbox<'_>,
        earlier: Option<&Snapshot<'_>>,
    ) -> Result<Snapshot<'r>, CheckError> {
        let (repository, roles) = (sandbox.repository, sandbox.roles());
        let paths = &repository.listing.paths;
        let paths_read = |is_read: &dyn Fn(&str) -> bool| -> Vec<&str> {
            paths.iter().map(String::as_str).filter(|path| is_read(path)).collect()
        };
        let baseline = paths.get(&roles.settings.baseline).map(String::as_str);
        // Nothing depends on the age of other files, and each takes git time: it looks for them in every commit.
        let dated = paths_read(&|path| roles.is_note(path) || roles.is_handoff(path));
        let mut dated: HashSet<&str> = dated.into_iter().chain(baseline).collect();
        let uncommitted = match earlier {
            Some(earlier) => earlier.uncommitted.clone(),
            None => {
                let mut changed = repository.tree.uncommitted(&dated)?;
                changed.extend(repository.listing.untracked.iter().cloned());
                changed
            }
        };
        // The history has no time for uncommitted changes; git would search all of it in vain.
        dated.retain(|path| !uncommitted.contains(*path));
        let times = match earlier {
            Some(earlier) => earlier.times(&dated),
            None => repository.tree.times("HEAD", &dated)?,
        };
        let modified = |path: &str| {
            // Without a history, the age of a handoff is unknown, so it does not count as too old.
            let is_ageless = repository.tree.newest.is_none() && roles.is_handoff(path);
            let undated = if is_ageless { repository.now } else { repository.undated() };
            times.get(path).copied().unwrap_or(undated)
        };
        let texts = read_texts(sandbox, None, &paths_read(&|path| roles.is_read(path)))?;
        let snapshot = Snapshot::new(sandbox, None, paths.iter(), texts, modified)?;
        Ok(Snapshot { uncommitted, ..snapshot })
    }

    pub(crate) fn of_base(
        sandbox: &Sandbox<'_>,
        base: &'r Base,
        head: &Snapshot<'_>,
    ) -> Result<Snapshot<'r>, CheckError> {
        let (repository, roles) = (sandbox.repository, sandbox.roles());
        let now: HashMap<&str, &RepositoryFile> =
            head.files.iter().map(|file| (file.path.as_str(), file)).collect();
        let unchanged = |path: &str| {
            let file = now.get(path).filter(|_| !base.differing.contains(path))?;
            Some((path.to_owned(), file.text.clone()?))
        };
        let paths = base.files.keys().map(String::as_str);
        let read: Vec<&str> = paths.filter(|path| roles.has_role(path)).collect();
        let mut texts: Texts = read.iter().filter_map(|path| unchanged(path)).collect();
        let is_changed = |path: &&str| !texts.contains_key(*path);
        let changed: Vec<&str> = read.iter().copied().filter(is_changed).collect();
        texts.extend(read_texts(sandbox, Some(base), &changed)?);
        let removed = read.into_iter().filter(|path| !now.contains_key(path)).collect();
        let times = repository.tree.times(&base.commit, &removed)?;
        // A file in both versions keeps its current time, renamed or not: an edit or a rename makes
        // an old note recent, but adds nothing.
        let modified = |path: &str| {
            let file = now.get(path).or_else(|| now.get(base.renamed.get(path)?.as_str()));
            let at = file.map(|file| file.modified).or_else(|| times.get(path).copied());
            at.unwrap_or_else(|| repository.undated())
        };
        Snapshot::new(sandbox, Some(base), base.files.keys(), texts, modified)
    }

    /// Also reads the files that static files import.
    fn new<'a>(
        sandbox: &Sandbox<'_>,
        base: Option<&'r Base>,
        paths: impl Iterator<Item = &'a String>,
        mut texts: Texts,
        modified: impl Fn(&str) -> Timestamp,
    ) -> Result<Snapshot<'r>, CheckError> {
        read_imports(sandbox, base, &mut texts)?;
        let file = |path: &String| RepositoryFile {
            path: path.clone(),
            text: texts.remove(path),
            modified: modified(path),
        };
        let files: Vec<RepositoryFile> = paths.map(file).collect();
        let handoffs = files.iter().filter(|file| sandbox.roles().is_handoff(&file.path));
        let handoffs = handoffs.filter_map(CommittedHandoff::read).collect();
        Ok(Snapshot { base, files, handoffs, uncommitted: HashSet::new() })
    }

    fn times(&self, wanted: &HashSet<&str>) -> HashMap<String, Timestamp> {
        let files = self.files.iter().filter(|file| wanted.contains(file.path.as_str()));
        files.map(|file| (file.path.clone(), file.modified)).collect()
    }

    /// The files that a session reads from disk: ignore rules, and the files that handoffs list.
    pub(crate) fn files_on_disk(&self, sandbox: &Sandbox<'_>) -> BTreeSet<String> {
        let ignore_rules = self.files.iter().map(|file| &file.path);
        let ignore_rules = ignore_rules.filter(|path| is_gitignore(path)).cloned();
        let listed = self.handoffs.iter().flat_map(CommittedHandoff::listed);
        let listed = listed.filter(|path| sandbox.has_file(self.base, path));
        ignore_rules.chain(listed).collect()
    }
}

fn read_texts(
    sandbox: &Sandbox<'_>,
    base: Option<&Base>,
    paths: &[&str],
) -> Result<Texts, CheckError> {
    let read = sandbox.read(base, paths)?;
    Ok(read.into_iter().map(|(path, bytes)| (path, text(bytes))).collect())
}

/// Reads the files that static files import, directly or indirectly.
fn read_imports(
    sandbox: &Sandbox<'_>,
    base: Option<&Base>,
    texts: &mut Texts,
) -> Result<(), CheckError> {
    let is_static = |path: &&String| sandbox.roles().static_limit(path).is_some();
    let mut importers: BTreeSet<String> = texts.keys().filter(is_static).cloned().collect();
    for _ in 0..MAX_IMPORT_DEPTH {
        let is_new = |path: &String| !texts.contains_key(path) && sandbox.has_file(base, path);
        let named = importers.iter().filter_map(|path| Some(imports(path, texts.get(path)?)));
        importers = named.flatten().filter(is_new).collect();
        let paths: Vec<&str> = importers.iter().map(String::as_str).collect();
        texts.extend(read_texts(sandbox, base, &paths)?);
    }
    Ok(())
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
