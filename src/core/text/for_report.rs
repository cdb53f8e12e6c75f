//! Text for the report of `kgctx check`: no line breaks, no direction controls, no commands for the CI that prints
//! it.

use crate::core::text::characters::{is_line_separator, turns_direction};

/// Replaces characters one by one, so that column numbers stay right.
pub fn one_line(text: &str) -> String {
    without_commands(&text.chars().map(visible).collect::<String>())
}

/// Neutralises text that CI programs treat as a command anywhere in their log. (`::` is a command only at the start
/// of a line, where no report puts foreign text.)
pub fn without_commands(text: &str) -> String {
    text.replace("##[", "##(").replace("##vso[", "##vso(")
}

/// The character, or a blank if it breaks the line or changes the direction.
pub fn visible(c: char) -> char {
    let is_mark = matches!(c, '\u{200e}' | '\u{200f}');
    if c.is_control() || is_mark || is_line_separator(c) || turns_direction(c) { ' ' } else { c }
}
