//! Which notes a context shows: a note counts if the context names it and quotes some of its text. A list of names shows
//! nothing.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::core::replay::links::without_wiki_links;
use crate::core::replay::note::{decoded, without_md};

const SCHEME: &str = "memory://";
/// So many runs of three words show a note, or this share of a short note's.
const ENOUGH: usize = 12;
const ENOUGH_OF_SHORT: f64 = 0.8;
/// Longer paths are not looked for.
const LONGEST_PATH_CHARS: usize = 300;

/// What a context says.
pub struct Shown {
    /// The paths of the notes that it names.
    named: HashSet<String>,
    triples: HashSet<u64>,
}

impl Shown {
    /// Reads a context about a vault with notes at these paths.
    pub fn new(context: &str, paths: &HashSet<&str>) -> Shown {
        let plain = without_addresses(context);
        Shown { named: named(context, paths), triples: triples(&plain) }
    }

    pub fn shows(&self, path: &str, body: &str) -> bool {
        if !self.named.contains(path) {
            return false;
        }
        let mut of_note = triples(body);
        of_note.extend(triples(&without_wiki_links(body)));
        let n_quoted = of_note.intersection(&self.triples).count();
        n_quoted >= ENOUGH || n_quoted as f64 >= ENOUGH_OF_SHORT * of_note.len() as f64
    }
}

/// The runs of three words, hashed.
fn triples(text: &str) -> HashSet<u64> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<String> = words.map(str::to_lowercase).collect();
    let hash = |triple: &[String; 3]| {
        let mut hasher = DefaultHasher::new();
        triple.hash(&mut hasher);
        hasher.finish()
    };
    words.array_windows().map(hash).collect()
}

/// A context without the notes' addresses and paths, which are no quotes.
fn without_addresses(context: &str) -> String {
    let mut plain = String::with_capacity(context.len());
    for run in context.split_whitespace() {
        let is_end = |at: &usize| {
            let next = run[at + 3..].chars().next();
            *at > 0 && !next.is_some_and(|c| c.is_alphanumeric() || c == '_')
        };
        let path = run.match_indices(".md").map(|(at, _)| at).filter(is_end).last();
        let is_address = run.len() > SCHEME.len() && run.starts_with(SCHEME);
        let rest = path.filter(|_| !is_address).map_or(run, |at| &run[at + 3..]);
        let address = rest.find(SCHEME).filter(|at| at + SCHEME.len() < rest.len());
        plain.push_str(&rest[..address.unwrap_or(rest.len())]);
        plain.push(' ');
    }
    plain
}

/// The paths that a context names, by address or by path. Where several fit, the longest counts.
fn named(context: &str, paths: &HashSet<&str>) -> HashSet<String> {
    let context = if context.contains('%') { decoded(context) } else { context.to_owned() };
    let stems: HashSet<&str> = paths.iter().map(|path| without_md(path)).collect();
    let mut named = HashSet::new();
    for (at, _) in context.match_indices(SCHEME) {
        let rest = &context[at + SCHEME.len()..];
        let ends = rest.char_indices().map(|(at, c)| at + c.len_utf8()).take(LONGEST_PATH_CHARS);
        let ends: Vec<usize> = ends.collect();
        let mut ends = ends.into_iter().rev();
        let end = ends.find(|&end| stems.contains(&rest[..end]) && is_end_of_address(&rest[end..]));
        named.extend(end.map(|end| format!("{}.md", &rest[..end])));
    }
    for (at, mark) in context.match_indices(".md") {
        let end = at + mark.len();
        if context[end..].starts_with(char::is_alphanumeric) {
            continue;
        }
        let starts = context[..at].char_indices().rev().map(|(at, _)| at);
        let starts: Vec<usize> = starts.take(LONGEST_PATH_CHARS - mark.len()).collect();
        let path = starts.into_iter().rev().find(|&start| {
            let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
            paths.contains(&context[start..end]) && !context[..start].ends_with(is_part)
        });
        named.extend(path.map(|start| context[start..end].to_owned()));
    }
    named
}

