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
use crate::store::index::Unusable;
use crate::store::state::State;
use crate::system::within::within;
use crate::workspace::refresh::list;
use crate::workspace::{AppError, Place, Request, Workspace};

/// The name of the settings check, and of the same faults in a receipt.
const SETTINGS: &str = "settings";

/// Runs all checks. Skips those that depend on a failed one.
pub(super) fn all(request: &Request, place: Place) -> Vec<Check> {
    let mut checks = settings(&place);
    checks.push(enabled(&place));
    let mut can_try = place.settings.enabled.value;
    let state_folder = place.directories.state.clone();
    let (workspace, errors) = Workspace::open_reachable(place, Some(time_limits::DOCTOR));
    checks.extend(vaults(workspace.as_ref(), &errors));
    can_try &= workspace.is_some();
    checks.extend(workspace.map(index));
    checks.push(state(&state_folder));
    if can_try {
        checks.extend(trial(request));
    }
    checks
}

fn settings(place: &Place) -> Vec<Check> {
    let out = "correct it; README.md lists all settings";
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
fn index(workspace: Workspace) -> Check {
    let name = "index";
    let check = within(time_limits::DOCTOR, move || match workspace.last_index() {
        Ok(index) => {
            let n_notes = index.totals().map(|totals| totals.notes);
            match (n_notes, index.is_current(&list(&workspace).listings)) {
                (Ok(n_notes), Ok(is_current)) => {
                    let is = if is_current { "up to date" } else { "to be brought up to date" };
                    Check::ok(name, format!("{}, {is}", counted(n_notes as usize, "note")))
                }
                (Err(error), _) | (_, Err(error)) => unusable(&error.into()),
            }
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

fn unusable(error: &Unusable) -> Check {
    Check::of_error("index", Verdict::Warn, error, "run `kgctx index --full`, which makes it anew")
}

fn state(folder: &Path) -> Check {
    let n_receipts = State::look(folder, time_limits::DOCTOR)
        .and_then(|state| state.map(|state| state.n_receipts()).transpose());
    match n_receipts {
        Ok(None) => Check::ok("state", "none yet; the first context makes it"),
        Ok(Some(n)) => Check::ok("state", counted(n as usize, "receipt")),
        // Sessions also get their context without a receipt.
        Err(error) => Check::of_error("state", Verdict::Warn, error, "check the file and the disk"),
    }
}

/// Builds a context as a session would get it, without a receipt.
fn trial(request: &Request) -> Vec<Check> {
    let name = "context";
    let mut session = Session::new("doctor", request.clone(), Host::Opencode);
    session.within = Some(time_limits::HOOK);
    let receipt = match inject(&session, Recording::Off) {
        Ok(injection) => injection.receipt,
        Err(error) => return vec![Check::of_error(name, Verdict::Fail, error, "correct it")],
    };
    let source = receipt.source.as_ref().map(|SourceChoice { source, because }| {
        Check::ok("source", format!("{source}: {because}"))
    });
    source.into_iter().chain([made(&receipt)]).collect()
}

/// Reports the result of a trial.
fn made(receipt: &Receipt) -> Check {
    let name = "context";
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
        return Check::warn(name, format!("{made}, but {faults}"), out);
    }
    if receipt.used.tokens == 0 {
        let found = "empty: no note speaks of this project, and none is of the last 24 hours";
        return Check::warn(name, found, "write a note, or name a folder of notes with [[vault]]");
    }
    Check::ok(name, made)
}
