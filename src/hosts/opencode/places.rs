//! The folders where OpenCode looks for plugins and configuration.

use std::path::{Path, PathBuf};

use crate::core::installation::Install;
use crate::hosts::config_folder;
use crate::system::environment::Environment;
use crate::system::folders::settled;

/// The folders that OpenCode reads when it runs in `folder`, without duplicates.
///
/// They include every `.opencode` from `folder` up to `top`, the top of the working tree; outside
/// of a repository, up to the file system's root.
pub(super) fn all(
    environment: &Environment,
    install: &Install,
    folder: &Path,
    top: Option<&Path>,
) -> Vec<PathBuf> {
    let home = environment.home();
    let tops = project_folders(folder, top).chain(home.as_deref());
    let usual = config_folder::usual(install, environment).into_iter();
    let folders = usual
        .chain(tops.map(|top| top.join(install.project_folder)))
        .chain(environment.path(install.variable));
    let mut found = Vec::new();
    for folder in folders.map(settled) {
        if !found.contains(&folder) {
            found.push(folder);
        }
    }
    found
}

/// The configuration files that OpenCode reads when it runs in `folder`, existing or not.
pub(super) fn configurations(
    environment: &Environment,
    install: &Install,
    folder: &Path,
    top: Option<&Path>,
) -> Vec<PathBuf> {
    let own = project_folders(folder, top).map(Path::to_path_buf);
    let folders = all(environment, install, folder, top).into_iter().chain(own);
    let files = folders
        .flat_map(|folder| ["opencode.json", "opencode.jsonc"].map(|name| folder.join(name)));
    files.chain(environment.path("OPENCODE_CONFIG")).collect()
}

fn project_folders<'a>(
    folder: &'a Path,
    top: Option<&'a Path>,
) -> impl Iterator<Item = &'a Path> + 'a {
    let above_top = top.and_then(Path::parent);
    folder.ancestors().take_while(move |above| Some(*above) != above_top)
}

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
        let found = |top| all(&environment(&variables), install, Path::new("/none/app/src"), top);
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
