//! The source that answers a question about the notes: the index, or maenifold.

use clap::Args as ClapArgs;
use serde::Serialize;

use crate::cli::outcome::Failure;
use crate::cli::place::PlaceArgs;
use crate::cli::screen::Screen;
use crate::cli::values::{one_of, source_help};
use crate::core::search::masked::Masked;
use crate::core::source::SourcePreference;
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
        let request = place.request_from(self.source);
        let client = self.source.map(|_| MaenifoldClient::find(&request)).transpose()?.flatten();
        let mut answer = if let Some(client) = client {
            if let Some(remark) = &client.remark {
                screen.complain(&format!("kgctx: {remark}\n"));
            }
            maenifold(client)?
        } else {
            let (answer, refreshed) = index(&place.workspace(screen)?)?;
            screen.notice(refreshed.notice.as_ref());
            answer
        };
        answer.mask();
        if self.json {
            screen.json(&answer);
        } else {
            print(&answer, screen);
        }
        Ok(answer)
    }
}
