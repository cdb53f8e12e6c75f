//! A reading: what came of opening one listed file.

use std::collections::BTreeMap;

use crate::core::note::freshness::FreshUntil;
use crate::core::note::listing::{ListedFile, Rejection};
use crate::core::note::reference::{Key, References};
use crate::core::note::{Note, Remark};
use crate::core::quote::card::card;
use crate::core::quote::lines::{BodyLine, body_lines};
use crate::core::quote::marks;
use crate::core::quote::passage::Passage;
use crate::core::quote::thinking::Thinking;

/// One listed file, opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The place of the file's folder in the list of folders.
    pub folder: usize,
    /// The file as it was listed.
    pub file: ListedFile,
    /// Whether the stamp is sure to belong to the content that was read.
    pub settled: bool,
    pub content: Content,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    Note(Box<ReadNote>),
    /// Nothing that could be a note.
    Rejected(Rejection),
    /// Nothing: the file is gone.
    Gone,
}

/// A note with all that the index keeps of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadNote {
    pub hash: [u8; 16],
    pub note: Note,
    /// Until when the note counts in full.
    pub fresh_until: FreshUntil,
    /// Whether edges are made from its concepts.
    pub has_edges: bool,
    /// What can be searched for.
    pub text: FullText,
    pub quotes: NoteQuotes,
    /// What maenifold's own documents say; `None` for notes.
    pub thinking: Option<Thinking>,
    /// The file's name without its extension, as it is compared with other names.
    pub stem: String,
    /// Its hashed names.
    pub keys: Vec<Key>,
    pub references: References,
    /// The hashed names of files of code in its text.
    pub named_files: Vec<Key>,
}

/// What a context can quote of a note.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NoteQuotes {
    pub card: String,
    /// The passage of a note in which no change was seen yet.
    pub beginning: Passage,
    /// The text after the front matter, without secrets; empty where there are only properties.
    pub body: String,
    /// The hashes of its lines.
    pub lines: Vec<u32>,
    /// The longest passage.
    pub most_words: usize,
}

/// A note's words for the full-text index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FullText {
    pub title: String,
    /// Aliases, tags and the names of the folders.
    pub labels: String,
    /// The text after the front matter.
    pub body: String,
}

/// What is said of a Git LFS pointer, before its own words, which name Git LFS.
const NOT_CHECKED_OUT: &str = "text not checked out";

impl ReadNote {
    /// What is kept of a Git LFS pointer: its place, its history and what it is. Nothing in it is text of the note, and no
    /// link leads to text.
    pub fn into_pointer(self, says: &str) -> ReadNote {
        let ReadNote { mut note, text, quotes, .. } = self;
        note.remarks.add(Remark::Pointer);
        ReadNote {
            note: Note {
                excerpt: format!("{NOT_CHECKED_OUT}, a Git LFS pointer"),
                mentions: BTreeMap::new(),
                ..note
            },
            text: FullText { body: String::new(), ..text },
            quotes: NoteQuotes {
                card: format!("{NOT_CHECKED_OUT}: {says}"),
                beginning: Passage::default(),
                ..quotes
            },
            keys: Vec::new(),
            references: References::new(),
            named_files: Vec::new(),
            ..self
        }
    }

    pub fn is_pointer(&self) -> bool {
        self.note.remarks.has(Remark::Pointer)
    }
}

impl NoteQuotes {
    /// The quotes of a body and a description that have been masked: half a secret has no shape any more.
    pub fn of(
        body: &str,
        description: &str,
        lines: &[BodyLine<'_>],
        most_words: usize,
    ) -> NoteQuotes {
        NoteQuotes {
            card: card(description, lines),
            beginning: Passage::of(lines, &[], most_words),
            lines: marks::hashes(lines),
            body: body.to_owned(),
            most_words,
        }
    }

    /// The quotes of a page without text: its properties are its card, and there is nothing to quote at length.
    pub fn of_properties(lines: &[BodyLine<'_>]) -> NoteQuotes {
        NoteQuotes { card: card("", lines), lines: marks::hashes(lines), ..NoteQuotes::default() }
    }

    /// The quotes of a document of maenifold's, from what it says.
    pub fn of_thinking(thinking: &Thinking, most_words: usize) -> NoteQuotes {
        let lines = body_lines(&thinking.body);
        NoteQuotes {
            card: thinking.card.clone(),
            beginning: Passage::in_order(&lines, most_words),
            ..NoteQuotes::of(&thinking.body, "", &lines, most_words)
        }
    }
}
