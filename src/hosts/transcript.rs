//! A transcript: a host's record of a conversation, in lines of JSON. Reads them within limits; what a line says is its
//! host's matter.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use serde_json::Value;

use crate::core::handoff::conversation::{Conversation, Message, Role};
use crate::core::secrets;
use crate::hosts::{amplifier, claude_code, opencode};
use crate::system::plain_file;

/// The last messages are kept.
const MAX_MESSAGES: usize = 50;
/// The first files are kept.
const MAX_FILES: usize = 20;
/// Longer lines hold more than text. A prompt with an image is shorter.
pub(super) const MAX_LINE_BYTES: u64 = 8 * 1024 * 1024;
/// Only the beginning and the end of a longer file are read.
pub(super) const MAX_FILE_BYTES: u64 = 256 * 1024 * 1024;
/// Where the first prompt is.
const OPENING_BYTES: u64 = 1024 * 1024;
/// Far more of a message than is ever shown.
pub(super) const MAX_TEXT_BYTES: usize = 16 * 1024;

/// A part of a file, in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Extract {
    First(u64),
    Last(u64),
}

/// Reads the transcript of any host, or the ends of a huge one.
pub fn read(file: &Path) -> io::Result<Conversation> {
    read_ends(file, MAX_FILE_BYTES)
}

/// Reads at most so many bytes at the end of a transcript, and how it began.
pub fn read_ends(file: &Path, max_bytes: u64) -> io::Result<Conversation> {
    let end = read_end(file, max_bytes)?;
    if opencode::said::is_one(file) || file.metadata()?.len() <= max_bytes {
        return Ok(end);
    }
    let start = read_extract(file, Extract::First(OPENING_BYTES))?;
    let began_ms = start.began_ms.or(end.began_ms);
    Ok(Conversation { opening: start.opening, began_ms, is_partial: true, ..end })
}

/// Reads at most so many bytes at the end of a transcript.
pub fn read_end(file: &Path, max_bytes: u64) -> io::Result<Conversation> {
    read_extract(file, Extract::Last(max_bytes))
}

fn read_extract(file: &Path, extract: Extract) -> io::Result<Conversation> {
    if opencode::said::is_one(file) {
        opencode::said::read(file)
    } else if amplifier::transcript::is_one(file) {
        amplifier::transcript::read(file, extract)
    } else {
        claude_code::transcript::read(file, extract)
    }
}

/// The time of the last write, in milliseconds since 1970.
pub fn last_written(file: &Path) -> Option<i64> {
    let modified = file.metadata().ok()?.modified().ok()?;
    let since_1970 = modified.duration_since(std::time::UNIX_EPOCH).ok()?;
    i64::try_from(since_1970.as_millis()).ok()
}

/// Reads the lines in a part of a file.
pub(super) fn each_line(file: &Path, extract: Extract, hear: impl FnMut(&[u8])) -> io::Result<()> {
    let mut opened = plain_file::open(file)?;
    let (skipped, max_bytes) = match extract {
        Extract::First(max_bytes) => (0, max_bytes),
        Extract::Last(max_bytes) => (opened.metadata()?.len().saturating_sub(max_bytes), max_bytes),
    };
    opened.seek(SeekFrom::Start(skipped))?;
    let mut reader = BufReader::new(opened);
    if skipped > 0 {
        reader.skip_until(b'\n')?;
    }
    // Limits the read: the host may still be appending.
    each_line_of(reader.take(max_bytes), hear)
}

pub(super) fn each_line_of(mut lines: impl BufRead, mut hear: impl FnMut(&[u8])) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        line.clear();
        let n_read = lines.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line)? as u64;
        if n_read == 0 {
            return Ok(());
        }
        if n_read == MAX_LINE_BYTES && !line.ends_with(b"\n") {
            lines.skip_until(b'\n')?;
        } else {
            hear(&line);
        }
    }
}

/// Adds a message to what was heard.
pub(super) fn say(heard: &mut Conversation, role: Role, text: String) {
    if text.is_empty() {
        return;
    }
    if heard.messages.len() == MAX_MESSAGES {
        heard.messages.remove(0);
    }
    heard.messages.push(Message { role, text: shortened(text) });
}

/// Adds a file to those that were changed.
pub(super) fn change(files: &mut Vec<String>, file: &str) {
    let is_new = !file.is_empty() && !files.iter().any(|known| known == file);
    if is_new && files.len() < MAX_FILES {
        files.push(file.to_owned());
    }
}

pub(super) fn blocks(content: &Value) -> impl Iterator<Item = &Value> {
    content.as_array().into_iter().flatten()
}

/// Joins the wanted texts of a message's content, which is a string or a list of blocks.
pub(super) fn words(content: &Value, is_wanted: impl Fn(&str) -> bool) -> String {
    let texts = blocks(content).filter(|block| block["type"] == "text");
    let texts = texts.filter_map(|block| block["text"].as_str()).chain(content.as_str());
    let texts = texts.filter(|text| is_wanted(text)).map(str::trim);
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Keeps the beginning and the end of a long text. Masks it first: nobody would know half a secret.
pub fn shortened(mut text: String) -> String {
    if text.len() <= MAX_TEXT_BYTES {
        return text;
    }
    secrets::mask_in(&mut text);
    let head = text.floor_char_boundary(MAX_TEXT_BYTES / 2);
    let tail = text.ceil_char_boundary(text.len().saturating_sub(MAX_TEXT_BYTES / 2));
    match tail > head {
        true => format!("{}\n[…]\n{}", &text[..head], &text[tail..]),
        false => text,
    }
}
