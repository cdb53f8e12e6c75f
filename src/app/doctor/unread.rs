//! Reports markdown of a project that is in none of its vaults, where that is most of it.

use std::collections::BTreeMap;
use std::path::Path;

use crate::core::diagnosis::Check;
use crate::core::note::vault::{Vault, holds};
use crate::core::settings::LinkStyle;
use crate::core::text::number::thousands;
use crate::core::time_limits;
use crate::system::vault;
use crate::system::within::within;

/// Fewer files are not worth a line where there are vaults.
const LEAST_FILES: usize = 20;

/// Markdown of a project that is in no vault.
#[derive(Debug)]
pub struct Unread {
    /// The folder at the project's top with most of it.
    pub folder: String,
    pub n_files: usize,
    n_all: usize,
}

impl Unread {
    /// For people.
    pub fn described(&self) -> String {
        format!(
            "{} of the project's {} markdown files are in no vault, most of them in {}",
            thousands(self.n_files as i64),
            thousands(self.n_all as i64),
            self.folder
        )
    }
}

/// Reports the markdown of a project that is in no vault, if that is most of it.
pub(super) fn check(top: &Path, vaults: &[Vault]) -> Option<Check> {
    let unread = look(top, vaults)?;
    let out = format!("if they are notes, run `kgctx vault add --project {}`", unread.folder);
    Some(Check::warn("vaults", unread.described(), out))
}

/// Looks at a project. `None` if most of its markdown is in vaults, or cannot be listed in time.
pub(crate) fn look(top: &Path, vaults: &[Vault]) -> Option<Unread> {
    let (top, vaults) = (top.to_path_buf(), vaults.to_vec());
    within(time_limits::DOCTOR, move || of_project(&top, &vaults)).flatten()
}

fn of_project(top: &Path, vaults: &[Vault]) -> Option<Unread> {
    let whole = Vault::new("", top.to_path_buf(), LinkStyle::Plain);
    let (listings, _) = vault::walk(&[whole], u64::MAX);
    let mut n_read = 0;
    let mut unread: BTreeMap<&str, usize> = BTreeMap::new();
    for listing in &listings {
        let folder = top.join(&listing.folder);
        let is_in = |vault: &Vault| match vault.is_flat {
            true => vault.root == folder,
            false => holds(&vault.root, &folder),
        };
        if vaults.iter().any(is_in) {
            n_read += listing.files.len();
        } else if let Some(first) =
            // What stands at the top and is no note there is read by others, or says nothing.
            listing.folder.split('/').next().filter(|first| !first.is_empty())
        {
            *unread.entry(first).or_default() += listing.files.len();
        }
    }
    let n_files: usize = unread.values().sum();
    let least = if vaults.is_empty() { 1 } else { LEAST_FILES };
    if n_files < least || n_files <= n_read {
        return None;
    }
    let (folder, _) = unread.into_iter().max_by_key(|(_, n)| *n)?;
    Some(Unread { folder: folder.to_owned(), n_files, n_all: n_read + n_files })
}
