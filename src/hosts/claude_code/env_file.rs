//! The file through which a hook sets variables for its session's shells.

use std::fs::OpenOptions;
use std::io::Write;

/// Exports the session's id to its shells. Ignores failures: the shells then lack the variable.
pub(super) fn append(session: &str) {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let Some(file) = std::env::var_os("CLAUDE_ENV_FILE").filter(|file| !file.is_empty()) else {
        return;
    };
    if !session.is_empty() && session.chars().all(is_plain) {
        let opened = OpenOptions::new().append(true).create(true).open(file);
        let line = format!("export KGCTX_SESSION_ID={session}\n");
        let _ = opened.and_then(|mut file| file.write_all(line.as_bytes()));
    }
}
