//! `kgctx check`

use clap::Args as ClapArgs;

use crate::check::finding::Severity;
use crate::check::init::{Initialized, init};
use crate::check::reports::{ReportFormat, render};
use crate::check::{CheckRequest, check};
use crate::cli::outcome::{Failure, USAGE};
use crate::cli::place::PlaceArgs;
use crate::cli::progress::during;
use crate::cli::screen::Screen;
use crate::cli::values::moment;
use crate::core::text::for_terminal;
use crate::core::time::Timestamp;

/// Check the contexts of this repository: budgets, links, handoffs, secrets
///
/// Uses only the checkout, so the result is the same on every machine: your home folder, your configuration and the
/// clock do not matter. Set sessions, budgets and rules under `[check]` in kgctx.toml. Exits with 0 if there are no
/// errors (warnings are fine), with 1 if a rule is broken, and with 2 if the configuration is wrong.
#[derive(Debug, ClapArgs)]
pub(super) struct CheckArgs {
    /// Compare with the merge base of this revision and HEAD [default: the committed baseline, if there is one]
    #[arg(long, value_name = "REV", allow_hyphen_values = true)]
    base: Option<String>,
    /// The format of the report
    #[arg(long, default_value = "text")]
    format: ReportFormat,
    /// Accept the current contexts: write the baseline
    #[arg(long, conflicts_with = "base")]
    update_baseline: bool,
    /// Add a commented [check] section to kgctx.toml, and write the baseline
    #[arg(long, conflicts_with_all = ["base", "update_baseline", "format"])]
    init: bool,
    /// Check as of this time [default: the newest commit's time]
    #[arg(long, value_name = "TIME", value_parser = moment)]
    now: Option<Timestamp>,
}

/// Returns whether no rule with the severity `error` is broken.
pub(super) fn run(
    place: &PlaceArgs,
    args: &CheckArgs,
    screen: &mut Screen,
) -> Result<bool, Failure> {
    if !place.vaults.is_empty() {
        let message =
            "a check uses only the checkout; set the vault in kgctx.toml instead of with --vault";
        return Err(Failure::new(USAGE, message));
    }
    let request = CheckRequest {
        dir: place.dir.clone(),
        base: args.base.clone(),
        now: args.now,
        updates_baseline: args.update_baseline,
    };
    if args.init {
        print_initialized(&during("Checking", |_| init(&request))?, screen);
        return Ok(true);
    }
    let report = during("Checking", |_| check(&request))?;
    let text = render(&report, args.format, &|style, text| screen.paint(style, text));
    screen.print(&text);
    Ok(!report.fails())
}

/// Prints what was done, and what comes next.
fn print_initialized(initialized: &Initialized, screen: &mut Screen) {
    let Initialized { is_new, baseline, report } = initialized;
    let what = if *is_new { "wrote kgctx.toml with" } else { "added to kgctx.toml" };
    screen.line(format!(
        "{what} a [check] section: it sets the project's name, and the rest are comments that show the defaults"
    ));
    screen.line(format!("wrote {baseline}: it accepts the current contexts"));
    for remark in &report.remarks[..report.remarks.len().saturating_sub(1)] {
        screen.line(for_terminal::one_line(remark));
    }
    let counted = |severity, what| match report.n(severity) {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    };
    screen.line(match &report.findings[..] {
        [] => "no rule is broken".to_owned(),
        _ => format!(
            "found {} and {}: `kgctx check` shows them",
            counted(Severity::Error, "error"),
            counted(Severity::Warn, "warning")
        ),
    });
    screen.line(
        "next: commit both files, and run `kgctx check --base origin/main` for every pull request",
    );
}
