//! The folders for kgctx's own files.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::system::environment::Environment;
use crate::system::permissions;

/// The number of taken names after which nobody looks for a free one.
const MAX_TRIES: u32 = 10_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directories {
    /// Contains `config.toml`.
    pub config: PathBuf,
    /// Contains files that can be rebuilt.
    pub cache: PathBuf,
    /// Contains files that cannot be rebuilt.
    pub state: PathBuf,
}

/// Why there are none.
const RELATIVE_HOME: &str = "KGCTX_HOME is a relative path, which depends on the current folder; set it to an \
    absolute one";
const RELATIVE_USER_HOME: &str = "HOME is a relative path; set it to an absolute one, or KGCTX_HOME to a folder for kgctx's files";
#[cfg(not(windows))]
const NO_HOME: &str =
    "neither KGCTX_HOME nor HOME is set; set KGCTX_HOME to a folder for kgctx's files";
#[cfg(windows)]
const NO_HOME: &str =
    "neither KGCTX_HOME nor USERPROFILE is set; set KGCTX_HOME to a folder for kgctx's files";

/// The variable that names a folder for programs' files, where that is below the home folder otherwise, and ours in it.
type Place = (&'static str, &'static str, &'static str);

/// For configuration, cache and state.
const PLACES: [Place; 3] = if cfg!(windows) {
    [
        ("APPDATA", "AppData/Roaming", "kgctx"),
        ("LOCALAPPDATA", "AppData/Local", "kgctx/cache"),
        ("LOCALAPPDATA", "AppData/Local", "kgctx/state"),
    ]
} else {
    [
        ("XDG_CONFIG_HOME", ".config", "kgctx"),
        ("XDG_CACHE_HOME", ".cache", "kgctx"),
        ("XDG_STATE_HOME", ".local/state", "kgctx"),
    ]
};

impl Directories {
    /// All folders below one.
    pub fn below(home: &Path) -> Directories {
        // Makes a relative path absolute, so that every folder finds the same index.
        let home = std::path::absolute(home).unwrap_or_else(|_| home.to_path_buf());
        Directories { cache: home.join("cache"), state: home.join("state"), config: home }
    }

    /// Uses `KGCTX_HOME` for everything, else the folders that the system has for each.
    pub fn locate(environment: &Environment) -> Result<Directories, &'static str> {
        if let Some(home) = environment.path("KGCTX_HOME") {
            return home.is_absolute().then(|| Directories::below(&home)).ok_or(RELATIVE_HOME);
        }
        let below = |(variable, default, ours): Place| {
            environment
                .path(variable)
                .filter(|path| path.is_absolute())
                .or_else(|| Some(joined(environment.home()?, default)))
                .map(|path| joined(path, ours))
                .ok_or(if environment.path("HOME").is_some() {
                    RELATIVE_USER_HOME
                } else {
                    NO_HOME
                })
        };
        let [config, cache, state] = PLACES;
        Ok(Directories { config: below(config)?, cache: below(cache)?, state: below(state)? })
    }
}

/// Each name on its own: Windows shows the slashes of a path as they are.
fn joined(mut folder: PathBuf, below: &str) -> PathBuf {
    folder.extend(below.split('/'));
    folder
}

/// Creates a folder and its parents that only the user can enter, because notes are private.
pub(crate) fn create_private(path: &Path) -> io::Result<()> {
    permissions::private_folder().recursive(true).create(path)
}

/// Creates a new folder that only the user can enter. Its name begins with `prefix`, and this process's id follows.
pub(crate) fn create_new_private(parent: &Path, prefix: &str) -> io::Result<PathBuf> {
    let mut n = 0;
    loop {
        let folder = parent.join(format!("{prefix}{}-{n}", std::process::id()));
        match permissions::private_folder().create(&folder) {
            // Another thread uses it, a killed process left it, or an attacker created it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && n < MAX_TRIES => n += 1,
            created => return created.map(|()| folder),
        }
    }
}

/// Opens a file that only the user can read. Creates it if necessary.
pub(crate) fn private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    permissions::private(&mut options).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locate(variables: &[(&str, &str)]) -> Result<Directories, &'static str> {
        Directories::locate(&variables.iter().map(|&(k, v)| (k.into(), v.into())).collect())
    }

    #[cfg(windows)]
    #[test]
    fn otherwise_the_folders_of_windows_do() {
        let home = ("HOME", r"C:\Users\ada");
        let found = locate(&[home, ("APPDATA", r"C:\Users\ada\Roam")]).unwrap();
        assert_eq!(found.config, Path::new(r"C:\Users\ada\Roam\kgctx"));
        assert_eq!(found.cache, Path::new(r"C:\Users\ada\AppData\Local\kgctx\cache"));
        assert_eq!(found.state, Path::new(r"C:\Users\ada\AppData\Local\kgctx\state"));
        assert_eq!(locate(&[]), Err(NO_HOME));
        // Without a disk it would depend on the current one.
        assert_eq!(locate(&[("KGCTX_HOME", r"\k"), home]), Err(RELATIVE_HOME));
    }

    #[cfg(unix)]
    #[test]
    fn kgctx_home_holds_everything() {
        let found = locate(&[("KGCTX_HOME", "/k"), ("HOME", "/home/ada")]).unwrap();
        assert_eq!(found.config, Path::new("/k"));
        assert_eq!(found.cache, Path::new("/k/cache"));
        assert_eq!(found.state, Path::new("/k/state"));
        assert_eq!(locate(&[("KGCTX_HOME", "k"), ("HOME", "/home/ada")]), Err(RELATIVE_HOME));
    }

    #[cfg(unix)]
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
        assert_eq!(locate(&[]), Err(NO_HOME));
        assert_eq!(locate(&[("HOME", "ada")]), Err(RELATIVE_USER_HOME));
    }
}
