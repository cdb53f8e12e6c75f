//! Which notes are worth being added for a prompt: those that it names, and those with the words that tell what it is about.

use std::collections::BTreeMap;

use crate::core::relevance::generic;
use crate::core::relevance::prompt::{Matches, NamedNotes, Prompt};
use crate::core::search::fulltext;

/// A note without so many telling words has them by chance, unless its title has one.
const LEAST_WORDS: usize = 2;
/// The least share of the prompt's telling words that a note has, by how rare they are. Of a long prompt only the
/// rarest count: no note has all of it.
const LEAST_SHARE: f64 = 0.25;
const MOST_COUNTED: usize = 8;
/// What a prompt adds to a note, as a share of what it adds to the best.
const LEAST_OF_BEST: f64 = 0.25;
/// A word in a larger share of the notes, and in more than a few, tells nothing.
const COMMON_SHARE: i64 = 5;
const FEW: i64 = 3;
/// A word in a title tells by itself in at most one of so many notes, or in a few.
const RARE_SHARE: i64 = 20;

/// A telling word, and the notes that have it.
#[derive(Debug, Clone)]
pub struct TellingWord {
    pub word: String,
    pub notes: Vec<i64>,
}

/// The number of notes from which on a word tells nothing.
pub fn common_from(n_notes: i64) -> i64 {
    (n_notes / COMMON_SHARE).max(FEW) + 1
}

impl Prompt {
    /// The words that tell what the prompt is about, each once.
    pub fn telling(&self) -> Vec<String> {
        let parts = self.plain_terms().into_iter().flat_map(|term| generic::telling_parts(&term));
        fulltext::pairs(&parts.collect::<Vec<_>>())
    }
}

/// Whether a name says more than what is to be done.
pub fn is_telling_name(name: &str) -> bool {
    fulltext::terms(name).iter().any(|term| !generic::telling_parts(term).is_empty())
}

/// The notes that are worth being added, of those to which the prompt adds something. `words` are the telling ones that any
/// note has, and `has_title` says whether a note's title has a word.
pub fn worth_adding<E>(
    added: &Matches,
    named: &NamedNotes,
    words: &[TellingWord],
    n_notes: i64,
    mut has_title: impl FnMut(i64, &str) -> Result<bool, E>,
) -> Result<Matches, E> {
    let weight = |word: &TellingWord| (1.0 + n_notes as f64 / word.notes.len().max(1) as f64).ln();
    let mut weights: Vec<f64> = words.iter().map(weight).collect();
    weights.sort_by(|a, b| b.total_cmp(a));
    let all: f64 = weights.iter().take(MOST_COUNTED).sum();
    let mut had: BTreeMap<i64, (usize, f64)> = BTreeMap::new();
    for word in words {
        for &note in &word.notes {
            let (n_words, sum) = had.entry(note).or_default();
            *n_words += 1;
            *sum += weight(word);
        }
    }
    let rare = (n_notes / RARE_SHARE).max(FEW);
    let mut worth = Matches::new();
    for (&note, &gain) in added {
        let (n_words, sum) = had.get(&note).copied().unwrap_or_default();
        let mut is_worth =
            named.notes.contains_key(&note) || n_words >= LEAST_WORDS && sum >= LEAST_SHARE * all;
        for word in words.iter().filter(|word| word.notes.len() as i64 <= rare) {
            is_worth = is_worth || word.notes.contains(&note) && has_title(note, &word.word)?;
        }
        if is_worth {
            worth.insert(note, gain);
        }
    }
    let best = worth.values().copied().fold(0.0, f64::max);
    worth.retain(|_, gain| *gain >= LEAST_OF_BEST * best);
    Ok(worth)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn telling(prompt: &str) -> Vec<String> {
        Prompt::parse(prompt).unwrap().telling()
    }

    #[test]
    fn a_prompt_that_only_says_what_to_do_tells_nothing() {
        for prompt in [
            "continue",
            "yes, go on",
            "Run the tests",
            "fix the bug",
            "Please fix the failing tests and commit.",
            "what is the next step?",
            "mach bitte weiter",
            "Führe die Tests aus und behebe den Fehler",
            "weiter mit dem nächsten Schritt",
            "続けてください",
            "テストを実行して",
            "バグを修正してください",
            "继续修复错误",
            "계속 해줘",
            "continúa por favor",
            "corrige l'erreur",
        ] {
            assert_eq!(telling(prompt), [""; 0], "{prompt}");
        }
    }

    #[test]
    fn what_a_prompt_is_about_is_left() {
        for (prompt, expect) in [
            ("Fix the mooring bug at the old pier", &["mooring", "pier"][..]),
            ("Behebe den Fehler in der Anmeldung", &["anmeldung"]),
            ("認証のテストを修正して", &["認証", "証の"]),
            ("결제에서 실패하는 경우를 고쳐줘", &["결제에서"]),
        ] {
            assert_eq!(telling(prompt), expect, "{prompt}");
        }
        assert!(is_telling_name("release notes") && !is_telling_name("tests"));
    }

    #[test]
    fn named_notes_and_those_with_telling_words_are_worth_it() {
        let word = |word: &str, notes: &[i64]| TellingWord {
            word: word.to_owned(),
            notes: notes.to_vec(),
        };
        let words = [word("mooring", &[1, 2, 5]), word("pier", &[1, 3]), word("cleat", &[1])];
        let gains = Matches::from([(1, 5.0), (2, 4.0), (3, 4.0), (4, 4.0), (5, 1.0)]);
        let named = NamedNotes { notes: [(4, 1.0)].into(), ..NamedNotes::default() };
        let worth = worth_adding(&gains, &named, &words, 100, |note, word| {
            Ok::<_, Infallible>((note, word) == (2, "mooring") || note == 5)
        });
        // The third has one word by chance, and the fifth is far below the best.
        assert_eq!(worth.unwrap().into_keys().collect::<Vec<_>>(), [1, 2, 4]);
        let long: Vec<TellingWord> = (0..20).map(|n| word("w", &[n % 10])).collect();
        let gains = Matches::from([(0, 1.0)]);
        let worth = worth_adding(&gains, &NamedNotes::default(), &long, 100, |_, _| {
            Ok::<_, Infallible>(false)
        });
        assert_eq!(worth.unwrap().len(), 1, "no note has all of a long prompt");
    }
}
