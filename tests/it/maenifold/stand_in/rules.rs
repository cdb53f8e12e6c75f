//! maenifold's rules, its mistakes among them.

use std::fs;

use proptest::prelude::{ProptestConfig, prop, prop_oneof, proptest};
use proptest::strategy::{Just, Strategy};

use super::{DAY, NOW_SECONDS, Root, titles};

#[test]
fn links_are_those_that_maenifold_counts() {
    let root = Root::fresh();
    for (text, expected) in [
        ("[[A]] and [[b_c]], ![[d/e]]", "a b-c d-e"),
        ("[[C++]] [[.NET]] [[src/Foo.cs]] [[auth / / token]]", "c++ .net src-foo.cs auth-token"),
        ("[[a|b]] [[a#b]]", "a|b a#b"),
        ("[[[x]] [[[x]]] [[x]]] [[]] [[ok]]", "ok"),
        ("`[[code]]` [[ok]] `` [[two]] ``", "ok two"),
        ("``[[two]]`` \\`[[escaped]] ok\\`", "escaped"),
        ("`[[twice]]` `[[twice]]`", "twice"),
        ("```\n[[fenced]]\n```\n[[ok]]", "ok"),
        ("~~~~\n[[fenced]]\n~~~\n[[fenced]]\n~~~~\n[[ok]]", "ok"),
        ("text\n\n    [[indented]]\n\n[[ok]]", "ok"),
        ("text\n    [[continued]]", "continued"),
        ("- item\n\n    [[in-item]]\n\n[[ok]]", "in-item ok"),
        ("1. - [[deep]]\n> - [[quoted]]", "deep quoted"),
        ("<!-- [[comment]] -->\n\n[[ok]]", "ok"),
        ("<!--\n[[comment]]\n\n[[comment]] -->\n[[ok]]", "ok"),
        ("<div>\n[[html]]\n\n[[ok]]", "ok"),
        ("text <!-- [[inside]] -->", "inside"),
        (
            "# [[Heading]]\n\nA [[set]]\n---\n\n| [[cell]] | [[x]] |\n|---|---|",
            "heading set cell x",
        ),
        ("[[İ]] [[ΟΔΟΣ]]", "İ οδοσ"),
        ("[[two\nlines]]", "two\nlines"),
    ] {
        root.write("note.md", text, 0);
        let _ = fs::remove_file(root.path().join("memory.db"));
        root.sync();
        let found = root.ask("SELECT concept_name FROM concepts ORDER BY rowid");
        assert_eq!(found.join(" "), expected, "{text:?}");
    }
}

#[test]
fn front_matter_gives_the_title_unless_it_is_no_yaml() {
    let root = Root::fresh();
    for (text, title, body) in [
        ("---\ntitle: 'A: b' \nstatus: saved\n---\n\nbody", "A: b", "body"),
        ("---\ntitle: A: b\n---\nbody", "note", "body"),
        ("---\ntitle: \n---\nbody", "note", "body"),
        ("---\ntitle: open\nbody", "note", "---\ntitle: open\nbody"),
        ("\u{feff}---\r\ntitle: Bom\r\n---\r\n\r\nbody", "Bom", "body"),
        ("# Heading", "note", "# Heading"),
    ] {
        root.write("note.md", text, 0);
        let _ = fs::remove_file(root.path().join("memory.db"));
        root.sync();
        let row = root.ask("SELECT title || '|' || content FROM file_content");
        assert_eq!(row, [format!("{title}|{body}")], "{text:?}");
    }
}

