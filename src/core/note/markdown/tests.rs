//! Tables of notes, and what is read of them.

use super::*;
use crate::core::named::Named;

fn note(text: &str) -> Note {
    parse(text, "file-stem", LinkStyle::Maenifold, Remarks::default())
}

#[track_caller]
fn check_links(text: &str, expect: &str) {
    let mut found: Vec<String> = Vec::new();
    for (concept, n) in &note(text).mentions {
        found.push(if *n == 1 { concept.to_string() } else { format!("{concept}×{n}") });
    }
    assert_eq!(found.join(" "), expect, "{text}");
}

#[test]
fn links_in_text_count() {
    check_links("See [[Auth Flow]] and [[auth-flow]].", "auth-flow×2");
    check_links("# Head [[a]]\n\n- item [[b]]\n  - deep [[c]]\n\n> quote [[d]]", "a b c d");
    check_links("*[[a]]* **[[b]]** [t [[c]] u](url) ![[d]]", "a b c d");
    check_links("[[a]](https://x.y) [[b]][ref]\n\n[ref]: /x", "a b");
    check_links("| a | b |\n|---|---|\n| [[x]] | [[y|z]] |", "x y|z");
    check_links("setext [[a]]\n===", "a");
    check_links("1. one [[a]]\n2. two [[b]]\n\n   para [[c]]", "a b c");
    check_links("<b>[[a]]</b>", "a");
    check_links("[[two\nlines]]", "two\nlines");
    check_links("> [[two\n> lines]]", "two\nlines");
    check_links("- [[two\n  lines]]", "two\nlines");
    check_links("[see [[a]]\n](url) ![img [[b]]\n](url)", "a b");
    check_links("> [see [[q]]\n> ](url) [[r]]", "q r");
    check_links("hard  \nbreak [[a]]\\\n[[b]]", "a b");
}

#[test]
fn links_elsewhere_do_not_count() {
    check_links("```\n[[a]]\n```\n[[b]]", "b");
    check_links("~~~sh\n[[ -f x ]] && [[a]]\n~~~", "");
    check_links("    [[indented]]\n\ntext", "");
    check_links("`[[a]]` ``[[b]]`` `` ` [[c]] `` [[d]]", "d");
    check_links("`[[a]]` text `[[a]]`", "");
    check_links("<!-- [[a]] -->\n\n[[b]]", "b");
    check_links("text <!-- [[a]] --> [[b]]", "b");
    check_links("<div>\n[[a]]\n</div>\n\n[[b]]", "b");
    check_links("text <a title=\"[[a]]\">x</a>", "");
    check_links("---\nrelated: \"[[a]]\"\n---\n[[b]]", "b");
    check_links("[[[a]]] [[]] [[ / ]]", "");
    check_links("[[open\n\n]] [[a]]", "a");
    check_links("- item\n\n  ```\n  [[a]]\n  ```\n- [[b]]", "b");
}

#[test]
fn a_secret_is_no_concept() {
    check_links("[[AKIAQ3EGRXZ5T7PLMN2W]] [[password=hunter2xyz9]] [[a]]", "a");
    check_links("[[postgres://u:s3cr3tpa55w0rd@db/x]] [[password-policy]]", "password-policy");
}

#[test]
fn a_code_span_inside_a_link_is_blank() {
    check_links("[[a `b` c]]", "a-c");
    check_links("[[a `b`\nc]] [[d\n`e` f]] [[g\n`h``i` `j`\n`k` l]]", "a\nc d\nf g\n\nl");
    check_links("> [[a\n> `b` c]]", "a\nc");
}

#[test]
fn the_title_comes_from_the_best_place() {
    #[track_caller]
    fn check(text: &str, expect: &str) {
        assert_eq!(note(text).title, expect);
    }
    check("---\ntitle: From Matter\n---\n# Heading", "From Matter");
    check("---\ntitle: ''\n---\n# The  `code` *Heading*\n", "The code Heading");
    check("intro\n\n## First Heading\n", "First Heading");
    check("no heading", "file-stem");
    check("#\n", "file-stem");
    check("", "file-stem");
}

