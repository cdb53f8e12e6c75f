//! What a prompt says about the relevance of notes: which of them it names, where its other words stand, and what lies
//! around the named ones.
//!
//! Near what the prompt names *and* about what else it asks is where the second half of a question is answered.

use std::collections::{BTreeMap, BTreeSet};

use crate::core::relevance::token::{Token, joined, tokens, words_of_name};
use crate::core::search::{forms, fulltext};

/// The longest title that is looked for, in words or in characters of scripts without blanks.
const LONGEST_TITLE: usize = 12;
/// Words that say nothing about a subject.
const STOP_WORDS: [&str; 76] = [
    "a", "about", "after", "also", "an", "and", "any", "are", "as", "at", "be", "because", "been",
    "before", "between", "but", "by", "can", "could", "did", "do", "does", "for", "from", "get",
    "had", "has", "have", "he", "her", "here", "him", "his", "how", "i", "if", "in", "into", "is",
    "it", "its", "just", "me", "my", "no", "not", "of", "on", "or", "our", "please", "she",
    "should", "so", "that", "the", "their", "them", "then", "there", "these", "they", "this", "to",
    "was", "we", "were", "what", "when", "where", "which", "who", "will", "with", "would", "you",
];
/// The weights of the walk with the prompt's words, of the words alone, and of words in titles.
const QUERY: f64 = 3.0;
const WORDS_BESIDE_WALK: f64 = 0.15;
const WORDS: f64 = 1.5;
const TITLE: f64 = 4.0;

/// The words of a prompt, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    words: Vec<Token>,
}

/// Notes that a prompt names by their titles, with weights, and the prompt's other words.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NamedNotes {
    pub notes: BTreeMap<i64, f64>,
    pub other_words: Vec<String>,
    /// Whether a title of several words, or a rare one, is named: then the walk leads.
    pub is_sure: bool,
}

impl Prompt {
    /// `None` for a text without words.
    pub fn parse(text: &str) -> Option<Prompt> {
        let words = tokens(text);
        (!words.is_empty()).then_some(Prompt { words })
    }

    /// The words that tell something, each once.
    pub fn terms(&self) -> Vec<String> {
        terms(self.words.iter())
    }

    /// The words as they are looked up, with runs of characters without blanks as a whole.
    pub(super) fn plain_terms(&self) -> Vec<String> {
        fulltext::terms(&joined(&self.words))
    }

    /// Finds the notes that the prompt names, the longest name first. `titled` returns the notes with a title, and
    /// `is_rare` whether hardly any note has a word.
    pub fn named<E>(
        &self,
        mut titled: impl FnMut(&str) -> Result<Vec<i64>, E>,
        mut is_rare: impl FnMut(&str) -> Result<bool, E>,
    ) -> Result<NamedNotes, E> {
        let mut named = NamedNotes::default();
        let mut others: Vec<Token> = Vec::new();
        let mut is_behind_name = false;
        let mut at = 0;
        'words: while at < self.words.len() {
            for end in (at + 1..=self.words.len().min(at + LONGEST_TITLE)).rev() {
                let Some(n_words) = words_of_name(&self.words[at..end]) else { continue };
                let name = joined(&self.words[at..end]);
                if end == at + 1 && is_stop_word(&name) {
                    continue;
                }
                let mut notes = titled(&name)?;
                if let Some(bare) = forms::bare(&name).filter(|_| notes.is_empty()) {
                    notes = titled(bare)?;
                }
                if !notes.is_empty() {
                    let weight = (n_words / notes.len() as f64).sqrt();
                    named.is_sure |= weight > 1.0 || n_words == 1.0 && is_rare(&name)?;
                    named.notes.extend(notes.into_iter().map(|note| (note, weight)));
                    (at, is_behind_name) = (end, true);
                    continue 'words;
                }
            }
            let word = &self.words[at];
            others.push(if is_behind_name { word.apart() } else { word.clone() });
            (at, is_behind_name) = (at + 1, false);
        }
        named.other_words = terms(others.iter());
        Ok(named)
    }
}

fn terms<'a>(words: impl Iterator<Item = &'a Token>) -> Vec<String> {
    let words = words.filter(|word| !is_stop_word(&word.text));
    fulltext::pairs(&fulltext::terms(&joined(words)))
}

pub(super) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// How well the words of a prompt match notes, the best 1.
pub type Matches = BTreeMap<i64, f64>;

/// Everything that a prompt was found to say.
#[derive(Debug, Default)]
pub struct Evidence {
    /// By all words of the prompt.
    pub words: Matches,
    /// By the words that name no note; `None` if no note is named.
    pub other_words: Option<Matches>,
    /// The walk from the named notes, or else from the best by words.
    pub walk: BTreeMap<i64, f64>,
    pub seeds: BTreeSet<i64>,
    /// The share of the prompt's words, by their weight, that stands in a note's title and path.
    pub titles: Matches,
    pub is_sure: bool,
}

