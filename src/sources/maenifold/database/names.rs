//! The names of the database's notes.

use std::collections::HashMap;

use super::{KnownNote, Place};
use crate::core::note::concept::Concept;
use crate::core::search::answer::Match;

/// The notes by name, in normal form: matching titles first, then file names, newest first within each.
pub(super) type Names = HashMap<Concept, Vec<(Match, Place)>>;

/// Collects the titles and file names of notes that are sorted oldest first.
pub(super) fn names_of(notes: &[KnownNote]) -> Names {
    let mut names = Names::with_capacity(notes.len());
    for (place, note) in notes.iter().enumerate().rev() {
        let title = Concept::parse(note.title());
        let stem = Concept::parse(note.path.stem()).filter(|stem| Some(stem) != title.as_ref());
        for (name, kind) in [(title, Match::Title), (stem, Match::File)] {
            if let Some(name) = name {
                names.entry(name).or_default().push((kind, place));
            }
        }
    }
    for notes in names.values_mut() {
        // Stable: the newest stays in front.
        notes.sort_by_key(|&(kind, _)| kind);
    }
    names
}
