//! Checks everything between the notes and a session, with hints. Changes nothing, except that the
//! trial updates the index, as every context does.

mod handoffs;
mod host_program;
mod json_hooks;
mod notes;
mod opencode_server;
mod plugin_file;

use crate::app::install::VERSION;
use crate::core::diagnosis::{Check, Diagnosis};
use crate::core::host::Host;
use crate::core::installation::InstallKind;
use crate::core::named::Named;
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
    let plugin_hosts = Host::ALL.iter().filter(|host| host.plugin().is_some());
    checks.extend(plugin_hosts.map(|host| host_program::kgctx(&surroundings, *host)));
    let handoffs = handoffs::look(&place);
    checks.extend(notes::all(&request, place));
    checks.extend(handoffs);
    checks.extend(Host::ALL.iter().flat_map(|host| host_checks(&surroundings, *host)));
    let environment = &surroundings.environment;
    checks.extend(servers.iter().map(|url| opencode_server::server(url, environment)));
    Ok(checks.into())
}

/// Checks a host that kgctx supports.
fn host_checks(surroundings: &Surroundings, host: Host) -> Vec<Check> {
    let environment = &surroundings.environment;
    let mut checks = Vec::from_iter(host_program::host_program(environment, host));
    let Some(install) = &host.facts().install else { return checks };
    match &install.kind {
        InstallKind::JsonHooks(hooks) => {
            checks.extend(json_hooks::settings(surroundings, host, hooks));
        }
        InstallKind::PluginFile(plugin) => {
            checks.extend(plugin_file::plugins(surroundings, host, install, plugin));
            checks.push(plugin_file::plugins_allowed(environment, host, plugin.off_switch));
        }
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
