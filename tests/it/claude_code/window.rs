//! Claude Code's real terminal window, in a tmux of its own: typed into, and looked at.

use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::lab::{KEY, Lab, PATIENCE, program};

/// The window, closed when it is dropped.
pub(super) struct Window<'a> {
    lab: &'a Lab,
}

impl<'a> Window<'a> {
    /// Opens Claude Code's window, where there is a tmux to open it in.
    pub(super) fn open(lab: &'a Lab) -> Option<Window<'a>> {
        if Command::new("tmux").arg("-V").output().is_err() {
            eprintln!("skipped: no tmux to open Claude Code's window in");
            return None;
        }
        // What a person is asked at the very first start is answered.
        let project = lab.project().display().to_string();
        let answers = json!({"hasCompletedOnboarding": true, "theme": "dark",
            "customApiKeyResponses": {"approved": [KEY], "rejected": []},
            "projects": {project: {"hasTrustDialogAccepted": true}}});
        lab.scratch.write("home/.claude.json", answers.to_string());
        let window = Window { lab };
        let program = program().to_str().unwrap();
        window.tmux(&["new-session", "-d", "-x", "120", "-y", "40", program]);
        window.wait_for("❯");
        Some(window)
    }

    /// Types a line and sends it.
    pub(super) fn say(&self, text: &str) {
        // While it draws another session, what is typed is lost.
        let is_typed = || {
            self.key("C-u");
            self.tmux(&["send-keys", "-l", text]);
            (0..40).any(|_| {
                thread::sleep(Duration::from_millis(50));
                self.sees(&format!("❯ {text}"))
            })
        };
        assert!((0..10).any(|_| is_typed()), "{text} cannot be typed");
        // Enter that comes with the text is taken for a part of what was pasted.
        thread::sleep(Duration::from_millis(500));
        self.key("Enter");
    }

    /// Presses a key, as tmux names it.
    pub(super) fn key(&self, key: &str) {
        self.tmux(&["send-keys", key]);
    }

    /// Waits until a text is to be seen.
    #[track_caller]
    pub(super) fn wait_for(&self, text: &str) {
        let end = Instant::now() + PATIENCE;
        while !self.sees(text) {
            assert!(Instant::now() < end, "waited in vain for {text} in\n{}", self.text());
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn sees(&self, text: &str) -> bool {
        self.text().contains(text)
    }

    fn text(&self) -> String {
        // A blank that cannot be broken is a blank to whoever looks.
        self.tmux(&["capture-pane", "-p"]).replace('\u{a0}', " ")
    }

    /// Waits until the hooks were told so many things, and returns them.
    #[track_caller]
    pub(super) fn heard(&self, count: usize) -> Vec<Value> {
        let end = Instant::now() + PATIENCE;
        let mut heard = self.lab.heard();
        while heard.len() < count {
            assert!(Instant::now() < end, "waited in vain for {count} events: {heard:#?}");
            thread::sleep(Duration::from_millis(50));
            heard.extend(self.lab.heard());
        }
        heard
    }

    #[track_caller]
    fn tmux(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.lab.command(Path::new("tmux"));
        command.env("LANG", "C.UTF-8").env("TERM", "xterm-256color");
        let socket = self.lab.scratch.path().join("tmux");
        command.args(["-u", "-f", "/dev/null", "-S"]).arg(socket).args(arguments);
        command
    }
}

impl Drop for Window<'_> {
    fn drop(&mut self) {
        let process = self.command(&["display-message", "-p", "#{pane_pid}"]).output().unwrap();
        // It may have been closed from inside.
        drop(self.command(&["kill-server"]).output());
        // Claude Code writes until it has ended; only then can its folder be removed.
        let process = String::from_utf8(process.stdout).unwrap();
        if !process.trim().is_empty() {
            let wait = "for _ in $(seq 50); do kill -0 $0 || exit; sleep 0.1; done; kill -9 $0";
            drop(Command::new("sh").args(["-c", wait, process.trim()]).output());
        }
    }
}
