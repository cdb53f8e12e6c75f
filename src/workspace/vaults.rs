//! Opens the vaults of a place.

use std::time::{Duration, Instant};

use crate::core::note::vault::Vault;
use crate::core::settings::{Setting, VaultSpec};
use crate::system::vault;
use crate::system::within::{self, Started};
use crate::workspace::AppError;

/// Opens vaults. Every note must be in exactly one of them, with one address.
pub(super) fn open_all(specs: &[Setting<VaultSpec>]) -> Result<Vec<Vault>, AppError> {
    let mut vaults: Vec<Vault> = Vec::new();
    for spec in specs {
        add(&mut vaults, vault::open(spec)?);
    }
    match conflict(&vaults) {
        Some((_, error)) => Err(error),
        None => Ok(vaults),
    }
}

/// Opens the vaults that can be opened, and returns the errors of the others. With `patience`,
/// skips vaults that take longer.
pub(super) fn open_reachable(
    specs: &[Setting<VaultSpec>],
    patience: Option<Duration>,
) -> (Vec<Vault>, Vec<AppError>) {
    let opened: Vec<Result<Vault, AppError>> = match patience {
        None => specs.iter().map(|spec| Ok(vault::open(spec)?)).collect(),
        Some(patience) => open_within(specs, patience),
    };
    let mut vaults = Vec::new();
    let mut errors = Vec::new();
    for vault in opened {
        match vault {
            Ok(vault) => add(&mut vaults, vault),
            Err(error) => errors.push(error),
        }
    }
    while let Some((vault, error)) = conflict(&vaults) {
        vaults.remove(vault);
        errors.push(error);
    }
    (vaults, errors)
}

/// Opens each vault on a separate thread, so that a network folder that does not answer delays only
/// itself.
fn open_within(specs: &[Setting<VaultSpec>], patience: Duration) -> Vec<Result<Vault, AppError>> {
    let until = Instant::now() + patience;
    let opening: Vec<_> = specs
        .iter()
        .map(|spec| {
            let for_thread = spec.clone();
            (spec, within::start(move || vault::open(&for_thread)))
        })
        .collect();
    let result = |(spec, opening): (&Setting<VaultSpec>, Started<_>)| match opening.by(until) {
        Some(opened) => Ok(opened?),
        None => Err(AppError::Silent { vault: spec.value.path.clone() }),
    };
    opening.into_iter().map(result).collect()
}

/// A folder that is listed twice gets its later name.
fn add(vaults: &mut Vec<Vault>, vault: Vault) {
    vaults.retain(|other| other.root != vault.root);
    vaults.push(vault);
}

/// Finds a vault that conflicts with another one, and the reason.
fn conflict(vaults: &[Vault]) -> Option<(usize, AppError)> {
    for (n, inner) in vaults.iter().enumerate() {
        let outer = vaults
            .iter()
            .find(|outer| inner.root != outer.root && inner.root.starts_with(&outer.root));
        if let Some(outer) = outer {
            let error = AppError::Nested { inner: inner.root.clone(), outer: outer.root.clone() };
            return Some((n, error));
        }
    }
    let plain = vaults.iter().find(|vault| vault.name.is_empty())?;
    for (n, vault) in vaults.iter().enumerate().filter(|(_, vault)| !vault.name.is_empty()) {
        if let Some(folder) = vault::folder_in(plain, &vault.name) {
            let error =
                AppError::Ambiguous { vault: vault.root.clone(), folder, name: vault.name.clone() };
            return Some((n, error));
        }
    }
    None
}
