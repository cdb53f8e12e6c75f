//! Receipts that the state could not take, because it was busy, damaged or newer: each in a file of its own, until the
//! state takes them in. Without them `explain` could not say why a session got no handoff.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::core::context::receipt::Receipt;
use crate::core::session::Moment;
use crate::store::state::{Result, State};
use crate::system::atomic_file;
use crate::system::clock;
use crate::system::directories;
use crate::system::plain_file;

/// The folder of the files, below the state's.
const FOLDER: &str = "unsaved";
/// The number of receipts to keep: they are for the question of what just happened.
const MOST: usize = 20;
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Keeps a receipt in a file. Removes the oldest ones if there are many.
pub fn keep(state_folder: &Path, receipt: &Receipt) -> io::Result<()> {
    let folder = state_folder.join(FOLDER);
    directories::create_private(&folder)?;
    let kept = files(state_folder);
    for old in kept.iter().take((kept.len() + 1).saturating_sub(MOST)) {
        // Another process may have taken it in.
        let _ = fs::remove_file(old);
    }
    // In the order of time.
    let name = format!("{:015}-{}.json", clock::now_ms(), std::process::id());
    atomic_file::write_private(&folder.join(name), &serde_json::to_string(receipt)?)
}

/// Records all of them, oldest first. What fails stays for the next time.
pub fn take_in(state_folder: &Path, state: &mut State) -> Result<()> {
    for file in files(state_folder) {
        let receipt = read(&file);
        // The process that removes the file records the receipt, so that it is recorded once.
        if fs::remove_file(&file).is_ok()
            && let Some(receipt) = receipt
        {
            state.record(&receipt, None).inspect_err(|_| {
                // The state failed again; this error is the one to report.
                let _ = keep(state_folder, &receipt);
            })?;
        }
    }
    Ok(())
}

/// The newest one of a session, else of a project by its key, apart from supplements.
pub fn last(state_folder: &Path, session: Option<&str>, project: &str) -> Option<Receipt> {
    let is_meant = |receipt: &Receipt| {
        receipt.moment != Moment::Prompt
            && session.map_or(receipt.project_key == project, |session| receipt.session == session)
    };
    files(state_folder).iter().rev().filter_map(|file| read(file)).find(is_meant)
}

fn files(state_folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(state_folder.join(FOLDER)) else { return Vec::new() };
    let paths = entries.flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|ending| ending == "json")).collect();
    files.sort();
    files
}

/// A receipt; `None` if the file is gone, or holds something else.
fn read(file: &Path) -> Option<Receipt> {
    serde_json::from_str(&plain_file::read_text(file, MAX_BYTES).ok()??).ok()
}
