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

/// Take over handoffs of another project, as after a move or a rename
///
/// A copy with a new id waits in this project; kgctx archives the original. `kgctx handoff list --everywhere`
/// shows what waits in which folder.
#[derive(Debug, ClapArgs)]
#[command(group = ArgGroup::new("which").required(true))]
pub(super) struct AdoptArgs {
    /// The handoffs
    #[arg(value_parser = TypedId::parse, group = "which")]
    ids: Vec<TypedId>,
    /// Take all of this folder's project, except those that a live session claims
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
            _ => "is archived, because another one waits",
        };
        screen.line(format!("adopted {from}: {id} {now}"));
        Ok(())
    })
}
