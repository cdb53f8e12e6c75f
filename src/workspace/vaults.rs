//! Opens the vaults of a place.

use std::time::{Duration, Instant};

use crate::core::note::vault::{Vault, holds};
use crate::core::settings::{Origin, Setting, VaultSpec};
use crate::system::vault::{self, Styles};
use crate::system::within;
use crate::workspace::AppError;
use crate::workspace::settings::TOP;

/// Opens the vaults that can be opened, and returns the errors of the others. Every note is in
/// exactly one of them, with one address. With `patience`, skips vaults that take longer.
pub(super) fn open_reachable(
    specs: &[Setting<VaultSpec>],
    styles: &Styles,
    patience: Option<Duration>,
) -> (Vec<Vault>, Vec<AppError>) {
    let opened: Vec<Result<Vault, AppError>> = match patience {
        None => {
            specs.iter().map(|spec| vault::open(spec, styles).map_err(AppError::Place)).collect()
        }
        Some(patience) => open_within(specs, styles, patience),
    };
    let mut vaults = Vec::new();
    let mut errors = Vec::new();
    for vault in opened {
        match vault {
            Ok(vault) => {
                // A folder that is listed twice gets its later name.
                vaults.retain(|other: &Vault| other.root != vault.root);
                vaults.push(vault);
            }
            Err(error) => errors.push(error),
        }
    }
    while let Some((vault, reason)) = conflict(&vaults) {
        vaults.remove(vault);
        errors.push(AppError::Place(reason));
    }
    (vaults, errors)
}

/// Opens each vault on a separate thread, so that a network folder that does not answer delays only
/// itself.
fn open_within(
    specs: &[Setting<VaultSpec>],
    styles: &Styles,
    patience: Duration,
) -> Vec<Result<Vault, AppError>> {
    let until = Instant::now() + patience;
    let opening: Vec<_> = specs
        .iter()
        .map(|spec| {
            let (spec, styles) = (spec.clone(), styles.clone());
            within::start(move || vault::open(&spec, &styles))
        })
        .collect();
    let opened = specs.iter().zip(opening).map(|(spec, opening)| match opening.by(until) {
        Some(opened) => opened.map_err(AppError::Place),
        None => Err(AppError::Silent(spec.value.path.display().to_string())),
    });
    opened.collect()
}

/// Why a folder is a vault.
pub(crate) fn because(spec: &Setting<VaultSpec>) -> String {
    match &spec.origin {
        Origin::Default if spec.value.is_flat => "notes at the project's top".to_owned(),
        Origin::Default if spec.value.name.is_empty() => "maenifold's memory".to_owned(),
        Origin::Default if spec.value.name == TOP => "the whole project is a vault".to_owned(),
        Origin::Default => "a usual place".to_owned(),
        origin => format!("from {origin}"),
    }
}

/// Finds a vault that conflicts with another one, and the reason.
fn conflict(vaults: &[Vault]) -> Option<(usize, String)> {
    // The top of a project shares no note with the folders in it.
    let is_whole = |vault: &&Vault| !vault.is_flat;
    for (n, Vault { root: inner, .. }) in vaults.iter().enumerate() {
        let others = vaults.iter().filter(is_whole).map(|vault| &vault.root);
        let mut others = others.filter(|root| *root != inner);
        if let Some(outer) = others.find(|outer| holds(outer, inner)) {
            let (inner, outer) = (inner.display(), outer.display());
            let reason =
                format!("the vault {inner} is inside the vault {outer}; keep only one of them");
            return Some((n, reason));
        }
    }
    let plain = vaults.iter().find(|vault| vault.name.is_empty())?;
    let named = vaults.iter().enumerate().filter(|(_, vault)| !vault.name.is_empty());
    for (n, Vault { name, root, .. }) in named {
        if let Some(folder) = vault::folder_in(plain, name) {
            let (root, folder) = (root.display(), folder.display());
            let reason = format!(
                "notes of the vault {root} would have the addresses of {folder}; \
                 give the vault another name than {name:?}"
            );
            return Some((n, reason));
        }
    }
    None
}
