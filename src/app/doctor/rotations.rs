//! Checks what a rotation in Claude Code needs, and rotations that need a person.

use crate::app::install::Target;
use crate::app::install::json_hooks::settings_file;
use crate::app::window::pane_here;
use crate::core::diagnosis::Check;
use crate::core::host::Host;
use crate::core::installation::{InstallKind, Scope};
use crate::core::rotation::RotationState;
use crate::core::time_limits;
use crate::hosts::claude_code::live_session::LiveSession;
use crate::hosts::json_hooks::SettingsFile;
use crate::store::state::State;
use crate::system::process::find::find;
use crate::system::process::identity::Process;
use crate::system::tmux;
use crate::workspace::Surroundings;

const NAME: &str = "rotation";

pub(super) fn look(surroundings: &Surroundings) -> Vec<Check> {
    let needs = is_installed(surroundings).then(|| needs(surroundings));
    needs.into_iter().chain(stuck(surroundings)).collect()
}

/// A rotation that is stuck.
fn stuck(surroundings: &Surroundings) -> Option<Check> {
    // An unusable state has its own check.
    let folder = &surroundings.directories.state;
    let state = State::look(folder, time_limits::DOCTOR).ok()??;
    let open = state.unfinished_rotations().ok()?;
    let stuck = open.iter().find(|rotation| rotation.state == RotationState::Stuck)?;
    let why = stuck.reason.as_deref().unwrap_or("for an unknown reason");
    let found = format!("the rotation of session {} is stuck: {why}", stuck.session);
    Some(Check::warn(NAME, found, "`kgctx handoff rotate --status` shows what to do"))
}

/// Whether Claude Code tells kgctx of the end of a turn, by the settings that `kgctx install` writes.
fn is_installed(surroundings: &Surroundings) -> bool {
    let install = Host::ClaudeCode.facts().install.as_ref();
    let Some(InstallKind::JsonHooks(hooks)) = install.map(|install| &install.kind) else {
        return false;
    };
    [Scope::Global, Scope::Project].into_iter().any(|scope| {
        let target = Target::find(surroundings, Host::ClaudeCode, scope).ok();
        let file = target.map(|target| settings_file(&target, hooks));
        let settings = file.and_then(|file| SettingsFile::read(&file, hooks).ok().flatten());
        settings.is_some_and(|settings| settings.has_rotation())
    })
}

/// tmux, and where this runs in a session of Claude Code, its window and what it says of itself.
fn needs(surroundings: &Surroundings) -> Check {
    let environment = &surroundings.environment;
    if find("tmux".as_ref(), environment).is_none() {
        let found = "tmux is not on the PATH, and Claude Code can be cleared only there";
        return Check::warn(NAME, found, "install tmux, or put it on the PATH");
    }
    if environment.get("CLAUDECODE").is_none() {
        return Check::ok(
            NAME,
            "tmux is there; run this in a session of Claude Code to check its window",
        );
    }
    let restart = "start Claude Code in tmux, for example with `tmux new claude`";
    let Some(pane) = pane_here(environment) else {
        return Check::warn(NAME, "this Claude Code does not run in tmux", restart);
    };
    let Some(started) = tmux::pane_process(&pane.socket, &pane.id) else {
        return Check::warn(
            NAME,
            format!("tmux does not find the pane {} of this session", pane.id),
            restart,
        );
    };
    let host = Process::host().filter(|host| host.is_within(started));
    let Some(host) = host else {
        let found = format!("this session does not run in the tmux pane {}", pane.id);
        return Check::warn(NAME, found, restart);
    };
    match LiveSession::of(host, environment) {
        Some(live) if live.tells() => Check::ok(
            NAME,
            format!(
                "tmux shows this session in pane {}, and Claude Code reports its status",
                pane.id
            ),
        ),
        _ => Check::warn(NAME, "this Claude Code does not report whether it is idle", "update it"),
    }
}
