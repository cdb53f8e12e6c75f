//! References: how notes point at each other, in any way that people write it.
//!
//! A note has keys (its path, file name, title and aliases), and its text has the keys of other notes: of wiki links,
//! of markdown links, and of plain mentions. A reference leads to every note that has its key.

use std::collections::BTreeMap;

use crate::core::note::{name, wikilink};
use crate::core::quote::lines::BodyLine;

/// A note with more references is a generated list.
const MOST_REFERENCES: usize = 500;
/// Mentions say less than links, and long notes have many.
const MOST_MENTIONS: usize = 16;
const MOST_NAMES: usize = 48;
/// Extensions of notes.
const EXTENSIONS: [&str; 3] = [".md", ".markdown", ".mdx"];

/// A name of a note, hashed (a collision only adds a weak link): names with equal words have equal keys, in any case and with anything between the words.
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
}

pub type References = BTreeMap<Key, ReferenceKind>;

impl Key {
    /// The key of a name; `None` if it has no letter or digit.
    pub fn of(name: &str) -> Option<Key> {
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        let (mut is_blank, mut is_empty) = (false, true);
        let mut add = |c: char| {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        };
        for c in name.chars().flat_map(char::to_lowercase) {
            if !c.is_alphanumeric() {
                is_blank = true;
                continue;
            }
            if std::mem::take(&mut is_blank) && !is_empty {
                add(' ');
            }
            is_empty = false;
            add(c);
        }
        (!is_empty).then_some(Key((hash ^ (hash >> 32)) as u32))
    }
}

