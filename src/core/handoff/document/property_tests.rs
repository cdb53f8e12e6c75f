//! Property tests of documents, with arbitrary text in every field and arbitrary bytes.

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::core::handoff::{Audience, Consume, Document, Head, Kind, Occasion, Priority};
use crate::core::time::Timestamp;

/// Text that YAML tends to misread.
fn text() -> impl Strategy<Value = String> {
    let odd = [
        "#",
        ": ",
        "> ",
        "| ",
        "{",
        "}",
        "[",
        "]",
        "\"",
        "'",
        "\\",
        "\n",
        "\r",
        "\t",
        "---\n",
        "...\n",
        "yes",
        "null",
        "~",
        "012",
        "1e3",
        "<<",
        "*",
        "&a",
        "!!",
        "%",
        "@",
        "`",
        "?",
        "- ",
        " ",
        "😀",
        "\0",
        "\u{7f}",
        "\u{85}",
        "\u{9b}",
        "\u{a0}",
        "\u{2028}",
        "\u{2029}",
        "\u{feff}",
        "\u{fffe}",
        "\u{ffff}",
        "\u{202e}",
        "\u{10ffff}",
        "=== a ===",
        ",",
    ];
    prop_oneof![
        any::<String>(),
        prop::collection::vec(prop::sample::select(odd.to_vec()), 0..6)
            .prop_map(|parts| parts.concat()),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        prop::num::f64::NORMAL.prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(text(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn maybe() -> impl Strategy<Value = Option<String>> {
    prop::option::of(text())
}

fn time() -> impl Strategy<Value = Option<Timestamp>> {
    prop::option::of(any::<i64>().prop_map(Timestamp))
}

fn list() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(text(), 0..4)
}

fn head() -> impl Strategy<Value = Head> {
    let known = |key: &String| {
        header::TEXTS.contains(&header::canonical(key)) || header::LISTS.contains(&key.as_str())
    };
    let other = prop::collection::btree_map(text(), value(), 0..4).prop_map(move |map| {
        map.into_iter().rev().filter(|(key, _)| !known(key)).collect::<Vec<_>>()
    });
    let kind = prop::sample::select(vec![Kind::Session, Kind::Task]);
    let consume = prop::option::of(prop::sample::select(vec![Consume::Once, Consume::Sticky]));
    let audience =
        prop::option::of(prop::sample::select(vec![Audience::Interactive, Audience::Any]));
    let priority = prop::sample::select(vec![Priority::High, Priority::Medium, Priority::Low]);
    let texts = (maybe(), maybe(), maybe(), maybe(), maybe(), maybe(), maybe(), maybe(), maybe());
    (
        texts,
        (time(), time(), kind, consume, audience, priority),
        (list(), list(), list(), list(), other),
    )
        .prop_map(
            |(texts, (created_at, expires_at, kind, consume, audience, priority), lists)| {
                let (
                    id,
                    occasion,
                    channel,
                    session_id,
                    goal,
                    next_step,
                    git_ref,
                    working_dir,
                    source_id,
                ) = texts;
                let (tags, specs, files, files_changed, other) = lists;
                let occasion = occasion.map(Occasion::from);
                Head {
                    id,
                    kind,
                    occasion,
                    channel,
                    session_id,
                    created_at,
                    expires_at,
                    consume,
                    audience,
                    priority,
                    goal,
                    next_step,
                    git_ref,
                    working_dir,
                    source_id,
                    tags,
                    specs,
                    files,
                    files_changed,
                    other,
                }
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn p_3_7_any_text_in_any_field_comes_back(head in head(), body in text()) {
        // P-3.7
        let document = Document { head, body };
        let read = read(write(&document).as_bytes()).unwrap();
        prop_assert_eq!((read.document, read.warnings, read.is_raw), (document, Vec::new(), false));
    }

    #[test]
    fn p_3_4_any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        // P-3.4
        let fenced = [b"---\n", bytes.as_slice(), b"\n---\nbody"].concat();
        for bytes in [bytes.as_slice(), &fenced] {
            prop_assert_eq!(read(bytes).is_err(), std::str::from_utf8(bytes).is_err());
        }
    }

    #[test]
    fn whatever_was_read_is_the_same_when_it_is_written_and_read_again(
        keys in prop::collection::vec((prop::sample::select(vec![
            "id", "kind", "type", "created_at", "timestamp", "branch", "git_ref", "files", "specs", "x", "7", "~",
        ]), prop_oneof![text(), "[a-z0-9.:\\[\\]{}, -]{0,8}"]), 0..6),
        body in text(),
    ) {
        let yaml: String = keys.iter().map(|(key, value)| format!("{key}: {value}\n")).collect();
        let first = read(format!("---\n{yaml}---\n{body}").as_bytes()).unwrap();
        prop_assert!(first.document.body.ends_with(&body));
        let second = read(write(&first.document).as_bytes()).unwrap();
        prop_assert_eq!(first.document, second.document);
        prop_assert!(second.warnings.is_empty());
    }
}
