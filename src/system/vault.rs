//! Walks vaults and reads their files. Decides what belongs to a vault, not what it means.

mod crew;
mod folder;
mod memory_vault;

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use thiserror::Error;

pub use memory_vault::MemoryVault;

use crate::core::note::NotePath;
use crate::core::note::listing::{FolderListing, ListedFile, Skipped, Stamp};
use crate::core::note::vault::Vault;
use crate::core::settings::{Setting, VaultSpec};
use crate::core::time::Timestamp;

/// A vault that cannot be used.
#[derive(Debug, Error)]
pub enum VaultError {
    /// There is nothing at the path.
    #[error("no such vault: {path} (from {origin}); create that folder or name another one")]
    Missing {
        /// The path as given.
        path: PathBuf,
        /// Who named it.
        origin: String,
    },
    /// The path names something else.
    #[error("not a folder: {path} (from {origin}); a vault is a folder of markdown files")]
    NotAFolder {
        /// The path as given.
        path: PathBuf,
        /// Who named it.
        origin: String,
    },
    /// The folder does not let us in.
    #[error("cannot read the vault {path} (from {origin}): {cause}; check its permissions")]
    Unreadable {
        /// The path as given.
        path: PathBuf,
        /// Who named it.
        origin: String,
        /// What the system said.
        cause: io::Error,
    },
}

/// Makes sure that a vault is there, and fixes where.
pub fn open(spec: &Setting<VaultSpec>) -> Result<Vault, VaultError> {
    let path = spec.value.path.clone();
    let origin = spec.origin.to_string();
    let root = match fs::canonicalize(&path) {
        Ok(root) => root,
        Err(cause)
            if matches!(cause.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            return Err(VaultError::Missing { path, origin });
        }
        Err(cause) => return Err(VaultError::Unreadable { path, origin, cause }),
    };
    if !root.is_dir() {
        return Err(VaultError::NotAFolder { path, origin });
    }
    match fs::read_dir(&root) {
        Ok(_) => Ok(Vault { name: spec.value.name.clone(), root }),
        Err(cause) => Err(VaultError::Unreadable { path, origin, cause }),
    }
}

/// The folder called `name` at the root of a vault, if there is one.
pub fn folder_in(vault: &Vault, name: &str) -> Option<PathBuf> {
    Some(vault.root.join(name)).filter(|folder| folder.is_dir())
}

/// Lists the markdown files of all vaults. Folders come in no particular order, files sorted by name.
pub fn walk(vaults: &[Vault], max_file_bytes: u64) -> (Vec<FolderListing>, Skipped) {
    let roots = vaults.iter().enumerate().map(|(n, vault)| Place::root(n, vault)).collect();
    crew::walk(roots, max_file_bytes)
}

/// A folder on the way through a vault.
struct Place {
    vault: usize,
    path: PathBuf,
    /// The path below the vault's root, empty for the root.
    folder: String,
    /// The ignore rules of the folders above, outermost first.
    rules: Vec<Arc<Gitignore>>,
}

impl Place {
    fn root(vault_idx: usize, vault: &Vault) -> Place {
        Place {
            vault: vault_idx,
            path: vault.root.clone(),
            folder: String::new(),
            rules: rules_above(&vault.root),
        }
    }

    /// Looks into the folder. Calls `take` with notes as they are found, and returns the folders inside.
    fn look(&self, skipped: &mut Skipped, mut take: impl FnMut(String)) -> Vec<Place> {
        let Ok(entries) = fs::read_dir(&self.path) else {
            // The root of a vault may vanish between two walks, which is no different from an empty one.
            skipped.unreadable += u64::from(!self.folder.is_empty());
            return Vec::new();
        };
        let rules = self.inner_rules();
        let mut folders = Vec::new();
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let name = entry.file_name();
            if kind.is_dir() {
                folders.push(name);
            } else if is_markdown(&name) {
                if !kind.is_file() {
                    skipped.special += 1;
                } else if let Some(name) = self.admit(name, false, &rules, skipped) {
                    take(name);
                }
            }
        }
        self.enter(folders, &rules, skipped)
    }

    /// The rules that hold inside of the folder.
    fn inner_rules(&self) -> Vec<Arc<Gitignore>> {
        let mut rules = self.rules.clone();
        rules.extend(rules_of(&self.path));
        rules
    }

    fn enter(
        &self,
        folders: Vec<OsString>,
        rules: &[Arc<Gitignore>],
        skipped: &mut Skipped,
    ) -> Vec<Place> {
        let mut inner = Vec::with_capacity(folders.len());
        for name in folders {
            let Some(name) = self.admit(name, true, rules, skipped) else { continue };
            let folder = if self.folder.is_empty() {
                name.clone()
            } else {
                format!("{}/{name}", self.folder)
            };
            inner.push(Place {
                vault: self.vault,
                path: self.path.join(&name),
                folder,
                rules: rules.to_vec(),
            });
        }
        inner
    }

    /// Returns the name of what belongs to the vault, and counts what does not.
    fn admit(
        &self,
        name: OsString,
        is_folder: bool,
        rules: &[Arc<Gitignore>],
        skipped: &mut Skipped,
    ) -> Option<String> {
        if name.as_encoded_bytes().starts_with(b".") {
            skipped.hidden += 1;
            return None;
        }
        if !rules.is_empty() && is_ignored(rules, &self.path.join(&name), is_folder) {
            skipped.ignored += 1;
            return None;
        }
        match name.into_string() {
            Ok(text) if !text.contains('\\') => Some(text),
            _ => {
                skipped.unnameable += 1;
                None
            }
        }
    }
}

