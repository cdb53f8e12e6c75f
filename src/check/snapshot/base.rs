//! The commit to compare the working tree with, and how to read the files of either version.

use std::collections::{BTreeMap, HashMap, HashSet};

use rayon::prelude::*;

use crate::check::CheckError;
use crate::check::contexts::sandbox::Sandbox;
use crate::check::repository::working_tree::WorkingTree;

pub(crate) struct Base {
    /// The revision as given.
    pub(crate) revision: String,
    pub(crate) commit: String,
    /// Whether `HEAD` descends from it.
    pub(crate) is_related: bool,
    /// The blobs of all files, by their paths.
    pub(crate) files: BTreeMap<String, String>,
    /// Files that differ in the working tree.
    pub(crate) differing: HashSet<String>,
    /// The old and new paths of renamed files.
    pub(crate) renamed: HashMap<String, String>,
}

impl Base {
    pub(crate) fn find(tree: &WorkingTree, revision: &str) -> Result<Base, CheckError> {
        let (commit, is_related) = tree.base(revision)?;
        let files = tree.files_of(&commit)?;
        let differing = tree.changed_since(&commit)?;
        // A file can only be renamed to a new path.
        let has_new = differing.iter().any(|path| !files.contains_key(path));
        let renamed = if has_new { tree.renamed_since(&commit)? } else { HashMap::new() };
        Ok(Base { revision: revision.to_owned(), commit, is_related, files, differing, renamed })
    }
}

/// The files of the base or, without one, of the working tree.
impl Sandbox<'_> {
    pub(crate) fn has_file(&self, base: Option<&Base>, path: &str) -> bool {
        match base {
            Some(base) => base.files.contains_key(path),
            None => self.repository.listing.paths.contains(path),
        }
    }

    /// Reads files. Skips those that are too large.
    pub(crate) fn read(
        &self,
        base: Option<&Base>,
        paths: &[&str],
    ) -> Result<Vec<(String, Vec<u8>)>, CheckError> {
        let (tree, max_bytes) = (&self.repository.tree, self.settings.max_file_bytes.value);
        let Some(base) = base else {
            let read = |path: &&str| Some(((*path).to_owned(), tree.read(path, max_bytes)?));
            return Ok(paths.par_iter().with_min_len(32).filter_map(read).collect());
        };
        let files = paths.iter().filter_map(|path| base.files.get_key_value(*path));
        let (paths, blobs): (Vec<&String>, Vec<&str>) =
            files.map(|(path, blob)| (path, blob.as_str())).unzip();
        let read = paths.into_iter().zip(tree.blobs(&blobs, max_bytes)?);
        Ok(read.filter_map(|(path, bytes)| Some((path.clone(), bytes?))).collect())
    }
}
