//! A workspace: the project of a folder with its settings, its vaults and their index.

#![expect(clippy::disallowed_methods, reason = "this room is behind the I/O fence")]

mod error;
mod place;
pub mod reader;
pub mod refresh;
pub mod settings;
pub mod summary;
pub mod vault_entries;
mod vaults;
pub mod watch;

use std::path::PathBuf;
use std::time::Duration;

use crate::core::note::vault::Vault;
use crate::core::project::{Project, identify};
use crate::core::settings::{Setting, Settings, VaultSpec};
use crate::core::time_limits;
use crate::store::index::{self, Index, Store, Unusable};
use crate::system::directories::Directories;
use crate::system::vault::{self, Styles};
pub use crate::workspace::error::AppError;
pub(crate) use crate::workspace::place::Surroundings;
pub use crate::workspace::place::{Place, Request};
pub(crate) use crate::workspace::settings::may_be_in_name;
pub(crate) use crate::workspace::vaults::because;
use crate::workspace::vaults::open_reachable;

/// A place with notes.
#[derive(Debug, Clone)]
pub struct Workspace {
    pub settings: Settings,
    /// The vaults, all of which exist.
    pub vaults: Vec<Vault>,
    pub(crate) store: Store,
    pub(crate) fingerprint: String,
    styles: Styles,
}

impl Workspace {
    pub fn open(place: Place) -> Result<Workspace, AppError> {
        match Workspace::open_reachable(place, None) {
            (Some(workspace), errors) if errors.is_empty() => Ok(workspace),
            (_, mut errors) => Err(errors.swap_remove(0)),
        }
    }

    /// Opens the vaults of a place that can be opened, and returns the errors of the others. With
    /// `patience`, skips vaults that do not answer within it.
    pub(crate) fn open_reachable(
        place: Place,
        patience: Option<Duration>,
    ) -> (Option<Workspace>, Vec<AppError>) {
        if place.settings.vaults.is_empty() {
            return (None, vec![place.without_vault()]);
        }
        let styles = place.styles();
        let (vaults, errors) = open_reachable(&place.settings.vaults, &styles, patience);
        let Place { project, settings, directories, .. } = place;
        let workspace = (!vaults.is_empty()).then(|| Workspace {
            store: store(&project, &settings, &vaults, &directories),
            fingerprint: index::fingerprint(&vaults, &settings),
            settings,
            vaults,
            styles,
        });
        (workspace, errors)
    }

    /// Finds the workspace of a request, and opens the vaults that can be opened, as a session
    /// does. Returns the errors of the others.
    pub fn find(request: &Request) -> Result<(Workspace, Vec<AppError>), AppError> {
        Workspace::find_with(request, true)
    }

    /// The same, with or without maenifold's memory.
    pub fn find_with(
        request: &Request,
        has_memory: bool,
    ) -> Result<(Workspace, Vec<AppError>), AppError> {
        let (place, left_out) = Place::find_rest(request)?;
        let place = if has_memory { place } else { place.without_memory() };
        match Workspace::open_reachable(place, Some(time_limits::BACKGROUND_VAULT)) {
            (Some(workspace), errors) => {
                let left_out = left_out.into_iter().map(AppError::from);
                Ok((workspace, left_out.chain(errors).collect()))
            }
            (None, mut errors) => Err(errors.swap_remove(0)),
        }
    }

    /// Tells the styles of the vaults anew: their signs come and go while they are watched.
    fn tell_styles(&mut self) {
        let specs = self.settings.vaults.iter();
        for opened in specs.filter_map(|spec| vault::open(spec, &self.styles).ok()) {
            let mut vaults = self.vaults.iter_mut();
            if let Some(vault) = vaults.find(|vault| vault.root == opened.root) {
                let name = std::mem::take(&mut vault.name);
                *vault = Vault { name, ..opened };
            }
        }
        self.fingerprint = index::fingerprint(&self.vaults, &self.settings);
    }

    /// Opens the index as it is, however old.
    pub fn last_index(&self) -> Result<Index, Unusable> {
        self.store.open(&self.fingerprint)
    }

    pub fn index_path(&self) -> PathBuf {
        self.store.path()
    }
}

/// The store of a set of vaults. A worktree's vaults are another set than those of the repository's own working tree.
fn store(
    project: &Project,
    settings: &Settings,
    vaults: &[Vault],
    directories: &Directories,
) -> Store {
    let key = |vaults: &[Vault]| store_key(&settings.vaults, vaults);
    let store = Store::new(&directories.cache, &key(vaults));
    match (&project.root, &project.notes_root) {
        (Some(root), Some(top)) if root != top => {
            let in_main = |vault: &Vault| match vault.root.strip_prefix(top) {
                Ok(below) => Vault { root: root.join(below), ..vault.clone() },
                Err(_) => vault.clone(),
            };
            let of_main: Vec<Vault> = vaults.iter().map(in_main).collect();
            store.of_worktree(top, &key(&of_main))
        }
        _ => store,
    }
}

/// The name of the index: one index per set of vaults. Readable, and never shared by two sets.
fn store_key(specs: &[Setting<VaultSpec>], vaults: &[Vault]) -> String {
    let mut set = Vec::new();
    for vault in vaults {
        set.extend_from_slice(vault.name.as_bytes());
        set.push(0);
        set.extend_from_slice(vault.root.as_os_str().as_encoded_bytes());
        set.push(0);
    }
    let first = specs.first().and_then(|spec| spec.value.path.file_name()).unwrap_or_default();
    format!("{}-{}", identify::slug(&first.to_string_lossy()), identify::short_hash(&set))
}
