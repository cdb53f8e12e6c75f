//! Writes a handoff: reserves an id, writes the document, and activates the handoff, in this order.
//! A process that is killed in between leaves a draft, which the next process finishes.

use std::path::PathBuf;

use crate::app::handoff::{HandoffError, Handoffs, Result};
use crate::app::session_handoff::root_of_files;
use crate::core::handoff::document;
use crate::core::handoff::life::{HandoffEvent, Home};
use crate::core::handoff::tool::body_of;
use crate::core::handoff::{Document, HandoffId, Head, Kind, Status};
use crate::core::secrets;
use crate::core::time::Timestamp;
use crate::store::handoff_files::MAX_BYTES;
use crate::store::state::{NewRotation, Scheduled};
use crate::system::breakpoint;
use crate::system::clock;
use crate::system::listed_files::{self, Obstacle};

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
    /// The listed files that a session would not be shown, with reasons. Secrets are masked.
    pub warnings: Vec<String>,
}

impl Handoffs {
    pub fn create(&mut self, mut document: Document) -> Result<Created> {
        self.complete(&mut document)?;
        let warnings = self.file_warnings(&document.head);
        let created = Created { warnings, ..self.store(document)? };
        // If this fails, the next handoff removes the outdated ones.
        let _ = self.tidy();
        Ok(created)
    }

    /// The path of a file that was typed on the command line, as a handoff lists it: relative to the
    /// project's top.
    pub fn listed_path(&self, typed: &str) -> String {
        match root_of_files(&self.place.project) {
            Some(root) => listed_files::from_top(&root, &self.standing, typed),
            None => typed.to_owned(),
        }
    }

    /// What is wrong with the files that a handoff lists. They may still be written.
    fn file_warnings(&self, head: &Head) -> Vec<String> {
        let Some(root) = root_of_files(&self.place.project) else { return Vec::new() };
        let allowed = &self.place.settings.handoff.allow.value;
        let warning = |path: &String| {
            let unreadable = |why: &str| format!("sessions cannot read {path} as it is now: {why}");
            let said = match listed_files::check(&root, allowed, path).err()? {
                Obstacle::Missing => format!("{path} does not exist; sessions cannot read it"),
                Obstacle::Refused(why) => unreadable(why),
                Obstacle::Unreadable(why) => unreadable(&why),
            };
            Some(secrets::mask(&said).into_owned())
        };
        head.specs.iter().chain(&head.files).filter_map(warning).collect()
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
            let folder = secrets::mask(folder);
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
        if head.kind == Kind::Session {
            head.audience.get_or_insert(self.place.settings.handoff.audience.value);
        }
        head.expires_at = head.end_of_lifetime(created);
        head.channel = Some(self.channel.clone());
    }

    /// Writes a document that lacks only its id.
    pub(super) fn store(&mut self, document: Document) -> Result<Created> {
        let stored = self.store_once(document, None)?;
        stored.ok_or_else(|| HandoffError::No("the handoff is there already".to_owned()))
    }

    /// Writes a handoff by which the session of a rotation goes on in a fresh context.
    pub(in crate::app) fn create_for_rotation(
        &mut self,
        mut document: Document,
        rotation: &NewRotation<'_>,
    ) -> Result<(HandoffId, Scheduled)> {
        self.complete(&mut document)?;
        let drafted = self.draft(&mut document, None)?;
        let id =
            drafted.ok_or_else(|| HandoffError::No("the handoff is there already".to_owned()))?;
        let actor = self.actor();
        let scheduled = self.state.schedule_rotation(rotation, &id, &actor)?;
        if !matches!(scheduled, Scheduled::As(_)) {
            self.state.change_handoff(&id, HandoffEvent::Abandoned, &actor)?;
        }
        breakpoint::reach("rotate:scheduled");
        // If this fails, the next handoff removes the outdated ones.
        let _ = self.tidy();
        Ok((id, scheduled))
    }

    /// Writes a document that lacks only its id; `None` if one of the same origin was ever written.
    pub(super) fn store_once(
        &mut self,
        mut document: Document,
        origin: Option<&str>,
    ) -> Result<Option<Created>> {
        let Some(id) = self.draft(&mut document, origin)? else { return Ok(None) };
        let actor = self.actor();
        let (status, superseded) = self.state.activate_handoff(&id, &actor)?;
        breakpoint::reach("create:activated");
        let Head { kind, expires_at: expires, .. } = document.head;
        let (path, warnings) = (self.files(&self.scope).path(&id), Vec::new());
        Ok(Some(Created { id, path, kind, status, superseded, expires, warnings }))
    }

    /// Writes a document as a draft; `None` if one of the same origin was ever written.
    fn draft(
        &mut self,
        document: &mut Document,
        origin: Option<&str>,
    ) -> Result<Option<HandoffId>> {
        let (actor, files) = (self.actor(), self.files(&self.scope));
        let is_free = |id: &HandoffId| !files.is_there(id);
        // Only the id is missing, and all ids have about the same length.
        let n_bytes = document::write(document).len();
        if n_bytes as u64 + 100 > MAX_BYTES {
            return Err(HandoffError::TooLong(n_bytes));
        }
        let home = Home { scope: &self.scope, channel: &self.channel };
        let head = &document.head;
        let id = match origin {
            Some(origin) => self.state.draft_import(&home, head, origin, is_free, &actor)?,
            None => Some(self.state.draft_handoff(&home, head, is_free, &actor)?),
        };
        let Some(id) = id else { return Ok(None) };
        breakpoint::reach("create:reserved");
        document.head.id = Some(id.to_string());
        if let Err(error) = files.write(&id, &document::write(document)) {
            // If abandoning fails, the draft is forgotten after this process has ended.
            let _ = self.state.change_handoff(&id, HandoffEvent::Abandoned, &actor);
            return Err(HandoffError::document(files.path(&id), error));
        }
        breakpoint::reach("create:durable");
        Ok(Some(id))
    }
}
