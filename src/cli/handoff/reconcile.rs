//! `kgctx handoff reconcile`

use clap::Args as ClapArgs;
use serde_json::json;

use crate::app::handoff::{Finding, Handoffs, Reconciled, Verdict};
use crate::cli::handoff::meant;
use crate::cli::outcome::{Failure, NO, Outcome};
use crate::cli::screen::Screen;
use crate::core::handoff::TypedId;
use crate::core::text::for_terminal::{self, Style};
use crate::core::text::number::counted;

/// Compare what handoffs say with what is there
///
/// With an id: whether its git_ref, specs and files are there. Without: whether the documents are what the state says.
/// Changes nothing without --repair.
#[derive(Debug, ClapArgs)]
pub(super) struct ReconcileArgs {
    /// Which [default: all]
    #[arg(value_parser = TypedId::parse)]
    id: Option<TypedId>,
    /// Take in documents that the state has lost
    #[arg(long, conflicts_with = "id")]
    repair: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(handoffs: &mut Handoffs, args: &ReconcileArgs, screen: &mut Screen) -> Outcome {
    let Reconciled { findings, adopted, n_confirmed } = match &meant(handoffs, args.id.as_ref())? {
        Some(id) => handoffs.check(id)?,
        None => handoffs.reconcile(args.repair)?,
    };
    let n_wrong = findings.iter().filter(|one| one.verdict == Verdict::Discrepant).count();
    if args.json {
        screen.json(&json!({
            "findings": findings, "adopted": adopted, "confirmed": n_confirmed,
        }));
    } else {
        findings.iter().for_each(|finding| print_finding(finding, screen));
        adopted.iter().for_each(|id| screen.line(format!("taken in  {id}")));
        if args.id.is_none() && n_wrong == 0 {
            let n = n_confirmed + adopted.len();
            let are = if n == 1 { "is as it should be" } else { "are as they should be" };
            screen.line(format!("{} {are}", counted(n, "handoff")));
        }
    }
    if n_wrong > 0 {
        let message = format!("{} not as the handoff says", counted(n_wrong, "thing"));
        return Err(Failure { code: NO, message });
    }
    Ok(())
}

fn print_finding(finding: &Finding, screen: &mut Screen) {
    let Finding { what, name, verdict, why } = finding;
    let (style, word) = match verdict {
        Verdict::Confirmed => (Style::Good, "confirmed"),
        Verdict::Discrepant => (Style::Bad, "discrepant"),
        Verdict::Unverifiable => (Style::Doubtful, "unverifiable"),
    };
    let word = screen.paint(style, format!("{word:<12}"));
    screen.line(format!(
        "{word}  {what:<8}  {}  ({})",
        for_terminal::one_line(name),
        for_terminal::one_line(why)
    ));
}
