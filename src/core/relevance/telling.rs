//! Which notes are worth being added for a prompt: none unless it names one, or one has the words that tell what it is about.

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
/// A note to which a prompt adds less is not worth being added.
const LEAST_GAIN: f64 = 1.5;
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

/// The notes that are worth being added, of those to which the prompt adds something: none unless the prompt names a note, or
/// one has the words that tell what it is about. `words` are the telling ones that any
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
    if worth.is_empty() {
        return Ok(worth);
    }
    // A prompt that tells a subject also brings what lies around it.
    let best = added.values().copied().fold(0.0, f64::max);
    let least = LEAST_GAIN.max(LEAST_OF_BEST * best);
    Ok(added.iter().map(|(note, gain)| (*note, *gain)).filter(|(_, gain)| *gain >= least).collect())
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
    fn a_prompt_needs_a_note_that_it_names_or_that_has_its_telling_words() {
        let word = |word: &str, notes: &[i64]| TellingWord {
            word: word.to_owned(),
            notes: notes.to_vec(),
        };
        let gains = Matches::from([(1, 5.0), (2, 4.0), (3, 1.4), (4, 1.6)]);
        let worth = |words: &[TellingWord], named: &[i64], titled: &[i64]| -> Vec<i64> {
            let notes = named.iter().map(|note| (*note, 1.0)).collect();
            let named = NamedNotes { notes, ..NamedNotes::default() };
            let has_title = |note: i64, _: &str| Ok::<_, Infallible>(titled.contains(&note));
            worth_adding(&gains, &named, words, 100, has_title).unwrap().into_keys().collect()
        };
        let by_chance = [word("mooring", &[1, 2, 5]), word("pier", &[3])];
        assert_eq!(worth(&by_chance, &[], &[]), [0; 0]);
        assert_eq!(worth(&[], &[], &[]), [0; 0]);
        // What is far below the best is left out.
        assert_eq!(worth(&[], &[2], &[]), [1, 2, 4]);
        assert_eq!(worth(&by_chance, &[], &[2]), [1, 2, 4]);
        assert_eq!(worth(&[word("mooring", &[1]), word("pier", &[1])], &[], &[]), [1, 2, 4]);
        let long: Vec<TellingWord> = (0..20).map(|n| word("w", &[n % 10])).collect();
        assert_eq!(worth(&long, &[], &[]), [1, 2, 4], "no note has all of a long prompt");
    }
}
