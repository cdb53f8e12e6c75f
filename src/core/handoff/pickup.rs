//! The output of `kgctx handoff pickup`: the document and its listed files, between delimiters that no content can
//! imitate.

use std::borrow::Cow;
use std::fmt::Write;

use crate::core::handoff::{FoundFile, HandoffId, ListedFile};
use crate::core::text::for_terminal;

/// The prefixes of those of our lines that a prefix identifies.
const OPENINGS: [&str; 10] = [
    "[Warning: ",
    "[Truncated: ",
    "[Not shown: ",
    "Session claimed: ",
    "<PICKUP_ID>",
    "</PICKUP_ID>",
    "<HANDOFF_ID>",
    "</HANDOFF_ID>",
    "<SESSION_FILE>",
    "</SESSION_FILE>",
];

/// Writes a picked-up handoff: the stored document, and its listed files.
///
/// `in_all` is the limit in bytes for all files together.
pub fn render(id: &HandoffId, document: &str, files: &[ListedFile], in_all: u64) -> String {
    let mut text = format!("Session claimed: {id}\n<PICKUP_ID>{id}</PICKUP_ID>\n\n");
    text.push_str("=== Session Content ===\n");
    push_lines(&mut text, document);
    if files.iter().any(|file| matches!(file.found, FoundFile::Text { .. })) {
        text.push_str("\n=== Injected Files ===\n");
    }
    for file in files {
        text.push('\n');
        if let FoundFile::Text { text: content, .. } = &file.found {
            let _ = writeln!(text, "--- {} ---", one_line(&file.path));
            push_lines(&mut text, content);
        }
        if let Some(remark) = remark(file, in_all) {
            text.push_str(&remark);
            text.push('\n');
        }
    }
    text
}

/// The problems of the listed files, one line each.
pub fn warnings(files: &[ListedFile], in_all: u64) -> Vec<String> {
    files.iter().filter_map(|file| remark(file, in_all)).collect()
}

/// The remark about a file that is not shown, or not completely.
pub(crate) fn remark(file: &ListedFile, in_all: u64) -> Option<String> {
    let path = one_line(&file.path);
    match &file.found {
        FoundFile::Text { text, total } if text.len() as u64 >= *total => None,
        FoundFile::Text { text, total } => {
            Some(format!("[Truncated: {path}, {} of {total} bytes]", text.len()))
        }
        FoundFile::Missing => Some(format!("[Warning: File not found: {path}]")),
        FoundFile::Unreadable { why } => {
            Some(format!("[Warning: Unreadable: {path} ({})]", one_line(why)))
        }
        FoundFile::NoRoom { total } => Some(format!(
            "[Not shown: {path}, {total} bytes; the limit of {in_all} bytes was reached]"
        )),
    }
}

/// Appends a text and, if necessary, a line break.
fn push_lines(text: &mut String, content: &str) {
    text.push_str(&escape_delimiters(content));
    if !content.is_empty() && !content.ends_with('\n') {
        text.push('\n');
    }
}

/// A text on one line, for a terminal.
fn one_line(text: &str) -> String {
    for_terminal::lines(text).replace('\n', "\\x0a").replace('\t', "\\x09")
}

/// Puts a backslash before each line that looks like one of our delimiters, or like an escaped one. Removing one
/// backslash restores the text.
///
/// Invisible characters defeat this check, so remove them first from text for a model.
pub fn escape_delimiters(text: &str) -> Cow<'_, str> {
    if !lines(text).any(is_delimiter) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for line in lines(text) {
        if is_delimiter(line) {
            escaped.push('\\');
        }
        escaped.push_str(line);
    }
    Cow::Owned(escaped)
}

/// The lines of a text with their ends. Splits at every character that some program treats as a line break.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'])
}

fn is_delimiter(line: &str) -> bool {
    let line = line.trim_start_matches(|c: char| c == '\\' || c.is_whitespace()).trim_end();
    let is_between = |mark: &str| {
        let inner = line.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark));
        // A rule, an underline or a table header is not a title.
        inner.is_some_and(|inner| inner.contains(|c: char| !" \t-=|:+".contains(c)))
    };
    is_between("===") || is_between("---") || OPENINGS.iter().any(|ours| line.starts_with(ours))
}

#[cfg(test)]
mod tests;
