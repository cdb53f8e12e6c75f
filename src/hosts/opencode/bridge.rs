//! The bridge: the one file that OpenCode loads as a plugin. Knows our file from anybody else's; decides nothing.

use std::fs;
use std::io;
use std::path::Path;

use sha2::{Digest, Sha256};

/// The bridge of this version.
pub const TEXT: &str = include_str!("../../../bridges/opencode/kgctx.ts");
/// Its version, which is the program's.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// How the file begins in every version: by this it is told from others.
const HEAD: &str = "// The bridge between OpenCode and kgctx";
/// What its file is called.
pub const FILE_NAME: &str = "kgctx.ts";

/// A copy of some version of the bridge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copy {
    /// Which version it says it is.
    pub version: Option<String>,
    /// Whether it is this version's, byte for byte.
    pub is_original: bool,
    /// Of its bytes.
    pub sha256: Vec<u8>,
}

/// What is in the place of the bridge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Occupant {
    /// Nothing.
    Nobody,
    /// Some version of the bridge.
    Ours(Copy),
    /// A link, whatever it leads to: a bridge is never installed as one.
    Link,
    /// Something else of that name.
    Foreign,
}

/// Returns the fingerprint of this version.
pub fn sha256() -> Vec<u8> {
    Sha256::digest(TEXT).to_vec()
}

/// Looks who is in the bridge's place.
pub fn look(file: &Path) -> io::Result<Occupant> {
    match fs::symlink_metadata(file) {
        Ok(there) if there.is_symlink() => Ok(Occupant::Link),
        Ok(there) if !there.is_file() => Ok(Occupant::Foreign),
        Ok(_) => Ok(read(file)?.map_or(Occupant::Foreign, Occupant::Ours)),
        Err(error) if is_absence(&error) => Ok(Occupant::Nobody),
        Err(error) => Err(error),
    }
}

/// Reads a copy of the bridge, links followed; `None` for another file.
pub fn read(file: &Path) -> io::Result<Option<Copy>> {
    Ok(recognise(&fs::read(file)?))
}

fn recognise(bytes: &[u8]) -> Option<Copy> {
    let text = String::from_utf8_lossy(bytes);
    text.starts_with(HEAD).then(|| Copy {
        version: version_of(&text).map(str::to_owned),
        is_original: bytes == TEXT.as_bytes(),
        sha256: Sha256::digest(bytes).to_vec(),
    })
}

fn version_of(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix("const VERSION = \"")?.split('"').next())
}

/// Removes the bridge's file.
pub fn remove(file: &Path) -> io::Result<()> {
    fs::remove_file(file)
}

pub(super) fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_file_is_known_by_its_head_in_every_version() {
        let original = recognise(TEXT.as_bytes()).unwrap();
        assert!(original.is_original);
        assert_eq!(original.version.as_deref(), Some(VERSION));
        assert_eq!(original.sha256, sha256());

        let older =
            recognise(format!("{HEAD}: older\nconst VERSION = \"0.0.9\"\n").as_bytes()).unwrap();
        assert_eq!((older.version.as_deref(), older.is_original), (Some("0.0.9"), false));
        let windows = recognise(TEXT.replace('\n', "\r\n").as_bytes()).unwrap();
        assert_eq!((windows.version.as_deref(), windows.is_original), (Some(VERSION), false));
        assert_eq!(recognise(HEAD.as_bytes()).unwrap().version, None);

        for other in ["", "\n", "export const Other = 1\n", &format!("\n{TEXT}"), &HEAD[1..]] {
            assert_eq!(recognise(other.as_bytes()), None, "{other:?}");
        }
        assert_eq!(recognise(b"\xff\xfe"), None);
    }
}
