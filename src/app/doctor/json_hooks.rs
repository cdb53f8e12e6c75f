//! Checks the settings files of a host that runs kgctx as a hook.

use crate::app::doctor::host_use::is_remembered;
use crate::app::install::Target;
use crate::app::install::json_hooks::settings_file;
use crate::core::diagnosis::{Check, Verdict};
use crate::core::host::Host;
use crate::core::installation::{JsonHooks, Scope};
use crate::hosts::json_hooks::SettingsFile;
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
    let checks: Vec<Check> = scopes.into_iter().filter_map(check).collect();
    if !checks.is_empty() {
        return checks;
    }
    let found = format!("{} has no hooks of kgctx here", host.facts().title);
    vec![Check::fail(host.facts().program, found, format!("run `kgctx install {host}`"))]
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
    let was_installed = || is_remembered(surroundings, &file).then_some(());
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
        None => {
            let parts = match (settings.has_monitor(), settings.has_status_line()) {
                (true, true) => ", with monitor and status line",
                (true, false) => ", with monitor",
                (false, true) => ", with status line",
                (false, false) => "",
            };
            Check::ok(name, format!("{shown} runs {}{parts}", hooks[0].program))
        }
    })
}
