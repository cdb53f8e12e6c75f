//! Where kgctx keeps its own files.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::system::environment::Environment;

/// The folders of one user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directories {
    /// Holds `config.toml`.
    pub config: PathBuf,
    /// Holds what can be made again.
    pub cache: PathBuf,
    /// Holds what cannot.
    pub state: PathBuf,
}

/// There is nowhere to put files.
#[derive(Debug, Error)]
#[error(
    "neither KGCTX_HOME nor HOME names a folder; set KGCTX_HOME to where kgctx may keep its files"
)]
pub struct NoDirectories;

impl Directories {
    /// Everything below one folder.
    pub fn below(home: &Path) -> Directories {
        // The index is found again from any folder, so a relative path is fixed here.
        let home = std::path::absolute(home).unwrap_or_else(|_| home.to_path_buf());
        Directories { cache: home.join("cache"), state: home.join("state"), config: home }
    }

    /// `KGCTX_HOME` holds everything; without it the XDG folders do.
    pub fn locate(environment: &Environment) -> Result<Directories, NoDirectories> {
        if let Some(home) = environment.path("KGCTX_HOME") {
            return Ok(Directories::below(&home));
        }
        let below = |variable: &str, default: &str| {
            environment
                .path(variable)
                .filter(|path| path.is_absolute())
                .or_else(|| Some(environment.home()?.join(default)))
                .map(|path| path.join("kgctx"))
                .ok_or(NoDirectories)
        };
        Ok(Directories {
            config: below("XDG_CONFIG_HOME", ".config")?,
            cache: below("XDG_CACHE_HOME", ".cache")?,
            state: below("XDG_STATE_HOME", ".local/state")?,
        })
    }
}

/// Makes a folder, with its parents, that only the user may enter: notes are private.
pub(crate) fn create_private(path: &Path) -> io::Result<()> {
    private().recursive(true).create(path)
}

/// Makes a folder that only the user may enter, and that was not there before.
pub(crate) fn create_new_private(path: &Path) -> io::Result<()> {
    private().create(path)
}

fn private() -> DirBuilder {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// Opens a file that only the user may read, and makes it if need be.
pub(crate) fn private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locate(variables: &[(&str, &str)]) -> Result<Directories, NoDirectories> {
        Directories::locate(&variables.iter().map(|&(k, v)| (k.into(), v.into())).collect())
    }

    #[test]
    fn kgctx_home_holds_everything() {
        let found = locate(&[("KGCTX_HOME", "/k"), ("HOME", "/home/ada")]).unwrap();
        assert_eq!(found.config, Path::new("/k"));
        assert_eq!(found.cache, Path::new("/k/cache"));
        assert_eq!(found.state, Path::new("/k/state"));
    }

    #[test]
    fn otherwise_the_xdg_folders_do() {
        let found = locate(&[
            ("HOME", "/home/ada"),
            ("XDG_CACHE_HOME", "/c"),
            ("XDG_STATE_HOME", "relative"),
        ]);
        let found = found.unwrap();
        assert_eq!(found.config, Path::new("/home/ada/.config/kgctx"));
        assert_eq!(found.cache, Path::new("/c/kgctx"));
        assert_eq!(found.state, Path::new("/home/ada/.local/state/kgctx"));
        assert!(locate(&[]).is_err());
    }
}
