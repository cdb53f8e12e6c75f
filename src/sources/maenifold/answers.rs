//! What maenifold answers to the three questions, whichever way it was asked.

use crate::core::note::concept::Concept;
use crate::core::time::Timestamp;

/// A note that a search found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchedNote {
    /// Its address.
    pub uri: String,
    /// Its title.
    pub title: String,
    /// Whether the words of the query stand in it; `None` where that is not said. A note that is only akin in meaning
    /// to the query is always found: there is no floor.
    pub has_words: Option<bool>,
    /// The concepts that the answer names, or shows in a piece of the text; mostly not all that the note mentions.
    pub concepts: Vec<Concept>,
    /// Whether `concepts` are all of them, as the answer says.
    pub names_all_concepts: bool,
}

/// A note that changed lately.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RecentNote {
    /// Its address, or its file's name without folder and ending: maenifold's text tells no more.
    pub place: NotePlace,
    /// Its title, where it is told.
    pub title: Option<String>,
    /// When it was last written, where a moment is told: maenifold's text has local minutes without a zone, which are none.
    pub modified: Option<Timestamp>,
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
    /// The concept.
    pub concept: Concept,
    /// How many notes mention both.
    pub notes: u32,
    /// Addresses of some of them.
    pub uris: Vec<String>,
}
