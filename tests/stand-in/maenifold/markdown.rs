//! Markdown as maenifold reads it: front matter, blocks, links, sections. A line scanner, which knows as much of CommonMark
//! as notes need: nested lists and quotes are followed roughly, link definitions and setext headings of many lines are not.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Tags that begin a block of HTML, which ends at a blank line.
const BLOCK_TAGS: [&str; 16] = [
    "article",
    "aside",
    "blockquote",
    "center",
    "details",
    "dialog",
    "div",
    "footer",
    "form",
    "header",
    "iframe",
    "nav",
    "p",
    "section",
    "summary",
    "table",
];

/// A file.
pub(crate) struct Markdown {
    /// The scalars of its front matter; nothing where that is no YAML.
    pub(crate) front: BTreeMap<String, String>,
    /// Everything after the front matter.
    pub(crate) body: String,
}

impl Markdown {
    pub(crate) fn read(path: &Path) -> std::io::Result<Markdown> {
        let bytes = fs::read(path)?;
        let text = String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes));
        Ok(Markdown::parse(&text))
    }

    fn parse(text: &str) -> Markdown {
        let mut lines = text.split_inclusive('\n');
        if lines.next().is_some_and(|first| first.trim_end() == "---") {
            let mut end = text.find('\n').map_or(text.len(), |at| at + 1);
            let start = end;
            for line in lines {
                if matches!(line.trim_end(), "---" | "...") {
                    let body = text[end + line.len()..].trim_start_matches(['\r', '\n']);
                    return Markdown { front: scalars(&text[start..end]), body: body.to_owned() };
                }
                end += line.len();
            }
        }
        Markdown { front: BTreeMap::new(), body: text.to_owned() }
    }
}

/// The scalars of a flat piece of YAML. One value that YAML refuses takes all of them along.
fn scalars(yaml: &str) -> BTreeMap<String, String> {
    let mut scalars = BTreeMap::new();
    for line in yaml.lines().filter(|line| !line.starts_with([' ', '\t', '#', '-'])) {
        let Some((key, value)) = line.split_once(':') else { continue };
        let value = value.trim();
        let quoted = ['"', '\'']
            .iter()
            .find_map(|&mark| value.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark)));
        let value = match quoted {
            Some(quoted) => quoted.to_owned(),
            None if value.contains(": ") || value.starts_with(['@', '`', '%']) => {
                return BTreeMap::new();
            }
            None => value.split(" #").next().unwrap_or_default().trim_end().to_owned(),
        };
        scalars.insert(key.trim().to_owned(), value);
    }
    scalars
}

/// The names of all links, as written, in their order.
pub(crate) fn links(body: &str) -> Vec<String> {
    let mut links = Vec::new();
    for block in blocks(body).into_iter().filter(|block| block.kind != Kind::Other) {
        let text = without_code(&block.text);
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(open) = text[at..].find("[[").map(|found| found + at) {
            let inner = open + 2;
            let end = text[inner..].find(['[', ']']).map_or(text.len(), |found| found + inner);
            let is_link = (open == 0 || bytes[open - 1] != b'[')
                && end > inner
                && text[end..].starts_with("]]")
                && !text[end..].starts_with("]]]");
            if is_link {
                links.push(text[inner..end].to_owned());
            }
            at = if is_link { end + 2 } else { open + 1 };
        }
    }
    links
}

/// A name in the form in which concepts are kept.
pub(crate) fn normalized(name: &str) -> String {
    let name: String = lowered(name.trim())
        .chars()
        .map(|c| if matches!(c, ' ' | '_' | '/') { '-' } else { c })
        .collect();
    let parts: Vec<&str> = name.split('-').filter(|part| !part.is_empty()).collect();
    parts.join("-")
}

/// Lower case as .NET's invariant culture has it: letter by letter, and only where one letter becomes one.
pub(crate) fn lowered(text: &str) -> String {
    text.chars().map(lowered_letter).collect()
}

pub(crate) fn lowered_letter(letter: char) -> char {
    let mut lowered = letter.to_lowercase();
    match (lowered.next(), lowered.next()) {
        (Some(one), None) => one,
        _ => letter,
    }
}

/// A section of the second level.
pub(crate) struct Section {
    pub(crate) heading: String,
    pub(crate) content: String,
}

pub(crate) fn sections(body: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for block in blocks(body) {
        match (block.kind, sections.last_mut()) {
            (Kind::Heading(2), _) if !block.is_nested => {
                let heading = block.text.trim().trim_matches('#').trim().to_owned();
                sections.push(Section { heading, content: String::new() });
            }
            (_, Some(section)) => {
                section.content.push_str(&block.text);
                section.content.push('\n');
            }
            (_, None) => {}
        }
    }
    for section in &mut sections {
        section.content = section.content.trim().to_owned();
    }
    sections
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Paragraph,
    Heading(usize),
    Other,
}

/// A leaf block, with its lines as they stand in the file.
struct Block {
    kind: Kind,
    is_nested: bool,
    text: String,
}

/// What a block that has begun waits for.
enum Until {
    Fence(char, usize),
    CommentEnd,
    Blank,
}

