//! What the real maenifold answered and left behind: `fixtures/maenifold/real`, recorded from its versions 1.0.3 to 1.0.6
//! and its commit 8b93684, on notes that were written for it. Its embedding model was not the real one, so the order
//! of what it finds by meaning alone says nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// From the oldest on.
pub(crate) const VERSIONS: [&str; 5] = ["1.0.3", "1.0.4", "1.0.5", "1.0.6", "8b93684"];

/// Unpacks an archive into a folder. The times of the files matter to the thousandth part of a second.
pub(crate) fn unpack(name: &str, folder: &Path) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/maenifold/real");
    fs::create_dir_all(folder).unwrap();
    let mut tar = Command::new("tar");
    tar.arg("-xzf").arg(root.join(format!("{name}.tar.gz"))).arg("-C").arg(folder);
    assert!(tar.status().unwrap().success(), "{name}");
}

/// The lines of an unpacked file, each read as JSON.
pub(crate) fn json_lines(file: PathBuf) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
