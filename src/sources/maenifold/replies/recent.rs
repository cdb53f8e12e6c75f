//! Parses the answer of RecentActivity: the recently changed notes, newest first.

use super::MOST;
use super::reply::{self, linked, listed_note, listed_notes, unknown};
use crate::sources::maenifold::answers::{AnsweredNote, NotePlace};

/// Parses the output of RecentActivity.
pub fn recent(said: &[u8]) -> Result<Vec<AnsweredNote>, String> {
    reply::understand(said, |answer| listed_notes(answer, "items", listed_note), of_text)
}

/// ```text
/// # Recent Activity
///
/// **stem-of-the-file** (memory)
///   Modified: 2026-02-20 14:04
///   Title: Title
///   Sections: 2
///   First: "A piece of the text, always on one line."
///   Last: "Another one."
/// ```
fn of_text(text: &str) -> Result<Vec<AnsweredNote>, String> {
    let mut lines = text.lines().peekable();
    if lines.next().is_none_or(|head| head.trim_end() != "# Recent Activity") {
        return Err(unknown(text));
    }
    // Each with its pieces of text.
    let mut notes: Vec<(AnsweredNote, Vec<&str>)> = Vec::new();
    while let Some(line) = lines.next() {
        let begins = stem(line).filter(|_| lines.peek().is_some_and(|next| is_time(next)));
        if let Some(stem) = begins {
            if notes.len() == MOST {
                break;
            }
            let place = NotePlace::Stem(stem.to_owned());
            notes.push((AnsweredNote { place, ..AnsweredNote::default() }, Vec::new()));
        } else if let Some((note, pieces)) = notes.last_mut() {
            if let Some(title) = line.strip_prefix("  Title: ") {
                note.title.get_or_insert_with(|| title.to_owned());
            }
            pieces.extend(piece(line));
        }
    }
    if notes.is_empty() {
        return Err(unknown(text));
    }
    let linking = |(note, pieces)| AnsweredNote { concepts: linked(pieces), ..note };
    Ok(notes.into_iter().map(linking).collect())
}

/// The file name at the start of a block, parsed from the right, because a file name can contain almost anything.
fn stem(line: &str) -> Option<&str> {
    let (stem, kind) = line.strip_prefix("**")?.strip_suffix(')')?.rsplit_once("** (")?;
    let is_kind = !kind.is_empty() && kind.bytes().all(|byte| byte.is_ascii_lowercase());
    (is_kind && !stem.is_empty()).then_some(stem)
}

/// Whether a line is the second of a block. It shows local minutes without a zone.
fn is_time(line: &str) -> bool {
    line.strip_prefix("  Modified: ")
        .is_some_and(|time| time.starts_with(|c: char| c.is_ascii_digit()))
}

