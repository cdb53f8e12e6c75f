//! The links of a note in a replay, and which note each one leads to.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::core::replay::note::{PastNote, decoded, file_name, link_key, without_md};

/// A link as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PastLink {
    /// `[[target|label]]` or `[[label|target]]`: the parts, without heading and block.
    Wiki(Vec<String>),
    /// `[label](path.md)`.
    Markdown(String),
}

pub fn links(text: &str) -> Vec<PastLink> {
    let wiki = wiki_links(text).map(|(_, inside)| {
        let name = |part: &str| part.split(['#', '^']).next().unwrap_or_default().trim().to_owned();
        PastLink::Wiki(inside.split('|').map(name).collect())
    });
    let markdown = text.match_indices("](").filter_map(|(at, mark)| {
        markdown_target(&text[at + mark.len()..]).map(|path| PastLink::Markdown(decoded(path)))
    });
    wiki.chain(markdown).collect()
}

/// The wiki links of a text: where each begins, and what stands in its brackets.
pub fn wiki_links(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + text[at..].find("[[")?;
            let inside = &text[start + 2..];
            let end = inside.find(['[', ']', '\n']).unwrap_or(inside.len());
            if end > 0 && inside[end..].starts_with("]]") {
                at = start + 2 + end + 2;
                return Some((start, &inside[..end]));
            }
            at = start + 1;
        }
    })
}

/// A text with each wiki link replaced by its last part.
pub fn without_wiki_links(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut done = 0;
    for (start, inside) in wiki_links(text) {
        plain.push_str(&text[done..start]);
        plain.push_str(inside.rsplit('|').next().unwrap_or(inside));
        done = start + 2 + inside.len() + 2;
    }
    plain.push_str(&text[done..]);
    plain
}

/// The path of an ordinary link to a note, if `text` begins with one and its end.
fn markdown_target(text: &str) -> Option<&str> {
    let text = text.strip_prefix('<').unwrap_or(text);
    let run = text.find(|c: char| matches!(c, ')' | '>') || c.is_whitespace());
    let run = &text[..run.unwrap_or(text.len())];
    if has_scheme(run) {
        return None;
    }
    let is_md = |at: &usize| run.as_bytes()[*at..*at + 3].eq_ignore_ascii_case(b".md");
    let ends = (1..run.len().saturating_sub(2)).filter(is_md).map(|at| at + 3);
    let mut targets = ends.filter(|&end| {
        let rest = &text[end..];
        let rest = match rest.strip_prefix('#') {
            Some(heading) => heading.trim_start_matches(|c| !matches!(c, ')' | '>')),
            None => rest,
        };
        rest.strip_prefix('>').unwrap_or(rest).starts_with(')')
    });
    targets.next().map(|end| &run[..end])
}

/// Whether a target is an address such as `https://…`.
fn has_scheme(target: &str) -> bool {
    let Some((scheme, _)) = target.split_once(':') else { return false };
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '.' | '-');
    scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(is_part)
}

/// Finds the notes of a vault by what links call them.
pub struct LinkTargets<'a> {
    notes: &'a BTreeMap<String, Arc<PastNote>>,
    by_key: HashMap<&'a str, &'a str>,
}

impl<'a> LinkTargets<'a> {
    pub fn new(notes: &'a BTreeMap<String, Arc<PastNote>>) -> LinkTargets<'a> {
        let mut by_key = HashMap::new();
        for (path, note) in notes {
            for key in &note.keys {
                by_key.entry(key.as_str()).or_insert(path.as_str());
            }
        }
        LinkTargets { notes, by_key }
    }

    /// The path of the note that a link in the note at `source` leads to.
    pub fn resolve(&self, link: &PastLink, source: &str) -> Option<&'a str> {
        let by_name = |name: &str| self.by_key.get(link_key(name).as_str()).copied();
        match link {
            PastLink::Markdown(target) => {
                let target = target.trim_start_matches('/');
                let folder = source.rsplit_once('/').map_or("", |(folder, _)| folder);
                let at = |path: &str| self.notes.get_key_value(path).map(|(path, _)| path.as_str());
                let name = file_name(target);
                at(&joined(folder, target))
                    .or_else(|| at(target))
                    .or_else(|| by_name(name.get(..name.len().checked_sub(3)?)?))
            }
            PastLink::Wiki(parts) => {
                parts.iter().filter(|part| !part.is_empty()).find_map(|part| {
                    let end = part.len().saturating_sub(3);
                    let is_md = part.get(end..).is_some_and(|end| end.eq_ignore_ascii_case(".md"));
                    let name = if is_md { &part[..end] } else { without_md(part) };
                    by_name(name).or_else(|| by_name(file_name(name)))
                })
            }
        }
    }
}

/// A path relative to a folder, without `.` and `..`.
fn joined(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_as_they_are_written() {
        let wiki = |parts: &[&str]| PastLink::Wiki(parts.iter().map(|&part| part.into()).collect());
        let markdown = |path: &str| PastLink::Markdown(path.to_owned());
        for (text, expect) in [
            ("[[A b]] [[c#d|e]] [[f^g]]", vec![wiki(&["A b"]), wiki(&["c", "e"]), wiki(&["f"])]),
            ("[[[a]] [[]] [[b\n]] [[c]", vec![wiki(&["a"])]),
            ("[x](a/b.md) [y](<c%20d.md>)", vec![markdown("a/b.md"), markdown("c d.md")]),
            ("[x](a.md#part) [y](b.MD) ![](c.md.png)", vec![markdown("a.md"), markdown("b.MD")]),
            ("[x](https://h/a.md) [y](mailto:a.md) [z](.md)", vec![]),
            ("[x](a b.md) [y](a.md \"title\")", vec![]),
        ] {
            assert_eq!(links(text), expect, "{text}");
        }
    }

    #[test]
    fn wiki_links_as_their_labels() {
        for (text, expect) in [("a [[b|c]] d [[e]]", "a c d e"), ("[[", "[["), ("[[a]", "[[a]")] {
            assert_eq!(without_wiki_links(text), expect);
        }
    }

    #[test]
    fn links_lead_to_notes() {
        let notes = [
            ("deep/Alpha note.md", "# First"),
            ("beta.md", "---\naliases: [Second]\n---\n"),
            ("deep/beta.md", "# Same name"),
        ];
        let notes: BTreeMap<String, Arc<PastNote>> = notes
            .iter()
            .map(|(path, text)| (path.to_string(), PastNote::new(path, Arc::from(*text)).into()))
            .collect();
        let targets = LinkTargets::new(&notes);
        for (link, source, expect) in [
            ("[[alpha_note]]", "x.md", Some("deep/Alpha note.md")),
            ("[[Alpha-Note.md#part]]", "x.md", Some("deep/Alpha note.md")),
            ("[[some/where/first]]", "x.md", Some("deep/Alpha note.md")),
            ("[[label|SECOND]]", "x.md", Some("beta.md")),
            ("[[unknown|beta]]", "x.md", Some("beta.md")),
            ("[[unknown]]", "x.md", None),
            ("[x](beta.md)", "deep/x.md", Some("deep/beta.md")),
            ("[x](../beta.md)", "deep/x.md", Some("beta.md")),
            ("[x](/deep/beta.md)", "deep/x.md", Some("deep/beta.md")),
            ("[x](moved/alpha%20note.md)", "x.md", Some("deep/Alpha note.md")),
        ] {
            assert_eq!(targets.resolve(&links(link)[0], source), expect, "{link}");
        }
    }
}
