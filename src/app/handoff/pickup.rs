//! Picks up a handoff: claims it, reads the files that it lists, and keeps it claimed after its
//! text was shown.

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

/// The handoff to pick up.
#[derive(Debug, Clone)]
pub enum Which {
    Named(HandoffId),
    /// The task with the highest priority; among equals, the oldest.
    Next,
}

/// A handoff that was picked up, but is not confirmed yet.
#[derive(Debug)]
pub struct Picked {
    /// The handoff's record from before the claim.
    pub record: HandoffRecord,
    /// The document as stored.
    pub text: String,
    /// The parsed document.
    pub read: Read,
    /// The current contents of the files that it lists.
    pub files: Vec<ListedFile>,
}

impl Picked {
    /// The text to print.
    pub fn render(&self) -> String {
        let text = pickup::render(&self.record.id, &self.text, &self.files, LIMITS.in_all);
        secrets::mask(&text).into_owned()
    }

    /// The front matter as JSON, with secrets masked.
    pub fn head(&self) -> Value {
        mask_json(document::to_json(&self.read.document.head))
    }

    /// The body with secrets masked.
    pub fn body(&self) -> String {
        secrets::mask(&self.read.document.body).into_owned()
    }

    /// The problems with the listed files.
    pub fn warnings(&self) -> Vec<String> {
        pickup::warnings(&self.files, LIMITS.in_all)
    }
}

impl Handoffs {
    /// Picks up a handoff. Without `with_files`, opens no listed file.
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

    /// Confirms the claim, because the text was shown.
    pub fn keep(&mut self, id: &HandoffId) -> Result<(), HandoffError> {
        breakpoint::reach("pickup:printed");
        let actor = self.actor();
        self.state.confirm_taken(id, &actor)?;
        breakpoint::reach("pickup:confirmed");
        Ok(())
    }

    /// Releases the handoff, because its text could not be shown.
    pub fn put_back(&mut self, id: &HandoffId, reason: &str) -> Result<(), HandoffError> {
        let actor = self.actor();
        self.state.release_handoff(&self.scope, id, reason, &actor)?;
        Ok(())
    }
}

/// Masks secrets in all strings of a value.
fn mask_json(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(secrets::mask(&text).into_owned()),
        Value::Array(items) => items.into_iter().map(mask_json).collect(),
        Value::Object(map) => map.into_iter().map(|(key, value)| (key, mask_json(value))).collect(),
        other => other,
    }
}

/// Masks secrets, because the model reads the file.
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
