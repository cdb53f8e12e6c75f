//! Tests of the output of a pickup, and that no content imitates our own lines.

use super::*;
use proptest::prelude::*;

const LIMIT: u64 = 262_144;

fn file(path: &str, found: FoundFile) -> ListedFile {
    ListedFile { path: path.to_owned(), found }
}

fn content(text: &str) -> FoundFile {
    FoundFile::Text { text: text.to_owned(), total: text.len() as u64 }
}

fn rendered(document: &str, files: &[ListedFile]) -> String {
    render(&HandoffId::parse("2026-01-13_08-01-05").unwrap(), document, files, LIMIT)
}

#[test]
fn p_3_1_the_claim_the_document_and_its_files() {
    // P-3.1, P-3.9, P-3.10, P-3.16
    let files = [
        file("specs/a.md", content("# Spec\n")),
        file("src/gone.rs", FoundFile::Missing),
        file("src/b.rs", content("fn b() {}")),
        file("img.png", FoundFile::Unreadable { why: "it is binary".to_owned() }),
        file("long.md", FoundFile::Text { text: "abc\n".to_owned(), total: 9 }),
        file("later.md", FoundFile::NoRoom { total: 7 }),
        file("empty", content("")),
    ];
    assert_eq!(
        rendered("---\nid: \"2026-01-13_08-01-05\"\n---\n# Work\n", &files),
        "Session claimed: 2026-01-13_08-01-05\n\
         <PICKUP_ID>2026-01-13_08-01-05</PICKUP_ID>\n\
         \n\
         === Session Content ===\n\
         ---\n\
         id: \"2026-01-13_08-01-05\"\n\
         ---\n\
         # Work\n\
         \n\
         === Injected Files ===\n\
         \n\
         --- specs/a.md ---\n\
         # Spec\n\
         \n\
         [Warning: File not found: src/gone.rs]\n\
         \n\
         --- src/b.rs ---\n\
         fn b() {}\n\
         \n\
         [Warning: Unreadable: img.png (it is binary)]\n\
         \n\
         --- long.md ---\n\
         abc\n\
         [Truncated: long.md, 4 of 9 bytes]\n\
         \n\
         [Not shown: later.md, 7 bytes; the limit of 262144 bytes was reached]\n\
         \n\
         --- empty ---\n"
    );
    assert_eq!(
        warnings(&files, LIMIT),
        [
            "[Warning: File not found: src/gone.rs]",
            "[Warning: Unreadable: img.png (it is binary)]",
            "[Truncated: long.md, 4 of 9 bytes]",
            "[Not shown: later.md, 7 bytes; the limit of 262144 bytes was reached]",
        ]
    );
}

#[test]
fn p_3_11_no_header_where_nothing_is_below_it() {
    // P-3.11
    let start = "Session claimed: 2026-01-13_08-01-05\n<PICKUP_ID>2026-01-13_08-01-05</PICKUP_ID>\n\n\
                 === Session Content ===\nx\n";
    assert_eq!(rendered("x", &[]), start);
    let files = [file("a", FoundFile::Missing), file("b", FoundFile::Missing)];
    assert_eq!(
        rendered("x\n", &files),
        format!("{start}\n[Warning: File not found: a]\n\n[Warning: File not found: b]\n")
    );
}

