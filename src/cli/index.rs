//! `kgctx index`

use clap::Args as ClapArgs;

use crate::cli::outcome::{Failure, Outcome, UNAVAILABLE};
use crate::cli::place::PlaceArgs;
use crate::cli::progress::during;
use crate::cli::screen::Screen;
use crate::core::note::Remark;
use crate::core::note::vault::{self, Vault};
use crate::core::text::for_terminal::{self, Style};
use crate::core::text::number::thousands;
use crate::core::text::width::{align_left, width};
use crate::workspace::refresh::{Mode, Notice, Refreshed};
use crate::workspace::summary::{Remarked, Summary, index};
use crate::workspace::watch::{Freshness, watch};
use crate::workspace::{AppError, Workspace};

/// How many remarks are shown in full.
const REMARKS_SHOWN: usize = 5;

/// Bring the index up to date and print a summary
///
/// Reads only changed notes. Rebuilds an index that is damaged, or that another version or other settings
/// made.
#[derive(Debug, ClapArgs)]
pub(super) struct IndexArgs {
    /// Read every note again
    #[arg(long)]
    full: bool,
    /// Keep running, and keep the index up to date
    #[arg(long, conflicts_with = "json")]
    watch: bool,
    /// Say nothing about vaults that cannot be opened: a session start has said it
    #[arg(long, hide = true)]
    what_answers: bool,
    /// Leave out maenifold's memory, as a session start does for which maenifold's database answers
    #[arg(long, hide = true, requires = "what_answers")]
    without_memory: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(place: &PlaceArgs, args: &IndexArgs, screen: &mut Screen) -> Outcome {
    let request = place.request();
    let (workspace, errors) = Workspace::find_with(&request, !args.without_memory)?;
    if !args.what_answers {
        screen.complain_about(&errors);
    }
    let mode = if args.full { Mode::Full } else { Mode::Incremental };
    let (summary, refreshed) = during("Reading notes", |progress| {
        index(&workspace, mode, &mut |done, all| progress.count("notes", done, all))
    })?;
    // A question can be answered from an old index, but here the user asked for a new one.
    if let Some(Notice::Stale(reason)) = refreshed.notice {
        return Err(Failure::new(UNAVAILABLE, reason));
    }
    screen.notice(refreshed.notice.as_ref());
    if args.json {
        screen.json(&summary);
    } else {
        print(&workspace, &summary, screen);
    }
    if args.watch {
        screen.line("Watching; stop with Ctrl-C.");
        screen.flush();
        watch(&workspace, &Freshness::default(), |refreshed| tell(refreshed, screen))?;
    }
    Ok(())
}

fn print(workspace: &Workspace, summary: &Summary, screen: &mut Screen) {
    let root = |vault: &Vault| for_terminal::one_line(&vault.root.display().to_string());
    let widest = workspace.vaults.iter().map(|vault| width(&root(vault))).max().unwrap_or(0);
    for vault in &workspace.vaults {
        let root = align_left(&root(vault), widest);
        let address = screen.paint(Style::Faint, vault::uri(&vault.name, ""));
        let program = vault.style.program().map_or(String::new(), |name| format!("  {name}"));
        screen.line(format!("{:<9} {root}  {address}{program}", "Vault"));
    }
    let mut row = |label: &str, number: i64, detail: String| {
        let detail = match detail.as_str() {
            "" => detail,
            detail => format!("  {}", screen.paint(Style::Faint, detail)),
        };
        screen.line(format!("{label:<9} {:>11}{detail}", thousands(number)));
    };
    row("Notes", summary.totals.notes, changes(summary.changed, summary.removed));
    row("Concepts", summary.totals.concepts, String::new());
    row("Links", summary.totals.links, String::new());
    row("Edges", summary.totals.edges, String::new());
    row("Skipped", summary.skipped as i64, counts(summary.skipped_by.by_reason()));
    let remarks = Remark::ALL.iter().map(|remark| {
        let words = remark.words();
        let has = |remarked: &&Remarked| remarked.remark.split("; ").any(|part| part == words);
        (words, summary.remarked.iter().filter(has).count() as u64)
    });
    row("Remarks", summary.remarks, counts(remarks));
    for remarked in summary.remarked.iter().take(REMARKS_SHOWN) {
        screen.line(format!("  {}: {}", for_terminal::one_line(&remarked.uri), remarked.remark));
    }
    if summary.remarked.len() > REMARKS_SHOWN {
        let more = thousands(summary.remarked.len() - REMARKS_SHOWN);
        screen.line(format!("  and {more} more; `kgctx index --json` lists all"));
    }
    screen.line(format!("{:<9} {:>11}", "Time", duration(summary.ms)));
}

fn changes(changed: usize, removed: usize) -> String {
    format!("{} changed, {} removed", thousands(changed), thousands(removed))
}

fn counts<'a>(counts: impl IntoIterator<Item = (&'a str, u64)>) -> String {
    let some = counts.into_iter().filter(|(_, n)| *n > 0);
    let told = some.map(|(what, n)| format!("{} {what}", thousands(n)));
    told.collect::<Vec<_>>().join(", ")
}

fn duration(ms: f64) -> String {
    if ms < 1_000.0 { format!("{ms:.1} ms") } else { format!("{:.2} s", ms / 1_000.0) }
}

/// Says what one refresh of a watched vault did; nothing where nothing changed.
fn tell(refreshed: Result<Refreshed, AppError>, screen: &mut Screen) {
    match refreshed {
        Ok(refreshed) => {
            screen.notice(refreshed.notice.as_ref());
            let (changed, removed) = (refreshed.outcome.changed, refreshed.outcome.removed);
            if changed + removed > 0 {
                screen.line(changes(changed, removed));
                screen.flush();
            }
        }
        Err(error) => screen.complain(&format!("kgctx: {error}\n")),
    }
}
