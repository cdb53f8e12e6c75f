//! A disk that is full: a small file system in memory, in the place of a folder.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::skips::skipped;

/// Says that this process runs in a namespace of its own.
const IN_NAMESPACE: &str = "KGCTX_TEST_IN_NAMESPACE";
/// What takes all the room.
const FILLER: &str = "filler";

/// The disk, with all that was in the folder; unmounted when it is dropped.
pub(crate) struct FullDisk {
    place: PathBuf,
}

impl FullDisk {
    /// Puts the disk in the place of a folder, and leaves no room on it. `None` if this user may not mount: then the test has
    /// run where it may, or is skipped.
    pub(crate) fn at(place: &Path) -> Option<FullDisk> {
        let before = place.with_extension("before");
        fs::rename(place, &before).unwrap();
        fs::create_dir(place).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=4m", "tmpfs"]).arg(place);
        if !mount.output().is_ok_and(|output| output.status.success()) {
            if !runs_in_namespace() {
                skipped("no disk can be mounted here");
            }
            return None;
        }
        let disk = FullDisk { place: place.to_owned() };
        let copied = Command::new("cp").arg("-a").arg(before.join(".")).arg(place).status();
        assert!(copied.unwrap().success());
        disk.fill();
        Some(disk)
    }

    /// Leaves no room.
    pub(crate) fn fill(&self) {
        let mut filler = fs::File::create(self.place.join(FILLER)).unwrap();
        while filler.write_all(&[0; 1_024]).is_ok() {}
    }

    /// Makes room again.
    pub(crate) fn free(&self) {
        fs::remove_file(self.place.join(FILLER)).unwrap();
    }
}

/// Runs this test again in a namespace in which any user may mount, if there is such a thing.
fn runs_in_namespace() -> bool {
    let namespace = || {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount"]);
        command
    };
    let is_there = || namespace().arg("true").output().is_ok_and(|output| output.status.success());
    let thread = std::thread::current();
    // A harness with one thread does not name the test.
    let Some(test) = thread.name().filter(|name| name.contains("::")) else { return false };
    if std::env::var_os(IN_NAMESPACE).is_some() || !is_there() {
        return false;
    }
    let mut again = namespace();
    again.arg(std::env::current_exe().unwrap()).args(["--exact", test, "--nocapture"]);
    let output = again.env(IN_NAMESPACE, "1").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    true
}

impl Drop for FullDisk {
    fn drop(&mut self) {
        // Processes that still write there keep it until they end.
        let _ = Command::new("umount").arg("--lazy").arg(&self.place).status();
    }
}
