//! Checks everything between the notes and an OpenCode session, and says what to do about what is wrong. Changes
//! nothing, except that the trial brings the index up to date, as every context does.

use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::adapters::environment::Environment;
use crate::adapters::index::Unusable;
use crate::adapters::opencode::plugins::Found;
use crate::adapters::program;
use crate::adapters::settings;
use crate::adapters::state::State;
use crate::app::inject::{Keep, Session, inject};
use crate::app::install::{VERSION, plugins_of, program_of_bridge};
use crate::app::refresh::list;
use crate::app::workspace::{AppError, Place, Request, Surroundings, Workspace};
use crate::domain::budget::Host;
use crate::domain::diagnosis::{Check, Diagnosis, Verdict};
use crate::domain::number::thousands;
use crate::domain::receipt::Fault;

/// A vault, a program or another process that takes longer is named, and not waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// The bridge waits this long for kgctx before a prompt goes without context.
const BRIDGE_WAITS_MS: f64 = 1_400.0;
/// The oldest and the newest OpenCode that the bridge was tried with.
const OLDEST_TRIED: [u64; 3] = [1, 15, 13];
const NEWEST_TRIED: [u64; 3] = [1, 18, 33];

/// Checks the set-up of a place.
pub fn diagnose(request: &Request) -> Result<Diagnosis, AppError> {
    let surroundings = Surroundings::find(request)?;
    let mut checks = vec![this_program(), bridge_program(&surroundings)];
    checks.extend(notes(request, &surroundings));
    checks.push(opencode(&surroundings.environment));
    checks.extend(plugins(&surroundings));
    checks.push(plugins_allowed(&surroundings.environment));
    Ok(checks.into())
}

fn this_program() -> Check {
    let file = program::this().map(|file| format!(", {}", file.display()));
    Check::ok("kgctx", format!("{VERSION}{}", file.unwrap_or_default()))
}

