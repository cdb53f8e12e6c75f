//! The handoff of a session that starts or continues: previews or claims it, reads it, and prepares
//! it. A broken handoff is a fault beside the context, and never prevents a session from starting.

use std::path::PathBuf;

use crate::app::session::Session;
use crate::core::context::receipt::{Fault, FaultSource};
use crate::core::handoff::choice::{HandoffChoice, HandoffQuery, HandoffRequest};
use crate::core::handoff::expiry::is_in_future;
use crate::core::handoff::life::Actor;
use crate::core::handoff::record::HandoffRecord;
use crate::core::handoff::section;
use crate::core::handoff::{
    Consume, Document, HandoffId, HandoffSection, Head, ListedFile, Status,
};
use crate::core::project::Project;
use crate::core::session::Moment;
use crate::core::settings::HandoffSettings;
use crate::core::time::Timestamp;
use crate::core::time_limits;
use crate::store::handoff_files::HandoffFiles;
use crate::store::state::{State, StateError, Token};
use crate::system::breakpoint;
use crate::system::clock;
use crate::system::listed_files::{self, Limits};
use crate::system::process::identity::Process;
use crate::system::within::within;
use crate::workspace::Place;

/// The number of unusable handoffs to skip before giving up.
const MAX_UNUSABLE: usize = 8;
/// How much of the listed files is read.
pub(crate) const LIMITS: Limits = Limits { per_file: 32 * 1024, in_all: 256 * 1024 };

/// A context's handoff section, and the faults of handoffs that the session did not get.
#[derive(Debug, Clone, Default)]
pub struct SessionHandoff {
    pub section: Option<HandoffSection>,
    pub faults: Vec<Fault>,
}

/// The handoff request of a moment; `None` if no handoff goes with it.
pub(crate) fn request_at(moment: &Moment) -> Option<HandoffRequest> {
    match moment {
        Moment::Start => Some(HandoffRequest::First),
        Moment::Compaction(_) => Some(HandoffRequest::Again),
        Moment::Handoff(_) => Some(HandoffRequest::Since(i64::MIN)),
        Moment::Prompt => None,
    }
}

pub(crate) fn is_on(settings: &HandoffSettings) -> bool {
    settings.enabled.value && settings.inject_on_start.value
}

/// The handoff that a session would get. Changes nothing. An error if the state is unusable.
pub(crate) fn preview_handoff(
    place: &Place,
    session: &Session,
) -> Result<SessionHandoff, StateError> {
    let request = request_at(&session.moment).filter(|_| is_on(&place.settings.handoff));
    let Some(request) = request.filter(|_| place.settings.enabled.value) else {
        return Ok(SessionHandoff::default());
    };
    let folder = &place.directories.state;
    let Some(mut state) = State::look(folder, time_limits::HANDOFF_STATE)? else {
        return Ok(SessionHandoff::default());
    };
    let now_ms = session.now.unwrap_or_else(clock::now).milliseconds();
    let state = &mut state;
    let search = HandoffSearch { state, place, session, now_ms, claim: None, faults: Vec::new() };
    Ok(search.run(request))
}

/// Claims the handoff of a session in the process `host`, under the session's claim.
pub(crate) fn claim_handoff(
    state: &mut State,
    token: Token,
    place: &Place,
    session: &Session,
    request: HandoffRequest,
    host: Option<Process>,
) -> SessionHandoff {
    let settings = &place.settings.handoff;
    // A rotation was asked for in the session itself.
    let is_wanted = matches!(request, HandoffRequest::Rotated) && settings.enabled.value;
    if !is_wanted && !is_on(settings) {
        return SessionHandoff::default();
    }
    let now_ms = clock::now_ms();
    let actor = Actor { session: Some(session.id.clone()), now_ms };
    let scope = &place.project.scope;
    // Finishes drafts of other processes first, so that this session can choose them.
    let _ = HandoffFiles::new(&place.directories, scope).finish_drafts(state, scope, &actor);
    let claim = Some((token, host));
    let search = HandoffSearch { state, place, session, now_ms, claim, faults: Vec::new() };
    let found = search.run(request);
    breakpoint::reach("load:claimed");
    found
}

struct HandoffSearch<'a> {
    state: &'a mut State,
    place: &'a Place,
    session: &'a Session,
    now_ms: i64,
    /// The session's claim, and the process that the session runs in; `None` for a preview, which
    /// changes nothing.
    claim: Option<(Token, Option<Process>)>,
    faults: Vec<Fault>,
}

/// Why a session does not get a document.
enum Refused {
    /// It is unusable; an earlier handoff may be usable.
    Unusable(String),
    /// It contradicts its record: the session starts without a handoff.
    Invalid(String),
    /// Its own date is in the future: the session learns about it.
    Misdated(Timestamp),
}

