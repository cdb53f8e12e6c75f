//! What a check costs: the history is read once, no note takes long, and no home folder is listed.

use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::Lab;
use crate::support::stderr;

/// In square time, the slowest of these notes would take many times as long in any build.
const LONG: Duration = Duration::from_secs(60);

fn program(name: &str) -> PathBuf {
    let folders = std::env::var_os("PATH").unwrap();
    std::env::split_paths(&folders)
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
        .unwrap()
}

#[test]
fn the_history_is_read_once() {
    let lab = Lab::with_notes();
    let (bin, log) = (lab.scratch.path().join("bin"), lab.scratch.path().join("log"));
    let script = format!(
        "#!/bin/sh\necho \"$*\" >> {}\nexec {} \"$@\"\n",
        log.display(),
        program("git").display()
    );
    let git = lab.scratch.write("bin/git", script);
    fs::set_permissions(git, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
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
fn a_note_of_many_links_takes_no_square_time() {
    for part in
        ["`src/gone.rs` `src/#.rs` ", "$1 [x](gone-#.md) ", "[x](#.md) password=hunter#Zq9 "]
    {
        let lab = Lab::new();
        let mut text = String::new();
        for n in 0..20_000 {
            text.write_str(&part.replace('#', &n.to_string())).unwrap();
        }
        lab.write("docs/a.md", &text);
        lab.write("docs/b.md", "# B\n");
        lab.write("src/main.rs", "");
        let started = Instant::now();
        let output = lab.kgctx(&["--format", "json"]).output().unwrap();
        assert!(started.elapsed() < LONG, "{part} took {:?}", started.elapsed());
        assert_eq!(stderr(&output), "");
    }
}

#[test]
fn a_home_folder_is_no_project() {
    let lab = Lab::new();
    let home = lab.scratch.home();
    fs::create_dir_all(home.join(".kgctx/memory")).unwrap();
    for folder in [home.clone(), PathBuf::from("/"), lab.scratch.path()] {
        let output = lab.kgctx(&["--dir", folder.to_str().unwrap()]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let expect = format!("{} is no project", folder.display());
        assert!(stderr(&output).contains(&expect), "{output:?}");
        assert!(stderr(&output).contains("--dir"), "{output:?}");
    }
    // A folder below it is one of its own, and not a part of what is marked above.
    lab.scratch.write("home/notes/docs/a.md", "# A\n");
    let output = lab.kgctx(&["--dir", home.join("notes").to_str().unwrap()]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}
