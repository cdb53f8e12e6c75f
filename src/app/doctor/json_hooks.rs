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
    let found = format!("{} has no kgctx hooks here", host.facts().title);
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
        let out = format!("{way_out}, or uninstall kgctx there");
        return was_installed().map(|_| Check::warn(name, found, out));
    };
    if let Some(event) = settings.missing_event() {
        return Some(Check::warn(name, format!("{shown} has no hook for {event}"), way_out));
    }
    let hooks = settings.our_hooks();
    let is_lost = |program: &str| find::find(program.as_ref(), &surroundings.environment).is_none();
    let programs = hooks.iter().map(|hook| hook.program.clone()).chain(settings.status_program());
    Some(match programs.into_iter().find(|program| is_lost(program)) {
        Some(program) => {
            let found = format!("{shown} runs {program}, which does not exist");
            Check::fail(name, found, way_out)
        }
        None => {
            let parts = [
                (settings.has_monitor(), "monitor"),
                (settings.has_rotation(), "rotation"),
                (settings.has_status_line(), "status line"),
            ];
            let parts: Vec<&str> =
                parts.iter().filter(|(is_there, _)| *is_there).map(|(_, name)| *name).collect();
            let parts = match parts.split_last() {
                None => String::new(),
                Some((last, [])) => format!(", with {last}"),
                Some((last, others)) => format!(", with {} and {last}", others.join(", ")),
            };
            Check::ok(name, format!("{shown} runs {}{parts}", hooks[0].program))
        }
    })
}
