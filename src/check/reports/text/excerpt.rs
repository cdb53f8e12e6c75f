//! A finding's line, with carets under the spot.

use std::ops::Range;

use crate::check::finding::Finding;
use crate::check::reports::text::{COLUMNS, Paint, tone};
use crate::core::text::for_report;
use crate::core::text::for_terminal::Style;
use crate::core::text::width::width;

const TAB: &str = "    ";
/// The columns of a long line that are shown before the spot.
const COLUMNS_BEFORE: usize = 30;
/// The start of the replacement for a secret; it ends with a bracket.
const MASK: &str = "[masked: ";

/// The excerpt with its line number, and the carets; empty without an excerpt.
pub(super) fn lines(finding: &Finding, paint: Paint<'_>) -> String {
    let Some(excerpt) = finding.excerpt.as_deref().filter(|text| !text.trim().is_empty()) else {
        return String::new();
    };
    let excerpt = &for_report::without_commands(excerpt);
    let number = finding.spot.line.to_string();
    let margin = " ".repeat(number.len());
    let bar = paint(Style::Faint, "|");
    let room = COLUMNS.saturating_sub(number.len() + " | ".len());
    let marked = marked(finding, excerpt);
    let (line, carets) = fitted(excerpt, marked, room);
    let mut text = format!(
        "{margin} {bar}\n{} {bar} {}\n",
        paint(Style::Faint, &number),
        line.trim_end_matches(' ')
    );
    if let Some(carets) = carets {
        let marks = paint(tone(finding.severity), &"^".repeat(carets.len()));
        text.push_str(&format!("{margin} {bar} {}{marks}\n", " ".repeat(carets.start)));
    }
    text
}

/// The characters of the excerpt to mark; `None` if a cut or a masked secret before the spot
/// shifted them.
fn marked(finding: &Finding, excerpt: &str) -> Option<Range<usize>> {
    let chars: Vec<char> = excerpt.chars().collect();
    let start = finding.spot.column.checked_sub(1)?;
    let before: String = chars.get(..start)?.iter().collect();
    if finding.spot.length == 0 || before.starts_with('…') || before.contains(MASK) {
        return None;
    }
    let rest: String = chars[start..].iter().collect();
    let length = match rest.find(']') {
        Some(end) if rest.starts_with(MASK) => rest[..=end].chars().count(),
        _ => finding.spot.length,
    };
    let end = start.saturating_add(length).min(chars.len());
    (start < end).then_some(start..end)
}

/// Fits the text into `room` columns. Returns it with the columns of the marked characters.
fn fitted(text: &str, marked: Option<Range<usize>>, room: usize) -> (String, Option<Range<usize>>) {
    let cell = |c| if c == '\t' { TAB.to_owned() } else { for_report::visible(c).to_string() };
    let cells: Vec<String> = text.chars().map(cell).collect();
    let widths: Vec<usize> = cells.iter().map(|cell| width(cell)).collect();
    let mut from = 0;
    if let Some(marked) = &marked
        && widths.iter().sum::<usize>() > room
        && widths[..marked.end].iter().sum::<usize>() >= room
    {
        from = marked.start;
        let mut before = 0;
        while from > 0 && before < COLUMNS_BEFORE {
            from -= 1;
            before += widths[from];
        }
    }
    let mut shown = if from > 0 { "…".to_owned() } else { String::new() };
    let mut used = width(&shown);
    let mut caret_columns: Option<Range<usize>> = None;
    for n in from..cells.len() {
        let rest: usize = widths[n..].iter().take(room).sum();
        // Keeps one column for the ellipsis.
        if used + rest > room && used + widths[n] + 1 > room {
            shown.push('…');
            break;
        }
        if marked.as_ref().is_some_and(|marked| marked.contains(&n)) {
            let start = caret_columns.as_ref().map_or(used, |columns| columns.start);
            caret_columns = Some(start..used + widths[n]);
        }
        shown.push_str(&cells[n]);
        used += widths[n];
    }
    (shown, caret_columns.filter(|columns| !columns.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, marked: Range<usize>, room: usize, line: &str, carets: &str) {
        let (shown, columns) = fitted(text, Some(marked), room);
        let columns = columns.unwrap_or_default();
        let marks = format!("{}{}", " ".repeat(columns.start), "^".repeat(columns.len()));
        assert_eq!((shown.as_str(), marks.as_str()), (line, carets));
    }

    #[test]
    fn carets_stand_under_wide_characters_and_behind_tabs() {
        check("see x y", 4..5, 20, "see x y", "    ^");
        check("日本 x", 3..4, 20, "日本 x", "     ^");
        check("x 日本", 2..4, 20, "x 日本", "  ^^^^");
        check("\tx", 1..2, 20, "    x", "    ^");
        check("e\u{301}x", 2..3, 20, "e\u{301}x", " ^");
    }

    #[test]
    fn a_long_line_is_cut_where_nothing_is_meant() {
        let long = format!("{}here{}", "a".repeat(60), "b".repeat(60));
        let (shown, columns) = fitted(&long, Some(60..64), 50);
        assert_eq!(width(&shown), 50);
        assert!(shown.starts_with('…') && shown.ends_with('…'), "{shown}");
        let columns = columns.unwrap();
        assert_eq!(shown.chars().skip(columns.start).take(4).collect::<String>(), "here");
        check("abcdef", 0..1, 6, "abcdef", "^");
        check("abcdefg", 0..1, 6, "abcde…", "^");
    }

    proptest! {
        #[test]
        fn any_line_fits(text in "\\PC{0,120}", start in 0usize..130, length in 0usize..130, room in 35usize..90) {
            let n = text.chars().count();
            let marked = start.min(n)..(start + length).min(n);
            let (shown, carets) = fitted(&text, Some(marked), room);
            prop_assert!(width(&shown) <= room, "{} > {room}", width(&shown));
            prop_assert!(carets.is_none_or(|carets| carets.end <= width(&shown)));
        }
    }
}
