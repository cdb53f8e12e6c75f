//! `kgctx handoff reconcile`

use clap::Args as ClapArgs;
use serde_json::json;

use crate::app::handoff::{
    Finding, HandoffError, Handoffs, Reconciled, RepairedState, Verdict, repair_state,
};
use crate::cli::handoff::meant;
use crate::cli::outcome::{Failure, NO, Outcome};
use crate::cli::screen::Screen;
use crate::core::handoff::TypedId;
use crate::core::text::for_terminal::{self, Style};
use crate::core::text::number::counted;
use crate::workspace::Request;

/// Compare handoffs with the repository and the stored documents
///
/// With an id, checks that its git_ref, specs and files exist. Without one, checks that the documents match the state.
/// Changes nothing without --repair.
#[derive(Debug, ClapArgs)]
pub(super) struct ReconcileArgs {
    /// The handoff [default: all]
    #[arg(value_parser = TypedId::parse)]
    id: Option<TypedId>,
    /// Register documents that the state has lost; move a damaged state aside and make a new one from the documents
    #[arg(long, conflicts_with = "id")]
    repair: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(
    request: &Request,
    open: impl FnOnce() -> Result<Handoffs, HandoffError>,
    args: &ReconcileArgs,
    screen: &mut Screen,
) -> Outcome {
    let repaired = if args.repair { repair_state(request)? } else { None };
    if let Some(repaired) = repaired.as_ref().filter(|_| !args.json) {
        print_repaired(repaired, screen);
    }
    let mut handoffs = open()?;
    let reconciled = match &meant(&handoffs, args.id.as_ref())? {
        Some(id) => handoffs.check(id)?,
        None => handoffs.reconcile(args.repair)?,
    };
    report(reconciled, repaired, args, screen)
}

fn report(
    reconciled: Reconciled,
    repaired: Option<RepairedState>,
    args: &ReconcileArgs,
    screen: &mut Screen,
) -> Outcome {
    let Reconciled { mut findings, mut adopted, n_confirmed } = reconciled;
    let n_right = n_confirmed + adopted.len();
    let aside = repaired.as_ref().map(|repaired| repaired.aside.to_string_lossy().into_owned());
    let n_new = adopted.len();
    if let Some(repaired) = repaired {
        let is_new = |finding: &Finding| !findings.iter().any(|known| known.name == finding.name);
        let more: Vec<Finding> = repaired.findings.into_iter().filter(is_new).collect();
        findings.extend(more);
        adopted.extend(repaired.adopted);
    }
    let n_wrong = findings.iter().filter(|one| one.verdict == Verdict::Discrepant).count();
    if args.json {
        screen.json(&json!({
            "findings": findings, "adopted": adopted, "confirmed": n_confirmed, "set_aside": aside,
        }));
    } else {
        findings.iter().for_each(|finding| print_finding(finding, screen));
        adopted.iter().take(n_new).for_each(|id| screen.line(format!("registered  {id}")));
        if args.id.is_none() && n_wrong == 0 {
            screen.line(match n_right {
                0 => "There is no handoff to check.".to_owned(),
                1 => "1 handoff is correct".to_owned(),
                n => format!("{} are correct", counted(n, "handoff")),
            });
        }
    }
    if n_wrong > 0 {
        let message = format!("found {}", counted(n_wrong, "problem"));
        return Err(Failure { code: NO, message });
    }
    Ok(())
}

/// Says what a repair did, and what the documents cannot tell.
fn print_repaired(repaired: &RepairedState, screen: &mut Screen) {
    let RepairedState { cause, aside, adopted, has_installations, .. } = repaired;
    screen.line(format!("repaired  {}", for_terminal::one_line(cause)));
    adopted.iter().for_each(|id| screen.line(format!("registered  {id}")));
    let aside = for_terminal::one_line(&aside.to_string_lossy());
    screen.line(format!("moved aside  {aside}"));
    let lost = match has_installations {
        true => "claims, deliveries or the log",
        false => "claims, deliveries, the log, or the folders that `install` made",
    };
    screen.line(format!(
        "The documents do not record {lost}. These start fresh, and a handoff may be delivered once more."
    ));
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
