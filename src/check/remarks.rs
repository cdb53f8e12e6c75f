//! Remarks about the check itself, with hints: no git, no settings, no notes, no history.

use std::collections::HashSet;

use crate::check::contexts::session::SessionContext;
use crate::check::facts::SnapshotFacts;
use crate::check::growth::Before;
use crate::check::repository::Repository;
use crate::check::repository::working_tree::History;
use crate::check::repository_file::Unread;
use crate::check::snapshot::base::Base;
use crate::core::context::candidate::Part;
use crate::core::context::receipt::{Fault, FaultSource};
use crate::core::text::for_model;
use crate::core::text::number::counted;

/// All remarks, in the order in which a reader would fix their causes.
pub(crate) fn all(
    facts: &SnapshotFacts<'_>,
    contexts: &[SessionContext],
    base: Option<&Base>,
    before: Option<&Before>,
) -> Vec<String> {
    let repository = facts.repository;
    let mut remarks = Vec::new();
    remarks.extend(on_history(repository).map(str::to_owned));
    remarks.extend(base.and_then(on_base));
    remarks.extend(on_settings(repository).map(str::to_owned));
    remarks.extend(on_notes(facts, contexts));
    remarks.extend(on_handoffs(contexts));
    remarks.extend(on_baseline(contexts, before.filter(|_| base.is_none())));
    remarks.extend(on_faults(facts, contexts));
    // Several sessions can have the same fault.
    let mut seen = HashSet::new();
    remarks.retain(|remark| seen.insert(remark.clone()));
    remarks
}

fn on_history(repository: &Repository) -> Option<&'static str> {
    Some(match repository.tree.history {
        History::Commits if repository.tree.is_shallow => {
            "this clone is shallow: notes without a change since its oldest commit count as changed then; fetch the \
            whole history, in GitHub's checkout with `fetch-depth: 0`"
        }
        History::Commits => return None,
        History::NoCommit => {
            "there is no commit yet: no note counts as recent; commit the notes to see what sessions will get"
        }
        History::NoRepository => {
            "this folder is not in a git repository: no note counts as recent, and there is no base to compare with"
        }
        History::NoProgram => {
            "git is not installed: no note counts as recent, and there is no base to compare with"
        }
    })
}

fn on_base(base: &Base) -> Option<String> {
    let revision = for_model::one_line(&base.revision);
    (!base.is_related).then(|| {
        format!(
            "{revision} and HEAD have no common commit: the change is every difference between them"
        )
    })
}

fn on_settings(repository: &Repository) -> Option<&'static str> {
    let remark = if repository.has_unread_settings() {
        "the kgctx.toml at the top is ignored by git, a link or too large: kgctx does not read it and uses the defaults"
    } else {
        "there is no kgctx.toml at the top: kgctx uses the defaults; `kgctx check --init` writes one"
    };
    repository.text.is_none().then_some(remark)
}

fn on_notes(facts: &SnapshotFacts<'_>, contexts: &[SessionContext]) -> Vec<String> {
    let mut remarks = Vec::new();
    let n_notes = facts.n_notes();
    if n_notes == 0 {
        remarks.push(
            "there are no notes: put markdown into .kgctx/memory or docs, or add a folder with [[vault]] in kgctx.toml"
                .to_owned(),
        );
    }
    let is_missed =
        |unread: &&Unread| matches!(unread, Unread::File(path) if facts.roles.has_role(path));
    let n_missed = facts.repository.listing.unread.iter().filter(is_missed).count();
    if n_missed > 0 {
        remarks.push(format!(
            "this checkout is sparse: kgctx does not check {} outside of it (notes, handoffs, static files)",
            counted(n_missed, "file")
        ));
    }
    let is_empty =
        |context: &SessionContext| context.report.used.tokens == 0 && !context.is_shut_out;
    if n_notes > 0 && contexts.iter().all(|context| is_empty(context) && context.faults.is_empty())
    {
        remarks.push(format!(
            "no session gets any of the {n_notes} notes: none changed recently, and none is about {}; link the notes \
            with [[concepts]], or set `project` in [check] to the name that they use",
            facts.repository.project
        ));
    }
    remarks
}

fn on_handoffs(contexts: &[SessionContext]) -> Option<String> {
    let mut entries = contexts.iter().flat_map(|context| &context.report.shown);
    let handoff = entries.find(|entry| entry.part == Part::Handoff)?;
    Some(format!(
        "{} is shown as if `kgctx handoff import` had loaded it: sessions take no handoff directly from a repository",
        for_model::one_line(&handoff.name)
    ))
}

/// A session that is missing from the baseline has nothing to compare with.
fn on_baseline(contexts: &[SessionContext], agreed: Option<&Before>) -> Option<String> {
    let agreed = agreed?;
    let names = contexts.iter().map(|context| &context.report.name);
    let new = names.filter(|name| !agreed.sessions.contains_key(*name));
    let new: Vec<String> = new.map(|name| for_model::one_line(name)).collect();
    let what = match new.len() {
        0 => return None,
        1 => "the session",
        _ => "the sessions",
    };
    Some(format!(
        "the baseline does not have {what} {}, so kgctx does not check its growth; `kgctx check --update-baseline` \
        adds it",
        new.join(", ")
    ))
}

fn on_faults(facts: &SnapshotFacts<'_>, contexts: &[SessionContext]) -> Vec<String> {
    // Another remark already says this.
    let is_known = |fault: &&Fault| {
        facts.n_notes() == 0
            && fault.source == FaultSource::Vault
            && fault.reason.starts_with("no folder of notes found")
    };
    let faults = contexts.iter().flat_map(|context| &context.faults);
    let remarks =
        faults.filter(|fault| !is_known(fault)).map(|Fault { source, reason }| match source {
            FaultSource::Vault => for_model::one_line(reason),
            source => for_model::one_line(&format!("{source}: {reason}")),
        });
    remarks.collect()
}
