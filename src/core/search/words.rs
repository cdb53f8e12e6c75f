//! The strategy of a full-text search: which words of a query are looked up, how, and what a match is worth. Knows no
//! database.
//!
//! bm25 scores every note that has a word, and a common word says little about any note. So only rare words are ranked
//! by; a query of common words alone finds the newest notes that have all of them. The cost stays bounded however large
//! the vault is.

/// Weights of title, labels and text: the first two say more about a note than its text.
pub const COLUMN_WEIGHTS: [f64; 3] = [8.0, 4.0, 1.0];
/// The strength of the newest note that has all words of a query, all of them common.
pub const ALL: f64 = 1.0;
/// The strength of the newest note that has some of the words, or words that begin like them.
pub const SOME: f64 = 0.5;
/// The strength of a title that has all words. In a small vault every word is common, and bm25 alone says next to nothing.
const TITLE_HAS_ALL: f64 = 3.0;
/// Shorter words, with their two quotes, begin too many others.
const SHORTEST_BEGINNING: usize = 5;

/// A note and how strongly it matches.
pub type TextMatch<Id> = (Id, f64);

/// What to look up. Every field is an FTS5 expression.
#[derive(Debug, PartialEq, Eq)]
pub enum WordSearch {
    Nothing,
    /// Ranked by `any`; where all words are rare, titles that have all of them count more.
    Rare {
        any: String,
        titled: Option<String>,
    },
    /// The newest notes that have all words, or else any.
    Common {
        all: String,
        any: String,
    },
    /// No note has any of the words: the newest with words that begin like them.
    Beginnings {
        any: String,
    },
}

/// Plans the search for terms, given how many notes have each: counted up to `common_from`, from where on a word is
/// common.
pub fn plan(terms: &[String], counts: &[i64], common_from: i64) -> WordSearch {
    let mut known: Vec<(i64, &str)> =
        counts.iter().copied().zip(terms.iter().map(String::as_str)).collect();
    known.retain(|(notes, _)| *notes > 0);
    known.sort_unstable();
    let mut ranked = 0;
    let rare: Vec<&str> = known
        .iter()
        .take_while(|(notes, _)| {
            ranked += notes;
            *notes < common_from && ranked <= 2 * common_from
        })
        .map(|(_, term)| *term)
        .collect();
    if !rare.is_empty() {
        let titled =
            (rare.len() == terms.len()).then(|| format!("{{title}} : ({})", rare.join(" AND ")));
        return WordSearch::Rare { any: rare.join(" OR "), titled };
    }
    if !known.is_empty() {
        let common: Vec<&str> = known.iter().map(|(_, term)| *term).collect();
        return WordSearch::Common { all: common.join(" AND "), any: common.join(" OR ") };
    }
    let beginnings: Vec<String> = terms
        .iter()
        .filter(|term| term.len() >= SHORTEST_BEGINNING)
        .map(|term| format!("{term}*"))
        .collect();
    match beginnings.is_empty() {
        true => WordSearch::Nothing,
        false => WordSearch::Beginnings { any: beginnings.join(" OR ") },
    }
}

/// The strength of notes found newest first: it fades to half of `strength`.
pub fn by_age<Id>(notes: Vec<Id>, strength: f64) -> Vec<TextMatch<Id>> {
    let step = strength / (2 * notes.len().max(1)) as f64;
    let strengths = (0..).map(|n| strength - f64::from(n) * step);
    notes.into_iter().zip(strengths).collect()
}

/// The strength of notes whose titles have all words.
pub fn all_in_title<Id>(notes: Vec<Id>) -> impl Iterator<Item = TextMatch<Id>> {
    notes.into_iter().map(|note| (note, TITLE_HAS_ALL))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(words: &[(&str, i64)]) -> WordSearch {
        let terms: Vec<String> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        let counts: Vec<i64> = words.iter().map(|(_, notes)| *notes).collect();
        plan(&terms, &counts, 100)
    }

    #[test]
    fn words_are_looked_up_by_how_common_they_are() {
        let rare = |any: &str, titled: Option<&str>| WordSearch::Rare {
            any: any.to_owned(),
            titled: titled.map(str::to_owned),
        };
        let both = Some("{title} : (\"b\" AND \"a\")");
        assert_eq!(planned(&[("a", 3), ("b", 2)]), rare("\"b\" OR \"a\"", both));
        assert_eq!(planned(&[("a", 3), ("the", 100)]), rare("\"a\"", None));
        assert_eq!(planned(&[("a", 3), ("gone", 0)]), rare("\"a\"", None));
        // No more than twice as many notes are ranked as make one word common.
        let three = [("a", 90), ("b", 90), ("c", 90)];
        assert_eq!(planned(&three), rare("\"a\" OR \"b\"", None));
        let common = WordSearch::Common {
            all: "\"a\" AND \"the\"".to_owned(),
            any: "\"a\" OR \"the\"".to_owned(),
        };
        assert_eq!(planned(&[("the", 100), ("a", 100)]), common);
        let beginnings = WordSearch::Beginnings { any: "\"ren\"*".to_owned() };
        assert_eq!(planned(&[("ren", 0), ("a", 0)]), beginnings);
        assert_eq!(planned(&[("a", 0)]), WordSearch::Nothing);
        assert_eq!(planned(&[]), WordSearch::Nothing);
    }

    #[test]
    fn newer_notes_are_stronger() {
        assert_eq!(by_age(vec!['a', 'b'], 1.0), [('a', 1.0), ('b', 0.75)]);
        assert_eq!(by_age(Vec::<char>::new(), 1.0), []);
    }
}
