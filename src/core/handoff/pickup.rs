//! What `kgctx handoff pickup` prints: the document, and the files that it lists, between lines that nothing inside of
//! them can imitate.

use std::borrow::Cow;
use std::fmt::Write;

use crate::core::handoff::{FoundFile, HandoffId, ListedFile};
use crate::core::text::for_terminal;

/// How our own lines begin, where that alone tells them.
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

/// Writes what was picked up: the document as it is stored, and what was found of its files.
///
/// `in_all` is how many bytes of files are shown at most.
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

/// What went wrong with listed files, one line each.
pub fn warnings(files: &[ListedFile], in_all: u64) -> Vec<String> {
    files.iter().filter_map(|file| remark(file, in_all)).collect()
}

/// What is to be said of a file that is not shown, or not as a whole.
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

/// Adds a text so that it ends with its line.
fn push_lines(text: &mut String, content: &str) {
    text.push_str(&escape_delimiters(content));
    if !content.is_empty() && !content.ends_with('\n') {
        text.push('\n');
    }
}

/// A path where one line belongs.
fn one_line(text: &str) -> String {
    for_terminal::lines(text).replace('\n', "\\x0a").replace('\t', "\\x09")
}

/// Puts a backslash before each line that could be taken for one of ours, or for such a line with a backslash: taking one
/// away again restores the text.
///
/// Invisible characters hide a line from this, so remove them from text for a model first.
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

/// The lines of a text with their ends, by whatever some program takes for a line break.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'])
}

fn is_delimiter(line: &str) -> bool {
    let line = line.trim_start_matches(|c: char| c == '\\' || c.is_whitespace()).trim_end();
    let is_between = |mark: &str| {
        let inner = line.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark));
        // A rule, an underline or the head of a table is no title.
        inner.is_some_and(|inner| inner.contains(|c: char| !" \t-=|:+".contains(c)))
    };
    is_between("===") || is_between("---") || OPENINGS.iter().any(|ours| line.starts_with(ours))
}

#[cfg(test)]
mod tests;
