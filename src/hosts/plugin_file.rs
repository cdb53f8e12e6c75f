//! Our plugin file in a host's folder: reads its version, or detects another file in its place.
//! Makes no decisions.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::core::installation::PluginFile;
use crate::hosts::is_absent;
use crate::system::plain_file;

/// A copy of our plugin file, of any version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginCopy {
    /// The version that the file states.
    pub version: Option<String>,
    /// Whether it equals this kgctx's file, byte for byte.
    pub is_original: bool,
    /// The hash of the file's bytes.
    pub sha256: Vec<u8>,
}

/// What is at the plugin's path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PluginSlot {
    Empty,
    Ours(PluginCopy),
    /// A link to any target: `install` never creates one.
    Link,
    Foreign,
}

/// The possible paths of the plugin below one of the host's folders.
pub fn candidates(folder: &Path, plugin: &PluginFile) -> Vec<PathBuf> {
    plugin.folders.iter().map(|below| folder.join(below).join(plugin.file_name)).collect()
}

/// Checks what is at the plugin's path.
pub fn look(file: &Path, plugin: &PluginFile) -> io::Result<PluginSlot> {
    match fs::symlink_metadata(file) {
        Ok(there) if there.is_symlink() => Ok(PluginSlot::Link),
        Ok(there) if !there.is_file() => Ok(PluginSlot::Foreign),
        Ok(_) => Ok(read(file, plugin)?.map_or(PluginSlot::Foreign, PluginSlot::Ours)),
        Err(error) if is_absent(&error) => Ok(PluginSlot::Empty),
        Err(error) => Err(error),
    }
}

/// Reads a copy of the plugin and follows links; `None` for another file.
pub fn read(file: &Path, plugin: &PluginFile) -> io::Result<Option<PluginCopy>> {
    Ok(recognise(&plain_file::read(file)?, plugin))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::host::Host;

    const VERSION: &str = env!("CARGO_PKG_VERSION");

    #[test]
    fn our_file_is_known_by_its_head_in_every_version() {
        let plugin = Host::Opencode.plugin().unwrap();
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
