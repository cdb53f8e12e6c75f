//! Long lines: broken between words on a terminal, whole in pipes.

use std::process::Command;

use crate::support::Scratch;
use crate::support::terminal::on_terminal;

const COLUMNS: usize = 60;

/// Runs kgctx on a terminal of a known width.
fn on_narrow_terminal(scratch: &Scratch, arguments: &[&str]) -> Option<String> {
    let kgctx = scratch.kgctx(arguments);
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("stty cols {COLUMNS} && exec \"$0\" \"$@\"")]);
    shell.arg(kgctx.get_program()).args(kgctx.get_args()).current_dir(scratch.path());
    shell.envs(kgctx.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.env("NO_COLOR", "1").env("PATH", "/usr/bin:/bin").env("KGCTX_RANK", "notes");
    on_terminal(&shell, "").map(|(_, shown)| shown)
}

#[test]
fn a_terminal_gets_lines_that_it_need_not_break() {
    let scratch = Scratch::new();
    let text = "The mast carries the sails and the lights of the ship. ".repeat(6);
    scratch.write("docs/mast.md", format!("# Mast\n\n{text}\n"));
    for arguments in [&["explain", "--dry-run"][..], &["search", "mast"], &["doctor"]] {
        let Some(shown) = on_narrow_terminal(&scratch, arguments) else { return };
        let width = |line: &str| line.chars().count();
        let sentences = shown.lines().filter(|line| !line.contains('/') && !line.contains("ms: "));
        let widest = sentences.map(width).max().unwrap();
        assert!((COLUMNS - 20..=COLUMNS).contains(&widest), "{arguments:?}: {widest}\n{shown}");
    }
    let shown = on_narrow_terminal(&scratch, &["doctor"]).unwrap();
    assert!(shown.contains("`kgctx install claude-code`"), "a command stays whole: {shown}");
    let mut piped = scratch.kgctx(["explain", "--dry-run"]);
    let piped = piped.env("KGCTX_RANK", "notes").output().unwrap();
    let piped = String::from_utf8(piped.stdout).unwrap();
    assert!(piped.lines().any(|line| line.len() > 300), "{piped}");
}