fn blocks(body: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut is_open = false;
    let mut until = None;
    let mut list_indent = 0;
    for raw in body.split('\n') {
        let (mut rest, is_quoted) = unquoted(raw);
        let is_blank = rest.trim().is_empty();
        if let Some(waiting) = &until {
            let is_over = match waiting {
                Until::Fence(mark, length) => {
                    let rest = rest.trim();
                    rest.len() >= *length && rest.chars().all(|c| c == *mark)
                }
                Until::CommentEnd => rest.contains("-->"),
                Until::Blank => is_blank,
            };
            if !matches!((waiting, is_over), (Until::Blank, true)) {
                append(&mut blocks, raw);
            }
            if is_over {
                until = None;
            }
            continue;
        }
        if is_blank {
            is_open = false;
            continue;
        }
        let mut indent = width(rest);
        if !is_open && indent < list_indent && marker(rest.trim_start()).is_none() {
            list_indent = 0;
        }
        let is_code = indent.saturating_sub(list_indent) >= 4 && !is_open;
        rest = rest.trim_start();
        let mut begins_item = false;
        while let Some(length) = marker(rest).filter(|_| !is_code && !is_rule(rest)) {
            indent += length;
            list_indent = indent;
            begins_item = true;
            rest = rest[length..].trim_start();
        }
        let is_nested = is_quoted || list_indent > 0;
        is_open &= !begins_item;
        let opened = fence(rest).map(|(mark, length)| Until::Fence(mark, length));
        let level = rest.chars().take_while(|&c| c == '#').count();
        let is_heading = (1..=6).contains(&level)
            && rest[level..].chars().next().is_none_or(|c| c.is_ascii_whitespace());
        let underline = rest.trim_end();
        let kind = if is_code {
            Kind::Other
        } else if opened.is_some() {
            until = opened;
            Kind::Other
        } else if rest.starts_with("<!--") {
            until = (!rest.contains("-->")).then_some(Until::CommentEnd);
            Kind::Other
        } else if begins_html(rest) {
            until = Some(Until::Blank);
            Kind::Other
        } else if is_heading {
            Kind::Heading(level)
        } else if is_open
            && (underline.bytes().all(|c| c == b'=') || underline.bytes().all(|c| c == b'-'))
        {
            if let Some(paragraph) = blocks.last_mut() {
                paragraph.kind = Kind::Heading(if underline.starts_with('=') { 1 } else { 2 });
            }
            is_open = false;
            continue;
        } else if is_rule(rest) {
            Kind::Other
        } else if is_open {
            append(&mut blocks, raw);
            continue;
        } else {
            Kind::Paragraph
        };
        is_open = kind == Kind::Paragraph;
        let text = if is_nested || is_code { raw } else { raw.trim_start() };
        blocks.push(Block { kind, is_nested, text: text.to_owned() });
    }
    blocks
}

fn append(blocks: &mut [Block], line: &str) {
    if let Some(block) = blocks.last_mut() {
        block.text.push('\n');
        block.text.push_str(line);
    }
}

fn width(line: &str) -> usize {
    let spaces = line.chars().take_while(|c| matches!(c, ' ' | '\t'));
    spaces.map(|c| if c == '\t' { 4 } else { 1 }).sum()
}

/// A line without the marks of quotes, and whether there were any.
fn unquoted(line: &str) -> (&str, bool) {
    let mut rest = line;
    while let Some(inner) = rest.trim_start().strip_prefix('>').filter(|_| width(rest) < 4) {
        rest = inner.strip_prefix(' ').unwrap_or(inner);
    }
    (rest, rest.len() < line.len())
}

/// The length of the mark of a list's item.
fn marker(line: &str) -> Option<usize> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let mark = line[digits..].chars().next()?;
    let is_mark =
        if digits == 0 { matches!(mark, '-' | '+' | '*') } else { matches!(mark, '.' | ')') };
    (is_mark && digits < 10 && line[digits + 1..].starts_with([' ', '\t'])).then_some(digits + 2)
}

fn is_rule(line: &str) -> bool {
    let marks: String = line.split_whitespace().collect();
    marks.len() >= 3 && ['-', '*', '_'].iter().any(|mark| marks.chars().all(|c| c == *mark))
}

fn fence(line: &str) -> Option<(char, usize)> {
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = line.chars().take_while(|&c| c == mark).count();
    (length >= 3 && !(mark == '`' && line[length..].contains('`'))).then_some((mark, length))
}

fn begins_html(line: &str) -> bool {
    let Some(tag) = line.strip_prefix('<') else { return false };
    let tag = tag.strip_prefix('/').unwrap_or(tag);
    let name = tag.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    BLOCK_TAGS.contains(&name.to_lowercase().as_str())
}

/// A block's text with spaces instead of code, as maenifold does it: of each span it looks for the first place that reads
/// like it between single backticks. A span that was there before is not found again.
fn without_code(text: &str) -> String {
    let mut blanked = text.to_owned();
    let mut at = 0;
    while let Some(open) = text[at..].find('`').map(|found| found + at) {
        let run = text[open..].bytes().take_while(|&c| c == b'`').count();
        let inner = open + run;
        at = inner;
        if open > 0 && text.as_bytes()[open - 1] == b'\\' {
            continue;
        }
        let Some(close) = closing(text, inner, run) else { continue };
        at = close + run;
        let mut content = text[inner..close].replace('\n', " ");
        if content.starts_with(' ') && content.ends_with(' ') && !content.trim().is_empty() {
            content = content[1..content.len() - 1].to_owned();
        }
        let span = format!("`{content}`");
        if let Some(found) = text.find(&span) {
            blanked.replace_range(found..found + span.len(), &" ".repeat(span.len()));
        }
    }
    blanked
}

/// Where a run of exactly so many backticks begins.
fn closing(text: &str, from: usize, run: usize) -> Option<usize> {
    let mut at = from;
    while let Some(found) = text[at..].find('`').map(|found| found + at) {
        let length = text[found..].bytes().take_while(|&c| c == b'`').count();
        if length == run {
            return Some(found);
        }
        at = found + length;
    }
    None
}
