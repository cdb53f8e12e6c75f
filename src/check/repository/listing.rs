//! The files of a working tree.

#![expect(clippy::disallowed_methods, reason = "this module is behind the I/O fence")]

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use super::error::RepositoryError;
use super::git::{Git, texts};
use super::walk;
use super::working_tree::WorkingTree;
use crate::check::repository_file::Unread;

#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// Sorted.
    pub(crate) paths: Vec<String>,
    /// Files that git does not track.
    pub(crate) untracked: HashSet<String>,
    /// Links, other repositories, and files that are not checked out.
    pub(crate) unread: Vec<Unread>,
}

impl WorkingTree {
    /// Lists the regular files that are not ignored.
    pub(crate) fn files(&self) -> Result<Listing, RepositoryError> {
        let mut listing = Listing::default();
        if let Some(git) = &self.git {
            let listed = list_files(git)?;
            for (tag, rest) in texts(&listed).filter_map(|line| line.split_once(' ')) {
                self.add(&mut listing, tag, rest);
            }
        } else {
            let (paths, links) = walk::files(&self.top);
            listing.paths = paths;
            listing.unread = links.into_iter().map(|path| self.link(path)).collect();
        }
        listing.paths.sort_unstable();
        // A file with a merge conflict is listed once per side.
        listing.paths.dedup();
        listing.unread.sort_unstable_by(|a, b| a.path().cmp(b.path()));
        listing.unread.dedup();
        Ok(listing)
    }

    fn add(&self, listing: &mut Listing, tag: &str, rest: &str) {
        let is_untracked = tag == "?";
        let (mode, path) = match rest.split_once('\t') {
            Some((about, path)) if !is_untracked => (about.split(' ').next(), path),
            _ => (None, rest),
        };
        let found = fs::symlink_metadata(self.top.join(path)).ok();
        let path = path.to_owned();
        // Another repository may not be checked out, so none of its files are listed.
        if mode == Some("160000") || is_untracked && path.ends_with('/') {
            let path = path.trim_end_matches('/').to_owned();
            listing.unread.push(Unread::Repository(path));
        } else if found.as_ref().is_some_and(fs::Metadata::is_file) {
            if is_untracked {
                listing.untracked.insert(path.clone());
            }
            listing.paths.push(path);
        } else if found.as_ref().is_some_and(fs::Metadata::is_symlink) {
            listing.unread.push(self.link(path));
        } else if tag == "S" && found.is_none() {
            listing.unread.push(match mode {
                Some("120000") => Unread::Link { path, target: None },
                _ => Unread::File(path),
            });
        }
    }

    fn link(&self, path: String) -> Unread {
        let target = fs::read_link(self.top.join(&path)).ok();
        let target = target.and_then(|target| Some(target.to_str()?.to_owned()));
        Unread::Link { path, target }
    }
}

/// Does not use `--exclude-standard`: a user's global ignore rules do not belong to the repository.
/// Files that this clone's `info/exclude` ignores are never committed.
fn list_files(git: &Git) -> Result<Vec<u8>, RepositoryError> {
    let exclude = ["rev-parse", "--path-format=absolute", "--git-path", "info/exclude"];
    let exclude = git.query(&exclude)?.filter(|path| Path::new(path).is_file());
    let exclude = exclude.map(|path| format!("--exclude-from={path}"));
    let list = ["ls-files", "-z", "-t", "-s", "--cached", "--others"];
    let list = list.into_iter().chain(["--exclude-per-directory=.gitignore"]);
    git.output(&list.chain(exclude.as_deref()).collect::<Vec<_>>())
}
