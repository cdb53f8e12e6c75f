//! Finds a project's folders of notes by their names: at its top, and in its packages.
//!
//! Every session start does this, so it looks at a bounded number of folders, and at names rather than into folders.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::core::note::places::{
    AT_TOP, DEEPEST_IN_CODE, ENOUGH, FOREIGN, IN_PACKAGE, MOST_ENTRIES, MOST_FOLDERS, PACKAGES,
    USUALLY_CODE, is_mostly_elsewhere, is_note_at_top, may_hold_notes,
};
use crate::system::vault::{BoundedLook, IgnoreRules};

/// The number of packages that are looked at.
const MOST_PACKAGES: usize = 100;
/// The number of folders of a place that are looked into for its notes, on each level.
const MOST_INNER: usize = 20;

/// The places of a project's notes beside `docs` and `.kgctx/memory`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct NotePlaces {
    /// Paths from the project's top, with `/` between parts, in order.
    pub folders: Vec<String>,
    /// Whether there are notes at the top itself.
    pub has_notes_at_top: bool,
}

/// Finds the places in a project. Skips those that git ignores.
pub fn find(top: &Path) -> NotePlaces {
    let (inner, has_notes_at_top) = look(top);
    let at_top = AT_TOP.iter().filter(|name| has_place(top, name)).map(|&name| name.to_owned());
    let mut folders: Vec<String> = at_top.collect();
    let packages = inner.iter().flat_map(|folder| packages_of(top, folder)).take(MOST_PACKAGES);
    for package in packages {
        let folder = top.join(&package);
        let mut names = IN_PACKAGE.iter().filter(|name| has_place(&folder, name)).peekable();
        // A worktree or another repository has its own notes.
        if names.peek().is_some() && !has(&folder, ".git") {
            folders.extend(names.map(|name| format!("{package}/{name}")));
        }
    }
    if !folders.is_empty() {
        let rules = IgnoreRules::default();
        folders.retain(|folder| !rules.exclude(&top.join(folder)));
    }
    NotePlaces { folders, has_notes_at_top }
}

/// The folders at the top with the markdown that is in no known place, if that is most of it. `known` are folders, and
/// whether only the files directly in them count.
///
/// Folders that hold a known place or a repository are left out: they are no one place of notes.
pub fn elsewhere(top: &Path, known: &[(PathBuf, bool)]) -> Vec<String> {
    folders_elsewhere(top, known).unwrap_or_default()
}

/// `None` if the look takes too long.
fn folders_elsewhere(top: &Path, known: &[(PathBuf, bool)]) -> Option<Vec<String>> {
    let mut look = BoundedLook { folders: MOST_FOLDERS, entries: MOST_ENTRIES };
    let mut n_known = 0;
    for (folder, is_flat) in known {
        n_known += look.count(folder, *is_flat, ENOUGH - n_known)?.n_notes;
        if n_known >= ENOUGH {
            return Some(Vec::new());
        }
    }
    let (rules, mut n_elsewhere, mut folders) = (IgnoreRules::default(), 0, Vec::new());
    for name in folders_in(top) {
        let folder = top.join(&name);
        let is_near = |(known, is_flat): &(PathBuf, bool)| {
            known.starts_with(&folder) || !is_flat && folder.starts_with(known)
        };
        if !may_hold_notes(&name) || known.iter().any(is_near) || rules.exclude(&folder) {
            continue;
        }
        let held = look.count(&folder, false, usize::MAX)?;
        if held.n_notes > 0 && !held.has_repository {
            n_elsewhere += held.n_notes;
            folders.push(name);
        }
    }
    Some(if is_mostly_elsewhere(n_known, n_elsewhere) { folders } else { Vec::new() })
}

