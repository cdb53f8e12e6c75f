//! `kgctx handoff import` and `export`.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use serde_json::json;

use crate::app::handoff::Handoffs;
use crate::cli::handoff::meant;
use crate::cli::outcome::{Failure, NO, Outcome};
use crate::cli::screen::Screen;
use crate::core::handoff::TypedId;
use crate::core::text::for_terminal;
use crate::core::text::number::counted;

/// Take in handoffs of other tools
///
/// Files with any of the known headers, or, with --amplifier, what Amplifier has left for this project below
/// $AMPLIFIER_PROJECTS_DIR, $AMPLIFIER_HOME/projects or ~/.amplifier/projects.
#[derive(Debug, ClapArgs)]
pub(super) struct ImportArgs {
    /// The files
    #[arg(required_unless_present = "amplifier")]
    files: Vec<PathBuf>,
    /// What Amplifier has left for this project
    #[arg(long, conflicts_with = "files")]
    amplifier: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn import(handoffs: &mut Handoffs, args: &ImportArgs, screen: &mut Screen) -> Outcome {
    let imported = match args.amplifier {
        true => handoffs.import_amplifier()?,
        false => handoffs.import(&args.files)?,
    };
    if args.json {
        screen.json(&json!({
            "imported": imported.handoffs,
            "known": imported.n_known,
            "warnings": imported.warnings,
            "failed": imported.failed,
        }));
    } else {
        for one in &imported.handoffs {
            let source = for_terminal::one_line(&one.source_id);
            screen.line(format!("{}  {:<8}  {source}", one.id, one.status));
        }
        let known = match imported.n_known {
            0 => String::new(),
            n => format!("; {n} known already"),
        };
        screen.line(format!("{} imported{known}", counted(imported.handoffs.len(), "handoff")));
    }
    for warning in imported.warnings.iter().chain(&imported.failed) {
        screen.complain(&format!("kgctx: {}\n", for_terminal::one_line(warning)));
    }
    match imported.failed.len() {
        0 => Ok(()),
        n => Err(Failure::new(NO, format!("{} could not be imported", counted(n, "handoff")))),
    }
}

/// Write handoffs for other tools
#[derive(Debug, ClapArgs)]
pub(super) struct ExportArgs {
    /// Which [default: the one that waits for the next session]
    #[arg(value_parser = TypedId::parse)]
    id: Option<TypedId>,
    /// Write it here instead of to standard output
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
    /// Write it where Amplifier looks, in its form
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
