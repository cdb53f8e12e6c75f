//! OpenCode itself: its program, its plugins, its server.

use std::error::Error;

use tokio::runtime::Builder;

use crate::app::doctor::PATIENCE;
use crate::app::install::{VERSION, plugins_of};
use crate::core::diagnosis::{Check, Verdict};
use crate::core::time_limits;
use crate::hosts::opencode::plugins::Found;
use crate::hosts::opencode::{Health, OpencodeServer, ServerAddress};
use crate::system::environment::Environment;
use crate::system::process::find;
use crate::workspace::Surroundings;

/// The oldest and the newest OpenCode that the bridge was tried with.
const OLDEST_TRIED: [u64; 3] = [1, 15, 13];
const NEWEST_TRIED: [u64; 3] = [1, 18, 33];

/// Which OpenCode there is, and whether the bridge was tried with it.
pub(super) fn program(environment: &Environment) -> Check {
    let name = "opencode";
    let named = environment.get("OPENCODE_BIN").map_or("opencode".as_ref(), |bin| bin.as_os_str());
    let Some(file) = find::find(named, environment) else {
        let found = format!("{} is not found", named.to_string_lossy());
        return Check::warn(name, found, "install OpenCode, or set OPENCODE_BIN to where it is");
    };
    let shown = file.display();
    let quiet = [("OPENCODE_DISABLE_AUTOUPDATE", "1")];
    let said = match find::version(&file, &quiet, PATIENCE) {
        Ok(said) => said,
        Err(error) => {
            return Check::warn(name, format!("{shown}: {error}"), "install OpenCode again");
        }
    };
    let tried = format!("{} to {}", dotted(OLDEST_TRIED), dotted(NEWEST_TRIED));
    match version_numbers(&said) {
        None => Check::warn(
            name,
            format!("{shown} says {said:?}, which is no version"),
            format!("use OpenCode {tried}"),
        ),
        Some(version) if version < OLDEST_TRIED => Check::warn(
            name,
            format!("{said}, {shown}: older than what the bridge was tried with"),
            format!("update OpenCode: {tried} were tried"),
        ),
        Some(version) if version[0] > NEWEST_TRIED[0] => Check::warn(
            name,
            format!("{said}, {shown}: plugins of OpenCode 1 may not be loaded"),
            format!("use OpenCode {tried}, or update kgctx"),
        ),
        Some(version) if version > NEWEST_TRIED => {
            Check::ok(name, format!("{said}, {shown} (newer than what was tried, {tried})"))
        }
        Some(_) => Check::ok(name, format!("{said}, {shown}")),
    }
}

/// A running server, as who does without the bridge needs it.
pub(super) fn server(url: &str, environment: &Environment) -> Check {
    let name = "server";
    let refused = |error: &dyn Error| {
        Check::of_error(name, Verdict::Fail, error, "write it like http://127.0.0.1:4096")
    };
    let address: ServerAddress = match url.parse() {
        Ok(address) => address,
        Err(error) => return refused(&error),
    };
    let credentials = address.credentials(environment);
    let server = OpencodeServer::new(address, credentials, time_limits::DOCTOR_SERVER);
    let runtime = match Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return refused(&error),
    };
    let health = runtime.block_on(server.health());
    // A host's name that is still being looked up keeps nobody waiting.
    runtime.shutdown_background();
    let address = server.address();
    match health {
        Ok(Health { healthy: true, version }) => {
            Check::ok(name, format!("OpenCode {version} at {address}"))
        }
        Ok(_) => {
            let found = format!("OpenCode at {address} says that it is not well");
            Check::fail(name, found, "start it again, and look into its log")
        }
        Err(error) => refused(&error),
    }
}

fn version_numbers(text: &str) -> Option<[u64; 3]> {
    let mut numbers = text.trim_start_matches('v').split(['.', '-', '+']).map(str::parse);
    Some([numbers.next()?.ok()?, numbers.next()?.ok()?, numbers.next()?.ok()?])
}

fn dotted(version: [u64; 3]) -> String {
    version.map(|number| number.to_string()).join(".")
}

/// The bridge, which should be there once, and of this version.
pub(super) fn plugins(surroundings: &Surroundings) -> Vec<Check> {
    let found = plugins_of(surroundings);
    let is_bridge = |found: &&Found| matches!(found, Found::Bridge { .. } | Found::Package { .. });
    let n_bridges = found.iter().filter(is_bridge).count();
    let mut checks: Vec<Check> = found.iter().map(plugin).collect();
    if n_bridges == 0 {
        let found = "OpenCode has no plugin of kgctx here";
        checks.insert(0, Check::fail("plugin", found, "run `kgctx install opencode`"));
    } else if n_bridges > 1 {
        let found = format!("it is there {n_bridges} times: harmless, since only one acts");
        let out = "`kgctx uninstall opencode`, with or without --project, removes one";
        checks.push(Check::warn("plugin", found, out));
    }
    checks
}

fn plugin(found: &Found) -> Check {
    let name = "plugin";
    match found {
        Found::Bridge { file, copy } => {
            let file = file.display();
            let out =
                "run `kgctx install opencode`, or with --project, which puts this version there";
            match &copy.version {
                _ if copy.is_original => Check::ok(name, format!("{VERSION}, {file}")),
                Some(version) if version == VERSION => {
                    Check::warn(name, format!("{version}, {file}: it was edited"), out)
                }
                version => {
                    let version = version.as_deref().unwrap_or("no version");
                    let found = format!("{version}, {file}: this is kgctx {VERSION}");
                    Check::warn(name, found, out)
                }
            }
        }
        Found::Package { name: package, named_in } => {
            Check::ok(name, format!("the package {package}, named in {}", named_in.display()))
        }
        Found::Stranger { file } => Check::warn(
            name,
            format!("{} is not kgctx's own", file.display()),
            "move it away if it is not meant to be there",
        ),
        Found::Unclear { file, reason } => Check::warn(
            name,
            format!("{} cannot be understood: {reason}", file.display()),
            "correct it: OpenCode may refuse it, too",
        ),
    }
}

/// Whether OpenCode loads plugins at all.
pub(super) fn plugins_allowed(environment: &Environment) -> Check {
    let name = "plugins";
    let pure = environment.get("OPENCODE_PURE").map(|value| value.to_string_lossy());
    match pure.as_deref() {
        None | Some("0" | "false") => Check::ok(name, "OpenCode may load them"),
        Some(value) => Check::warn(
            name,
            format!("OPENCODE_PURE={value} keeps OpenCode from loading any"),
            "unset OPENCODE_PURE where OpenCode is started",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_programs_say_them() {
        let check = |text, expected| assert_eq!(version_numbers(text), expected, "{text}");
        check("1.18.33", Some([1, 18, 33]));
        check("v1.2.27", Some([1, 2, 27]));
        check("2.0.0-beta.1", Some([2, 0, 0]));
        check("0.0.0+local", Some([0, 0, 0]));
        for text in ["", "1.18", "opencode", "1.x.3"] {
            check(text, None);
        }
    }
}
