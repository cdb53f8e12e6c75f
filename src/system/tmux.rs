//! tmux: what a pane shows, and keys for it. Always the exact pane of one socket, and never for long.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crate::core::time_limits;
use crate::system::process::run::{Leftovers, Limits, RunError, run};

/// Whether it runs on this system.
pub const IS_POSSIBLE: bool = cfg!(unix);
/// No screen is larger.
const MAX_SCREEN_BYTES: u64 = 4 * 1024 * 1024;
/// What is asked about a pane.
const ASKED: &str = "#{pane_pid} #{pane_in_mode} #{cursor_x} #{cursor_y} #{pane_dead}";

/// When somebody last used a terminal, and the pane that its keys go to, on a line of its own.
const USED: &str = "client #{client_activity} #{pane_id}";
const CLIENT: &str = "client ";

/// A pane at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaneView {
    /// The process that was started in it.
    pub pid: u32,
    /// Whether keys go to tmux itself, as in its copy mode.
    pub is_in_mode: bool,
    /// Column and line, from 0.
    pub cursor: (usize, usize),
    /// The seconds since 1970 at which somebody last used a terminal whose keys go to it; `None` if there is no such terminal.
    pub last_used: Option<i64>,
    /// The lines of the screen, with escape sequences for colours.
    pub screen: String,
}

/// Looks at a pane, by one call. `None` if it moved meanwhile: what stands where then is unknown.
pub fn look(socket: &Path, pane: &str) -> Result<Option<PaneView>, RunError> {
    let ask = ["display-message", "-p", "-t", pane, ASKED];
    let screen = ["capture-pane", "-e", "-p", "-t", pane];
    let used = ["list-clients", "-F", USED];
    let all = [&ask[..], &screen, &used, &ask].join(&";");
    Ok(view(&tmux(socket, &all)?, pane))
}

fn view(answer: &str, pane: &str) -> Option<PaneView> {
    let (before, rest) = answer.split_once('\n')?;
    let mut lines: Vec<&str> = rest.lines().collect();
    if lines.pop() != Some(before) {
        return None;
    }
    let mut last_used = None;
    while let Some(client) = lines.last().and_then(|line| line.strip_prefix(CLIENT)) {
        let (at, of) = client.split_once(' ').unwrap_or((client, pane));
        if of.trim() == pane {
            last_used = last_used.max(at.trim().parse().ok());
        }
        lines.pop();
    }
    let mut values = before.split_whitespace();
    let mut next = || values.next()?.parse::<u32>().ok();
    let (pid, mode, x, y) = (next()?, next()?, next()?, next()?);
    let cursor = (x as usize, y as usize);
    let is_dead = next()? != 0;
    let (is_in_mode, screen) = (mode != 0, lines.join("\n"));
    (!is_dead).then_some(PaneView { pid, is_in_mode, cursor, last_used, screen })
}

/// The process that was started in a pane; `None` if the pane is not there.
pub fn pane_process(socket: &Path, pane: &str) -> Option<u32> {
    let answer = tmux(socket, &["display-message", "-p", "-t", pane, ASKED]).ok()?;
    answer.split_whitespace().next()?.parse().ok()
}

/// Types a text, as it is.
pub fn write(socket: &Path, pane: &str, text: &str) -> Result<(), RunError> {
    tmux(socket, &["send-keys", "-t", pane, "-l", "--", text]).map(drop)
}

pub fn enter(socket: &Path, pane: &str) -> Result<(), RunError> {
    tmux(socket, &["send-keys", "-t", pane, "Enter"]).map(drop)
}

fn tmux(socket: &Path, arguments: &[&str]) -> Result<String, RunError> {
    let mut command = Command::new("tmux");
    // Without -u, characters outside of ASCII come as underscores where the locale is not UTF-8.
    command.arg("-u").arg("-S").arg(socket).args(arguments);
    let until = Instant::now() + time_limits::TMUX;
    let limits = Limits { until, max_bytes: MAX_SCREEN_BYTES, leftovers: Leftovers::Keep };
    Ok(String::from_utf8_lossy(&run(command, None, limits)?).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pane_that_moved_meanwhile_is_not_seen() {
        let screen = "● Done.\n\n";
        let clients = "client 5 %3\nclient 9 %3\nclient 12 %33\n";
        let seen = view(&format!("7 0 2 36 0\n{screen}{clients}7 0 2 36 0\n"), "%3").unwrap();
        assert_eq!((seen.pid, seen.cursor, seen.is_in_mode), (7, (2, 36), false));
        assert_eq!((seen.last_used, seen.screen.as_str()), (Some(9), "● Done.\n"));
        assert_eq!(view(&format!("7 0 2 36 0\n{screen}7 0 3 36 0\n"), "%3"), None);
        assert!(view("7 1 2 36 0\n\n7 1 2 36 0\n", "%3").unwrap().is_in_mode);
        for broken in
            ["", "\n", "7 0 2\n7 0 2\n", "7 0 2 36 1\n7 0 2 36 1\n", "can't find pane: %3"]
        {
            assert_eq!(view(broken, "%3"), None, "{broken}");
        }
    }
}
