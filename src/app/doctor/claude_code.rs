//! Claude Code's settings, where they name kgctx or should: nobody else has to hear of it.

use std::path::Path;

use crate::app::doctor::PATIENCE;
use crate::app::install::claude_code::settings_of;
use crate::core::diagnosis::{Check, Verdict};
use crate::core::installation::Scope;
use crate::hosts::claude_code::{EVENTS, SettingsFile};
use crate::store::state::State;
use crate::system::process::find;
use crate::workspace::Surroundings;

const NAME: &str = "claude";

/// The settings of all projects, and of this one.
pub(super) fn settings(surroundings: &Surroundings) -> Vec<Check> {
    let scopes = [(Scope::Global, ""), (Scope::Project, " --project")];
    let check = |(scope, flag)| {
        let file = settings_of(surroundings, scope).ok()?;
        check(surroundings, &file, &format!("run `kgctx install claude-code{flag}`"))
    };
    scopes.into_iter().filter_map(check).collect()
}

fn check(surroundings: &Surroundings, file: &Path, way_out: &str) -> Option<Check> {
    let shown = file.display();
    let was_installed = || {
        let state = State::open_if_there(&surroundings.directories.state, PATIENCE).ok()??;
        state.installation(file).ok()?
    };
    let settings = match SettingsFile::read(file) {
        Ok(settings) => settings,
        Err(error) => {
            return was_installed().map(|_| Check::of_error(NAME, Verdict::Fail, error, way_out));
        }
    };
    let hooks = settings.map(|settings| settings.our_hooks()).unwrap_or_default();
    if hooks.is_empty() {
        let found = format!("{shown} has lost kgctx's hooks");
        let out = format!("{way_out}, or uninstall it there");
        return was_installed().map(|_| Check::warn(NAME, found, out));
    }
    let missing = EVENTS.iter().find(|event| hooks.iter().all(|hook| hook.event != **event));
    if let Some(event) = missing {
        return Some(Check::warn(NAME, format!("{shown} has no hook for {event}"), way_out));
    }
    let is_lost = |program: &str| find::find(program.as_ref(), &surroundings.environment).is_none();
    Some(match hooks.iter().find(|hook| is_lost(&hook.program)) {
        Some(hook) => {
            let found = format!("{shown} runs {}, which is not found", hook.program);
            Check::fail(NAME, found, way_out)
        }
        None => Check::ok(NAME, format!("{shown} runs {}", hooks[0].program)),
    })
}
