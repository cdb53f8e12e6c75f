//! A mounted file system that never answers.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A FUSE mount without a server behind it; unmounted when it is dropped.
pub(crate) struct DeadMount {
    keeper: Child,
    place: PathBuf,
}

impl DeadMount {
    /// Mounts it; `None` if this user may not mount.
    pub(crate) fn at(place: &Path) -> Option<DeadMount> {
        let script = "exec 3<>/dev/fuse && mount -i -t fuse \
             -o fd=3,rootmode=40000,user_id=0,group_id=0 dead \"$0\" && echo mounted && exec sleep 60";
        let mut keeper = Command::new("bash")
            .args(["-c", script])
            .arg(place)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(keeper.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let mount = DeadMount { keeper, place: place.to_path_buf() };
        (line == "mounted\n").then_some(mount)
    }
}

impl Drop for DeadMount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.place).stderr(Stdio::null()).status();
        let _ = self.keeper.kill();
        let _ = self.keeper.wait();
    }
}
