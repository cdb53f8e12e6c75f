//! `kgctx handoff export`

use std::path::PathBuf;

use clap::Args as ClapArgs;

use crate::app::handoff::Handoffs;
use crate::cli::handoff::meant;
use crate::cli::outcome::Outcome;
use crate::cli::screen::Screen;
use crate::core::handoff::TypedId;
use crate::core::text::for_terminal;

/// Write a handoff for other tools
#[derive(Debug, ClapArgs)]
pub(super) struct ExportArgs {
    /// The handoff [default: the one that waits for the next session]
    #[arg(value_parser = TypedId::parse)]
    id: Option<TypedId>,
    /// Write it to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
    /// Write it to Amplifier's sessions, in Amplifier's format; Amplifier does not give it to a session
    #[arg(long, conflicts_with = "to")]
    amplifier: bool,
}

pub(super) fn export(handoffs: &Handoffs, args: &ExportArgs, screen: &mut Screen) -> Outcome {
    let id = meant(handoffs, args.id.as_ref())?;
    let id = id.as_ref();
    let written = match (args.amplifier, &args.to) {
        (true, _) => handoffs.export_to_amplifier(id)?,
        (false, Some(file)) => {
            handoffs.export_to(id, file)?;
            file.clone()
        }
        (false, None) => {
            screen.foreign(&handoffs.export_text(id)?);
            return Ok(());
        }
    };
    screen.line(format!("written: {}", for_terminal::one_line(&written.to_string_lossy())));
    Ok(())
}
