//! Vaults on disk: opens them, lists their notes and reads them. Does not parse notes.

mod bounded_look;
mod folder;
mod ignore_rules;
mod memory_vault;
mod open_folder;
mod style;
mod walkers;

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

pub use bounded_look::BoundedLook;
pub use ignore_rules::IgnoreRules;
pub use memory_vault::MemoryVault;
pub use style::{SIGNS, Styles, program_of, vaults_of_dendron};

use crate::core::note::NotePath;
use crate::core::note::listing::{FolderListing, ListedFile, Skipped, Stamp};
use crate::core::note::vault::Vault;
use crate::core::settings::{Setting, VaultSpec};
use crate::system::plain_file;
use crate::system::seen::stamp;
use crate::system::vault::folder::VaultFolder;

/// Checks that a vault is readable, finds its canonical root, and tells its style. The error says why it cannot be used.
pub fn open(spec: &Setting<VaultSpec>, styles: &Styles) -> Result<Vault, String> {
    let Setting { value: VaultSpec { name, path, is_flat }, origin } = spec;
    let vault = format!("{} (from {origin})", path.display());
    let unreadable =
        |cause: io::Error| format!("cannot read the vault {vault}: {cause}; check its permissions");
    let root = dunce::canonicalize(path).map_err(|cause| match cause.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            format!("no such vault: {vault}; create that folder or name another one")
        }
        _ => unreadable(cause),
    })?;
    if !root.is_dir() {
        return Err(format!("not a folder: {vault}; a vault is a folder of markdown files"));
    }
    fs::read_dir(&root).map_err(unreadable)?;
    let style = styles.style(path, &root);
    let templates = style::templates(&root, style);
    Ok(Vault { templates, is_flat: *is_flat, ..Vault::new(name, root, style) })
}

/// The folder `name` at the root of a vault; `None` if it does not exist.
pub fn folder_in(vault: &Vault, name: &str) -> Option<PathBuf> {
    Some(vault.root.join(name)).filter(|folder| folder.is_dir())
}

/// Lists the markdown files of all vaults. The order of folders is undefined; files are sorted by
/// name.
pub fn walk(vaults: &[Vault], max_file_bytes: u64) -> (Vec<FolderListing>, Skipped) {
    let rules = IgnoreRules::default();
    let root = |(n, vault)| VaultFolder::root(n, vault, &rules);
    let roots = vaults.iter().enumerate().map(root).collect();
    walkers::walk(roots, max_file_bytes)
}

/// Reads a listed file. Also returns its stamp afterwards, which shows whether it changed in the
/// meantime.
pub fn read(vault: &Vault, folder: &str, file: &ListedFile) -> io::Result<(Vec<u8>, Stamp)> {
    let mut path = vault.root.join(folder);
    path.push(&*file.name);
    let mut opened = plain_file::open_listed(&path)?;
    let mut bytes = vec![0; usize::try_from(file.stamp.size).unwrap_or_default() + 1];
    let mut length = 0;
    // Usually one read and one stamp, which also shows where the file ends.
    loop {
        let n_read = opened.read(&mut bytes[length..])?;
        length += n_read;
        let metadata = opened.metadata()?;
        if !metadata.is_file() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let after = stamp(&metadata);
        if n_read == 0 || length as u64 >= after.size {
            bytes.truncate(length);
            return Ok((bytes, after));
        }
        bytes.resize(usize::try_from(after.size).unwrap_or_default().max(length) + 1, 0);
    }
}

/// Whether a note's file exists, listed or not.
pub fn has(vault: &Vault, path: &NotePath) -> bool {
    vault.root.join(path.as_str()).is_file()
}

/// Reads the start of a note, to show it. Rejects a link that leads out of the vault.
pub fn read_start(vault: &Vault, path: &NotePath, max_bytes: u64) -> io::Result<Vec<u8>> {
    let place = dunce::canonicalize(vault.root.join(path.as_str()))?;
    if !place.starts_with(&vault.root) {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("{path} leads out of its vault"),
        ));
    }
    let mut bytes = Vec::new();
    plain_file::open(&place)?.take(max_bytes).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The size of a regular file in bytes; `None` for anything else.
pub fn size(path: &Path) -> Option<u64> {
    let there = fs::symlink_metadata(path).ok()?;
    there.is_file().then_some(there.len())
}
