//! The commit to compare the working tree with, and how to read the files of either version.

use std::collections::{BTreeMap, HashMap, HashSet};

use rayon::prelude::*;

use crate::check::repository::Repository;
use crate::check::repository::error::RepositoryError;
use crate::check::repository::history::TreeFile;
use crate::check::repository::working_tree::WorkingTree;

pub(crate) struct Base {
    pub(crate) commit: String,
    /// Whether `HEAD` descends from it.
    pub(crate) is_related: bool,
    pub(crate) files: BTreeMap<String, TreeFile>,
    /// Files that differ in the working tree.
    pub(crate) differing: HashSet<String>,
    /// The old and new paths of renamed files.
    pub(crate) renamed: HashMap<String, String>,
}

impl Base {
    pub(crate) fn find(tree: &WorkingTree, revision: &str) -> Result<Base, RepositoryError> {
        let (commit, is_related) = tree.base(revision)?;
        let files = tree.tree(&commit)?;
        let files: BTreeMap<String, TreeFile> =
            files.into_iter().map(|file| (file.path.clone(), file)).collect();
        let differing = tree.changed_since(Some(&commit))?;
        // A file can only be renamed to a new path.
        let has_new = differing.iter().any(|path| !files.contains_key(path));
        let renamed = if has_new { tree.renamed_since(&commit)? } else { HashMap::new() };
        Ok(Base { commit, is_related, files, differing, renamed })
    }
}

#[derive(Clone, Copy)]
pub(crate) enum Version<'r> {
    WorkingTree,
    Base(&'r Base),
}

impl Version<'_> {
    pub(crate) fn has_file(self, repository: &Repository, path: &str) -> bool {
        match self {
            Version::WorkingTree => repository.has(path),
            Version::Base(base) => base.files.contains_key(path),
        }
    }

    /// Reads files. Skips those that are too large.
    pub(crate) fn read(
        self,
        tree: &WorkingTree,
        paths: &[&str],
        max_bytes: u64,
    ) -> Result<Vec<(String, Vec<u8>)>, RepositoryError> {
        match self {
            Version::WorkingTree => {
                let read = |path: &&str| Some(((*path).to_owned(), tree.read(path, max_bytes)?));
                Ok(paths.par_iter().with_min_len(32).filter_map(read).collect())
            }
            Version::Base(base) => {
                let files = paths.iter().filter_map(|path| base.files.get(*path));
                let files: Vec<&TreeFile> = files.collect();
                let mut read = Vec::with_capacity(files.len());
                tree.read_tree(&files, max_bytes, |n, bytes| {
                    read.push((files[n].path.clone(), bytes));
                })?;
                Ok(read)
            }
        }
    }
}
