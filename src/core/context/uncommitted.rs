//! What uncommitted files change in a context: the results with the raised notes in their places, and the record of it.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::core::context::found::{Found, RaisedNote, Signal};
use crate::core::context::rank::{Ranking, rank};
use crate::core::text::for_model;
use crate::core::text::number::counted;

/// The number of names in a sentence.
const MOST_NAMED: usize = 3;

/// What the uncommitted files of a session changed in its context, or would have changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UncommittedRecord {
    /// Whether they changed it.
    pub counted: bool,
    /// The files that notes name, as paths from the top of the working tree.
    pub files: Vec<String>,
    /// The notes that gain, best first.
    pub raised: Vec<RaisedRef>,
    /// The notes that are only among the first with the files, and those that are only there without them.
    pub added: Vec<String>,
    pub removed: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RaisedRef {
    pub uri: String,
    /// The file that the note names best.
    pub file: String,
}

/// The results with the notes that name uncommitted files in their new places; `None` if there are none.
pub fn steered(found: &Found) -> Option<Found> {
    let raised = &found.uncommitted.as_ref().filter(|of| !of.raised.is_empty())?.raised;
    let mut steered = found.clone();
    for RaisedNote { note, gain, file } in raised {
        let mut note = note.clone();
        note.relevance += gain;
        if let Signal::Relevance { uncommitted, .. } = &mut note.note.signal {
            *uncommitted = Some(*file);
        }
        steered.notes.retain(|other| other.note.uri != note.note.uri);
        steered.notes.push(note);
    }
    // Equal notes keep their order.
    steered.notes.sort_by_key(|ranked| Reverse(ranked.relevance));
    for (n, ranked) in steered.notes.iter_mut().enumerate() {
        if let Signal::Relevance { place, .. } = &mut ranked.note.signal {
            *place = n + 1;
        }
    }
    Some(steered)
}

impl UncommittedRecord {
    /// The record of the files in `found`; `None` if nobody looked for them. `steered` are the results with them, and
    /// `n_shown` is the number of notes in the context.
    pub fn of(
        found: &Found,
        steered: Option<&Found>,
        counted: bool,
        n_shown: usize,
    ) -> Option<UncommittedRecord> {
        let uncommitted = found.uncommitted.as_ref()?;
        let files: Vec<String> =
            uncommitted.files.iter().map(|file| for_model::one_line(file)).collect();
        let raised = uncommitted.raised.iter().map(|raised| RaisedRef {
            uri: for_model::one_line(&raised.note.note.uri),
            file: files.get(raised.file).cloned().unwrap_or_default(),
        });
        let (added, removed) = steered.map_or_else(Default::default, |steered| {
            let (with, without) = (first(steered, n_shown), first(found, n_shown));
            (missing(&with, &without), missing(&without, &with))
        });
        Some(UncommittedRecord { counted, raised: raised.collect(), files, added, removed })
    }

    /// The record in a few lines.
    pub fn in_words(&self) -> Vec<String> {
        let UncommittedRecord { counted: has_counted, files, raised, added, removed } = self;
        if files.is_empty() {
            return Vec::new();
        }
        let first = format!("uncommitted, and named by notes: {}", some(files));
        let n_raised = counted(raised.len(), "note");
        let (raise, come, go) = match has_counted {
            true => ("raised", "came in", "fell out"),
            false => ("would raise", "would come in", "would fall out"),
        };
        let mut second = format!("they {raise} {n_raised}");
        for (names, what) in [(added, come), (removed, go)] {
            if !names.is_empty() {
                second.push_str(&format!("; {what}: {}", some(names)));
            }
        }
        if !has_counted {
            second.push_str(" (uncommitted_files = \"on\" lets them)");
        }
        vec![first, second]
    }
}

/// The addresses of the first notes. Packing both contexts to see which notes they show would take twice the time, and
/// differs only where a note is skipped because its line is too long.
fn first(found: &Found, n_notes: usize) -> Vec<String> {
    let ranked = rank(Ranking::Notes, found).notes.into_iter();
    ranked.take(n_notes).map(|ranked| ranked.note.uri).collect()
}

