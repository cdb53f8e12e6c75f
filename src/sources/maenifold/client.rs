//! Answers a single question of a person from maenifold's database or program.

use std::time::Instant;

use super::{consistently, memory_of, open_database, program};
use crate::core::context::found::{FoundNote, Signal};
use crate::core::note::concept::Concept;
use crate::core::search::answer::{
    ContextAnswer, Match, RecentAnswer, RecentItem, RelatedConcept, SearchAnswer, SearchHit,
};
use crate::core::source::SourcePreference;
use crate::core::time_limits::MAENIFOLD_QUESTION;
use crate::sources::context::ContextQuestion;
use crate::sources::maenifold::cli::Cli;
use crate::sources::maenifold::database::Memory;
use crate::sources::recent::RecentQuestion;
use crate::system::clock;
use crate::workspace::{AppError, Place, Request};

/// The part of maenifold that answers a person's question.
pub struct MaenifoldClient {
    place: Place,
    part: MaenifoldPart,
    /// A remark for the reader of the answer.
    pub remark: Option<String>,
}

enum MaenifoldPart {
    Database(Box<Memory>),
    Program(Box<Cli>),
}

impl MaenifoldClient {
    /// Finds the part that a request prefers; `None` for the index.
    pub fn find(request: &Request) -> Result<Option<MaenifoldClient>, AppError> {
        let place = Place::find(request)?;
        let preference = place.settings.source.value;
        let places = match memory_of(&place) {
            Ok(places) if preference != SourcePreference::Index => places,
            Err(reason)
                if matches!(preference, SourcePreference::Database | SourcePreference::Cli) =>
            {
                return Err(AppError::Maenifold(reason));
            }
            _ => return Ok(None),
        };
        let (part, remark) = if preference == SourcePreference::Cli {
            let program = program(&place, &places, Instant::now() + MAENIFOLD_QUESTION);
            (MaenifoldPart::Program(Box::new(program.map_err(AppError::Maenifold)?)), None)
        } else {
            match open_database(&place, &places) {
                Ok((memory, None)) => (MaenifoldPart::Database(Box::new(memory)), None),
                // The program would take seconds, and knows less than the index.
                _ if preference == SourcePreference::Auto => return Ok(None),
                Ok((memory, behind)) => (MaenifoldPart::Database(Box::new(memory)), behind),
                Err(error) => return Err(AppError::Maenifold(error.reason(&places))),
            }
        };
        Ok(Some(MaenifoldClient { place, part, remark }))
    }

    /// The notes that match a query, best first.
    pub fn search(self, query: &str, limit: usize) -> Result<SearchAnswer, AppError> {
        let answer = match self.part {
            MaenifoldPart::Database(mut memory) => {
                consistently(&mut memory, &self.place, |memory| memory.search_answer(query, limit))
            }
            MaenifoldPart::Program(program) => {
                program.notes_about(query, limit).map(|found| SearchAnswer {
                    query: query.to_owned(),
                    results: found.into_iter().map(hit).collect(),
                })
            }
        };
        answer.map_err(AppError::Maenifold)
    }

    /// The notes whose files were written recently, newest first.
    pub fn recent(self, question: RecentQuestion) -> Result<RecentAnswer, AppError> {
        let answer = match self.part {
            MaenifoldPart::Database(mut memory) => {
                consistently(&mut memory, &self.place, |memory| memory.recent_answer(question))
            }
            MaenifoldPart::Program(program) => {
                program.changed_notes(question).map(|found| RecentAnswer {
                    now: question.now.unwrap_or_else(clock::now),
                    items: found.into_iter().map(item).collect(),
                    newest_older: None,
                })
            }
        };
        answer.map_err(AppError::Maenifold)
    }

    /// The concepts around one, in maenifold's order.
    pub fn context(self, question: ContextQuestion<'_>) -> Result<ContextAnswer, AppError> {
        let answer = match self.part {
            MaenifoldPart::Database(mut memory) => {
                consistently(&mut memory, &self.place, |memory| memory.context(question))
            }
            MaenifoldPart::Program(program) => around(&program, question),
        };
        answer.map_err(AppError::Maenifold)
    }
}

fn hit(note: FoundNote) -> SearchHit {
    let (place, matched) = match note.signal {
        Signal::Search { place, matched } => (place, matched),
        Signal::Recent { place } => (place, Match::Text),
    };
    SearchHit {
        uri: note.uri,
        title: note.title,
        // maenifold's own scores are between 0 and 0.03, and say no more than the order.
        score: (10_000.0 / place as f64).round() / 10_000.0,
        matched,
        snippet: note.excerpt,
        concepts: note.concepts,
    }
}

fn item(note: FoundNote) -> RecentItem {
    let FoundNote { uri, title, modified, concepts, .. } = note;
    RecentItem { uri, title, modified, concepts }
}

fn around(program: &Cli, question: ContextQuestion<'_>) -> Result<ContextAnswer, String> {
    let ContextQuestion { concept: wanted, depth, max_entities, .. } = question;
    if depth > 1 {
        return Err(
            "its program is asked for the next neighbours alone; leave out --depth".to_owned()
        );
    }
    let concept = Concept::parse(wanted);
    let relations = match &concept {
        Some(concept) => program.relations(concept, max_entities)?,
        None => Vec::new(),
    };
    let mut file_references: Vec<String> = Vec::new();
    for uri in relations.iter().flat_map(|relation| &relation.uris) {
        if !file_references.contains(uri) {
            file_references.push(uri.clone());
        }
    }
    Ok(ContextAnswer {
        concept: concept.map_or_else(|| wanted.to_owned(), |concept| concept.to_string()),
        // The program does not distinguish an unknown concept from one without neighbours.
        known: !relations.is_empty(),
        related_concepts: relations
            .into_iter()
            .map(|relation| RelatedConcept {
                name: relation.concept,
                files: relation.notes,
                uris: relation.uris,
            })
            .collect(),
        expanded_concepts: Vec::new(),
        file_references,
        nearest: Vec::new(),
    })
}
