//! What is a line of a note, and what only looks like one.

use super::*;
use proptest::prelude::*;

#[test]
fn lines_without_words_and_comments_are_left_out() {
    let body = "# Head\n\n---\n[home]: https://a.b\n<!-- one -->\ntext a b c d\n<!-- two\nthree\n-->\n```rust\nfn x() {}\n```\nend";
    let lines: Vec<(&str, bool, bool)> =
        body_lines(body).iter().map(|line| (line.raw, line.is_code, line.is_after_gap)).collect();
    assert_eq!(
        lines,
        [
            ("# Head", false, false),
            ("text a b c d", false, true),
            ("fn x() {}", true, true),
            ("end", false, false),
        ]
    );
}

#[track_caller]
fn check(body: &str, expect: &[&str]) {
    let lines = body_lines(body);
    assert_eq!(lines.iter().map(|line| line.raw).collect::<Vec<_>>(), expect, "{body}");
}

#[test]
fn what_is_hidden_from_readers_is_no_line() {
    check("<!--\nA licence.\n\nMore of it.\n-->\n# Head", &["# Head"]);
    check("<!--\nA licence.\n--> goes on", &[" goes on"]);
    check("text <!-- begins\nends --> after", &["text ", " after"]);
    check("one <!-- x --> two <!-- y\nz --> three", &["one <!-- x --> two ", " three"]);
    check("%%\nmine\n\nalone\n%%\nend", &["end"]);
    check("a word %%mine\nalone%%\nend", &["a word ", "end"]);
    check("<script setup lang=\"ts\">\nconst a = 1\n</script>\nend", &["end"]);
    check("<style>\n.a { b: c }\n</style>\n<template>\nx y\n</template>\nend", &["end"]);
    check(
        "<p align=\"center\">\n<a href=\"x\"><img\n  src=\"b.png\"\n  width=\"1\"\n></a>end\n</p>",
        &["</a>end"],
    );
    check("<Card\n  to={() => x}\n  title=\"T\"\n/>\nend", &["end"]);
    check("$$\n\\frac{a}{b}\n$$\n$$x = y$$\nend", &["end"]);
    check("#+BEGIN_QUERY\n{:title \"a\"}\n#+END_QUERY\nend", &["end"]);
    check("- #+BEGIN_QUERY\n  {:title \"a\"}\n  #+END_QUERY\n- end", &["- end"]);
    check(
        "- DONE Mend it\n  :LOGBOOK:\n  CLOCK: [2026-01-05 Mon 10:00]\n  :END:\n- end",
        &["- DONE Mend it", "- end"],
    );
    check(
        "import A from '@a/b';\nimport {\n  C,\n} from 'd';\n\nexport const e = [\n  'f',\n];\n\n# Head\nend",
        &["# Head", "end"],
    );
    check("```mermaid\ngraph TD\n```\n> ```tasks\n> not done\nend", &["end"]);
}

#[test]
fn directives_are_no_lines() {
    for line in [
        "> [!note]",
        "!!! note",
        "??? tip inline end",
        "--8<-- \"a.md\"",
        "[TOC]",
        "[[toc]]",
        "{:toc}",
        "#+BEGIN_NOTE",
        "#+end_src",
        "- #+BEGIN_QUOTE",
        "  :LOGBOOK:",
        ":END:",
        "CLOCK: [2026-01-05 Mon 10:00:00]--[2026-01-05 Mon 10:01:00] =>  00:01:00",
        "  SCHEDULED: <2026-01-05 Mon>",
        "- DEADLINE: <2026-01-05 Mon>",
        "[doc]: https://a.b/c \"The title\"",
        "[^1]: What the footnote says.",
        "{{< figure src=\"a\" >}}",
        "{{% alert %}} {{% /alert %}}",
        "{% include a.html %}",
        "{{ content }}",
    ] {
        check(line, &[]);
    }
    for line in [
        "> [!note] Title",
        "!!! do not touch",
        "[toc] is a mark",
        "#+title of it",
        "{{< note >}} Real words {{< /note >}}",
        "{a} and {b}",
        "- 8 of them",
        "- <https://a.b>",
        "CLOCK: a game",
        "DEADLINE: on Monday",
        "- :LOGBOOK: is a drawer",
        "- #tag first",
    ] {
        check(line, &[line]);
    }
}

