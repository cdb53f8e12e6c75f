//! Text for a check's report: breaks no line, turns no direction, and is no command to the CI that prints it.

use crate::core::text::characters::{is_line_separator, turns_direction};

/// Every character keeps its place, so that columns stay right.
pub fn one_line(text: &str) -> String {
    without_commands(&text.chars().map(visible).collect::<String>())
}

/// Defuses what CI programs take for a command anywhere in their log. (`::` is one only at the start of a line, where no
/// report puts a text.)
pub fn without_commands(text: &str) -> String {
    text.replace("##[", "##(").replace("##vso[", "##vso(")
}

/// The character, or a blank for one that breaks a line or turns a direction.
pub fn visible(c: char) -> char {
    let is_mark = matches!(c, '\u{200e}' | '\u{200f}');
    if c.is_control() || is_mark || is_line_separator(c) || turns_direction(c) { ' ' } else { c }
}
