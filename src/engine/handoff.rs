//! Cuts a handoff to its share of the room: by section, never inside of a line.

use crate::domain::budget::{Budget, Size};
use crate::domain::handoff::Handoff;
use crate::engine::untrusted;

/// Writes a handoff between its banners, as much of it as `room` holds; `None` where that is nothing.
///
/// Whole sections in their order, and those that are too large left out. Where not one fits, the first lines
/// of the first section.
pub fn render(handoff: &Handoff, room: Budget, measure: impl Fn(&str) -> Size) -> Option<String> {
    let body = untrusted::lines(&handoff.body);
    let opening = format!("=== HANDOFF LOADED (ID: {}) ===\n", untrusted::one_line(&handoff.id));
    let closing = "=== END HANDOFF ===\n\n";
    let mut used = measure(&opening) + measure(closing);
    let mut kept = String::new();
    let mut take = |piece: &str, kept: &mut String| {
        // One token more, for blank lines that are counted apart here and may not be in the whole.
        let size = measure(piece) + Size { tokens: 1, chars: 0 };
        let fits = room.holds(used + size);
        if fits {
            used += size;
            kept.push_str(piece);
        }
        fits
    };
    let sections = sections(body.trim_matches('\n'));
    let n_taken = sections.iter().filter(|section| take(section, &mut kept)).count();
    if kept.is_empty() {
        let first = sections.first().copied().unwrap_or_default();
        let _ = first.split_inclusive('\n').all(|line| take(line, &mut kept));
    }
    if kept.trim().is_empty() {
        return None;
    }
    if !kept.ends_with('\n') {
        kept.push('\n');
    }
    let mark = "[parts of this handoff were left out for want of room]\n";
    if n_taken < sections.len() {
        take(mark, &mut kept);
    }
    Some(format!("{opening}{kept}{closing}"))
}

/// Splits markdown before each heading that is not inside of code.
fn sections(body: &str) -> Vec<&str> {
    let mut sections = Vec::new();
    let mut start = 0;
    let mut at = 0;
    let mut fence: Option<&str> = None;
    for line in body.split_inclusive('\n') {
        let trimmed = line.trim_start();
        match fence {
            Some(mark) if trimmed.starts_with(mark) => fence = None,
            Some(_) => {}
            None if trimmed.starts_with("```") => fence = Some("```"),
            None if trimmed.starts_with("~~~") => fence = Some("~~~"),
            None if line.starts_with('#') && at > start => {
                sections.push(&body[start..at]);
                start = at;
            }
            None => {}
        }
        at += line.len();
    }
    if at > start {
        sections.push(&body[start..at]);
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(body: &str, room: usize) -> Option<String> {
        let handoff = Handoff { id: "h-1".to_owned(), body: body.to_owned() };
        // A token for every character makes the arithmetic of these tests plain.
        let measure = |text: &str| Size { tokens: text.chars().count(), chars: 0 };
        render(&handoff, Budget { tokens: room, chars: None }, measure)
    }

    #[test]
    fn all_of_it_where_there_is_room() {
        assert_eq!(
            cut("# Goal\nShip.\n\n## Next\nTest.", 1_000).unwrap(),
            "=== HANDOFF LOADED (ID: h-1) ===\n# Goal\nShip.\n\n## Next\nTest.\n=== END HANDOFF ===\n\n"
        );
    }

    #[test]
    fn a_section_that_is_too_large_does_not_keep_others_out() {
        let body = format!("# Goal\nShip.\n# Log\n{}\n# Next\nTest.\n", "word ".repeat(100));
        let text = cut(&body, 160).unwrap();
        assert!(
            text.contains("Ship.") && text.contains("Test.") && !text.contains("word"),
            "{text}"
        );
        assert!(text.contains("left out"), "{text}");
    }

    #[test]
    fn where_no_section_fits_its_first_lines_do() {
        let body = format!("# Goal\nShip the first part.\n{}\n", "a long line ".repeat(100));
        let text = cut(&body, 110).unwrap();
        assert!(text.contains("Ship the first part.\n") && !text.contains("a long line"), "{text}");
        assert_eq!(cut(&body, 20), None);
        assert_eq!(cut("", 1_000), None);
    }

    #[test]
    fn a_comment_in_code_is_no_heading() {
        assert_eq!(sections("a\n```sh\n# no\n```\n# yes\nb").len(), 2);
        assert_eq!(sections("# a\n## b\n"), ["# a\n", "## b\n"]);
    }
}
