//! Copies the words of a line, without its marks.

use crate::core::quote::plain::emphasis::Run;
use crate::core::quote::plain::entity;
use crate::core::quote::plain::inline_code::{InlineCode, is_query};
use crate::core::quote::plain::shortcode::Shortcode;
use crate::core::quote::plain::tag;
use crate::core::text::attributes::{AttributeList, without_attributes};

/// A longer run without a blank is data, such as an embedded picture.
pub(super) const LONGEST_RUN_BYTES: usize = 300;
const LONGEST_LINK_BYTES: usize = 2_048;
const LONGEST_REFERENCE_BYTES: usize = 100;
/// Between the cells of a table.
const CELLS: &str = " |";
const SHORTEST_ID_BYTES: usize = 6;

#[derive(Default)]
pub(super) struct Stripper {
    pub(super) text: String,
    /// Where words were stripped, as places in the text.
    pub(super) gaps: Vec<usize>,
    /// Whether what stood apart may meet now.
    pub(super) has_links: bool,
    /// Whether the line is a row of a table.
    pub(super) is_row: bool,
}

/// The part of a text in which a link or tag must end: looking through the rest of a hostile line for each would take
/// for ever.
fn near(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST_LINK_BYTES)]
}

/// The text of a wiki link. Some programs write it behind the bar and some before it: it is the side that looks least
/// like an address.
fn label(inner: &str) -> &str {
    let Some((first, last)) = inner.split_once('|') else { return inner };
    // In a table the bar is escaped.
    let first = first.strip_suffix('\\').unwrap_or(first);
    let is_address = |side: &str| side.contains([':', '/', '.', '#']) && !side.trim().contains(' ');
    if is_address(last) && !is_address(first) { first } else { last }
}

/// Whether a character can begin something that is stripped.
fn is_mark(c: char) -> bool {
    matches!(c, '!' | '[' | '<' | '*' | '`' | '|' | '~' | '=' | '&' | '_' | '{' | '%')
}

/// The length of the words at the beginning of a text that have one blank after each, and no marks. They are copied
/// together: most lines have little else.
fn plain_words(text: &str) -> usize {
    let mut end = 0;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b' ' if (1..=LONGEST_RUN_BYTES).contains(&(at - end)) => end = at + 1,
            b'(' if text.as_bytes().get(at + 1) == Some(&b'(') => break,
            byte if byte.is_ascii_graphic() && !is_mark(char::from(byte)) => {}
            _ => break,
        }
    }
    end
}

/// The end of the target of a link, in which brackets have a partner each.
fn target_end(target: &str) -> Option<usize> {
    let near = near(target);
    let mut depth = 0usize;
    for (at, byte) in near.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 0 => return Some(at),
            b')' => depth -= 1,
            _ => {}
        }
    }
    near.find(')')
}

impl Stripper {
    pub(super) fn with_room_for(bytes: usize) -> Stripper {
        Stripper { text: String::with_capacity(bytes), ..Stripper::default() }
    }

    pub(super) fn strip(&mut self, line: &str) {
        self.strip_part(line);
        let text = self.text.trim_end();
        let text = if self.is_row { text.strip_suffix(CELLS).unwrap_or(text) } else { text };
        self.text.truncate(text.len());
    }

    pub(super) fn strip_heading(&mut self, heading: &str) {
        let text = without_attributes(heading);
        self.strip(text);
        self.gap(&heading[text.len()..]);
    }

    fn strip_part(&mut self, line: &str) {
        // How much of the line is left where emphasis ends.
        let mut ends: Vec<usize> = Vec::new();
        let mut rest = line;
        while let Some(c) = rest.chars().next() {
            let before = &line[..line.len() - rest.len()];
            rest = match c {
                '!' if rest.starts_with("![") => {
                    self.image(rest).unwrap_or_else(|| self.keep(rest, c))
                }
                '[' => self
                    .footnote(rest, before)
                    .or_else(|| self.linked_image(rest))
                    .or_else(|| self.link(rest, before))
                    .unwrap_or_else(|| self.keep(rest, c)),
                '<' => self.tag(rest, before).unwrap_or_else(|| self.keep(rest, c)),
                '{' => self.braces(rest, before).unwrap_or_else(|| self.keep(rest, c)),
                '`' => self.backticks(rest),
                '(' if rest.starts_with("((") => {
                    self.block(rest).unwrap_or_else(|| self.keep(rest, c))
                }
                '*' | '_' => self.emphasis(rest, before, &mut ends),
                '~' if rest.starts_with("~~") => self.emphasis(rest, before, &mut ends),
                '=' if rest.starts_with("==") => self.emphasis(rest, before, &mut ends),
                '|' if self.is_row => self.cell(&rest[1..]),
                '&' => self.entity(rest).unwrap_or_else(|| self.keep(rest, c)),
                '%' if rest.starts_with("%%") => {
                    self.aside(rest, before).unwrap_or_else(|| self.keep(rest, c))
                }
                c if c.is_whitespace() => self.blank(&rest[c.len_utf8()..]),
                _ => self.run(rest),
            };
        }
    }

