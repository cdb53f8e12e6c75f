//! Writes handoffs for other tools.

use std::path::{Path, PathBuf};

use crate::app::handoff::{HandoffError, Handoffs, Result};
use crate::core::handoff::HandoffId;
use crate::core::handoff::foreign;
use crate::hosts::amplifier;
use crate::system::atomic_file;
use crate::system::environment::Environment;

impl Handoffs {
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
