//! A host's real terminal window, in a tmux of its own: typed into and read.

use crate::support::skips::skipped;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(30);

/// The window, closed when it is dropped.
pub(crate) struct Window<'a> {
    /// Makes a program, about to run with the environment of a lab.
    command: Box<dyn Fn(&Path) -> Command + 'a>,
    socket: PathBuf,
}

impl<'a> Window<'a> {
    /// Opens a program's window and waits for the text that shows that it is ready. Skips the test if tmux is missing.
    pub(crate) fn open(
        command: impl Fn(&Path) -> Command + 'a,
        socket: PathBuf,
        program: &Path,
        ready: &str,
    ) -> Option<Window<'a>> {
        if Command::new("tmux").arg("-V").output().is_err() {
            skipped("no tmux to open a window in");
            return None;
        }
        let window = Window { command: Box::new(command), socket };
        let program = program.to_str().unwrap();
        window.tmux(&["new-session", "-d", "-x", "140", "-y", "40", program]);
        window.wait_for(ready);
        Some(window)
    }

    /// Types a text without sending it.
    pub(crate) fn write(&self, text: &str) {
        self.tmux(&["send-keys", "-l", text]);
    }

    /// Presses a key, as tmux names it.
    pub(crate) fn key(&self, key: &str) {
        self.tmux(&["send-keys", key]);
    }

    /// The text on the screen, with plain blanks.
    pub(crate) fn text(&self) -> String {
        self.tmux(&["capture-pane", "-p"]).replace('\u{a0}', " ")
    }

    pub(crate) fn shows(&self, text: &str) -> bool {
        self.text().contains(text)
    }

    /// What tmux knows of the window, in its own format.
    pub(crate) fn known(&self, format: &str) -> String {
        self.tmux(&["display-message", "-p", format]).trim().to_owned()
    }

    /// Waits until the window shows a text.
    #[track_caller]
    pub(crate) fn wait_for(&self, text: &str) {
        let end = Instant::now() + PATIENCE;
        while !self.shows(text) {
            assert!(Instant::now() < end, "waited in vain for {text} in\n{}", self.text());
            thread::sleep(PAUSE);
        }
    }

    #[track_caller]
    pub(crate) fn tmux(&self, arguments: &[&str]) -> String {
        let output = self.tmux_command(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// What tmux answers; `None` if the window is gone.
    pub(crate) fn try_tmux(&self, arguments: &[&str]) -> Option<String> {
        let output = self.tmux_command(arguments).output().unwrap();
        output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
    }

    fn tmux_command(&self, arguments: &[&str]) -> Command {
        let mut command = (self.command)(Path::new("tmux"));
        command.env("LANG", "C.UTF-8").env("TERM", "xterm-256color");
        command.args(["-u", "-f", "/dev/null", "-S"]).arg(&self.socket).args(arguments);
        command
    }
}

impl Drop for Window<'_> {
    fn drop(&mut self) {
        let process = ["display-message", "-p", "#{pane_pid}"];
        let process = self.tmux_command(&process).output().unwrap();
        // The program may have closed the window itself.
        drop(self.tmux_command(&["kill-server"]).output());
        // The program writes until it has ended; only then can its folder be removed.
        let process = String::from_utf8(process.stdout).unwrap();
        if !process.trim().is_empty() {
            let wait = "for _ in $(seq 50); do kill -0 $0 || exit; sleep 0.1; done; kill -9 $0";
            drop(Command::new("sh").args(["-c", wait, process.trim()]).output());
        }
    }
}
