//! Newest first: the plain context that rankings are compared with. It lists the notes by their time of change, each
//! with its title and the first 200 characters of its text.

use crate::core::replay::links::without_wiki_links;
use crate::core::replay::note::{PastNote, without_md};
use crate::core::replay::step::Versions;
use crate::core::tokens;
use crate::core::tokens::encoding::Encoding;

const CARD_CHARS: usize = 200;

/// The paths of all notes, newest first.
pub fn newest_first(versions: &Versions) -> Vec<&str> {
    let mut paths: Vec<_> = versions.0.iter().map(|(path, version)| (version.at, path)).collect();
    paths.sort_by(|(at, path), (other_at, other)| other_at.cmp(at).then_with(|| path.cmp(other)));
    paths.into_iter().map(|(_, path)| path.as_str()).collect()
}

pub fn card(path: &str, note: &PastNote) -> String {
    let lines = note.body().split('\n').map(str::trim);
    let lines: Vec<&str> =
        lines.filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let text: String = without_wiki_links(&lines.join(" ")).chars().take(CARD_CHARS).collect();
    let quote = if lines.is_empty() { String::new() } else { format!(": {text}") };
    format!("- memory://{} — {}{quote}\n", without_md(path), note.title)
}

/// The first cards that fit.
pub fn pack(cards: impl IntoIterator<Item = String>, encoding: Encoding, budget: usize) -> String {
    let mut packed: Vec<String> = Vec::new();
    let mut left = budget;
    for card in cards {
        let Some(rest) = left.checked_sub(tokens::count(encoding, &card)) else { break };
        left = rest;
        packed.push(card);
    }
    // Two cards can have more tokens together than apart.
    while tokens::count(encoding, &packed.concat()) > budget {
        packed.pop();
    }
    packed.concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::replay::step::Version;
    use std::sync::Arc;

    #[test]
    fn newer_notes_come_first_and_equal_ones_by_path() {
        let version = |at| Version { blob: Arc::from(""), at };
        let notes = [("b.md", 1), ("a.md", 1), ("c.md", 2)];
        let notes = notes.map(|(path, at)| (path.to_owned(), version(at)));
        assert_eq!(newest_first(&Versions(notes.into())), ["c.md", "a.md", "b.md"]);
    }

    #[test]
    fn a_card_is_the_beginning_of_a_note() {
        for (text, expect) in [
            ("# Title\n\n text [[a|b]]\n## Part\nmore", "- memory://x/y — Title: text b more\n"),
            ("# Title", "- memory://x/y — Title\n"),
            ("---\ntitle: T\n---\nbody", "- memory://x/y — T: body\n"),
        ] {
            assert_eq!(card("x/y.md", &PastNote::new("x/y.md", Arc::from(text))), expect);
        }
        let long = PastNote::new("a.md", Arc::from("ä".repeat(300)));
        assert_eq!(card("a.md", &long).matches('ä').count(), CARD_CHARS);
    }

    #[test]
    fn a_context_ends_before_the_first_card_that_does_not_fit() {
        let cards = || ["one two\n", "three four five six seven\n", "eight\n"].map(str::to_owned);
        let packed = |budget| pack(cards(), Encoding::O200kBase, budget);
        assert_eq!(packed(2), "");
        assert_eq!(packed(5), "one two\n");
        assert_eq!(packed(100), cards().concat());
        // One token each, and three together.
        let growing = || ["=\n", "/*"].map(str::to_owned);
        assert_eq!(pack(growing(), Encoding::O200kBase, 2), "=\n");
        assert_eq!(pack(growing(), Encoding::O200kBase, 3), "=\n/*");
    }
}
