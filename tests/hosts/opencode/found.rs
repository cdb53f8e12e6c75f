//! Where the OpenCode programs are that the tests drive. Installing them is `.ci/opencode`'s work.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// A version of OpenCode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    /// The one that the bridge is built for.
    Pinned,
    /// One from before, which the bridge must still serve.
    Older,
}

impl Version {
    /// Its number.
    pub(crate) fn number(self) -> &'static str {
        match self {
            Version::Pinned => "1.18.33",
            Version::Older => "1.15.13",
        }
    }

    /// Its program.
    pub(crate) fn program(self) -> &'static Path {
        static PINNED: OnceLock<PathBuf> = OnceLock::new();
        static OLDER: OnceLock<PathBuf> = OnceLock::new();
        let found = match self {
            Version::Pinned => &PINNED,
            Version::Older => &OLDER,
        };
        found.get_or_init(|| {
            let output = Command::new("bash")
                .args([".ci/opencode", self.number()])
                .current_dir(env!("CARGO_MANIFEST_DIR"))
                .output()
                .unwrap();
            assert!(
                output.status.success(),
                "no OpenCode {}: {}",
                self.number(),
                String::from_utf8_lossy(&output.stderr)
            );
            PathBuf::from(String::from_utf8(output.stdout).unwrap().trim())
        })
    }
}
