//! Checks the settings files of a host that runs kgctx as a hook. Reports nothing for a host
//! without an installation.

use crate::app::install::Target;
use crate::app::install::json_hooks::settings_file;
use crate::core::diagnosis::{Check, Verdict};
use crate::core::host::Host;
use crate::core::installation::{JsonHooks, Scope};
use crate::core::time_limits;
use crate::hosts::json_hooks::SettingsFile;
use crate::store::state::State;
use crate::system::process::find;
use crate::workspace::Surroundings;

/// Checks the settings for all projects and for this one.
pub(super) fn settings(
    surroundings: &Surroundings,
    host: Host,
    hooks: &'static JsonHooks,
) -> Vec<Check> {
    let scopes = [(Scope::Global, ""), (Scope::Project, " --project")];
    let check = |(scope, flag)| {
        let target = Target::find(surroundings, host, scope).ok()?;
        check(&target, host, hooks, &format!("run `kgctx install {host}{flag}`"))
    };
    scopes.into_iter().filter_map(check).collect()
}

fn check(
    target: &Target<'_>,
    host: Host,
    hooks: &'static JsonHooks,
    way_out: &str,
) -> Option<Check> {
    let name = host.facts().program;
    let surroundings = target.surroundings;
    let file = settings_file(target, hooks);
    let shown = file.display();
    let was_installed = || {
        let state =
            State::open_if_there(&surroundings.directories.state, time_limits::DOCTOR).ok()??;
        state.installation(&file).ok()?
    };
    let settings = match SettingsFile::read(&file, hooks) {
        Ok(settings) => settings,
        Err(error) => {
            return was_installed().map(|_| Check::of_error(name, Verdict::Fail, error, way_out));
        }
    };
    let Some(settings) = settings.filter(|settings| !settings.our_hooks().is_empty()) else {
        let found = format!("{shown} has lost kgctx's hooks");
        let out = format!("{way_out}, or uninstall it there");
        return was_installed().map(|_| Check::warn(name, found, out));
    };
    if let Some(event) = settings.missing_event() {
        return Some(Check::warn(name, format!("{shown} has no hook for {event}"), way_out));
    }
    let hooks = settings.our_hooks();
    let is_lost = |program: &str| find::find(program.as_ref(), &surroundings.environment).is_none();
    Some(match hooks.iter().find(|hook| is_lost(&hook.program)) {
        Some(hook) => {
            let found = format!("{shown} runs {}, which is not found", hook.program);
            Check::fail(name, found, way_out)
        }
        None => Check::ok(name, format!("{shown} runs {}", hooks[0].program)),
    })
}