/// Whether no longer name goes on here.
fn is_end_of_address(rest: &str) -> bool {
    let mut chars = rest.chars();
    match (chars.next(), chars.next()) {
        (None, _) => true,
        (Some('.'), next) => {
            rest.chars().take(3).eq(".md".chars()) || !next.is_some_and(char::is_alphanumeric)
        }
        (Some(c), _) => !(c.is_alphanumeric() || matches!(c, '_' | '-' | '/')),
    }
}

/// The share of some notes that a context shows; `None` without notes.
pub fn recall<'a>(shown: &Shown, notes: impl Iterator<Item = (&'a str, &'a str)>) -> Option<f64> {
    let (mut n, mut n_shown) = (0, 0);
    for (path, body) in notes {
        n += 1;
        n_shown += usize::from(shown.shows(path, body));
    }
    (n > 0).then(|| n_shown as f64 / n as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LONG: &str = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty last";

    fn shows(context: &str, path: &str, body: &str) -> bool {
        let paths = ["a.md", "dir/b c.md", "a-b.md", "a/deep.md"];
        Shown::new(context, &paths.into()).shows(path, body)
    }

    #[test]
    fn notes_are_named_by_address_or_path() {
        for (context, path, expect) in [
            ("memory://a", "a.md", true),
            ("memory://a.md:", "a.md", true),
            ("memory://a.txt", "a.md", false),
            ("memory://a-b", "a.md", false),
            ("memory://a-b", "a-b.md", true),
            ("memory://a/deep", "a.md", false),
            ("memory://a_other", "a.md", false),
            ("memory://a/other", "a.md", false),
            ("memory://a. And", "a.md", true),
            ("memory://dir/b%20c", "dir/b c.md", true),
            ("memory://dir/b c", "dir/b c.md", true),
            ("see `a.md`", "a.md", true),
            ("see /home/a.md", "a.md", true),
            ("see x-a.md", "a.md", false),
            ("see a.mdown", "a.md", false),
            ("see [[a]]", "a.md", false),
            ("", "a.md", false),
        ] {
            assert_eq!(shows(&format!("{LONG}\n{context}"), path, LONG), expect, "{context}");
        }
    }

    #[test]
    fn a_name_alone_shows_nothing() {
        let linked =
            LONG.split(' ').map(|word| format!("[[x|{word}]]")).collect::<Vec<_>>().join(" ");
        let quote = |n: usize| LONG.split(' ').take(n).collect::<Vec<_>>().join(" ");
        for (context, body, expect) in [
            ("memory://a".to_owned(), LONG, false),
            (format!("memory://a {}", quote(13)), LONG, false),
            (format!("memory://a {}", quote(14)), LONG, true),
            (format!("memory://a {}", quote(14).to_uppercase()), LONG, true),
            // A short note has two runs of three words.
            ("memory://a one two three four".to_owned(), "one two three four", true),
            ("memory://a one two three".to_owned(), "one two three four", false),
            ("memory://a".to_owned(), "", true),
            (format!("memory://a {LONG}"), &linked, true),
            // An address is no quote.
            ("memory://a/one-two-three memory://a".to_owned(), "one two three", false),
            ("one-two-three.md memory://a".to_owned(), "one two three", false),
        ] {
            assert_eq!(shows(&context, "a.md", body), expect, "{context}");
        }
    }

    #[test]
    fn recall_is_a_share() {
        let shown = Shown::new(&format!("memory://a {LONG}"), &["a.md", "b.md"].into());
        assert_eq!(recall(&shown, [("a.md", LONG), ("b.md", LONG)].into_iter()), Some(0.5));
        assert_eq!(recall(&shown, std::iter::empty()), None);
    }

    proptest! {
        #[test]
        fn more_text_never_shows_less(before in "[a-z.:/%0-9 ]{0,40}", after in "[a-z.:/%0-9 ]{0,40}") {
            let context = format!("{before} memory://a - {LONG} {after}");
            prop_assert!(shows(&context, "a.md", LONG));
        }

        #[test]
        fn any_text_can_be_read(context in "\\PC{0,60}", body in "\\PC{0,60}") {
            shows(&format!("memory://{context}.md"), "a.md", &body);
        }
    }
}
