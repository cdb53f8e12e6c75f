//! Tables of references, and that any text is read.

use super::*;
use crate::core::named::Named;
use crate::core::note::Remarks;
use crate::core::note::file_name::is_file_name;
use crate::core::note::markdown::{self, Parts};
use crate::core::quote::lines::body_lines;
use proptest::prelude::*;

fn refers(text: &str, path: &str) -> Option<ReferenceKind> {
    kind(text, path, LinkStyle::Plain)
}

/// How a note of the folder `docs/guide` refers to the note at `path`.
fn kind(text: &str, path: &str, style: LinkStyle) -> Option<ReferenceKind> {
    let references = references_of(text, style);
    let keys = keys(path, "A Title", ["Alias", "6453-a"].into_iter());
    keys.iter().filter_map(|key| references.get(key)).min().copied()
}

fn references_of(text: &str, style: LinkStyle) -> References {
    let Parts { yaml, properties, body } = Parts::of(text, style);
    let note = markdown::parse(text, "", style, Remarks::default());
    let (lines, tags, description) = (&body_lines(&body), &note.tags, &*note.description);
    let folder = "docs/guide";
    references(&Referring { style, folder, yaml, properties, tags, description, lines })
}

#[test]
fn the_style_says_which_side_is_the_target() {
    for (style, text, is_link) in [
        (LinkStyle::Obsidian, "[[t-13|label]]", true),
        (LinkStyle::Obsidian, "[[label|t13]]", false),
        (LinkStyle::Obsidian, "![[t13#part]]", true),
        (LinkStyle::Dendron, "[[label|t13#part]]", true),
        (LinkStyle::Dendron, "[[t13|label]]", false),
        (LinkStyle::Dendron, "[[x|dendron://main/t13]]", true),
        (LinkStyle::Logseq, "- {{embed [[t13]]}}", true),
        (LinkStyle::Logseq, "- see ((6453-a))", true),
        (LinkStyle::Logseq, "- of #t13", true),
        (LinkStyle::Logseq, "- of #[[a title]]", true),
        (LinkStyle::Logseq, "tags:: t13, x\n\n- text", true),
        (LinkStyle::Logseq, "parent:: [[t13]]\n\n- text", true),
        (LinkStyle::Plain, "of #t13 ((6453-a))", false),
        (LinkStyle::Obsidian, "[[t13.png]]", false),
    ] {
        let path = if text.contains("t-13") { "x/t-13.md" } else { "x/t13.md" };
        let link = Some(ReferenceKind::Link);
        assert_eq!(kind(text, path, style) == link, is_link, "{style}: {text}");
    }
    let tag = "---\ntags: [ship]\n---\nof #sea";
    for path in ["tags.ship.md", "tags.sea.md"] {
        assert_eq!(kind(tag, path, LinkStyle::Dendron), Some(ReferenceKind::Link), "{path}");
    }
}

#[test]
fn front_matter_refers_to_notes() {
    for yaml in [
        "related: auth",
        "related: [auth.md]",
        "see-also:\n  - ./auth.md",
        "links: ['docs/guide/auth']",
        "related: [[auth]], [[b]]",
        "project: \"[[auth|Auth]]\"",
        "related: A title",
        "description: as [the guide](auth.md) says",
        "desc: 'more in [[auth]]'",
        "seeAlso: [[auth]]",
        "see also: auth",
    ] {
        let text = format!("---\n{yaml}\n---\ntext");
        assert_eq!(refers(&text, "docs/guide/auth.md"), Some(ReferenceKind::Link), "{yaml}");
    }
    assert_eq!(refers("---\ntitle: auth\n---\n", "docs/guide/auth.md"), None);
    let described = "---\ndescription: more than auth-flow says\n---\n";
    assert_eq!(refers(described, "auth-flow.md"), Some(ReferenceKind::Mention));
}

