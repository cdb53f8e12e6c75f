//! Compares handoffs with the repository and the file system. Changes nothing, unless asked to
//! adopt documents that the state has lost.

use serde::Serialize;

use crate::app::handoff::{HandoffError, Handoffs, Result};
use crate::app::session_handoff::root_of_files;
use crate::core::handoff::document;
use crate::core::handoff::life::{Actor, Home};
use crate::core::handoff::{HandoffId, Kind, Occasion};
use crate::store::handoff_files::HandoffFiles;
use crate::store::state::State;
use crate::system::git::{self, Reference};
use crate::system::listed_files::{self, Obstacle};

/// The result of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The handoff is right.
    Confirmed,
    /// The handoff is wrong.
    Discrepant,
    /// Nothing here confirms or refutes it.
    Unverifiable,
}

/// One compared item.
#[derive(Debug, Serialize)]
pub struct Finding {
    /// The kind of item: `git_ref`, `spec`, `file` or `document`.
    pub what: &'static str,
    pub name: String,
    pub verdict: Verdict,
    pub why: String,
}

/// The result of comparing one handoff with what is there, or all documents with the state.
#[derive(Debug, Default)]
pub struct Reconciled {
    pub findings: Vec<Finding>,
    /// Documents that were adopted.
    pub adopted: Vec<HandoffId>,
    pub n_confirmed: usize,
}

impl Finding {
    fn new(what: &'static str, name: &str, verdict: Verdict, why: impl Into<String>) -> Finding {
        Finding { what, name: name.to_owned(), verdict, why: why.into() }
    }

    /// A document that is not as it should be.
    pub(super) fn of_document(id: &HandoffId, why: String) -> Finding {
        Finding::new("document", id.as_str(), Verdict::Discrepant, why)
    }
}

impl Handoffs {
    /// Compares one handoff with the repository and the file system.
    pub fn check(&self, id: &HandoffId) -> Result<Reconciled> {
        let head = self.document(&self.find(Some(id))?)?.document.head;
        let root = root_of_files(&self.place.project);
        let mut findings = Vec::new();
        if let Some(reference) = &head.git_ref {
            let (verdict, why) = match root.as_deref().map(|root| git::reference(root, reference)) {
                Some(Reference::Known) => (Verdict::Confirmed, "the repository has it"),
                Some(Reference::Unknown) => {
                    (Verdict::Discrepant, "the repository no longer has it")
                }
                Some(Reference::NoRepository) | None => {
                    (Verdict::Unverifiable, "there is no git repository, or git is not installed")
                }
            };
            findings.push(Finding::new("git_ref", reference, verdict, why));
        }
        let allowed = &self.place.settings.handoff.allow.value;
        let specs = head.specs.iter().map(|path| ("spec", path));
        for (what, path) in specs.chain(head.files.iter().map(|path| ("file", path))) {
            let (verdict, why) = match &root {
                Some(root) => match listed_files::check(root, allowed, path) {
                    Ok(()) => (Verdict::Confirmed, "it exists".to_owned()),
                    Err(Obstacle::Missing) => (Verdict::Discrepant, "it does not exist".to_owned()),
                    Err(Obstacle::Refused(why)) => (Verdict::Discrepant, why.to_owned()),
                    Err(Obstacle::Unreadable(why)) => (Verdict::Unverifiable, why),
                },
                None => (Verdict::Unverifiable, "this folder is not in a project".to_owned()),
            };
            findings.push(Finding::new(what, path, verdict, why));
        }
        Ok(Reconciled { findings, ..Reconciled::default() })
    }

    /// Compares all documents with the state. With `repair`, adopts those that the state has lost.
    pub fn reconcile(&mut self, repair: bool) -> Result<Reconciled> {
        self.state.examine()?;
        let files = self.files(&self.scope);
        let known = self.state.list_handoffs(&self.scope)?;
        let (mut findings, mut adopted, mut n_confirmed) = (Vec::new(), Vec::new(), 0);
        let mut complain = |id: &HandoffId, why: String| {
            findings.push(Finding::of_document(id, why));
        };
        for record in &known {
            match self.document(record) {
                Ok(read) if read.is_raw => {
                    complain(&record.id, "its front matter cannot be read".to_owned());
                }
                Ok(read) => match read.document.head.id.as_deref().unwrap_or("none") {
                    id if id == record.id.as_str() => n_confirmed += 1,
                    id => {
                        let why =
                            format!("it has the id {id}; put {} into its front matter", record.id);
                        complain(&record.id, why);
                    }
                },
                Err(error) => complain(&record.id, error.to_string()),
            }
        }
        let is_known = |id: &HandoffId| known.iter().any(|record| record.id == *id);
        let folder = self.place.directories.state.join("handoffs");
        let listed = files.all().map_err(|cause| HandoffError::document(folder, cause))?;
        // Newest first: the older ones are then superseded, as they were before.
        for id in listed.into_iter().rev().filter(|id| !is_known(id)) {
            if !repair {
                let why =
                    "the state does not know it; `kgctx handoff reconcile --repair` registers it";
                complain(&id, why.to_owned());
                continue;
            }
            match self.adopt(&files, &id) {
                Ok(()) => adopted.push(id),
                Err(error) => complain(&id, error.to_string()),
            }
        }
        Ok(Reconciled { findings, adopted, n_confirmed })
    }

    fn adopt(&mut self, files: &HandoffFiles, id: &HandoffId) -> Result<()> {
        let actor = self.actor();
        let home = Home { scope: &self.scope, channel: &self.channel };
        take_in(&mut self.state, files, &home, id, false, &actor)
    }
}

/// Takes a document into a state that does not know it. Archives it if it was archived, was written automatically or is
/// too old. Otherwise it becomes active, although it may have been delivered: the state does not know. The channel that
/// it names counts, else its home's.
pub(super) fn take_in(
    state: &mut State,
    files: &HandoffFiles,
    home: &Home<'_>,
    id: &HandoffId,
    was_archived: bool,
    actor: &Actor,
) -> Result<()> {
    let path = files.path(id);
    let bytes = files.read(id).map_err(|cause| HandoffError::document(&path, cause))?;
    let read = document::read(&bytes).map_err(|cause| HandoffError::document(&path, cause))?;
    let head = read.document.head;
    let is_over = head.expires_at.is_some_and(|at| at.milliseconds() < actor.now_ms);
    let is_automatic =
        matches!(head.occasion, Some(Occasion::Auto | Occasion::Rotation | Occasion::End));
    let is_archived = was_archived || head.kind == Kind::Session && (is_over || is_automatic);
    let channel = head.channel.as_deref().unwrap_or(home.channel);
    state.adopt_handoff(&Home { channel, ..*home }, id, &head, is_archived, actor)?;
    Ok(())
}
