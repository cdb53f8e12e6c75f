//! `kgctx check`

use clap::Args as ClapArgs;

use crate::check::finding::Severity;
use crate::check::init::{Initialized, init};
use crate::check::reports::{ReportFormat, render};
use crate::check::{CheckRequest, check};
use crate::cli::outcome::{Failure, USAGE};
use crate::cli::place::PlaceArgs;
use crate::cli::screen::Screen;
use crate::cli::values::moment;
use crate::core::text::for_terminal;
use crate::core::time::Timestamp;

/// Check what this repository's sessions are given: budgets, links, handoffs, secrets
///
/// Works from the checkout alone, so that it says the same on every machine: neither your home folder, nor your
/// configuration, nor the clock counts. `[check]` in kgctx.toml sets sessions, budgets and rules. Ends with 0 if all is well
/// or there are only warnings, with 1 if a rule is broken, with 2 if the configuration is wrong.
#[derive(Debug, ClapArgs)]
pub(super) struct CheckArgs {
    /// Compare with where this branch left that revision [default: the committed baseline, if there is one]
    #[arg(long, value_name = "REV", allow_hyphen_values = true)]
    base: Option<String>,
    /// How to tell what was found
    #[arg(long, default_value = "text")]
    format: ReportFormat,
    /// Agree on what sessions are given now: write the baseline
    #[arg(long, conflicts_with = "base")]
    update_baseline: bool,
    /// Write a commented section for checks into kgctx.toml, and the baseline
    #[arg(long, conflicts_with_all = ["base", "update_baseline", "format"])]
    init: bool,
    /// Check as of this moment [default: that of the newest commit]
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
        let message = "a check works from the checkout alone: name the vault in kgctx.toml instead of with --vault";
        return Err(Failure::new(USAGE, message));
    }
    let request = CheckRequest {
        dir: place.dir.clone(),
        base: args.base.clone(),
        now: args.now,
        updates_baseline: args.update_baseline,
    };
    if args.init {
        print_initialized(&init(&request)?, screen);
        return Ok(true);
    }
    let report = check(&request)?;
    let text = render(&report, args.format, &|style, text| screen.paint(style, text));
    screen.print(&text);
    Ok(!report.fails())
}

/// Prints what was done, and what comes next.
fn print_initialized(initialized: &Initialized, screen: &mut Screen) {
    let Initialized { is_new, baseline, report } = initialized;
    let what = if *is_new { "wrote kgctx.toml with" } else { "added to kgctx.toml" };
    screen.line(format!(
        "{what} a [check] section: the project's name is set, all else in it is a comment, and the defaults hold"
    ));
    screen.line(format!("wrote {baseline}: what sessions are given now is what was agreed on"));
    for remark in &report.remarks[..report.remarks.len().saturating_sub(1)] {
        screen.line(for_terminal::one_line(remark));
    }
    let counted = |severity, what| match report.n(severity) {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    };
    screen.line(match &report.findings[..] {
        [] => "nothing breaks a rule".to_owned(),
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
