//! The environment of the process, read once.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// Whether to include the passwords of servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Secrets {
    Included,
    LeftOut,
}

/// What a user sets to name the home folder.
pub const HOME_VARIABLE: &str = if cfg!(windows) { "USERPROFILE" } else { "HOME" };

#[derive(Clone, Default)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
}

impl Environment {
    #[cfg(not(windows))]
    pub fn of_process() -> Environment {
        std::env::vars_os().collect()
    }

    /// There upper and lower case in names are the same, and hosts take `USERPROFILE` for the home folder, whatever `HOME` is.
    #[cfg(windows)]
    pub fn of_process() -> Environment {
        let named = |(name, value): (OsString, OsString)| (name.to_ascii_uppercase(), value);
        let mut variables: BTreeMap<OsString, OsString> = std::env::vars_os().map(named).collect();
        if let Some(home) = variables.get(&OsString::from(HOME_VARIABLE)).cloned() {
            variables.insert("HOME".into(), home);
        }
        Environment { variables }
    }

    /// A variable's value; `None` if it is empty.
    pub fn get(&self, name: &str) -> Option<&OsString> {
        self.variables.get(&OsString::from(name)).filter(|value| !value.is_empty())
    }

    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.get(name).map(PathBuf::from)
    }

    /// All variables whose names start with `start`.
    pub fn beginning_with<'a>(
        &'a self,
        start: &'a str,
    ) -> impl Iterator<Item = (&'a OsString, &'a OsString)> {
        let begins = move |name: &OsString| name.as_encoded_bytes().starts_with(start.as_bytes());
        self.variables.iter().filter(move |(name, _)| begins(name))
    }

    /// Returns the environment with another value for one variable.
    pub fn with(mut self, name: &str, value: &str) -> Environment {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// Whether a service for continuous integration started this: all of them set `CI`.
    pub fn is_in_ci(&self) -> bool {
        let is_no = |value: &OsString| {
            ["false", "0", "no", "off"].iter().any(|no| value.eq_ignore_ascii_case(no))
        };
        self.get("CI").is_some_and(|value| !is_no(value))
    }

    pub fn home(&self) -> Option<PathBuf> {
        self.path("HOME").filter(|home| home.is_absolute())
    }

    /// The variables that settings and projects depend on, for a process that works on behalf of
    /// this one; `None` if one is not UTF-8.
    pub fn relevant(&self, secrets: Secrets) -> Option<BTreeMap<String, String>> {
        // PATH, because maenifold's program is searched there.
        const NAMES: [&str; 6] =
            ["CI", "HOME", "PATH", "TOKEN_LIMIT", "CLI_TIMEOUT", "SESSION_START_ENABLED"];
        let is_relevant = |name: &str| {
            NAMES.contains(&name)
                || ["KGCTX_", "MAENIFOLD_", "XDG_"].iter().any(|start| name.starts_with(start))
                || (secrets == Secrets::Included && name.starts_with("OPENCODE_SERVER_"))
        };
        let named = self.variables.iter().filter_map(|(name, value)| Some((name.to_str()?, value)));
        named
            .filter(|(name, _)| is_relevant(name))
            .map(|(name, value)| Some((name.to_owned(), value.to_str()?.to_owned())))
            .collect()
    }

    pub fn current_dir(&self) -> io::Result<PathBuf> {
        std::env::current_dir()
    }
}

/// Omits the values, which can be secret.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.variables.keys()).finish()
    }
}

impl FromIterator<(OsString, OsString)> for Environment {
    fn from_iter<I: IntoIterator<Item = (OsString, OsString)>>(variables: I) -> Environment {
        Environment { variables: variables.into_iter().collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_that_says_no_is_no_service_for_integration() {
        for (value, is_in_ci) in [
            ("true", true),
            ("1", true),
            ("yes", true),
            ("", false),
            ("no", false),
            ("Off", false),
            ("0", false),
            ("FALSE", false),
        ] {
            assert_eq!(Environment::default().with("CI", value).is_in_ci(), is_in_ci, "{value}");
        }
    }
}
