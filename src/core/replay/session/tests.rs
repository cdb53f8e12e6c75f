//! Tests of which sessions a history has, and of what they needed.

use std::collections::HashMap;
use std::convert::Infallible;

use proptest::prelude::*;

use super::*;

const DAY: i64 = 86_400;
const FOUR_HOURS: i64 = 4 * 3_600;

/// A history that is written commit by commit.
struct Written {
    steps: Vec<Step>,
    texts: HashMap<String, String>,
}

impl Written {
    /// Thirty notes in as many sessions as the warm-up needs, a day apart.
    fn new() -> Written {
        let mut written = Written { steps: Vec::new(), texts: HashMap::new() };
        for session in 0..10 {
            let paths = (0..3).map(|n| format!("n{:02}.md", session * 3 + n));
            let changes: Vec<NoteChange> =
                paths.map(|path| written.write(&path, "first words")).collect();
            written.commit(session as i64 * DAY, changes);
        }
        written
    }

    fn blob(&mut self, text: &str) -> Blob {
        let blob = format!("blob of {text:?}");
        self.texts.insert(blob.clone(), text.to_owned());
        Blob::from(blob)
    }

    fn write(&mut self, path: &str, text: &str) -> NoteChange {
        NoteChange::Written { path: path.to_owned(), blob: self.blob(text) }
    }

    fn move_to(&mut self, from: &str, to: &str, text: &str) -> NoteChange {
        NoteChange::Moved { from: from.to_owned(), to: to.to_owned(), blob: self.blob(text) }
    }

    fn commit(&mut self, at: i64, changes: Vec<NoteChange>) {
        self.steps.push(Step { at, changes });
    }

    fn sessions(&self) -> PastSessions {
        let read = |blob: &Blob| Ok::<_, Infallible>(self.texts[&**blob].clone().into_bytes());
        let Ok(found) = PastSessions::find(&self.steps, &mut PastNotes::new(read), &mut |_| {});
        found
    }
}

fn set(paths: &[&str]) -> BTreeSet<String> {
    paths.iter().map(|path| path.to_string()).collect()
}

/// The only usable session of a history that ends with these changes.
#[track_caller]
fn check(change: impl FnOnce(&mut Written) -> Vec<NoteChange>, edited: &[&str], linked: &[&str]) {
    let mut written = Written::new();
    let changes = change(&mut written);
    written.commit(20 * DAY, changes);
    let found = written.sessions();
    assert_eq!(found.n_all, 11);
    let needed =
        found.usable.first().map(|session| (session.edited.clone(), session.linked.clone()));
    let expect = Some((set(edited), set(linked))).filter(|(edited, _)| !edited.is_empty());
    assert_eq!(needed, expect);
}

#[test]
fn changed_words_are_edits() {
    check(|written| vec![written.write("n00.md", "other words")], &["n00.md"], &[]);
    check(|written| vec![written.write("n00.md", "---\na: b\n---\nfirst\n\nwords")], &[], &[]);
    check(|written| vec![written.write("new.md", "other words")], &[], &[]);
    check(|_| vec![NoteChange::Removed { path: "n00.md".to_owned() }], &[], &[]);
}

#[test]
fn moved_notes_are_followed() {
    check(|written| vec![written.move_to("n00.md", "x.md", "first words")], &[], &[]);
    check(|written| vec![written.move_to("n00.md", "x.md", "first  words")], &["n00.md"], &[]);
    check(
        |written| {
            let moved = written.move_to("n00.md", "x.md", "first words");
            let again = written.move_to("x.md", "y.md", "first words");
            vec![moved, again, written.write("y.md", "other words")]
        },
        &["n00.md"],
        &[],
    );
}

#[test]
fn new_links_to_old_notes_are_needed() {
    check(
        |written| {
            vec![
                written.write("n00.md", "other words [[n01]] and [[N00]]"),
                written.write("new.md", "[x](n02.md), [[newer]], [[n00]]"),
                written.write("newer.md", "text"),
            ]
        },
        &["n00.md"],
        &["n01.md", "n02.md"],
    );
}

#[test]
fn a_link_that_was_there_is_not_new() {
    let mut written = Written::new();
    let change = written.write("n00.md", "see [[n01]]");
    written.commit(20 * DAY, vec![change]);
    let change = written.write("n00.md", "see [[n01]] and [[n02]]");
    written.commit(21 * DAY, vec![change]);
    let found = written.sessions();
    assert_eq!(found.usable[1].linked, set(&["n02.md"]));
}

