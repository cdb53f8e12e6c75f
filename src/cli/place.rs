//! The folder and the notes of a command.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use crate::cli::outcome::Failure;
use crate::cli::screen::Screen;
use crate::core::source::SourcePreference;
use crate::workspace::{Request, Workspace};

/// The part of every help that has these options, after the command's own.
const EVERYWHERE: &str = "Options of every command";

/// Where a command works.
#[derive(Debug, ClapArgs)]
pub(super) struct PlaceArgs {
    /// Run as if started in this folder
    #[arg(long, value_name = "FOLDER", global = true, help_heading = EVERYWHERE, display_order = 900)]
    pub(super) dir: Option<PathBuf>,
    /// Use only this folder of notes; can be repeated
    ///
    /// Notes of the first folder have addresses like memory://note, those of the others memory://<folder's name>/note.
    #[arg(long = "vault", value_name = "FOLDER", global = true, help_heading = EVERYWHERE, display_order = 901)]
    pub(super) vaults: Vec<PathBuf>,
}

impl PlaceArgs {
    pub(super) fn request(&self) -> Request {
        Request { dir: self.dir.clone(), vaults: self.vaults.clone(), ..Request::default() }
    }

    /// The workspace with the vaults that can be opened; complains about the others.
    pub(super) fn workspace(&self, screen: &mut Screen) -> Result<Workspace, Failure> {
        let (workspace, errors) = Workspace::find(&self.request())?;
        screen.complain_about(&errors);
        Ok(workspace)
    }

    pub(super) fn request_from(&self, source: Option<SourcePreference>) -> Request {
        Request { source, ..self.request() }
    }
}
