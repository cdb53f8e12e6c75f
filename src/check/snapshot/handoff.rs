//! Committed handoffs, and which one a session would get.

use crate::app::session_handoff::{LIMITS, SessionHandoff, is_on, root_of_files};
use crate::check::repository_file::RepositoryFile;
use crate::core::handoff::document;
use crate::core::handoff::life::{self, Actor, Home, StepFacts};
use crate::core::handoff::record::HandoffRecord;
use crate::core::handoff::section;
use crate::core::handoff::{Document, HandoffId, HandoffSection, Kind};
use crate::core::time::Timestamp;
use crate::system::listed_files;
use crate::workspace::Place;

pub(crate) struct CommittedHandoff {
    path: String,
    document: Document,
    created: Timestamp,
}

impl CommittedHandoff {
    /// Reads a handoff; `None` for a file that no session could load.
    pub(crate) fn read(file: &RepositoryFile) -> Option<CommittedHandoff> {
        let read = document::read(file.text.as_ref()?.as_bytes()).ok()?;
        let is_usable = !read.is_raw && !read.is_empty();
        let document = Some(read.document).filter(|_| is_usable)?;
        let created = document.head.created_at.unwrap_or(file.modified);
        let is_for_sessions = document.head.kind == Kind::Session;
        is_for_sessions.then(|| CommittedHandoff { path: file.path.clone(), document, created })
    }

    /// The files that it lists, as paths from the top.
    pub(crate) fn listed(&self) -> Vec<String> {
        let head = &self.document.head;
        let plain = |path: &String| {
            let parts: Vec<&str> =
                path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
            parts.join("/")
        };
        head.specs.iter().chain(&head.files).map(plain).collect()
    }

    /// The name in reports: the id, else the path.
    pub(crate) fn name(&self) -> String {
        let stem = self.path.rsplit('/').next().unwrap_or_default().trim_end_matches(".md");
        let id = HandoffId::parse(self.document.head.id.as_deref().unwrap_or(stem));
        id.map_or_else(|_| self.path.clone(), |id| id.to_string())
    }

    /// The record that an import would create.
    fn record(&self, place: &Place) -> HandoffRecord {
        let head = &self.document.head;
        let channel = head.channel.as_deref().unwrap_or(&place.project.channel);
        let home = Home { scope: &place.project.scope, channel };
        let id = HandoffId::new(self.created, head.session_id.as_deref(), 1);
        let actor = Actor { session: None, now_ms: self.created.milliseconds() };
        let facts = StepFacts { actor: &actor, pid: 0, waiting: None, is_author_over: false };
        let record = life::draft(id, &home, head, self.created, None, &facts).record;
        let expires = head.expires_at.or_else(|| head.end_of_lifetime(self.created));
        HandoffRecord { expires, ..record }
    }
}

/// Chooses the newest handoff that is not too old.
pub(crate) fn choose<'h>(
    handoffs: &'h [CommittedHandoff],
    place: &Place,
    now: Timestamp,
) -> Option<&'h CommittedHandoff> {
    let settings = &place.settings.handoff;
    if !is_on(settings) {
        return None;
    }
    let is_good = |handoff: &&CommittedHandoff| {
        let record = handoff.record(place);
        // A session only gets handoffs of its own channel. A handoff newer than `now`, the time of
        // the newest commit, is valid: it was written after that commit.
        record.channel == place.project.channel && !record.is_too_old(settings.max_age(), now)
    };
    handoffs.iter().filter(is_good).max_by_key(|handoff| (handoff.created, &handoff.path))
}

/// Loads the handoff as a session gets it, with its files from the sandbox.
pub(crate) fn load(chosen: Option<&CommittedHandoff>, place: &Place) -> SessionHandoff {
    let section = chosen.map(|handoff| {
        let head = &handoff.document.head;
        let files = root_of_files(&place.project).map_or_else(Vec::new, |root| {
            listed_files::read_listed(&root, &[], &head.specs, &head.files, LIMITS)
        });
        let prepared = section::prepare(&handoff.record(place), &handoff.document, files);
        HandoffSection::Handoff(Box::new(prepared))
    });
    SessionHandoff { section, faults: Vec::new() }
}
