//! Tests of reading every kind of document, and of reading back what was written.

use serde_json::json;

use super::*;
use crate::core::handoff::{Audience, Consume, Document, Head, Kind, Occasion, Priority};
use crate::core::time::Timestamp;

#[track_caller]
fn good(text: &str) -> Document {
    let read = read(text.as_bytes()).unwrap();
    assert_eq!(read.warnings, [""; 0], "{text}");
    assert!(!read.is_raw, "{text}");
    read.document
}

#[track_caller]
fn raw(text: &str, n_warnings: usize) {
    let read = read(text.as_bytes()).unwrap();
    assert!(read.is_raw, "{text}");
    assert_eq!(read.document, Document { head: Head::default(), body: text.to_owned() });
    assert_eq!(read.warnings.len(), n_warnings, "{text}: {:?}", read.warnings);
}

fn texts(items: &[&str]) -> Vec<String> {
    items.iter().map(|&item| item.to_owned()).collect()
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn p_3_2_every_key_is_read_and_unknown_ones_are_kept_in_their_order() {
    // P-3.2
    let document = good(
        "---\nid: HO-1\nkind: task\ntype: later\nchannel: c\nsession_id: s\ncreated_at: 2026-01-31T12:00:00Z\n\
         expires_at: 2026-01-31T14:00:00+02:00\nconsume: sticky\naudience: any\npriority: high\ngoal: g\nzebra: 1\nnext_step: n\n\
         git_ref: r\nworking_dir: /w\nsource_id: o\ntags: [a, b]\nspecs: [c]\nfiles: [d]\nfiles_changed: [e]\n\
         apple: {x: [1, null, 1.5, yes]}\n---\nbody",
    );
    let noon = Timestamp::parse("2026-01-31T12:00:00Z");
    let expect = Head {
        id: some("HO-1"),
        kind: Kind::Task,
        occasion: Some(Occasion::Other("later".to_owned())),
        channel: some("c"),
        session_id: some("s"),
        created_at: noon,
        expires_at: noon,
        consume: Some(Consume::Sticky),
        audience: Some(Audience::Any),
        priority: Priority::High,
        goal: some("g"),
        next_step: some("n"),
        git_ref: some("r"),
        working_dir: some("/w"),
        source_id: some("o"),
        tags: texts(&["a", "b"]),
        specs: texts(&["c"]),
        files: texts(&["d"]),
        files_changed: texts(&["e"]),
        other: vec![
            ("zebra".to_owned(), json!(1)),
            ("apple".to_owned(), json!({"x": [1, null, 1.5, "yes"]})),
        ],
    };
    assert_eq!(document, Document { head: expect, body: "body".to_owned() });
}

#[test]
fn p_3_2_other_names_of_keys_are_known() {
    // P-3.2: a canonical key overrides its alias, which is then kept as an unknown key.
    let head = good(
        "---\nbranch: b\nworking_directory: /w\nagent_session_id: s\ntimestamp: 2026-01-31\n---\n",
    )
    .head;
    assert_eq!(head.git_ref.as_deref(), Some("b"));
    assert_eq!(head.working_dir.as_deref(), Some("/w"));
    assert_eq!(head.session_id.as_deref(), Some("s"));
    assert_eq!(head.created_at, Timestamp::parse("2026-01-31T00:00:00Z"));
    let head = good("---\nbranch: old\ngit_ref: new\n---\n").head;
    assert_eq!(head.git_ref.as_deref(), Some("new"));
    assert_eq!(head.other, [("branch".to_owned(), json!("old"))]);
}

#[test]
fn p_3_3_lists_come_in_order_and_are_never_null() {
    // P-3.3
    let head = good("---\nspecs:\n  - b.md\n  - a.md\nfiles:\n- z\n- y\n- z\n---\n").head;
    assert_eq!(head.specs, texts(&["b.md", "a.md"]));
    assert_eq!(head.files, texts(&["z", "y", "z"]));
    let head = good("---\nspecs:\nfiles: ~\n---\n").head;
    assert_eq!((head.specs.len(), head.files.len()), (0, 0));
    assert_eq!(to_json(&Head::default())["files"], json!([]));
}

#[test]
fn p_3_4_malformed_front_matter_is_one_warning_and_the_whole_text_is_the_body() {
    // P-3.4, H-0.6
    for yaml in
        ["goal: [a", "a: b: c", "- a\n- b", "just text", "\t- x", "a: *b", "{", "@", "a: 'b"]
    {
        raw(&format!("---\n{yaml}\n---\n# Body\n"), 1);
    }
    raw("---\ngoal: never closed\n# Body\n", 1);
    assert_eq!(read(b"---\n\xff\n---\n"), Err(NotText { at: 4 }));
}

#[test]
fn without_front_matter_all_is_body() {
    for text in ["", "# Body\n", "\n---\ngoal: a\n---\n", "----\na: b\n----\n", "<!-- a: b -->\nx"]
    {
        raw(text, 0);
    }
}

#[test]
fn p_3_5_what_is_no_list_is_empty_and_what_is_no_text_is_left_out() {
    // P-3.5
    let found =
        read(b"---\nspecs: a\nfiles: {a: b}\ntags: [a, 1, [b], c, ~]\ngoal: [x]\n---\nb").unwrap();
    let head = &found.document.head;
    assert_eq!((head.specs.len(), head.files.len()), (0, 0));
    assert_eq!(head.tags, texts(&["a", "c"]));
    assert_eq!(
        found.warnings,
        [
            "specs is a text, not a list of texts",
            "files is a map, not a list of texts",
            "tags has a number as item 2, not a text",
            "tags has a list as item 3, not a text",
            "tags has nothing as item 5, not a text",
            "goal is a list, not a text",
        ]
    );
    assert!(!found.is_raw);
}

#[test]
fn p_3_6_fences_in_all_their_forms() {
    // P-3.6
    for text in [
        "---\ngoal: g\n---\nbody\n---\nmore",
        "---\ngoal: g\n...\nbody\n---\nmore",
        "\u{feff}---\ngoal: g\n---\nbody\n---\nmore",
        "---\r\ngoal: g\r\n---\r\nbody\n---\nmore",
    ] {
        let document = good(text);
        assert_eq!(document.head.goal.as_deref(), Some("g"), "{text:?}");
        assert_eq!(document.body, "body\n---\nmore", "{text:?}");
    }
    assert_eq!(good("---\n---").body, "");
    assert_eq!(good("---\ngoal: g\n---\n\r\n body ").body, "\r\n body ");
}

#[test]
fn unknown_names_and_times_are_warnings() {
    // A-1.4, A-1.12
    let found = read(
        b"---\nkind: other\nconsume: never\npriority: urgent\ncreated_at: yesterday\ntype: new\n---\n",
    )
    .unwrap();
    assert_eq!(
        found.warnings,
        [
            "kind is \"other\", which is unknown; write session or task",
            "consume is \"never\", which is unknown; write once or sticky",
            "priority is \"urgent\", which is unknown; write high, medium or low",
            "created_at is \"yesterday\", which is not a time; write it like 2026-01-31T12:00:00Z",
        ]
    );
    let expect = Head { occasion: Some(Occasion::Other("new".to_owned())), ..Head::default() };
    assert_eq!(found.document.head, expect);
}

#[test]
fn texts_that_look_like_numbers_stay_as_they_are_written() {
    let head = good(
        "---\ngit_ref: 12e4567\nsession_id: 0123\ngoal: true\nnext_step: 1_000\nid: .inf\nchannel: null\n---\n",
    )
    .head;
    assert_eq!(head.git_ref.as_deref(), Some("12e4567"));
    assert_eq!(head.session_id.as_deref(), Some("0123"));
    assert_eq!(head.goal.as_deref(), Some("true"));
    assert_eq!(head.next_step.as_deref(), Some("1_000"));
    assert_eq!(head.id.as_deref(), Some(".inf"));
    assert_eq!(head.channel, None);
    let head =
        good("---\ngoal: a\ngoal: 012\n<<: {goal: x}\nn: 99999999999999999999999\n---\n").head;
    assert_eq!(head.goal.as_deref(), Some("012"));
    assert_eq!(head.other.len(), 2, "{head:?}");
    let head =
        good("---\nversion: 1.10\nticket: 0012\nsha: 12e4567\nturns: 7\ndone: true\n---\n").head;
    let values: Vec<_> = head.other.into_iter().map(|(_, value)| value).collect();
    assert_eq!(values, [json!("1.10"), json!("0012"), json!("12e4567"), json!(7), json!(true)]);
}

#[test]
fn h_0_15_what_amplifier_writes_is_read_without_a_warning() {
    // H-0.15
    let document = good(
        "---\nsession_id: 7f3a\ntimestamp: 2026-02-27T10:11:12.123456+00:00\nproject: atlas\nduration_turns: 7\n\
         files_changed:\n  []\n---\n\n## Accomplished\n- x\n",
    );
    assert_eq!(document.head.session_id.as_deref(), Some("7f3a"));
    assert_eq!(document.head.created_at, Timestamp::parse("2026-02-27T10:11:12.123456Z"));
    assert_eq!(
        document.head.other,
        [("project".to_owned(), json!("atlas")), ("duration_turns".to_owned(), json!(7))]
    );
    assert_eq!(document.body, "\n## Accomplished\n- x\n");
    let head =
        good("---\nduration_minutes: 12\nfiles_changed:\n  - src/a.rs\n  - b c.md\n---\nx").head;
    assert_eq!(head.files_changed, texts(&["src/a.rs", "b c.md"]));
}

#[test]
fn a_header_of_comments_is_read() {
    let document = good(
        "<!-- HANDOFF-ID: HO-20260202-064530-c74cc080 -->\r\n<!-- SESSION: c74cc080-94b9 -->\n\
         <!-- CHANNEL: global -->\n<!-- CREATED: 2026-02-02T06:45:30Z -->\n<!-- TYPE: auto -->\n\
         <!-- WORKING-DIR: /home/ada -->\n<!-- MOOD: good: very -->\n\n# Auto-Handoff\n<!-- TYPE: bye -->\n",
    );
    let head = document.head;
    assert_eq!(head.id.as_deref(), Some("HO-20260202-064530-c74cc080"));
    assert_eq!(head.session_id.as_deref(), Some("c74cc080-94b9"));
    assert_eq!(head.channel.as_deref(), Some("global"));
    assert_eq!(head.created_at, Timestamp::parse("2026-02-02T06:45:30Z"));
    assert_eq!(head.occasion, Some(Occasion::Auto));
    assert_eq!(head.working_dir.as_deref(), Some("/home/ada"));
    assert_eq!(head.other, [("mood".to_owned(), json!("good: very"))]);
    assert_eq!(document.body, "\n# Auto-Handoff\n<!-- TYPE: bye -->\n");
}

#[test]
fn both_generations_of_queued_sessions_are_read() {
    let old = good(
        "---\nid: 2026-01-13_08-01-05\npriority: high\ntags: [feature, cli]\nbranch: feature/session\nspecs:\n\
         \x20 - specs/a.prd.md\nfiles:\n  - src/index.ts\ncreated_at: 2026-01-13T08:01:05-08:00\n\
         working_directory: /srv/project\n---\n# Work\n",
    );
    assert_eq!(old.head.created_at, Timestamp::parse("2026-01-13T16:01:05Z"));
    assert_eq!(old.head.git_ref.as_deref(), Some("feature/session"));
    let new = good(
        "---\npriority: \"medium\"\ngoal: \"ship: it\"\nnext_step: \"a\\nb\"\ngit_ref: \"main\"\n\
         agent_session_id: \"x\"\ncreated_at: \"2026-01-13T16:01:05.000Z\"\nspecs: []\nfiles:\n  - \"a b.ts\"\n---\nx",
    );
    assert_eq!(new.head.next_step.as_deref(), Some("a\nb"));
    assert_eq!(new.head.created_at, old.head.created_at);
}

#[test]
fn h_0_6_front_matter_without_a_body_is_empty() {
    // H-0.6
    assert!(read(b"---\ngoal: g\n---\n \n").unwrap().is_empty());
    assert!(read(b" \n").unwrap().is_empty());
    assert!(!read(b"---\ngoal: [\n---\n").unwrap().is_empty());
}

#[test]
fn what_is_written_is_plain_to_see() {
    let head = Head {
        id: some("HO-1"),
        goal: some("a \"b\"\n\u{1b}\u{85}\u{2028}\u{feff}"),
        created_at: Timestamp::parse("2026-01-31T12:00:00Z"),
        files: texts(&["src/a.rs", "b: c #d"]),
        other: vec![("project".to_owned(), json!({"a": [1, "yes", null]}))],
        ..Head::default()
    };
    let document = Document { head, body: "---\n".to_owned() };
    assert_eq!(
        write(&document),
        "---\nid: \"HO-1\"\nkind: \"session\"\ncreated_at: \"2026-01-31T12:00:00Z\"\npriority: \"medium\"\n\
         goal: \"a \\\"b\\\"\\n\\u001b\\u0085\\u2028\\ufeff\"\nfiles:\n  - \"src/a.rs\"\n  - \"b: c #d\"\n\
         \"project\": {\"a\": [1, \"yes\", null]}\n---\n---\n"
    );
}

#[test]
fn bombs_are_defused_in_time() {
    // P-3.4
    let mut laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for n in 1..20 {
        let refs = vec![format!("*a{}", n - 1); 9].join(", ");
        laughs += &format!("a{n}: &a{n} [{refs}]\n");
    }
    let tens = |name: &str| vec![format!("*{name}"); 10].join(", ");
    let long = "x".repeat(200_000);
    let heavy =
        format!("a: &a {long}\nb: &b [{}]\nc: &c [{}]\nd: [{}]\n", tens("a"), tens("b"), tens("c"));
    assert!(read(format!("---\n{heavy}---\n").as_bytes()).unwrap().is_raw);
    let mut bombs = vec![
        laughs,
        "x".repeat(3 << 20),
        (0..30_000).map(|n| format!("{n}:\n")).collect(),
        format!("a: &a {}\n{}", "x".repeat(1_000), "b: *a\n".repeat(10_000)),
        format!("a: &a {}\nb: [{}]", "x".repeat(100_000), "*a,".repeat(50_000)),
    ];
    let pieces = [
        "[", "{", "{a: ", "[a, ", "? ", "- ", "a", "a: b\n", "a:\n", "\"", "'", "\"a\": ", "&a ",
        "*a ", "!!", "!a ", "# \n", "a \n", "\n", " ", "\t", "|\n", "a: |\n ", "? a\n: ", "%", ",",
        ":", "a\\\n", "\r", "ß", "\u{2028}", "\"a\n", "\"\\x41", "a: [\n", "- a\n", "- - ",
        "a: a: ", "<<: ", "1", "a: 1\n",
    ];
    bombs.extend(pieces.iter().map(|piece| piece.repeat(260_000 / piece.len())));
    for yaml in bombs {
        let text = format!("---\n{yaml}\n---\nbody");
        let started = std::time::Instant::now();
        assert!(read(text.as_bytes()).unwrap().document.body.ends_with("body"));
        let begin: String = yaml.chars().take(9).collect();
        assert!(started.elapsed().as_secs() < 5, "{begin:?}: {:?}", started.elapsed());
    }
}

#[test]
fn p_3_7_large_heads_come_back() {
    // P-3.7
    let long = "ß\" ".repeat(20_000);
    for head in [
        Head { goal: Some(long.clone()), ..Head::default() },
        Head { files: vec!["a".to_owned(); 30_000], ..Head::default() },
        Head { other: vec![(long.clone(), json!({ long: 1 }))], ..Head::default() },
    ] {
        let document = Document { head, body: String::new() };
        assert!(read(write(&document).as_bytes()).unwrap().document == document);
    }
}
