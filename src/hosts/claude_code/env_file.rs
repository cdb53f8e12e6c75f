//! The file by which a hook gives variables to the shells of its session.

use std::fs::OpenOptions;
use std::io::Write;

/// Tells the session's shells its id. Where that cannot be done, they do not know it.
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
