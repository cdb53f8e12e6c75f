//! The contexts that sessions would get from a snapshot, built in a sandbox by the code that builds
//! all contexts.
//!
//! Settings, ignore rules and listed files are on disk. Notes stay in memory: writing and removing
//! thousands of files takes longer than everything else.

pub(crate) mod sandbox;
pub(crate) mod session;
pub(crate) mod temp_checkout;

use std::collections::{BTreeSet, HashSet};

use crate::check::CheckError;
use crate::check::facts::SnapshotFacts;
use crate::check::report::SessionReport;
use crate::check::snapshot::Snapshot;
use crate::core::time::Timestamp;
use crate::system::vault::MemoryVault;
use crate::workspace::Workspace;
use crate::workspace::refresh::refresh_from_memory;
use sandbox::{Sandbox, request};
use session::SessionContext;

pub(crate) struct ContextBuilder<'a> {
    facts: &'a SnapshotFacts<'a>,
    /// The version that sessions see.
    snapshot: &'a Snapshot<'a>,
    on_disk: BTreeSet<String>,
    /// Whether the last note is indexed first. The order must not matter.
    is_reversed: bool,
}

impl<'a> ContextBuilder<'a> {
    /// Starts with the working tree.
    pub(crate) fn new(
        facts: &'a SnapshotFacts<'a>,
        is_reversed: bool,
    ) -> Result<ContextBuilder<'a>, CheckError> {
        let snapshot = &facts.head;
        let mut builder = ContextBuilder { facts, snapshot, on_disk: BTreeSet::new(), is_reversed };
        builder.switch_to(snapshot)?;
        Ok(builder)
    }

    pub(crate) fn switch_to(&mut self, snapshot: &'a Snapshot<'a>) -> Result<(), CheckError> {
        let sandbox = self.facts.sandbox;
        let files = snapshot.files_on_disk(sandbox);
        for path in self.on_disk.difference(&files) {
            sandbox.checkout.remove(path)?;
        }
        let paths: Vec<&str> = files.iter().map(String::as_str).collect();
        for (path, bytes) in sandbox.read(snapshot.base, &paths)? {
            sandbox.checkout.write(&path, &bytes)?;
        }
        (self.snapshot, self.on_disk) = (snapshot, files);
        self.index(None)
    }

    /// Builds the context of every session.
    pub(crate) fn contexts(&self) -> Result<Vec<SessionContext>, CheckError> {
        self.facts.repository.sessions.iter().map(|session| self.context(session)).collect()
    }

    /// Builds only the texts of the same contexts.
    pub(crate) fn texts(&self) -> Result<Vec<String>, CheckError> {
        let sessions = self.facts.repository.sessions.iter();
        sessions
            .map(|session| Ok(self.inject(session, session.host, session.budget)?.text))
            .collect()
    }

    /// Builds the context of every session as if all notes had been changed on the same day. Notes
    /// become less recent over time, and a baseline must not depend on their ages.
    pub(crate) fn reports_of_one_day(&self) -> Result<Vec<SessionReport>, CheckError> {
        let repository = self.facts.repository;
        let starts = repository.sessions.iter().map(|session| repository.now_of(session));
        self.index(Some(starts.min().unwrap_or(repository.now)))?;
        Ok(self.contexts()?.into_iter().map(|context| context.report).collect())
    }

    /// Updates the index before any session starts, so that no session runs into its deadline. With
    /// `day`, all notes have that date.
    fn index(&self, day: Option<Timestamp>) -> Result<(), CheckError> {
        let notes = self.notes(day);
        let mut seen = HashSet::new();
        let Sandbox { checkout, places, .. } = self.facts.sandbox;
        for (dir, place) in places {
            let is_new = seen.insert(place.project.notes_root.clone());
            if !is_new || !place.settings.enabled.value {
                continue;
            }
            // Without notes there is no index, and the session reports that.
            if let Ok((workspace, _)) = Workspace::find(&request(checkout, dir)) {
                refresh_from_memory(&workspace, &notes)?;
            }
        }
        Ok(())
    }

    fn notes(&self, day: Option<Timestamp>) -> MemoryVault<'_> {
        let repository = self.facts.repository;
        let mut vault = MemoryVault::new(&self.facts.sandbox.checkout.project);
        let mut files: Vec<_> = self.facts.notes(self.snapshot).collect();
        if self.is_reversed {
            files.reverse();
        }
        for file in files {
            let Some(text) = &file.text else { continue };
            // Without a history, a handoff has its own time, but as a note it must not.
            let at = repository.tree.newest.map_or_else(|| repository.undated(), |_| file.modified);
            vault.add(&file.path, text, day.unwrap_or(at));
        }
        vault
    }
}