#[test]
fn a_time_span_is_one_of_dot_net() {
    let root = Root::of_the_samples();
    root.write("ancient.md", "text", 30 * DAY);
    root.sync();
    for (span, n_notes) in [
        ("1.00:00:00", 1),
        ("01:00", 1),
        ("00:56:00.0000000", 1),
        // The moment it reaches back to is cut to a second.
        ("00:55:59.9999999", 1),
        ("00:55:59", 0),
        ("23:59:59", 1),
        ("9", 1),
        ("10", 2),
        ("9:23:59:59", 1),
        (" 10.00:00 ", 2),
        // 24 days.
        ("24:00:00", 2),
        ("24.00:00:00", 2),
        // These are none, and nobody is told.
        ("24h", 3),
        ("24:00", 3),
        ("00:60:00", 3),
        ("1.00", 3),
        ("", 3),
    ] {
        let payload = serde_json::json!({ "timespan": span }).to_string();
        let told = root.text("RecentActivity", &payload);
        assert_eq!(told.matches("  Modified: ").count(), n_notes, "{span:?}: {told}");
    }
    let far = root.text("RecentActivity", r#"{"timespan":"10675199.00:00:00"}"#);
    assert!(far.starts_with("ERROR: The added or subtracted value"), "{far}");
}

#[test]
fn activity_is_filtered_by_folder() {
    let root = Root::fresh();
    for (at, note) in
        ["thinking/sequential/s", "thinking/odd", "chat/c", "assumptions/a", "m"].iter().enumerate()
    {
        root.write(&format!("{note}.md"), "text", at as u64);
    }
    root.sync();
    for (filter, expected) in [
        ("all", "s odd c a m"),
        ("thinking", "s odd"),
        ("assumptions", "c"),
        ("memory", "a m"),
        ("whatever", "s odd c a m"),
    ] {
        let payload = serde_json::json!({ "filter": filter }).to_string();
        let told = root.text("RecentActivity", &payload);
        let stems: Vec<&str> = told
            .lines()
            .filter_map(|line| line.strip_prefix("**")?.split_once("**").map(|(stem, _)| stem))
            .collect();
        assert_eq!(stems.join(" "), expected, "{filter}");
    }
    assert_eq!(root.text("RecentActivity", r#"{"limit":-1}"#), "No recent activity found\n");
}

#[test]
fn a_section_is_told_in_one_line_without_starred_lines() {
    let root = Root::fresh();
    let long = "x".repeat(1_100);
    root.write(
        "a.md",
        &format!("## One\n\nplain\n* starred\n- kept\n\n**bold** first\n\n## Two\n* only\n\n## Three\n\n{long}\n"),
        0,
    );
    root.sync();
    root.write("b.md", "## One\nsame\n\n## Two\n* starred\n\nsame", 1);
    root.sync();
    let told = root.text("RecentActivity", "{}");
    assert!(
        told.ends_with("  Sections: 2\n  First: \"same\"\n\n\n"),
        "the same is not told twice: {told}"
    );
    assert!(told.contains("  Sections: 3\n  First: \"plain - kept\"\n"), "{told}");
    assert!(told.contains(&format!("  Last: \"{}...\"\n", &long[..997])), "{told}");
}

#[test]
fn a_snippet_is_of_200_units() {
    let root = Root::fresh();
    root.write("a.md", &format!("{}needle{}", "🔍".repeat(50), "ß".repeat(300)), 0);
    let told = root.json("SearchMemories", r#"{"query":"NEEDLE"}"#);
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    let expected = format!("{}needle{}", "🔍".repeat(10), "ß".repeat(174));
    assert_eq!(told["data"]["results"][0]["snippet"], expected);
}

#[test]
fn folders_are_listed_one_after_the_other() {
    let root = Root::fresh();
    for note in ["x/deep/1.md", "z/deep/2.md", "x/3.md", "z/4.md", ".hidden/5.md", "6.MD", "7.txt"]
    {
        root.write(note, "text", 0);
    }
    root.sync();
    let listed = root.ask("SELECT file_path FROM file_content ORDER BY rowid");
    assert_eq!(listed.len(), 5, "{listed:?}");
    assert!(listed[3..].iter().all(|uri| uri.contains("/deep/")), "{listed:?}");
    assert!(listed.contains(&"memory://.hidden/5".to_owned()));
}

#[test]
fn a_relation_names_its_first_three_files() {
    let root = Root::fresh();
    for folder in ["", "a/", "a/b/", "a/b/c/"] {
        root.write(&format!("{folder}n.md"), "[[x]] [[y]]", 0);
    }
    root.sync();
    assert_eq!(
        root.text("BuildContext", r#"{"conceptName":"y","depth":0}"#),
        "Context for CONCEPT: y\n\nDirect relations (1 CONCEPTS):\n  • x (co-occurs in 4 files)\n    \
         Files: memory://n, memory://a/n, memory://a/b/n\n\n"
    );
}

/// A page of one looks at six files, or at four: the first that the system lists.
#[test]
fn a_search_does_not_look_far() {
    let root = Root::fresh();
    for n in 0..20 {
        root.write(&format!("{n}.md"), &format!("word{n:02}"), 0);
    }
    for (mode, seen) in [("Hybrid", 6), ("FullText", 4)] {
        let found = (0..20).filter(|n| {
            let payload = format!(r#"{{"query":"word{n:02}","mode":"{mode}","pageSize":1}}"#);
            !titles(&root.json("SearchMemories", &payload)).is_empty()
        });
        assert_eq!(found.count(), seen, "{mode}");
    }
}

#[test]
fn a_search_counts_pieces_of_words_and_loves_titles() {
    let root = Root::fresh();
    root.write("often.md", "Gone to google: go, go.", 0);
    root.write("titled.md", "---\ntitle: Let it Go\n---\nnothing", 0);
    root.write("old.md", "---\ntitle: go go\ncreated: 2025-10-13\n---\ngo go go", 0);
    let found = titles(&root.json("SearchMemories", r#"{"query":"the GO"}"#));
    assert_eq!(found, ["Let it Go", "often", "go go"], "the best comes last for its age");
    root.write(
        "thinking/sequential/s.md",
        "---\ncreated: 2026-02-09T14:00:00+00:00\n---\nfour days",
        0,
    );
    root.write("workflows/w.md", "---\ncreated: 2026-02-02\n---\nfour days", 0);
    root.write("thinking/workflow/w.md", "---\ncreated: 2026-02-02\n---\nfour days", 0);
    let told = root.json("SearchMemories", r#"{"query":"days","mode":"FullText"}"#);
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    let weights = told["data"]["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| (result["path"].as_str().unwrap(), result["score"].as_f64().unwrap()));
    let weights: std::collections::BTreeMap<&str, f64> = weights.collect();
    assert_eq!(weights["memory://thinking/sequential/s"], 0.5, "its time of grace is of 7 days");
    assert_eq!(weights["memory://workflows/w"], 0.5, "of 14 days");
    assert_eq!(
        weights["memory://thinking/workflow/w"], 1.0,
        "which was meant for this one, that has 28"
    );
    let second = root.json("SearchMemories", r#"{"query":"go","pageSize":2,"page":2}"#);
    assert_eq!(titles(&second), ["go go"]);
    let young = root.json("SearchMemories", r#"{"query":"go","minScore":0.01}"#);
    assert_eq!(titles(&young), ["Let it Go", "often"]);
}

#[test]
fn a_context_is_ordered_by_count_then_by_age() {
    let root = Root::fresh();
    // 128 days old, 100 of them past the time of grace: a tenth.
    root.write("a-old.md", "---\ncreated: 2025-10-15\n---\n[[m]] [[z-old]] [[a-old]]", 3 * DAY);
    root.write("b/new.md", "[[m]] [[new]] [[both]]", 2 * DAY);
    root.write("c/d/new.md", "[[m]] [[both]]", DAY);
    root.sync();
    let order = |variables: &[(&str, &str)], payload: &str| {
        let told = root.told(variables, &["--tool", "BuildContext", "--payload", payload]);
        let names: Vec<String> = told
            .lines()
            .filter_map(|line| line.strip_prefix("  • ")?.split(' ').next().map(str::to_owned))
            .collect();
        names.join(" ")
    };
    let asked = r#"{"conceptName":"m","depth":1}"#;
    assert_eq!(order(&[], asked), "both new z-old a-old");
    assert_eq!(order(&[], r#"{"conceptName":"m","depth":1,"maxEntities":3}"#), "both new z-old");
    assert_eq!(
        order(&[("MAENIFOLD_DECAY_GRACE_DAYS_DEFAULT", "200")], asked),
        "both new z-old a-old"
    );
    assert_eq!(
        order(&[("STAND_IN_NOW", "2025-10-20T00:00:00Z")], asked),
        "both new z-old a-old",
        "equals come with the greater names first, then as they were made"
    );
    root.change("UPDATE file_content SET last_accessed = '2026-02-19T00:00:00Z' WHERE file_path LIKE '%a-old'");
    root.change("UPDATE concept_graph SET co_occurrence_count = 5 WHERE concept_a = 'm' AND concept_b = 'z-old'");
    assert_eq!(order(&[], asked), "z-old both new a-old", "reading makes a note young");
    root.change("UPDATE file_content SET last_accessed = NULL");
    assert_eq!(order(&[], asked), "both new z-old a-old", "five tenths");
    let exponential =
        &[("MAENIFOLD_DECAY_FUNCTION", "exponential"), ("MAENIFOLD_DECAY_HALF_LIFE_DAYS", "100")];
    assert_eq!(order(exponential, asked), "z-old both new a-old", "five halves");
}

#[test]
fn what_left_a_file_stays_in_the_graph() {
    let root = Root::of_the_samples();
    assert_eq!(
        root.sync(),
        "Sync complete:\n- 2 FILES processed\n- 6 CONCEPT mentions found\n- 7 CONCEPT relations created\n\
         - 0 COMMUNITIES detected (modularity 0.000)\n\
         - WARNING: sqlite-vec extension unavailable; semantic tooling disabled\n"
    );
    assert_eq!(
        root.ask("SELECT last_indexed FROM file_content ORDER BY 1"),
        ["2026-02-10T15:00:00.0000000Z", "2026-02-20T14:04:00.0000000Z"]
    );
    root.change("UPDATE file_content SET last_accessed = '2026-02-19T00:00:00Z'");

    root.write("rag-patterns.md", "Only [[graph-rag]] and [[ranks]].", 5);
    assert!(root.sync().contains("- 1 FILES processed\n"));
    let neighbours = "SELECT concept_a || ' ' || concept_b FROM concept_graph WHERE source_files LIKE '%rag-patterns%' ORDER BY 1";
    assert_eq!(root.ask(neighbours), ["authentication graph-rag", "graph-rag ranks"]);
    assert_eq!(
        root.ask("SELECT count(*) || '' FROM concept_mentions WHERE source_file = 'memory://rag-patterns'"),
        ["3"]
    );
    assert_eq!(
        root.ask("SELECT count(*) || '' FROM file_content WHERE last_accessed IS NULL"),
        ["1"]
    );
    assert_eq!(
        root.ask("SELECT rowid || '' FROM file_search WHERE file_search MATCH 'hybrid' AND rowid NOT IN (SELECT rowid FROM file_content)").len(),
        1,
        "the older text is still found, and is nobody's"
    );

    // A changed file with an unchanged time is not seen.
    root.write("rag-patterns.md", "Nothing.", 5);
    assert!(root.sync().contains("- 0 FILES processed\n"));
    assert_eq!(
        root.ask("SELECT content FROM file_content WHERE file_path LIKE '%rag%'"),
        ["Only [[graph-rag]] and [[ranks]]."]
    );

    // One with another time and the same text is not read anew.
    root.write("tech/auth-note.md", super::AUTH_NOTE, 4);
    assert!(root.sync().contains("- 0 FILES processed\n"));
    assert_eq!(
        root.ask("SELECT last_indexed || ' ' || last_accessed FROM file_content WHERE file_path LIKE '%auth%'"),
        ["2026-02-20T14:59:56.0000000Z 2026-02-19T00:00:00Z"]
    );

    fs::remove_file(root.path().join("memory/rag-patterns.md")).unwrap();
    assert!(root.sync().contains("- 2 ORPHANED concepts cleaned up\n"));
    assert_eq!(root.ask(neighbours), [""; 0]);
    assert_eq!(root.ask("SELECT file_path FROM file_content"), ["memory://tech/auth-note"]);
}

#[test]
fn readers_leave_a_database_behind() {
    let root = Root::of_the_samples();
    root.json("SearchMemories", r#"{"query":"authentication"}"#);
    assert_eq!(root.ask("SELECT name FROM sqlite_master"), [""; 0]);
    assert_eq!(root.ask("PRAGMA journal_mode"), ["wal"]);
    root.json("BuildContext", r#"{"conceptName":"authentication"}"#);
    assert!(root.ask("SELECT name FROM sqlite_master").contains(&"concept_graph".to_owned()));

    let careful = Root::of_the_samples();
    careful.told(&[("GITHUB_ACTIONS", "true")], &["--tool", "RecentActivity", "--payload", "{}"]);
    assert_eq!(careful.ask("PRAGMA journal_mode"), ["delete"]);
    careful.told(&[("CI", "true")], &["--tool", "Sync", "--payload", "{}"]);
    assert_eq!(careful.ask("PRAGMA journal_mode"), ["delete"]);
}

#[test]
fn the_database_may_lie_elsewhere_and_the_root_at_home() {
    let root = Root::of_the_samples();
    let (home, database) = (root.scratch.home(), root.scratch.path().join("m.db"));
    let written = jiff::Timestamp::from_second(NOW_SECONDS as i64).unwrap();
    assert_eq!(written.to_string(), super::NOW);
    let mut command = root.command(&["--tool", "Sync", "--payload", "{}"]);
    command
        .env_remove("MAENIFOLD_ROOT")
        .env("HOME", &home)
        .env("MAENIFOLD_DATABASE_PATH", &database);
    assert!(command.output().unwrap().status.success());
    assert!(home.join("maenifold/assets/models/all-MiniLM-L6-v2.onnx").exists());
    assert!(home.join("maenifold/memory").is_dir());
    assert!(database.exists() && !home.join("maenifold/memory.db").exists());
}

/// Pieces of markdown that a scanner may stumble over, and whatever else.
fn any_note() -> impl Strategy<Value = Vec<u8>> {
    let pieces = [
        "---\n", "\n", "\r\n", "    ", "\t", "> ", "- ", "1. ", "## ", "#", "```", "~~~", "`",
        "\\", "[[", "]]", "[", "<!--", "-->", "<div>", "===", "title: ", ": ", "'", "\u{feff}",
        "é", "🔍", "needle", "*", "/",
    ];
    let piece = prop_oneof![
        6 => prop::sample::select(pieces.to_vec()).prop_map(|piece| piece.as_bytes().to_vec()),
        1 => prop::collection::vec(prop::num::u8::ANY, 0..4),
        1 => Just(b"\xff".to_vec()),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_note_is_too_odd(notes in prop::collection::vec(any_note(), 40)) {
        let root = Root::fresh();
        for (at, note) in notes.iter().enumerate() {
            root.scratch.write(&format!("root/memory/{at}.md"), note);
        }
        assert!(root.sync().contains("- 40 FILES processed\n"));
        let recent = root.text("RecentActivity", r#"{"limit":100}"#);
        assert_eq!(recent.matches("\n  Modified: ").count(), 40, "{}", recent);
        titles(&root.json("SearchMemories", r#"{"query":"needle [[ é","pageSize":40}"#));
    }
}