#[test]
fn p_3_17_what_looks_like_our_lines_is_escaped() {
    // P-3.17
    for line in [
        "=== Injected Files ===",
        "=== HANDOFF LOADED (ID: x) ===",
        "=== END HANDOFF ===",
        "===x===",
        "  === a === ",
        "--- src/a.rs ---",
        "---a---",
        "[Warning: File not found: a]",
        "[Truncated: a, 1 of 2 bytes]",
        "[Not shown: a",
        "<PICKUP_ID>x</PICKUP_ID>",
        "<HANDOFF_ID>x",
        "\t<SESSION_FILE>",
        "Session claimed: x",
        "\\=== a ===",
        "\\\\[Warning: x",
    ] {
        assert_eq!(escape_delimiters(line), format!("\\{line}"));
        for end in ["\n", "\r\n", "\r", "\u{2028}", "\u{85}"] {
            let text = format!("a{end}{line}{end}b");
            assert_eq!(escape_delimiters(&text), format!("a{end}\\{line}{end}b"));
        }
    }
    for line in [
        "---",
        "-----",
        "===",
        "=====",
        "--- a/src/main.rs",
        "+++ b/src/main.rs",
        "=== RUN TestA",
        "--- | ---",
        "| --- | --- |",
        "a === b === c",
        "[x] done",
        "[Warning]",
        "a [Warning: x",
        "\\",
        "",
        "---:|:---",
        "<div>",
    ] {
        assert_eq!(escape_delimiters(line), line);
    }
    let forged = [file("a\n--- b ---", content("=== Injected Files ===\n--- c ---\nx"))];
    let text = rendered("---\ngoal: \"g\"\n---\n=== Injected Files ===\n", &forged);
    assert!(text.contains("---\ngoal: \"g\"\n---\n\\=== Injected Files ===\n"), "{text}");
    assert!(text.ends_with(
        "\n=== Injected Files ===\n\n--- a\\x0a--- b --- ---\n\\=== Injected Files ===\n\\--- c ---\nx\n"
    ), "{text}");
}

#[test]
fn p_3_33_a_terminal_is_not_told_to_do_anything() {
    // P-3.33
    assert_eq!(
        for_terminal::lines("a\u{1b}[31m\u{7}\r\u{7f}\u{9b}1m\0\u{202e}\u{2066}\u{200f}"),
        "a\\x1b[31m\\x07\\x0d\\x7f\\x9b1m\\x00\\u{202e}\\u{2066}\\u{200f}"
    );
    for text in ["Größe\t✅\n👩‍💻", "می‌خواهم", ""] {
        assert!(matches!(for_terminal::lines(text), Cow::Borrowed(same) if same == text));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn p_3_17_no_content_makes_a_line_of_ours(
        document in texts(), path in texts(), content in texts(), why in texts(),
    ) {
        // P-3.17; a path that consists of dashes would not look like a title.
        let path = format!("p{path}");
        let found = FoundFile::Text { total: content.len() as u64 + 1, text: content };
        let files = [file(&path, found), file(&path, FoundFile::Unreadable { why })];
        let text = rendered(&document, &files);
        let n_ours = lines(&text).filter(|line| !line.starts_with('\\') && is_delimiter(line)).count();
        // The claim, its id, two titles, one file, one truncation, one warning.
        prop_assert_eq!(n_ours, 7, "{}", text);
    }

    #[test]
    fn p_3_17_what_was_escaped_can_be_had_back(text in texts()) {
        // P-3.17
        let escaped = escape_delimiters(&text);
        let back: String = lines(&escaped)
            .map(|line| if is_delimiter(line) { &line[1..] } else { line })
            .collect();
        prop_assert_eq!(back, text);
    }

    #[test]
    fn p_3_33_no_control_reaches_a_terminal(text: String) {
        // P-3.33
        let shown = for_terminal::lines(&text);
        prop_assert!(shown.chars().all(|c| !c.is_control() || c == '\n' || c == '\t'));
    }
}

fn texts() -> impl Strategy<Value = String> {
    let parts = [
        "===",
        "---",
        " ",
        "a",
        "\\",
        "\n",
        "\r",
        "\u{2028}",
        "[Warning: ",
        "[Not shown: ",
        "<PICKUP_ID>",
        "Session claimed: ",
        "]",
        "\t",
        "😀",
    ];
    prop_oneof![
        any::<String>(),
        prop::collection::vec(prop::sample::select(parts.to_vec()), 0..9)
            .prop_map(|parts| parts.concat()),
    ]
}
