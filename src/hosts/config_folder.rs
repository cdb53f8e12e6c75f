//! A host's configuration folder: the user's and a project's.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::core::installation::{Install, UserFolder};
use crate::system::environment::Environment;
use crate::system::folders::settled;

/// The user's folder for all projects; `None` without a home folder.
pub fn global(install: &Install, environment: &Environment) -> Option<PathBuf> {
    named(install, environment).or_else(|| usual(install, environment)).map(settled)
}

/// The folder that the host's own variable names.
pub fn named(install: &Install, environment: &Environment) -> Option<PathBuf> {
    environment.path(install.variable?)
}

/// The user's folder if no variable overrides it.
pub fn usual(install: &Install, environment: &Environment) -> Option<PathBuf> {
    let in_home = |path: &str| Some(environment.home()?.join(path));
    match install.folder {
        UserFolder::InHome(folder) => in_home(folder),
        UserFolder::InConfig(folder) => {
            let config = environment.path("XDG_CONFIG_HOME").filter(|path| path.is_absolute());
            Some(config.or_else(|| in_home(".config"))?.join(folder))
        }
    }
}

pub fn remove(file: &Path) -> io::Result<()> {
    fs::remove_file(file)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::host::Host;

    #[test]
    fn the_users_folder_is_where_the_host_looks() {
        let check = |host: Host, variables: &[(&str, &str)], expected: Option<&str>| {
            let environment: Environment =
                variables.iter().map(|&(k, v)| (k.into(), v.into())).collect();
            let install = host.facts().install.as_ref().unwrap();
            assert_eq!(global(install, &environment), expected.map(PathBuf::from));
        };
        let (home, xdg) = (("HOME", "/none/ada"), ("XDG_CONFIG_HOME", "/none/xdg"));
        let opencode = Host::Opencode;
        check(opencode, &[], None);
        check(opencode, &[home], Some("/none/ada/.config/opencode"));
        check(opencode, &[home, xdg], Some("/none/xdg/opencode"));
        let relative = ("XDG_CONFIG_HOME", "relative");
        check(opencode, &[home, relative], Some("/none/ada/.config/opencode"));
        check(opencode, &[home, xdg, ("OPENCODE_CONFIG_DIR", "/none/own")], Some("/none/own"));
        check(Host::ClaudeCode, &[home, xdg], Some("/none/ada/.claude"));
        check(Host::ClaudeCode, &[home, ("CLAUDE_CONFIG_DIR", "/none/own")], Some("/none/own"));
        check(Host::Amplifier, &[home, ("AMPLIFIER_HOME", "/a")], Some("/none/ada/.amplifier"));
    }
}
