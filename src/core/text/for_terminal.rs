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

/// Escapes whatever could move the cursor, change colours or turn the direction, except the codes in `styles`. Keeps line
/// ends and tabs.
pub fn fenced<'t>(text: &'t str, styles: &[&str]) -> Cow<'t, str> {
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(at) = rest.find(acts) {
        shown.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(style) = styles.iter().find(|style| rest.starts_with(**style)) {
            shown.push_str(style);
            rest = &rest[style.len()..];
        } else if let Some(c) = rest.chars().next() {
            shown.push_str(&lines(c.encode_utf8(&mut [0; 4])));
            rest = &rest[c.len_utf8()..];
        }
    }
    shown.push_str(rest);
    Cow::Owned(shown)
}

/// The same for JSON, which stays the same value.
pub fn json(text: &str) -> Cow<'_, str> {
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        // All of these are in the plane that one escape reaches, and none is part of JSON's own syntax.
        if acts(c) { shown.push_str(&format!("\\u{:04x}", u32::from(c))) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

/// Whether a terminal obeys this character.
fn acts(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t') || turns_direction(c)
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
    fn only_our_own_styles_pass_the_fence() {
        let styles = ["\x1b[1m", "\x1b[0m"];
        assert_eq!(fenced("\x1b[1ma\x1b[0m\tb\n", &styles), "\x1b[1ma\x1b[0m\tb\n");
        assert_eq!(fenced("\x1b[1ma\x1b[0m", &[]), "\\x1b[1ma\\x1b[0m");
        assert_eq!(
            fenced("\x1b[2J\x1b]0;x\x07\r\u{9b}é", &styles),
            "\\x1b[2J\\x1b]0;x\\x07\\x0d\\x9bé"
        );
        assert_eq!(fenced("a\u{202e}b", &styles), "a\\u{202e}b");
    }

    #[test]
    fn json_stays_the_same_value() {
        let value = serde_json::json!({"k\u{7f}": "a\x1b\u{9b}\u{202e}\n\"é"});
        let text = value.to_string();
        let shown = json(&text);
        assert!(!shown.contains(acts), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(one_line("a\x1b[31mb\nc"), "a [31mb c");
        assert_eq!(one_line("a\u{202e}b\u{2069}"), "a b ");
    }
}
