//! What the files of a version hold, whether a session is shown it or not: notes, concepts, handoffs and what they list.

use std::cell::OnceCell;
use std::collections::HashSet;

use crate::check::report::EntryName;
use crate::check::snapshot::Scene;
use crate::core::context::candidate::Part;

/// What the working tree holds. Looked up only when somebody asks: to read all notes once more takes time.
pub(crate) struct Present<'a> {
    scene: &'a Scene<'a>,
    notes: OnceCell<HashSet<String>>,
    concepts: OnceCell<HashSet<String>>,
}

impl<'a> Present<'a> {
    pub(crate) fn new(scene: &'a Scene<'a>) -> Present<'a> {
        Present { scene, notes: OnceCell::new(), concepts: OnceCell::new() }
    }

    /// Whether there is such a thing in some file.
    pub(crate) fn has(&self, entry: &EntryName) -> bool {
        let EntryName { part, name } = entry;
        match part {
            Part::Recent => self.notes.get_or_init(|| self.scene.addresses()).contains(name),
            Part::Handoff => self.scene.left().iter().any(|left| left.name() == *name),
            Part::Files => self.scene.left().iter().any(|left| left.listed().contains(name)),
            _ => self.concepts.get_or_init(|| self.scene.concepts()).contains(name),
        }
    }
}
