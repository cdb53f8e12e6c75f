//! A version of a repository: the working tree, or a commit that it is compared with. It knows what is to be staged, and
//! fetches what files hold.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::check::repository::working_tree::{RepositoryError, TreeFile, WorkingTree};

/// A commit to compare with.
pub(crate) struct Base {
    pub(crate) commit: String,
    /// Whether it is one that the working tree came from.
    pub(crate) is_related: bool,
    pub(crate) files: BTreeMap<String, TreeFile>,
    /// The files of which the working tree holds something else.
    pub(crate) differing: HashSet<String>,
    /// What files of the base are called now that were moved.
    pub(crate) renamed: HashMap<String, String>,
}

impl Base {
    pub(crate) fn find(tree: &WorkingTree, revision: &str) -> Result<Base, RepositoryError> {
        let (commit, is_related) = tree.base(revision)?;
        let files = tree.tree(&commit)?;
        let files: BTreeMap<String, TreeFile> =
            files.into_iter().map(|file| (file.path.clone(), file)).collect();
        let differing = tree.changed_since(Some(&commit))?;
        // Only where something is new can something have been moved to.
        let has_new = differing.iter().any(|path| !files.contains_key(path));
        let renamed = if has_new { tree.renamed_since(&commit)? } else { HashMap::new() };
        Ok(Base { commit, is_related, files, differing, renamed })
    }
}

/// Where files are fetched from.
#[derive(Clone, Copy)]
pub(crate) enum From<'a> {
    WorkingTree,
    Base(&'a Base),
}

impl From<'_> {
    /// What files hold, those that are not too large.
    pub(crate) fn fetch(
        self,
        tree: &WorkingTree,
        paths: &BTreeSet<&str>,
        max_bytes: u64,
        mut take: impl FnMut(&str, Vec<u8>),
    ) -> Result<(), RepositoryError> {
        match self {
            From::WorkingTree => {
                for path in paths {
                    if let Some(bytes) = tree.read(path, max_bytes) {
                        take(path, bytes);
                    }
                }
                Ok(())
            }
            From::Base(base) => {
                let files: Vec<&TreeFile> =
                    paths.iter().filter_map(|path| base.files.get(*path)).collect();
                tree.read_tree(&files, max_bytes, |n, bytes| take(files[n].path.as_str(), bytes))
            }
        }
    }
}

/// What has to be done to turn one version on a stage into another.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Turn<'a> {
    pub(crate) removed: Vec<&'a str>,
    pub(crate) written: BTreeSet<&'a str>,
}

impl<'a> Turn<'a> {
    pub(crate) fn between(
        from: &'a BTreeSet<String>,
        to: &'a BTreeSet<String>,
        differing: &HashSet<String>,
    ) -> Turn<'a> {
        let is_new = |path: &&String| !from.contains(*path) || differing.contains(*path);
        Turn {
            removed: from.difference(to).map(String::as_str).collect(),
            written: to.iter().filter(is_new).map(String::as_str).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_touched() {
        let staged =
            |files: &[&str]| -> BTreeSet<String> { files.iter().map(|&p| p.to_owned()).collect() };
        let (head, base) =
            (staged(&["new", "same", "changed"]), staged(&["gone", "same", "changed"]));
        let differing = ["changed", "new", "gone"].into_iter().map(str::to_owned).collect();
        let turn = Turn::between(&head, &base, &differing);
        assert_eq!(turn.removed, ["new"]);
        assert_eq!(turn.written, BTreeSet::from(["changed", "gone"]));
        assert_eq!(Turn::between(&head, &head, &HashSet::new()), Turn::default());
    }
}