/// The program that the bridge starts, which need not be this one.
fn bridge_program(surroundings: &Surroundings) -> Check {
    let name = "program";
    let named = surroundings.environment.get("KGCTX_BIN");
    let by = if named.is_some() { "KGCTX_BIN" } else { "PATH" };
    let this = program::this().unwrap_or_default();
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
    match program::version(&file, &[], PATIENCE) {
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

/// From the settings to a context. What cannot be told because something before it is wrong is left out.
fn notes(request: &Request, surroundings: &Surroundings) -> Vec<Check> {
    let problems = settings::problems(surroundings.sources(request));
    let place = Place::find(request);
    let (Ok(place), true) = (place, problems.is_empty()) else {
        let out = "correct it; README.md lists all settings";
        let check = |problem| Check::of_error("settings", Verdict::Fail, problem, out);
        let mut checks: Vec<Check> = problems.into_iter().map(check).collect();
        checks.push(state(&surroundings.directories.state));
        return checks;
    };
    let mut checks = vec![Check::ok("settings", settings_found(&place)), enabled(&place)];
    let mut can_try = place.settings.enabled.value;
    let (workspace, errors) = Workspace::open_what_answers(place, Some(PATIENCE));
    checks.extend(vaults(workspace.as_ref(), &errors));
    can_try &= workspace.is_some();
    checks.extend(workspace.map(index));
    checks.push(state(&surroundings.directories.state));
    if can_try {
        checks.push(trial(request));
    }
    checks
}

fn settings_found(place: &Place) -> String {
    let project = match &place.project.name {
        Some(name) => format!("project {name}"),
        None => "no project".to_owned(),
    };
    format!("readable, {project}, {} tokens", thousands(place.settings.token_limit.value))
}

fn enabled(place: &Place) -> Check {
    let enabled = &place.settings.enabled;
    if enabled.value {
        return Check::ok("enabled", "sessions get context");
    }
    let origin = &enabled.origin;
    let found = format!("sessions get no context: it is switched off by {origin}");
    Check::warn("enabled", found, format!("set enabled = true, or correct {origin}"))
}

fn vaults(workspace: Option<&Workspace>, errors: &[AppError]) -> Vec<Check> {
    let verdict = if workspace.is_some() { Verdict::Warn } else { Verdict::Fail };
    let out = "check the folder, or leave it out of the settings";
    let check = |error| Check::of_error("vaults", verdict, error, out);
    let mut checks: Vec<Check> = errors.iter().map(check).collect();
    if let Some(workspace) = workspace {
        let vaults: Vec<String> =
            workspace.vaults.iter().map(|vault| vault.root.display().to_string()).collect();
        let n = vaults.len();
        let s = if n == 1 { "" } else { "s" };
        checks.insert(0, Check::ok("vaults", format!("{n} folder{s}: {}", vaults.join(", "))));
    }
    checks
}

/// The index as it was left. Whether it is up to date is told by a look at all notes, which may hang.
fn index(workspace: Workspace) -> Check {
    let name = "index";
    let (sender, looked) = mpsc::channel();
    thread::spawn(move || {
        let check = match workspace.last_index() {
            Ok(index) => {
                let n_notes = index.totals().map(|totals| totals.notes);
                match (n_notes, index.is_current(&list(&workspace).listings)) {
                    (Ok(n_notes), Ok(is_current)) => {
                        let s = if n_notes == 1 { "" } else { "s" };
                        let is = if is_current { "up to date" } else { "to be brought up to date" };
                        Check::ok(name, format!("{} note{s}, {is}", thousands(n_notes)))
                    }
                    (Err(error), _) | (_, Err(error)) => unusable(&error.into()),
                }
            }
            Err(Unusable::Missing) => Check::ok(name, "none yet; the first context makes it"),
            Err(Unusable::Outdated) => Check::ok(
                name,
                "of another version or other settings; the next context makes it anew",
            ),
            Err(error) => unusable(&error),
        };
        // Nobody listens any more when it took too long.
        let _ = sender.send(check);
    });
    looked.recv_timeout(PATIENCE).unwrap_or_else(|_| {
        let found = "the notes cannot be looked through in time";
        Check::warn(name, found, "is a vault on a network, or very large? name other folders")
    })
}

fn unusable(error: &Unusable) -> Check {
    Check::of_error("index", Verdict::Warn, error, "run `kgctx index --full`, which makes it anew")
}

fn state(folder: &Path) -> Check {
    let n_receipts = State::look(folder, PATIENCE)
        .and_then(|state| state.map(|state| state.n_receipts()).transpose());
    match n_receipts {
        Ok(None) => Check::ok("state", "none yet; the first context makes it"),
        Ok(Some(n)) => {
            let s = if n == 1 { "" } else { "s" };
            Check::ok("state", format!("{} receipt{s}", thousands(n)))
        }
        // Sessions get their context without a receipt, too.
        Err(error) => Check::of_error("state", Verdict::Warn, error, "check the file and the disk"),
    }
}

/// Makes a context as a session would get it, and keeps no receipt.
fn trial(request: &Request) -> Check {
    let name = "context";
    let session = Session {
        id: "doctor".to_owned(),
        place: request.clone(),
        host: Host::Opencode,
        budget: None,
        now: None,
    };
    let receipt = match inject(&session, Keep::Nothing) {
        Ok(injection) => injection.receipt,
        Err(error) => return Check::of_error(name, Verdict::Fail, error, "correct it"),
    };
    let ms = receipt.stages.iter().find(|stage| stage.name == "all").map_or(0.0, |stage| stage.ms);
    let made = format!(
        "{} of {} tokens in {ms:.0} ms",
        thousands(receipt.used.tokens as i64),
        thousands(receipt.budget.tokens as i64)
    );
    if !receipt.faults.is_empty() {
        let faults =
            receipt.faults.iter().map(|Fault { source, reason }| format!("{source}: {reason}"));
        let faults = faults.collect::<Vec<_>>().join(" | ");
        let out = "correct it, or run this again if it was busy; sessions get what there is";
        return Check::warn(name, format!("{made}, but {faults}"), out);
    }
    if ms > BRIDGE_WAITS_MS {
        let found = format!("{made}, for which the bridge does not wait");
        return Check::warn(name, found, "set deadline_ms = 1000, or use fewer notes");
    }
    if receipt.used.tokens == 0 {
        let found = "empty: no note speaks of this project, and none is of the last 24 hours";
        return Check::warn(name, found, "write a note, or name a folder of notes with [[vault]]");
    }
    Check::ok(name, made)
}

fn opencode(environment: &Environment) -> Check {
    let name = "opencode";
    let named = environment.get("OPENCODE_BIN").map_or("opencode".as_ref(), |bin| bin.as_os_str());
    let Some(file) = program::find(named, environment) else {
        let found = format!("{} is not found", named.to_string_lossy());
        return Check::warn(name, found, "install OpenCode, or set OPENCODE_BIN to where it is");
    };
    let shown = file.display();
    let quiet = [("OPENCODE_DISABLE_AUTOUPDATE", "1")];
    let said = match program::version(&file, &quiet, PATIENCE) {
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

fn version_numbers(text: &str) -> Option<[u64; 3]> {
    let mut numbers = text.trim_start_matches('v').split(['.', '-', '+']).map(str::parse);
    Some([numbers.next()?.ok()?, numbers.next()?.ok()?, numbers.next()?.ok()?])
}

fn dotted(version: [u64; 3]) -> String {
    version.map(|number| number.to_string()).join(".")
}

/// The bridge, which should be there once, and of this version.
fn plugins(surroundings: &Surroundings) -> Vec<Check> {
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

fn plugins_allowed(environment: &Environment) -> Check {
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
