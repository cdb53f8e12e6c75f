//! Checks everything between the notes and a session, with hints. Changes nothing, except that the
//! trial updates the index, as every context does.

mod bundle;
mod claude_code;
pub(super) mod handoff_stores;
mod handoffs;
pub(super) mod host_program;
pub(super) mod host_use;
mod json_hooks;
mod notes;
mod opencode_server;
mod plugin_file;
mod rotations;
mod summariser;
pub(crate) mod unread;

use crate::app::doctor::host_use::HostUse;
use crate::app::install::VERSION;
use crate::core::diagnosis::{Check, Diagnosis};
use crate::core::host::Host;
use crate::core::installation::{Install, InstallKind};
use crate::core::settings::Origin;
use crate::system::process::find;
use crate::workspace::{AppError, Place, Request, Surroundings};

/// Checks the setup of a place, and the servers that are named here or in the settings.
pub fn diagnose(request: &Request, named_server: Option<&str>) -> Result<Diagnosis, AppError> {
    // Lenient, as for a session: an invalid setting must not prevent the other checks.
    let request = Request { is_lenient: true, ..request.clone() };
    let surroundings = Surroundings::find(&request)?;
    let place = Place::find(&request)?;
    let servers = servers(&place, named_server);
    let mut checks = vec![this_program()];
    let hosts = host_use::all(&surroundings);
    let is_judged = |host_use: &HostUse| *host_use == HostUse::Judged;
    let with_plugin =
        hosts.iter().filter(|(host, _, host_use)| is_judged(host_use) && host.plugin().is_some());
    checks.extend(with_plugin.map(|(host, ..)| host_program::kgctx(&surroundings, *host)));
    let handoffs = handoffs::look(&place);
    let other_handoffs = handoff_stores::look(&place);
    let summariser = summariser::look(&place, &surroundings.environment);
    checks.extend(notes::all(&request, place));
    checks.extend(handoffs);
    checks.extend(other_handoffs);
    checks.extend(rotations::look(&surroundings));
    checks.extend(summariser);
    if !hosts.iter().any(|(.., host_use)| is_judged(host_use)) {
        checks.push(host_use::none_used());
    }
    for (host, install, host_use) in &hosts {
        match host_use::unjudged(*host, host_use) {
            Some(line) => checks.push(line),
            None => checks.extend(host_checks(&surroundings, *host, install)),
        }
    }
    let environment = &surroundings.environment;
    checks.extend(servers.iter().map(|url| opencode_server::server(url, environment)));
    Ok(checks.into())
}

/// Checks a host that is set up, or should be.
fn host_checks(surroundings: &Surroundings, host: Host, install: &'static Install) -> Vec<Check> {
    let environment = &surroundings.environment;
    let mut checks = Vec::from_iter(host_program::host_program(environment, host));
    match &install.kind {
        InstallKind::JsonHooks(hooks) => {
            checks.extend(json_hooks::settings(surroundings, host, hooks));
            checks.extend(claude_code::obstacles(surroundings, install, hooks));
        }
        InstallKind::PluginFile(plugin) => {
            checks.extend(plugin_file::plugins(surroundings, host, install, plugin));
            checks.push(plugin_file::plugins_allowed(environment, host, plugin.off_switch));
        }
        InstallKind::Bundle(bundle) => checks.extend(bundle::all(surroundings, host, bundle)),
    }
    checks
}

/// The servers to check. Skips the default one, which need not run.
fn servers(place: &Place, named: Option<&str>) -> Vec<String> {
    let configured = &place.settings.servers;
    match named {
        Some(url) => vec![url.to_owned()],
        None if configured.origin == Origin::Default => Vec::new(),
        None => configured.value.clone(),
    }
}

fn this_program() -> Check {
    let file = find::this().map(|file| format!(", {}", file.display()));
    Check::ok("kgctx", format!("{VERSION}{}", file.unwrap_or_default()))
}
