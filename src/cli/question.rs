//! The source that answers a question about the notes: the index, or maenifold.

use clap::Args as ClapArgs;

use crate::cli::place::PlaceArgs;
use crate::cli::screen::Screen;
use crate::cli::values::{one_of, source_help};
use crate::core::source::SourcePreference;
use crate::sources::maenifold::MaenifoldClient;
use crate::workspace::refresh::Refreshed;
use crate::workspace::{AppError, Request, Workspace};

#[derive(Debug, ClapArgs)]
pub(super) struct QuestionArgs {
    /// Query maenifold's notes only, through this source [default: index]
    #[arg(long, value_name = "SOURCE", value_parser = one_of(source_help))]
    source: Option<SourcePreference>,
}

impl QuestionArgs {
    /// Asks maenifold if `--source` says so, else the index.
    pub(super) fn ask<Answer>(
        &self,
        place: &PlaceArgs,
        screen: &mut Screen,
        maenifold: impl FnOnce(MaenifoldClient) -> Result<Answer, AppError>,
        index: impl FnOnce(&Workspace) -> Result<(Answer, Refreshed), AppError>,
    ) -> Result<Answer, AppError> {
        let request = Request { source: self.source, ..place.request() };
        let client = self.source.map(|_| MaenifoldClient::find(&request)).transpose()?.flatten();
        if let Some(client) = client {
            if let Some(remark) = &client.remark {
                screen.complain(&format!("kgctx: {remark}\n"));
            }
            return maenifold(client);
        }
        let (answer, refreshed) = index(&Workspace::find(&place.request())?)?;
        screen.notice(refreshed.notice.as_ref());
        Ok(answer)
    }
}
