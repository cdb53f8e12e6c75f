//! Imports handoffs of other tools, and exports handoffs for them.

use std::path::{Path, PathBuf};

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::app::handoff::{Created, HandoffError, Handoffs, Result};
use crate::core::handoff::document::{self, Read};
use crate::core::handoff::foreign;
use crate::core::handoff::{HandoffId, Occasion, Status};
use crate::core::time::Timestamp;
use crate::hosts::amplifier;
use crate::store::handoff_files::MAX_BYTES;
use crate::system::atomic_file;
use crate::system::clock;
use crate::system::environment::Environment;
use crate::system::user_input;

/// The result of an import.
#[derive(Debug, Default)]
pub struct Imported {
    /// Oldest first.
    pub handoffs: Vec<ImportedHandoff>,
    /// The number of handoffs that were imported earlier.
    pub n_known: usize,
    pub warnings: Vec<String>,
    /// The handoffs that could not be imported, with reasons.
    pub failed: Vec<String>,
}

#[derive(Debug, Serialize)]
pub struct ImportedHandoff {
    pub id: HandoffId,
    /// The id in the other tool.
    pub source_id: String,
    pub status: Status,
}

impl Handoffs {
    /// Imports files with any of the known headers.
    pub fn import(&mut self, paths: &[PathBuf]) -> Result<Imported> {
        let mut imported = Imported::default();
        for path in paths {
            let name = path.display().to_string();
            let text = match user_input::read_file(path, MAX_BYTES) {
                Ok(text) => text,
                Err(error) => {
                    imported.failed.push(error);
                    continue;
                }
            };
            let Ok(read) = document::read(text.as_bytes()) else { continue };
            if read.is_empty() {
                imported.failed.push(format!("{name} is empty"));
                continue;
            }
            let source_id = read.document.head.id.clone().unwrap_or_else(|| name_of(path, &text));
            self.take_in(read, source_id, None, &name, &mut imported)?;
        }
        Ok(imported)
    }

    /// Imports Amplifier's handoffs for this project.
    pub fn import_amplifier(&mut self) -> Result<Imported> {
        let mut imported = Imported::default();
        let root = self.place.project.root.clone();
        let projects = amplifier::projects_folder(&Environment::of_process());
        let (Some(root), Some(projects)) = (root, projects) else { return Ok(imported) };
        let (found, warnings) = amplifier::find(&projects, &root);
        imported.warnings.extend(warnings);
        let (readable, warnings) = foreign::newest_first(found);
        imported.warnings.extend(warnings);
        // Oldest first, so that each supersedes the one before.
        for (handoff, mut read) in readable.into_iter().rev() {
            let head = &mut read.document.head;
            head.occasion.get_or_insert(Occasion::End);
            head.session_id.get_or_insert_with(|| handoff.session.clone());
            let name = handoff.path.display().to_string();
            self.take_in(read, handoff.session, Some(handoff.modified), &name, &mut imported)?;
        }
        Ok(imported)
    }

    fn take_in(
        &mut self,
        read: Read,
        source_id: String,
        modified: Option<Timestamp>,
        name: &str,
        imported: &mut Imported,
    ) -> Result<()> {
        // Also finds one of our own documents, by its id.
        if self.state.handoff(&self.scope, &source_id)?.is_some() {
            imported.n_known += 1;
            return Ok(());
        }
        imported.warnings.extend(read.warnings.iter().map(|warning| format!("{name}: {warning}")));
        let mut document = read.document;
        self.fill_in(&mut document.head, modified.unwrap_or_else(clock::now));
        document.head.source_id = Some(source_id.clone());
        match self.store(document) {
            Ok(Created { id, status, .. }) => {
                imported.handoffs.push(ImportedHandoff { id, source_id, status });
            }
            // A handoff that is too long does not block the others.
            Err(error @ HandoffError::TooLong(_)) => {
                imported.failed.push(format!("{name}: {error}"));
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    pub fn export_text(&self, id: Option<&HandoffId>) -> Result<String> {
        self.text(&self.find(id)?)
    }

    pub fn export_to(&self, id: Option<&HandoffId>, to: &Path) -> Result<()> {
        let text = self.export_text(id)?;
        atomic_file::write_private(to, &text).map_err(|cause| HandoffError::document(to, cause))
    }

    /// Writes a handoff in Amplifier's format to the path where Amplifier looks for it.
    pub fn export_to_amplifier(&self, id: Option<&HandoffId>) -> Result<PathBuf> {
        let record = self.find(id)?;
        let read = self.document(&record)?;
        let fail = |cause: std::io::Error| HandoffError::document("Amplifier's projects", cause);
        let projects = amplifier::projects_folder(&Environment::of_process())
            .ok_or_else(|| fail(std::io::ErrorKind::NotFound.into()))?;
        let slug = amplifier::slug(self.place.project.root.as_deref().unwrap_or(Path::new("")));
        let text = foreign::amplifier_text(&read.document, &slug, None);
        let session = record.session.unwrap_or_else(|| record.id.to_string());
        amplifier::export(&projects, &slug, &session, &text).map_err(fail)
    }
}

/// Identifies a document without an id: by its file name if that is an id, else by its file name
/// and a hash, because many files share a name.
fn name_of(path: &Path, text: &str) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    if HandoffId::parse(&stem).is_ok() {
        return stem.into_owned();
    }
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(4).fold(format!("{stem}-"), |name, byte| format!("{name}{byte:02x}"))
}
