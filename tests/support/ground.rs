//! What benchmarks stand on: the binary as it is released, and vaults that are made once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::vault_generator;

/// The binary as it is released, in a fresh copy: how pages came into the cache changes a start by a third.
pub(crate) fn released_binary(name: &str) -> PathBuf {
    let build = Path::new(env!("CARGO_MANIFEST_DIR")).join(".ci/build");
    let output = Command::new("bash").arg(build).stderr(Stdio::inherit()).output().unwrap();
    let built = String::from_utf8(output.stdout).unwrap();
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_file(&copy);
    fs::copy(built.trim(), &copy).unwrap();
    copy
}

/// A vault of that many notes below a folder.
pub(crate) fn vault(base: &Path, notes: usize) -> PathBuf {
    let vault = base.join(format!("vault-{notes}"));
    let complete = base.join(format!("vault-{notes}.complete"));
    if !complete.exists() {
        let _ = fs::remove_dir_all(&vault);
        vault_generator::generate(&vault, notes, 7);
        fs::write(&complete, "").unwrap();
    }
    vault
}
