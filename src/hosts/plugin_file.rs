//! A plugin file of ours in a host's folder: which version it is, or whose file is there instead. Decides nothing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::core::installation::PluginFile;

/// Our file in some version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginCopy {
    /// Which version it says it is.
    pub version: Option<String>,
    /// Whether it is this version's, byte for byte.
    pub is_original: bool,
    /// Of its bytes.
    pub sha256: Vec<u8>,
}

/// What is where the plugin belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PluginSlot {
    Empty,
    Ours(PluginCopy),
    /// Wherever it leads: `install` makes none.
    Link,
    Foreign,
}

/// Every file below one of the host's folders that could be the plugin.
pub fn candidates(folder: &Path, plugin: &PluginFile) -> Vec<PathBuf> {
    plugin.folders.iter().map(|below| folder.join(below).join(plugin.file_name)).collect()
}

/// Finds out what is where the plugin belongs.
pub fn look(file: &Path, plugin: &PluginFile) -> io::Result<PluginSlot> {
    match fs::symlink_metadata(file) {
        Ok(there) if there.is_symlink() => Ok(PluginSlot::Link),
        Ok(there) if !there.is_file() => Ok(PluginSlot::Foreign),
        Ok(_) => Ok(read(file, plugin)?.map_or(PluginSlot::Foreign, PluginSlot::Ours)),
        Err(error) if is_absence(&error) => Ok(PluginSlot::Empty),
        Err(error) => Err(error),
    }
}

/// Reads a copy of the plugin, links followed; `None` for another file.
pub fn read(file: &Path, plugin: &PluginFile) -> io::Result<Option<PluginCopy>> {
    Ok(recognise(&fs::read(file)?, plugin))
}

fn recognise(bytes: &[u8], plugin: &PluginFile) -> Option<PluginCopy> {
    let text = String::from_utf8_lossy(bytes);
    text.starts_with(plugin.head).then(|| PluginCopy {
        version: version_of(&text).map(str::to_owned),
        is_original: bytes == plugin.text.as_bytes(),
        sha256: Sha256::digest(bytes).to_vec(),
    })
}

fn version_of(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix("const VERSION = \"")?.split('"').next())
}

pub(super) fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::host::Host;
    use crate::core::installation::{Install, InstallKind};

    const VERSION: &str = env!("CARGO_PKG_VERSION");

    #[test]
    fn our_file_is_known_by_its_head_in_every_version() {
        let Some(Install { kind: InstallKind::PluginFile(plugin), .. }) =
            &Host::Opencode.facts().install
        else {
            panic!("OpenCode has a plugin");
        };
        let (text, head) = (plugin.text, plugin.head);
        let recognise = |bytes: &[u8]| recognise(bytes, plugin);
        let original = recognise(text.as_bytes()).unwrap();
        assert!(original.is_original);
        assert_eq!(original.version.as_deref(), Some(VERSION));
        assert_eq!(original.sha256, Sha256::digest(text).to_vec());

        let older =
            recognise(format!("{head}: older\nconst VERSION = \"0.0.9\"\n").as_bytes()).unwrap();
        assert_eq!((older.version.as_deref(), older.is_original), (Some("0.0.9"), false));
        let windows = recognise(text.replace('\n', "\r\n").as_bytes()).unwrap();
        assert_eq!((windows.version.as_deref(), windows.is_original), (Some(VERSION), false));
        assert_eq!(recognise(head.as_bytes()).unwrap().version, None);

        for other in ["", "\n", "export const Other = 1\n", &format!("\n{text}"), &head[1..]] {
            assert_eq!(recognise(other.as_bytes()), None, "{other:?}");
        }
        assert_eq!(recognise(b"\xff\xfe"), None);
    }
}
