//! Tests of a handoff that is shortened to its share of a context.

use super::*;

fn handoff(body: &str) -> Handoff {
    Handoff {
        id: "h-1".to_owned(),
        facts: vec!["Channel: c".to_owned()],
        body: body.to_owned(),
        remark: "*Done.*".to_owned(),
        tasks: None,
        files: Vec::new(),
    }
}

// One token per character keeps the arithmetic simple.
fn measure(text: &str) -> Size {
    Size { tokens: text.chars().count(), chars: 0 }
}

fn cut(body: &str, room: usize) -> Option<String> {
    let legacy = HandoffSection::Handoff(Box::new(handoff(body)));
    render(&legacy, Budget { tokens: room, chars: None }, measure)
}

#[test]
fn a_1_17_all_of_it_between_banners_where_there_is_room() {
    // A-1.17
    assert_eq!(
        cut("# Goal\nShip.\n\n## Next\nTest.", 1_000).unwrap(),
        "=== HANDOFF LOADED (ID: h-1) ===\nChannel: c\n\n# Goal\nShip.\n\n## Next\nTest.\n\n\
         === END HANDOFF ===\n*Done.*\n\n"
    );
}

#[test]
fn a_1_19_what_is_left_out_is_named_and_next_steps_come_first() {
    // A-1.19
    let long = "word ".repeat(100);
    let body = format!("# Goal\nShip.\n# Log\n{long}\n# More\n{long}\n# Next steps\nTest.\n");
    let text = cut(&body, 340).unwrap();
    assert!(text.contains("Ship.") && text.contains("Test.") && !text.contains("word"), "{text}");
    assert!(text.contains("[Left out, no room: Log, More; `kgctx handoff show h-1`"), "{text}");
    for room in 0..1_400 {
        let fits = cut(&body, room).is_none_or(|text| text.chars().count() <= room);
        assert!(fits, "{room}");
    }
}

#[test]
fn where_no_section_fits_its_first_lines_do() {
    let body = format!("# Log\nShip the first part.\n{}\n", "a long line ".repeat(100));
    let text = cut(&body, 240).unwrap();
    assert!(text.contains("Ship the first part.\n") && !text.contains("a long line"), "{text}");
    assert_eq!(cut(&body, 20), None);
}

#[test]
fn a_comment_in_code_is_no_heading() {
    assert_eq!(sections("a\n```sh\n# no\n```\n# yes\nb").len(), 2);
    assert_eq!(sections("# a\n## b\n"), ["# a\n", "## b\n"]);
}

#[test]
fn files_are_whole_or_cut_by_line_or_named() {
    let file = |path: &str, text: &str| ListedFile {
        path: path.to_owned(),
        found: FoundFile::Text { text: text.to_owned(), total: text.len() as u64 },
    };
    let missing = ListedFile { path: "gone.md".to_owned(), found: FoundFile::Missing };
    let files = [file("a.md", "one\ntwo\n"), missing, file("b.md", &"line\n".repeat(50))];
    let shown = |room| render_files(&files, Budget { tokens: room, chars: None }, measure);
    let all = shown(10_000).unwrap();
    assert!(all.starts_with("=== Injected Files ===\n\n--- a.md ---\none\ntwo\n\n"), "{all}");
    assert!(all.contains("[Warning: File not found: gone.md]\n\n--- b.md ---\nline\n"), "{all}");
    let some = shown(220).unwrap();
    assert!(some.contains("of 250 bytes]"), "{some}");
    assert_eq!(shown(20), None);
    for room in 0..500 {
        assert!(shown(room).is_none_or(|text| text.chars().count() <= room), "{room}");
    }
}

#[test]
fn the_line_about_tasks_gives_way_to_the_handoff() {
    let body = "# Goal\nShip.\n\n## Next\nTest.";
    let line = "[1 task waits]";
    let section = HandoffSection::Handoff(Box::new(handoff(body))).with_tasks(line.to_owned());
    let cut_with_line = |room| render(&section, Budget { tokens: room, chars: None }, measure);
    let n_whole = (1..).find(|room| cut(body, *room).is_some_and(|text| text.contains("Test.")));
    let n_whole = n_whole.unwrap();
    for room in 1..n_whole + 100 {
        let without = cut(body, room);
        match cut_with_line(room) {
            Some(text) if text.contains(line) => {
                assert!(measure(&text).tokens <= room, "{room}: {text}");
                assert_eq!(Some(text.replace(&format!("{line}\n"), "")), without, "{room}");
            }
            text => assert_eq!(text, without, "{room}: it takes no room from the handoff"),
        }
    }
    let all = cut_with_line(n_whole + 100).unwrap();
    assert!(all.ends_with("*Done.*\n[1 task waits]\n\n"), "{all}");
}
