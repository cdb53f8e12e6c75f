//! Picks up a handoff: claims it, reads the files that it lists, and keeps it claimed after its
//! text was shown.

use serde_json::Value;

use crate::app::handoff::{HandoffError, Handoffs, Result};
use crate::app::session_handoff::{LIMITS, root_of_files};
use crate::core::handoff::document::{self, Read};
use crate::core::handoff::life::HandoffEvent;
use crate::core::handoff::pickup;
use crate::core::handoff::record::HandoffRecord;
use crate::core::handoff::{Document, HandoffId, ListedFile, Status};
use crate::core::secrets;
use crate::system::breakpoint;
use crate::system::listed_files;

/// A handoff that was picked up, but is not confirmed yet. Secrets are masked, because a model reads
/// it.
#[derive(Debug)]
pub struct Picked {
    pub id: HandoffId,
    /// The text to print: the document as stored, and the files that it lists.
    pub text: String,
    /// The front matter.
    pub head: Value,
    pub body: String,
    /// The current contents of the listed files.
    pub files: Vec<ListedFile>,
    /// The problems with the document.
    pub warnings: Vec<String>,
    /// The problems with the listed files.
    pub file_warnings: Vec<String>,
}

impl Handoffs {
    /// Picks up a handoff; without an id, the task with the highest priority, and among equals the
    /// oldest. Without `with_files`, opens no listed file.
    pub fn pick_up(&mut self, id: Option<&HandoffId>, with_files: bool) -> Result<Picked> {
        let mut broken: Vec<HandoffId> = Vec::new();
        loop {
            let actor = self.actor();
            let taken = match id {
                Some(id) => self.state.take_handoff(&self.scope, id, &actor)?,
                None => self.state.take_next_task(&self.scope, &broken, &actor)?,
            };
            let record = match (taken, id) {
                (Some((record, Some(_))), _) => record,
                (Some((record, None)), _) => return Err(self.unavailable(&record)?),
                (None, Some(id)) => return Err(self.unknown(id)),
                (None, None) => {
                    return Err(HandoffError::No(format!(
                        "no task waits in channel {}; `kgctx handoff list` lists all handoffs",
                        self.channel
                    )));
                }
            };
            breakpoint::reach("pickup:claimed");
            let error = match self.read_picked(&record, with_files) {
                Ok(picked) => return Ok(picked),
                Err(error) => error,
            };
            self.put_back(&record.id, &error.to_string())?;
            if id.is_some() {
                return Err(error);
            }
            broken.push(record.id);
        }
    }

    fn read_picked(&self, record: &HandoffRecord, with_files: bool) -> Result<Picked> {
        let text = self.text(record)?;
        let Read { document: Document { head, body }, warnings, .. } = self.document(record)?;
        let files = match root_of_files(&self.place.project) {
            Some(root) if with_files => {
                let allowed = &self.place.settings.handoff.allow.value;
                listed_files::read_listed(&root, allowed, &head.specs, &head.files, LIMITS)
            }
            _ => Vec::new(),
        };
        let mask = |text: &str| secrets::mask(text).into_owned();
        let files: Vec<_> = files.into_iter().map(|file| file.map_text(mask)).collect();
        Ok(Picked {
            id: record.id.clone(),
            text: mask(&pickup::render(&record.id, &text, &files, LIMITS.in_all)),
            head: secrets::mask_json(document::to_json(&head)),
            body: mask(&body),
            warnings,
            file_warnings: pickup::warnings(&files, LIMITS.in_all),
            files,
        })
    }

    /// Confirms the claim, because the text was shown.
    pub fn keep(&mut self, id: &HandoffId) -> Result<()> {
        breakpoint::reach("pickup:printed");
        let actor = self.actor();
        self.state.confirm_taken(id, &actor)?;
        breakpoint::reach("pickup:confirmed");
        Ok(())
    }

    /// Releases the handoff, because its text could not be shown.
    pub fn put_back(&mut self, id: &HandoffId, reason: &str) -> Result<()> {
        let actor = self.actor();
        self.state.step_handoff(&self.scope, id, HandoffEvent::GivenBack(reason), &actor)?;
        Ok(())
    }
}

impl Handoffs {
    fn unavailable(&self, record: &HandoffRecord) -> Result<HandoffError> {
        if self.is_abandoned(record)? {
            let (id, session) = (&record.id, record.changed_by.as_deref().unwrap_or_default());
            return Ok(HandoffError::No(format!(
                "{id} is claimed by session {session}, which has ended; `kgctx handoff release {id}` takes it back"
            )));
        }
        Ok(unavailable(record))
    }
}

fn unavailable(record: &HandoffRecord) -> HandoffError {
    let HandoffRecord { id, status, changed, changed_by, superseded_by, .. } = record;
    HandoffError::No(if *status == Status::Cleared {
        let newer = superseded_by.as_ref().map(|newer| format!(": {newer} replaced it"));
        let newer = newer.unwrap_or_default();
        format!("{id} is not available: it is archived{newer}; `kgctx handoff show {id}` prints it")
    } else {
        let whom = changed_by.as_deref().map(|session| format!(" by session {session}"));
        let whom = whom.unwrap_or_default();
        format!(
            "{id} is not available: it was {status}{whom} at {changed}; another session may have claimed it, `kgctx \
            handoff log {id}` shows more"
        )
    })
}
