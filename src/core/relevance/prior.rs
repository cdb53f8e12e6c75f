//! The prior of a note: what its name, size and folder tell before it was ever changed.

use crate::core::note::without_extension;
use crate::core::quote::thinking::Standing;
use crate::core::relevance::dated::is_dated;
use crate::core::relevance::naming::Naming;

/// A note of one day, such as a journal page, is rarely needed again.
const DATED: f64 = -1.0;
/// A note of nothing but front matter is a record, and no text to work on.
const EMPTY: f64 = -1.0;
const SIZE: f64 = 0.15;
const DEPTH: f64 = -0.25;
const DEEPEST: usize = 3;
/// A note with some 3,000 characters comes before most others.
const LONG_TEXT: f64 = 0.2;
/// What maenifold's tools wrote is as good as a note of a folder. Its own folders and names are dates, and tell nothing.
const THINKING: f64 = DEPTH;
/// Less than a note that changed ten sessions ago has.
const DROPPED: f64 = -3.0;

/// The same page is there in the vault's main language.
const TRANSLATED: f64 = -2.0;

/// The prior of a note in a folder (`""` for the vault's root) with a body of so many characters, 0 if it has no words.
pub fn prior(folder: &str, name: &str, body_chars: usize, naming: &Naming) -> f64 {
    let stem = without_extension(name);
    let depth = if folder.is_empty() { 0 } else { folder.split('/').count() };
    let dated = if !naming.is_by_date && is_dated(folder, stem) { DATED } else { 0.0 };
    let translated = if naming.is_translation(folder, stem) { TRANSLATED } else { 0.0 };
    let empty = if body_chars == 0 { EMPTY } else { 0.0 };
    dated
        + translated
        + empty
        + SIZE * (1.0 + body_chars as f64 / 1_000.0).ln()
        + DEPTH * depth.min(DEEPEST) as f64
}

/// What a prior says for a note.
#[derive(Debug, PartialEq, Eq)]
pub struct Told {
    pub is_short_path: bool,
    pub is_long_text: bool,
}

/// What the prior of the note at a path says for it.
pub fn told(path: &str, prior: f64) -> Told {
    let depth = path.matches('/').count();
    // What else is in a prior only makes it less.
    let is_long_text = prior - DEPTH * depth.min(DEEPEST) as f64 >= LONG_TEXT;
    Told { is_short_path: depth == 0, is_long_text }
}

/// The prior of a session, a workflow or an assumption of maenifold's that says so many characters.
pub fn prior_of_thinking(standing: &Standing, chars: usize) -> f64 {
    let dropped = if *standing == Standing::Dropped { DROPPED } else { 0.0 };
    dropped + THINKING + SIZE * (1.0 + chars as f64 / 1_000.0).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prior(folder: &str, name: &str, body_chars: usize) -> f64 {
        super::prior(folder, name, body_chars, &Naming::default())
    }

    #[test]
    fn shallow_long_and_undated_notes_come_first() {
        assert!(prior("", "a.md", 0) > prior("x", "a.md", 0));
        assert_eq!(prior("a/b/c", "a.md", 0), prior("a/b/c/d/e", "a.md", 0));
        assert!(prior("", "a.md", 5_000) > prior("", "a.md", 100));
        assert!(prior("", "plan.md", 9) > prior("", "2026-01-31.md", 9));
        assert!(prior("", "plan.md", 9) > prior("", "2026-01-31-plan-of-may.md", 9));
        assert_eq!(prior("adr", "plan.md", 9), prior("adr", "2026-01-31-plan-of-may.md", 9));
        let naming = Naming { is_by_date: true, ..Naming::default() };
        assert_eq!(super::prior("", "2026-01-31.md", 9, &naming), prior("", "plan.md", 9));
        assert!(prior("x", "short.md", 1) > prior("", "record.md", 0));
    }

    #[test]
    fn a_prior_tells_why_it_is_high() {
        let told = |path: &str, chars| {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            let told = told(path, prior(folder, name, chars));
            (told.is_short_path, told.is_long_text)
        };
        assert_eq!(told("a.md", 100), (true, false));
        assert_eq!(told("a/b/c.md", 9_000), (false, true));
        assert_eq!(told("2026-01-31.md", 9_000), (true, false));
    }
}
