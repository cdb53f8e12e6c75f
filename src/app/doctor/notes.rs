//! Checks the path from the settings through vaults and index to a context.

use std::path::Path;

use crate::app::inject::inject;
use crate::app::recorder::Recording;
use crate::app::session::Session;
use crate::core::context::receipt::{Fault, FaultSource, Receipt};
use crate::core::diagnosis::{Check, Verdict};
use crate::core::host::Host;
use crate::core::note::vault::Vault;
use crate::core::settings::{Origin, Settings};
use crate::core::source::SourceChoice;
use crate::core::text::number::{counted, thousands};
use crate::core::time_limits;
use crate::store::index::{Index, IndexError, Unusable};
use crate::store::state::State;
use crate::system::directories::Directories;
use crate::system::folders;
use crate::system::within::within;
use crate::workspace::refresh::{Listed, list};
use crate::workspace::{AppError, Place, Request, Workspace};

/// The name of the settings check, and of the same faults in a receipt.
const SETTINGS: &str = "settings";
const CONTEXT: &str = "context";

/// Runs all checks. Skips those that depend on a failed one.
pub(super) fn all(request: &Request, place: Place) -> Vec<Check> {
    let mut checks = settings(&place);
    checks.push(enabled(&place));
    let mut can_try = place.settings.enabled.value;
    let Directories { cache, state: state_folder, .. } = place.directories.clone();
    let (workspace, errors) = Workspace::open_reachable(place, Some(time_limits::DOCTOR));
    checks.extend(vaults(workspace.as_ref(), &errors));
    can_try &= workspace.is_some();
    checks.extend(workspace.map(|workspace| index(workspace, &cache)));
    checks.push(state(&state_folder));
    if can_try {
        checks.extend(trial(request));
    }
    checks
}

fn settings(place: &Place) -> Vec<Check> {
    let out = "correct it; docs/configuration.md lists all settings";
    let remark = |remark: &Fault| Check::of_error(SETTINGS, Verdict::Warn, &remark.reason, out);
    let remarks = place.remarks.iter().map(remark);
    if place.faults.is_empty() {
        let name = place.project.name.as_ref();
        let project = name.map_or("no project".to_owned(), |name| format!("project {name}"));
        let tokens = thousands(place.settings.token_limit.value);
        let readable = Check::ok(SETTINGS, format!("readable, {project}, {tokens} tokens"));
        return std::iter::once(readable).chain(remarks).collect();
    }
    let check = |fault: &Fault| Check::of_error(SETTINGS, Verdict::Fail, &fault.reason, out);
    place.faults.iter().map(check).chain(remarks).collect()
}

fn enabled(place: &Place) -> Check {
    if place.closed.is_some() {
        let found = "sessions get no context: the settings do not say clearly what may be sent";
        return Check::fail("enabled", found, "correct what the line above names");
    }
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
        let vault = |vault: &Vault| {
            let place = listed(vault, &workspace.settings);
            match vault.style.program() {
                Some(program) => format!("{place} ({program})"),
                None => place,
            }
        };
        let vaults: Vec<String> = workspace.vaults.iter().map(vault).collect();
        let found = format!("{}: {}", counted(vaults.len(), "folder"), vaults.join(", "));
        checks.insert(0, Check::ok("vaults", found));
    }
    checks
}

/// A vault, and why it is one.
fn listed(vault: &Vault, settings: &Settings) -> String {
    let spec = settings.vaults.iter().rev().find(|spec| spec.value.name == vault.name);
    let because = match spec.map(|spec| &spec.origin) {
        Some(Origin::Default) if vault.is_flat => "notes at the project's top".to_owned(),
        Some(Origin::Default) if vault.name.is_empty() => "maenifold's memory".to_owned(),
        Some(Origin::Default) => "a usual place".to_owned(),
        Some(origin) => format!("from {origin}"),
        None => String::new(),
    };
    format!("{} ({because})", vault.root.display())
}

/// Reports the index. Checking whether it is up to date lists all notes, which can hang.
fn index(workspace: Workspace, cache: &Path) -> Check {
    let name = "index";
    if !folders::is_writable(cache) {
        let found =
            format!("{} cannot be written, so every session makes its own", cache.display());
        return Check::warn(name, found, "set KGCTX_HOME to a folder that you may write to");
    }
    let check = within(time_limits::DOCTOR, move || match workspace.last_index() {
        Ok(index) => {
            usable(&index, &list(&workspace)).unwrap_or_else(|error| unusable(&error.into()))
        }
        Err(Unusable::Missing) => Check::ok(name, "none yet; the first context makes it"),
        Err(Unusable::Outdated) => {
            Check::ok(name, "of another version or other settings; the next context makes it anew")
        }
        Err(error) => unusable(&error),
    });
    check.unwrap_or_else(|| {
        let found = "the notes cannot be looked through in time";
        Check::warn(name, found, "is a vault on a network, or very large? name other folders")
    })
}

