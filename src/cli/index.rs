//! `kgctx index`

use std::io::{self, IsTerminal};

use clap::Args as ClapArgs;
use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::outcome::{Failure, Outcome, UNAVAILABLE};
use crate::cli::place::PlaceArgs;
use crate::cli::screen::{Screen, Style};
use crate::core::note::Remark;
use crate::core::text::for_terminal;
use crate::core::text::number::thousands;
use crate::workspace::refresh::{Mode, Notice, Refreshed};
use crate::workspace::summary::{Summary, index};
use crate::workspace::watch::{Freshness, watch};
use crate::workspace::{AppError, Workspace};

/// How many remarks are shown in full.
const REMARKS_SHOWN: usize = 5;

/// Bring the index up to date, and sum it up
///
/// Only changed notes are read again. An index that is damaged, or was made by another version or with other
/// settings, is made anew.
#[derive(Debug, ClapArgs)]
pub(super) struct IndexArgs {
    /// Read every note again
    #[arg(long)]
    full: bool,
    /// Keep running, and keep the index up to date
    #[arg(long, conflicts_with = "json")]
    watch: bool,
    /// Leave out vaults that cannot be opened, as a session start does
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
    let workspace = if args.what_answers {
        Workspace::find_reachable(&request, !args.without_memory)?
    } else {
        Workspace::find(&request)?
    };
    let mode = if args.full { Mode::Full } else { Mode::Incremental };
    let bar = if args.json || !io::stderr().is_terminal() {
        ProgressBar::hidden()
    } else {
        progress_bar()
    };
    let mut progress = |done: usize, all: usize| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    };
    let (summary, refreshed) = index(&workspace, mode, &mut progress)?;
    bar.finish_and_clear();
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

fn progress_bar() -> ProgressBar {
    let bar = ProgressBar::new(0);
    // The template is fixed; the default bar would do as well.
    if let Ok(style) =
        ProgressStyle::with_template("{bar:40} {human_pos}/{human_len} notes {elapsed}")
    {
        bar.set_style(style);
    }
    bar
}

fn print(workspace: &Workspace, summary: &Summary, screen: &mut Screen) {
    for vault in &workspace.vaults {
        let root = vault.root.display().to_string();
        screen.line(format!(
            "{:<9} {}  {}",
            "Vault",
            for_terminal::one_line(&root),
            screen.paint(Style::Faint, crate::core::note::vault::uri(&vault.name, ""))
        ));
    }
    let mut row = |label: &str, number: i64, detail: String| {
        let detail = if detail.is_empty() {
            detail
        } else {
            format!("  {}", screen.paint(Style::Faint, detail))
        };
        screen.line(format!("{label:<9} {:>11}{detail}", thousands(number)));
    };
    let changes = format!(
        "{} changed, {} removed",
        thousands(summary.changed as i64),
        thousands(summary.removed as i64)
    );
    row("Notes", summary.notes, changes);
    row("Concepts", summary.concepts, String::new());
    row("Links", summary.links, String::new());
    row("Edges", summary.edges, String::new());
    row("Skipped", summary.skipped as i64, counts(&summary.skipped_by.by_reason()));
    let remarks: Vec<(&str, u64)> = Remark::ALL
        .iter()
        .map(|remark| {
            let has = |words: &str| words.split("; ").any(|part| part == remark.words());
            (
                remark.words(),
                summary.remarked.iter().filter(|remarked| has(&remarked.remark)).count() as u64,
            )
        })
        .collect();
    row("Remarks", summary.remarks, counts(&remarks));
    for remarked in summary.remarked.iter().take(REMARKS_SHOWN) {
        screen.line(format!("  {}: {}", for_terminal::one_line(&remarked.uri), remarked.remark));
    }
    if summary.remarked.len() > REMARKS_SHOWN {
        screen.line(format!(
            "  and {} more; `kgctx index --json` lists all",
            thousands((summary.remarked.len() - REMARKS_SHOWN) as i64)
        ));
    }
    screen.line(format!("{:<9} {:>11}", "Time", duration(summary.ms)));
}

fn counts(counts: &[(&str, u64)]) -> String {
    let told: Vec<String> = counts
        .iter()
        .filter(|(_, n)| *n > 0)
        .map(|(what, n)| format!("{} {what}", thousands(*n)))
        .collect();
    told.join(", ")
}

fn duration(ms: f64) -> String {
    if ms < 1_000.0 { format!("{ms:.1} ms") } else { format!("{:.2} s", ms / 1_000.0) }
}

/// Says what one refresh of a watched vault did; nothing where nothing changed.
fn tell(refreshed: Result<Refreshed, AppError>, screen: &mut Screen) {
    match refreshed {
        Ok(refreshed) => {
            screen.notice(refreshed.notice.as_ref());
            if refreshed.outcome.changed + refreshed.outcome.removed > 0 {
                screen.line(format!(
                    "{} changed, {} removed",
                    thousands(refreshed.outcome.changed as i64),
                    thousands(refreshed.outcome.removed as i64)
                ));
                screen.flush();
            }
        }
        Err(error) => screen.complain(&format!("kgctx: {error}\n")),
    }
}
