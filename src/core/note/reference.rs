//! References: how notes point at each other, in any way that people write it.
//!
//! A note has keys (its path, file name, title and aliases), and its text has the keys of other notes: of wiki links,
//! of markdown links, and of plain mentions. A reference leads to every note that has its key.

use std::collections::BTreeMap;

use crate::core::note::file_name::file_names;
use crate::core::note::related::{Related, find_related};
use crate::core::note::tag::find_tags;
use crate::core::note::{logseq, name, wikilink, without_extension};
use crate::core::quote::lines::{BodyLine, beginning_of};
use crate::core::settings::LinkStyle;
use crate::core::text::nfc::nfc;

/// A longer target is no link.
const LONGEST_TARGET_BYTES: usize = 1_024;
/// The number of aliases and blocks of a note that can be referred to.
const MOST_OTHER_NAMES: usize = 200;
/// A note with more references is a generated list.
const MOST_REFERENCES: usize = 500;
/// Mentions say less than links, and long notes have many.
const MOST_MENTIONS: usize = 16;
const MOST_NAMES: usize = 48;
const MOST_TAGS: usize = 16;
/// Sets the keys of tags apart from those of names: a tag leads to the notes that have it, and not to one of its name.
const OF_TAG: u32 = 0x5447_7461;

/// Names of notes that stand for their folder.
const INDEX_NAMES: [&str; 3] = ["index", "_index", "readme"];

/// A name of a note, hashed: a collision only adds a weak link. Names with equal words have equal keys, in any case and
/// with anything between the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub u32);

/// How a note refers to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReferenceKind {
    Link = 1,
    /// The text has the name of a file that is recognisable as one.
    Mention = 2,
    /// The text has a proper name, which other notes can have, too.
    Name = 3,
    /// The note has a tag, which other notes can have, too.
    Tag = 4,
}

pub type References = BTreeMap<Key, ReferenceKind>;

impl Key {
    /// The key of a name; `None` if it has no letter or digit.
    pub fn of(name: &str) -> Option<Key> {
        let mut hasher = KeyHasher::default();
        if name.is_ascii() {
            name.bytes().for_each(|byte| hasher.add_ascii(byte));
        } else {
            nfc(name).chars().flat_map(char::to_lowercase).for_each(|c| hasher.add(c));
        }
        (!hasher.is_empty).then_some(Key((hasher.hash ^ (hasher.hash >> 32)) as u32))
    }

    fn of_tag(tag: &str) -> Option<Key> {
        Key::of(tag).map(|Key(key)| Key(key ^ OF_TAG))
    }
}

/// Every letter and digit of ASCII in lower case, and 0 for any other byte: most of the time of a key goes into telling
/// them apart.
const LOWER: [u8; 256] = {
    let mut lower = [0; 256];
    let mut byte = 0u8;
    while byte < 128 {
        if byte.is_ascii_alphanumeric() {
            lower[byte as usize] = byte.to_ascii_lowercase();
        }
        byte += 1;
    }
    lower
};

/// FNV-1a over the words of a name, with one blank between them.
struct KeyHasher {
    hash: u64,
    is_blank: bool,
    is_empty: bool,
}

impl Default for KeyHasher {
    fn default() -> KeyHasher {
        KeyHasher { hash: 0xcbf2_9ce4_8422_2325, is_blank: false, is_empty: true }
    }
}

impl KeyHasher {
    fn add(&mut self, c: char) {
        if !c.is_alphanumeric() {
            self.is_blank = true;
            return;
        }
        self.go_on();
        c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| self.mix(byte));
    }

    fn add_ascii(&mut self, byte: u8) {
        match LOWER[usize::from(byte)] {
            0 => self.is_blank = true,
            lower => {
                self.go_on();
                self.mix(lower);
            }
        }
    }

    /// Goes on with a word, or begins the next one.
    fn go_on(&mut self) {
        if self.is_blank && !self.is_empty {
            self.mix(b' ');
        }
        (self.is_blank, self.is_empty) = (false, false);
    }

    fn mix(&mut self, byte: u8) {
        self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
}

