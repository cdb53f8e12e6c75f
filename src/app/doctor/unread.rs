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

/// Fewer files are not worth a line.
const LEAST_FILES: usize = 20;

/// Looks at a project. `None` if most of its markdown is in vaults, or cannot be listed in time.
pub(super) fn look(top: &Path, vaults: &[Vault]) -> Option<Check> {
    let (top, vaults) = (top.to_path_buf(), vaults.to_vec());
    within(time_limits::DOCTOR, move || of_project(&top, &vaults)).flatten()
}

fn of_project(top: &Path, vaults: &[Vault]) -> Option<Check> {
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
            listing.folder.split('/').next().filter(|_| !listing.files.is_empty())
        {
            *unread.entry(first).or_default() += listing.files.len();
        }
    }
    let n_unread: usize = unread.values().sum();
    if n_unread < LEAST_FILES || n_unread <= n_read {
        return None;
    }
    let (folder, _) = unread.into_iter().max_by_key(|(_, n)| *n)?;
    let found = format!(
        "{} of the project's {} markdown files are in no vault, most of them in {folder}",
        thousands(n_unread as i64),
        thousands((n_read + n_unread) as i64),
    );
    let out = format!("if they are notes, run `kgctx vault add --project {folder}`");
    Some(Check::warn("vaults", found, out))
}
