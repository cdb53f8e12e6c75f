//! Cuts the part of a note that shows why it matched. Works on text alone.

use crate::core::search::answer::Match;

/// How long a snippet may be, in characters.
const SNIPPET_CHARS: usize = 200;
/// Longer words of a query are not looked for.
const LONGEST_TERM_BYTES: usize = 64;
/// How much of that comes before the match.
const LEAD_CHARS: usize = 20;

/// The words to show. A query that names a note is in what an answer shows before the snippet.
pub fn looked_for(matched: Match, terms: &[String]) -> &[String] {
    match matched {
        Match::Concept | Match::Text => terms,
        Match::Uri | Match::Title | Match::Alias | Match::File => &[],
    }
}

/// Returns the text around the first occurrence of one of `terms`, on one line. A heading at the top is left out, because
/// an answer shows the title before.
pub fn snippet(body: &str, terms: &[String]) -> String {
    let body = &without_marks(body);
    // A longer word would be compared with every place of the note, letter by letter.
    let short = terms.iter().filter(|term| term.len() <= LONGEST_TERM_BYTES);
    let first = short.filter_map(|term| find_ignoring_case(body, term)).min().unwrap_or(0);
    let start =
        body[..first].char_indices().rev().take(LEAD_CHARS).last().map_or(first, |(at, _)| at);
    let start = match body[start..first].find(char::is_whitespace) {
        Some(space) if start > 0 => start + space,
        _ => start,
    };
    let mut text = String::new();
    let mut cut = false;
    for word in body[start..].split_whitespace() {
        let room = SNIPPET_CHARS.saturating_sub(text.chars().count() + 1);
        if word.chars().count() > room {
            if text.is_empty() {
                text.extend(word.chars().take(SNIPPET_CHARS));
            }
            cut = true;
            break;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(word);
    }
    let before = if start > 0 && !text.is_empty() { "…" } else { "" };
    let after = match text.ends_with(['.', '!', '?']) {
        _ if !cut => "",
        true => " …",
        false => "…",
    };
    format!("{before}{text}{after}")
}

/// The text with a colon after each heading instead of the marks before it.
fn without_marks(body: &str) -> String {
    let mut text = String::with_capacity(body.len());
    let mut is_code = false;
    for line in body.lines() {
        is_code ^= ["```", "~~~"].iter().any(|fence| line.trim_start().starts_with(fence));
        match heading(line).filter(|_| !is_code) {
            Some(_) if text.trim().is_empty() => {}
            Some(heading) if heading.ends_with(char::is_alphanumeric) => {
                text.push_str(&format!("{heading}:"));
            }
            Some(heading) => text.push_str(heading),
            None => text.push_str(line),
        }
        text.push('\n');
    }
    text
}

/// The text of a heading.
fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    let is_heading = (1..=6).contains(&level) && text.starts_with([' ', '\t']);
    is_heading.then(|| text.trim().trim_end_matches('#').trim_end())
}

/// Finds `needle`, which is lower case, in `haystack` of any case.
fn find_ignoring_case(haystack: &str, needle: &str) -> Option<usize> {
    let first = needle.chars().next()?;
    haystack.char_indices().find_map(|(at, c)| {
        let begins = c == first || c.to_lowercase().eq([first]);
        let mut rest = haystack[at..].chars().flat_map(char::to_lowercase);
        (begins && needle.chars().all(|c| rest.next() == Some(c))).then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(body: &str, terms: &[&str], expect: &str) {
        let terms: Vec<String> = terms.iter().map(|&term| term.to_owned()).collect();
        assert_eq!(snippet(body, &terms), expect);
    }

    #[test]
    fn the_first_match_is_shown_with_its_surroundings() {
        check("short text", &["text"], "short text");
        check("a b\nc  d", &[], "a b c d");
        check("", &["x"], "");
        let long = format!("{} needle {}", "before ".repeat(50), "after ".repeat(50));
        let shown = snippet(&long, &["needle".to_owned()]);
        assert!(shown.starts_with("…before before needle after "), "{shown}");
        assert!(
            shown.ends_with(" after…") && shown.chars().count() <= SNIPPET_CHARS + 2,
            "{shown}"
        );
        check(&long, &["absent"], &format!("{}before…", "before ".repeat(27)));
        check("İstanbul GRÖSSE", &["grösse"], "İstanbul GRÖSSE");
    }

    #[test]
    fn headings_have_no_marks_and_the_first_one_is_left_out() {
        check("# Tiles\n\nOld ones.\n\n## Why\nSlow. #5", &[], "Old ones. Why: Slow. #5");
        check("## Why now? ##\ntext", &[], "text");
        check("text\n### Why now? ##\nSo.\n#tag", &[], "text Why now? So. #tag");
        check("text\n```sh\n# a comment\n```", &[], "text ```sh # a comment ```");
    }

    #[test]
    fn one_endless_word_is_cut() {
        check(&"x".repeat(500), &["x"], &format!("{}…", "x".repeat(SNIPPET_CHARS)));
    }
}
