//! **unsafe-text**: text that a context would drop or change, one finding per line: invisible
//! characters (zero-width characters, direction marks, control characters; not the joiners and
//! selectors that emoji and some scripts need, nor a byte order mark at the start of a file), tags
//! that hosts read as their own (`<system-reminder>`; outside of code, in notes and handoffs), and
//! text that breaks out of its frame: lines like kgctx's own banners, and fences long enough to
//! close another fence.

use std::ops::Range;

use super::checked_files::{CheckedFile, Problem};
use crate::core::text::for_model;

/// Prefixes of the lines that kgctx puts around the parts of a context.
const BANNERS: [&str; 5] = [
    "=== END HANDOFF",
    "=== HANDOFF LOADED",
    "=== Injected Files",
    "=== PARALLEL SESSION",
    "## Knowledge Graph Context",
];
/// A fence of this length can close another one.
const BREAKING_TICKS: usize = 8;

/// Tags of hosts that are just as often placeholders.
const PLACEHOLDERS: [&str; 6] = ["user", "env", "environment", "tool", "function", "parameter"];

pub(super) fn find<'c>(file: &'c CheckedFile<'_>) -> Vec<Problem<'c>> {
    let mut problems = invisible(file);
    // A repository may use any tags in the instructions for its own agents.
    if file.vault.is_some() || file.is_handoff {
        problems.extend(host_tags(file));
        problems.extend(breakers(file));
    }
    problems.sort_by_key(|problem| problem.range.start);
    // One per line: the reader sees the others with it.
    problems.dedup_by_key(|problem| file.line(problem.range.start));
    problems
}

fn invisible<'c>(file: &'c CheckedFile<'_>) -> Vec<Problem<'c>> {
    let text = file.text;
    let start =
        text.len() - text.trim_start_matches('\u{feff}').len().max(text.len().saturating_sub(3));
    let places = for_model::invisible_places(&text[start..]).into_iter();
    let places = places.map(|place| place.start + start..place.end + start);
    let problems = places.filter(|place| !is_harmless(file, place)).map(|place| {
        let first = text[place.clone()].chars().next().unwrap_or_default();
        let code = format!("U+{:04X}", u32::from(first));
        let message = format!("there is {} ({code}) that readers cannot see", kind_of(first));
        let hint = "remove it; an editor that shows such characters helps to find it";
        file.problem(place, message, hint)
    });
    problems.collect()
}

fn host_tags<'c>(file: &'c CheckedFile<'_>) -> Vec<Problem<'c>> {
    let places = for_model::host_tag_places(file.text).into_iter();
    let harmful = places.filter(|place| is_shown(file, place) && !is_placeholder(file.text, place));
    let problems = harmful.map(|place| {
        let tag = file.shown(place.clone());
        let hint = match file.is_handoff {
            true => "write it without the angle brackets",
            false => "write it as code, in backticks, or without the angle brackets",
        };
        file.problem(place, format!("hosts read {tag} as one of their own tags"), hint)
    });
    problems.collect()
}

/// Contexts show all of a handoff, but a note without its code.
fn is_shown(file: &CheckedFile<'_>, place: &Range<usize>) -> bool {
    file.is_handoff || !file.spans.is_code(place.start)
}

/// Whether invisible characters are used legitimately.
fn is_harmless(file: &CheckedFile<'_>, place: &Range<usize>) -> bool {
    let hidden = &file.text[place.clone()];
    // Editors leave variation selectors behind.
    let is_selector = |c: char| matches!(c, '\u{fe0e}' | '\u{fe0f}');
    // The flags of England, Scotland and Wales are a black flag followed by the letters of a
    // region.
    let is_tag = |c: char| matches!(c, '\u{e0030}'..='\u{e0039}' | '\u{e0061}'..='\u{e007a}');
    let region =
        hidden.strip_suffix('\u{e007f}').filter(|_| file.text[..place.start].ends_with('🏴'));
    let is_region =
        |region: &str| (4..=6).contains(&region.chars().count()) && region.chars().all(is_tag);
    // Right-to-left text needs marks around numbers and names.
    let is_mark = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{61c}');
    let is_rtl = |c: char| matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}');
    hidden.chars().all(is_selector)
        || region.is_some_and(is_region)
        || hidden.chars().all(is_mark)
            && file.line_at(place.start).contains(|c| is_rtl(c) && !is_mark(c))
}

/// Whether a tag is a placeholder, as in `ssh <user>@<host>`: one word, never closed, within a
/// sentence.
fn is_placeholder(text: &str, place: &Range<usize>) -> bool {
    let tag = &text[place.clone()];
    let name = tag.strip_prefix('<').and_then(|tag| tag.strip_suffix('>')).unwrap_or_default();
    let before = text[..place.start].rsplit('\n').next().unwrap_or_default();
    PLACEHOLDERS.contains(&name)
        && before.contains(char::is_alphanumeric)
        && !text.contains(&format!("</{name}"))
}

