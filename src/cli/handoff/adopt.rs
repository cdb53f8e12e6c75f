//! `kgctx handoff adopt`

use std::path::PathBuf;

use clap::{ArgGroup, Args as ClapArgs};
use serde_json::json;

use crate::app::handoff::{Adopted, Handoffs};
use crate::cli::handoff::each;
use crate::cli::outcome::Outcome;
use crate::cli::screen::Screen;
use crate::core::handoff::record::HandoffRecord;
use crate::core::handoff::{Status, TypedId};

/// Take over handoffs of another project, as after it was moved or renamed
///
/// A copy waits in this project, under an id of its own; the former handoff is archived. `kgctx handoff list --everywhere`
/// shows what waits in which folder.
#[derive(Debug, ClapArgs)]
#[command(group = ArgGroup::new("which").required(true))]
pub(super) struct AdoptArgs {
    /// Which
    #[arg(value_parser = TypedId::parse, group = "which")]
    ids: Vec<TypedId>,
    /// All that wait, or that no live session claims, of the project that was in this folder
    #[arg(long, value_name = "FOLDER", group = "which")]
    from: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(handoffs: &mut Handoffs, args: &AdoptArgs, screen: &mut Screen) -> Outcome {
    let found = match &args.from {
        Some(folder) => handoffs.left_in(folder)?,
        None => args.ids.iter().map(|id| handoffs.named_anywhere(id)).collect::<Result<_, _>>()?,
    };
    each(&found, screen, |former: &HandoffRecord, screen| {
        let Adopted { from, id, status } = handoffs.adopt_from(former, args.from.is_none())?;
        if args.json {
            screen.json(&json!({ "id": id, "done": "adopted", "from": from }));
            return Ok(());
        }
        let now = match status {
            Status::Active => "waits",
            _ => "is archived: another one has its place",
        };
        screen.line(format!("{from} is adopted: {id} {now}"));
        Ok(())
    })
}
