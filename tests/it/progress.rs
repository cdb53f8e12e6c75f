//! Progress: shown on a terminal by what takes long, and nowhere else.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::support::terminal::on_terminal;
use crate::support::{Scratch, git};

/// Longer than a command works without progress.
const LONG: Duration = Duration::from_millis(900);

/// A project with a note, and a host whose program takes a while to say its version.
fn slow_host() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("app/docs/a.md", "# App\n\nThe app has a [[Mast]].\n");
    git(&scratch.path().join("app"), &["init", "-q"]);
    let opencode = scratch.write("bin/opencode", "#!/bin/sh\nsleep 1.5\necho 1.18.33\n");
    fs::set_permissions(opencode, fs::Permissions::from_mode(0o755)).unwrap();
    scratch
}

fn command(scratch: &Scratch, arguments: &[&str]) -> Command {
    let mut command = scratch.kgctx(arguments);
    let path = format!("{}/bin:/usr/bin:/bin", scratch.path().display());
    command.current_dir(scratch.path().join("app")).env("PATH", path).env("TERM", "xterm");
    command
}

/// The lock of the only index.
fn lock_file(folder: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    entries.into_iter().find_map(|path| match path.is_dir() {
        true => lock_file(&path),
        false => path.file_name().is_some_and(|name| name == "lock").then_some(path),
    })
}

/// Another process seems to write the index, for longer than a command works without progress.
fn busy_index(scratch: &Scratch) -> JoinHandle<()> {
    let index = scratch.path().join("kgctx-home/cache/index");
    let lock = fs::File::open(lock_file(&index).unwrap()).unwrap();
    lock.lock().unwrap();
    thread::spawn(move || {
        thread::sleep(LONG);
        drop(lock);
    })
}

/// git takes a while here.
fn slow_git(scratch: &Scratch) {
    let git = scratch.write("bin/git", "#!/bin/sh\nsleep 0.8\nexec /usr/bin/git \"$@\"\n");
    fs::set_permissions(git, fs::Permissions::from_mode(0o755)).unwrap();
}

#[track_caller]
fn assert_quiet(output: &Output) {
    for bytes in [&output.stdout, &output.stderr] {
        let text = String::from_utf8(bytes.clone()).unwrap();
        let is_control = |c: char| c.is_control() && c != '\n';
        assert!(!text.contains(is_control), "{text:?}");
    }
    assert!(output.stdout.len() + output.stderr.len() > 0, "{output:?}");
}

#[test]
fn an_index_counts_its_notes_on_a_terminal() {
    let scratch = slow_host();
    for n in 0..400 {
        scratch.write(&format!("app/docs/{n}.md"), format!("# Note {n}\n\nThe [[Mast]].\n"));
    }
    assert!(command(&scratch, &["index"]).output().unwrap().status.success());
    let busy = busy_index(&scratch);
    let shown = on_terminal(&command(&scratch, &["index", "--full"]), "");
    busy.join().unwrap();
    let Some((code, shown)) = shown else { return };
    assert_eq!(code, 0, "{shown}");
    let (progress, answer) = shown.split_once("Vault").unwrap();
    assert!(progress.contains("Reading notes") && progress.contains("/401 notes"), "{shown:?}");
    assert!(!answer.contains("/401 notes"), "{shown:?}");
}

#[test]
fn a_pipe_gets_no_progress_of_what_takes_long() {
    let scratch = slow_host();
    let run = |arguments: &[&str]| {
        let started = Instant::now();
        let output = command(&scratch, arguments).output().unwrap();
        assert!(started.elapsed() > Duration::from_millis(700), "{arguments:?} is quick");
        assert_quiet(&output);
    };
    assert!(command(&scratch, &["index"]).output().unwrap().status.success());
    for (n, arguments) in [&["index", "--full"][..], &["init"]].into_iter().enumerate() {
        scratch.write(&format!("app/docs/new-{n}.md"), "# New\n");
        let busy = busy_index(&scratch);
        run(arguments);
        busy.join().unwrap();
    }
    slow_git(&scratch);
    run(&["check"]);
}

#[test]
fn what_takes_long_shows_progress_on_a_terminal() {
    let scratch = slow_host();
    let Some((_, shown)) = on_terminal(&command(&scratch, &["doctor"]), "") else { return };
    assert!(shown.contains("Checking") && shown.contains("1.18.33"), "{shown:?}");
    // It is gone when the answer comes.
    let (_, answer) = shown.split_once("ok").unwrap();
    assert!(!answer.contains("Checking"), "{shown:?}");
}

#[test]
fn what_is_quick_shows_none() {
    let scratch = slow_host();
    let Some((code, shown)) = on_terminal(&command(&scratch, &["whoami"]), "") else { return };
    assert_eq!(code, 0, "{shown}");
    let Some((_, shown)) = on_terminal(&command(&scratch, &["recent", "--json"]), "") else {
        return;
    };
    assert!(shown.starts_with('{') && !shown.contains('\u{1b}'), "{shown:?}");
}

#[test]
fn a_pipe_gets_no_progress() {
    let scratch = slow_host();
    for arguments in [
        &["doctor"][..],
        &["index"],
        &["search", "mast"],
        &["recent"],
        &["context", "mast"],
        &["read", "a"],
        &["inject", "--session", "s", "--dry-run"],
        &["explain", "--dry-run"],
        &["check"],
        &["replay"],
        &["handoff", "import", "--from", "spx"],
        &["install", "opencode", "--dry-run"],
        &["vault", "list"],
        &["init"],
    ] {
        assert_quiet(&command(&scratch, arguments).output().unwrap());
    }
}
