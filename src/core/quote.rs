//! Quotes: which words of a note a context shows. A card is the shortest quote that says what a note is about; a
//! passage quotes at length, from the lines that changed last.
//!
//! Quotes are made when a note is indexed, so that building a context reads no note.

pub mod card;
mod length;
pub mod lines;
pub mod marks;
pub mod passage;
mod plain;
pub mod retold;
pub mod thinking;

use crate::core::quote::plain::Plain;

/// So many different runs of three words are enough to recognise a text.
const RECOGNISED: usize = 12;

const SENTENCE_ENDS: [char; 10] = ['.', '!', '?', ':', ';', '…', '。', '！', '？', '：'];

/// What stands between a quote and a line that follows it. Nothing else sets items of a list apart that have no full stop,
/// rows of a table, or a heading from the text above it.
fn joint(quote: &str, stands_apart: bool) -> &'static str {
    match stands_apart && !quote.ends_with(SENTENCE_ENDS) && !quote.ends_with(',') {
        true => "; ",
        false => " ",
    }
}

/// Behind a quote that ends before its sentence does.
const CUT: &str = "…";

/// Counts how much of a quote stands in its note word for word.
#[derive(Debug, Default)]
struct Recognition {
    /// The last two words, hashed, as far as nothing was left out after them.
    last: [Option<u64>; 2],
    triples: Vec<[u64; 3]>,
    is_after_gap: bool,
}

impl Recognition {
    /// Notes that words are left out here.
    fn gap(&mut self) {
        self.is_after_gap = true;
    }

    /// Adds a word of a line.
    fn add(&mut self, plain: &Plain, n: usize) {
        if self.is_enough() {
            return;
        }
        let word = plain.words[n];
        if std::mem::take(&mut self.is_after_gap) || word.is_after_gap {
            self.last = [None; 2];
        }
        let hash = plain.hash(word);
        if let [Some(first), Some(second)] = self.last {
            let triple = [first, second, hash];
            self.triples.reserve_exact(RECOGNISED - self.triples.len());
            if !self.triples.contains(&triple) {
                self.triples.push(triple);
            }
        }
        self.last = [self.last[1], Some(hash)];
        self.is_after_gap |= n + 1 == plain.words.len() && plain.ends_in_gap;
    }

    fn is_enough(&self) -> bool {
        self.triples.len() >= RECOGNISED
    }
}
