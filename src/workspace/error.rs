//! Why a command failed.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::store::index::IndexError;
use crate::store::state::StateError;
use crate::system::atomic_file::WriteError;
use crate::system::directories::NoDirectories;
use crate::system::vault::VaultError;
use crate::workspace::settings::SettingsError;

#[derive(Debug, Error)]
pub enum AppError {
    #[error("cannot use the folder {}: {cause}", dir.display())]
    Dir { dir: PathBuf, cause: io::Error },
    #[error(transparent)]
    Directories(#[from] NoDirectories),
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error(transparent)]
    Vault(#[from] VaultError),
    #[error("the vault {} lies in the vault {}; name only one of them", inner.display(), outer.display())]
    Nested { inner: PathBuf, outer: PathBuf },
    #[error(
        "notes of the vault {} would have the addresses of {}; give the vault another name than {name:?}",
        vault.display(), folder.display()
    )]
    Ambiguous {
        vault: PathBuf,
        /// The folder of that name in the vault with plain addresses.
        folder: PathBuf,
        name: String,
    },
    #[error("the vault {} does not answer; is it on a network?", vault.display())]
    Silent { vault: PathBuf },
    #[error(
        "no vault found for {place}: there is no ~/maenifold/memory, no .kgctx/memory and no docs; \
         make one with `mkdir -p .kgctx/memory`, name one with --vault, or list one in {config}"
    )]
    NoVault { place: String, config: String },
    #[error(transparent)]
    Index(#[from] IndexError),
    #[error(transparent)]
    State(#[from] StateError),
    #[error("maenifold: {0}; without --source the index answers")]
    Maenifold(String),
    #[error(transparent)]
    Write(#[from] WriteError),
}