#[test]
fn what_only_looks_hidden_stays() {
    for body in [
        "Write `<!--` before it\nand `-->` after it",
        "<!-- never closed\nis text",
        "sure to 100%% and\nmore than 50%%",
        "%% a section of code\nx y\n%% another\nz",
        "%% never closed\nis text",
        "<script> is an element",
        "<scripts-of-mine>\na </script> of it",
        "<branch\nname>",
        "<img\n\na > b",
        "$$ is two dollars",
        "$$5 are few$$ for it",
        "import the data\nfrom 'there'",
        "export default settings\nof yours",
        "a\nexport const x = {\n  b\n}",
        "```mermaid\nnever closed",
        "``` one line of code ```\ntext",
    ] {
        let kept: String = body_lines(body).iter().map(|line| line.raw).collect();
        for word in body.lines().last().unwrap().split_whitespace() {
            assert!(kept.contains(word) || !has_word(word), "{word} of {body}");
        }
    }
}

#[test]
fn code_ends_where_its_fence_does() {
    let code =
        |body: &str| -> Vec<bool> { body_lines(body).iter().map(|line| line.is_code).collect() };
    assert_eq!(code("````md\n```js\na\n```\nb\n````\nc"), [true, true, true, false]);
    assert_eq!(code("> ```\n> a\nb"), [true, false]);
    assert_eq!(code("- ```js\n  a\n  ```\n- b"), [true, false]);
    assert_eq!(code("```\n<!-- a\n```\nb -->"), [true, false]);
}

proptest! {
    #[test]
    fn any_body_has_lines_of_its_own(body in r"(<!--|-->|%%|\$\$|```|<script>|</script>|<img|import \{|[a>}\n ]){0,40}") {
        let mut from = 0;
        for line in body_lines(&body) {
            let at = body[from..].find(line.raw);
            prop_assert!(at.is_some());
            from += at.unwrap_or_default() + line.raw.len();
        }
    }
}

#[test]
fn no_body_takes_long() {
    for piece in [
        "<!--\n",
        "%%\n",
        "%% a",
        "<script\n",
        "<img ",
        "<img\n",
        "$$\n",
        "# a\n",
        "import {\n",
        "```mermaid\n",
    ] {
        let body = piece.repeat((256 << 10) / piece.len());
        let start = std::time::Instant::now();
        body_lines(&body);
        assert!(start.elapsed().as_secs() < 5, "{piece:?}: {:?}", start.elapsed());
    }
}

#[test]
fn targets_of_links_are_told_from_sentences() {
    assert!(is_link_target("[home]: https://a.b/c") && is_link_target("[a b]: ./c.md#d"));
    assert!(!is_link_target("[Decision]: We stay.") && !is_link_target("[x] done: all"));
}

#[test]
fn a_line_says_a_heading_a_detail_or_prose() {
    let kind = |raw: &str| BodyLine::new(raw, false, false).kind();
    assert_eq!(kind("## A heading of five words"), LineKind::Heading);
    assert_eq!(kind("**Status**: in progress"), LineKind::Detail);
    assert_eq!(kind("| a | b | c | d | e |"), LineKind::Detail);
    assert_eq!(kind("- two words"), LineKind::Detail);
    assert_eq!(kind("up:: [[a]] and some more words"), LineKind::Detail);
    assert_eq!(kind("std::vec is a growing array"), LineKind::Prose);
    assert_eq!(kind("- ## A heading of many words"), LineKind::Heading);
    assert_eq!(kind("Note: this is a whole sentence of prose."), LineKind::Prose);
    assert_eq!(kind("The index is rebuilt at will."), LineKind::Prose);
    assert_eq!(kind("索引は必要なら作り直されます。"), LineKind::Prose);
    assert_eq!(kind("注意: 索引はいつでも何度でも必要なら作り直されます。"), LineKind::Prose);
    assert_eq!(kind("状態: 進行中"), LineKind::Detail);
}