fn piece(line: &str) -> Option<&str> {
    let starts = ["  First: \"", "  Last: \"", "  Current: \""];
    let piece = starts.iter().find_map(|start| line.strip_prefix(start))?;
    Some(piece.strip_suffix('"').unwrap_or(piece))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const UNKNOWN: &str = "maenifold printed something unexpected: ";

    fn shown(notes: &[AnsweredNote]) -> Vec<String> {
        let shown = |note: &AnsweredNote| {
            let concepts: Vec<&str> =
                note.concepts.iter().map(|concept| concept.as_str()).collect();
            let place = match &note.place {
                NotePlace::Uri(uri) => uri,
                NotePlace::Stem(stem) => stem,
            };
            let title = note.title.as_deref().unwrap_or("-");
            let time = note.modified.map_or("-".to_owned(), |modified| modified.to_string());
            let all = if note.names_all_concepts { "all" } else { "some" };
            format!("{place} | {title} | {time} | {all}: {}", concepts.join(" "))
        };
        notes.iter().map(shown).collect()
    }

    #[track_caller]
    fn check(said: &str, expect: &[&str]) {
        assert_eq!(shown(&recent(said.as_bytes()).unwrap()), expect, "{said}");
    }

    const TEXT: &str = "\
# Recent Activity

**auth-note** (memory)
  Modified: 2026-02-20 14:04
  Title: Auth Note
  Sections: 2
  First: \"Using [[OAuth2]] for \"[[authentication]]\" in [[kgctx]].\"
  Last: \"Wire [[OAuth2]] [[sess...\"

**session-1771260150747-12345** (sequential)
  Modified: 2026-02-20 13:50
  Thoughts: 3
  Status: active
  First: \"Analysing [[graph-rag]] ...\"

**workflow-177** (workflow)
  Modified: 2026-02-20 13:50
  Steps: 3
  Status: active
  First: \"\"
  Current: \"[[here]]\"

**bare** (memory)
  Modified: 2026-02-20 13:50
  Title: 
  Sections: 0

";

    #[test]
    fn the_text_of_recent_activity_is_understood() {
        let expect = [
            "auth-note | Auth Note | - | some: oauth2 authentication kgctx",
            "session-1771260150747-12345 | - | - | some: graph-rag",
            "workflow-177 | - | - | some: here",
            "bare |  | - | some: ",
        ];
        check(TEXT, &expect);
        check(&TEXT.replace('\n', "\r\n"), &expect);
    }

    #[test]
    fn the_seeds_object_is_understood() {
        check(
            r#"{"items":[{"uri":"memory://tech/api","title":"API","modified":"2026-01-27T21:36:01-08:00",
                "concepts":["OpenCode","SDK"]},{"uri":"memory://b","modified":"soon"},{"title":"nowhere"}]}"#,
            &[
                "memory://tech/api | API | 2026-01-28T05:36:01Z | all: opencode sdk",
                "memory://b | - | - | some: ",
            ],
        );
        check(r#"{"success":true,"data":{"items":[]},"error":null}"#, &[]);
        check("No recent activity found\n", &[]);
    }

    #[test]
    fn texts_titles_and_names_may_look_like_anything() {
        let block = |stem: &str, title: &str, piece: &str| {
            format!(
                "# Recent Activity\n\n**{stem}** (memory)\n  Modified: 2026-02-20 14:04\n  Title: {title}\n  \
                 Sections: 1\n  First: \"{piece}\"\n\n"
            )
        };
        for odd in
            ["**x** (memory)", "** (", "a** (memory", "No database found", "🚀 \"", "ERROR: x"]
        {
            let expect = format!("{odd} | {odd} | - | some: b");
            check(&block(odd, odd, &format!("{odd} [[b]]")), &[&expect]);
        }
        // A title of several lines, one of them like the start of a block.
        let two = block("a", "Two\n**lines** (memory)\n  Title: other", "[[b]]");
        check(&two, &["a | Two | - | some: b"]);
    }

    #[test]
    fn what_is_not_understood_is_no_empty_answer() {
        for said in [
            "Segmentation fault",
            "# Recent Activity\n\n- a new way to show notes\n",
            "# Recent Activity\n",
            r#"{"success":true,"data":{"activity":[]},"error":null}"#,
            r#"{"items":["a"]}"#,
        ] {
            assert!(recent(said.as_bytes()).unwrap_err().starts_with(UNKNOWN), "{said}");
        }
        let none =
            recent(b"# Recent Activity\n\nNo database found. Run the `Sync` command first\n");
        assert_eq!(none.unwrap_err(), "maenifold has no database yet; its `Sync` makes one");
    }

    #[test]
    fn answers_have_an_end() {
        let block = "**a** (memory)\n  Modified: 2026-02-20 14:04\n\n";
        let many = format!("# Recent Activity\n\n{}", block.repeat(1_500));
        assert_eq!(recent(many.as_bytes()).unwrap().len(), MOST);
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_odd(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = recent(&bytes);
        }

        #[test]
        fn no_cut_is_too_odd(at in 0..TEXT.len(), byte: u8) {
            let _ = recent(&TEXT.as_bytes()[..at]);
            let mut changed = TEXT.as_bytes().to_vec();
            changed[at] = byte;
            let _ = recent(&changed);
        }

        #[test]
        fn notes_come_back_from_the_text(
            notes in prop::collection::vec(
                ("[^\\r\\n/]{1,12}|[*() a-z]{1,12}", "[^\\r\\n]{0,16}", prop::collection::vec("[a-z0-9]{1,6}", 0..4)), 1..6
            ),
        ) {
            let mut text = "# Recent Activity\n\n".to_owned();
            let mut expect = Vec::new();
            for (stem, title, concepts) in &notes {
                let links: Vec<String> = concepts.iter().map(|name| format!("[[{name}]]")).collect();
                text += &format!("**{stem}** (memory)\n  Modified: 2026-02-20 14:04\n  Title: {title}\n  Sections: 1\n  \
                    First: \"{}\"\n\n", links.join(" "));
                expect.push(AnsweredNote {
                    place: NotePlace::Stem(stem.clone()),
                    title: Some(title.clone()),
                    concepts: linked(links.iter().map(String::as_str)),
                    ..AnsweredNote::default()
                });
            }
            prop_assert_eq!(recent(text.as_bytes()).unwrap(), expect);
        }
    }
}
