//! The source that answers a question about the notes: the index, or maenifold.

use clap::Args as ClapArgs;
use serde::Serialize;

use crate::app::question;
use crate::cli::outcome::Failure;
use crate::cli::place::PlaceArgs;
use crate::cli::progress::during;
use crate::cli::screen::Screen;
use crate::cli::values::{one_of, source_help};
use crate::core::search::masked::Masked;
use crate::core::source::SourcePreference;
use crate::core::text::for_terminal;
use crate::sources::maenifold::MaenifoldClient;
use crate::workspace::refresh::Refreshed;
use crate::workspace::{AppError, Workspace};

#[derive(Debug, ClapArgs)]
pub(super) struct QuestionArgs {
    /// Query maenifold's notes only, through this source [default: index]
    #[arg(long, value_name = "SOURCE", value_parser = one_of(source_help))]
    source: Option<SourcePreference>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl QuestionArgs {
    /// Asks maenifold if `--source` says so, else the index. Prints and returns the answer.
    pub(super) fn ask<Answer: Serialize + Masked>(
        &self,
        place: &PlaceArgs,
        screen: &mut Screen,
        maenifold: impl FnOnce(MaenifoldClient) -> Result<Answer, AppError>,
        index: impl FnOnce(&Workspace) -> Result<(Answer, Refreshed), AppError>,
        print: impl FnOnce(&Answer, &mut Screen),
    ) -> Result<Answer, Failure> {
        let mut remark = |text: String| {
            screen.complain(&format!("kgctx: {}\n", for_terminal::lines(&text)));
        };
        let request = place.request_from(self.source);
        let answer = question::ask(
            &request,
            &mut remark,
            |client| during("Asking maenifold", |_| maenifold(client)),
            |workspace| during("Reading notes", |_| index(workspace)),
        )?;
        if self.json {
            screen.json(&answer);
        } else {
            print(&answer, screen);
        }
        Ok(answer)
    }
}