#[test]
fn a_session_ends_with_a_gap_of_more_than_four_hours() {
    let mut written = Written::new();
    for (at, path) in [(0, "n00.md"), (FOUR_HOURS, "n01.md"), (2 * FOUR_HOURS + 1, "n02.md")] {
        let change = written.write(path, "other words");
        written.commit(20 * DAY + at, vec![change]);
    }
    let found = written.sessions();
    let steps: Vec<_> = found.usable.iter().map(|session| session.steps.clone()).collect();
    assert_eq!(steps, [10..12, 12..13]);
    let began: Vec<_> = found.usable.iter().map(|session| session.began_at).collect();
    assert_eq!(began, [20 * DAY - 1_800, 20 * DAY + 2 * FOUR_HOURS + 1 - 1_800]);
    assert_eq!(found.usable[0].edited, set(&["n00.md", "n01.md"]));
}

#[test]
fn a_cold_note_was_not_edited_in_the_three_sessions_before() {
    let mut written = Written::new();
    for (day, path) in [(20, "n00.md"), (21, "n01.md"), (22, "n02.md"), (23, "n03.md")] {
        let change = written.write(path, &format!("words of day {day}"));
        written.commit(day * DAY, vec![change]);
    }
    let changes = vec![written.write("n00.md", "last"), written.write("n01.md", "last")];
    written.commit(24 * DAY, changes);
    assert_eq!(written.sessions().usable[4].cold, set(&["n00.md"]));
}

#[test]
fn changes_in_bulk_are_left_out() {
    let edit = |n: usize| {
        move |written: &mut Written| -> Vec<NoteChange> {
            (0..n)
                .map(|n| written.write(&format!("n{n:02}.md"), &format!("other words {n}")))
                .collect()
        }
    };
    let all: Vec<String> = (0..20).map(|n| format!("n{n:02}.md")).collect();
    check(edit(20), &all.iter().map(String::as_str).collect::<Vec<_>>(), &[]);
    check(edit(21), &[], &[]);
}

#[test]
fn small_vaults_and_first_sessions_are_left_out() {
    let mut written = Written::new();
    written.steps.remove(0);
    let change = written.write("n10.md", "other words");
    written.commit(20 * DAY, vec![change]);
    let change = written.write("n10.md", "last words");
    written.commit(21 * DAY, vec![change]);
    assert_eq!(written.sessions(), PastSessions { n_all: 11, usable: Vec::new() });
    let changes: Vec<_> = (0..3).map(|n| written.write(&format!("m{n}.md"), "words")).collect();
    written.commit(22 * DAY, changes);
    let change = written.write("n10.md", "very last words");
    written.commit(23 * DAY, vec![change]);
    assert_eq!(written.sessions().usable.len(), 1);
}

proptest! {
    #[test]
    fn what_a_session_needs_was_there_before(
        edits in proptest::collection::vec((0..40usize, 0..40usize, 0..12i64), 1..30),
    ) {
        let mut written = Written::new();
        let mut at = 20 * DAY;
        for (n, (path, target, hours)) in edits.into_iter().enumerate() {
            at += hours * 3_600;
            let change = written.write(&format!("n{path:02}.md"), &format!("{n} [[n{target:02}]]"));
            written.commit(at, vec![change]);
        }
        let found = written.sessions();
        let mut versions = Versions::default();
        let mut done = 0;
        for session in &found.usable {
            for step in &written.steps[done..session.steps.start] {
                versions.apply(step, &mut BTreeSet::new());
            }
            done = session.steps.start;
            prop_assert!(session.needed().all(|path| versions.0.contains_key(path)));
            prop_assert!(session.edited.is_disjoint(&session.linked));
            prop_assert!(session.cold.iter().all(|path| session.needed().any(|needed| needed == path)));
            prop_assert!(session.began_at < written.steps[session.steps.start].at);
        }
        for most in 1..6 {
            let spread = found.spread(most);
            prop_assert_eq!(spread.len(), most.min(found.usable.len()));
            prop_assert!(spread.is_sorted_by(|one, other| one.number < other.number));
        }
    }
}
