//! The status line in a settings file: kgctx takes its place, and runs the user's own command as before.

use serde::Serialize;

use super::{SettingsFile, SettingsFileError, SettingsResult, from_shell, is_kgctx};
use crate::core::text::for_shell;
use crate::hosts::json_text::Node;

const KEY: &str = "statusLine";
/// What follows the program in a command of ours.
const OURS: &str = " monitor statusline";
/// What stands before the user's own command: hosts run it by a shell, too.
const RUN: &str = " -- sh -c ";

#[derive(Serialize)]
struct NewStatusLine<'a> {
    r#type: &'static str,
    command: &'a str,
}

/// The command of a status line.
struct StatusCommand<'a> {
    node: &'a Node,
    text: String,
}

impl SettingsFile {
    /// Returns the file with kgctx as its status line, which runs the one that was there; every other byte stays.
    pub fn with_status_line(&self, program: &str) -> SettingsResult<SettingsFile> {
        let program = for_shell::word(program);
        let Some((_, line)) = self.json.root.member(KEY) else {
            let command = format!("{program}{OURS}");
            let line = NewStatusLine { r#type: "command", command: &command };
            return self.edited(self.json.added(&self.json.root, Some(KEY), &line));
        };
        let Some(StatusCommand { node, text }) = self.status_command(line) else {
            let (path, what) = (self.path.clone(), format!("its {KEY:?} has no command"));
            return Err(SettingsFileError::Shape { path, what });
        };
        let own = if is_ours(&text) { own_command(&text) } else { Some(text.clone()) };
        let own = own.map(|own| format!("{RUN}{}", for_shell::word(&own))).unwrap_or_default();
        let wanted = format!("{program}{OURS}{own}");
        match wanted == text {
            true => Ok(self.clone()),
            false => self.edited(self.json.replaced(node, &wanted)),
        }
    }

    /// Whether kgctx is the status line.
    pub fn has_status_line(&self) -> bool {
        self.status_program().is_some()
    }

    /// The program of the status line, as the settings name it, if that is kgctx.
    pub fn status_program(&self) -> Option<String> {
        let (_, line) = self.json.root.member(KEY)?;
        our_program(&self.status_command(line)?.text)
    }

    /// Returns the file with the user's own status line, as it was in `before` if that is still the same.
    pub(super) fn without_status_line(
        &self,
        before: Option<&SettingsFile>,
    ) -> SettingsResult<SettingsFile> {
        let Some((place, line)) = self.json.root.member(KEY).filter(|_| self.has_status_line())
        else {
            return Ok(self.clone());
        };
        let Some(StatusCommand { node, text }) = self.status_command(line) else {
            return Ok(self.clone());
        };
        let Some(own) = own_command(&text) else {
            return self.edited(self.json.removed(&self.json.root, place));
        };
        let raw = before.and_then(|before| {
            let (_, line) = before.json.root.member(KEY)?;
            let command = before.status_command(line).filter(|command| command.text == own)?;
            Some(before.json.raw(command.node))
        });
        self.edited(match raw {
            Some(raw) => self.json.replaced_by(node, raw),
            None => self.json.replaced(node, &own),
        })
    }

    fn status_command<'a>(&self, line: &'a Node) -> Option<StatusCommand<'a>> {
        let (_, node) = line.member("command")?;
        Some(StatusCommand { node, text: self.json.read(node)? })
    }
}

fn is_ours(command: &str) -> bool {
    our_program(command).is_some()
}

fn our_program(command: &str) -> Option<String> {
    let program = command.split_once(OURS).map(|(program, _)| from_shell(program.trim()));
    program.filter(|program| is_kgctx(program) == Some(true))
}

/// The command of the user's in a command of ours.
fn own_command(command: &str) -> Option<String> {
    let (_, rest) = command.split_once(OURS)?;
    Some(from_shell(rest.strip_prefix(RUN)?.trim()))
}
