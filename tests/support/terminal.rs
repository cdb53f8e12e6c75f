//! A terminal for the binary, which `script` makes.

use crate::support::skips::skipped;
use std::io::Write;
use std::process::{Command, Stdio};

/// Runs a command on a terminal on which somebody has typed something ahead. Returns its exit code and what was shown;
/// `None` where there is nothing to make a terminal with.
pub(crate) fn on_terminal(command: &Command, typed: &str) -> Option<(i32, String)> {
    if Command::new("script").arg("--version").output().is_err() {
        skipped("no `script` to make a terminal with");
        return None;
    }
    let words = [command.get_program()].into_iter().chain(command.get_args());
    let words = words.map(|word| format!("'{}'", word.to_str().unwrap().replace('\'', r"'\''")));
    let line = words.collect::<Vec<_>>().join(" ");
    let mut script = Command::new("script");
    script.args(["-qec", &line, "/dev/null"]).env_clear().env("SHELL", "/bin/sh");
    script.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    script.current_dir(command.get_current_dir().unwrap());
    script.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = script.spawn().unwrap();
    child.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap().replace("\r\n", "\n");
    Some((output.status.code().unwrap(), shown))
}
