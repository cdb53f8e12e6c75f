//! `kgctx install`, `kgctx uninstall` and `kgctx doctor`.

mod amplifier;
mod claude_code;
mod doctor;
mod opencode;
mod shells;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::support::{Scratch, git, stderr};

/// Everything below a folder: names, contents, modes, where links lead.
fn tree(folder: &Path) -> BTreeMap<PathBuf, (u32, String)> {
    fn collect(folder: &Path, found: &mut BTreeMap<PathBuf, (u32, String)>) {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let (path, there) = (entry.path(), entry.metadata().unwrap());
            let content = if there.is_dir() {
                collect(&path, found);
                "a folder".to_owned()
            } else if there.is_symlink() {
                format!("to {}", fs::read_link(&path).unwrap().display())
            } else {
                String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned()
            };
            found.insert(path, (there.permissions().mode(), content));
        }
    }
    let mut found = BTreeMap::new();
    collect(folder, &mut found);
    found
}

/// Runs the binary with a program called `kgctx` on the PATH, and returns what it says, without what differs.
fn say(scratch: &Scratch, arguments: &[&str]) -> (i32, String) {
    let bin = scratch.path().join("bin");
    if !bin.exists() {
        fs::create_dir(&bin).unwrap();
        symlink(env!("CARGO_BIN_EXE_kgctx"), bin.join("kgctx")).unwrap();
    }
    let mut command = scratch.kgctx(arguments);
    let output = command.env("PATH", format!("{}:/usr/bin:/bin", bin.display())).output().unwrap();
    let said = String::from_utf8(output.stdout.clone()).unwrap() + &stderr(&output);
    let said = said.replace(&format!("{}/", scratch.path().display()), "");
    let said = said.replace(env!("CARGO_PKG_VERSION"), "VERSION");
    (output.status.code().unwrap(), said)
}

#[track_caller]
fn done(scratch: &Scratch, arguments: &[&str]) -> String {
    let (code, said) = say(scratch, arguments);
    assert_eq!(code, 0, "{said}");
    said
}

fn repository(scratch: &Scratch) -> PathBuf {
    let app = scratch.path().join("app");
    fs::create_dir_all(app.join("src")).unwrap();
    git(&app, &["init", "-q"]);
    app
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").is_ok_and(|there| there.uid() == 0)
}