fn usable(index: &Index, listed: &Listed<'_>) -> Result<Check, IndexError> {
    let n_notes = index.totals()?.notes as usize;
    let is_current = index.is_current(&listed.listings)?;
    let is = if is_current { "up to date" } else { "to be brought up to date" };
    let found = format!("{}, {is}", counted(n_notes, "note"));
    Ok(match index.n_undated()? {
        0 => Check::ok("index", found),
        n_undated => {
            let why = "git did not say when they were committed";
            let out = "see that `git log` works in their folders (in a shallow clone, run \
                       `git fetch --unshallow`), then run `kgctx index --full`";
            let found =
                format!("{found}; of unknown age, so taken for old: {n_undated}, because {why}");
            Check::warn("index", found, out)
        }
    })
}

fn unusable(error: &Unusable) -> Check {
    Check::of_error("index", Verdict::Warn, error, "run `kgctx index --full`, which makes it anew")
}

/// Looks through the whole state.
fn state(folder: &Path) -> Check {
    if !folders::is_writable(folder) {
        let found = format!("{} cannot be written: sessions get no handoffs", folder.display());
        return Check::warn("state", found, "set KGCTX_HOME to a folder that you may write to");
    }
    let n_receipts = State::look(folder, time_limits::DOCTOR).and_then(|state| {
        let look = |state: State| state.examine().and_then(|()| state.n_receipts());
        state.map(look).transpose()
    });
    match n_receipts {
        Ok(None) => Check::ok("state", "none yet; the first context makes it"),
        Ok(Some(n)) => Check::ok("state", counted(n as usize, "receipt")),
        // Sessions also get their context without a receipt. Most errors name the way out.
        Err(error) => {
            let out = "check the file and the disk; until then sessions get notes and no handoffs";
            Check::of_error("state", Verdict::Warn, error, out)
        }
    }
}

/// Builds a context as a session would get it, without a receipt.
fn trial(request: &Request) -> Vec<Check> {
    let mut session = Session::new("doctor", request.clone(), Host::Opencode);
    session.within = Some(time_limits::HOOK);
    let receipt = match inject(&session, Recording::Off) {
        Ok(injection) => injection.receipt,
        Err(error) => return vec![Check::of_error(CONTEXT, Verdict::Fail, error, "correct it")],
    };
    let source = receipt.source.as_ref().map(|SourceChoice { source, because }| {
        Check::ok("source", format!("{source}: {because}"))
    });
    let context = made(&receipt).unwrap_or_else(|| empty(request));
    source.into_iter().chain([context]).collect()
}

/// Reports a context without any text.
fn empty(request: &Request) -> Check {
    let place = Place::find(request).ok();
    let index = place
        .and_then(|place| Workspace::open_reachable(place, Some(time_limits::DOCTOR)).0)
        .and_then(|workspace| workspace.last_index().ok());
    let n_notes = index.and_then(|index| index.totals().ok()).map_or(0, |totals| totals.notes);
    if n_notes == 0 {
        let found = "empty: there is no note in these folders";
        return Check::warn(CONTEXT, found, "write one, or name a folder of notes with [[vault]]");
    }
    let found = format!("empty, although the index has {}", counted(n_notes as usize, "note"));
    let out = "raise token_limit, or leave out `rank`; `kgctx explain --dry-run` tells more";
    Check::warn(CONTEXT, found, out)
}

/// Reports the result of a trial; `None` if it is empty for no known reason.
fn made(receipt: &Receipt) -> Option<Check> {
    let ms = receipt.stages.iter().find(|stage| stage.name == "all").map_or(0.0, |stage| stage.ms);
    let made = format!(
        "{} of {} tokens in {ms:.0} ms",
        thousands(receipt.used.tokens as i64),
        thousands(receipt.budget.tokens as i64)
    );
    // The faults of the settings have their own check.
    let faults = receipt.faults.iter().filter(|fault| fault.source != FaultSource::Settings);
    let faults: Vec<String> =
        faults.map(|Fault { source, reason }| format!("{source}: {reason}")).collect();
    if !faults.is_empty() {
        let faults = faults.join(" | ");
        let out = "correct it, or run this again if it was busy; sessions get what there is";
        return Some(Check::warn(CONTEXT, format!("{made}, but {faults}"), out));
    }
    (receipt.used.tokens > 0).then(|| Check::ok(CONTEXT, made))
}
