//! Progress: shown on a terminal by what takes long, and nowhere else.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::support::terminal::on_terminal;
use crate::support::{Scratch, git};

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
        let output = command(&scratch, arguments).output().unwrap();
        for bytes in [&output.stdout, &output.stderr] {
            let text = String::from_utf8(bytes.clone()).unwrap();
            let is_control = |c: char| c.is_control() && c != '\n';
            assert!(!text.contains(is_control), "{arguments:?}: {text:?}");
        }
        assert!(output.stdout.len() + output.stderr.len() > 0, "{arguments:?}");
    }
}
