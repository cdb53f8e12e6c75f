//! Tests of `spans`.

use super::*;
use crate::core::note::Remarks;
use crate::core::note::markdown;
use crate::core::settings::LinkStyle;
use proptest::prelude::*;
use std::collections::BTreeMap;

#[track_caller]
fn check_links(text: &str, expect: &[&str]) {
    let spans = Spans::of(text);
    let links: Vec<&str> = spans.links.iter().map(|link| link.target.as_str()).collect();
    assert_eq!(links, expect, "{text}");
    for link in &spans.links {
        assert!(text[link.range.clone()].contains(&link.target), "{text}");
    }
}

#[test]
fn links_are_found_with_their_places() {
    check_links("[a](b.md) ![c](d.png \"t\")", &["b.md", "d.png"]);
    check_links("[a][r]\n\n[r]: b.md 'x'\n", &["b.md"]);
    check_links("[a](<b c.md>) <https://x.y>", &["b c.md", "https://x.y"]);
    check_links("[![i](a.png)](b.md)", &["a.png", "b.md"]);
    check_links("`[a](b)` <!-- [a](b) -->\n\n    [a](b)\n\n```\n[a](b)\n[r]: b\n```", &[]);
    check_links("---\nx: '[a](b)'\n---\n[a](c)", &["c"]);
    check_links("[b.md](b.md)", &["b.md"]);
    check_links("a[^1] [b](c.md)\n\n[^1]: note\n", &["c.md"]);
    check_links(
        "$f[k](l)$ costs $5 [a](b.md) or $6\n\n$$\nf[k](m)\n$$\n[c](d.md)",
        &["b.md", "d.md"],
    );
    check_links("$$ [a](b.md)", &["b.md"]);
    assert_eq!(Spans::of("[b.md](b.md)").links[0].range, 7..11);
}

#[test]
fn wiki_links_are_found_with_their_places() {
    let text = "---\na: b\n---\nsee [[x]] and ![[y.png]] `[[z]]`\n> [[two\n> lines]]";
    let spans = Spans::of(text);
    let found: Vec<(&str, &str)> = spans
        .wiki_links
        .iter()
        .map(|link| (&text[link.range.clone()], link.target.as_str()))
        .collect();
    assert_eq!(found, [("[[x]]", "x"), ("[[y.png]]", "y.png"), ("[[two\n> lines]]", "two\nlines")]);
}

#[test]
fn addresses_are_found_in_plain_text_alone() {
    let text = "At memory://docs/a, (memory://docs/b) `memory://docs/c` [x](memory://docs/d).";
    let spans = Spans::of(text);
    let found: Vec<&str> = spans.addresses.iter().map(|range| &text[range.clone()]).collect();
    assert_eq!(found, ["memory://docs/a", "memory://docs/b"]);
}

#[test]
fn code_and_comments_are_no_text() {
    let text = "a `b` c <!-- d --> e\n\n```\nf\n```\ng";
    let spans = Spans::of(text);
    let plain: String =
        "abcdefg".chars().filter(|&c| spans.is_text(text.rfind(c).unwrap())).collect();
    assert_eq!(plain, "aceg");
    let code: String =
        "abcdefg".chars().filter(|&c| spans.is_code(text.rfind(c).unwrap())).collect();
    assert_eq!(code, "bf");
}

#[test]
fn a_link_has_its_place_behind_code_that_ends_a_line() {
    let text = "a ```\nb```\n[[c]]";
    let spans = Spans::of(text);
    assert_eq!(&text[spans.wiki_links[0].range.clone()], "[[c]]");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn the_index_sees_the_same_links(pieces in prop::collection::vec(prop::sample::select(vec![
        "[[", "]]", "[[a]]", "[", "]", "a", "b c", "\n", "\n\n", "> ", "- ", "`", "```\n", "<!--", "-->", "<b>", "](x)", "(u)", "ä",
        "# ", "    ", "!", "*", "\\", "memory://docs/a", "[r]: u\n", "&amp;", "|", "---\n",
    ]), 0..24)) {
        let text = pieces.concat();
        let spans = Spans::of(&text);
        let mut mentions = BTreeMap::new();
        for link in &spans.wiki_links {
            if let Some(concept) = wikilink::concept(&link.target, LinkStyle::Maenifold) {
                *mentions.entry(concept).or_insert(0u32) += 1;
            }
            prop_assert!(text[link.range.clone()].starts_with("[["));
            prop_assert!(text[link.range.clone()].ends_with("]]"));
        }
        let note = markdown::parse(&text, "stem", LinkStyle::Maenifold, Remarks::default());
        prop_assert_eq!(mentions, note.mentions, "{:?}", text);
    }

    #[test]
    fn any_text_can_be_read(text in any::<String>()) {
        Spans::of(&text);
    }
}
