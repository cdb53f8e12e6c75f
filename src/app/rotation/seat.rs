//! Where a session lives, and whether it can go on in a fresh context there.

use std::path::PathBuf;

use crate::app::handoff::{Handoffs, Result};
use crate::app::install::Target;
use crate::app::rotation::request::{UNDER_WAY, no, too_many};
use crate::app::window::pane_here;
use crate::core::host::Host;
use crate::core::installation::{InstallKind, Scope};
use crate::core::rotation::MAX_IN_A_ROW;
use crate::hosts::claude_code::live_session::LiveSession;
use crate::hosts::json_hooks::SettingsFile;
use crate::store::state::Pane;
use crate::system::clock::tick_ms;
use crate::system::environment::Environment;
use crate::system::process::find::find;
use crate::system::process::identity::Process;
use crate::system::tmux;
use crate::workspace::{Request, Surroundings};

/// The settings of an organisation, which can have hooks, too.
const MANAGED: &str = "/etc/claude-code/managed-settings.json";
/// In the shells of an OpenCode whose bridge can go on in a new session: the session.
const BRIDGE_ROTATES: &str = "KGCTX_ROTATES";

/// Whether a session of Claude Code with this environment could be cleared, as far as that is known without asking anybody.
pub(in crate::app) fn can_rotate(place: &Request, environment: &Environment) -> bool {
    let entrypoint = environment.get("CLAUDE_CODE_ENTRYPOINT");
    let is_window = entrypoint.is_none_or(|by| by == "cli");
    is_window && pane_here(environment).is_some() && has_stop_hook(place).unwrap_or(false)
}

impl Handoffs {
    /// Where a session lives, if it can be rotated there.
    pub(super) fn seat(
        &self,
        place: &Request,
        session: &str,
        environment: &Environment,
    ) -> Result<(Host, Process, Option<Pane>)> {
        let is_known = self.state.session_origin(session)?.is_some();
        let process = self.state.session_process(session)?;
        let Some(process) = process.filter(|_| is_known) else {
            return Err(no(format!(
                "there is no live session {session}: its host did not report its start; `kgctx doctor` shows why"
            )));
        };
        if let Some(before) = self.state.rotation_of(session)?
            && before.is_under_way(tick_ms())
        {
            return Err(no(UNDER_WAY));
        }
        if let Some(before) = self.state.rotation_into(session)?
            && !before.is_prompted
            && before.in_a_row >= MAX_IN_A_ROW
        {
            return Err(too_many());
        }
        let has = |name: &str| environment.get(name).is_some();
        if session.starts_with("ses_") {
            let rotates = environment.get(BRIDGE_ROTATES);
            if rotates.is_none_or(|rotates| rotates != session) {
                return Err(no(
                    "the plugin in this OpenCode is older than kgctx and cannot continue in a new session; run `kgctx install opencode` and restart OpenCode",
                ));
            }
            return Ok((Host::Opencode, process, None));
        }
        if !has("CLAUDECODE") && !has("CLAUDE_CODE_SESSION_ID") {
            return Err(no(
                "this host does not support rotation; Claude Code in tmux and OpenCode do",
            ));
        }
        let pane = pane_of(process, environment)?;
        if !has_stop_hook(place)? {
            return Err(no(
                "Claude Code would not report the end of this turn to kgctx; run `kgctx install claude-code --rotation` first",
            ));
        }
        Ok((Host::ClaudeCode, process, Some(pane)))
    }
}

/// The window of a Claude Code, in which keys can be typed.
fn pane_of(process: Process, environment: &Environment) -> Result<Pane> {
    let variable = |name: &str| environment.get(name).and_then(|value| value.to_str());
    if let Some(other) = variable("CLAUDE_CODE_ENTRYPOINT").filter(|by| *by != "cli") {
        return Err(no(format!(
            "this Claude Code was not started in a terminal ({other}), and kgctx can clear it only there"
        )));
    }
    if !tmux::IS_POSSIBLE {
        return Err(no(
            "Claude Code can be cleared only in tmux, which Windows does not have; clear it yourself, after `kgctx handoff create`",
        ));
    }
    let Some(pane) = pane_here(environment) else {
        return Err(no(
            "Claude Code can be cleared only in tmux; start it there, for example with `tmux new claude`",
        ));
    };
    if find("tmux".as_ref(), environment).is_none() {
        return Err(no(
            "tmux is not on the PATH of this session; start Claude Code with a PATH that has it",
        ));
    }
    let id = &pane.id;
    match tmux::pane_process(&pane.socket, id) {
        Some(in_pane) if process.is_within(in_pane) => {}
        Some(_) => {
            return Err(no(format!("this session does not run in the tmux pane {id}")));
        }
        None => {
            return Err(no(format!(
                "tmux does not find the pane {id} of this session; `tmux list-panes -a` lists all panes"
            )));
        }
    }
    match LiveSession::of(process, environment) {
        Some(live) if live.tells() => Ok(pane),
        _ => Err(no(
            "this Claude Code does not report whether it is idle, so kgctx cannot type into it; update it",
        )),
    }
}

/// Whether Claude Code tells kgctx of the end of a turn, by any of its settings.
fn has_stop_hook(place: &Request) -> Result<bool> {
    let surroundings = Surroundings::find(place)?;
    let Some(install) = &Host::ClaudeCode.facts().install else { return Ok(false) };
    let InstallKind::JsonHooks(hooks) = &install.kind else { return Ok(false) };
    let folders = [Scope::Global, Scope::Project].into_iter().filter_map(|scope| {
        Some(Target::find(&surroundings, Host::ClaudeCode, scope).ok()?.folder)
    });
    let files = folders
        .flat_map(|folder| [hooks.user_file, hooks.project_file].map(|name| folder.join(name)));
    let has_hook = |file: PathBuf| {
        SettingsFile::read(&file, hooks).ok().flatten().is_some_and(|file| file.has_rotation())
    };
    Ok(files.chain([PathBuf::from(MANAGED)]).any(has_hook))
}