impl HandoffSearch<'_> {
    fn run(mut self, request: HandoffRequest) -> SessionHandoff {
        let section = self.find(request).unwrap_or_else(|error| {
            self.faults.push(Fault::new(FaultSource::Handoff, error));
            None
        });
        let section = match (section, self.tasks(request)) {
            (Some(section), Some(tasks)) => Some(section.with_tasks(tasks)),
            (section, tasks) => section.or(tasks.map(HandoffSection::Remark)),
        };
        SessionHandoff { section, faults: self.faults }
    }

    /// The line about the tasks that wait. A scripted session has its own task.
    fn tasks(&mut self, request: HandoffRequest) -> Option<String> {
        if self.session.is_scripted || matches!(request, HandoffRequest::Since(_)) {
            return None;
        }
        match self.state.waiting_tasks(&self.place.project.scope) {
            Ok((n_tasks, first)) => section::waiting_tasks(n_tasks, first.as_ref()),
            Err(error) => {
                self.faults.push(Fault::new(FaultSource::Handoff, error));
                None
            }
        }
    }

    /// Tries handoffs until one is usable.
    fn find(&mut self, request: HandoffRequest) -> Result<Option<HandoffSection>, StateError> {
        let mut unusable: Vec<HandoffId> = Vec::new();
        loop {
            let query = HandoffQuery {
                scope: &self.place.project.scope,
                session: &self.session.id,
                request,
                is_scripted: self.session.is_scripted,
                max_age: self.place.settings.handoff.max_age(),
                now_ms: self.now_ms,
                unusable: &unusable,
            };
            let choice = match self.claim {
                Some((token, host)) => self.state.claim_handoff(&query, host, token)?,
                None => self.state.preview_handoff(&query, None)?,
            };
            let is_left_on_purpose = matches!(&choice, HandoffChoice::Again(own)
                if own.status == Status::Active && own.consume == Consume::Once);
            let record = match choice {
                HandoffChoice::Given(record) | HandoffChoice::Again(record) => record,
                HandoffChoice::TooOld(record) => return Ok(Some(section::too_old(&record))),
                HandoffChoice::Withheld(record) => return Ok(Some(section::withheld(&record))),
                HandoffChoice::Misdated(record) => {
                    return Ok(Some(section::misdated(&record, record.created)));
                }
                HandoffChoice::NotAddressed(record) => {
                    self.complain(
                        &record,
                        "it waits for an interactive session, and this one is scripted",
                    );
                    return Ok(None);
                }
                HandoffChoice::Nothing => return Ok(None),
            };
            let refused = match self.read(&record, request) {
                Ok(document) => {
                    let files = self.read_listed(&document.head);
                    let mut handoff = section::prepare(&record, &document, files);
                    if is_left_on_purpose {
                        handoff.remark = section::still_waits(&record.id);
                    }
                    return Ok(Some(HandoffSection::Handoff(Box::new(handoff))));
                }
                Err(refused) => refused,
            };
            let reason = match &refused {
                Refused::Unusable(reason) | Refused::Invalid(reason) => reason.clone(),
                Refused::Misdated(at) => format!("its date is in the future: {at}"),
            };
            self.complain(&record, &reason);
            if let Some((token, _)) = self.claim {
                let (session, now_ms) = (Some(self.session.id.clone()), self.now_ms);
                self.state.give_back_handoff(token, &reason, &Actor { session, now_ms })?;
            }
            if let Refused::Misdated(at) = refused {
                return Ok(Some(section::misdated(&record, at)));
            }
            if matches!(refused, Refused::Invalid(_)) || unusable.len() == MAX_UNUSABLE {
                return Ok(None);
            }
            unusable.push(record.id);
        }
    }

    fn complain(&mut self, record: &HandoffRecord, reason: impl std::fmt::Display) {
        self.faults.push(Fault::new(FaultSource::Handoff, format!("{}: {reason}", record.id)));
    }

    /// Reads a document and checks that it belongs to the record.
    fn read(
        &mut self,
        record: &HandoffRecord,
        request: HandoffRequest,
    ) -> Result<Document, Refused> {
        let files = HandoffFiles::new(&self.place.directories, &record.scope);
        let read = files.read_usable(&record.id);
        let read = read.map_err(|why| Refused::Unusable(format!("it {why}")))?;
        for warning in &read.warnings {
            self.complain(record, warning);
        }
        if read.is_raw {
            return Ok(read.document);
        }
        let head = &read.document.head;
        let id = head.id.as_deref().unwrap_or("none");
        if id != record.id.as_str() {
            return Err(Refused::Invalid(format!(
                "its document has the id {id}; `kgctx handoff reconcile` shows more"
            )));
        }
        match head.created_at {
            // A moment ago, even if the clock was set since.
            Some(_) if matches!(request, HandoffRequest::Rotated) => Ok(read.document),
            Some(at) if is_in_future(at, self.now_ms) => Err(Refused::Misdated(at)),
            Some(_) => Ok(read.document),
            None => Err(Refused::Invalid("its date is missing or wrong".to_owned())),
        }
    }

    /// Reads the files that a handoff lists, unless that takes too long.
    fn read_listed(&mut self, head: &Head) -> Vec<ListedFile> {
        let Some(root) = root_of_files(&self.place.project) else { return Vec::new() };
        let (specs, files) = (head.specs.clone(), head.files.clone());
        if specs.is_empty() && files.is_empty() {
            return Vec::new();
        }
        let allowed = self.place.settings.handoff.allow.value.clone();
        let read = move || listed_files::read_listed(&root, &allowed, &specs, &files, LIMITS);
        within(time_limits::HANDOFF_FILES, read).unwrap_or_else(|| {
            let reason = "the files that it lists could not be read in time";
            self.faults.push(Fault::new(FaultSource::Handoff, reason));
            Vec::new()
        })
    }
}

/// The root of listed files: the checkout that the session works on.
pub(crate) fn root_of_files(project: &Project) -> Option<PathBuf> {
    project.checkout.clone().or_else(|| project.root.clone())
}
