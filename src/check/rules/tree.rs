//! The paths of a repository: finds files and folders, and files by the end of their path.

use std::collections::{HashMap, HashSet};

use crate::check::repository_file::{RepositoryFile, Unread};

/// A longer chain of links counts as a loop.
const MAX_LINKS: usize = 40;

#[derive(Debug)]
pub(super) struct Tree<'a> {
    files: HashSet<&'a str>,
    folders: HashSet<&'a str>,
    /// Folders that are other repositories.
    repositories: HashSet<&'a str>,
    /// Links, with their targets if known.
    links: HashMap<&'a str, Option<&'a str>>,
    /// Every suffix of a path that starts at a part, with the first path that has it.
    ends: HashMap<&'a str, &'a str>,
    /// The endings of all files' names.
    endings: HashSet<&'a str>,
}

impl<'a> Tree<'a> {
    pub(super) fn new(files: &'a [RepositoryFile], unread: &'a [Unread]) -> Tree<'a> {
        let mut tree = Tree {
            files: HashSet::with_capacity(files.len()),
            folders: HashSet::from([""]),
            repositories: HashSet::new(),
            links: HashMap::new(),
            ends: HashMap::with_capacity(files.len()),
            endings: HashSet::new(),
        };
        for file in files {
            tree.add(file.path.as_str());
        }
        for unread in unread {
            match unread {
                Unread::File(path) => tree.add(path),
                Unread::Repository(path) => {
                    tree.add_folders_above(path);
                    tree.folders.insert(path);
                    tree.repositories.insert(path);
                }
                Unread::Link { path, target } => {
                    tree.add(path);
                    tree.links.insert(path, target.as_deref());
                }
            }
        }
        tree
    }

    fn add(&mut self, path: &'a str) {
        self.files.insert(path);
        self.add_folders_above(path);
        let (stem, ending) = name_of(path).rsplit_once('.').unwrap_or_default();
        if !stem.is_empty() {
            self.endings.insert(ending);
        }
        self.ends.entry(path).or_insert(path);
        for (at, _) in path.match_indices('/') {
            self.ends.entry(&path[at + 1..]).or_insert(path);
        }
    }

    fn add_folders_above(&mut self, path: &'a str) {
        for (at, _) in path.rmatch_indices('/') {
            if !self.folders.insert(&path[..at]) {
                break;
            }
        }
    }

    pub(super) fn has_file(&self, path: &str) -> bool {
        self.leads_to(&self.files, path)
    }

    pub(super) fn has(&self, path: &str) -> bool {
        self.has_file(path) || self.has_folder(path)
    }

    /// Whether a file is in or below this folder.
    pub(super) fn has_folder(&self, path: &str) -> bool {
        self.leads_to(&self.folders, path.trim_end_matches('/'))
    }

    /// Whether a path is known, or is when links are followed. A path into an unreadable target
    /// also counts.
    fn leads_to(&self, known: &HashSet<&str>, path: &str) -> bool {
        if known.contains(path) {
            return true;
        }
        let mut path = path.to_owned();
        for _ in 0..MAX_LINKS {
            let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
            let mut above = ends.map(|end| (&path[..end], &path[end..]));
            let special = above.find(|(above, rest)| {
                self.links.contains_key(above)
                    || self.repositories.contains(above) && !rest.is_empty()
            });
            let Some((above, rest)) = special else { return known.contains(path.as_str()) };
            let target = self.links.get(above).copied().flatten();
            let Some(target) = target.filter(|target| !target.starts_with('/')) else {
                return true;
            };
            let Some(next) = joined(folder_of(above), target) else { return true };
            path = format!("{next}{rest}").trim_start_matches('/').to_owned();
        }
        false
    }

    /// Whether the name of a file ends like this, such as `md`.
    pub(super) fn has_ending(&self, ending: &str) -> bool {
        self.endings.contains(ending)
    }

    pub(super) fn ending_with(&self, parts: &str) -> Option<&'a str> {
        self.ends.get(parts).copied()
    }

    /// All suffixes of paths, each with the first path that has it.
    pub(super) fn ends(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.ends.iter().map(|(end, path)| (*end, *path))
    }
}

/// The folder of a file; empty at the top.
pub(super) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

pub(super) fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The part of a path below a folder; `None` if the path is not in it.
pub(crate) fn below<'p>(folder: &str, path: &'p str) -> Option<&'p str> {
    if folder.is_empty() {
        return Some(path);
    }
    path.strip_prefix(folder)?.strip_prefix('/')
}

/// Resolves a relative path from a folder; `None` if it leaves the repository.
pub(crate) fn joined(folder: &str, path: &str) -> Option<String> {
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
    use crate::core::time::Timestamp;

    #[test]
    fn files_folders_and_ends_are_known() {
        let file = |path: &str| RepositoryFile {
            path: path.to_owned(),
            text: None,
            modified: Timestamp(0),
        };
        let files = [file("a/b/c.md"), file("a/d.md"), file("e.md")];
        let tree = Tree::new(&files, &[]);
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
    fn what_is_there_without_being_read_is_known() {
        let file = |path: &str| RepositoryFile {
            path: path.to_owned(),
            text: None,
            modified: Timestamp(0),
        };
        let link = |path: &str, target: &str| Unread::Link {
            path: path.to_owned(),
            target: Some(target.to_owned()),
        };
        let unread = [
            Unread::File("away/far.md".to_owned()),
            Unread::Repository("lib/other".to_owned()),
            link("CLAUDE.md", "AGENTS.md"),
            link("docs/latest", "v2"),
            link("docs/newest", "./latest/"),
            link("out", "../elsewhere"),
            link("round", "around"),
            link("around", "round"),
            Unread::Link { path: "hidden".to_owned(), target: None },
        ];
        let files = [file("AGENTS.md"), file("docs/v2/a.md")];
        let tree = Tree::new(&files, &unread);
        for path in [
            "CLAUDE.md",
            "docs/latest",
            "docs/latest/",
            "docs/latest/a.md",
            "docs/newest/a.md",
            "lib",
            "lib/other",
            "lib/other/src/x.rs",
            "away/far.md",
            "away",
            "out/x",
            "hidden/x",
            "round",
        ] {
            assert!(tree.has(path), "{path}");
        }
        for path in ["docs/latest/b.md", "docs/newest/v2", "lib/others/x", "round/x", "CLAUDE.md/x"]
        {
            assert!(!tree.has(path), "{path}");
        }
        assert!(tree.has_file("docs/newest/a.md") && tree.has_folder("docs/newest"));
    }

    #[test]
    fn a_path_never_leaves_the_repository() {
        assert_eq!(joined("a/b", "../c/./d.md").as_deref(), Some("a/c/d.md"));
        assert_eq!(joined("a", "..").as_deref(), Some(""));
        assert_eq!(joined("a", "../../x"), None);
        assert_eq!(joined("", "x//y").as_deref(), Some("x/y"));
    }
}
