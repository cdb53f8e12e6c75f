//! A line of markdown as plain words: marks, link targets and tags are stripped.

use std::ops::Range;

use crate::core::text::bytes::next_word;
use crate::core::text::for_model;
use crate::core::text::words::words;

/// A longer run without a blank is data, such as an embedded picture.
const LONGEST_RUN_BYTES: usize = 300;
const LONGEST_TAG_BYTES: usize = 200;
const LONGEST_LINK_BYTES: usize = 2_048;
/// With the blank after it, about.
const LETTERS_PER_WORD: usize = 5;

/// The plain text of a line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Plain {
    pub(super) text: String,
    pub(super) words: Vec<Word>,
    /// Whether words behind the last one were stripped.
    pub(super) ends_in_gap: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word {
    /// Where the word is in the text.
    start: usize,
    pub(super) end: usize,
    /// Whether words of the line before it were stripped.
    pub(super) is_after_gap: bool,
}

impl Plain {
    pub(super) fn of(raw: &str) -> Plain {
        let mut stripper =
            Stripper { text: String::with_capacity(raw.len()), ..Stripper::default() };
        stripper.strip(without_marks(raw));
        let Stripper { mut text, mut gaps, has_links } = stripper;
        // In a quote nothing else sets a heading apart from what follows it.
        if is_heading(raw) && text.ends_with(char::is_alphanumeric) {
            text.push(':');
        }
        // What stood apart, and meets now that a link is stripped, can be a tag or a secret.
        let clean = has_links.then(|| for_model::one_line(&text)).filter(|clean| *clean != text);
        if let Some(clean) = clean {
            text = clean;
            // Cleaning moves the words; what is left of them is a quote all the same.
            gaps.clear();
        }
        let words = words_of(&text, &gaps);
        let last = words.last().map_or(0, |word| word.end);
        let ends_in_gap = gaps.last().is_some_and(|&gap| gap >= last);
        Plain { text, words, ends_in_gap }
    }

    /// The hash of a word in lower case. Few words are ever compared, so it is not stored.
    pub(super) fn hash(&self, word: Word) -> u64 {
        let text = &self.text[word.start..word.end];
        match text.is_ascii() {
            true => text.bytes().fold(NO_LETTERS, |hash, byte| {
                with_letter(hash, u64::from(byte.to_ascii_lowercase()))
            }),
            false => text
                .chars()
                .flat_map(char::to_lowercase)
                .fold(NO_LETTERS, |hash, c| with_letter(hash, u64::from(u32::from(c)))),
        }
    }

    /// The text up to and with a number of words.
    pub(super) fn first(&self, n_words: usize) -> &str {
        match n_words.checked_sub(1).and_then(|last| self.words.get(last)) {
            Some(_) if n_words == self.words.len() => &self.text,
            Some(word) => &self.text[..word.end],
            None if n_words == 0 => "",
            None => &self.text,
        }
    }
}

pub(super) fn is_heading(raw: &str) -> bool {
    let text = raw.trim_start();
    let marks = text.bytes().take_while(|&byte| byte == b'#').count();
    (1..=6).contains(&marks) && text[marks..].starts_with([' ', '\t'])
}

/// Whether a line begins an item of a list.
pub(super) fn is_item(raw: &str) -> bool {
    without_item_mark(quoted_text(raw)).is_some()
}

/// The text of a line that may be quoted.
pub(super) fn quoted_text(line: &str) -> &str {
    line.trim_start_matches(|c: char| c == '>' || c.is_whitespace()).trim_end()
}

/// A text without the mark of an item that it begins with, if there is one.
pub(super) fn without_item_mark(text: &str) -> Option<&str> {
    text.strip_prefix(['-', '*', '+'])
        .or_else(|| text.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix(['.', ')']))
        .filter(|rest| rest.starts_with([' ', '\t']))
}

/// A text without the mark of a quote that it begins with, if there is one.
fn unquoted(text: &str) -> Option<&str> {
    text.strip_prefix('>').filter(|rest| !rest.starts_with('='))
}

