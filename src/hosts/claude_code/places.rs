//! Where Claude Code looks for settings.

use std::path::{Path, PathBuf};

use crate::system::environment::Environment;
use crate::system::folders::settled;

/// The user's own, for all projects; `None` where there is no home.
pub fn global(environment: &Environment) -> Option<PathBuf> {
    let folder = environment.path("CLAUDE_CONFIG_DIR");
    let folder = folder.or_else(|| Some(environment.home()?.join(".claude")))?;
    Some(settled(folder).join("settings.json"))
}

/// The user's own, for one working tree: the file that is not committed.
pub fn project(checkout: &Path) -> PathBuf {
    settled(checkout.join(".claude")).join("settings.local.json")
}

/// Where a file is kept as it was before.
pub fn backup(file: &Path) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_os_string();
    name.push(".kgctx-backup");
    file.with_file_name(name)
}