/// The keys of a note, each once: of its path, its title, and its other names.
pub fn keys<'a>(path: &str, title: &str, others: impl Iterator<Item = &'a str>) -> Vec<Key> {
    let path = without_extension(path);
    let (folder, stem) = path.rsplit_once('/').unwrap_or(("", path));
    // A link to a folder leads to the note that stands for it.
    let folder = if INDEX_NAMES.contains(&stem.to_lowercase().as_str()) { folder } else { "" };
    let folder_name = folder.rsplit('/').next().unwrap_or(folder);
    // "Ring (film)" is called "Ring", and "Oslo, Norway" "Oslo".
    let unbracketed = title.split_once(" (").map_or("", |(short, _)| short);
    let short = title.split_once(',').map_or("", |(short, _)| short);
    let below = if path == stem { "" } else { path };
    let names = [below, stem, title, unbracketed, short, folder, folder_name].into_iter();
    let others = others.take(MOST_OTHER_NAMES);
    let mut keys: Vec<Key> = names.filter_map(Key::of).chain(others.filter_map(Key::of)).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// A note that refers to others.
#[derive(Debug, Clone, Copy)]
pub struct Referring<'a> {
    pub style: LinkStyle,
    /// The folder in which it is; empty for the vault's root.
    pub folder: &'a str,
    pub yaml: &'a str,
    pub properties: &'a str,
    pub tags: &'a [String],
    /// What the front matter says that the note is about.
    pub description: &'a str,
    pub lines: &'a [BodyLine<'a>],
}

/// The references of a note.
pub fn references(note: &Referring<'_>) -> References {
    let Referring { style, folder, yaml, properties, tags, description, lines } = *note;
    let mut collector =
        Collector { style, folder, references: References::new(), n_mentions: 0, n_tags: 0 };
    find_related(yaml, |reference| match reference {
        Related::Link(inner) => collector.wiki(inner),
        Related::Name(name) => collector.name(name),
    });
    if yaml.contains("](") {
        yaml.lines().for_each(|line| collector.markdown_links(beginning_of(line)));
    }
    tags.iter().for_each(|tag| collector.tag(tag));
    let text = || lines.iter().filter(|line| !line.is_code).map(|line| line.beginning());
    for line in text().chain(properties.lines().map(beginning_of)) {
        wikilink::find_links(line, |inner| collector.wiki(inner));
        collector.marks(line);
        collector.markdown_links(line);
    }
    // Links first: a mention of a linked note adds nothing.
    collector.mentions(beginning_of(description));
    text().for_each(|line| collector.mentions(line));
    let mut n_names = 0;
    for line in text() {
        if n_names == MOST_NAMES {
            break;
        }
        name::proper_names(line, |name| {
            if n_names < MOST_NAMES {
                n_names += usize::from(collector.add(name, ReferenceKind::Name));
            }
        });
    }
    collector.references
}

/// Collects the references of one note.
#[derive(Debug)]
struct Collector<'a> {
    style: LinkStyle,
    folder: &'a str,
    references: References,
    n_mentions: usize,
    n_tags: usize,
}

