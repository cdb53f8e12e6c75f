//! Why a command failed.

use thiserror::Error;

use crate::store::index::IndexError;
use crate::store::state::StateError;
use crate::workspace::settings::SettingsError;

#[derive(Debug, Error)]
pub enum AppError {
    /// A folder, a vault or a file cannot be used.
    #[error("{0}")]
    Place(String),
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error("the vault {0} does not respond; check the folder, and the network if it is on one")]
    Silent(String),
    #[error("cannot watch the vaults: {0}; run `kgctx index` from time to time instead")]
    Watch(String),
    #[error(transparent)]
    Index(#[from] IndexError),
    #[error(transparent)]
    State(#[from] StateError),
    #[error("maenifold: {0}; without --source the index answers")]
    Maenifold(String),
}
