//! Makes a session's context: the whole path on one screen.

use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use crate::app::deadline::Deadline;
use crate::app::gather::{Gathered, Unfinished, gather};
use crate::app::recorder::{Recorder, Recording};
use crate::app::session::Session;
use crate::app::session_handoff::{self, SessionHandoff};
use crate::core::context::build::{Context, ContextRequest, build};
use crate::core::context::found::{Found, FoundNote};
use crate::core::context::rank::Ranking;
use crate::core::context::receipt::{Fault, FoundRef, Injection, Receipt, Stage};
use crate::core::handoff::HandoffSection;
use crate::core::settings::Origin;
use crate::core::source::Source;
use crate::core::text::for_model;
use crate::core::time::Timespan;
use crate::core::time_limits;
use crate::core::tokens::encoding::Encoding;
use crate::sources::maenifold;
use crate::system::clock;
use crate::system::process::detach;
pub use crate::system::process::identity::peak_memory;
use crate::workspace::{AppError, Place, Request};

/// Makes a session's context. Delivers nothing. Only wrong usage or configuration is an error: whatever else goes
/// wrong is a fault in the receipt.
pub fn inject(session: &Session, recording: Recording) -> Result<Injection, AppError> {
    let mut deadline = Deadline::start(time_limits::CONTEXT, session.within);
    let ranking = Ranking::default();
    let (is_kept, mut recorder) = match recording {
        Recording::New => (true, None),
        Recording::UnderClaim(state, token) => (true, Some(Recorder::under_claim(state, token))),
        Recording::Off => (false, None),
    };
    let mut loaded = session.handoff.clone();
    let draft = |place: &Place, found: &Found| {
        if is_kept && recorder.is_none() && place.settings.enabled.value {
            recorder = Some(Recorder::open(place));
        }
        let loaded = loaded.get_or_insert_with(|| {
            session_handoff::preview_handoff(place, &session.id, &session.moment, session.now)
        });
        Draft::make(session, ranking, Some(place), found, loaded.section.as_ref())
    };
    let gathered = gather(session, ranking, &mut deadline, draft)?;
    if let (true, Some(place)) = (gathered.has_program_failed, &gathered.place) {
        maenifold::remember_failure(place);
    }
    let Gathered { place, found, source, draft, faults, stages, unfinished, .. } = gathered;
    let loaded = match (loaded, &place) {
        (Some(loaded), _) => loaded,
        (None, Some(place)) => {
            session_handoff::preview_handoff(place, &session.id, &session.moment, session.now)
        }
        (None, None) => SessionHandoff::default(),
    };
    let Draft { context, took } = match draft {
        Some(draft) => draft,
        None => Draft::make(session, ranking, place.as_ref(), &found, loaded.section.as_ref()),
    };
    let Context { text, used, parts, entries } = context;
    let settings = place.as_ref().map(|place| &place.settings);
    let good_until = found.recent.iter().map(|note| note.modified.after(Timespan::DAY)).min();
    let mut receipt = Receipt {
        session: session.id.clone(),
        moment: session.moment.clone(),
        project: place.as_ref().and_then(|place| place.project.name.clone()),
        project_key: place.as_ref().map_or_else(String::new, |place| place.project.key.clone()),
        at: session.now.unwrap_or_else(clock::now),
        delivered: false,
        host: session.host,
        ranking,
        encoding: encoding(place.as_ref()),
        source,
        budget: session.budget_in(place.as_ref()),
        handoff: loaded.section,
        used,
        sha256: hexadecimal(&Sha256::digest(text.as_bytes())),
        parts,
        found: found_notes(found),
        entries,
        faults,
        stages,
    };
    receipt.faults.extend(loaded.faults);
    if let Some(omitted) = receipt.omitted_handoff() {
        let reason = format!("{}: there is no room for it; it waits on", omitted.id);
        receipt.faults.push(Fault::new("handoff", reason));
    }
    receipt.faults.extend(place.iter().flat_map(|place| place.faults.iter().cloned()));
    if let Some(setting) = settings.map(|settings| &settings.enabled).filter(|on| !on.value) {
        receipt.faults.push(switched_off(&setting.origin));
    }
    if let Some(unfinished) = unfinished {
        let Request { dir, vaults, .. } = &session.place;
        let has_memory = unfinished == Unfinished::All;
        let is_started = detach::index(dir.as_deref(), vaults, has_memory).is_ok();
        // Who was told everything by maenifold's program misses nothing.
        let is_missed = receipt.source.as_ref().is_none_or(|by| by.source != Source::Cli);
        if is_started && is_missed {
            receipt.faults.push(Fault::new("index", "a process of its own goes on with it"));
        }
    }
    receipt.stages.push(Stage::new("pack", took));
    receipt.stages.push(Stage::new("all", deadline.elapsed()));
    let mut id = None;
    if is_kept && let Some(place) = place.filter(|place| place.settings.enabled.value) {
        let recorder = recorder.unwrap_or_else(|| Recorder::open(&place));
        (receipt, id) = recorder.record(receipt, deadline.left());
    }
    Ok(Injection { text, id, good_until, receipt })
}

/// A context that will be the one, if nothing has changed.
struct Draft {
    context: Context,
    took: Duration,
}

impl Draft {
    fn make(
        session: &Session,
        ranking: Ranking,
        place: Option<&Place>,
        found: &Found,
        handoff: Option<&HandoffSection>,
    ) -> Draft {
        let started = Instant::now();
        let request = ContextRequest {
            project: place.and_then(|place| place.project.name.as_deref()),
            handoff,
            ranking,
            encoding: encoding(place),
            budget: session.budget_in(place),
        };
        let context = build(&request, found);
        Draft { context, took: started.elapsed() }
    }
}

fn encoding(place: Option<&Place>) -> Encoding {
    place.map_or_else(Encoding::default, |place| place.settings.encoding.value)
}

fn found_notes(found: Found) -> Vec<FoundRef> {
    let notes = found.search.into_iter().chain(found.recent);
    let found = |FoundNote { signal, uri, .. }: FoundNote| FoundRef {
        signal,
        uri: for_model::one_line(&uri),
    };
    notes.map(found).collect()
}

fn switched_off(origin: &Origin) -> Fault {
    Fault::new("settings", format!("context is switched off by {origin}"))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
