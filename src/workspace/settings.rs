//! Settings from files and the environment: converts them to [`Settings`], each value with its
//! origin.

mod file;
mod registry;
mod vaults;

use std::io;
use std::path::Path;

use thiserror::Error;

pub(crate) use self::file::{invalid, position};
use crate::core::settings::{Origin, Settings};
use crate::system::environment::Environment;
use crate::workspace::{Request, Surroundings};

/// What is wrong with a setting, in words.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct SettingsError(String);

impl SettingsError {
    /// An error at a byte of a file.
    pub(crate) fn at(path: &Path, text: &str, at: usize, message: &str) -> SettingsError {
        let (line, column) = position(text, at);
        SettingsError(format!("{}:{line}:{column}: {message}", path.display()))
    }

    fn unreadable(path: &Path, cause: &io::Error) -> SettingsError {
        SettingsError(format!("cannot read {}: {cause}", path.display()))
    }
}

/// Settings and the faults in their sources. A faulty value is ignored.
#[derive(Debug, Default)]
pub struct LoadedSettings {
    pub settings: Settings,
    pub faults: Vec<SettingsError>,
}

/// Resolves all settings: defaults, the user's file, the project's file, the environment, flags; later wins.
pub(super) fn load(surroundings: &Surroundings, request: &Request) -> LoadedSettings {
    let Surroundings { environment, directories, project, .. } = surroundings;
    let mut loaded = LoadedSettings::default();
    registry::apply(&mut loaded, directories);
    let user_file = directories.config.join("config.toml");
    if let Some(written) = file::read(&user_file, &mut loaded.faults) {
        let (origin, home) = (Origin::UserFile(user_file.clone()), environment.home());
        file::apply(&mut loaded.settings, written, &user_file, &origin, home.as_deref());
    }
    if let Some(root) = &project.notes_root {
        loaded.read_project_file(root, &user_file);
    }
    loaded.read_variables(environment);
    loaded.settings.source.set(request.source, Origin::Flag("--source"));
    vaults::complete(&mut loaded, surroundings, &request.vaults);
    loaded
}

impl LoadedSettings {
    /// Reads the committed file of a project. It must neither reach outside of the project nor
    /// choose what is run.
    fn read_project_file(&mut self, root: &Path, user_file: &Path) {
        let file = root.join("kgctx.toml");
        let Some(mut written) = file::read(&file, &mut self.faults) else { return };
        written.vaults.retain(|vault| {
            let is_inside = vaults::lies_inside(&file::resolve(&vault.path, &file, None), root);
            if !is_inside {
                self.faults.push(SettingsError(format!(
                    "{}: the vault {} lies outside of the project; \
                     a project may only name its own folders, so put it into your {}",
                    file.display(),
                    vault.path,
                    user_file.display()
                )));
            }
            is_inside
        });
        // The message about `servers` comes before that about `source`.
        let forbidden = written.remove_forbidden().into_iter().rev();
        for (key, why) in forbidden.chain(written.handoff.remove_forbidden()) {
            let (file, user_file) = (file.display(), user_file.display());
            self.faults.push(SettingsError(format!(
                "{file}: a project may not set {key}, {why}; put it into your {user_file}"
            )));
        }
        let origin = Origin::ProjectFile(file.clone());
        file::apply(&mut self.settings, written, &file, &origin, None);
    }

    fn read_variables(&mut self, environment: &Environment) {
        let get =
            |name: &str| environment.get(name).map(|value| value.to_string_lossy().into_owned());
        let channel = get("KGCTX_CHANNEL").map(|name| Some(name.trim().to_owned()));
        self.settings.channel.set(channel, Origin::Environment("KGCTX_CHANNEL"));
        let wrong = self.settings.set_from_variables(&get);
        let wrong = wrong.into_iter().chain(self.settings.handoff.set_from_variables(&get));
        self.faults.extend(wrong.map(SettingsError));
    }
}