/// The line without what marks it as a heading, a quote, an item or a task.
fn without_marks(raw: &str) -> &str {
    let mut text = raw.trim();
    if is_heading(text) {
        text = text.trim_start_matches('#').trim();
    }
    while let Some(rest) = unquoted(text).or_else(|| without_item_mark(text)) {
        text = rest.trim_start();
    }
    let task = text
        .strip_prefix('[')
        .and_then(|rest| rest.get(1..))
        .and_then(|rest| rest.strip_prefix("] "));
    task.unwrap_or(text)
}

/// The words of a text. Words were stripped at the gaps.
pub(super) fn words_of(text: &str, mut gaps: &[usize]) -> Vec<Word> {
    let mut words = Vec::with_capacity(text.len() / LETTERS_PER_WORD);
    let mut rest = 0;
    while let Some(Range { start, end }) = next_word(text, rest) {
        let n_passed = gaps.iter().take_while(|&&gap| gap <= start).count();
        gaps = &gaps[n_passed..];
        words.push(Word { start, end, is_after_gap: n_passed > 0 });
        rest = end;
    }
    words
}

/// FNV-1a: the hash of a word without letters, and the same with one more.
const NO_LETTERS: u64 = 0xcbf2_9ce4_8422_2325;

fn with_letter(hash: u64, letter: u64) -> u64 {
    (hash ^ letter).wrapping_mul(0x0100_0000_01b3)
}

/// The part of a text in which a link or tag must end: looking through the rest of a hostile line for each would take
/// for ever.
fn near(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST_LINK_BYTES)]
}

/// What follows a character that is written by its name, such as `&nbsp;`.
fn entity(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('&')?;
    let end = rest.bytes().take(9).position(|byte| byte == b';').filter(|&end| end >= 2)?;
    let is_name = rest[..end].bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_name.then_some(&rest[end + 1..])
}

/// The text of a wiki link. Some programs write it behind the bar and some before it: it is the side that looks least
/// like an address.
fn label(inner: &str) -> &str {
    let Some((first, last)) = inner.split_once('|') else { return inner };
    let is_address = |side: &str| side.contains([':', '/', '.', '#']) && !side.trim().contains(' ');
    if is_address(last) && !is_address(first) { first } else { last }
}

/// Elements of HTML that are seen in notes.
pub(super) static ELEMENTS: [&str; 86] = words(
    "a abbr article aside audio b big blockquote body br button caption center cite code col dd del \
     details div dl dt em figcaption figure font footer form h1 h2 h3 h4 h5 h6 head header hr html i \
     iframe img input ins kbd li link main mark meta nav ol p picture pre q s samp script section small \
     source span strike strong style sub summary sup svg table tbody td template textarea tfoot th thead \
     title tr track tt u ul var video wbr",
);

/// Whether what stands between `<` and `>` is a word to be replaced, as in `git checkout <branch>`, and no tag. Names of
/// components begin with a capital letter.
fn is_placeholder(inner: &str) -> bool {
    let is_part =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'-' | b'_' | b'.');
    let name = inner.split(' ').next().unwrap_or(inner);
    inner.starts_with(|c: char| c.is_ascii_lowercase())
        && inner.bytes().all(is_part)
        && !ELEMENTS.contains(&name)
}

/// Whether a character can begin something that is stripped.
fn is_mark(c: char) -> bool {
    matches!(c, '!' | '[' | '<' | '*' | '`' | '|' | '~' | '=' | '&')
}

/// The length of the words at the beginning of a text that have one blank after each, and no marks. They are copied
/// together: most lines have little else.
fn plain_words(text: &str) -> usize {
    let mut end = 0;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b' ' if (1..=LONGEST_RUN_BYTES).contains(&(at - end)) => end = at + 1,
            byte if byte.is_ascii_graphic() && !is_mark(char::from(byte)) => {}
            _ => break,
        }
    }
    end
}

#[derive(Default)]
struct Stripper {
    text: String,
    /// Where words were stripped, as places in the text.
    gaps: Vec<usize>,
    has_links: bool,
}

