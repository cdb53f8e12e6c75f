//! A respondent: who of maenifold's answers a single question of a person.

use std::time::{Duration, Instant};

use super::{Unusable, asked, database, memory_of, program};
use crate::core::context::found::{FoundNote, Signal};
use crate::core::note::concept::Concept;
use crate::core::search::answer::{
    ContextAnswer, Match, RecentAnswer, RecentItem, RelatedConcept, SearchAnswer, SearchHit,
};
use crate::core::source::SourcePreference;
use crate::sources::context::ContextQuestion;
use crate::sources::maenifold::cli::Cli;
use crate::sources::maenifold::database::Memory;
use crate::sources::recent::RecentQuestion;
use crate::system::clock;
use crate::workspace::{AppError, Place, Request};

/// A person waits as long as the program needs; each call has its own limit.
const LONGEST: Duration = Duration::from_secs(600);

/// Who of maenifold's answers.
pub struct MaenifoldClient {
    place: Place,
    who: Who,
    /// What whoever reads the answer has to know about it.
    pub remark: Option<String>,
}

enum Who {
    Database(Box<Memory>),
    Program(Box<Cli>),
}

impl MaenifoldClient {
    /// Finds whom a request wants to be asked; `None` where that is the index.
    pub fn find(request: &Request) -> Result<Option<MaenifoldClient>, AppError> {
        let place = Place::find(request)?;
        let wish = place.settings.source.value;
        let places = match memory_of(&place) {
            Ok(places) if wish != SourcePreference::Index => places,
            Err(reason) if matches!(wish, SourcePreference::Database | SourcePreference::Cli) => {
                return Err(AppError::Maenifold(reason));
            }
            _ => return Ok(None),
        };
        let found = match wish {
            SourcePreference::Cli => {
                let program = program(&place, &places, Instant::now() + LONGEST);
                let program = program.map_err(AppError::Maenifold)?;
                Some((Who::Program(Box::new(program)), None))
            }
            _ => match (database(&place, &places), wish) {
                (Ok((memory, None)), _) => Some((Who::Database(Box::new(memory)), None)),
                // A person has no use for an answer that takes seconds and knows less than the index.
                (_, SourcePreference::Auto) => None,
                (Ok((memory, behind)), _) => Some((Who::Database(Box::new(memory)), behind)),
                (Err(Unusable::Broken(reason)), _) => return Err(AppError::Maenifold(reason)),
                (Err(Unusable::Missing), _) => {
                    let reason = format!("there is no {}", places.database.display());
                    return Err(AppError::Maenifold(reason));
                }
            },
        };
        Ok(found.map(|(who, remark)| MaenifoldClient { place, who, remark }))
    }

    /// The notes that match a query, best first.
    pub fn search(self, query: &str, limit: usize) -> Result<SearchAnswer, AppError> {
        let answer = match self.who {
            Who::Database(mut memory) => {
                asked(&mut memory, &self.place, |memory| memory.search_answer(query, limit))
            }
            Who::Program(program) => program.search(query, limit).map(|found| SearchAnswer {
                query: query.to_owned(),
                results: found.into_iter().map(hit).collect(),
            }),
        };
        answer.map_err(AppError::Maenifold)
    }

    /// The notes whose files were written lately, newest first.
    pub fn recent(self, question: RecentQuestion) -> Result<RecentAnswer, AppError> {
        let answer = match self.who {
            Who::Database(mut memory) => {
                asked(&mut memory, &self.place, |memory| memory.recent_answer(question))
            }
            Who::Program(program) => program.recent(question).map(|found| RecentAnswer {
                now: question.now.unwrap_or_else(clock::now),
                items: found.into_iter().map(item).collect(),
                newest_older: None,
            }),
        };
        answer.map_err(AppError::Maenifold)
    }

    /// The concepts around one, in maenifold's order.
    pub fn context(self, question: ContextQuestion<'_>) -> Result<ContextAnswer, AppError> {
        let answer = match self.who {
            Who::Database(mut memory) => {
                asked(&mut memory, &self.place, |memory| memory.context(question))
            }
            Who::Program(program) => around(&program, question),
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
        // It does not tell a concept without neighbours from one that it does not know.
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
