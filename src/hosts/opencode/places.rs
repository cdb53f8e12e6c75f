//! Where OpenCode looks for plugins and configuration.

use std::path::{Path, PathBuf};

use crate::hosts::opencode::bridge;
use crate::system::environment::Environment;
use crate::system::folders::settled;

/// The names that a folder of plugins may have; both are looked into.
pub const PLUGIN_FOLDERS: [&str; 2] = ["plugin", "plugins"];

/// The user's own folder, for all projects; `None` where there is no home.
pub fn global(environment: &Environment) -> Option<PathBuf> {
    environment.path("OPENCODE_CONFIG_DIR").or_else(|| user(environment)).map(settled)
}

/// A project's folder.
pub fn project(checkout: &Path) -> PathBuf {
    settled(checkout.join(".opencode"))
}

/// Every file below one of OpenCode's folders that could be the bridge.
pub fn files(folder: &Path) -> [PathBuf; 2] {
    PLUGIN_FOLDERS.map(|plugins| folder.join(plugins).join(bridge::FILE_NAME))
}

/// Every folder that OpenCode reads when it runs in `folder`, each once.
///
/// Between the working tree's top and the folder that is every `.opencode`; without a repository there is no top.
pub fn all(environment: &Environment, folder: &Path, top: Option<&Path>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut add = |folder: PathBuf| {
        let folder = settled(folder);
        if !found.contains(&folder) {
            found.push(folder);
        }
    };
    user(environment).into_iter().for_each(&mut add);
    for above in project_folders(folder, top) {
        add(above.join(".opencode"));
    }
    if let Some(home) = environment.home() {
        add(home.join(".opencode"));
    }
    environment.path("OPENCODE_CONFIG_DIR").into_iter().for_each(&mut add);
    found
}

/// Every configuration file that OpenCode reads when it runs in `folder`, whether or not it is there.
pub fn configurations(
    environment: &Environment,
    folder: &Path,
    top: Option<&Path>,
) -> Vec<PathBuf> {
    let own = project_folders(folder, top).map(Path::to_path_buf);
    let folders = all(environment, folder, top).into_iter().chain(own);
    let files = folders
        .flat_map(|folder| ["opencode.json", "opencode.jsonc"].map(|name| folder.join(name)));
    files.chain(environment.path("OPENCODE_CONFIG")).collect()
}

fn user(environment: &Environment) -> Option<PathBuf> {
    let config = environment.path("XDG_CONFIG_HOME").filter(|path| path.is_absolute());
    let config = config.or_else(|| Some(environment.home()?.join(".config")))?;
    Some(config.join("opencode"))
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

    fn environment(variables: &[(&str, &str)]) -> Environment {
        variables.iter().map(|&(k, v)| (k.into(), v.into())).collect()
    }

    #[test]
    fn the_users_folder_is_where_opencode_looks() {
        let check = |variables: &[(&str, &str)], expected: Option<&str>| {
            assert_eq!(global(&environment(variables)), expected.map(PathBuf::from));
        };
        let (home, xdg) = (("HOME", "/none/ada"), ("XDG_CONFIG_HOME", "/none/xdg"));
        check(&[], None);
        check(&[home], Some("/none/ada/.config/opencode"));
        check(&[home, xdg], Some("/none/xdg/opencode"));
        check(&[home, ("XDG_CONFIG_HOME", "relative")], Some("/none/ada/.config/opencode"));
        check(&[home, xdg, ("OPENCODE_CONFIG_DIR", "/none/own")], Some("/none/own"));
    }

    #[test]
    fn all_folders_are_found_each_once() {
        let variables = [("HOME", "/none/ada"), ("OPENCODE_CONFIG_DIR", "/none/app/.opencode")];
        let found = |top| all(&environment(&variables), Path::new("/none/app/src"), top);
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
