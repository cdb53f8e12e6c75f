//! Makes a session's context: the whole path on one screen.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use crate::app::deadline::Deadline;
use crate::app::gather::{Gathered, Unfinished, gather, stage_of};
use crate::app::load::{self, Loaded};
use crate::core::context::budget::{Budget, Host};
use crate::core::context::candidate::{Candidate, FoundNote};
use crate::core::context::compose::compose;
use crate::core::context::pack::{Packed, Packing, pack};
use crate::core::context::receipt::{self, Entry, Fault, Injection, Ranking, Receipt};
use crate::core::handoff::Legacy;
use crate::core::session::Moment;
use crate::core::settings::Origin;
use crate::core::source::Source;
use crate::core::text::for_model;
use crate::core::time::{Timespan, Timestamp};
use crate::core::tokens::encoding::Encoding;
use crate::sources::maenifold;
use crate::sources::questions::{self, Found};
use crate::store::state::{State, StateError, Token};
use crate::system::clock;
use crate::system::process::detach;
pub use crate::system::process::identity::peak_memory;
use crate::workspace::settings::DEFAULT_DEADLINE_MS;
use crate::workspace::{AppError, Place, Request};

/// Another process that is writing a receipt is waited for this long.
const RECEIPT_PATIENCE: Duration = Duration::from_millis(100);

/// A session that is to be given its context.
#[derive(Debug, Clone)]
pub struct Session {
    /// Its name.
    pub id: String,
    /// The moment at which it is given context.
    pub moment: Moment,
    /// Where it runs.
    pub place: Request,
    /// In which host.
    pub host: Host,
    /// How many tokens it may get, if not as many as the settings say.
    pub budget: Option<usize>,
    /// The moment that counts as now.
    pub now: Option<Timestamp>,
    /// How long it may take at most, if not as long as the settings say.
    pub within: Option<Duration>,
    /// Whether somebody watches the vaults and vouches that the index is up to date.
    pub is_watched: bool,
    /// What was left for it.
    pub handoff: LeftBehind,
}

/// What was left for a session.
#[derive(Debug, Clone)]
pub enum LeftBehind {
    /// This, claimed or not: whoever claimed it sees to what becomes of it.
    Known(Loaded),
    /// Whatever it would be given now.
    Unknown,
}

/// What becomes of the receipt.
pub enum Keep {
    /// It is written down.
    Receipt,
    /// It is written down here, under the claim that was made.
    Under(State, Token),
    /// Nothing is.
    Nothing,
}

/// Makes a session's context. Delivers nothing. Only wrong usage or configuration is an error: whatever else goes
/// wrong is a fault in the receipt.
pub fn inject(session: &Session, keep: Keep) -> Result<Injection, AppError> {
    let mut deadline = Deadline::start(Duration::from_millis(DEFAULT_DEADLINE_MS), session.within);
    let ranking = Ranking::default();
    let (is_kept, mut recorder) = match keep {
        Keep::Receipt => (true, None),
        Keep::Under(state, token) => (true, Some(Recorder::start(Some(token), move || Ok(state)))),
        Keep::Nothing => (false, None),
    };
    let mut loaded = match &session.handoff {
        LeftBehind::Known(loaded) => Some(loaded.clone()),
        LeftBehind::Unknown => None,
    };
    let draft = |place: &Place, found: &Found| {
        if is_kept && recorder.is_none() && place.settings.enabled.value {
            recorder = Some(Recorder::opening(place));
        }
        let loaded = loaded.get_or_insert_with(|| load::peek(place, session));
        Draft::make(session, ranking, Some(place), found, loaded.legacy.as_ref())
    };
    let gathered = gather(session, ranking, &mut deadline, draft)?;
    if let (true, Some(place)) = (gathered.has_program_failed, &gathered.place) {
        maenifold::remember_failure(place);
    }
    let Gathered { place, found, source, draft, faults, stages, unfinished, .. } = gathered;
    let loaded = match (loaded, &place) {
        (Some(loaded), _) => loaded,
        (None, Some(place)) => load::peek(place, session),
        (None, None) => Loaded::default(),
    };
    let Draft { candidates, packed, took } = match draft {
        Some(draft) => draft,
        None => Draft::make(session, ranking, place.as_ref(), &found, loaded.legacy.as_ref()),
    };
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
        budget: budget(session, place.as_ref()),
        handoff: loaded.legacy,
        used: packed.used,
        sha256: hexadecimal(&Sha256::digest(packed.text.as_bytes())),
        parts: packed.parts,
        found: found_notes(found),
        entries: Vec::new(),
        faults,
        stages,
    };
    receipt.entries = candidates
        .into_iter()
        .zip(packed.shown)
        .map(|(candidate, shown)| Entry { candidate, shown })
        .collect();
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
    receipt.stages.push(stage_of("pack", took));
    receipt.stages.push(stage_of("all", deadline.elapsed()));
    let mut id = None;
    if is_kept && let Some(place) = place.filter(|place| place.settings.enabled.value) {
        let recorder = recorder.unwrap_or_else(|| Recorder::opening(&place));
        (receipt, id) = recorder.record(receipt, deadline.left());
    }
    Ok(Injection { text: packed.text, id, good_until, receipt })
}

