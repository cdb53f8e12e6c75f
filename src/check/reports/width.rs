//! How many columns a text takes in a terminal, and how it is made to fit.

/// How many columns a character takes.
pub(super) fn columns(c: char) -> usize {
    match c {
        '\u{300}'..='\u{36f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2060}'..='\u{2064}'
        | '\u{20d0}'..='\u{20ff}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{fe20}'..='\u{fe2f}'
        | '\u{feff}'
        | '\u{e0100}'..='\u{e01ef}' => 0,
        // What East Asian fonts and emoji draw in two cells.
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{303e}'
        | '\u{3041}'..='\u{a4cf}'
        | '\u{a960}'..='\u{a97f}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff01}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{1f300}'..='\u{1f64f}'
        | '\u{1f680}'..='\u{1f6ff}'
        | '\u{1f900}'..='\u{1f9ff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

/// How many columns a text takes.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

/// The text, or as much of its beginning as has room with an ellipsis.
pub(super) fn shortened(text: &str, room: usize) -> String {
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

/// The text with blanks after it, up to that many columns.
pub(super) fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// The text with blanks before it, up to that many columns.
pub(super) fn right(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// The text in lines of at most so many columns, broken between words; a word that is longer stands alone, whole, because
/// somebody may want to copy it, and one that could be a command stands behind another. All lines but the first begin with `indent`, which is not counted.
pub(super) fn wrapped(text: &str, room: usize, indent: &str) -> String {
    let mut lines = String::new();
    let mut used = 0;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        // A line that begins with `::` is a command to GitHub's runner.
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
        assert_eq!(padded("日", 4), "日  ");
        assert_eq!(right("7", 3), "  7");
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
