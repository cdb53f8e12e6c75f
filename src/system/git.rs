//! Reads git's own files to identify a folder: three small files are faster than a git process.

mod ewah;
mod index_file;
pub mod tracked;
pub mod uncommitted;

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::core::project::{FolderFacts, Layout, RepositoryFacts};
use crate::system::environment::Environment;
use crate::system::git_program::GitProgram;
use crate::system::permissions;
use crate::system::plain_file;

/// More than git's small files have, also the configuration with thousands of branches.
const MOST_TEXT_BYTES: u64 = 4 * 1024 * 1024;

/// Collects the facts about `folder`, without looking at `ceiling` or above it.
pub fn facts(
    ceiling: Option<&Path>,
    folder: &Path,
    environment: &Environment,
) -> io::Result<FolderFacts> {
    let folder = dunce::canonicalize(folder)?;
    if !folder.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    let above = || folder.ancestors().take_while(|place| Some(*place) != ceiling);
    let marked = above()
        // Settings that cannot be read mark their folder, too: they must not be passed over.
        .find(|place| {
            let is_there = place.join("kgctx.toml").symlink_metadata().is_ok();
            is_there && !is_planted(place, "kgctx.toml")
                || place.join(".kgctx").is_dir() && !is_planted(place, ".kgctx")
        })
        .map(Path::to_path_buf);
    Ok(FolderFacts {
        home: environment.home().and_then(|home| dunce::canonicalize(home).ok()),
        repository: above().filter(|place| !is_planted(place, ".git")).find_map(repository_at),
        marked,
        folder,
    })
}

/// Whether another user may have put a file into a folder where everybody may, such as `/tmp`: that must not make a project
/// of all that is below.
fn is_planted(place: &Path, name: &str) -> bool {
    let file = place.join(name).symlink_metadata();
    file.is_ok_and(|file| permissions::is_planted(place, &file))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reference {
    Known,
    Unknown,
    /// There is no repository, or git is not installed.
    NoRepository,
}

/// Whether a branch, tag or commit exists. Runs git, because no session waits for this.
pub fn reference(folder: &Path, name: &str) -> Reference {
    let Ok(Some(git)) = GitProgram::find(folder.to_path_buf(), None) else {
        return Reference::NoRepository;
    };
    let git = |arguments: &[&str]| git.query(arguments).is_ok_and(|answer| answer.is_some());
    let commit = format!("{name}^{{commit}}");
    // Before the first commit a branch has only a name.
    let is_unborn = || {
        git(&["symbolic-ref", "--quiet", "HEAD"])
            && !git(&["rev-parse", "--verify", "--quiet", "HEAD"])
    };
    match git(&["rev-parse", "--verify", "--quiet", "--end-of-options", &commit]) {
        true => Reference::Known,
        false if is_unborn() => Reference::NoRepository,
        false => Reference::Unknown,
    }
}

/// The repository whose top is exactly `place`.
fn repository_at(place: &Path) -> Option<RepositoryFacts> {
    let dot_git = place.join(".git");
    let facts = |layout, git_dir: &Path| RepositoryFacts {
        checkout: place.to_path_buf(),
        root: place.to_path_buf(),
        layout,
        branch: branch(git_dir),
    };
    if dot_git.join("HEAD").is_file() {
        return Some(facts(Layout::Main, &dot_git));
    }
    if dot_git.is_file() {
        return linked_repository(place, &dot_git);
    }
    let is_bare = place.file_name().is_some_and(|name| name != ".git")
        && place.join("HEAD").is_file()
        && place.join("objects").is_dir()
        && place.join("refs").is_dir();
    is_bare.then(|| facts(Layout::Bare, place))
}

/// A working tree whose `.git` is a file that points to the repository.
fn linked_repository(place: &Path, dot_git: &Path) -> Option<RepositoryFacts> {
    let git_dir = pointed_at(place, dot_git)?;
    let branch = branch(&git_dir);
    let checkout = place.to_path_buf();
    let Some(common) = read_text(&git_dir.join("commondir")) else {
        let layout = if is_set(&git_dir, "bare") {
            Layout::Bare
        } else if git_dir.components().any(|part| part.as_os_str() == "modules") {
            Layout::Submodule
        } else {
            Layout::Main
        };
        return Some(RepositoryFacts { root: checkout.clone(), checkout, layout, branch });
    };
    let common = dunce::canonicalize(git_dir.join(common.trim())).ok()?;
    // Anybody can write a `.git` file that points to your repository. A worktree's own folder is in the repository, and
    // points back.
    let back = read_text(&git_dir.join("gitdir"));
    let back = back.and_then(|back| dunce::canonicalize(git_dir.join(back.trim())).ok());
    let is_known = git_dir.parent() == Some(&common.join("worktrees"))
        && back.is_some_and(|back| dunce::canonicalize(dot_git).is_ok_and(|here| here == back));
    let stray = || RepositoryFacts {
        root: checkout.clone(),
        checkout: checkout.clone(),
        layout: Layout::Stray,
        branch: None,
    };
    if !is_known {
        return Some(stray());
    }
    let parent = || common.parent().map(Path::to_path_buf);
    let (root, layout) = if let Some(worktree) = config_value(&common, "worktree") {
        // A worktree of a submodule: the configuration says where the submodule's own tree is. Whoever wrote the folder wrote
        // that, too, and may name a tree of yours: a submodule's own points back.
        match dunce::canonicalize(common.join(worktree)) {
            Ok(tree) if leads_to(&tree, &common) => (tree, Layout::Worktree),
            _ => return Some(stray()),
        }
    } else if common.file_name().is_some_and(|name| name == ".git") && !is_set(&common, "bare") {
        (parent()?, Layout::Worktree)
    } else if common.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')) {
        // `project/.bare` with worktrees next to it: users call the folder around them the project.
        (parent()?, Layout::BareWorktree)
    } else {
        (common.clone(), Layout::BareWorktree)
    };
    Some(RepositoryFacts { checkout, root, layout, branch })
}