/// The names of the folders in a folder, in order.
fn folders_in(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// The folders at the top that may be packages or hold some, and whether there are notes beside them.
fn look(top: &Path) -> (BTreeSet<String>, bool) {
    let (mut folders, mut has_notes) = (BTreeSet::new(), false);
    for entry in fs::read_dir(top).into_iter().flatten().flatten() {
        let (Ok(kind), Ok(name)) = (entry.file_type(), entry.file_name().into_string()) else {
            continue;
        };
        if kind.is_dir() && may_hold_packages(&name) {
            folders.insert(name);
        } else if kind.is_file() {
            has_notes = has_notes || !name.starts_with('.') && is_note_at_top(&name);
        }
    }
    (folders, has_notes)
}

fn may_hold_packages(name: &str) -> bool {
    let is_place = name == "docs" || AT_TOP.contains(&name);
    !name.starts_with('.') && !is_place && !FOREIGN.contains(&name)
}

/// A folder at the top as a package, or the packages in it.
fn packages_of(top: &Path, folder: &str) -> Vec<String> {
    if !PACKAGES.contains(&folder) {
        return vec![folder.to_owned()];
    }
    look(&top.join(folder)).0.into_iter().map(|name| format!("{folder}/{name}")).collect()
}

fn has(folder: &Path, name: &str) -> bool {
    fs::symlink_metadata(folder.join(name)).is_ok()
}

fn has_place(folder: &Path, name: &str) -> bool {
    let place = folder.join(name);
    // A link could lead out of the project.
    let is_folder = fs::symlink_metadata(&place).is_ok_and(|metadata| metadata.is_dir());
    is_folder && (!USUALLY_CODE.contains(&name) || has_notes(&place, DEEPEST_IN_CODE))
}

/// Whether notes are in a folder, or at most `deep` folders below it.
fn has_notes(folder: &Path, deep: usize) -> bool {
    let (inner, has_some) = look(folder);
    let inner = inner.iter().take(if deep > 0 { MOST_INNER } else { 0 });
    has_some || inner.into_iter().any(|name| has_notes(&folder.join(name), deep - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(files: &[&str]) -> tempfile::TempDir {
        let scratch = tempfile::tempdir().unwrap();
        for file in files {
            let path = scratch.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "text").unwrap();
        }
        scratch
    }

    #[test]
    fn usual_folders_are_found_at_the_top_and_in_packages() {
        let files = [
            "docs/a.md",
            "adr/0001.md",
            ".memory-bank/a.md",
            ".hidden/docs/a.md",
            "spec/models/a_spec.rb",
            "specs/a.md",
            "codex-rs/docs/a.md",
            "src/design/a.rs",
            "lib/design/tokens/a.md",
            "lib/specs/001-login/deep/spec.md",
            "lib/rfcs/a.md",
            "lib/.memory-bank/a.md",
            "app/spec/a/b/c/too-deep.md",
            "packages/x/docs/a.md",
            "packages/x/y/docs/a.md",
            "crates/docs/docs/a.md",
            "node_modules/x/docs/a.md",
            "node_modules/docs/a.md",
            "fix/docs/a.md",
            "fix/.git",
            "packages/module/docs/a.md",
            "packages/module/.git",
            "Notes.txt",
        ];
        let scratch = project(&files);
        fs::create_dir(scratch.path().join("real")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(scratch.path().join("real"), scratch.path().join("wiki"))
            .unwrap();
        let found = find(scratch.path());
        let expect = [
            "adr",
            "specs",
            ".memory-bank",
            "codex-rs/docs",
            "lib/rfcs",
            "lib/design",
            "lib/specs",
            "lib/.memory-bank",
            "packages/x/docs",
        ];
        assert_eq!(found.folders, expect);
        assert_eq!(find(project(&["specs/001-login/spec.md"]).path()).folders, ["specs"]);
        assert!(!found.has_notes_at_top);
        for note in ["ROADMAP.md", "README.markdown", "Guide.MD", "ROADMAP.mdx"] {
            assert!(find(project(&[note]).path()).has_notes_at_top, "{note}");
        }
        assert!(!find(project(&["CLAUDE.md", ".a.md"]).path()).has_notes_at_top);
        assert_eq!(find(Path::new("/none")), NotePlaces::default());
    }

    #[test]
    fn what_git_ignores_is_no_place() {
        let scratch = project(&["out/docs/a.md", "notes/a.md", "lib/docs/a.md", "lib/.gitignore"]);
        fs::create_dir(scratch.path().join(".git")).unwrap();
        fs::write(scratch.path().join(".gitignore"), "/out\n").unwrap();
        fs::write(scratch.path().join("lib/.gitignore"), "docs/\n").unwrap();
        assert_eq!(find(scratch.path()).folders, ["notes"]);
    }

    #[test]
    fn markdown_elsewhere_is_found_if_it_is_most_of_it() {
        let articles: Vec<String> = (0..6).map(|n| format!("articles/{n}/a.md")).collect();
        let mut files: Vec<&str> = articles.iter().map(String::as_str).collect();
        files.extend([
            "README.md",
            "docs/a.md",
            "src/lib.md",
            "tests/cases/b.md",
            "vendor/c.md",
            ".hidden/d.md",
            "out/e.md",
            ".gitignore",
            ".git/HEAD",
            "backend/docs/f.md",
            "backend/README.md",
            "trees/x/.git",
            "trees/x/g.md",
        ]);
        let scratch = project(&files);
        let top = scratch.path();
        fs::write(top.join(".gitignore"), "/out\n").unwrap();
        let known = [("", true), ("docs", false), ("backend/docs", false)];
        let known = known.map(|(folder, is_flat)| (top.join(folder), is_flat));
        assert_eq!(elsewhere(top, &known), ["articles", "src"]);
        for name in ["b", "c"] {
            fs::write(top.join(format!("docs/{name}.md")), "text").unwrap();
        }
        assert!(elsewhere(top, &known).is_empty(), "a third is known");
        for n in 0..MOST_FOLDERS {
            fs::create_dir_all(top.join(format!("src/{n}"))).unwrap();
        }
        assert!(elsewhere(top, &[]).is_empty(), "too many folders");
    }

    #[test]
    fn not_every_package_of_a_large_repository_is_looked_at() {
        let files: Vec<String> = (0..150).map(|n| format!("packages/p{n:03}/docs/a.md")).collect();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        assert_eq!(find(project(&files).path()).folders.len(), MOST_PACKAGES);
    }
}
