//! Checks everything between the notes and a session, and says what to do about what is wrong. Changes
//! nothing, except that the trial brings the index up to date, as every context does.

mod claude_code;
mod handoffs;
mod notes;
mod opencode;

use std::time::Duration;

use crate::app::install::{VERSION, program_of_bridge};
use crate::core::diagnosis::{Check, Diagnosis};
use crate::core::settings::Origin;
use crate::system::process::find;
use crate::workspace::{AppError, Place, Request, Strictness, Surroundings};

/// A vault, a program or another process that takes longer is named, and not waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// Checks the set-up of a place, and a server where one is named, here or in the settings.
pub fn diagnose(request: &Request, named_server: Option<&str>) -> Result<Diagnosis, AppError> {
    // As for a session: a wrong setting does not keep the rest from being looked at.
    let request = Request { strictness: Strictness::Lenient, ..request.clone() };
    let surroundings = Surroundings::find(&request)?;
    let environment = &surroundings.environment;
    let place = Place::find(&request)?;
    let servers = servers(&place, named_server);
    let mut checks = vec![this_program(), bridge_program(&surroundings)];
    let handoffs = handoffs::look(&place);
    checks.extend(notes::all(&request, place));
    checks.extend(handoffs);
    checks.push(opencode::program(environment));
    checks.extend(opencode::plugins(&surroundings));
    checks.push(opencode::plugins_allowed(environment));
    checks.extend(claude_code::settings(&surroundings));
    checks.extend(servers.iter().map(|url| opencode::server(url, environment)));
    Ok(checks.into())
}

/// The servers to look at: that which nobody named need not be there.
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

/// The program that the bridge starts, which need not be this one.
fn bridge_program(surroundings: &Surroundings) -> Check {
    let name = "program";
    let named = surroundings.environment.get("KGCTX_BIN");
    let by = if named.is_some() { "KGCTX_BIN" } else { "PATH" };
    let this = find::this().unwrap_or_default();
    let this = this.display();
    let Some(file) = program_of_bridge(surroundings) else {
        let found = match named {
            Some(named) => format!("KGCTX_BIN is {}, which is no program", named.to_string_lossy()),
            None => "OpenCode would not find kgctx on the PATH".to_owned(),
        };
        let out = format!("put it on the PATH, or set KGCTX_BIN={this} where OpenCode is started");
        return Check::fail(name, found, out);
    };
    let shown = file.display();
    match find::version(&file, &[], PATIENCE) {
        Ok(said) if said == format!("kgctx {VERSION}") => {
            Check::ok(name, format!("OpenCode starts {shown}, by {by}"))
        }
        Ok(said) => Check::warn(
            name,
            format!(
                "OpenCode starts {shown}, by {by}, which says {said:?} and not kgctx {VERSION}"
            ),
            format!("update it, or set KGCTX_BIN={this} where OpenCode is started"),
        ),
        Err(error) => Check::fail(
            name,
            format!("OpenCode starts {shown}, by {by}, but {error}"),
            format!("install it again, or set KGCTX_BIN={this} where OpenCode is started"),
        ),
    }
}