/// Whether the git files of a working tree are in a folder.
fn leads_to(tree: &Path, common: &Path) -> bool {
    git_dir(tree)
        .and_then(|git_dir| dunce::canonicalize(git_dir).ok())
        .is_some_and(|it| it == common)
}

/// The working tree around a folder, if it has git's files; none for one that its repository does not know.
pub fn working_tree(folder: &Path) -> Option<PathBuf> {
    let repository = folder.ancestors().find_map(repository_at)?;
    (!matches!(repository.layout, Layout::Bare | Layout::Stray)).then_some(repository.checkout)
}

/// The folder with a working tree's own files of git.
fn git_dir(checkout: &Path) -> Option<PathBuf> {
    let dot_git = checkout.join(".git");
    if dot_git.is_dir() { Some(dot_git) } else { pointed_at(checkout, &dot_git) }
}

/// The content of a plain file; `None` if it has more bytes. Whoever made the folder may have put a pipe or a device there.
fn read_bounded(file: &Path, most_bytes: u64) -> Option<Vec<u8>> {
    let file = plain_file::open(file).ok()?;
    // No more is reserved than the file has; no more is read, even if it grows.
    let mut bytes = Vec::with_capacity(file.metadata().ok()?.len().min(most_bytes) as usize + 1);
    file.take(most_bytes + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= most_bytes).then_some(bytes)
}

fn read_text(file: &Path) -> Option<String> {
    plain_file::read_text(file, MOST_TEXT_BYTES).ok().flatten()
}

/// The folder of git's files that a `.git` file names.
fn pointed_at(place: &Path, dot_git: &Path) -> Option<PathBuf> {
    let pointer = read_text(dot_git)?;
    dunce::canonicalize(place.join(pointer.strip_prefix("gitdir:")?.trim())).ok()
}

/// The branch of HEAD; `None` if it is detached or in another ref storage.
fn branch(git_dir: &Path) -> Option<String> {
    let head = read_text(&git_dir.join("HEAD"))?;
    let branch = head.trim().strip_prefix("ref: refs/heads/")?;
    (branch != ".invalid").then(|| branch.to_owned())
}

fn is_set(git_dir: &Path, key: &str) -> bool {
    config_value(git_dir, key).is_some_and(|value| value == "true")
}

/// A key of the `[core]` section of a repository's own configuration.
fn config_value(git_dir: &Path, key: &str) -> Option<String> {
    let config = read_text(&git_dir.join("config"))?;
    let mut in_core = false;
    for line in config.lines().map(str::trim) {
        if line.starts_with('[') {
            in_core = line.to_ascii_lowercase().starts_with("[core]");
        } else if let Some((name, value)) = line.split_once('=')
            && in_core
            && name.trim().eq_ignore_ascii_case(key)
        {
            return Some(value.trim().trim_matches('"').to_owned());
        }
    }
    None
}
