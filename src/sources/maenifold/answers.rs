//! What maenifold's program answers, in whichever form.

use crate::core::note::concept::Concept;
use crate::core::time::Timestamp;

/// A note as an answer names it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AnsweredNote {
    pub place: NotePlace,
    pub title: Option<String>,
    /// When it was last written, if the answer tells a moment: maenifold's text has local minutes without a zone.
    pub modified: Option<Timestamp>,
    /// Whether it has the words of a search, if the answer tells. Every search also finds notes that are only similar in
    /// meaning: there is no floor.
    pub has_words: Option<bool>,
    /// The concepts that the answer names, or shows in pieces of the text; mostly not all that the note mentions.
    pub concepts: Vec<Concept>,
    /// Whether `concepts` are all of them, as the answer says.
    pub names_all_concepts: bool,
}

/// How an answer names a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotePlace {
    /// By its address.
    Uri(String),
    /// By its file's name, without folder and `.md`. There may be several of that name.
    Stem(String),
}

impl Default for NotePlace {
    fn default() -> NotePlace {
        NotePlace::Stem(String::new())
    }
}

/// A concept that shares notes with the one that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relation {
    pub concept: Concept,
    /// How many notes mention both.
    pub notes: u32,
    /// Addresses of some of them.
    pub uris: Vec<String>,
}
