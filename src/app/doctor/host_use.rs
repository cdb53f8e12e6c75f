//! Which hosts the user gives context to. Only those are judged.

use std::path::{Path, PathBuf};

use crate::app::doctor::host_program;
use crate::app::install::Target;
use crate::app::install::bundle;
use crate::app::install::json_hooks::settings_file;
use crate::app::install::plugin_file::loaded;
use crate::core::diagnosis::Check;
use crate::core::host::Host;
use crate::core::installation::{Install, InstallKind, Scope};
use crate::core::named::Named;
use crate::core::time_limits;
use crate::hosts::json_hooks::SettingsFile;
use crate::hosts::opencode::plugins::LoadedPlugin;
use crate::hosts::plugin_file::candidates;
use crate::hosts::yaml_list::YamlSettings;
use crate::store::state::State;
use crate::workspace::Surroundings;

/// Whether a host is to be judged.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum HostUse {
    /// It is set up, or it is installed and no host is set up.
    Judged,
    /// It is installed, and the user has set up another host.
    Unused(PathBuf),
    /// It is neither installed nor set up.
    Absent,
}

/// The hosts that kgctx can be installed into.
pub(super) fn all(surroundings: &Surroundings) -> Vec<(Host, &'static Install, HostUse)> {
    let with_install = |host: &Host| Some((*host, host.facts().install.as_ref()?));
    let hosts: Vec<(Host, &Install, bool)> = Host::ALL
        .iter()
        .filter_map(with_install)
        .map(|(host, install)| (host, install, is_set_up(surroundings, host, install)))
        .collect();
    let any_set_up = hosts.iter().any(|(.., is_set_up)| *is_set_up);
    let judged = |(host, install, is_set_up)| {
        let host_use = match host_program::find(&surroundings.environment, host) {
            _ if is_set_up => HostUse::Judged,
            Some(_) if !any_set_up => HostUse::Judged,
            Some(file) => HostUse::Unused(file),
            None => HostUse::Absent,
        };
        (host, install, host_use)
    };
    hosts.into_iter().map(judged).collect()
}

/// One line for a host that is not judged; `None` for one that is.
pub(super) fn unjudged(host: Host, host_use: &HostUse) -> Option<Check> {
    let name = host.facts().program;
    match host_use {
        HostUse::Judged => None,
        HostUse::Unused(file) => {
            let file = file.display();
            Some(Check::ok(name, format!("{file}, not set up; `kgctx install {host}` sets it up")))
        }
        HostUse::Absent => Some(Check::ok(name, "not installed, not set up")),
    }
}

/// Warns if no host is set up or installed.
pub(super) fn none_used() -> Check {
    let names: Vec<String> = Host::ALL
        .iter()
        .filter(|host| host.facts().install.is_some())
        .map(|host| format!("`kgctx install {host}`"))
        .collect();
    let found = "no host is set up, so sessions get no context automatically";
    Check::warn("hosts", found, format!("run {}", names.join(" or ")))
}

/// Whether kgctx is installed into a host, for the user or for the project.
pub(in crate::app) fn is_set_up(
    surroundings: &Surroundings,
    host: Host,
    install: &'static Install,
) -> bool {
    let scopes = [Scope::Global, Scope::Project];
    let mut targets =
        scopes.iter().filter_map(|scope| Target::find(surroundings, host, *scope).ok());
    match &install.kind {
        InstallKind::PluginFile(plugin) => {
            let is_bridge = |found: &LoadedPlugin| {
                matches!(found, LoadedPlugin::Bridge { .. } | LoadedPlugin::Package { .. })
            };
            loaded(surroundings, install, plugin).iter().any(is_bridge)
                || targets.any(|target| {
                    let mut files = candidates(&target.folder, plugin).into_iter();
                    files.any(|file| is_remembered(surroundings, &file))
                })
        }
        InstallKind::JsonHooks(hooks) => targets.any(|target| {
            let file = settings_file(&target, hooks);
            let settings = SettingsFile::read(&file, hooks);
            let has_hooks =
                matches!(settings, Ok(Some(settings)) if !settings.our_hooks().is_empty());
            has_hooks || is_remembered(surroundings, &file)
        }),
        InstallKind::Bundle(bundle) => targets.any(|target| {
            let file = bundle::settings_file(&target, bundle);
            let settings = YamlSettings::read(&file, bundle.list);
            let item = bundle::item(surroundings, bundle).unwrap_or_default();
            let has_item = |settings: YamlSettings| settings.items().contains(&&*item);
            settings.ok().flatten().is_some_and(has_item) || is_remembered(surroundings, &file)
        }),
    }
}

/// Whether `kgctx install` has written the file.
pub(super) fn is_remembered(surroundings: &Surroundings, file: &Path) -> bool {
    let state = State::open_if_there(&surroundings.directories.state, time_limits::DOCTOR);
    let known = state.ok().flatten().and_then(|state| state.installation(file).ok());
    known.flatten().is_some()
}
