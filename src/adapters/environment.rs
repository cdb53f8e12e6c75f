//! The environment that the process was started in, read once.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

/// Environment variables and the current folder.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
}

impl Environment {
    /// Takes the environment of this process.
    pub fn of_process() -> Environment {
        std::env::vars_os().collect()
    }

    /// A variable's value; an empty one counts as not set.
    pub fn get(&self, name: &str) -> Option<&OsString> {
        self.variables.get(&OsString::from(name)).filter(|value| !value.is_empty())
    }

    /// A variable's value as a path.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.get(name).map(PathBuf::from)
    }

    /// The user's home folder.
    pub fn home(&self) -> Option<PathBuf> {
        self.path("HOME").filter(|home| home.is_absolute())
    }

    /// All that settings, projects and servers depend on, as text, for a process that works in this one's place; `None`
    /// where it is no text.
    pub fn relevant(&self) -> Option<BTreeMap<String, String>> {
        const NAMES: [&str; 5] =
            ["HOME", "TOKEN_LIMIT", "CLI_TIMEOUT", "SESSION_START_ENABLED", "MAENIFOLD_ROOT"];
        const PREFIXES: [&str; 4] = ["KGCTX_", "XDG_", "GIT_", "OPENCODE_SERVER_"];
        let is_relevant = |name: &str| {
            NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        };
        let named = self.variables.iter().filter_map(|(name, value)| Some((name.to_str()?, value)));
        named
            .filter(|(name, _)| is_relevant(name))
            .map(|(name, value)| Some((name.to_owned(), value.to_str()?.to_owned())))
            .collect()
    }

    /// The folder that the process was started in.
    pub fn current_dir(&self) -> io::Result<PathBuf> {
        std::env::current_dir()
    }
}

impl FromIterator<(OsString, OsString)> for Environment {
    fn from_iter<I: IntoIterator<Item = (OsString, OsString)>>(variables: I) -> Environment {
        Environment { variables: variables.into_iter().collect() }
    }
}
