//! Answers a single question of a person from maenifold's database or program.

use std::time::Instant;

use super::{consistently, memory_of, open_database};
use crate::core::context::found::{FoundNote, Signal};
use crate::core::note::concept::Concept;
use crate::core::search::answer::{
    ContextAnswer, Match, RecentAnswer, RecentItem, SearchAnswer, SearchHit,
};
use crate::core::source::SourcePreference;
use crate::core::time_limits::MAENIFOLD_QUESTION;
use crate::sources::context::{ContextQuestion, add_related};
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
            _ if matches!(preference, SourcePreference::Auto | SourcePreference::Index) => {
                return Ok(None);
            }
            Ok(places) => places,
            Err(reason) => return Err(AppError::Maenifold(reason)),
        };
        let (part, remark) = if preference == SourcePreference::Cli {
            let program = Cli::find(&place, &places, Instant::now() + MAENIFOLD_QUESTION);
            (MaenifoldPart::Program(Box::new(program.map_err(AppError::Maenifold)?)), None)
        } else {
            let (memory, behind) = open_database(&place, &places).map_err(AppError::Maenifold)?;
            (MaenifoldPart::Database(Box::new(memory)), behind)
        };
        Ok(Some(MaenifoldClient { place, part, remark }))
    }

    fn ask<Answer>(
        self,
        database: impl Fn(&Memory) -> Result<Answer, String>,
        program: impl FnOnce(&Cli) -> Result<Answer, String>,
    ) -> Result<Answer, AppError> {
        let answer = match self.part {
            MaenifoldPart::Database(mut memory) => consistently(&mut memory, &self.place, database),
            MaenifoldPart::Program(cli) => program(&cli),
        };
        answer.map_err(AppError::Maenifold)
    }

    /// The notes that match a query, best first.
    pub fn search(self, query: &str, limit: usize) -> Result<SearchAnswer, AppError> {
        let by_program = |program: &Cli| {
            let found = program.notes_about(query, limit)?.into_iter();
            let results = found.map(|note| hit(program.file(&note.uri), note)).collect();
            Ok(SearchAnswer { query: query.to_owned(), results })
        };
        self.ask(|memory| memory.search_answer(query, limit), by_program)
    }

    /// The notes whose files were written recently, newest first.
    pub fn recent(self, question: RecentQuestion) -> Result<RecentAnswer, AppError> {
        let by_program = |program: &Cli| {
            let found = program.changed_notes(question)?.into_iter();
            let items = found.map(|note| item(program.file(&note.uri), note)).collect();
            let now = question.now.unwrap_or_else(clock::now);
            Ok(RecentAnswer { now, items, newest_older: None })
        };
        self.ask(|memory| memory.recent_answer(question), by_program)
    }

    /// The concepts around one, in maenifold's order.
    pub fn context(self, question: ContextQuestion<'_>) -> Result<ContextAnswer, AppError> {
        self.ask(|memory| memory.context(question), |program| around(program, question))
    }
}

fn hit(path: Option<String>, note: FoundNote) -> SearchHit {
    let (place, matched) = match note.signal {
        Signal::Search { place, matched } => (place, matched),
        Signal::Recent { place } | Signal::Relevance { place, .. } => (place, Match::Text),
    };
    SearchHit {
        uri: note.uri,
        path,
        title: note.title,
        // maenifold's own scores are between 0 and 0.03, and say no more than the order.
        score: (10_000.0 / place as f64).round() / 10_000.0,
        matched,
        snippet: note.excerpt,
        concepts: note.concepts,
    }
}

fn item(path: Option<String>, note: FoundNote) -> RecentItem {
    let FoundNote { uri, title, modified, concepts, .. } = note;
    RecentItem { uri, path, title, modified, concepts }
}

fn around(program: &Cli, question: ContextQuestion<'_>) -> Result<ContextAnswer, String> {
    let ContextQuestion { concept: wanted, depth, max_entities, .. } = question;
    if depth > 1 {
        return Err("its program only returns direct neighbours; leave out --depth".to_owned());
    }
    let mut answer = ContextAnswer::unknown(wanted);
    let Some(concept) = Concept::parse(wanted) else { return Ok(answer) };
    answer.concept = concept.to_string();
    for related in program.relations(&concept, max_entities)? {
        add_related(&mut answer, related);
    }
    let path = |uri: &String| Some((uri.clone(), program.file(uri)?));
    answer.paths = answer.file_references.iter().filter_map(path).collect();
    // The program does not distinguish an unknown concept from one without neighbours.
    answer.known = !answer.related_concepts.is_empty();
    Ok(answer)
}
