//! Explains a receipt in words.

use crate::core::context::build::ContextRequest;
use crate::core::context::candidate::{Candidate, Line, Part};
use crate::core::context::explanation::{ExplainedLine, Explanation, NearMiss};
use crate::core::context::found::{Link, Signal};
use crate::core::context::line::Forms;
use crate::core::context::prices::prices;
use crate::core::context::receipt::{Receipt, Shown};
use crate::core::context::uncommitted::UncommittedRecord;
use crate::core::text::number::counted;
use crate::core::tokens;

/// Explains a receipt. Packs again with larger budgets to find the one at which each omitted entry fits.
pub fn explain(receipt: Receipt) -> Explanation {
    let candidates: Vec<Candidate> =
        receipt.entries.iter().map(|entry| entry.candidate.clone()).collect();
    let request = ContextRequest {
        moment: &receipt.moment,
        project: receipt.project.as_deref(),
        handoff: receipt.handoff.as_ref(),
        ranking: receipt.ranking,
        encoding: receipt.encoding,
        budget: receipt.budget,
    };
    let prices = prices(&request, &candidates, |tokens| receipt.host.budget(tokens));
    let mut lines = Vec::new();
    let mut near_misses = Vec::new();
    for (n, entry) in receipt.entries.iter().enumerate() {
        let Candidate { part, line, .. } = &entry.candidate;
        let reason = reason(&entry.candidate, receipt.uncommitted.as_ref());
        let forms = Forms::of(line);
        match entry.shown {
            Some(Shown { extent, tokens }) => lines.push(ExplainedLine {
                part: *part,
                text: forms.shown(extent).trim_end().to_owned(),
                tokens,
                shortened: extent.is_some_and(|extent| extent < forms.most()),
                reason,
            }),
            None => {
                let text = forms.whole();
                near_misses.push(NearMiss {
                    part: *part,
                    tokens: tokens::count(receipt.encoding, &text),
                    text: text.trim_end().to_owned(),
                    reason,
                    enters_at: prices[n],
                });
            }
        }
    }
    lines.sort_by_key(|line| line.part);
    Explanation { lines, near_misses, receipt, supplement: None, is_dry_run: false }
}

/// Why the candidate was found.
pub fn reason(candidate: &Candidate, uncommitted: Option<&UncommittedRecord>) -> String {
    match (candidate.part, &candidate.line) {
        (Part::Recent, _) => match candidate.signals.first() {
            Some(Signal::Recent { place: 1 }) => "changed last".to_owned(),
            Some(Signal::Recent { place }) => format!("changed recently, number {place}"),
            _ => String::new(),
        },
        (Part::Notes, _) if candidate.signals.is_empty() => {
            "active maenifold sessions about the project".to_owned()
        }
        (Part::Notes, _) => relevance(&candidate.signals, uncommitted),
        (_, Line::Connected { concept, to }) => {
            // Only the first link carries the unit.
            let through = to.iter().enumerate().map(|(n, Link { concept, notes })| match n {
                0 => format!("{concept} through {}", counted(*notes as usize, "note")),
                _ => format!("{concept} {notes}"),
            });
            format!("neighbours of {concept}: {}", through.collect::<Vec<_>>().join(", "))
        }
        _ => mentioned_by(&candidate.signals),
    }
}

fn relevance(signals: &[Signal], record: Option<&UncommittedRecord>) -> String {
    let reasons: Vec<String> = signals
        .iter()
        .flat_map(|signal| match signal {
            Signal::Search { .. } => vec!["names the project".to_owned()],
            Signal::Recent { .. } => vec!["changed lately".to_owned()],
            Signal::Relevance {
                sessions,
                age,
                together,
                short_path,
                long_text,
                linked,
                prompted,
                branch,
                uncommitted,
                ..
            } => {
                let changed = match (sessions, age) {
                    (0, _) => None,
                    // A clone or a sync: everybody has this, so what else is known says more.
                    (1, _) if *together > 0 => {
                        Some(format!("arrived together with {}", counted(*together, "other note")))
                    }
                    (1, 0) => Some("changed in the last session".to_owned()),
                    (n, 0) => Some(format!("changed in {n} sessions, also in the last one")),
                    (1, age) => Some(format!("changed {} ago", counted(*age, "session"))),
                    (n, age) => Some(format!(
                        "changed in {n} sessions, last {} ago",
                        counted(*age, "session")
                    )),
                };
                let linked = linked.then(|| "linked to notes that changed".to_owned());
                let short = short_path.then(|| "short path".to_owned());
                let long = long_text.then(|| "long text".to_owned());
                let prompted = prompted.then(|| "matches the prompt".to_owned());
                let branch = branch.then(|| "has words of the branch's name".to_owned());
                let file = uncommitted.and_then(|file| record?.files.get(file));
                let names = file.map(|file| format!("names {file}, which has uncommitted changes"));
                let first = prompted.into_iter().chain(branch).chain(names);
                first.chain(changed).chain(short).chain(long).chain(linked).collect()
            }
        })
        .collect();
    reasons.join("; ")
}

fn mentioned_by(signals: &[Signal]) -> String {
    let is_search = |signal: &&Signal| matches!(signal, Signal::Search { .. });
    let searched = signals.iter().filter(is_search).count();
    let recent = signals.len() - searched;
    let by_search = format!("in {} found by search", counted(searched, "note"));
    let lately = counted(recent, "recent note");
    match (searched, recent) {
        (_, 0) => by_search,
        (0, _) => format!("in {lately}"),
        _ => format!("{by_search} and {lately}"),
    }
}