impl Evidence {
    /// What the prompt adds to the relevance of each note.
    pub fn relevance(&self) -> BTreeMap<i64, f64> {
        let most = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
        let nearest = most(&mut self.walk.values().copied());
        let beyond = self.walk.iter().filter(|(note, _)| !self.seeds.contains(note));
        let farther = match most(&mut beyond.map(|(_, value)| *value)) {
            0.0 => nearest,
            farther => farther,
        };
        let share = |value: f64, most: f64| if most > 0.0 { value / most } else { 0.0 };
        let of = |matches: &Matches, note| matches.get(&note).copied().unwrap_or_default();
        let notes: BTreeSet<i64> = self.words.keys().chain(self.walk.keys()).copied().collect();
        let relevance = |note: i64| {
            let walk = of(&self.walk, note);
            let words = of(&self.words, note);
            let other_words = of(self.other_words.as_ref().unwrap_or(&self.words), note);
            let near_and_about = share(walk, farther).sqrt() * other_words;
            let led = QUERY * (share(walk, nearest) + WORDS_BESIDE_WALK * words + near_and_about);
            match self.is_sure {
                true => led,
                false => led + WORDS * words + TITLE * of(&self.titles, note),
            }
        };
        notes.into_iter().map(|note| (note, relevance(note))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::convert::Infallible;

    fn named(prompt: &str, titles: &[(&str, &[i64])]) -> NamedNotes {
        let titled = |name: &str| {
            let found = titles.iter().find(|(title, _)| *title == name);
            Ok::<_, Infallible>(found.map(|(_, notes)| notes.to_vec()).unwrap_or_default())
        };
        Prompt::parse(prompt).unwrap().named(titled, |word| Ok(word == "osthryth")).unwrap()
    }

    #[test]
    fn the_stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
    }

    #[test]
    fn the_longest_title_is_the_one_that_is_named() {
        let titles: &[(&str, &[i64])] =
            &[("auth", &[1]), ("auth flow", &[2]), ("who", &[3]), ("shared", &[4, 5])];
        let found = named("Who wrote the Auth flow, and the shared part?", titles);
        assert_eq!(found.notes.keys().copied().collect::<Vec<_>>(), [2, 4, 5]);
        assert_eq!(found.other_words, ["wrote", "part"]);
        assert!(found.is_sure && found.notes[&2] > found.notes[&4]);
        assert!(!named("the shared part", titles).is_sure);
        assert!(named("father of Osthryth", &[("osthryth", &[7])]).is_sure);
    }

    #[test]
    fn titles_are_named_with_particles_and_articles() {
        let titles: &[(&str, &[i64])] = &[("결제", &[1]), ("نشر", &[2])];
        let found = named("결제에서 실패하는 경우를 고쳐줘", titles);
        assert_eq!(found.notes.keys().copied().collect::<Vec<_>>(), [1]);
        assert_eq!(named("كيف يعمل النشر", titles).notes.keys().copied().collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn titles_are_named_in_the_midst_of_a_run_without_blanks() {
        let titles: &[(&str, &[i64])] =
            &[("笔记", &[1]), ("双链笔记", &[2]), ("同步", &[3]), ("obsidian 同步", &[4])];
        let found = named("请问双链笔记怎么用？Obsidian 同步呢", titles);
        assert_eq!(found.notes.keys().copied().collect::<Vec<_>>(), [2, 4]);
        assert!(found.is_sure);
        assert_eq!(found.other_words[..2], ["请问", "怎么"]);
        let found = named("この同期の方法", &[("同期", &[5]), ("この", &[6])]);
        assert_eq!(found.notes.keys().copied().collect::<Vec<_>>(), [5]);
        assert!(!found.is_sure);
    }

    #[test]
    fn a_prompt_without_words_is_none() {
        assert_eq!(Prompt::parse(" … !"), None);
        assert_eq!(Prompt::parse("Fix the Parser!").unwrap().terms(), ["fix", "parser"]);
    }

    #[test]
    fn near_the_named_note_and_about_the_rest_comes_first() {
        let evidence = Evidence {
            words: BTreeMap::from([(1, 1.0), (2, 0.4), (3, 0.4)]),
            other_words: Some(BTreeMap::from([(2, 1.0), (3, 1.0)])),
            walk: BTreeMap::from([(1, 0.5), (2, 0.2), (4, 0.2)]),
            seeds: BTreeSet::from([1]),
            titles: BTreeMap::new(),
            is_sure: true,
        };
        let relevance = evidence.relevance();
        assert!(relevance[&2] > relevance[&3] && relevance[&2] > relevance[&4], "{relevance:?}");
    }

    proptest! {
        #[test]
        fn any_prompt_is_read(text in any::<String>()) {
            if let Some(prompt) = Prompt::parse(&text) {
                let found = prompt.named(|_| Ok::<_, Infallible>(Vec::new()), |_| Ok(false)).unwrap();
                prop_assert_eq!(found.other_words, prompt.terms());
            }
        }
    }
}
