//! `kgctx handoff import`

use std::path::PathBuf;

use clap::Args as ClapArgs;
use serde_json::json;

use crate::app::handoff::{Handoffs, Imported, ImportedHandoff};
use crate::cli::outcome::{Failure, NO, Outcome, USAGE};
use crate::cli::progress::during;
use crate::cli::screen::Screen;
use crate::cli::values::one_of;
use crate::core::handoff::foreign::{LeftOut, WhyLeftOut};
use crate::core::handoff::section::shorten;
use crate::core::handoff::tool::Tool;
use crate::core::handoff::{Kind, Status};
use crate::core::named::Named;
use crate::core::text::for_terminal;
use crate::core::text::number::counted;

/// So much of a goal is shown.
const GOAL_CHARS: usize = 60;
/// So many of those that are left out for one reason are named.
const NAMED: usize = 3;

/// Import handoffs of other tools
///
/// Imports files of any origin or, with --from, what waits in a tool's store for this project. Never changes the store,
/// and imports nothing twice. Queued sessions of spx become tasks; the rest is for the next session, and never replaces
/// something newer.
#[derive(Debug, ClapArgs)]
pub(super) struct ImportArgs {
    /// The files
    files: Vec<PathBuf>,
    /// Import what this tool has left for the project
    #[arg(long, value_name = "TOOL", value_parser = one_of(store), conflicts_with = "files")]
    from: Option<Tool>,
    /// The same as --from amplifier
    #[arg(long, conflicts_with_all = ["files", "from"], hide = true)]
    amplifier: bool,
    /// Print what would be imported, and import nothing
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Where a tool keeps its handoffs.
fn store(tool: Tool) -> &'static str {
    match tool {
        Tool::Spx => "The sessions in .spx/sessions/todo of the repository",
        Tool::ClaudeAutoHandoff => "Active handoffs of ~/.claude/handoff/*.manifest.json",
        Tool::Amplifier => {
            "Handoffs of its sessions below $AMPLIFIER_PROJECTS_DIR, $AMPLIFIER_HOME/projects or ~/.amplifier/projects"
        }
    }
}

pub(super) fn run(handoffs: &mut Handoffs, args: &ImportArgs, screen: &mut Screen) -> Outcome {
    let from = args.from.or(args.amplifier.then_some(Tool::Amplifier));
    if from.is_none() && args.files.is_empty() {
        let tools = Tool::names();
        let reason = format!("nothing to import; name files, or a tool with --from: {tools}");
        return Err(Failure::new(USAGE, reason));
    }
    let imported = during("Importing", |_| match from {
        Some(tool) => handoffs.import_from(tool, args.dry_run),
        None => handoffs.import_files(&args.files, args.dry_run),
    })?;
    if args.json {
        screen.json(&json!({
            "imported": imported.handoffs,
            "known": imported.n_known,
            "left_out": imported.left_out,
            "warnings": imported.warnings,
            "failed": imported.failed,
            "dry_run": args.dry_run,
        }));
    } else {
        print(&imported, args.dry_run, screen);
    }
    for warning in imported.warnings.iter().chain(&imported.failed) {
        screen.complain(&format!("kgctx: {}\n", for_terminal::one_line(warning)));
    }
    match imported.failed.len() {
        0 => Ok(()),
        n => Err(Failure::new(NO, format!("{} could not be imported", counted(n, "handoff")))),
    }
}

fn print(imported: &Imported, is_dry_run: bool, screen: &mut Screen) {
    let width = imported.handoffs.iter().map(|one| what(one).chars().count()).max();
    let width = width.unwrap_or_default();
    for one in &imported.handoffs {
        let id = one.id.as_ref().map(|id| format!("{id}  ")).unwrap_or_default();
        let source = for_terminal::one_line(&one.source_id);
        let goal = one.goal.as_deref().map(|goal| shorten(goal, GOAL_CHARS));
        let goal = goal.map(|goal| format!("  {}", for_terminal::one_line(&goal)));
        screen.line(format!("{id}{:<width$}  {source}{}", what(one), goal.unwrap_or_default()));
    }
    let would = if is_dry_run { "would be " } else { "" };
    let known = match imported.n_known {
        0 => String::new(),
        n => format!("; {n} known already"),
    };
    screen.line(format!("{} {would}imported{known}", counted(imported.handoffs.len(), "handoff")));
    for why in WhyLeftOut::ALL {
        let names = imported.left_out.iter().filter(|one| one.why == *why);
        let names: Vec<&LeftOut> = names.collect();
        if !names.is_empty() {
            screen.line(left_out(*why, &names));
        }
    }
    let tasks = imported.handoffs.iter().any(|one| one.kind == Kind::Task);
    if tasks && !is_dry_run {
        screen.line("`kgctx handoff pickup --auto` takes the first task");
    }
}

/// What became of a handoff.
fn what(one: &ImportedHandoff) -> String {
    match (one.kind, &one.status) {
        (Kind::Task, _) => format!("task, {}", one.priority),
        (Kind::Session, Status::Active) => "for the next session".to_owned(),
        (Kind::Session, Status::Cleared) => "archived, a newer one waits".to_owned(),
        (Kind::Session, status) => status.to_string(),
    }
}

/// What was left out for one reason.
fn left_out(why: WhyLeftOut, all: &[&LeftOut]) -> String {
    let reason = match why {
        WhyLeftOut::Doing => "a session works on it (doing)",
        WhyLeftOut::Archived => "archived",
        WhyLeftOut::Consumed => "a session already got it (consumed)",
        WhyLeftOut::Expired => "expired",
        WhyLeftOut::OtherProject => "another project's",
    };
    let names: Vec<String> =
        all.iter().take(NAMED).map(|one| for_terminal::one_line(&one.source_id)).collect();
    let more = match all.len() {
        n if n > NAMED => format!(", … ({n} in all)"),
        _ => String::new(),
    };
    format!("skipped, {reason}: {}{more}", names.join(", "))
}
