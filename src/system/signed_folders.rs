//! Finds the vaults in a project that a program for notes has left its signs in. Opens no note.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::core::note::places::FOREIGN;
use crate::system::vault::{IgnoreRules, program_of, vaults_of_dendron};

/// A vault of a program for notes.
#[derive(Debug, PartialEq, Eq)]
pub struct SignedFolder {
    pub path: PathBuf,
    /// The program's name for people.
    pub program: &'static str,
}

/// Looks at a folder, the folders around it up to the project's top, and the folders directly in all of these. Of two
/// that lie in each other, the outer one counts. `top` and `folder` are canonical.
pub fn find(top: &Path, folder: &Path) -> Vec<SignedFolder> {
    let mut around: Vec<&Path> =
        folder.ancestors().take_while(|place| place.starts_with(top)).collect();
    around.reverse();
    let inner = around.iter().flat_map(|place| inner_folders(place));
    let places: Vec<PathBuf> =
        around.iter().map(|place| place.to_path_buf()).chain(inner).collect();
    let mut found: Vec<SignedFolder> = Vec::new();
    for place in places {
        let Some(program) = program_of(&place) else { continue };
        for path in vaults(&place, program) {
            if !found.iter().any(|outer| path.starts_with(&outer.path)) {
                found.push(SignedFolder { path, program });
            }
        }
    }
    found
}

/// The vaults of the program whose signs are in a project's top itself: usually the whole top. Foam recommends itself in
/// repositories of code as well, and counts nowhere.
pub fn at_top(top: &Path) -> Vec<PathBuf> {
    match program_of(top) {
        None | Some("Foam" | "maenifold") => Vec::new(),
        Some(program) => vaults(top, program),
    }
}

/// The folders in a folder that may be vaults of the project: neither another repository nor ignored.
fn inner_folders(folder: &Path) -> Vec<PathBuf> {
    let mut folders = BTreeSet::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_foreign = |name: &str| name.starts_with('.') || FOREIGN.contains(&name);
        // A link could lead out of the project.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let is_own = !entry.file_name().to_str().is_none_or(is_foreign);
        if is_folder && is_own && fs::symlink_metadata(entry.path().join(".git")).is_err() {
            folders.insert(entry.path());
        }
    }
    let rules = IgnoreRules::default();
    folders.into_iter().filter(|folder| !rules.exclude(folder)).collect()
}