impl Stripper {
    fn strip(&mut self, mut rest: &str) {
        while let Some(c) = rest.chars().next() {
            rest = match c {
                '!' if rest.starts_with("![") => {
                    self.image(rest).unwrap_or_else(|| self.keep(rest, c))
                }
                '[' if rest.starts_with("[![") => {
                    self.linked_image(rest).unwrap_or_else(|| self.keep(rest, c))
                }
                '[' => self.link(rest).unwrap_or_else(|| self.keep(rest, c)),
                '<' => self.tag(rest).unwrap_or_else(|| self.keep(rest, c)),
                '*' | '`' => self.mark(&rest[1..]),
                '|' => self.blank(&rest[1..]),
                '&' => match entity(rest) {
                    Some(after) => self.blank(after),
                    None => self.keep(rest, c),
                },
                '~' if rest.starts_with("~~") => self.blank(&rest[2..]),
                '=' if rest.starts_with("==") => self.blank(&rest[2..]),
                c if c.is_whitespace() => self.blank(&rest[c.len_utf8()..]),
                _ => self.run(rest),
            };
        }
        self.text.truncate(self.text.trim_end().len());
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

    fn gap(&mut self, stripped: &str) {
        if stripped.contains(char::is_alphanumeric) {
            self.gaps.push(self.text.len());
        }
    }

    /// Copies characters without a meaning, or leaves them out where they are data.
    fn run<'a>(&mut self, rest: &'a str) -> &'a str {
        let words = plain_words(rest);
        if words > 0 {
            self.text.push_str(&rest[..words]);
            return &rest[words..];
        }
        let has_meaning = |c: char| c.is_whitespace() || is_mark(c);
        let end = rest.find(has_meaning).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end.max(rest.chars().next().map_or(0, char::len_utf8)));
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
                let label = near.find("](")?;
                label + 2 + near[label + 2..].find(')')? + 1
            }
        };
        self.blank("");
        self.gap(&rest[..end]);
        Some(&rest[end..])
    }

    /// Strips `[![alt](source)](target)`, as badges are written.
    fn linked_image<'a>(&mut self, rest: &'a str) -> Option<&'a str> {
        let image = self.image(&rest[1..])?;
        let target = image.trim_start().strip_prefix("](")?;
        self.gap(target);
        Some(&target[target.find(')')? + 1..])
    }

    fn link<'a>(&mut self, rest: &'a str) -> Option<&'a str> {
        self.has_links = true;
        if let Some(inner) = rest.strip_prefix("[[") {
            let end = near(inner).find("]]").filter(|&end| !inner[..end].contains('['))?;
            let label = label(&inner[..end]);
            self.strip_inner(label);
            // The last side of a link reads on as the text does.
            if !inner[..end].ends_with(label) {
                self.gap(&inner[..end]);
            }
            return Some(&inner[end + 2..]);
        }
        let label_end = near(rest).find(']').filter(|&end| !rest[1..end].contains('['))?;
        let target = rest[label_end + 1..].strip_prefix('(')?;
        let target_end = near(target).find(')')?;
        self.strip_inner(&rest[1..label_end]);
        self.gap(&target[..target_end]);
        Some(&target[target_end + 1..])
    }

    /// Copies the label of a link, without the marks inside of it.
    fn strip_inner(&mut self, label: &str) {
        for c in label.chars() {
            match c {
                '*' | '`' | '|' => _ = self.blank(""),
                c if c.is_whitespace() => _ = self.blank(""),
                c => self.text.push(c),
            }
        }
    }

    fn tag<'a>(&mut self, rest: &'a str) -> Option<&'a str> {
        let end = match rest.starts_with("<!--") {
            true => near(rest).find("-->")? + 3,
            false => {
                let end =
                    near(rest).find('>').filter(|end| (2..=LONGEST_TAG_BYTES).contains(end))?;
                (!is_placeholder(&rest[1..end])).then_some(end + 1)?
            }
        };
        self.blank("");
        self.gap(&rest[..end]);
        Some(&rest[end..])
    }
}

#[cfg(test)]
mod tests;
