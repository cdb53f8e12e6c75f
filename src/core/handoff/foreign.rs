//! Handoffs of other programs: sorts theirs, and writes ours in Amplifier's format.

use std::cmp::Reverse;
use std::fmt::Write;
use std::path::PathBuf;

use crate::core::handoff::Document;
use crate::core::handoff::document::{self, Read, exact, quote};
use crate::core::time::Timestamp;

/// The unparsed file of another program's handoff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignHandoff {
    /// The session that left it, from the name of its folder.
    pub session: String,
    pub path: PathBuf,
    pub bytes: Vec<u8>,
    pub modified: Timestamp,
}

/// Parses handoffs and sorts them, newest first. Skips empty and unreadable ones, with a warning each.
///
/// Sorts by the time in the document, so that an old file that was copied or touched does not win. Falls back to the
/// file's modification time.
pub fn newest_first(found: Vec<ForeignHandoff>) -> (Vec<(ForeignHandoff, Read)>, Vec<String>) {
    let mut usable = Vec::new();
    let mut warnings = Vec::new();
    for handoff in found {
        match document::read(&handoff.bytes) {
            Ok(read) if read.is_empty() => {
                warnings.push(format!("{} is empty", handoff.path.display()));
            }
            Ok(read) => usable.push((handoff, read)),
            Err(error) => warnings.push(format!("{} is {error}", handoff.path.display())),
        }
    }
    usable.sort_by_cached_key(|(handoff, read)| {
        let written = read.document.head.created_at.unwrap_or(handoff.modified);
        Reverse((written, handoff.session.clone(), handoff.path.clone()))
    });
    (usable, warnings)
}

/// Writes a document with Amplifier's front matter. `turns` overrides the number in the head.
pub fn amplifier_text(document: &Document, project: &str, turns: Option<u64>) -> String {
    let head = &document.head;
    let stated = head.other.iter().find(|(key, _)| key == "duration_turns");
    let turns = turns.or_else(|| stated?.1.as_u64());
    let lines = [
        ("session_id", head.session_id.as_deref().map(quote)),
        ("timestamp", head.created_at.map(exact)),
        ("project", Some(quote(project))),
        ("duration_turns", turns.map(|turns| turns.to_string())),
        // Amplifier passes the document on unchanged, so its sessions see these two keys.
        ("goal", head.goal.as_deref().map(quote)),
        ("next_step", head.next_step.as_deref().map(quote)),
    ];
    let mut text = String::from("---\n");
    for (key, value) in lines {
        if let Some(value) = value {
            let _ = writeln!(text, "{key}: {value}");
        }
    }
    text.push_str("files_changed:\n");
    if head.files_changed.is_empty() {
        text.push_str("  []\n");
    }
    for file in &head.files_changed {
        let _ = writeln!(text, "  - {}", quote(file));
    }
    text.push_str("---\n\n");
    text.push_str(document.body.trim_start_matches(['\n', '\r']));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::handoff::Head;

    fn found(session: &str, bytes: &[u8], modified: i64) -> ForeignHandoff {
        ForeignHandoff {
            session: session.to_owned(),
            path: format!("/p/{session}/handoff.md").into(),
            bytes: bytes.to_vec(),
            modified: Timestamp::from_seconds(modified),
        }
    }

    #[track_caller]
    fn check(handoffs: Vec<ForeignHandoff>, expect: &[&str]) -> Vec<String> {
        let (usable, warnings) = newest_first(handoffs);
        let sessions: Vec<_> = usable.iter().map(|(handoff, _)| handoff.session.as_str()).collect();
        assert_eq!(sessions, expect);
        warnings
    }

    #[test]
    fn h_0_2_the_newest_is_first_by_what_it_says_of_itself() {
        // H-0.2
        let told =
            |day: u32| format!("---\ntimestamp: 2026-01-{day:02}T00:00:00.5Z\n---\nx").into_bytes();
        let february = Timestamp::parse("2026-02-01").unwrap().seconds();
        let mid_january = Timestamp::parse("2026-01-15").unwrap().seconds();
        let handoffs = vec![
            found("touched", &told(3), february),
            found("told", &told(20), 0),
            found("silent", b"x", mid_january),
            found("tie-a", &told(10), 0),
            found("tie-b", &told(10), 0),
        ];
        let expect = ["told", "silent", "tie-b", "tie-a", "touched"];
        assert!(check(handoffs.clone(), &expect).is_empty());
        assert!(check(handoffs.into_iter().rev().collect(), &expect).is_empty());
    }

    #[test]
    fn h_0_5_empty_ones_are_named_and_the_next_is_taken() {
        // H-0.5, H-0.6, H-0.7
        let handoffs = vec![
            found("empty", b"", 9),
            found("blank", b" \n\t", 8),
            found("head-only", b"---\ngoal: g\n---\n\n", 7),
            found("latin", b"Gr\xf6\xdfe", 6),
            found("broken", b"---\ngoal: [\n---\nx", 5),
            found("good", b"x", 4),
        ];
        let warnings = check(handoffs, &["broken", "good"]);
        assert_eq!(
            warnings,
            [
                "/p/empty/handoff.md is empty",
                "/p/blank/handoff.md is empty",
                "/p/head-only/handoff.md is empty",
                "/p/latin/handoff.md is not UTF-8 text (byte 2)",
            ]
        );
        assert_eq!(check(vec![found("empty", b"", 9)], &[]).len(), 1);
    }

    #[test]
    fn h_0_15_what_is_written_for_amplifier_is_what_amplifier_writes() {
        // H-0.15
        let head = Head {
            session_id: Some("7f3a: #".to_owned()),
            created_at: Timestamp::parse("2026-02-27T10:11:12.25Z"),
            ..Head::default()
        };
        let mut document = Document { head, body: "\n## Accomplished\n".to_owned() };
        assert_eq!(
            amplifier_text(&document, "atlas", Some(7)),
            "---\nsession_id: \"7f3a: #\"\ntimestamp: 2026-02-27T10:11:12.25Z\nproject: \"atlas\"\nduration_turns: 7\n\
             files_changed:\n  []\n---\n\n## Accomplished\n"
        );
        document.head.files_changed = vec!["a b".to_owned()];
        document.head.goal = Some("g".to_owned());
        let back = document::read(amplifier_text(&document, "atlas", None).as_bytes()).unwrap();
        assert!(back.warnings.is_empty());
        assert_eq!(back.document.head.session_id, document.head.session_id);
        assert_eq!(back.document.head.created_at, document.head.created_at);
        assert_eq!(back.document.head.files_changed, ["a b"]);
        assert_eq!(back.document.head.goal.as_deref(), Some("g"));
        assert_eq!(back.document.body, document.body);
    }
}
