//! Compares handoffs with the repository and the file system. Changes nothing, unless asked to
//! adopt documents that the state has lost.

use std::path::Path;

use serde::Serialize;

use crate::app::handoff::{HandoffError, Handoffs};
use crate::app::session_handoff::root_of_files;
use crate::core::handoff::document;
use crate::core::handoff::life::Home;
use crate::core::handoff::record::HandoffRecord;
use crate::core::handoff::{HandoffId, Kind, Occasion};
use crate::store::handoff_files::HandoffFiles;
use crate::system::git::{self, Reference};
use crate::system::listed_files::{self, FileStatus};

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

/// A handoff with the result of its comparison.
#[derive(Debug)]
pub struct Checked {
    pub record: HandoffRecord,
    pub findings: Vec<Finding>,
}

/// The result of comparing all documents with the state.
#[derive(Debug, Default)]
pub struct Reconciled {
    pub findings: Vec<Finding>,
    /// Documents that were adopted.
    pub adopted: Vec<HandoffId>,
    pub n_confirmed: usize,
}

impl Handoffs {
    /// Compares one handoff with the repository and the file system.
    pub fn check(&self, id: &HandoffId) -> Result<Checked, HandoffError> {
        let record = self.find(Some(id))?;
        let head = self.document(&record)?.document.head;
        let root = root_of_files(&self.place.project);
        let mut findings = Vec::new();
        if let Some(reference) = &head.git_ref {
            findings.push(reference_finding(root.as_deref(), reference));
        }
        let allowed = &self.place.settings.handoff.allow.value;
        let specs = head.specs.iter().map(|path| ("spec", path));
        for (what, path) in specs.chain(head.files.iter().map(|path| ("file", path))) {
            let (verdict, why) = match &root {
                Some(root) => match listed_files::status(root, allowed, path) {
                    FileStatus::Confirmed => (Verdict::Confirmed, "it is there".to_owned()),
                    FileStatus::Discrepant(why) => (Verdict::Discrepant, why),
                    FileStatus::Unverifiable(why) => (Verdict::Unverifiable, why),
                },
                None => (Verdict::Unverifiable, "there is no project here".to_owned()),
            };
            findings.push(Finding { what, name: path.clone(), verdict, why });
        }
        Ok(Checked { record, findings })
    }

    /// Compares all documents with the state. With `repair`, adopts those that the state has lost.
    pub fn reconcile(&mut self, repair: bool) -> Result<Reconciled, HandoffError> {
        let files = self.files(&self.scope);
        let known = self.state.list_handoffs(&self.scope)?;
        let mut reconciled = Reconciled::default();
        for record in &known {
            let trouble = match self.document(record) {
                Ok(read) if read.is_raw => Some("its front matter cannot be read".to_owned()),
                Ok(read) => {
                    let id = read.document.head.id.unwrap_or_else(|| "none".to_owned());
                    (id != record.id.as_str()).then(|| {
                        format!("it has the id {id}; put {} into its front matter", record.id)
                    })
                }
                Err(error) => Some(error.to_string()),
            };
            match trouble {
                None => reconciled.n_confirmed += 1,
                Some(why) => reconciled.findings.push(document_finding(&record.id, why)),
            }
        }
        let is_known = |id: &HandoffId| known.iter().any(|record| record.id == *id);
        let folder = self.place.directories.state.join("handoffs");
        let listed = files.all().map_err(|cause| HandoffError::document(folder, cause))?;
        let lost: Vec<HandoffId> = listed.into_iter().filter(|id| !is_known(id)).collect();
        // Newest first: the older ones are then superseded, as they were before.
        for id in lost.into_iter().rev() {
            if !repair {
                let why =
                    "the state does not know it; `kgctx handoff reconcile --repair` takes it in";
                reconciled.findings.push(document_finding(&id, why.to_owned()));
                continue;
            }
            match self.adopt(&files, &id) {
                Ok(()) => reconciled.adopted.push(id),
                Err(error) => {
                    reconciled.findings.push(document_finding(&id, error.to_string()));
                }
            }
        }
        Ok(reconciled)
    }

    /// Adopts a document that the state has lost. Archives it if it was written automatically or is
    /// too old. Otherwise it becomes active again, although it may have been delivered: the state
    /// no longer knows.
    fn adopt(&mut self, files: &HandoffFiles, id: &HandoffId) -> Result<(), HandoffError> {
        let path = files.path(id);
        let bytes = files.read(id).map_err(|cause| HandoffError::document(&path, cause))?;
        let read = document::read(&bytes).map_err(|cause| HandoffError::document(&path, cause))?;
        let head = read.document.head;
        let actor = self.actor();
        let is_over = head.expires_at.is_some_and(|at| at.milliseconds() < actor.now_ms);
        let is_automatic =
            matches!(head.occasion, Some(Occasion::Auto | Occasion::Rotation | Occasion::End));
        let is_archived = head.kind == Kind::Session && (is_over || is_automatic);
        let channel = head.channel.clone().unwrap_or_else(|| self.channel.clone());
        let home = Home { scope: &self.scope, channel: &channel };
        self.state.adopt_handoff(&home, id, &head, is_archived, &actor)?;
        Ok(())
    }
}

fn reference_finding(root: Option<&Path>, reference: &str) -> Finding {
    let (verdict, why) = match root.map(|root| git::reference(root, reference)) {
        Some(Reference::Known) => (Verdict::Confirmed, "the repository knows it"),
        Some(Reference::Unknown) => {
            (Verdict::Discrepant, "the repository does not know it any more")
        }
        Some(Reference::NoRepository) | None => {
            (Verdict::Unverifiable, "there is no git repository, or no git")
        }
    };
    let why = why.to_owned();
    Finding { what: "git_ref", name: reference.to_owned(), verdict, why }
}

fn document_finding(id: &HandoffId, why: String) -> Finding {
    Finding { what: "document", name: id.to_string(), verdict: Verdict::Discrepant, why }
}