    fn keep<'a>(&mut self, rest: &'a str, c: char) -> &'a str {
        self.text.push(c);
        &rest[c.len_utf8()..]
    }

    fn blank<'a>(&mut self, rest: &'a str) -> &'a str {
        if !self.text.is_empty() && !self.text.ends_with(' ') {
            self.text.push(' ');
        }
        rest
    }

    /// Drops a mark of emphasis or code, and keeps the words beside it apart.
    fn mark<'a>(&mut self, rest: &'a str) -> &'a str {
        match self.text.ends_with(char::is_alphanumeric) && rest.starts_with(char::is_alphanumeric)
        {
            true => self.blank(rest),
            false => rest,
        }
    }

    pub(super) fn gap(&mut self, stripped: &str) {
        if stripped.contains(char::is_alphanumeric) {
            self.gaps.push(self.text.len());
        }
    }

    /// Leaves out a number of bytes.
    fn leave_out<'a>(&mut self, rest: &'a str, len: usize) -> &'a str {
        self.blank("");
        self.gap(&rest[..len]);
        &rest[len..]
    }

    /// Copies characters without a meaning, or leaves them out where they are data.
    fn run<'a>(&mut self, rest: &'a str) -> &'a str {
        let words = plain_words(rest);
        if words > 0 {
            self.text.push_str(&rest[..words]);
            return &rest[words..];
        }
        let has_meaning = |c: char| c.is_whitespace() || is_mark(c);
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let end = rest[first..].find(has_meaning).map_or(rest.len(), |end| first + end);
        let (run, after) = rest.split_at(end);
        if run.len() > LONGEST_RUN_BYTES && run.is_ascii() {
            self.gap(run);
        } else {
            self.text.push_str(run);
        }
        after
    }

    fn image<'a>(&mut self, rest: &'a str) -> Option<&'a str> {
        let near = near(rest);
        let end = match near.starts_with("![[") {
            true => near.find("]]")? + 2,
            false => {
                let label = near.find(']')?;
                let target = &near[label + 1..];
                match target.as_bytes().first()? {
                    b'(' => label + 2 + target_end(&target[1..])? + 1,
                    b'[' => label + 1 + target.find(']')? + 1,
                    _ => return None,
                }
            }
        };
        Some(self.leave_out(rest, end))
    }

    /// Strips `[![alt](source)](target)`, as badges are written.
    fn linked_image<'a>(&mut self, rest: &'a str) -> Option<&'a str> {
        let inner = rest[1..].trim_start();
        let image = inner.starts_with("![").then(|| self.image(inner)).flatten()?;
        let target = image.trim_start().strip_prefix(']')?;
        let len = match target.as_bytes().first()? {
            b'(' => target_end(&target[1..])?,
            b'[' => near(target).find(']')?,
            _ => return None,
        };
        self.gap(target);
        Some(target.get(len + 1..)?.trim_start_matches(')'))
    }

    fn link<'a>(&mut self, rest: &'a str, before: &str) -> Option<&'a str> {
        self.has_links = true;
        if let Some(inner) = rest.strip_prefix("[[") {
            let end = near(inner).find("]]").filter(|&end| !inner[..end].contains('['))?;
            let label = label(&inner[..end]);
            self.copy(label);
            // The last side of a link reads on as the text does.
            if !inner[..end].ends_with(label) {
                self.gap(&inner[..end]);
            }
            return Some(&inner[end + 2..]);
        }
        let label_end = near(rest).find(']').filter(|&end| !rest[1..end].contains('['))?;
        let (label, after) = (&rest[1..label_end], &rest[label_end + 1..]);
        let len = match after.as_bytes().first()? {
            b'(' => target_end(&after[1..])? + 2,
            b'[' => reference_len(label, after, before)?,
            _ => return None,
        };
        self.strip_part(label);
        self.gap(&after[..len]);
        Some(&after[len..])
    }

    /// Copies the label of a link between notes, without the marks inside of it.
    fn copy(&mut self, label: &str) {
        for c in label.chars() {
            match c {
                '*' | '`' | '|' => _ = self.blank(""),
                c if c.is_whitespace() => _ = self.blank(""),
                c => self.text.push(c),
            }
        }
    }

    fn tag<'a>(&mut self, rest: &'a str, before: &str) -> Option<&'a str> {
        if rest.starts_with("<!--") {
            let end = near(rest).find("-->")? + 3;
            return Some(self.leave_out(rest, end));
        }
        let end = near(rest).find('>')?;
        let inner = &rest[1..end];
        if tag::is_address(inner) {
            self.has_links = true;
            self.text.push_str(inner);
            return Some(&rest[end + 1..]);
        }
        tag::is_tag(inner, before).then(|| self.leave_out(rest, end + 1))
    }

    /// Strips a shortcode, or attributes of what stands before them.
    fn braces<'a>(&mut self, rest: &'a str, before: &str) -> Option<&'a str> {
        if let Some(Shortcode { len, shown }) = Shortcode::at_start_of(rest) {
            self.has_links = true;
            if shown.is_empty() {
                return Some(self.leave_out(rest, len));
            }
            self.gap(&rest[..rest.find(shown).unwrap_or_default()]);
            self.copy(shown);
            return Some(&rest[len..]);
        }
        let is_of_link = before.ends_with(')') && before.contains("](");
        if is_of_link && rest.starts_with("{:") {
            // Logseq writes the size of a picture as `{:height 560, :width 300}`.
            let end = near(rest).find('}')?;
            return Some(self.leave_out(rest, end + 1));
        }
        let list = AttributeList::at_start_of(rest)?;
        let is_at_end = list.has_mark
            && before.ends_with(char::is_whitespace)
            && rest[list.len..].trim().is_empty();
        (is_of_link || is_at_end).then(|| self.leave_out(rest, list.len))
    }

    /// Drops marks of emphasis, and keeps operators and parts of names.
    fn emphasis<'a>(&mut self, rest: &'a str, before: &'a str, ends: &mut Vec<usize>) -> &'a str {
        let run = Run::at_start_of(rest, before);
        if self.text.ends_with('\\') {
            self.text.pop();
            self.text.push_str(&rest[..run.len]);
            return run.after;
        }
        if let Some(at) = ends.iter().position(|&left| left == rest.len()) {
            ends.swap_remove(at);
            return self.mark(run.after);
        }
        let end = run.left_at_end();
        ends.extend(end);
        if end.is_some() || run.is_half() {
            return self.mark(run.after);
        }
        self.text.push_str(&rest[..run.len]);
        run.after
    }

    /// Copies what stands between backticks as it is, without what a plugin replaces by a value.
    fn backticks<'a>(&mut self, rest: &'a str) -> &'a str {
        let Some(InlineCode { code, len, after }) = InlineCode::at_start_of(rest) else {
            return self.mark(rest.trim_start_matches('`'));
        };
        if is_query(code) {
            return self.leave_out(rest, len);
        }
        self.mark(code);
        for (n, word) in code.split_whitespace().enumerate() {
            if n > 0 {
                self.blank("");
            }
            match word.len() > LONGEST_RUN_BYTES {
                true => self.gap(word),
                false => self.text.push_str(word),
            }
        }
        self.mark(after)
    }

    /// Keeps the cells of a table apart.
    fn cell<'a>(&mut self, rest: &'a str) -> &'a str {
        if self.text.ends_with('\\') {
            self.text.pop();
            self.text.push('|');
            return rest;
        }
        self.text.truncate(self.text.trim_end().len());
        if !self.text.is_empty() && !self.text.ends_with(CELLS) {
            self.text.push_str(" |");
        }
        self.blank(rest)
    }

    /// Writes the character that stands there by its name.
    fn entity<'a>(&mut self, rest: &'a str) -> Option<&'a str> {
        let (c, len) = entity::at_start_of(rest)?;
        self.has_links = true;
        if c.is_whitespace() || c.is_control() {
            return Some(self.blank(&rest[len..]));
        }
        self.gap(&rest[..len]);
        self.text.push(c);
        Some(&rest[len..])
    }

    /// Strips what leads to a footnote from the word before it: `[^1]`.
    fn footnote<'a>(&mut self, rest: &'a str, before: &str) -> Option<&'a str> {
        let near = &rest[..rest.floor_char_boundary(LONGEST_REFERENCE_BYTES)];
        let name = near.strip_prefix("[^")?.split_once(']')?.0;
        let is_name = !name.is_empty() && !name.contains(char::is_whitespace);
        if !is_name || before.is_empty() || before.ends_with(char::is_whitespace) {
            return None;
        }
        self.gap(name);
        Some(&rest[name.len() + 3..])
    }

    /// Strips what leads to a block of another page: `((6453-a))` of Logseq, `((ref: [[a]]))` of Dendron.
    fn block<'a>(&mut self, rest: &'a str) -> Option<&'a str> {
        let (name, _) = near(rest).strip_prefix("((")?.split_once("))")?;
        let is_id = name.len() >= SHORTEST_ID_BYTES
            && name.contains('-')
            && name.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        (is_id || name.starts_with("ref:")).then(|| {
            self.has_links = true;
            self.leave_out(rest, name.len() + 4)
        })
    }

    /// Strips a comment of Obsidian.
    fn aside<'a>(&mut self, rest: &'a str, before: &str) -> Option<&'a str> {
        let is_apart = before.is_empty() || before.ends_with(char::is_whitespace);
        let end = near(&rest[2..]).find("%%").filter(|_| is_apart)?;
        Some(self.leave_out(rest, end + 4))
    }
}

/// The length of `[name]` after the label of a link whose target stands elsewhere; `None` where it is text.
fn reference_len(label: &str, after: &str, before: &str) -> Option<usize> {
    let near = &after[..after.floor_char_boundary(LONGEST_REFERENCE_BYTES)];
    let end = near.find(']').filter(|&end| !near[1..end].contains('['))?;
    let has_letter = |text: &str| text.contains(char::is_alphabetic);
    let is_link =
        has_letter(label) && (end == 1 || end > 2) && !before.ends_with(char::is_alphanumeric);
    is_link.then_some(end + 1)
}