#[test]
fn the_title_is_the_one_that_the_program_shows() {
    /// In the order of maenifold, Obsidian, Logseq, Dendron, plain.
    #[track_caller]
    fn check(text: &str, stem: &str, expect: [&str; 5]) {
        for (style, expect) in LinkStyle::ALL.iter().zip(expect) {
            let note = parse(text, stem, *style, Remarks::default());
            assert_eq!(note.title, expect, "{style}: {text}");
        }
    }
    let matter = "---\ntitle: Matter\n---\n# Heading";
    check(matter, "a b", ["Matter", "a b", "Matter", "Matter", "Matter"]);
    check("# Heading", "a___b", ["Heading", "a___b", "a/b", "Heading", "Heading"]);
    check("title:: Prop\n\n- text", "s", ["s", "s", "Prop", "s", "s"]);
    check("x", "cafe\u{301}", ["cafe\u{301}", "café", "café", "café", "café"]);
    let note = parse(matter, "a b", LinkStyle::Obsidian, Remarks::default());
    assert_eq!(note.aliases, ["Matter"]);
}

#[test]
fn a_heading_is_the_title_only_where_it_stands_for_the_page() {
    #[track_caller]
    fn check(text: &str, stem: &str, expect: &str) {
        for style in [LinkStyle::Plain, LinkStyle::Dendron] {
            assert_eq!(
                parse(text, stem, style, Remarks::default()).title,
                expect,
                "{style}: {text}"
            );
        }
    }
    for text in [
        "# Page\n\n## A\n\n## B",
        "## Page\n\ntext\n\n### A\n\n### B",
        "\n<!-- a licence -->\n\n[![CI](x)](y) ![an image](z)\n\n<p>words</p>\n\n# Page\n\ntext",
        "{{< toc >}}\n\nimport Tabs from '@theme/Tabs';\n\n# Page",
        "# &nbsp;\n\n# Page\n\n## A",
        "Page\n===\n\n---\n\ntext",
    ] {
        check(text, "stem", "Page");
    }
    for text in [
        "Prose first.\n\n## A section\n\ntext",
        "- a list\n\n# A",
        "> a quote\n\n# A",
        "```\ncode\n```\n\n# A",
        "## A\n\ntext\n\n## B",
        "### A\n\n## B",
        "# A\n\ntext\n\n# B",
    ] {
        check(text, "SEO", "SEO");
    }
    check("# Code blocks\n\n# More", "code-blocks", "Code blocks");
    check("# Kgctx\n\n# Install\n\n# Use", "README", "Kgctx");
    check("## Install\n\n## Use", "README", "README");
    // maenifold takes the first heading anywhere.
    let memory = parse("Prose.\n\n## A", "s", LinkStyle::Maenifold, Remarks::default());
    assert_eq!(memory.title, "A");
}

#[test]
fn a_page_of_logseq_names_concepts_with_tags_and_properties() {
    let text = "alias:: Hulk, [[Rumpf]]\ntags:: ship, [[sea]]\n\n- of #oak and #[[ash wood]], see [[mast]]\n  \
                id:: 6453\n- `#code` #12\n";
    let note = parse(text, "hull", LinkStyle::Logseq, Remarks::default());
    let concepts: Vec<&str> = note.mentions.keys().map(Concept::as_str).collect();
    assert_eq!(concepts, ["ash-wood", "mast", "oak", "rumpf", "sea", "ship"]);
    assert!(note.mentions.values().all(|n| *n == 1), "{:?}", note.mentions);
    assert_eq!(note.aliases, ["Hulk", "Rumpf"]);
    assert_eq!(note.tags, ["ship", "sea"]);
    assert_eq!(note.excerpt, "of #oak and #[[ash wood]], see [[mast]]");
}

