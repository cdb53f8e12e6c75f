//! The files of a repository by their names: whether there is such a file, such a folder, or one that ends like that.

use std::collections::{HashMap, HashSet};

use crate::domain::check::RepositoryFile;

/// The files of a repository by their names.
#[derive(Debug)]
pub(super) struct Tree<'a> {
    files: HashSet<&'a str>,
    folders: HashSet<&'a str>,
    /// Every end of a path that begins at a part, with the first path that has it.
    ends: HashMap<&'a str, &'a str>,
}

impl<'a> Tree<'a> {
    pub(super) fn new(files: &'a [RepositoryFile]) -> Tree<'a> {
        let mut tree = Tree {
            files: HashSet::with_capacity(files.len()),
            folders: HashSet::from([""]),
            ends: HashMap::with_capacity(files.len()),
        };
        for file in files {
            let path = file.path.as_str();
            tree.files.insert(path);
            let slashes = path.match_indices('/').map(|(at, _)| at);
            for at in slashes.clone().rev() {
                if !tree.folders.insert(&path[..at]) {
                    break;
                }
            }
            tree.ends.entry(path).or_insert(path);
            for at in slashes {
                tree.ends.entry(&path[at + 1..]).or_insert(path);
            }
        }
        tree
    }

    /// Whether there is such a file.
    pub(super) fn has_file(&self, path: &str) -> bool {
        self.files.contains(path)
    }

    /// Whether there is such a file, or a folder with a file in it.
    pub(super) fn has(&self, path: &str) -> bool {
        self.has_file(path) || self.has_folder(path)
    }

    /// Whether a file lies somewhere in such a folder.
    pub(super) fn has_folder(&self, path: &str) -> bool {
        self.folders.contains(path.trim_end_matches('/'))
    }

    /// A file whose path ends with these parts.
    pub(super) fn ending_with(&self, parts: &str) -> Option<&'a str> {
        self.ends.get(parts).copied()
    }

    /// All ends of paths, each with the first path that has it.
    pub(super) fn ends(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.ends.iter().map(|(end, path)| (*end, *path))
    }
}

/// The folder of a file; empty for the top.
pub(super) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The name of a file without its folder.
pub(super) fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// What stands below a folder, of a path; `None` where it is not in there.
pub(super) fn below<'p>(folder: &str, path: &'p str) -> Option<&'p str> {
    if folder.is_empty() {
        return Some(path);
    }
    path.strip_prefix(folder)?.strip_prefix('/')
}

/// A relative path seen from a folder, in its plain form; `None` where it leaves the repository.
pub(super) fn joined(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::Timestamp;

    #[test]
    fn files_folders_and_ends_are_known() {
        let file = |path: &str| RepositoryFile {
            path: path.to_owned(),
            text: None,
            modified: Timestamp(0),
        };
        let files = [file("a/b/c.md"), file("a/d.md"), file("e.md")];
        let tree = Tree::new(&files);
        for path in ["a", "a/", "a/b", "a/b/c.md", "e.md", ""] {
            assert!(tree.has(path), "{path}");
        }
        for path in ["b", "c.md", "a/b/c", "a/b/c.md/"] {
            assert!(!tree.has(path), "{path}");
        }
        assert_eq!(tree.ending_with("b/c.md"), Some("a/b/c.md"));
        assert_eq!(tree.ending_with("/c.md"), None);
    }

    #[test]
    fn a_path_never_leaves_the_repository() {
        assert_eq!(joined("a/b", "../c/./d.md").as_deref(), Some("a/c/d.md"));
        assert_eq!(joined("a", "..").as_deref(), Some(""));
        assert_eq!(joined("a", "../../x"), None);
        assert_eq!(joined("", "x//y").as_deref(), Some("x/y"));
    }
}