/// The keys of a note, each once.
pub fn keys(path: &str, title: &str, aliases: &[String]) -> Vec<Key> {
    let path = without_extension(path);
    let stem = path.rsplit('/').next().unwrap_or(path);
    // Logseq writes the folders of a page into its file name.
    let unfolded = stem.replace("___", "/");
    // "Ring (film)" is called "Ring", and "Oslo, Norway" "Oslo".
    let unbracketed = title.split(" (").next().unwrap_or(title);
    let short = title.split(',').next().unwrap_or(title);
    let names = [path, stem, &unfolded, title, unbracketed, short].into_iter();
    let mut keys: Vec<Key> =
        names.chain(aliases.iter().map(String::as_str)).filter_map(Key::of).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// The references in the lines of a note, which is in a folder (`""` for the vault's root).
pub fn references(folder: &str, lines: &[BodyLine<'_>]) -> References {
    let mut collector = Collector { folder, references: References::new(), n_mentions: 0 };
    let text = || lines.iter().filter(|line| !line.is_code).map(|line| line.beginning());
    for line in text() {
        wikilink::find_links(line, |inner| collector.wiki(inner));
        for (at, _) in line.match_indices("](") {
            let target = line[at + 2..].trim_start_matches('<');
            collector.markdown(target.split([')', '>', ' ']).next().unwrap_or_default());
        }
    }
    // Links first: a mention of a linked note adds nothing.
    text().for_each(|line| collector.mentions(line));
    let mut n_names = 0;
    for line in text() {
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
    folder: &'a str,
    references: References,
    n_mentions: usize,
}

impl Collector<'_> {
    /// Adds a reference; returns whether it is new.
    fn add(&mut self, name: &str, kind: ReferenceKind) -> bool {
        let n_before = self.references.len();
        if let Some(key) = Key::of(name)
            && n_before < MOST_REFERENCES
        {
            let known = self.references.entry(key).or_insert(kind);
            *known = kind.min(*known);
        }
        self.references.len() > n_before
    }

    /// Adds `[[inner]]`. Some programs write the label first and some the target, so both sides count.
    fn wiki(&mut self, inner: &str) {
        for side in inner.split('|') {
            let target =
                side.split(['#', '^']).next().unwrap_or(side).trim().trim_end_matches('\\');
            let target = without_extension(target);
            self.add(target, ReferenceKind::Link);
            if let Some((_, last)) = target.rsplit_once('/') {
                self.add(last, ReferenceKind::Link);
            }
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
        let is_note = EXTENSIONS.iter().any(|ending| last.ends_with(ending)) || !last.contains('.');
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
        let bytes = text.as_bytes();
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '/' | '-');
        // Most words have no mark of a file's name, and are skipped as bytes.
        let is_mark = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'_' | b'/' | b'.');
        let mut from = 0;
        while let Some(mark) = bytes[from..].iter().position(is_mark) {
            let mark = from + mark;
            let start = text[..mark]
                .rfind(|c| !is_part(c))
                .map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
            let end = text[mark..].find(|c| !is_part(c)).map_or(text.len(), |end| mark + end);
            from = end.max(mark + 1);
            let word = text[start..end].trim_matches(['.', '/', '-', '_']);
            if self.n_mentions == MOST_MENTIONS {
                return;
            }
            if !is_file_name(word) {
                continue;
            }
            let name = without_extension(word);
            let mut is_new = self.add(name, ReferenceKind::Mention);
            if let Some((_, last)) = name.rsplit_once('/') {
                is_new |= self.add(last, ReferenceKind::Mention);
            }
            self.n_mentions += usize::from(is_new);
        }
    }
}

/// Whether a word looks like the name of a file and not like a word of a sentence.
fn is_file_name(word: &str) -> bool {
    word.len() >= 2
        && word.len() <= 100
        && word.contains(char::is_alphabetic)
        && word.contains(|c: char| c.is_ascii_digit() || matches!(c, '-' | '_' | '/' | '.'))
}

fn without_extension(path: &str) -> &str {
    EXTENSIONS.iter().find_map(|ending| path.strip_suffix(ending)).unwrap_or(path)
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
mod tests {
    use super::*;
    use crate::core::quote::lines::body_lines;
    use proptest::prelude::*;

    fn refers(text: &str, path: &str) -> Option<ReferenceKind> {
        let references = references("docs/guide", &body_lines(text));
        let keys = keys(path, "A Title", &["Alias".to_owned()]);
        keys.iter().filter_map(|key| references.get(key)).min().copied()
    }

    #[test]
    fn every_way_to_write_a_link_leads_to_the_note() {
        let link = Some(ReferenceKind::Link);
        for inner in [
            "auth-flow",
            "Auth Flow",
            "auth_flow|login",
            "login|auth-flow",
            "Auth flow#Tokens",
            "auth-flow^block",
            "x/auth-flow.md",
            "a title",
            "ALIAS",
        ] {
            assert_eq!(refers(&format!("see [[{inner}]]."), "x/auth-flow.md"), link, "{inner}");
        }
        for target in [
            "auth.md",
            "./auth.md#part",
            "../guide/auth.md",
            "/docs/guide/auth.md",
            "auth",
            "%61uth.md",
            "<auth.md>",
            "auth.md 'A title'",
            "memory://docs/guide/auth",
        ] {
            let text = format!("see [it]({target}) now");
            assert_eq!(refers(&text, "docs/guide/auth.md"), link, "{target}");
        }
        let mention = Some(ReferenceKind::Mention);
        for text in ["see docs/guide/t-13.md.", "(t-13)", "T-13, too"] {
            assert_eq!(refers(text, "docs/guide/t-13.md"), mention, "{text}");
        }
    }

    #[test]
    fn what_is_no_note_leads_nowhere() {
        for text in [
            "[x](https://x.y/auth.md) [x](mailto:a@b)",
            "[x](#part) [x](../../../auth.md) [x](pic.png) [x]()",
            "plain words of a sentence, 42 of them.",
            "```\n[[code]] t-13\n```",
        ] {
            assert!(
                references("docs", &body_lines(text))
                    .values()
                    .all(|kind| *kind != ReferenceKind::Link),
                "{text}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in any::<String>(), folder in "[a-z/]{0,8}") {
            prop_assert!(references(&folder, &body_lines(&text)).len() <= MOST_REFERENCES);
        }
    }
}