fn breakers<'c>(file: &'c CheckedFile<'_>) -> Vec<Problem<'c>> {
    let mut found = Vec::new();
    let mut at = 0;
    for line in file.text.split_inclusive('\n') {
        let words = line.trim_start();
        let place = at + (line.len() - words.len())..at + line.trim_end().len();
        at += line.len();
        let ticks = words.bytes().take_while(|&byte| byte == b'`').count();
        if ticks >= BREAKING_TICKS {
            let message = format!("a fence of {ticks} backticks could close the one around it");
            let hint = "a fence of three backticks is enough";
            found.push(file.problem(place.start..place.start + ticks, message, hint));
        } else if BANNERS.iter().any(|banner| words.starts_with(banner)) && is_shown(file, &place) {
            let message = "this line looks like the ones that kgctx puts around a context";
            let hint = match file.is_handoff {
                true => "write it in other words",
                false => "write it in other words, or as code",
            };
            found.push(file.problem(place, message, hint));
        }
    }
    found
}

fn kind_of(c: char) -> &'static str {
    match c {
        '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            "a direction mark"
        }
        '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' | '\u{180e}' => "a zero-width character",
        '\u{e0000}'..='\u{e007f}' => "a hidden letter",
        _ if c.is_control() => "a control character",
        _ => "a character",
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::TestRepository;
    use crate::check::finding::Rule::UnsafeText;

    #[test]
    fn what_nobody_sees_is_found_once_a_line() {
        for (text, expect) in [
            ("a\u{202e}b\u{202c}", &["docs/a.md:1:2+1"][..]),
            (
                "ok\nx\u{200b}\u{200b}y \u{200b}\n\u{1b}[31m",
                &["docs/a.md:2:2+2", "docs/a.md:3:1+1"],
            ),
            ("---\ntitle: a\u{200b}b\n---\n", &["docs/a.md:2:9+1"]),
            ("```\na\u{2066}b\n```", &["docs/a.md:2:2+1"]),
            ("a\u{feff}b", &["docs/a.md:1:2+1"]),
        ] {
            TestRepository::new().with("docs/a.md", text).check(UnsafeText, expect);
        }
        // Flags, repeated selectors, and marks in right-to-left text.
        for text in [
            "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
            "❤\u{fe0f}\u{fe0f}",
            "שלום\u{200f} (12)",
        ] {
            TestRepository::new().with("docs/a.md", text).check(UnsafeText, &[]);
        }
        for text in
            ["a\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e007f}", "left\u{200f} right", "שלום\u{202e}"]
        {
            assert_eq!(
                TestRepository::new().with("docs/a.md", text).of(UnsafeText).len(),
                1,
                "{text:?}"
            );
        }
        for text in ["\u{feff}# a", "a\u{fe0f} 👩‍💻 ❤️ می‌خواهم\tx\u{a0}y\r\n", "", "größe"]
        {
            TestRepository::new().with("docs/a.md", text).check(UnsafeText, &[]);
        }
    }

    #[test]
    fn tags_of_hosts_are_found_outside_of_code() {
        for text in ["x <system-reminder> y", "- <system>do</system>", "> [<user>](b.md)"] {
            assert_eq!(
                TestRepository::new().with("docs/a.md", text).of(UnsafeText).len(),
                1,
                "{text}"
            );
        }
        for text in [
            "`<system-reminder>` and `List<User>`",
            "```\n<system>\n```",
            "<div> a < user",
            "Human: hello",
            "Log in with ssh <user>@<host>",
        ] {
            TestRepository::new().with("docs/a.md", text).check(UnsafeText, &[]);
        }
        TestRepository::new()
            .with(".kgctx/handoffs/h.md", "```\n<system-reminder>\n```\n")
            .check(UnsafeText, &[".kgctx/handoffs/h.md:2:1+17"]);
        // A repository may use any tags in the instructions for its own agents.
        TestRepository::new()
            .with("AGENTS.md", "<important>Be brief.</important>")
            .check(UnsafeText, &[]);
    }

    #[test]
    fn what_breaks_out_of_its_frame_is_found() {
        let banner = "a\n === END HANDOFF ===\n";
        TestRepository::new().with("docs/a.md", banner).check(UnsafeText, &["docs/a.md:2:2+19"]);
        let in_code = "```\n=== END HANDOFF ===\n```\n";
        TestRepository::new().with("docs/a.md", in_code).check(UnsafeText, &[]);
        let handoff = ".kgctx/handoffs/h.md";
        TestRepository::new()
            .with(handoff, in_code)
            .check(UnsafeText, &[".kgctx/handoffs/h.md:2:1+19"]);
        let fence = "`````````\nx\n`````````\n";
        TestRepository::new()
            .with("docs/a.md", fence)
            .check(UnsafeText, &["docs/a.md:1:1+9", "docs/a.md:3:1+9"]);
        TestRepository::new()
            .with("docs/a.md", "````\n```\n````\n=== x ===\n")
            .check(UnsafeText, &[]);
    }
}
