//! The answers of maenifold's program, independent of their format.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::core::note::concept::Concept;
use crate::core::time::Timestamp;

/// A note in an answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AnsweredNote {
    pub place: NotePlace,
    pub title: Option<String>,
    /// When it was last written; `None` if the answer gives no exact time: maenifold's text shows local minutes
    /// without a zone.
    pub modified: Option<Timestamp>,
    /// Whether the note contains the words of a search, if the answer says so. Every search also returns notes that
    /// are only similar in meaning, without a minimum similarity.
    pub has_words: Option<bool>,
    /// The concepts that the answer names, or that its pieces of text link; usually not all concepts of the note.
    pub concepts: Vec<Concept>,
    /// Whether the answer names all concepts of the note.
    pub names_all_concepts: bool,
}

/// How an answer identifies a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotePlace {
    Uri(String),
    /// The file name without folder and `.md`. Several notes can have the same one.
    Stem(String),
}

impl Default for NotePlace {
    fn default() -> NotePlace {
        NotePlace::Stem(String::new())
    }
}

/// The concepts that a note mentions, most mentioned first, then by name.
pub(super) fn most_mentioned(mentions: BTreeMap<Concept, u32>) -> Vec<Concept> {
    let mut mentions: Vec<(Concept, u32)> = mentions.into_iter().collect();
    mentions.sort_by_key(|(_, links)| Reverse(*links));
    mentions.into_iter().map(|(concept, _)| concept).collect()
}
