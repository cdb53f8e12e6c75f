//! Checks what keeps Claude Code from running hooks that are in its settings.

use std::path::Path;

use crate::app::doctor::host_program;
use crate::app::install::Target;
use crate::app::install::json_hooks::settings_file;
use crate::core::diagnosis::Check;
use crate::core::host::Host;
use crate::core::installation::{Install, JsonHooks, Scope};
use crate::hosts::claude_code::permission::{invalid_switch, is_trusted, off_switch};
use crate::hosts::json_hooks::SettingsFile;
use crate::workspace::Surroundings;

const HOST: Host = Host::ClaudeCode;

pub(super) fn obstacles(
    surroundings: &Surroundings,
    install: &Install,
    hooks: &'static JsonHooks,
) -> Vec<Check> {
    let target = |scope| Target::find(surroundings, HOST, scope).ok();
    let (user, project) = (target(Scope::Global), target(Scope::Project));
    let scopes = [(&user, ""), (&project, " --project")];
    let with_hooks = scopes.into_iter().filter_map(|(target, flag)| {
        let file = settings_file(target.as_ref()?, hooks);
        let settings = SettingsFile::read(&file, hooks).ok()??;
        (!settings.our_hooks().is_empty()).then_some((file, settings, flag))
    });
    let with_hooks: Vec<_> = with_hooks.collect();
    if with_hooks.is_empty() {
        return Vec::new();
    }
    let forms = with_hooks
        .iter()
        .filter(|(_, settings, _)| settings.our_hooks().iter().any(|hook| hook.is_exec))
        .filter_map(|(file, _, flag)| form(surroundings, hooks, file, flag));
    let ignored = with_hooks.iter().filter_map(|(file, ..)| ignored(file));
    // In the order in which they count.
    let local = project.iter().map(|target| target.folder.join(hooks.project_file));
    let shared = project.iter().map(|target| target.folder.join(hooks.user_file));
    let own = user.iter().map(|target| target.folder.join(hooks.user_file));
    let switch = off_switch(&local.chain(shared).chain(own).collect::<Vec<_>>()).map(|switch| {
        let found = format!("{} has {}, so no hook runs", switch.file.display(), switch.name);
        Check::fail(HOST.facts().program, found, format!("remove {} there", switch.name))
    });
    forms.chain(ignored).chain(switch).chain(distrust(surroundings, install)).collect()
}

/// Claude Code ignores the file that has the hooks.
fn ignored(file: &Path) -> Option<Check> {
    let name = invalid_switch(file)?;
    let (file, title) = (file.display(), HOST.facts().title);
    let found = format!(
        "{name} in {file} is neither true nor false, so {title} ignores the file and its hooks"
    );
    Some(Check::fail(HOST.facts().program, found, format!("remove {name} there")))
}

/// The hooks of a file have a form that the installed version does not understand.
fn form(surroundings: &Surroundings, hooks: &JsonHooks, file: &Path, flag: &str) -> Option<Check> {
    let version = host_program::version(&surroundings.environment, HOST)?;
    if version >= hooks.exec_since {
        return None;
    }
    let (title, version) = (HOST.facts().title, host_program::dotted(version));
    let found =
        format!("{title} {version} does not support the form of the hooks in {}", file.display());
    let out = format!("run `kgctx install {HOST}{flag}`, whose hooks work in every version");
    Some(Check::fail(HOST.facts().program, found, out))
}

/// The user has not said that Claude Code may trust this folder.
fn distrust(surroundings: &Surroundings, install: &Install) -> Option<Check> {
    let folder = surroundings.facts.folder.as_path();
    let project = &surroundings.project;
    let places = [Some(folder), project.checkout.as_deref(), project.root.as_deref()];
    let places: Vec<&Path> = places.into_iter().flatten().collect();
    if is_trusted(install, &surroundings.environment, &places)? {
        return None;
    }
    let title = HOST.facts().title;
    // Runs without a window, as by `claude -p`, need no trust.
    let found =
        format!("{title} does not trust {} yet, so it runs no hooks there", folder.display());
    let out = format!("run `{}` there, and confirm that you trust it", HOST.facts().program);
    Some(Check::fail(HOST.facts().program, found, out))
}