#[test]
fn a_heading_has_no_attributes() {
    let of = |text: &str, style| parse(text, "stem", style, Remarks::default());
    let text = "# Quick start {#quick-start}\n\n## Setup { id=\"x\" }\n";
    let plain = of(text, LinkStyle::Plain);
    assert_eq!((plain.title.as_str(), plain.sections[0].as_str()), ("Quick start", "Setup"));
    assert_eq!(of("# The {#if} block\n", LinkStyle::Plain).title, "The {#if} block");
    assert_eq!(of(text, LinkStyle::Maenifold).title, "Quick start {#quick-start}");
}

#[test]
fn front_matter_of_generators_is_read() {
    let of = |text: &str, style| parse(text, "stem", style, Remarks::default());
    let toml = "+++\ntitle = \"Keys\"\ntags = [\"a\"]\n+++\nText.\n";
    let plain = of(toml, LinkStyle::Plain);
    assert_eq!((plain.title.as_str(), plain.excerpt.as_str()), ("Keys", "Text."));
    assert_eq!(plain.tags, ["a"]);
    assert_eq!(of("{\n\"title\": \"Keys\"\n}\n\nText.\n", LinkStyle::Plain).title, "Keys");
    assert_eq!(of(toml, LinkStyle::Maenifold).title, "stem");
}

#[test]
fn sections_are_the_second_level_headings() {
    let note = note("# T\n\n## One [[x]]\n\n### deep\n\nTwo\n---\n");
    assert_eq!(note.sections, ["One [[x]]", "Two"]);
}

#[test]
fn the_excerpt_is_the_first_sentence() {
    #[track_caller]
    fn check(text: &str, expect: &str) {
        assert_eq!(note(text).excerpt, expect);
    }
    check("# Title\n\nFirst v1.2 sentence. Second.", "First v1.2 sentence.");
    check("# Title\n\n- a list\n- more", "a list");
    check("```\ncode\n```\n\ntext after\ncode", "text after code");
    check("一つ目。二つ目。", "一つ目。");
    check("# Title only", "");
    let long = note(&"word ".repeat(100)).excerpt;
    assert!(long.ends_with("word…") && long.chars().count() <= EXCERPT_CHARS + 1, "{long}");
}

#[test]
fn a_secret_is_masked_before_the_excerpt_is_cut() {
    let padding = "word ".repeat(38);
    for hidden in ["", "\u{200b}"] {
        let key = format!("AKIA{hidden}{}", "Q3EGRXZ5T7PLMN2W");
        let excerpt = note(&format!("{padding}{key} and more words after it")).excerpt;
        assert!(!excerpt.contains("AKIA"), "{excerpt}");
    }
}

#[test]
fn a_list_of_thousands_is_remarked_upon() {
    let list: String = (0..=MAX_CONCEPTS_FOR_EDGES).map(|n| format!("- [[c{n}]]\n")).collect();
    assert_eq!(note(&list).remarks.to_string(), "too many concepts for edges");
}

#[test]
fn hostile_texts_take_bounded_time() {
    let size = 1_000_000;
    for pattern in
        ["[[", "[", "](", "`", "*_", "> ", "- ", "<!--", "[[a]]", "![[", "<a ", "\\", "&", "#"]
    {
        let text = pattern.repeat(size / pattern.len());
        let started = std::time::Instant::now();
        note(&text);
        assert!(started.elapsed().as_secs() < 20, "{pattern:?} took {:?}", started.elapsed());
    }
}

proptest::proptest! {
    #[test]
    fn one_line_has_single_blanks_alone(text in "[ab \t\n\u{b}\u{a0}é~]{0,40}|[ab ]{0,40}") {
        let words: Vec<&str> = text.split_whitespace().collect();
        proptest::prop_assert_eq!(one_line(&text), words.join(" "));
    }
}