/// The vaults of a signed folder: usually itself. Dendron's are beside its sign.
fn vaults(folder: &Path, program: &str) -> Vec<PathBuf> {
    let named = if program == "Dendron" { vaults_of_dendron(folder) } else { Vec::new() };
    let is_below = |path: &String| {
        Path::new(path)
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
    };
    let named = named.iter().filter(|path| is_below(path));
    let vaults: Vec<PathBuf> = named
        .filter_map(|path| dunce::canonicalize(folder.join(path)).ok())
        .filter(|path| path.is_dir() && path.starts_with(folder))
        .collect();
    if vaults.is_empty() { vec![folder.to_path_buf()] } else { vaults }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::text::slashes::with_slashes;

    /// What is found from `project/at`, as paths from the project and programs.
    fn found(files: &[(&str, &str)], at: &str) -> Vec<(String, &'static str)> {
        let scratch = tempfile::tempdir().unwrap();
        let top = dunce::canonicalize(scratch.path()).unwrap().join("project");
        fs::create_dir_all(top.join(at)).unwrap();
        for (file, text) in files {
            let file = top.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let from_top = |path: &Path| with_slashes(path.strip_prefix(&top).unwrap()).unwrap();
        let found = find(&top, &top.join(at)).into_iter();
        found.map(|SignedFolder { path, program }| (from_top(&path), program)).collect()
    }

    #[test]
    fn every_programs_sign_is_known() {
        let recommended = r#"{ "recommendations": ["foam.foam-vscode"] }"#;
        for (file, text, program) in [
            ("kb/.obsidian/app.json", "{}", "Obsidian"),
            ("kb/logseq/config.edn", "", "Logseq"),
            ("kb/dendron.yml", "", "Dendron"),
            ("kb/.foam/templates/daily.md", "", "Foam"),
            ("kb/.vscode/extensions.json", recommended, "Foam"),
        ] {
            assert_eq!(found(&[(file, text)], ""), [("kb".to_owned(), program)], "{file}");
            let at_top = file.strip_prefix("kb/").unwrap();
            assert_eq!(found(&[(at_top, text)], "src"), [(String::new(), program)], "{at_top}");
        }
        let pages = [("kb/pages/a.md", ""), ("kb/journals/b.md", "")];
        assert_eq!(found(&pages, ""), [("kb".to_owned(), "Logseq")]);
        let memory = [("memory/a.md", ""), ("memory.db", "")];
        assert_eq!(found(&memory, ""), [("memory".to_owned(), "maenifold")]);
        assert_eq!(found(&[(".vscode/extensions.json", "{}"), ("docs/a.md", "")], ""), []);
    }

    #[test]
    fn what_is_deep_hidden_ignored_foreign_or_another_repository_is_not_looked_at() {
        let sign = |folder: &str| format!("{folder}/.obsidian/app.json");
        for folder in ["a/b/c", ".hidden", "node_modules", "out", "other"] {
            let files = [
                (sign(folder), ""),
                (".git/HEAD".to_owned(), ""),
                (".gitignore".to_owned(), "/out\n"),
                ("other/.git".to_owned(), "gitdir: elsewhere"),
            ];
            let files: Vec<(&str, &str)> =
                files.iter().map(|(file, text)| (file.as_str(), *text)).collect();
            assert_eq!(found(&files, ""), [], "{folder}");
        }
        let deep = sign("a/b/c");
        assert_eq!(found(&[(&deep, "")], "a/b"), [("a/b/c".to_owned(), "Obsidian")]);
    }

    #[test]
    fn a_top_is_a_vault_by_its_signs() {
        let at_top = |files: &[&str]| {
            let scratch = tempfile::tempdir().unwrap();
            let top = dunce::canonicalize(scratch.path()).unwrap();
            for file in files {
                fs::create_dir_all(top.join(file).parent().unwrap()).unwrap();
                fs::write(top.join(file), "vaults:\n- fsPath: vault\n").unwrap();
            }
            let below = |path: PathBuf| with_slashes(path.strip_prefix(&top).unwrap()).unwrap();
            super::at_top(&top).into_iter().map(below).collect::<Vec<_>>()
        };
        for sign in [".obsidian/app.json", "logseq/config.edn", "dendron.yml"] {
            assert_eq!(at_top(&[sign, "a.md"]), [""], "{sign}");
        }
        assert_eq!(at_top(&["dendron.yml", "vault/a.md"]), ["vault"]);
        assert!(
            at_top(&[".foam/a", "a.md"]).is_empty() && at_top(&["docs/.obsidian/b"]).is_empty()
        );
    }

    #[test]
    fn the_outer_of_two_vaults_counts() {
        let files = [(".obsidian/app.json", ""), ("kb/.obsidian/app.json", "")];
        assert_eq!(found(&files, "kb"), [(String::new(), "Obsidian")]);
    }

    #[test]
    fn a_dendron_workspace_names_its_vaults() {
        let old = "version: 1\nvaults:\n- fsPath: vault\n- fsPath: gone\n- fsPath: ../out\n";
        let new = "workspace:\n  vaults:\n  - fsPath: .\n    selfContained: true\n";
        let expect = |path: &str| [(path.to_owned(), "Dendron")];
        assert_eq!(found(&[("dendron.yml", old), ("vault/a.md", "")], ""), expect("vault"));
        assert_eq!(found(&[("dendron.yml", new), ("notes/a.md", "")], ""), expect("notes"));
        assert_eq!(found(&[("dendron.yml", ": broken ["), ("a.md", "")], ""), expect(""));
    }
}
