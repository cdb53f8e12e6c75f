//! Settings from files and the environment: converts them to [`Settings`], each value with its
//! origin.

mod file;
mod registry;
mod vaults;
mod wording;

use std::io;
use std::path::Path;

use thiserror::Error;

pub(crate) use self::file::{invalid, position};
pub(crate) use self::vaults::{TOP, may_be_in_name};
pub(crate) use self::wording::nearest;
use crate::core::project::Project;
use crate::core::settings::{Origin, Setting, Settings};
use crate::system::environment::Environment;
use crate::system::git::tracked::{self, MOST_INDEX_BYTES_SOON};
use crate::workspace::{Request, Surroundings};

/// The settings of a project.
const PROJECT_FILE: &str = "kgctx.toml";
/// The variables of kgctx that are no settings.
pub const OTHER_VARIABLES: &[&str] = &[
    "KGCTX_BIN",
    "KGCTX_CHANNEL",
    "KGCTX_HOME",
    "KGCTX_MAENIFOLD_BIN",
    "KGCTX_ROTATES",
    "KGCTX_SESSION_ID",
    "KGCTX_SUMMARISER",
    "KGCTX_VAULTS",
    "KGCTX_WRAP",
];

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
        SettingsError(format!("cannot read {}: {cause}; check its permissions", path.display()))
    }
}

/// Settings and the faults in their sources. A faulty value is ignored, unless it says what may be sent.
#[derive(Debug, Default)]
pub struct LoadedSettings {
    pub settings: Settings,
    pub faults: Vec<SettingsError>,
    /// Why vaults were left out.
    pub left_out: Vec<SettingsError>,
    /// What a project asks for beyond what the user allows. That is no fault of the user's, and holds nobody up.
    pub remarks: Vec<String>,
    /// The first source that should say which notes may be sent and cannot be read, and why. Then none is sent.
    pub closed: Option<(Origin, String)>,
}

/// Resolves all settings: defaults, the user's file, the project's file, the environment, flags; later wins.
pub(super) fn load(surroundings: &Surroundings, request: &Request) -> LoadedSettings {
    let Surroundings { environment, directories, project, .. } = surroundings;
    let mut loaded = LoadedSettings::default();
    registry::apply(&mut loaded, directories);
    let user_file = directories.config.join("config.toml");
    let origin = Origin::UserFile(user_file.clone());
    if let Some(written) = file::read(&user_file, &origin, &mut loaded) {
        let home = environment.home();
        file::apply(&mut loaded.settings, written, &user_file, &origin, home.as_deref());
    }
    if let Some(root) = &project.notes_root {
        loaded.read_project_file(root, &user_file);
    }
    loaded.obey_main_tree(project);
    loaded.read_variables(environment);
    loaded.settings.source.set(request.source, Origin::Flag("--source"));
    vaults::complete(&mut loaded, surroundings, &request.vaults);
    if let Some((origin, _)) = &loaded.closed {
        loaded.settings.enabled = Setting { value: false, origin: origin.clone() };
    }
    loaded
}

impl LoadedSettings {
    /// Records that it is unknown whether, or which, notes may be sent.
    fn close(&mut self, origin: &Origin, fault: SettingsError) {
        self.closed.get_or_insert_with(|| (origin.clone(), fault.to_string()));
        self.faults.push(fault);
    }

    /// Reads the committed file of a project. Whoever wrote it must neither reach outside of the project, nor choose what
    /// is run, nor allow more than the user does.
    fn read_project_file(&mut self, root: &Path, user_file: &Path) {
        let file = root.join(PROJECT_FILE);
        let origin = Origin::ProjectFile(file.clone());
        let Some(mut written) = file::read(&file, &origin, self) else { return };
        let (shown, yours) = (file.display(), user_file.display());
        let mut wrong = Vec::new();
        written.vaults.retain(|vault| {
            let path = &vault.path;
            let is_inside = vaults::lies_inside(&file::resolve(path, &file, None), root);
            let is_named = vault.name.as_deref() != Some("");
            if !is_inside {
                wrong.push(format!(
                    "{shown}: the vault {path} is outside the project; a project may only name its own folders; if you \
                    want this vault yourself, add it to {yours}"
                ));
            } else if !is_named {
                wrong.push(format!(
                    "{shown}: the vault {path} has an empty name, so its notes would look like yours; give it a name"
                ));
            }
            is_inside && is_named
        });
        // The message about `servers` comes before that about `source`.
        let forbidden = written.remove_forbidden().into_iter().rev();
        let channels = (!std::mem::take(&mut written.channels).is_empty())
            .then_some(("channels", "which could take the handoffs of another project"));
        let forbidden = forbidden.chain(written.handoff.remove_forbidden());
        let forbidden = forbidden.chain(written.monitor.remove_forbidden()).chain(channels);
        wrong.extend(forbidden.map(|(key, why)| {
            format!("{shown}: a project may not set {key}, {why}; if you want this yourself, set it in {yours}")
        }));
        self.faults.extend(wrong.into_iter().map(SettingsError));
        let raised = written.remove_raised(&self.settings).into_iter();
        let raised = raised.chain(written.handoff.remove_raised(&self.settings.handoff));
        let raised = raised.chain(written.monitor.remove_raised(&self.settings.monitor));
        self.remarks.extend(raised.map(|what| format!("{shown}: {what}; {yours} may raise it")));
        file::apply(&mut self.settings, written, &file, &origin, None);
    }

