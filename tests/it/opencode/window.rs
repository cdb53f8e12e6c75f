//! OpenCode's real terminal window, in a tmux of its own: typed into, and looked at.

use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::found::Version;
use super::lab::Lab;
use super::provider::{Call, Kind};
use super::{PATIENCE, until};

/// The window, closed when it is dropped.
pub(crate) struct Window<'a> {
    lab: &'a Lab,
    socket: String,
}

impl Lab {
    /// Opens OpenCode's window, where there is a tmux to open it in.
    pub(crate) fn window(&self) -> Option<Window<'_>> {
        static OPENED: AtomicUsize = AtomicUsize::new(0);
        if Command::new("tmux").arg("-V").output().is_err() {
            eprintln!("skipped: no tmux to open OpenCode's window in");
            return None;
        }
        let number = OPENED.fetch_add(1, Ordering::Relaxed);
        let socket = format!("kgctx-{}-{number}", std::process::id());
        let window = Window { lab: self, socket };
        window.tmux(&["new-session", "-d", "-x", "140", "-y", "40"], |command| {
            command.arg(self.version.program());
        });
        window.wait_for("Ask anything");
        Some(window)
    }
}

impl Window<'_> {
    /// Types a prompt and sends it.
    pub(crate) fn say(&self, text: &str) {
        self.tmux(&["send-keys", "-l", text], |_| {});
        self.wait_for(text);
        self.key("Enter");
    }

    /// Presses a key, as tmux names it.
    pub(crate) fn key(&self, key: &str) {
        self.tmux(&["send-keys", key], |_| {});
    }

    /// What is to be seen.
    pub(crate) fn text(&self) -> String {
        let output = self.tmux(&["capture-pane", "-p"], |_| {});
        String::from_utf8(output.stdout).unwrap()
    }

    /// Waits until a text is to be seen.
    #[track_caller]
    pub(crate) fn wait_for(&self, text: &str) {
        let end = Instant::now() + PATIENCE;
        while !self.text().contains(text) {
            assert!(Instant::now() < end, "waited in vain for {text} in\n{}", self.text());
            thread::sleep(Duration::from_millis(30));
        }
    }

    /// Sends a prompt, waits for its reply, and returns the calls that it cost.
    #[track_caller]
    pub(crate) fn turn(&self, prompt: &str) -> Vec<Call> {
        self.say(prompt);
        let provider = &self.lab.provider;
        let call = until("the model's turn", || provider.turns(prompt).pop());
        until("the title", || provider.of(&call.session, Kind::Title).pop());
        match self.lab.version {
            Version::Pinned => self.wait_for("Mock Title"),
            // This one's window often misses the title, the reply's text, or the end of a turn, also without any plugin.
            Version::Older => thread::sleep(Duration::from_secs(1)),
        }
        provider.turns(prompt)
    }

    #[track_caller]
    fn tmux(&self, arguments: &[&str], more: impl FnOnce(&mut Command)) -> Output {
        let mut command = self.command(arguments);
        more(&mut command);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        output
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.lab.command("tmux");
        command.env("TMUX_TMPDIR", self.lab.path());
        command.args(["-f", "/dev/null", "-L", &self.socket]).args(arguments);
        command
    }
}

impl Drop for Window<'_> {
    fn drop(&mut self) {
        let process = self.command(&["display-message", "-p", "#{pane_pid}"]).output().unwrap();
        drop(self.command(&["kill-server"]).output());
        // OpenCode writes until it has ended; only then can its folder be removed.
        let process = String::from_utf8(process.stdout).unwrap();
        let wait = "for _ in $(seq 50); do kill -0 $0 || exit; sleep 0.1; done; kill -9 $0";
        drop(Command::new("sh").args(["-c", wait, process.trim()]).output());
    }
}
