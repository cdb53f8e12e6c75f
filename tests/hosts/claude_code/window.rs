//! Lines typed into Claude Code's terminal window, and what its hooks are told meanwhile.

use std::ops::Deref;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use kgctx::hosts::claude_code::composer::{self, Composer};
use serde_json::{Value, json};

use super::lab::{KEY, Lab, PATIENCE, program};
use crate::window::Window;

/// Claude Code's window on a lab's machine.
pub(super) struct ClaudeCodeWindow<'a> {
    lab: &'a Lab,
    window: Window<'a>,
}

impl<'a> Deref for ClaudeCodeWindow<'a> {
    type Target = Window<'a>;

    fn deref(&self) -> &Window<'a> {
        &self.window
    }
}

impl<'a> ClaudeCodeWindow<'a> {
    /// Opens Claude Code's window. Skips the test if tmux is missing.
    pub(super) fn open(lab: &'a Lab) -> Option<ClaudeCodeWindow<'a>> {
        ClaudeCodeWindow::open_by(lab, program())
    }

    /// Opens the window of a program that runs Claude Code.
    pub(super) fn open_by(lab: &'a Lab, program: &Path) -> Option<ClaudeCodeWindow<'a>> {
        // Answers what Claude Code asks at its very first start.
        let project = lab.project().display().to_string();
        let answers = json!({"hasCompletedOnboarding": true, "theme": "dark",
            "customApiKeyResponses": {"approved": [KEY], "rejected": []},
            "projects": {project: {"hasTrustDialogAccepted": true}}});
        lab.scratch.write("home/.claude.json", answers.to_string());
        let socket = lab.scratch.path().join("tmux");
        let window = Window::open(|program| lab.command(program), socket, program, "❯");
        Some(ClaudeCodeWindow { lab, window: window? })
    }

    /// Types a line and sends it.
    pub(super) fn say(&self, text: &str) {
        // While Claude Code draws another session, it loses what is typed.
        let is_typed = || {
            self.key("C-u");
            self.write(text);
            (0..40).any(|_| {
                thread::sleep(Duration::from_millis(50));
                self.shows(&format!("❯ {text}"))
            })
        };
        assert!((0..10).any(|_| is_typed()), "{text} cannot be typed into\n{}", self.text());
        // An Enter right behind the text counts as a part of pasted text. On a busy machine, half a second may not keep them
        // apart.
        let is_sent = || {
            thread::sleep(Duration::from_millis(500));
            self.key("Enter");
            (0..60).any(|_| {
                thread::sleep(Duration::from_millis(50));
                !self.has_typed(text)
            })
        };
        assert!((0..5).any(|_| is_sent()), "{text} cannot be sent from\n{}", self.text());
    }

    /// Whether a text is in the composer. There is none in a window that is gone.
    fn has_typed(&self, text: &str) -> bool {
        let typed = || {
            let screen = self.try_tmux(&["capture-pane", "-e", "-p"])?;
            let cursor = self.try_tmux(&["display-message", "-p", "#{cursor_x} #{cursor_y}"])?;
            let (column, line) = cursor.trim().split_once(' ')?;
            Some(composer::read(&screen, (column.parse().ok()?, line.parse().ok()?)))
        };
        typed() == Some(Composer::Text(composer::squeezed(text)))
    }

    /// Waits until the hooks were told of that many events, and returns them.
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
}