    /// Switches sessions off in a worktree without settings of its own, if an untracked file of the main tree says so: whoever
    /// wrote that, which no worktree can have, meant the repository. Nothing else of it counts.
    fn obey_main_tree(&mut self, project: &Project) {
        let (Some(main), Some(own)) = (&project.root, &project.notes_root) else { return };
        let file = main.join(PROJECT_FILE);
        let is_there = |file: &Path| file.symlink_metadata().is_ok();
        if main == own || is_there(&own.join(PROJECT_FILE)) || !is_there(&file) {
            return;
        }
        let tracked = tracked::tracked(main, MOST_INDEX_BYTES_SOON, |path| path == PROJECT_FILE);
        if tracked.is_some_and(|tracked| !tracked.is_empty()) {
            return;
        }
        let origin = Origin::ProjectFile(file.clone());
        let mut of_main = LoadedSettings::default();
        let written = file::read(&file, &origin, &mut of_main);
        if of_main.closed.is_some() {
            of_main.faults.into_iter().for_each(|fault| self.close(&origin, fault));
        } else if written.is_some_and(|written| written.enabled == Some(false)) {
            self.settings.enabled = Setting { value: false, origin };
        }
    }

    /// Tells of variables that nothing reads: whoever sets one expects an effect.
    fn remark_on_unknown(&mut self, environment: &Environment) {
        let set = environment.beginning_with("KGCTX_").filter_map(|(name, _)| name.to_str());
        let is_other =
            |name: &&str| OTHER_VARIABLES.contains(name) || name.starts_with("KGCTX_TEST_");
        let mut unknown: Vec<&str> = set.filter(|name| !is_other(name)).collect();
        if unknown.is_empty() {
            return;
        }
        let known = self.settings.list();
        unknown.retain(|name| !known.iter().any(|setting| setting.variables.contains(name)));
        self.remarks.extend(unknown.into_iter().map(|name| {
            format!("the variable {name} has no effect: kgctx knows no such variable; unset it")
        }));
    }

    fn read_variables(&mut self, environment: &Environment) {
        let get =
            |name: &str| environment.get(name).map(|value| value.to_string_lossy().into_owned());
        let channel = get("KGCTX_CHANNEL").map(|name| Some(name.trim().to_owned()));
        self.settings.channel.set(channel, Origin::Environment("KGCTX_CHANNEL"));
        let wrong = self.settings.set_from_variables(&get);
        let wrong = wrong.into_iter().chain(self.settings.handoff.set_from_variables(&get));
        let wrong = wrong.chain(self.settings.monitor.set_from_variables(&get));
        let mut wrong: Vec<_> = wrong.collect();
        let unclear = self.settings.close_by_variables(&get);
        wrong.retain(|(name, _)| unclear.iter().all(|(other, _)| other != name));
        for (name, fault) in unclear {
            self.close(&Origin::Environment(name), SettingsError(fault));
        }
        self.remark_on_unknown(environment);
        for (name, fault) in wrong {
            let (origin, fault) = (Origin::Environment(name), SettingsError(fault));
            match name {
                "KGCTX_DEFAULT_VAULTS" => {
                    self.close(&origin, fault);
                    continue;
                }
                "KGCTX_HANDOFFS" => {
                    self.settings.handoff.enabled = Setting { value: false, origin };
                }
                _ => {}
            }
            self.faults.push(fault);
        }
    }
}
