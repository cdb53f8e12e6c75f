//! Whether Claude Code's composer has the keys of vim, by the user's settings: in vim's `NORMAL` mode the window does not
//! show it, and a text that is typed there is a row of commands.

use std::io::Read;
use std::path::Path;

use serde_json::Value;

use crate::core::host::Host;
use crate::hosts::config_folder;
use crate::system::environment::Environment;
use crate::system::plain_file;

/// No settings file is larger.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Whether the settings of this user, or what Claude Code has written down of them, name vim.
pub fn is_vim(environment: &Environment) -> bool {
    let folder = || config_folder::global(Host::ClaudeCode.facts().install.as_ref()?, environment);
    let Some(folder) = folder() else { return false };
    let settings = ["settings.json", ".claude.json"].map(|name| folder.join(name));
    // Without a folder of its own, the second file is beside the usual one.
    let beside = environment.home().map(|home| home.join(".claude.json"));
    settings.iter().chain(&beside).any(|file| names_vim(file))
}

fn names_vim(file: &Path) -> bool {
    let mut text = String::new();
    // What cannot be read names nothing.
    let _ = plain_file::open(file).map(|opened| opened.take(MAX_BYTES).read_to_string(&mut text));
    // Most have no word of it, and some are large.
    text.contains("editorMode")
        && serde_json::from_str::<Value>(&text)
            .is_ok_and(|settings| settings["editorMode"] == "vim")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn vim_is_named_by_the_settings_or_beside_them() {
        let check = |file: &str, text: &str, expected| {
            let home = tempfile::tempdir().unwrap();
            fs::create_dir(home.path().join(".claude")).unwrap();
            fs::write(home.path().join(file), text).unwrap();
            let environment: Environment =
                [("HOME".into(), home.path().as_os_str().to_owned())].into_iter().collect();
            assert_eq!(is_vim(&environment), expected, "{file} {text}");
        };
        let vim = r#"{"editorMode":"vim"}"#;
        check(".claude/settings.json", vim, true);
        check(".claude.json", vim, true);
        check(".claude/settings.json", r#"{"editorMode":"normal"}"#, false);
        check(".claude/settings.json", r#"{"editorMode":"#, false);
        check("elsewhere.json", vim, false);
    }
}
