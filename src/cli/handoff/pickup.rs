//! `kgctx handoff pickup`

use clap::{ArgGroup, Args as ClapArgs};
use serde_json::json;

use crate::app::handoff::{Handoffs, Picked};
use crate::cli::handoff::meant;
use crate::cli::outcome::{Failure, Outcome, UNAVAILABLE};
use crate::cli::screen::Screen;
use crate::core::handoff::TypedId;
use crate::core::text::for_terminal;

/// Pick up a handoff: claim it, and print it with the files that it lists
#[derive(Debug, ClapArgs)]
#[command(group = ArgGroup::new("which").required(true))]
pub(super) struct PickupArgs {
    /// The handoff
    #[arg(value_parser = TypedId::parse, group = "which")]
    id: Option<TypedId>,
    /// Pick up the most urgent task, the oldest first
    #[arg(long, group = "which")]
    auto: bool,
    /// Do not print the listed files
    #[arg(long)]
    no_inject: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(handoffs: &mut Handoffs, args: &PickupArgs, screen: &mut Screen) -> Outcome {
    let id = meant(handoffs, args.id.as_ref())?;
    let picked = handoffs.pick_up(id.as_ref(), !args.no_inject)?;
    let Picked { id, text, head, body, files, warnings, file_warnings } = &picked;
    if args.json {
        screen.json(&json!({
            "id": id, "document": head, "body": body, "warnings": warnings, "files": files,
        }));
    } else {
        screen.foreign(text);
    }
    // Counts as picked up only after it was printed.
    if let Err(error) = screen.written() {
        let reason = format!("its text could not be printed: {error}");
        handoffs.put_back(id, &reason)?;
        return Err(Failure { code: UNAVAILABLE, message: reason });
    }
    handoffs.keep(id)?;
    for warning in warnings.iter().chain(file_warnings) {
        screen.complain(&format!("kgctx: {}\n", for_terminal::one_line(warning)));
    }
    Ok(())
}
