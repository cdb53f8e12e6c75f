//! Finds `[[links]]` in text from which code and HTML are already gone, and names their concepts.

use std::ops::Range;

use crate::core::note::concept::Concept;
use crate::core::settings::LinkStyle;

/// Calls `found` with the inner text of every link.
///
/// The rule is maenifold's pattern `(?<!\[)\[\[([^\[\]]+)\]\](?!\])`: exactly two brackets on each side, at
/// least one character between them, and none of those a bracket. Line breaks inside are fine.
pub fn find_links(text: &str, mut found: impl FnMut(&str)) {
    find_places(text, |inner| found(&text[inner]));
}

/// Calls `found` with the place of every link's inner text.
pub fn find_places(text: &str, mut found: impl FnMut(Range<usize>)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(offset) = memchr::memchr(b'[', &bytes[at..]) {
        let open = at + offset;
        let run_end = open + bytes[open..].iter().take_while(|&&byte| byte == b'[').count();
        at = run_end;
        if run_end - open != 2 {
            continue;
        }
        let Some(length) = memchr::memchr2(b'[', b']', &bytes[run_end..]) else { return };
        let close = run_end + length;
        let closing = bytes[close..].iter().take_while(|&&byte| byte == b']').count();
        if length > 0 && closing == 2 {
            found(run_end..close);
        }
        at = close;
    }
}

/// Returns the concept that a link's inner text names under `style`; `None` where it names none.
pub fn concept(inner: &str, style: LinkStyle) -> Option<Concept> {
    match style {
        LinkStyle::Maenifold => Concept::parse(inner),
        LinkStyle::Obsidian => {
            let target = inner.split(['|', '#']).next().unwrap_or(inner);
            // Inside a table the bar is written `\|`.
            Concept::parse(target.strip_suffix('\\').unwrap_or(target))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn links(text: &str) -> Vec<&str> {
        let mut links = Vec::new();
        // The closure's lifetime is shorter than the text's, so the slice is found again by its place.
        find_links(text, |inner| {
            let start = inner.as_ptr() as usize - text.as_ptr() as usize;
            links.push(&text[start..start + inner.len()]);
        });
        links
    }

    #[test]
    fn exactly_two_brackets_make_a_link() {
        #[track_caller]
        fn check(text: &str, expect: &[&str]) {
            assert_eq!(links(text), expect, "{text}");
        }
        check("a [[b]] c [[d e]]", &["b", "d e"]);
        check("![[embed]]", &["embed"]);
        check("[[a|b]] [[a#b]]", &["a|b", "a#b"]);
        check("[[two\nlines]]", &["two\nlines"]);
        check("[[[triple]]]", &[]);
        check("[[open [[inner]]", &["inner"]);
        check("[[a]b]] [[c]]", &["c"]);
        check("[[a]]] [[b]]", &["b"]);
        check("[[]] [[ ]]", &[" "]);
        check("[[a]][[b]]", &["a", "b"]);
        check("[[a]](url)", &["a"]);
        check("\\[\\[a]]", &[]);
        check("[[open", &[]);
        check("[[", &[]);
    }

    #[test]
    fn the_style_decides_what_the_name_is() {
        #[track_caller]
        fn check(inner: &str, maenifold: Option<&str>, obsidian: Option<&str>) {
            let name = |style| concept(inner, style).map(|concept| concept.to_string());
            assert_eq!(name(LinkStyle::Maenifold).as_deref(), maenifold);
            assert_eq!(name(LinkStyle::Obsidian).as_deref(), obsidian);
        }
        check("Auth Flow|login", Some("auth-flow|login"), Some("auth-flow"));
        check("Auth#Tokens", Some("auth#tokens"), Some("auth"));
        check("Auth#^block|x", Some("auth#^block|x"), Some("auth"));
        check("Auth\\|x", Some("auth\\|x"), Some("auth"));
        check("#Heading", Some("#heading"), None);
        check(" / ", None, None);
    }

    /// The pattern, tried at every position as a backtracking engine would.
    fn by_pattern(text: &str) -> Vec<&str> {
        let bytes = text.as_bytes();
        let mut links = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let inner_end = bytes[(at + 2).min(bytes.len())..]
                .iter()
                .position(|byte| matches!(byte, b'[' | b']'))
                .map(|n| at + 2 + n);
            match inner_end {
                Some(end)
                    if bytes[at..].starts_with(b"[[")
                        && (at == 0 || bytes[at - 1] != b'[')
                        && end > at + 2
                        && bytes[end..].starts_with(b"]]")
                        && bytes.get(end + 2) != Some(&b']') =>
                {
                    links.push(&text[at + 2..end]);
                    at = end + 2;
                }
                _ => at += 1,
            }
        }
        links
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]
        #[test]
        fn the_scanner_equals_the_pattern(text in r"[\[\]a|]{0,24}") {
            prop_assert_eq!(links(&text), by_pattern(&text));
        }
    }
}
