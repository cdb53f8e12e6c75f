//! Prompts typed into OpenCode's terminal window.

use std::ops::Deref;
use std::thread;
use std::time::Duration;

use super::found::Version;
use super::lab::Lab;
use super::provider::{Call, Kind};
use super::until;
use crate::window::Window;

/// OpenCode's window on a lab's machine.
pub(crate) struct OpenCodeWindow<'a> {
    lab: &'a Lab,
    window: Window<'a>,
}

impl Lab {
    /// Opens OpenCode's window. Skips the test if tmux is missing.
    pub(crate) fn window(&self) -> Option<OpenCodeWindow<'_>> {
        let (socket, program) = (self.path().join("tmux"), self.version.program());
        let window = Window::open(|program| self.command(program), socket, program, "Ask anything");
        Some(OpenCodeWindow { lab: self, window: window? })
    }
}

impl<'a> Deref for OpenCodeWindow<'a> {
    type Target = Window<'a>;

    fn deref(&self) -> &Window<'a> {
        &self.window
    }
}

impl OpenCodeWindow<'_> {
    /// Sends a prompt, waits for its reply, and returns the calls that it cost.
    #[track_caller]
    pub(crate) fn turn(&self, prompt: &str) -> Vec<Call> {
        self.write(prompt);
        self.wait_for(prompt);
        self.key("Enter");
        let provider = &self.lab.provider;
        let call = until("the model's turn", || provider.turns(prompt).pop());
        until("the title", || provider.of(&call.session, Kind::Title).pop());
        match self.lab.version {
            Version::Pinned => self.wait_for("Mock Title"),
            // This version's window often misses the title, the reply's text or the end of a turn, even without plugins.
            Version::Older => thread::sleep(Duration::from_secs(1)),
        }
        provider.turns(prompt)
    }
}
