//! Everything that is wrong with the settings, not only what was met first.

use std::path::Path;

use crate::adapters::directories::Directories;
use crate::adapters::settings::{SettingsError, Sources, load};

/// Reads the settings again and again, each time without what was wrong, until nothing is.
pub fn problems(sources: Sources<'_>) -> Vec<SettingsError> {
    let Sources { environment, directories, mut notes_root, vault_flags } = sources;
    let mut environment = environment.clone();
    let mut directories: Directories = directories.clone();
    let user_file = directories.config.join("config.toml");
    let mut problems = Vec::new();
    loop {
        let sources = Sources {
            environment: &environment,
            directories: &directories,
            notes_root,
            vault_flags,
        };
        let Err(problem) = load(sources) else { return problems };
        let mut leave_out = |file: &Path| {
            if file == user_file {
                directories.config = Path::new("").join("no such folder");
            } else {
                notes_root = None;
            }
        };
        match &problem {
            SettingsError::Variable { name, .. } => environment = environment.without(name),
            SettingsError::Invalid { path, .. } | SettingsError::Unreadable { path, .. } => {
                leave_out(path);
            }
            SettingsError::VaultOutside { file, .. } => leave_out(file),
            // These speak of all sources together.
            SettingsError::SameName { .. } | SettingsError::VaultName { .. } => {
                problems.push(problem);
                return problems;
            }
        }
        problems.push(problem);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::environment::Environment;

    #[test]
    fn every_problem_is_named_once() {
        let scratch = tempfile::tempdir().unwrap();
        let directories = Directories::below(scratch.path());
        let project = scratch.path().join("project");
        std::fs::create_dir(&project).unwrap();
        std::fs::write(scratch.path().join("config.toml"), "links = 1\n").unwrap();
        std::fs::write(project.join("kgctx.toml"), "token_limt = 1\n").unwrap();
        let variables = [("TOKEN_LIMIT", "many"), ("KGCTX_LINKS", "foam"), ("HOME", "/none")];
        let environment: Environment =
            variables.into_iter().map(|(k, v)| (k.into(), v.into())).collect();
        let found = |environment: &Environment, notes_root| -> Vec<String> {
            let sources =
                Sources { environment, directories: &directories, notes_root, vault_flags: &[] };
            problems(sources).iter().map(ToString::to_string).collect()
        };
        let all = found(&environment, Some(project.as_path()));
        assert_eq!(all.len(), 4, "{all:#?}");
        for part in ["config.toml:1:9", "kgctx.toml:1:1", "TOKEN_LIMIT", "KGCTX_LINKS"] {
            assert_eq!(all.iter().filter(|text| text.contains(part)).count(), 1, "{all:#?}");
        }
        std::fs::write(scratch.path().join("config.toml"), "").unwrap();
        assert_eq!(found(&Environment::default(), None), Vec::<String>::new());
    }
}
