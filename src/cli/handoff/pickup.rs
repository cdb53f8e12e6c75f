//! `kgctx handoff pickup`

use clap::{ArgGroup, Args as ClapArgs};
use serde_json::json;

use crate::app::handoff::{Handoffs, Picked};
use crate::cli::outcome::{Failure, Outcome, UNAVAILABLE};
use crate::cli::screen::Screen;
use crate::core::handoff::HandoffId;
use crate::core::text::for_terminal;

/// Take a handoff up: claim it, and print it with the files that it lists
#[derive(Debug, ClapArgs)]
#[command(group = ArgGroup::new("which").required(true))]
pub(super) struct PickupArgs {
    /// Which
    #[arg(value_parser = HandoffId::parse, group = "which")]
    id: Option<HandoffId>,
    /// The most urgent task, and of those the oldest
    #[arg(long, group = "which")]
    auto: bool,
    /// Leave the listed files alone
    #[arg(long)]
    no_inject: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(handoffs: &mut Handoffs, args: &PickupArgs, screen: &mut Screen) -> Outcome {
    let picked = handoffs.pick_up(args.id.as_ref(), !args.no_inject)?;
    let Picked { record, read, files, .. } = &picked;
    if args.json {
        screen.json(&json!({
            "id": record.id,
            "document": picked.head(),
            "body": picked.body(),
            "warnings": read.warnings,
            "files": files,
        }));
    } else {
        screen.foreign(&picked.render());
    }
    // Counts as picked up only after it was printed.
    if let Err(error) = screen.written() {
        let reason = format!("its text could not be printed: {error}");
        handoffs.put_back(&record.id, &reason)?;
        return Err(Failure { code: UNAVAILABLE, message: reason });
    }
    handoffs.keep(&record.id)?;
    for warning in read.warnings.iter().chain(&picked.warnings()) {
        screen.complain(&format!("kgctx: {}\n", for_terminal::one_line(warning)));
    }
    Ok(())
}
