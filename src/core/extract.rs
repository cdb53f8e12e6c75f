//! An extract: the part of a note's text that fits into a number of tokens, fit for a model, and what is left out.
//!
//! Lines have their numbers in the file, as far as the text is shown as it is: a masked key of many lines becomes one.

mod fit;
mod render;

pub use fit::{Limit, Unfit, fit};
pub use render::{NoteHead, concept_text, note_text};

use serde::Serialize;

use crate::core::note::front_matter;
use crate::core::text::for_model;

/// The number of headings that are named of what is left out.
const HEADINGS: usize = 3;
const HEADING_CHARS: usize = 60;

/// The text of a note after its front matter, fit for a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteText {
    text: String,
    /// The number of its first line.
    first: usize,
}

/// Some lines of a note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Extract {
    /// The number of the first line.
    pub from: usize,
    /// The number of the last line.
    pub to: usize,
    /// The number of the note's last line.
    pub lines: usize,
    pub text: String,
    /// What is left out after the text.
    pub rest: Option<Rest>,
}

/// What is left out at the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rest {
    /// The first line that is not shown, or not as a whole.
    pub from: usize,
    pub words: usize,
    /// Its first headings.
    pub headings: Vec<String>,
    /// The tokens that its first line needs, if it was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs: Option<usize>,
}

impl NoteText {
    /// Takes the text of a file. Secrets are masked before anything is cut: half a secret has no shape any more.
    pub fn of(file: &str) -> NoteText {
        let body = front_matter::split_any(file).1;
        let before = &file[..file.len() - body.len()];
        NoteText { text: for_model::lines(body), first: before.matches('\n').count() + 1 }
    }

    /// The number of the last line.
    fn last(&self) -> usize {
        self.first + self.text.lines().count().saturating_sub(1)
    }

    /// The lines with their numbers, from the first one with words that is not before `from`.
    fn lines_from(&self, from: usize) -> Vec<(usize, &str)> {
        let numbered = (self.first..).zip(self.text.lines());
        let wanted = numbered.skip_while(|&(n, line)| n < from || line.trim().is_empty());
        wanted.collect()
    }

    /// The headings with their line numbers.
    fn headings(&self) -> impl Iterator<Item = (usize, String)> {
        let mut is_code = false;
        (self.first..).zip(self.text.lines()).filter_map(move |(n, line)| {
            is_code ^= line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
            let name = line.trim_start_matches('#');
            let is_heading = !is_code && name.len() < line.len() && name.starts_with(' ');
            is_heading.then(|| (n, name.trim().chars().take(HEADING_CHARS).collect()))
        })
    }

    /// What comes from a line on, if there is anything.
    fn rest(&self, from: usize) -> Option<Rest> {
        let left = self.lines_from(from);
        let words = left.iter().map(|(_, line)| line.split_whitespace().count()).sum();
        let headings = self.headings().filter(|&(n, _)| n >= from).map(|(_, name)| name);
        let headings = headings.take(HEADINGS).collect();
        Some(Rest { from: left.first()?.0, words, headings, needs: None })
    }
}

#[cfg(test)]
mod tests;