#[test]
fn notes_share_their_tags_in_the_way_of_their_style() {
    let front_matter = "---\ntags: [Deep Sea]\n---\ntext";
    for (style, text, is_shared) in [
        (LinkStyle::Plain, front_matter, true),
        (LinkStyle::Maenifold, front_matter, true),
        (LinkStyle::Dendron, front_matter, true),
        (LinkStyle::Obsidian, "of #deep-sea, today", true),
        (LinkStyle::Logseq, "tags:: deep sea, x\n\n- text", true),
        (LinkStyle::Logseq, "- of #deep-sea", true),
        (LinkStyle::Plain, "of #deep-sea", false),
        (LinkStyle::Obsidian, "`#deep-sea` is [[deep sea]] # Deep sea", false),
        (LinkStyle::Obsidian, "```\n#deep-sea\n```", false),
    ] {
        let key = Key::of_tag("deep sea").unwrap();
        let kind = references_of(text, style).get(&key).copied();
        assert_eq!(kind, is_shared.then_some(ReferenceKind::Tag), "{style}: {text}");
    }
    // A tag is not the name of a note, where the style does not say so.
    assert_eq!(kind(front_matter, "deep sea.md", LinkStyle::Obsidian), None);
    let tags: String = (0..100).map(|n| format!("#tag{n} ")).collect();
    let references = references_of(&tags, LinkStyle::Obsidian);
    assert_eq!(references.values().filter(|kind| **kind == ReferenceKind::Tag).count(), MOST_TAGS);
}

#[test]
fn a_link_to_a_folder_leads_to_its_index() {
    let link = Some(ReferenceKind::Link);
    for text in ["[x](auth/)", "[x](../guide/auth)", "[[docs/guide/auth/|x]]", "[[auth]]"] {
        assert_eq!(refers(text, "docs/guide/auth/README.md"), link, "{text}");
        assert_eq!(refers(text, "docs/guide/auth/index.md"), link, "{text}");
        assert_eq!(refers(text, "docs/guide/auth/other.md"), None, "{text}");
    }
}

#[test]
fn both_compositions_of_a_name_have_one_key() {
    assert_eq!(Key::of("Gro\u{308}ße"), Key::of("größe"));
    assert_eq!(refers("[[cafe\u{301}]]", "x/café.md"), Some(ReferenceKind::Link));
}

#[test]
fn every_way_to_write_a_link_leads_to_the_note() {
    let link = Some(ReferenceKind::Link);
    for inner in [
        "auth-flow",
        "Auth Flow",
        "auth_flow|login",
        "login|auth-flow",
        "Auth flow#Tokens",
        "auth-flow^block",
        "x/auth-flow.md",
        "a title",
        "ALIAS",
    ] {
        assert_eq!(refers(&format!("see [[{inner}]]."), "x/auth-flow.md"), link, "{inner}");
    }
    for target in [
        "auth.md",
        "./auth.md#part",
        "../guide/auth.md",
        "/docs/guide/auth.md",
        "auth",
        "%61uth.md",
        "<auth.md>",
        "auth.md 'A title'",
        "memory://docs/guide/auth",
    ] {
        let text = format!("see [it]({target}) now");
        assert_eq!(refers(&text, "docs/guide/auth.md"), link, "{target}");
    }
    let mention = Some(ReferenceKind::Mention);
    for text in ["see docs/guide/t-13.md.", "(t-13)", "T-13, too"] {
        assert_eq!(refers(text, "docs/guide/t-13.md"), mention, "{text}");
    }
}

#[test]
fn what_is_no_note_leads_nowhere() {
    for text in [
        "[x](https://x.y/auth.md) [x](mailto:a@b)",
        "[x](#part) [x](../../../auth.md) [x](pic.png) [x]()",
        "plain words of a sentence, 42 of them.",
        "```\n[[code]] t-13\n```",
    ] {
        assert!(
            references_of(text, LinkStyle::Plain).values().all(|kind| *kind != ReferenceKind::Link),
            "{text}"
        );
    }
}

proptest! {
    #[test]
    fn mentions_are_the_words_that_look_like_files(text in "[ab1é ._/,-]{0,24}") {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '/' | '-');
        let words = text.split(|c| !is_part(c)).map(|word| word.trim_matches(['.', '/', '-', '_']));
        let names = words.filter(|word| is_file_name(word)).map(without_extension);
        let parts = names.flat_map(|name| [Some(name), name.rsplit_once('/').map(|(_, last)| last)]);
        let expect: Vec<Key> = parts.flatten().filter_map(Key::of).collect();
        let references = references_of(&text, LinkStyle::Plain);
        let is_mention = |key: &Key| references.get(key) == Some(&ReferenceKind::Mention);
        prop_assert!(expect.iter().all(is_mention), "{text}: {references:?}");
        prop_assert!(references.keys().all(|key| expect.contains(key)), "{text}: {references:?}");
    }

    #[test]
    fn any_text_is_read(text in any::<String>(), style in 0..LinkStyle::ALL.len()) {
        prop_assert!(references_of(&text, LinkStyle::ALL[style]).len() <= MOST_REFERENCES);
    }
}
