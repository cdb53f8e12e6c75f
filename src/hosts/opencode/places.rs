//! The folders where OpenCode looks for plugins and configuration.

use std::path::{Path, PathBuf};

use crate::core::installation::Install;
use crate::hosts::config_folder;
use crate::system::environment::Environment;
use crate::system::folders::settled;

/// Where OpenCode runs.
pub struct OpencodePlaces<'a> {
    pub environment: &'a Environment,
    pub install: &'a Install,
    pub folder: &'a Path,
    /// The top of the working tree; `None` outside of a repository.
    pub top: Option<&'a Path>,
}

impl OpencodePlaces<'_> {
    /// The folders that OpenCode reads, without duplicates.
    ///
    /// They include every `.opencode` from its folder up to the top of the working tree; outside of
    /// a repository, up to the file system's root.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        let OpencodePlaces { environment, install, .. } = self;
        let home = environment.home();
        let tops = self.project_folders().chain(home.as_deref());
        let usual = config_folder::usual(install, environment).into_iter();
        let folders = usual
            .chain(tops.map(|top| top.join(install.project_folder)))
            .chain(config_folder::named(install, environment));
        let mut found = Vec::new();
        for folder in folders.map(settled) {
            if !found.contains(&folder) {
                found.push(folder);
            }
        }
        found
    }

    /// The configuration files that OpenCode reads, existing or not.
    pub(super) fn configurations(&self) -> Vec<PathBuf> {
        let own = self.project_folders().map(Path::to_path_buf);
        let folders = self.folders().into_iter().chain(own);
        let files = folders
            .flat_map(|folder| ["opencode.json", "opencode.jsonc"].map(|name| folder.join(name)));
        files.chain(self.environment.path("OPENCODE_CONFIG")).collect()
    }

    fn project_folders(&self) -> impl Iterator<Item = &Path> {
        let above_top = self.top.and_then(Path::parent);
        self.folder.ancestors().take_while(move |above| Some(*above) != above_top)
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::host::Host;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        variables.iter().map(|&(k, v)| (k.into(), v.into())).collect()
    }

    #[test]
    fn all_folders_are_found_each_once() {
        let variables = [("HOME", "/none/ada"), ("OPENCODE_CONFIG_DIR", "/none/app/.opencode")];
        let install = Host::Opencode.facts().install.as_ref().unwrap();
        let environment = environment(&variables);
        let folder = Path::new("/none/app/src");
        let found =
            |top| OpencodePlaces { environment: &environment, install, folder, top }.folders();
        let expected = |rest: &[&str]| -> Vec<PathBuf> {
            let first = ["/none/ada/.config/opencode", "/none/app/src/.opencode"];
            first.iter().chain(rest).map(PathBuf::from).collect()
        };
        assert_eq!(
            found(Some(Path::new("/none/app"))),
            expected(&["/none/app/.opencode", "/none/ada/.opencode"])
        );
        assert_eq!(
            found(None),
            expected(&[
                "/none/app/.opencode",
                "/none/.opencode",
                "/.opencode",
                "/none/ada/.opencode"
            ])
        );
    }
}