impl Collector<'_> {
    /// Adds a reference; returns whether it is new.
    fn add(&mut self, name: &str, kind: ReferenceKind) -> bool {
        Key::of(name).is_some_and(|key| self.add_key(key, kind))
    }

    fn add_key(&mut self, key: Key, kind: ReferenceKind) -> bool {
        let n_before = self.references.len();
        if n_before < MOST_REFERENCES {
            let known = self.references.entry(key).or_insert(kind);
            *known = kind.min(*known);
        }
        self.references.len() > n_before
    }

    /// Adds `[[inner]]`.
    fn wiki(&mut self, inner: &str) {
        if !self.style.has_free_names() {
            return self.target(wikilink::target(inner, self.style));
        }
        // Some programs write the label first and some the target, so both sides count.
        for side in inner.split('|') {
            let target = side.split(['#', '^']).next().unwrap_or(side);
            self.target(target.trim().trim_end_matches('\\'));
        }
    }

    /// Adds the name of a note, with or without its folder.
    fn target(&mut self, name: &str) {
        if wikilink::is_attachment(name, self.style) {
            return;
        }
        let name = wikilink::note_name(name.trim_end_matches('/'));
        self.add(name, ReferenceKind::Link);
        if let Some(slash) = memchr::memrchr(b'/', name.as_bytes()) {
            self.add(&name[slash + 1..], ReferenceKind::Link);
        }
    }

    /// Adds a title, or a path from this note or from the vault.
    fn name(&mut self, name: &str) {
        if name.contains('/') || without_extension(name) != name {
            self.markdown(name);
        }
        self.target(name);
    }

    /// Adds a tag, which other notes have, and which is the name of a note in some styles.
    fn tag(&mut self, tag: &str) {
        if self.n_tags < MOST_TAGS
            && let Some(key) = Key::of_tag(tag)
        {
            self.n_tags += usize::from(self.add_key(key, ReferenceKind::Tag));
        }
        match self.style {
            LinkStyle::Logseq => _ = self.add(tag, ReferenceKind::Link),
            LinkStyle::Dendron => _ = self.add(&format!("tags.{tag}"), ReferenceKind::Link),
            LinkStyle::Maenifold | LinkStyle::Obsidian | LinkStyle::Plain => {}
        }
    }

    /// Adds the tags of a line, and the blocks that it refers to.
    fn marks(&mut self, line: &str) {
        if matches!(self.style, LinkStyle::Logseq | LinkStyle::Dendron | LinkStyle::Obsidian) {
            find_tags(line, |tag| self.tag(tag));
        }
        if self.style == LinkStyle::Logseq {
            logseq::block_references(line).for_each(|id| _ = self.add(id, ReferenceKind::Link));
        }
    }

    /// Adds the targets of `[label](target)`.
    fn markdown_links(&mut self, line: &str) {
        // Looking for a single byte needs no preparation, and most lines have none.
        let closing = memchr::memchr_iter(b']', line.as_bytes());
        for at in closing.filter(|at| line.as_bytes().get(at + 1) == Some(&b'(')) {
            let target = &line[at + 2..];
            let target = &target[..target.floor_char_boundary(LONGEST_TARGET_BYTES)];
            let target = target.trim_start_matches('<');
            self.markdown(target.split([')', '>', ' ']).next().unwrap_or_default());
        }
    }

    /// Adds the target of a markdown link.
    fn markdown(&mut self, target: &str) {
        if let Some(address) = target.strip_prefix("memory://") {
            self.add(without_extension(address), ReferenceKind::Link);
            return;
        }
        let path = target.split(['#', '?']).next().unwrap_or(target);
        let has_scheme = path.split('/').next().is_some_and(|first| first.contains(':'));
        let last = path.rsplit('/').next().unwrap_or(path);
        let is_note = without_extension(last) != last || !last.contains('.');
        if path.is_empty() || has_scheme || !is_note {
            return;
        }
        let path = percent_decoded(path);
        if let Some(path) = resolved(self.folder, &path) {
            self.add(without_extension(&path), ReferenceKind::Link);
        }
    }

    /// Adds plain mentions of files in a text.
    fn mentions(&mut self, text: &str) {
        for word in file_names(text) {
            if self.n_mentions == MOST_MENTIONS {
                return;
            }
            let name = without_extension(word);
            let mut is_new = self.add(name, ReferenceKind::Mention);
            if let Some(slash) = memchr::memrchr(b'/', name.as_bytes()) {
                is_new |= self.add(&name[slash + 1..], ReferenceKind::Mention);
            }
            self.n_mentions += usize::from(is_new);
        }
    }
}

/// A path below the vault's root; `None` if it leaves the vault.
fn resolved(folder: &str, path: &str) -> Option<String> {
    let (mut parts, path): (Vec<&str>, &str) = match path.strip_prefix('/') {
        Some(path) => (Vec::new(), path),
        None => (folder.split('/').filter(|part| !part.is_empty()).collect(), path),
    };
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop()?,
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn percent_decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, after @ ..] = rest {
        let code = (*first == b'%')
            .then(|| after.get(..2))
            .flatten()
            .and_then(|code| std::str::from_utf8(code).ok())
            .and_then(|code| u8::from_str_radix(code, 16).ok());
        match code {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests;
