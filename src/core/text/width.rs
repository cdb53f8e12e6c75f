//! The width of text in a terminal, and how to fit text into columns.

use unicode_width::UnicodeWidthChar;

fn columns(c: char) -> usize {
    c.width().unwrap_or(0)
}

pub(crate) fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

/// Shortens the text to `room` columns, with an ellipsis at the end.
pub(crate) fn shortened(text: &str, room: usize) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mut used = 1;
    let kept: String = text
        .chars()
        .take_while(|&c| {
            used += columns(c);
            used <= room
        })
        .collect();
    format!("{kept}…")
}

pub(crate) fn align_left(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

pub(crate) fn align_right(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Wraps the text between words into lines of at most `room` columns. A longer word stays whole, so
/// that it can be copied. All lines but the first start with `indent`, which does not count.
pub(crate) fn wrapped(text: &str, room: usize, indent: &str) -> String {
    let mut lines = String::new();
    let mut used = 0;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        // At the start of a line, `::` is a command to GitHub's runner.
        if used > 0 && used + 1 + width(word) > room && !word.starts_with("::") {
            lines.push('\n');
            lines.push_str(indent);
            used = 0;
        } else if used > 0 {
            lines.push(' ');
            used += 1;
        }
        lines.push_str(word);
        used += width(word);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_and_combining_characters_take_their_columns() {
        assert_eq!(width("abc"), 3);
        assert_eq!(width("日本"), 4);
        assert_eq!(width("re\u{301}s"), 3);
        assert_eq!(align_left("日", 4), "日  ");
        assert_eq!(align_right("7", 3), "  7");
    }

    #[test]
    fn what_has_no_room_ends_with_an_ellipsis() {
        assert_eq!(shortened("tiles", 5), "tiles");
        assert_eq!(shortened("tiles!", 5), "tile…");
        assert_eq!(shortened("日本語", 5), "日本…");
        assert_eq!(shortened("日本語", 4), "日…");
        assert_eq!(shortened("ab", 1), "…");
    }

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(wrapped("a bb  ccc dd", 5, "  "), "a bb\n  ccc\n  dd");
        assert_eq!(wrapped("a-long/word and", 5, "  "), "a-long/word\n  and");
        assert_eq!(wrapped("", 5, "  "), "");
        assert_eq!(wrapped("a bb ::error::x y", 5, "  "), "a bb ::error::x\n  y");
    }
}
