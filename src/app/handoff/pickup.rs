//! Takes a handoff up: claims it, reads what it lists, and keeps it claimed once its text has been seen.

use serde_json::Value;

use crate::app::handoff::{HandoffError, Handoffs};
use crate::app::session_handoff::{LIMITS, root_of_files};
use crate::core::handoff::document::{self, Read};
use crate::core::handoff::pickup;
use crate::core::handoff::record::HandoffRecord;
use crate::core::handoff::{FoundFile, HandoffId, ListedFile, Status};
use crate::core::secrets;
use crate::store::state::TakeOutcome;
use crate::system::breakpoint;
use crate::system::listed_files;

/// Which handoff is taken up.
#[derive(Debug, Clone)]
pub enum Which {
    /// This one.
    Named(HandoffId),
    /// The most urgent task, and of those the oldest.
    Next,
}

/// A handoff that was taken up, but is not kept yet.
#[derive(Debug)]
pub struct Picked {
    /// The handoff, as it was before.
    pub record: HandoffRecord,
    /// Its document as it is stored.
    pub text: String,
    /// Its document, understood.
    pub read: Read,
    /// The files that it lists, as they are now.
    pub files: Vec<ListedFile>,
}

impl Picked {
    /// What is printed of it.
    pub fn render(&self) -> String {
        let text = pickup::render(&self.record.id, &self.text, &self.files, LIMITS.in_all);
        secrets::mask(&text).into_owned()
    }

    /// Its head as JSON, without secrets.
    pub fn head(&self) -> Value {
        mask_json(document::to_json(&self.read.document.head))
    }

    /// Its body without secrets.
    pub fn body(&self) -> String {
        secrets::mask(&self.read.document.body).into_owned()
    }

    /// What was wrong with the files that it lists.
    pub fn warnings(&self) -> Vec<String> {
        pickup::warnings(&self.files, LIMITS.in_all)
    }
}

impl Handoffs {
    /// Takes a handoff up. Without `with_files`, no listed file is opened.
    pub fn pick_up(&mut self, which: &Which, with_files: bool) -> Result<Picked, HandoffError> {
        let mut broken: Vec<HandoffId> = Vec::new();
        loop {
            let actor = self.actor();
            let taken = match which {
                Which::Named(id) => self.state.take_handoff(&self.scope, id, &actor)?,
                Which::Next => self.state.take_next_task(&self.scope, &broken, &actor)?,
            };
            let record = match (taken, which) {
                (TakeOutcome::Won(record), _) => *record,
                (TakeOutcome::Unavailable(record), _) => return Err(unavailable(&record)),
                (TakeOutcome::None, Which::Named(id)) => return Err(self.unknown(id)),
                (TakeOutcome::None, Which::Next) => {
                    return Err(HandoffError::NoTask(self.channel.clone()));
                }
            };
            breakpoint::reach("pickup:claimed");
            match self.read_picked(record.clone(), with_files) {
                Ok(picked) => return Ok(picked),
                Err(error) => {
                    let reason = error.to_string();
                    self.state.release_handoff(&self.scope, &record.id, &reason, &actor)?;
                    match which {
                        Which::Named(_) => return Err(error),
                        Which::Next => broken.push(record.id),
                    }
                }
            }
        }
    }

    fn read_picked(&self, record: HandoffRecord, with_files: bool) -> Result<Picked, HandoffError> {
        let text = self.text(&record)?;
        let read = self.document(&record)?;
        let head = &read.document.head;
        let files = match root_of_files(&self.place.project) {
            Some(root) if with_files => {
                let allowed = &self.place.settings.handoff.allow.value;
                listed_files::read_listed(&root, allowed, &head.specs, &head.files, LIMITS)
            }
            _ => Vec::new(),
        };
        Ok(Picked { record, text, read, files: files.into_iter().map(mask_file).collect() })
    }

    /// Its text has been seen: it stays claimed.
    pub fn keep(&mut self, id: &HandoffId) -> Result<(), HandoffError> {
        breakpoint::reach("pickup:printed");
        let actor = self.actor();
        self.state.confirm_taken(id, &actor)?;
        breakpoint::reach("pickup:confirmed");
        Ok(())
    }

    /// Its text could not be shown: it waits again.
    pub fn put_back(&mut self, id: &HandoffId, reason: &str) -> Result<(), HandoffError> {
        let actor = self.actor();
        self.state.release_handoff(&self.scope, id, reason, &actor)?;
        Ok(())
    }
}

/// A value whose texts carry no secrets.
fn mask_json(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(secrets::mask(&text).into_owned()),
        Value::Array(items) => items.into_iter().map(mask_json).collect(),
        Value::Object(map) => map.into_iter().map(|(key, value)| (key, mask_json(value))).collect(),
        other => other,
    }
}

/// What is read for a model is not to carry secrets to it.
fn mask_file(file: ListedFile) -> ListedFile {
    let found = match file.found {
        FoundFile::Text { text, total } => {
            let is_whole = text.len() as u64 >= total;
            let text = secrets::mask(&text).into_owned();
            FoundFile::Text { total: if is_whole { text.len() as u64 } else { total }, text }
        }
        found => found,
    };
    ListedFile { found, ..file }
}

fn unavailable(record: &HandoffRecord) -> HandoffError {
    let HandoffRecord { status, changed, changed_by, superseded_by, .. } = record;
    let id = record.id.clone();
    if *status == Status::Cleared {
        let newer = superseded_by.as_ref().map(|newer| format!(": {newer} took its place"));
        return HandoffError::PutAway { id, why: format!("archived{}", newer.unwrap_or_default()) };
    }
    let whom = changed_by.as_deref().map(|session| format!(" by session {session}"));
    let why = format!("it was {status}{} at {changed}", whom.unwrap_or_default());
    HandoffError::Unavailable { id, why }
}
