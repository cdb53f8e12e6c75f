//! A disk that is full: a small file system in memory, in the place of a folder.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What takes all the room.
const FILLER: &str = "filler";

/// The disk, with all that was in the folder; unmounted when it is dropped.
pub(crate) struct FullDisk {
    place: PathBuf,
}

impl FullDisk {
    /// Puts the disk in the place of a folder, and leaves no room on it; `None` if this user may not mount.
    pub(crate) fn at(place: &Path) -> Option<FullDisk> {
        let before = place.with_extension("before");
        fs::rename(place, &before).unwrap();
        fs::create_dir(place).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=4m", "tmpfs"]).arg(place);
        if !mount.output().is_ok_and(|output| output.status.success()) {
            // Past the harness, which shows what a test says only where it fails.
            let _ = std::io::stderr().write_all(b"skipped: no disk can be mounted here\n");
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

impl Drop for FullDisk {
    fn drop(&mut self) {
        // Processes that still write there keep it until they end.
        let _ = Command::new("umount").arg("--lazy").arg(&self.place).status();
    }
}
