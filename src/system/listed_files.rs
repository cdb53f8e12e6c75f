//! Reads the current contents of the files that a handoff lists: only in the project and the
//! folders that the user allowed, none with a secret name, and none that would block.

mod open_below;
mod sandbox;
mod secret_name;

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, MAIN_SEPARATOR, Path, PathBuf};

use crate::core::handoff::{FoundFile, ListedFile};

pub use sandbox::Obstacle;
use sandbox::Sandbox;

/// How much of the listed files is shown, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub per_file: u64,
    pub in_all: u64,
}

/// Reads a handoff's specs, then its files, each path once.
pub fn read_listed(
    root: &Path,
    allowed: &[PathBuf],
    specs: &[String],
    files: &[String],
    limits: Limits,
) -> Vec<ListedFile> {
    let sandbox = Sandbox::new(root, allowed);
    let mut room = limits.in_all;
    let mut seen = HashSet::new();
    let mut listed = Vec::new();
    for path in specs.iter().chain(files).filter(|path| seen.insert(normal_spelling(path))) {
        let found = match sandbox.open(path) {
            Ok(file) => read(&file, limits.per_file.min(room)),
            Err(Obstacle::Missing) => FoundFile::Missing,
            Err(Obstacle::Refused(why)) => FoundFile::Unreadable { why: why.to_owned() },
            Err(Obstacle::Unreadable(why)) => FoundFile::Unreadable { why },
        };
        if let FoundFile::Text { text, total } = &found {
            let shown = text.len() as u64;
            let is_cut_for_room = shown < *total && room <= limits.per_file;
            room = if is_cut_for_room { 0 } else { room - shown };
        }
        listed.push(ListedFile { path: path.clone(), found });
    }
    listed
}

/// Whether an entry of a handoff is a directory, which cannot be listed.
pub fn is_listed_directory(root: &Path, path: &str) -> bool {
    fs::metadata(root.join(path)).is_ok_and(|found| found.is_dir())
}

/// Checks that a listed file can be read, without reading it.
pub fn check(root: &Path, allowed: &[PathBuf], path: &str) -> Result<(), Obstacle> {
    Sandbox::new(root, allowed).open(path).map(drop)
}

/// The path of a file, typed by somebody who stands in a folder, relative to the project's top; absolute if it lies
/// outside.
pub fn from_top(root: &Path, standing: &Path, typed: &str) -> String {
    let Some(path) = sandbox::normal(&standing.join(typed)) else { return typed.to_owned() };
    let real = dunce::canonicalize(root).unwrap_or_else(|_| root.to_path_buf());
    let below = [root, &real].into_iter().find_map(|root| path.strip_prefix(root).ok());
    let from_top = below.map(|below| below.to_string_lossy().replace(MAIN_SEPARATOR, "/"));
    match from_top.unwrap_or_else(|| path.to_string_lossy().into_owned()) {
        top if top.is_empty() => ".".to_owned(),
        path => path,
    }
}

/// Removes `.` and doubled slashes: `./a//b` becomes `a/b`.
fn normal_spelling(path: &str) -> PathBuf {
    Path::new(path).components().filter(|part| *part != Component::CurDir).collect()
}

fn read(file: &File, limit: u64) -> FoundFile {
    let mut bytes = Vec::new();
    // One extra byte shows whether the file continues, even if its size has changed since.
    if let Err(error) = file.take(limit.saturating_add(1)).read_to_end(&mut bytes) {
        return FoundFile::Unreadable { why: error.kind().to_string() };
    }
    let size = file.metadata().map_or(0, |found| found.len());
    let total = size.max(bytes.len() as u64);
    let is_cut = bytes.len() as u64 > limit;
    if is_cut {
        bytes.pop();
    }
    if bytes.contains(&0) {
        return FoundFile::Unreadable { why: "it is binary".to_owned() };
    }
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if is_cut && error.utf8_error().error_len().is_none() => {
            let whole = error.utf8_error().valid_up_to();
            let mut bytes = error.into_bytes();
            bytes.truncate(whole);
            String::from_utf8(bytes).unwrap_or_default()
        }
        Err(_) => return FoundFile::Unreadable { why: "it is not UTF-8 text".to_owned() },
    };
    if is_cut && text.is_empty() {
        return FoundFile::NoRoom { total };
    }
    let total = if is_cut { total } else { text.len() as u64 };
    FoundFile::Text { text, total }
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
