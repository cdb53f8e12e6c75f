//! The vaults of a place, each with its notes and why it is there.

mod named;

use std::collections::BTreeMap;

use serde::Serialize;

pub use self::named::{Added, NamedIn, Removed, add, remove};
use crate::core::note::vault::{self, Vault};
use crate::core::settings::{LinkStyle, Origin, Setting, VaultSpec};
use crate::core::time_limits;
use crate::system::{folders, vault as vault_files};
use crate::workspace::refresh::{Mode, Patience, refresh};
use crate::workspace::{AppError, Place, Request, Workspace, because};

/// A vault for people.
#[derive(Debug, Clone, Serialize)]
pub struct ListedVault {
    /// What the addresses of its notes begin with.
    pub address: String,
    pub path: String,
    /// How its notes are read; `None` if it cannot be opened.
    pub style: Option<LinkStyle>,
    /// The program for notes that left its signs there.
    pub program: Option<&'static str>,
    /// The number of its notes; `None` if that is not known.
    pub notes: Option<i64>,
    /// Why it is a vault.
    pub because: String,
    /// What names it: `default`, a file, a variable or a flag.
    pub origin: String,
    /// Why none of its notes is read.
    pub fault: Option<String>,
    /// Whether a person named it, and no default.
    #[serde(skip)]
    pub is_named: bool,
    /// Whether only the notes directly in its folder belong to it.
    #[serde(skip)]
    pub is_flat: bool,
}

impl ListedVault {
    /// What it is, and why it is there.
    pub fn described(&self) -> String {
        match self.program.filter(|program| !self.because.starts_with(program)) {
            Some(program) => format!("{program}, {}", self.because),
            None => self.because.clone(),
        }
    }
}

/// Brings the index up to date, and lists the vaults of a place in order, also those that cannot be opened.
pub fn list(
    request: &Request,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Vec<ListedVault>, AppError> {
    let place = Place::find(request)?;
    let specs = place.settings.vaults.clone();
    let (workspace, errors) = Workspace::open_reachable(place, Some(time_limits::BACKGROUND_VAULT));
    let opened = workspace.as_ref().map(|workspace| &workspace.vaults[..]).unwrap_or_default();
    let counts = workspace.as_ref().and_then(|workspace| counted(workspace, progress));
    let listed = |spec: &Setting<VaultSpec>| {
        let root = folders::settled(spec.value.path.clone());
        let is_it = |vault: &&Vault| vault.root == root && vault.name == spec.value.name;
        let number = opened.iter().position(|vault| is_it(&vault));
        let path = spec.value.path.display().to_string();
        let fault = || {
            let mut reasons = errors.iter().map(AppError::to_string);
            let other = || format!("{path} is named again, with another name");
            reasons.find(|reason| reason.contains(&path)).unwrap_or_else(other)
        };
        let vault = number.map(|n| &opened[n]);
        ListedVault {
            address: vault::uri(&spec.value.name, ""),
            style: vault.map(|vault| vault.style),
            program: vault.and_then(program),
            notes: number.and_then(|n| Some(*counts.as_ref()?.get(&n).unwrap_or(&0))),
            because: because(spec),
            origin: spec.origin.to_string(),
            fault: vault.is_none().then(fault),
            is_named: spec.origin != Origin::Default,
            is_flat: spec.value.is_flat,
            path,
        }
    };
    Ok(specs.iter().map(listed).collect())
}

/// The program for notes that a vault belongs to.
fn program(vault: &Vault) -> Option<&'static str> {
    match vault.style {
        LinkStyle::Maenifold => Some("maenifold"),
        style => style.program().or_else(|| vault_files::program_of(&vault.root)),
    }
}

/// The number of notes of each vault that has some. A failure is the business of other commands.
fn counted(
    workspace: &Workspace,
    progress: &mut dyn FnMut(usize, usize),
) -> Option<BTreeMap<usize, i64>> {
    let (index, _) = refresh(workspace, Mode::Incremental, Patience::Skip, progress).ok()?;
    index.notes_of_vaults().ok()
}
