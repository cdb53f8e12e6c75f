//! Text for a terminal: no cursor movement, no colours, no direction controls.

use std::borrow::Cow;

use crate::core::text::characters::{is_direction_mark, is_line_separator, turns_direction};

/// How a piece of text looks on a terminal.
#[derive(Debug, Clone, Copy)]
pub enum Style {
    Strong,
    /// Frames and labels.
    Faint,
    Link,
    Good,
    Doubtful,
    Bad,
}

/// Replaces control characters and direction controls by blanks, because they could falsify the output. Notes are
/// untrusted text.
pub fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || turns_direction(c) { ' ' } else { c }).collect()
}

/// Keeps line ends and tabs. Escapes all other control characters, direction controls and line separators.
pub fn lines(text: &str) -> Cow<'_, str> {
    if !text.contains(is_spelt_out) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match u32::from(c) {
            _ if !is_spelt_out(c) => shown.push(c),
            code @ ..0x100 => shown.push_str(&format!("\\x{code:02x}")),
            code => shown.push_str(&format!("\\u{{{code:x}}}")),
        }
    }
    Cow::Owned(shown)
}

fn is_spelt_out(c: char) -> bool {
    turns_direction(c)
        || is_direction_mark(c)
        || is_line_separator(c)
        || c.is_control() && !matches!(c, '\n' | '\t')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(one_line("a\x1b[31mb\nc"), "a [31mb c");
        assert_eq!(one_line("a\u{202e}b\u{2069}"), "a b ");
    }
}
