//! Finds out which handoff a session is given, and makes it fit to be shown. Whatever is wrong with one is a fault beside
//! the context, and never keeps a session from starting.

use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::app::handoff::finish_drafts;
use crate::core::context::receipt::Fault;
use crate::core::handoff::document;
use crate::core::handoff::record::HandoffRecord;
use crate::core::handoff::section;
use crate::core::handoff::{Document, HandoffId, HandoffSection, ListedFile};
use crate::core::project::Project;
use crate::core::session::Moment;
use crate::core::settings::HandoffSettings;
use crate::core::time::Timestamp;
use crate::store::handoff_files::HandoffFiles;
use crate::store::state::{
    Actor, CLOCKS_DIFFER_MS, HandoffChoice, HandoffQuery, HandoffRequest, State, StateError, Token,
};
use crate::system::breakpoint;
use crate::system::clock;
use crate::system::listed_files::{self, Limits};
use crate::system::process::identity::Process;
use crate::workspace::Place;

/// Another process that is writing the state is waited for this long by who only looks.
const LOOK_PATIENCE: Duration = Duration::from_millis(100);
/// Listed files on a network that does not answer are done without after this long.
const FILES_PATIENCE: Duration = Duration::from_millis(150);
/// So many handoffs that are of no use are passed over.
const MAX_UNUSABLE: usize = 8;
/// How much of listed files is read.
pub(crate) const LIMITS: Limits = Limits { per_file: 32 * 1024, in_all: 256 * 1024 };

/// What a session is told about handoffs, and what was wrong with some.
#[derive(Debug, Clone, Default)]
pub struct SessionHandoff {
    /// What it is told.
    pub section: Option<HandoffSection>,
    /// What was wrong.
    pub faults: Vec<Fault>,
}

/// What a session asks for at a moment.
pub(crate) fn wanted(moment: &Moment) -> HandoffRequest {
    match moment {
        Moment::Start => HandoffRequest::First,
        Moment::Compaction(_) => HandoffRequest::Again,
        Moment::Handoff(_) => HandoffRequest::Since(i64::MIN),
    }
}

/// How old a handoff may be that stays for further sessions.
pub(crate) fn max_age_ms(settings: &HandoffSettings) -> i64 {
    i64::from(settings.max_age_days.value) * 24 * 3_600_000
}

/// Whether sessions are given handoffs here.
fn is_on(settings: &HandoffSettings) -> bool {
    settings.enabled.value && settings.inject_on_start.value
}

/// What a session would be given. Changes nothing.
pub(crate) fn preview_handoff(
    place: &Place,
    session: &str,
    moment: &Moment,
    now: Option<Timestamp>,
) -> SessionHandoff {
    if !place.settings.enabled.value || !is_on(&place.settings.handoff) {
        return SessionHandoff::default();
    }
    let state = match State::look(&place.directories.state, LOOK_PATIENCE) {
        Ok(Some(state)) => state,
        // A state that cannot be used is told of by who writes the receipt.
        Ok(None) | Err(_) => return SessionHandoff::default(),
    };
    let now_ms = now.unwrap_or_else(clock::now).milliseconds();
    let mut asked = Asking { place, session, host: None, now_ms, faults: Vec::new() };
    asked.search(wanted(moment), |asked| state.peek_handoff(asked), |_| Ok(()))
}

/// What a session is given, under its claim.
pub(crate) fn claim_handoff(
    state: &mut State,
    token: Token,
    place: &Place,
    session: &str,
    wanted: HandoffRequest,
    host: Option<Process>,
) -> SessionHandoff {
    if !is_on(&place.settings.handoff) {
        return SessionHandoff::default();
    }
    let now_ms = clock::now().milliseconds();
    let actor = Actor { session: Some(session.to_owned()), now_ms };
    // Nobody else may come before this session does.
    let _ = finish_drafts(state, &place.directories, &place.project.scope, &actor);
    let state = std::cell::RefCell::new(state);
    let mut asking = Asking { place, session, host, now_ms, faults: Vec::new() };
    let loaded = asking.search(
        wanted,
        |asked| state.borrow_mut().load_handoff(asked, token),
        |reason| state.borrow_mut().unload_handoff(token, reason, &actor),
    );
    breakpoint::reach("load:claimed");
    loaded
}

/// A session that asks for a handoff.
struct Asking<'a> {
    place: &'a Place,
    session: &'a str,
    host: Option<Process>,
    now_ms: i64,
    faults: Vec<Fault>,
}

/// Why a document is not given to a session.
enum Refused {
    /// It is of no use; the one before may be.
    Unusable(String),
    /// It is not what it should be: the session starts without any.
    Invalid(String),
}

