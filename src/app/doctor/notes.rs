//! Checks the path from the settings through vaults and index to a context.

use std::path::Path;

use crate::app::doctor::unread;
use crate::app::inject::inject;
use crate::app::recorder::Recording;
use crate::app::session::Session;
use crate::core::context::receipt::{Fault, FaultSource, Receipt};
use crate::core::diagnosis::{Check, Verdict};
use crate::core::host::Host;
use crate::core::note::Remark;
use crate::core::note::vault::Vault;
use crate::core::settings::Settings;
use crate::core::source::SourceChoice;
use crate::core::text::number::{counted, thousands};
use crate::core::time_limits;
use crate::store::index::{Index, IndexError, Unusable};
use crate::store::state::State;
use crate::system::directories::Directories;
use crate::system::folders;
use crate::system::within::within;
use crate::workspace::refresh::{Listed, list};
use crate::workspace::{AppError, Place, Request, Workspace, because};

/// The name of the settings check, and of the same faults in a receipt.
const SETTINGS: &str = "settings";
const CONTEXT: &str = "context";

/// Runs all checks. Skips those that depend on a failed one.
pub(super) fn all(request: &Request, place: Place) -> Vec<Check> {
    let mut checks = settings(&place);
    checks.push(enabled(&place));
    let mut can_try = place.settings.enabled.value;
    let Directories { cache, state: state_folder, .. } = place.directories.clone();
    let top = place.project.notes_root.clone();
    let (workspace, errors) = Workspace::open_reachable(place, Some(time_limits::DOCTOR));
    checks.extend(vaults(workspace.as_ref(), &errors));
    let opened = workspace.as_ref().map_or(&[][..], |workspace| &workspace.vaults);
    checks.extend(top.and_then(|top| unread::check(&top, opened)));
    can_try &= workspace.is_some();
    checks.extend(workspace.into_iter().flat_map(|workspace| index(workspace, &cache)));
    checks.push(state(&state_folder));
    if can_try {
        checks.extend(trial(request));
    }
    checks
}

fn settings(place: &Place) -> Vec<Check> {
    let out = "fix it; `kgctx config` lists all settings";
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
        let found = "sessions get no context: the settings do not clearly say what may be sent";
        return Check::fail("enabled", found, "fix the problem in the line above");
    }
    let enabled = &place.settings.enabled;
    if enabled.value {
        return Check::ok("enabled", "sessions get context");
    }
    let origin = &enabled.origin;
    let found = format!("sessions get no context: {origin} switches it off");
    Check::warn("enabled", found, format!("set enabled = true, or change {origin}"))
}

fn vaults(workspace: Option<&Workspace>, errors: &[AppError]) -> Vec<Check> {
    let verdict = if workspace.is_some() { Verdict::Warn } else { Verdict::Fail };
    let out = "check the folder, or remove it from the settings";
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
    format!("{} ({})", vault.root.display(), spec.map(because).unwrap_or_default())
}

/// Reports the index. Checking whether it is up to date lists all notes, which can hang.
fn index(workspace: Workspace, cache: &Path) -> Vec<Check> {
    let name = "index";
    if !folders::is_writable(cache) {
        let found =
            format!("{} cannot be written, so every session builds its own", cache.display());
        return vec![Check::warn(name, found, "set KGCTX_HOME to a folder that you can write to")];
    }
    let checks = within(time_limits::DOCTOR, move || match workspace.last_index() {
        Ok(index) => {
            let checks = usable(&index, &list(&workspace));
            checks.unwrap_or_else(|error| vec![unusable(&error.into())])
        }
        Err(Unusable::Missing) => vec![Check::ok(name, "none yet; the first context creates it")],
        Err(Unusable::Outdated) => {
            let found =
                "made by another version or with other settings; the next context rebuilds it";
            vec![Check::ok(name, found)]
        }
        Err(error) => vec![unusable(&error)],
    });
    checks.unwrap_or_else(|| {
        let found = "the notes cannot be listed in time";
        let out = "if a vault is on a network or very large, name other folders";
        vec![Check::warn(name, found, out)]
    })
}

fn usable(index: &Index, listed: &Listed<'_>) -> Result<Vec<Check>, IndexError> {
    let n_notes = index.totals()?.notes as usize;
    let is_current = index.is_current(&listed.listings)?;
    let is = if is_current { "up to date" } else { "out of date" };
    let found = format!("{}, {is}", counted(n_notes, "note"));
    let state = match index.n_undated()? {
        0 => Check::ok("index", found),
        n_undated => {
            let why = "git did not report when they were committed";
            let out = "make sure that `git log` works in their folders (in a shallow clone, run `git fetch \
                --unshallow`), then run `kgctx index --full`";
            let found =
                format!("{found}; {n_undated} of unknown age, treated as old, because {why}");
            Check::warn("index", found, out)
        }
    };
    Ok(std::iter::once(state).chain(pointers(index)?).collect())
}

/// Reports notes whose text is not there.
fn pointers(index: &Index) -> Result<Option<Check>, IndexError> {
    let remarks = index.remarks()?;
    let n_pointers = remarks.iter().filter(|(.., remarks)| remarks.has(Remark::Pointer)).count();
    Ok((n_pointers > 0).then(|| {
        let pointers = counted(n_pointers, "Git LFS pointer");
        let found = format!("{pointers} in place of notes, whose text is not checked out");
        Check::warn("index", found, "run `git lfs pull` in their repository")
    }))
}

fn unusable(error: &Unusable) -> Check {
    Check::of_error("index", Verdict::Warn, error, "run `kgctx index --full`, which rebuilds it")
}

/// Looks through the whole state.
fn state(folder: &Path) -> Check {
    if !folders::is_writable(folder) {
        let found = format!("{} cannot be written: sessions get no handoffs", folder.display());
        return Check::warn("state", found, "set KGCTX_HOME to a folder that you can write to");
    }
    let n_receipts = State::look(folder, time_limits::DOCTOR).and_then(|state| {
        let look = |state: State| state.examine().and_then(|()| state.n_receipts());
        state.map(look).transpose()
    });
    match n_receipts {
        Ok(None) => Check::ok("state", "none yet; the first context creates it"),
        Ok(Some(n)) => Check::ok("state", counted(n as usize, "receipt")),
        // Sessions also get their context without a receipt. Most errors name the way out.
        Err(error) => {
            let out = "check the file and the disk; until then sessions get notes but no handoffs";
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
    let chosen = receipt.source.as_ref().filter(|choice| choice.is_choice());
    let source = chosen.map(|SourceChoice { source, because }| {
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
        return Check::warn(
            CONTEXT,
            found,
            "write one, or add a folder of notes: `kgctx vault add FOLDER`",
        );
    }
    let found = format!("empty, although the index has {}", counted(n_notes as usize, "note"));
    let out = "raise token_limit, or remove `rank`; `kgctx explain --dry-run` shows more";
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
        let out = "fix it, or run this again if it was busy; sessions get the rest";
        return Some(Check::warn(CONTEXT, format!("{made}, but {faults}"), out));
    }
    (receipt.used.tokens > 0).then(|| Check::ok(CONTEXT, made))
}
