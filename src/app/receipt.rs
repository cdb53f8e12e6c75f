//! Assembles a context's receipt.

use sha2::{Digest, Sha256};

use crate::app::draft::{counts_uncommitted, encoding};
use crate::app::gather::{Gathered, UnfinishedIndex};
use crate::app::session::Session;
use crate::app::session_handoff::SessionHandoff;
use crate::core::context::build::Context;
use crate::core::context::found::{Found, FoundNote};
use crate::core::context::receipt::{Fault, FaultSource, FoundRef, Injection, Receipt};
use crate::core::context::uncommitted::steered;
use crate::core::text::for_model;
use crate::core::time::{Timespan, Timestamp};
use crate::system::clock;
use crate::system::process::detach;
use crate::workspace::{Place, Request};

/// Assembles a context and its receipt, and has an unfinished index finished. Does not record the receipt.
pub(super) fn assemble(
    session: &Session,
    gathered: Gathered,
    context: Context,
    handoff: SessionHandoff,
) -> Injection {
    let Context { text, used, parts, entries } = context;
    let Gathered { place, found, source, is_from_slow_source, faults, stages, unfinished, .. } =
        gathered;
    let at = session.now.unwrap_or_else(clock::now);
    let place = place.as_ref();
    // A slow source can give another answer next time.
    let good_until = if is_from_slow_source { Some(at) } else { good_until(&found) };
    let found = if counts_uncommitted(place) { steered(&found).unwrap_or(found) } else { found };
    let mut receipt = Receipt {
        session: session.id.clone(),
        moment: session.moment.clone(),
        project: place.and_then(|place| place.project.name.clone()),
        project_key: place.map_or_else(String::new, |place| place.project.key.clone()),
        at,
        delivered: false,
        host: session.host,
        ranking: session.ranking_in(place),
        encoding: encoding(place),
        source,
        budget: session.budget_in(place),
        kept_tokens: session.kept_in(place),
        is_prompted: session.prompt.is_some(),
        handoff: handoff.section,
        used,
        sha256: Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect(),
        parts,
        found: references(found),
        entries,
        uncommitted: None,
        faults,
        stages,
    };
    receipt.faults.extend(handoff.faults);
    if let Some(omitted) = receipt.omitted_handoff() {
        let reason = format!("{}: there is no room for it; it still waits", omitted.id);
        receipt.faults.push(Fault::new(FaultSource::Handoff, reason));
    }
    receipt.faults.extend(place.into_iter().flat_map(faults_of));
    if let Some(unfinished) = unfinished {
        // Nothing of a slow source's answer is missing without the index.
        let fault = finish_index(session, unfinished).filter(|_| !is_from_slow_source);
        receipt.faults.extend(fault);
    }
    Injection { text, id: None, good_until, receipt }
}

/// The first time at which a recent note is no longer recent.
fn good_until(found: &Found) -> Option<Timestamp> {
    found.recent.iter().map(|note| note.modified.after(Timespan::DAY)).min()
}

/// The notes that speak for candidates of other names. Ranked notes are candidates themselves.
fn references(found: Found) -> Vec<FoundRef> {
    let notes = found.search.into_iter().chain(found.recent);
    let reference = |FoundNote { signal, uri, .. }: FoundNote| FoundRef {
        signal,
        uri: for_model::one_line(&uri),
    };
    notes.map(reference).collect()
}

/// The faults of a place's settings.
fn faults_of(place: &Place) -> Vec<Fault> {
    let mut faults = [&place.faults[..], &place.remarks].concat();
    let enabled = &place.settings.enabled;
    if !enabled.value && place.closed.is_none() {
        let reason = format!("context is switched off by {}", enabled.origin);
        faults.push(Fault::new(FaultSource::Settings, reason));
    }
    faults
}

/// Starts another process to finish the index, and reports that.
fn finish_index(session: &Session, unfinished: UnfinishedIndex) -> Option<Fault> {
    let Request { dir, vaults, .. } = &session.place;
    detach::index(dir.as_deref(), vaults, unfinished.covers_all).ok()?;
    Some(Fault::new(FaultSource::Index, "a separate process continues with it"))
}
