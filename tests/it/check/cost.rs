//! What a check costs: the history is read once, no note takes long, and no home folder is listed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use super::{DAY, Lab};
use crate::support::{git, output_meanwhile, stderr};

fn program(name: &str) -> PathBuf {
    let folders = std::env::var_os("PATH").unwrap();
    std::env::split_paths(&folders)
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
        .unwrap()
}

/// A check with a git that logs what it is asked: the program's folder and its log.
fn logging_git(lab: &Lab) -> (String, PathBuf) {
    let (bin, log) = (lab.scratch.path().join("bin"), lab.scratch.path().join("log"));
    let script = format!(
        "#!/bin/sh\necho \"$*\" >> {}\nexec {} \"$@\"\n",
        log.display(),
        program("git").display()
    );
    let git = lab.scratch.write("bin/git", script);
    fs::set_permissions(git, fs::Permissions::from_mode(0o755)).unwrap();
    (format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()), log)
}

#[test]
fn the_history_is_read_once() {
    let lab = Lab::with_notes();
    let (path, log) = logging_git(&lab);
    for arguments in [&[][..], &["--update-baseline"], &[]] {
        let output = lab.kgctx(arguments).env("PATH", &path).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let asked = fs::read_to_string(&log).unwrap();
        let histories: Vec<&str> = asked.lines().filter(|line| line.contains(" log -c ")).collect();
        assert_eq!(histories.len(), 1, "{asked}");
        assert!(histories[0].contains(":(literal).kgctx/memory/tile-cache.md"), "{asked}");
        fs::remove_file(&log).unwrap();
    }
}

#[test]
fn git_is_asked_about_notes_alone() {
    let lab = Lab::with_notes();
    lab.write("deep/er/AGENTS.md", "# Agents\n");
    lab.commit("a static file", 3 * DAY);
    let (path, log) = logging_git(&lab);
    let output = lab.kgctx(&[]).env("PATH", &path).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let asked = fs::read_to_string(&log).unwrap();
    for question in [" log -c ", " diff "] {
        let mut asked = asked.lines().filter(|line| line.contains(question));
        let asked = asked.next().unwrap();
        assert!(asked.contains(":(literal).kgctx/memory/atlas.md"), "{asked}");
        assert!(!asked.contains("AGENTS.md"), "{asked}");
    }
}

#[test]
fn few_folders_are_made() {
    let lab = Lab::with_notes();
    for path in [
        "src/a/b/c/d/e.rs",
        "backend/docs/pages/x/a.txt",
        "packages/web/docs/journals/x/a.txt",
        "far/off/in/the/vault/pages/x/a.txt",
        "far/off/in/the/vault/.obsidian/app.json",
        "far/off/start/here/please/x/a.rs",
        "ruled/a/b/c/d/.gitignore",
    ] {
        lab.write(path, "");
    }
    lab.write(
        "kgctx.toml",
        "[[vault]]\npath = \"./far/off/in/the/vault\"\n[[check.session]]\nname = \"s\"\n\
         dir = \"far/off/start/here/please\"\n",
    );
    lab.commit("deep folders", 3 * DAY);
    let temporary = lab.scratch.path().join("tmp");
    fs::create_dir(&temporary).unwrap();
    let mut command = lab.kgctx(&["--format", "json"]);
    command.env("TMPDIR", &temporary);
    let output = output_meanwhile(command, "check:again", || {
        let made = fs::read_dir(&temporary).unwrap().next().unwrap().unwrap().path().join("atlas");
        for (folder, is_made) in [
            ("src", true),
            ("src/a", false),
            ("backend/docs/pages", true),
            ("backend/docs/pages/x", false),
            ("packages/web/docs/journals", true),
            ("packages/web/docs/journals/x", false),
            ("far/off/in/the/vault/pages", true),
            ("far/off/in/the/vault/pages/x", false),
            ("far/off/in/the/vault/.obsidian", true),
            ("far/off/start/here/please", true),
            ("ruled/a/b/c/d/.gitignore", true),
        ] {
            assert_eq!(made.join(folder).exists(), is_made, "{folder}");
        }
    });
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn a_home_folder_is_no_project() {
    let lab = Lab::new();
    let home = lab.scratch.home();
    fs::create_dir_all(home.join(".kgctx/memory")).unwrap();
    for folder in [home.clone(), PathBuf::from("/"), lab.scratch.path()] {
        let output = lab.kgctx(&["--dir", folder.to_str().unwrap()]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let expect = format!("{} is not a project", folder.display());
        assert!(stderr(&output).contains(&expect), "{output:?}");
        assert!(stderr(&output).contains("--dir"), "{output:?}");
    }
    // Nor as a git repository, or in one.
    for repository in [home.clone(), lab.scratch.path()] {
        git(&repository, &["init", "-q"]);
        let output = lab.kgctx(&["--dir", home.to_str().unwrap()]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(stderr(&output).contains("is not a project"), "{output:?}");
    }
    // A folder below it is one of its own, and not a part of what is marked above.
    lab.scratch.write("home/notes/docs/a.md", "# A\n");
    let output = lab.kgctx(&["--dir", home.join("notes").to_str().unwrap()]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}
