//! What is printed holds no control characters of files, names or the environment, and what is written is private.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::support::{Scratch, git};

/// Changes the window's title, clears the screen, and turns the direction.
const EVIL: &str = "\u{1b}]0;pwned\u{7}\u{1b}[2J\u{9b}31m\u{202e}x";

/// A project in whose names, settings and notes there is evil.
fn evil() -> Scratch {
    let scratch = Scratch::new();
    let top = format!("zeph{EVIL}yr");
    scratch.write(
        &format!("{top}/docs/n{EVIL}ote.md"),
        format!("# Ti{EVIL}tle zeph\n\n[[a{EVIL}b]] [[c]] zeph\n"),
    );
    scratch.write(&format!("{top}/AGENTS.md"), format!("[a]({EVIL}.md)\n"));
    for folder in ["todo", "doing"] {
        let queue = format!("{top}/.spx/sessions/{folder}");
        scratch.write(&format!("{queue}/{EVIL}.md"), format!("# {EVIL}\n"));
        scratch.write(&format!("{queue}/empty{EVIL}.md"), "");
    }
    git(&scratch.path().join(&top), &["init", "-q"]);
    scratch.write(
        "kgctx-home/config.toml",
        format!("servers = [{EVIL:?}]\n[channels]\n{EVIL:?} = {EVIL:?}\n[[vault]]\npath = {:?}\nname = \"v\"\n", format!("/none/{EVIL}"))
            .replace("\\u{1b}", "\\u001b")
            .replace("\\u{7}", "\\u0007")
            .replace("\\u{9b}", "\\u009b")
            .replace("\\u{202e}", "\\u202e"),
    );
    scratch
}

#[track_caller]
fn check_plain(what: &str, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let acts = |c: char| c.is_control() && !matches!(c, '\n' | '\t') || c == '\u{202e}';
    assert!(!text.contains(acts), "{what}: {text:?}");
}

#[test]
fn no_command_prints_the_control_characters_of_others() {
    let scratch = evil();
    let top = scratch.path().join(format!("zeph{EVIL}yr"));
    let run = |arguments: &[&str]| {
        let mut command = scratch.kgctx(arguments);
        command.current_dir(&top).env("KGCTX_SESSION_ID", format!("s{EVIL}"));
        let output = command.output().unwrap();
        check_plain(&arguments.join(" "), &output.stdout);
        check_plain(&arguments.join(" "), &output.stderr);
        output
    };
    assert!(run(&["config"]).stdout.len() > 100);
    let vaults = ["--vault", "docs"];
    for arguments in [
        &["config", "--json"][..],
        &["whoami"],
        &["init"],
        &["vault", "list"],
        &["vault", "list", "--json"],
        &["vault", "add", EVIL],
        &["vault", "remove", EVIL],
        &["whoami", "--json"],
        &["doctor"],
        &["doctor", "--json"],
        &["index"],
        &["search", "zeph"],
        &["search", EVIL],
        &["search", "zeph", "--json"],
        &["recent"],
        &["recent", "--json"],
        &["context", EVIL],
        &["context", "c"],
        &["context", "c", "--json"],
        &["read", EVIL],
        &["check"],
        &["check", "--base", EVIL],
        &["check", "--format", "markdown"],
        &["replay"],
        &["explain", "--session", EVIL],
        &["inject", "--session", EVIL, "--dry-run", "--format", "json"],
        &["explain", "--dry-run"],
        &["explain", "--dry-run", "--json"],
        &["handoff", "create", "--goal", EVIL, "--next", EVIL, "--json"],
        &["handoff", "create", "--goal", EVIL, "--next", EVIL],
        &["handoff", "list", "--all"],
        &["handoff", "list", "--all", "--json"],
        &["handoff", "list", "--fields", "goal,session_id,reason"],
        &["handoff", "list", "--fields", EVIL],
        &["handoff", "show", "--json"],
        &["handoff", "log"],
        &["handoff", "log", "--json"],
        &["handoff", "import", EVIL],
        &["handoff", "import", "--from", "spx", "--dry-run"],
        &["handoff", "import", "--from", "spx", "--json", "--dry-run"],
        &["handoff", "import", "--from", "spx"],
        &["handoff", "import", "--from", "amplifier"],
        &["handoff", "pickup", EVIL],
        &["handoff", "reconcile"],
        &[EVIL],
        &["--dir", EVIL, "whoami"],
        &["--vault", EVIL, "index"],
    ] {
        run(arguments);
        run(&[&vaults[..], arguments].concat());
    }
}

#[test]
fn pages_and_exported_handoffs_are_for_their_owner_alone() {
    let scratch = Scratch::new();
    scratch.write("zephyr/docs/a.md", "# Zephyr\n\nA note.\n");
    let run = |arguments: &[&str]| {
        let output = scratch.kgctx([&["--dir", "zephyr"], arguments].concat()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    run(&["explain", "--dry-run", "--html", "page.html"]);
    run(&["handoff", "create", "--goal", "Ship it", "--next", "Now"]);
    run(&["handoff", "export", "--to", "handoff.md"]);
    for file in ["page.html", "handoff.md"] {
        let mode = fs::metadata(scratch.path().join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
}