/// A context that will be the one, if nothing has changed.
struct Draft {
    candidates: Vec<Candidate>,
    packed: Packed,
    took: Duration,
}

impl Draft {
    fn make(
        session: &Session,
        ranking: Ranking,
        place: Option<&Place>,
        found: &Found,
        handoff: Option<&Legacy>,
    ) -> Draft {
        let started = Instant::now();
        let Found { search, recent, details } = found;
        let ranked = questions::best(ranking, search.iter().chain(recent));
        let candidates = compose(&ranked, recent, details);
        let packed = pack(&Packing {
            encoding: encoding(place),
            budget: budget(session, place),
            project: place.and_then(|place| place.project.name.as_deref()),
            handoff,
            candidates: &candidates,
        });
        Draft { candidates, packed, took: started.elapsed() }
    }
}

fn encoding(place: Option<&Place>) -> Encoding {
    place.map_or_else(Encoding::default, |place| place.settings.encoding.value)
}

pub(super) fn budget(session: &Session, place: Option<&Place>) -> Budget {
    let limit = place.map_or(0, |Place { settings, .. }| match session.moment {
        Moment::Start => settings.token_limit.value as usize,
        Moment::Compaction(_) | Moment::Handoff(_) => {
            settings.compaction_token_limit.value as usize
        }
    });
    session.host.budget(session.budget.unwrap_or(limit))
}

fn found_notes(found: Found) -> Vec<receipt::Found> {
    let notes = found.search.into_iter().chain(found.recent);
    let found = |FoundNote { signal, uri, .. }: FoundNote| receipt::Found {
        signal,
        uri: for_model::one_line(&uri),
    };
    notes.map(found).collect()
}

fn switched_off(origin: &Origin) -> Fault {
    Fault::new("settings", format!("context is switched off by {origin}"))
}

/// Writes a receipt, in a thread that opens the state while the context is still being made. Gives up when time
/// does: a context without a receipt is better than none.
struct Recorder {
    receipts: Sender<Arc<Receipt>>,
    written: Receiver<Result<i64, String>>,
}

impl Recorder {
    fn opening(place: &Place) -> Recorder {
        let folder = place.directories.state.clone();
        Recorder::start(None, move || State::open(&folder, RECEIPT_PATIENCE))
    }

    fn start(
        claim: Option<Token>,
        open: impl FnOnce() -> Result<State, StateError> + Send + 'static,
    ) -> Recorder {
        let (receipts, to_write) = mpsc::channel::<Arc<Receipt>>();
        let (sender, written) = mpsc::channel();
        thread::spawn(move || {
            let mut state = open();
            let Ok(receipt) = to_write.recv() else { return };
            let written = match &mut state {
                Ok(state) => state.record(&receipt, claim).map_err(|error| error.to_string()),
                Err(error) => Err(error.to_string()),
            };
            // Given back first, so that the other one need not copy it; told before the database is closed, for which
            // nobody needs to wait.
            drop(receipt);
            let _ = sender.send(written);
        });
        Recorder { receipts, written }
    }

    /// Returns the receipt, and its number if it was written.
    fn record(self, receipt: Receipt, left: Duration) -> (Receipt, Option<i64>) {
        let started = Instant::now();
        let receipt = Arc::new(receipt);
        let _ = self.receipts.send(Arc::clone(&receipt));
        let written = match self.written.recv_timeout(left) {
            Ok(written) => written,
            Err(_) => Err("it could not be written in time".to_owned()),
        };
        let mut receipt = Arc::unwrap_or_clone(receipt);
        receipt.stages.push(stage_of("receipt", started.elapsed()));
        match written {
            Ok(id) => (receipt, Some(id)),
            Err(reason) => {
                receipt.faults.push(Fault::new("receipt", reason));
                (receipt, None)
            }
        }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
