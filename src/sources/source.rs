//! The interface of a source of notes: the questions that a context asks.

use std::path::Path;
use std::sync::Arc;

use crate::core::context::found::{
    ConceptDetails, FoundConcept, FoundNote, OpenThread, RankedNote, Uncommitted,
};
use crate::core::context::rank::Expansion;
use crate::core::context::supplement::Given;
use crate::core::relevance::prompt::Prompt;
use crate::core::time::Timestamp;
use crate::store::index::{IndexError, Unusable};

pub(crate) trait Source {
    /// The notes that match the project's name, best first.
    fn search(&self, project: Option<&str>) -> SourceAnswer<Vec<FoundNote>>;

    /// The notes from the last day, newest first.
    fn recent(&self, now: Option<Timestamp>) -> SourceAnswer<Vec<FoundNote>>;

    /// The notes that a session most likely needs, best first.
    fn notes(&self, _question: &NotesQuestion<'_>) -> SourceAnswer<RankedNotes> {
        Ok(RankedNotes::default())
    }

    /// What the source knows about concepts, with the neighbours of the first ones.
    fn around(
        &self,
        concepts: &[FoundConcept],
        expansion: Expansion,
    ) -> SourceAnswer<ConceptDetails>;

    /// Both questions for notes; in parallel if the source can.
    fn search_and_recent(
        &self,
        project: Option<&str>,
        now: Option<Timestamp>,
    ) -> (SourceAnswer<Vec<FoundNote>>, SourceAnswer<Vec<FoundNote>>) {
        (self.search(project), self.recent(now))
    }
}

/// What is asked about the notes that a session needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NotesQuestion<'a> {
    /// The most notes.
    pub(crate) limit: usize,
    /// The number of notes with a long quote.
    pub(crate) n_at_length: usize,
    /// The session's prompt, if it is known.
    pub(crate) prompt: Option<&'a Prompt>,
    /// The project's name.
    pub(crate) project: Option<&'a str>,
    /// The branch that the session works on.
    pub(crate) branch: Option<&'a str>,
    /// What the session already has: then only other notes are wanted, and only those that are worth adding to the
    /// prompt.
    pub(crate) given: Option<&'a Given>,
    /// The working tree whose uncommitted files are looked for.
    pub(crate) checkout: Option<&'a Path>,
}

/// The notes that a session most likely needs, what its uncommitted files say of them, and what goes on.
#[derive(Debug, Clone, Default)]
pub(crate) struct RankedNotes {
    pub(crate) notes: Vec<RankedNote>,
    pub(crate) threads: Vec<OpenThread>,
    pub(crate) uncommitted: Option<Uncommitted>,
}

pub(crate) type SharedSource = Arc<dyn Source + Send + Sync>;

pub(crate) type SourceAnswer<T> = Result<T, SourceError>;

/// Why a question has no answer, or only a partial one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct SourceError {
    pub(crate) reason: String,
    /// Whether the index must be rebuilt.
    pub(crate) is_damage: bool,
    /// Whether nothing went wrong but that the time was over.
    pub(crate) is_late: bool,
    /// The concept details that are known nevertheless.
    pub(crate) partial: ConceptDetails,
}

impl From<String> for SourceError {
    fn from(reason: String) -> SourceError {
        SourceError { reason, ..SourceError::default() }
    }
}

impl From<IndexError> for SourceError {
    fn from(error: IndexError) -> SourceError {
        let is_damage = matches!(error, IndexError::Damaged(_));
        SourceError { is_damage, ..SourceError::from(error.to_string()) }
    }
}

impl From<Unusable> for SourceError {
    fn from(unusable: Unusable) -> SourceError {
        match unusable {
            Unusable::Failed(error) => error.into(),
            other => other.to_string().into(),
        }
    }
}
