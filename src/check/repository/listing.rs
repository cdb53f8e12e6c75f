//! The files of a working tree.

#![expect(clippy::disallowed_methods, reason = "this module is behind the I/O fence")]

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::Path;

use ignore::WalkBuilder;

use super::working_tree::WorkingTree;
use crate::check::CheckError;
use crate::check::repository_file::Unread;
use crate::system::git_program::texts;

#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) paths: BTreeSet<String>,
    /// Files that git does not track.
    pub(crate) untracked: HashSet<String>,
    /// Links, other repositories, and files that are not checked out.
    pub(crate) unread: Vec<Unread>,
}

impl WorkingTree {
    /// Lists the regular files that are not ignored.
    pub(crate) fn files(&self) -> Result<Listing, CheckError> {
        let mut listing = Listing::default();
        if self.has_git() {
            let listed = self.listed_by_git()?;
            for (tag, rest) in texts(&listed).filter_map(|line| line.split_once(' ')) {
                self.add(&mut listing, tag, rest);
            }
        } else {
            self.walk(&mut listing);
        }
        listing.unread.sort_unstable_by(|a, b| a.path().cmp(b.path()));
        // A file with a merge conflict is listed once per side.
        listing.unread.dedup();
        Ok(listing)
    }

    /// Does not use `--exclude-standard`: a user's global ignore rules do not belong to the
    /// repository. Files that this clone's `info/exclude` ignores are never committed.
    fn listed_by_git(&self) -> Result<Vec<u8>, CheckError> {
        let exclude = ["rev-parse", "--path-format=absolute", "--git-path", "info/exclude"];
        let exclude = self.query(&exclude)?.filter(|path| Path::new(path).is_file());
        let exclude = exclude.map(|path| format!("--exclude-from={path}"));
        let list = ["ls-files", "-z", "-t", "-s", "--cached", "--others"];
        let list = list.into_iter().chain(["--exclude-per-directory=.gitignore"]);
        self.output(&list.chain(exclude.as_deref()).collect::<Vec<_>>())
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
            listing.paths.insert(path);
        } else if found.as_ref().is_some_and(fs::Metadata::is_symlink) {
            listing.unread.push(self.link(path));
        } else if tag == "S" && found.is_none() {
            listing.unread.push(match mode {
                Some("120000") => Unread::Link { path, target: None },
                _ => Unread::File(path),
            });
        }
    }

    /// Adds all regular files that no `.gitignore` in or below the top excludes, and all links.
    /// Does not follow links.
    fn walk(&self, listing: &mut Listing) {
        let walk = WalkBuilder::new(&self.top)
            .hidden(false)
            .parents(false)
            .ignore(false)
            .git_global(false)
            .git_exclude(false)
            .require_git(false)
            .follow_links(false)
            .filter_entry(|entry| entry.file_name() != ".git")
            .build();
        for entry in walk.flatten() {
            let Some(kind) = entry.file_type() else { continue };
            let Ok(below) = entry.path().strip_prefix(&self.top) else { continue };
            let parts = below.components().map(|part| part.as_os_str().to_str());
            let Some(parts) = parts.collect::<Option<Vec<&str>>>() else { continue };
            let path = parts.join("/");
            if kind.is_file() {
                listing.paths.insert(path);
            } else if kind.is_symlink() {
                listing.unread.push(self.link(path));
            }
        }
    }

    fn link(&self, path: String) -> Unread {
        let target = fs::read_link(self.top.join(&path)).ok();
        let target = target.and_then(|target| Some(target.to_str()?.to_owned()));
        Unread::Link { path, target }
    }
}
