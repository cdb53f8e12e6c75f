//! A step of a history: what one commit did to notes, as `git log` prints it. Also the versions of all notes after some
//! steps.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Starts a commit in the log.
pub const COMMIT: u8 = 1;
const SUBMODULE: &str = "160000";

/// The name of a file's content in git.
pub type Blob = Arc<str>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// In seconds; never before the step before it.
    pub at: i64,
    pub changes: Vec<NoteChange>,
}

/// Paths are those in the vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoteChange {
    Written { path: String, blob: Blob },
    Moved { from: String, to: String, blob: Blob },
    Removed { path: String },
}

/// Reads the output of `git log --raw -z --format=%x01%ct`, oldest first: the changes to the notes below a folder, which
/// is empty or ends with a slash.
pub fn steps(log: &[u8], folder: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut latest = 0;
    for commit in log.split(|&byte| byte == COMMIT).skip(1) {
        let mut fields = commit.split(|&byte| byte == 0).map(text);
        let head = fields.next().flatten().unwrap_or_default();
        let (at, first) = head.split_once('\n').unwrap_or((head, ""));
        let at: i64 = at.parse().unwrap_or_default();
        let changes = changes([Some(first)].into_iter().chain(fields), folder);
        if !changes.is_empty() {
            // Clocks of different machines differ.
            latest = at.max(latest);
            steps.push(Step { at: latest, changes });
        }
    }
    steps
}

/// `None` for a name that is not UTF-8, which no address can contain.
fn text(field: &[u8]) -> Option<&str> {
    std::str::from_utf8(field).ok()
}

fn changes<'a>(mut fields: impl Iterator<Item = Option<&'a str>>, folder: &str) -> Vec<NoteChange> {
    let mut changes = Vec::new();
    while let Some(field) = fields.next() {
        // `:100644 100644 <old blob> <new blob> M`, then the path, or both paths of a moved file.
        let about = field.and_then(|field| field.trim_start_matches('\n').strip_prefix(':'));
        let Some(about) = about else { continue };
        let [_, mode, _, blob, status] = about.splitn(5, ' ').collect::<Vec<_>>()[..] else {
            continue;
        };
        let path = fields.next().flatten().and_then(|path| note_path(path, folder));
        let is_submodule = mode == SUBMODULE;
        if status.starts_with('R') {
            let to = fields.next().flatten().and_then(|path| note_path(path, folder));
            let blob = Arc::from(blob);
            changes.extend(match (path, to) {
                (Some(from), Some(to)) => Some(NoteChange::Moved { from, to, blob }),
                (Some(path), None) => Some(NoteChange::Removed { path }),
                (None, Some(path)) => Some(NoteChange::Written { path, blob }),
                (None, None) => None,
            });
        } else if let Some(path) = path.filter(|_| !is_submodule) {
            changes.push(match status {
                "D" => NoteChange::Removed { path },
                _ => NoteChange::Written { path, blob: Arc::from(blob) },
            });
        }
    }
    changes
}

/// The path of a note in the vault. A crafted repository can name places outside of it.
fn note_path(path: &str, folder: &str) -> Option<String> {
    let path = path.strip_prefix(folder)?;
    let is_plain = path.split('/').all(|part| !matches!(part, "" | "." | ".." | ".git"));
    (is_plain && path.ends_with(".md")).then(|| path.to_owned())
}

/// A note's content, and when it was last changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    pub blob: Blob,
    /// In seconds.
    pub at: i64,
}

/// The notes of a vault at some time, by path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Versions(pub BTreeMap<String, Version>);

impl Versions {
    /// Adds the paths that the step touches to `touched`.
    pub fn apply(&mut self, step: &Step, touched: &mut BTreeSet<String>) {
        for change in &step.changes {
            let (gone, written) = match change {
                NoteChange::Written { path, blob } => (None, Some((path, blob))),
                NoteChange::Moved { from, to, blob } => (Some(from), Some((to, blob))),
                NoteChange::Removed { path } => (Some(path), None),
            };
            if let Some(path) = gone {
                self.0.remove(path);
                touched.insert(path.clone());
            }
            if let Some((path, blob)) = written {
                self.0.insert(path.clone(), Version { blob: Arc::clone(blob), at: step.at });
                touched.insert(path.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(path: &str, blob: &str) -> NoteChange {
        NoteChange::Written { path: path.to_owned(), blob: Arc::from(blob) }
    }

    #[test]
    fn a_log_is_read_as_steps() {
        let log = "\x01100\0\0:000000 100644 0 b1 A\0n/a.md\0:000000 100644 0 b2 A\0n/b.txt\0\
                   \x0190\0\0:100644 100644 b1 b3 R080\0n/a.md\0n/c/d.md\0:100644 000000 b9 0 D\0n/x.md\0\
                   \x01200\0\0:100644 100644 b1 b4 M\0other/a.md\0\
                   \x01300\0\0:000000 160000 0 b5 A\0n/sub.md\0:100644 100644 b1 b6 T\0n/t.md\0\
                   \x01400\0\0:100644 100644 b3 b7 R100\0n/t.md\0away/t.md\0:100644 100644 b3 b8 R100\0away/u.md\0n/u.md\0";
        let removed = |path: &str| NoteChange::Removed { path: path.to_owned() };
        let moved = NoteChange::Moved {
            from: "a.md".to_owned(),
            to: "c/d.md".to_owned(),
            blob: Arc::from("b3"),
        };
        assert_eq!(
            steps(log.as_bytes(), "n/"),
            [
                Step { at: 100, changes: vec![written("a.md", "b1")] },
                // The clock went back.
                Step { at: 100, changes: vec![moved, removed("x.md")] },
                Step { at: 300, changes: vec![written("t.md", "b6")] },
                Step { at: 400, changes: vec![removed("t.md"), written("u.md", "b8")] },
            ]
        );
    }

    #[test]
    fn no_path_leads_out_of_the_vault() {
        for path in ["../a.md", "/a.md", "x/../../a.md", "a//b.md", "./a.md", ".git/a.md"] {
            let log = format!("\x011\0\0:000000 100644 0 b A\0{path}\0");
            assert_eq!(steps(log.as_bytes(), ""), [], "{path}");
        }
    }

    #[test]
    fn versions_follow_the_steps() {
        let mut versions = Versions::default();
        let log = "\x011\0\0:000000 100644 0 b1 A\0a.md\0:000000 100644 0 b2 A\0b.md\0\
                   \x012\0\0:100644 100644 b1 b3 R080\0a.md\0c.md\0:100644 000000 b2 0 D\0b.md\0";
        let mut touched = BTreeSet::new();
        for step in steps(log.as_bytes(), "") {
            touched.clear();
            versions.apply(&step, &mut touched);
        }
        let expect = Version { blob: Arc::from("b3"), at: 2 };
        assert_eq!(versions.0, BTreeMap::from([("c.md".to_owned(), expect)]));
        assert_eq!(touched, ["a.md", "b.md", "c.md"].map(str::to_owned).into());
    }
}