fn is_markdown(name: &OsStr) -> bool {
    name.as_encoded_bytes().ends_with(b".md")
}

/// The innermost rule that speaks of a path decides.
fn is_ignored(rules: &[Arc<Gitignore>], path: &Path, is_folder: bool) -> bool {
    let verdict = rules
        .iter()
        .rev()
        .map(|rule| rule.matched(path, is_folder))
        .find(|verdict| !verdict.is_none());
    verdict.is_some_and(|verdict| verdict.is_ignore())
}

/// The rules of one folder's own `.gitignore`.
fn rules_of(folder: &Path) -> Option<Arc<Gitignore>> {
    let file = folder.join(".gitignore");
    if !file.is_file() {
        return None;
    }
    let mut builder = GitignoreBuilder::new(folder);
    // A line that is no pattern is passed over, as git does.
    let _ = builder.add(file);
    builder.build().ok().filter(|rules| !rules.is_empty()).map(Arc::new)
}

/// The rules above a vault, up to the top of the repository that it lies in.
///
/// A vault that these rules exclude as a whole was named on purpose (private notes in an ignored folder, a home
/// folder under git that ignores everything): then only the rules inside of it hold.
fn rules_above(root: &Path) -> Vec<Arc<Gitignore>> {
    let Some(top) = root.ancestors().find(|place| place.join(".git").exists()) else {
        return Vec::new();
    };
    let between: Vec<&Path> =
        root.ancestors().skip(1).take_while(|place| place.starts_with(top)).collect();
    let rules: Vec<Arc<Gitignore>> = between.into_iter().rev().filter_map(rules_of).collect();
    let excluded = root
        .ancestors()
        .take_while(|&place| place != top)
        .any(|place| is_ignored(&rules, place, true));
    if excluded { Vec::new() } else { rules }
}

fn stamp(metadata: &Metadata) -> Stamp {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let nanos =
            |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
        Stamp {
            mtime: Timestamp(nanos(metadata.mtime(), metadata.mtime_nsec())),
            ctime_ns: nanos(metadata.ctime(), metadata.ctime_nsec()),
            size: metadata.len(),
        }
    }
    #[cfg(not(unix))]
    {
        let since_1970 = metadata
            .modified()
            .ok()
            .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
            .unwrap_or_default();
        let mtime = Timestamp(i64::try_from(since_1970.as_nanos()).unwrap_or(i64::MAX));
        Stamp { mtime, ctime_ns: 0, size: metadata.len() }
    }
}

/// Reads a listed file; also returns its stamp after the reading, to tell whether it changed meanwhile.
pub fn read(vault: &Vault, folder: &str, file: &ListedFile) -> io::Result<(Vec<u8>, Stamp)> {
    let mut path = vault.root.join(folder);
    path.push(&file.name);
    let mut opened = open_file(&path)?;
    let mut bytes = vec![0; usize::try_from(file.stamp.size).unwrap_or_default() + 1];
    let mut length = 0;
    // Usually one read and one look at the stamp, which also says where the file ends.
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

/// Opens a file that was listed as a plain one, without following a link or waiting at a pipe that took its place.
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        libc::O_NOFOLLOW | libc::O_NONBLOCK,
    );
    options.open(path)
}

/// Whether there is a file at a note's place, listed or not.
pub fn has(vault: &Vault, path: &NotePath) -> bool {
    vault.root.join(path.as_str()).is_file()
}

/// Reads the start of a note that an answer shows. Refuses one that has become a link out of its vault.
pub fn read_start(vault: &Vault, path: &NotePath, max_bytes: u64) -> io::Result<Vec<u8>> {
    let place = fs::canonicalize(vault.root.join(path.as_str()))?;
    if !place.starts_with(&vault.root) {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("{path} leads out of its vault"),
        ));
    }
    let mut bytes = Vec::new();
    File::open(place)?.take(max_bytes).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// How many bytes a file has; `None` for what is no plain file.
pub fn size(path: &Path) -> Option<u64> {
    let there = fs::symlink_metadata(path).ok()?;
    there.is_file().then_some(there.len())
}
