//! **unstable-output**: two contexts of the same notes differ.

use crate::check::contexts::session::SessionContext;
use crate::check::facts::SnapshotFacts;
use crate::check::finding::{Finding, Rule, Spot};
use crate::check::repository_file::RepositoryFile;
use crate::check::rules::session_finding::{CheckedSession, merge};
use crate::check::snapshot::text;

/// Compares contexts with the texts of a second build.
pub(crate) fn find(
    facts: &SnapshotFacts<'_>,
    contexts: &[SessionContext],
    again: &[String],
) -> Vec<Finding> {
    let pairs = CheckedSession::all(facts, contexts).zip(again);
    let differing: Vec<_> =
        pairs.filter(|(session, again)| session.context.text != **again).collect();
    if differing.is_empty() {
        return Vec::new();
    }
    let written = written_meanwhile(facts);
    let findings = differing.into_iter().map(|(session, again)| {
        let lines = session.context.text.lines().zip(again.lines());
        let from = lines.take_while(|(a, b)| a == b).count() + 1;
        let (message, hint) = match written {
            Some(_) => (
                format!("this file changed during the check, and two contexts differ from line {from} on"),
                "check again while nothing writes to the repository",
            ),
            None => (
                format!("two contexts of the same notes differ from line {from} on"),
                "this is a bug in kgctx; please report it with the notes that show it",
            ),
        };
        let spot = written.clone().or_else(|| session.spot(&[]));
        session.finding(spot, Rule::UnstableOutput, 0, message, hint)
    });
    merge(findings.collect())
}

/// The first changed line of a file that was written during the check.
fn written_meanwhile(facts: &SnapshotFacts<'_>) -> Option<Spot> {
    let max_bytes = facts.sandbox.settings.max_file_bytes.value;
    facts.head.files.iter().find_map(|RepositoryFile { path, text: read, .. }| {
        let read = read.as_deref()?;
        let bytes = facts.repository.tree.read(path, max_bytes);
        let now = bytes.map(text).unwrap_or_default();
        let same = || read.split('\n').zip(now.split('\n')).take_while(|(a, b)| a == b).count();
        (now != read).then(|| Spot { line: same() + 1, ..Spot::top_of(path) })
    })
}