impl Asking<'_> {
    /// Asks until something can be used.
    fn search(
        &mut self,
        wanted: HandoffRequest,
        ask: impl Fn(&HandoffQuery<'_>) -> Result<HandoffChoice, StateError>,
        give_back: impl Fn(&str) -> Result<(), StateError>,
    ) -> SessionHandoff {
        let mut unusable: Vec<HandoffId> = Vec::new();
        let section = loop {
            let asked = HandoffQuery {
                scope: &self.place.project.scope,
                session: self.session,
                host: self.host,
                wanted,
                max_age_ms: max_age_ms(&self.place.settings.handoff),
                now_ms: self.now_ms,
                unusable: &unusable,
            };
            let record = match ask(&asked) {
                Ok(HandoffChoice::Given(record) | HandoffChoice::Again(record)) => record,
                Ok(HandoffChoice::TooOld(record)) => break Some(section::too_old(&record)),
                Ok(HandoffChoice::Withheld(record)) => break Some(section::withheld(&record)),
                Ok(HandoffChoice::Misdated(record)) => {
                    self.complain(&record, format!("it is from the future: {}", record.created));
                    break None;
                }
                Ok(HandoffChoice::Nothing) => break None,
                Err(error) => {
                    self.faults.push(Fault::new("handoff", error));
                    break None;
                }
            };
            match self.read(&record) {
                Ok(document) => {
                    let head = &document.head;
                    let files = self.listed(head.specs.clone(), head.files.clone());
                    let handoff = section::prepare(&record, &document, files);
                    break Some(HandoffSection::Handoff(Box::new(handoff)));
                }
                Err(refused) => {
                    let (Refused::Unusable(reason) | Refused::Invalid(reason)) = &refused;
                    self.complain(&record, reason);
                    if let Err(error) = give_back(reason) {
                        self.faults.push(Fault::new("handoff", error));
                        break None;
                    }
                    if matches!(refused, Refused::Invalid(_)) || unusable.len() == MAX_UNUSABLE {
                        break None;
                    }
                    unusable.push(record.id.clone());
                }
            }
        };
        SessionHandoff { section, faults: std::mem::take(&mut self.faults) }
    }

    fn complain(&mut self, record: &HandoffRecord, reason: impl std::fmt::Display) {
        self.faults.push(Fault::new("handoff", format!("{}: {reason}", record.id)));
    }

    /// Reads a document and makes sure that it is the one that is meant.
    fn read(&mut self, record: &HandoffRecord) -> Result<Document, Refused> {
        let files = HandoffFiles::of(&self.place.directories, &record.scope);
        let bytes = files
            .read(&record.id)
            .map_err(|error| Refused::Unusable(format!("it cannot be read: {error}")))?;
        let read =
            document::read(&bytes).map_err(|error| Refused::Unusable(format!("it is {error}")))?;
        if read.is_empty() {
            return Err(Refused::Unusable("it is empty".to_owned()));
        }
        for warning in &read.warnings {
            self.complain(record, warning);
        }
        let head = &read.document.head;
        if !read.is_raw {
            let id = head.id.as_deref().unwrap_or("none");
            if id != record.id.as_str() {
                return Err(Refused::Invalid(format!(
                    "its document has the id {id}; `kgctx handoff reconcile` tells more"
                )));
            }
            match head.created_at {
                Some(at) if at.milliseconds() > self.now_ms + CLOCKS_DIFFER_MS => {
                    return Err(Refused::Invalid(format!("its date is in the future: {at}")));
                }
                Some(_) => {}
                None => return Err(Refused::Invalid("its date is missing or wrong".to_owned())),
            }
        }
        Ok(read.document)
    }

    /// Reads the files that a handoff lists, unless that takes too long.
    fn listed(&mut self, specs: Vec<String>, files: Vec<String>) -> Vec<ListedFile> {
        let Some(root) = root_of_files(&self.place.project) else { return Vec::new() };
        if specs.is_empty() && files.is_empty() {
            return Vec::new();
        }
        let allowed = self.place.settings.handoff.allow.value.clone();
        let (sender, read) = mpsc::channel();
        // Nobody listens any more to who reads for too long.
        thread::spawn(move || {
            drop(sender.send(listed_files::read_listed(&root, &allowed, &specs, &files, LIMITS)));
        });
        read.recv_timeout(FILES_PATIENCE).unwrap_or_else(|_| {
            let reason = "the files that it lists could not be read in time";
            self.faults.push(Fault::new("handoff", reason));
            Vec::new()
        })
    }
}

/// Where listed files are looked for: among those that the session works on.
pub(crate) fn root_of_files(project: &Project) -> Option<PathBuf> {
    project.checkout.clone().or_else(|| project.root.clone())
}