/// What is in one list and not in the other, in order.
fn missing(of: &[String], other: &[String]) -> Vec<String> {
    let known: BTreeSet<&String> = other.iter().collect();
    of.iter().filter(|uri| !known.contains(uri)).map(|uri| for_model::one_line(uri)).collect()
}

/// The first names of a list, and how many more there are.
fn some(names: &[String]) -> String {
    let mut text = names[..names.len().min(MOST_NAMED)].join(", ");
    if names.len() > MOST_NAMED {
        text.push_str(&format!(" and {} more", names.len() - MOST_NAMED));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::context::found::{FoundNote, RankedNote, Uncommitted};
    use crate::core::quote::passage::Passage;
    use crate::core::time::Timestamp;

    fn note(name: &str, relevance: i64) -> RankedNote {
        let signal = Signal::Relevance {
            place: 0,
            sessions: 1,
            age: 0,
            together: 0,
            short_path: false,
            long_text: false,
            linked: false,
            prompted: false,
            branch: false,
            uncommitted: None,
        };
        let note = FoundNote {
            uri: format!("memory://{name}"),
            title: String::new(),
            excerpt: String::new(),
            concepts: Vec::new(),
            modified: Timestamp::from_seconds(0),
            signal,
        };
        RankedNote { note, passage: Passage::default(), relevance }
    }

    fn found(raised: Vec<RaisedNote>) -> Found {
        let notes = vec![note("a", 3_000), note("b", 2_000), note("c", 1_000)];
        let files = vec!["src/mast.rs".to_owned(), "src/sail.rs".to_owned()];
        Found { notes, uncommitted: Some(Uncommitted { files, raised }), ..Found::default() }
    }

    #[test]
    fn raised_notes_take_their_places_once() {
        let raised = |name: &str, relevance, gain, file| {
            let note = note(name, relevance);
            RaisedNote { note, gain, file }
        };
        let found = found(vec![raised("c", 1_000, 1_500, 1), raised("z", 500, 600, 0)]);
        let steered = steered(&found).unwrap();
        let order: Vec<(&str, Signal)> =
            steered.notes.iter().map(|of| (&of.note.uri[9..], of.note.signal)).collect();
        let expect = [("a", None), ("c", Some(1)), ("b", None), ("z", Some(0))];
        assert_eq!(order.len(), expect.len());
        for (n, ((name, signal), (expect, file))) in order.into_iter().zip(expect).enumerate() {
            assert_eq!(name, expect);
            let Signal::Relevance { place, uncommitted, .. } = signal else { panic!("{signal:?}") };
            assert_eq!((place, uncommitted), (n + 1, file), "{name}");
        }
        let record = UncommittedRecord::of(&found, Some(&steered), true, 2).unwrap();
        assert_eq!(
            (record.added, record.removed),
            (vec!["memory://c".into()], vec!["memory://b".into()])
        );
    }

    #[test]
    fn without_raised_notes_nothing_changes() {
        assert_eq!(steered(&found(Vec::new())), None);
        assert_eq!(steered(&Found::default()), None);
        assert_eq!(UncommittedRecord::of(&Found::default(), None, true, 9), None);
        let record = UncommittedRecord::of(&found(Vec::new()), None, false, 9).unwrap();
        assert_eq!((record.files.len(), record.raised.len()), (2, 0));
    }

    #[test]
    fn a_record_is_said_in_two_lines() {
        let names = |n: usize| (0..n).map(|n| format!("n{n}")).collect::<Vec<_>>();
        let mut record = UncommittedRecord {
            counted: true,
            files: names(5),
            raised: Vec::new(),
            added: names(1),
            removed: names(4),
        };
        assert_eq!(
            record.in_words(),
            [
                "uncommitted, and named by notes: n0, n1, n2 and 2 more",
                "they raised 0 notes; came in: n0; fell out: n0, n1, n2 and 1 more",
            ]
        );
        record.files.clear();
        assert_eq!(record.in_words(), [""; 0]);
    }
}
