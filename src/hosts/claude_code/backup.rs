//! What a settings file was before our hooks were put into it, kept beside it.

use std::fs;
use std::io;
use std::path::Path;

use crate::hosts::claude_code::places;
use crate::hosts::claude_code::settings_file::{SettingsFile, SettingsFileError};

/// What is kept of a settings file; `None` where nothing is, or nothing that could be understood.
pub fn read(file: &Path) -> Result<Option<SettingsFile>, SettingsFileError> {
    match SettingsFile::read(&places::backup(file)) {
        Err(SettingsFileError::Broken { .. } | SettingsFileError::Shape { .. }) => Ok(None),
        read => read,
    }
}

/// Keeps what a settings file was, for nobody who may not read the file itself: secrets may be in it.
pub fn write(file: &Path, original: &SettingsFile) -> io::Result<()> {
    let backup = places::backup(file);
    fs::copy(file, &backup)?;
    fs::write(&backup, original.text())
}

/// Whether anything is kept of a settings file.
pub fn is_there(file: &Path) -> bool {
    places::backup(file).exists()
}

/// Keeps it no longer.
pub fn remove(file: &Path) -> io::Result<()> {
    fs::remove_file(places::backup(file))
}
