//! Writes a handoff: reserves an id, writes the document, and activates the handoff, in this order.
//! A process that is killed in between leaves a draft, which the next process finishes.

use std::path::PathBuf;

use crate::app::handoff::{HandoffError, Handoffs, Result};
use crate::app::session_handoff::root_of_files;
use crate::core::handoff::document;
use crate::core::handoff::life::{HandoffEvent, Home};
use crate::core::handoff::{Document, HandoffId, Head, Kind, Status};
use crate::core::time::Timestamp;
use crate::store::handoff_files::MAX_BYTES;
use crate::system::breakpoint;
use crate::system::clock;
use crate::system::listed_files;

#[derive(Debug)]
pub struct Created {
    pub id: HandoffId,
    pub path: PathBuf,
    pub kind: Kind,
    /// Usually active.
    pub status: Status,
    /// The handoff that it replaced.
    pub superseded: Option<HandoffId>,
    /// The time from which on it is too old.
    pub expires: Option<Timestamp>,
}

impl Handoffs {
    pub fn create(&mut self, mut document: Document) -> Result<Created> {
        self.complete(&mut document)?;
        let created = self.store(document)?;
        // If this fails, the next handoff removes the outdated ones.
        let _ = self.tidy();
        Ok(created)
    }

    /// Fills in what only kgctx knows, and checks that the rest is complete.
    fn complete(&self, document: &mut Document) -> Result<()> {
        let head = &mut document.head;
        document::check_complete(head)?;
        let root = root_of_files(&self.place.project);
        let is_folder = |path: &&String| {
            root.as_ref().is_some_and(|root| listed_files::is_listed_directory(root, path))
        };
        if let Some(folder) = head.specs.iter().chain(&head.files).find(is_folder) {
            let why = format!("{folder} is a folder; list the files in it that matter");
            return Err(HandoffError::Usage(why));
        }
        head.id = None;
        head.session_id = self.session.clone();
        self.fill_in(head, clock::now());
        head.expires_at = head.expires_at.filter(|_| head.kind == Kind::Session);
        let branch = || self.place.project.branch.clone();
        head.git_ref = head.git_ref.take().or_else(branch);
        let folder = || Some(root?.to_string_lossy().into_owned());
        head.working_dir = head.working_dir.take().or_else(folder);
        if document.body.trim().is_empty() {
            document.body = body_of(&document.head).ok_or_else(HandoffError::empty)?;
        }
        Ok(())
    }

    /// Fills in what the front matter of every stored handoff says.
    pub(super) fn fill_in(&self, head: &mut Head, written_at: Timestamp) {
        let created = *head.created_at.get_or_insert(written_at);
        head.occasion = Some(head.occasion());
        head.consume = Some(head.consume());
        head.expires_at = head.end_of_lifetime(created);
        head.channel = Some(self.channel.clone());
    }

    /// Writes a document that lacks only its id.
    pub(super) fn store(&mut self, mut document: Document) -> Result<Created> {
        let (actor, files) = (self.actor(), self.files(&self.scope));
        let is_free = |id: &HandoffId| !files.is_there(id);
        // Only the id is missing, and all ids have about the same length.
        let n_bytes = document::write(&document).len();
        if n_bytes as u64 + 100 > MAX_BYTES {
            return Err(HandoffError::TooLong(n_bytes));
        }
        let home = Home { scope: &self.scope, channel: &self.channel };
        let id = self.state.draft_handoff(&home, &document.head, is_free, &actor)?;
        breakpoint::reach("create:reserved");
        document.head.id = Some(id.to_string());
        if let Err(error) = files.write(&id, &document::write(&document)) {
            // If abandoning fails, the draft is forgotten after this process has ended.
            let _ = self.state.change_handoff(&id, HandoffEvent::Abandoned, &actor);
            return Err(HandoffError::document(files.path(&id), error));
        }
        breakpoint::reach("create:durable");
        let (status, superseded) = self.state.activate_handoff(&id, &actor)?;
        breakpoint::reach("create:activated");
        let Head { kind, expires_at: expires, .. } = document.head;
        Ok(Created { path: files.path(&id), id, kind, status, superseded, expires })
    }
}

/// Builds the text of a handoff whose front matter says everything.
fn body_of(head: &Head) -> Option<String> {
    let section = |title: &str, text: &Option<String>| {
        let text = text.as_deref().map(str::trim).filter(|text| !text.is_empty())?;
        Some(format!("## {title}\n\n{text}\n"))
    };
    let sections =
        [section("Goal", &head.goal), section("Next step", &head.next_step)].into_iter().flatten();
    let body = sections.collect::<Vec<_>>().join("\n");
    (!body.is_empty()).then_some(body)
}
