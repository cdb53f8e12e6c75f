//! maenifold's program as a source. Reads from the notes themselves what its answers leave out.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::notes::{Listed, Notes};
use crate::core::context::compose_notes::MOST_CONNECTIONS;
use crate::core::context::found::{
    ConceptDetail, ConceptDetails, FoundConcept, FoundNote, RECENT, SEARCHED, Signal,
};
use crate::core::context::rank::{Expansion, Ranking};
use crate::core::named::Named;
use crate::core::note::concept::Concept;
use crate::core::note::vault::Vault;
use crate::core::quote::retold::Retold;
use crate::core::search::answer::{Match, RelatedConcept};
use crate::core::settings::LinkStyle;
use crate::core::time::Timestamp;
use crate::sources::blend::number;
use crate::sources::maenifold::answers::{AnsweredNote, NotePlace, most_mentioned};
use crate::sources::maenifold::asker::{Asker, BROKEN, EarlyQuestion, Parse, Unanswered, n_cores};
use crate::sources::maenifold::call::{Program, Tool};
use crate::sources::maenifold::replies;
use crate::sources::recent::{RecentQuestion, admits};
use crate::sources::source::{Source, SourceAnswer, SourceError};
use crate::system::clock;
use crate::system::maenifold_places::Places;
use crate::workspace::Place;

/// The number of notes that a search requests. maenifold searches for words in six times as many files, and no
/// further.
const SEARCH_PAGE: usize = 50;

/// The parser takes no more notes per answer.
const LARGEST_PAGE: usize = 1_000;

/// maenifold's program, and the notes to which its answers refer.
pub(crate) struct Cli {
    pub(super) asker: Asker,
    places: Places,
    max_file_bytes: u64,
    ranking: Ranking,
    notes: OnceLock<Notes>,
    /// About the concept of the project's own name, which is known before any note is found.
    early: Mutex<Option<EarlyQuestion>>,
}

type FoundNotes = Result<Vec<FoundNote>, String>;

impl Cli {
    /// Finds the program, and starts nothing yet.
    pub(super) fn find(place: &Place, places: &Places, until: Instant) -> Result<Cli, String> {
        let settings = &place.settings;
        Ok(Cli {
            asker: Asker {
                program: Program::find(&place.environment)?,
                timeout: Duration::from_millis(settings.cli_timeout_ms.value),
                until,
            },
            places: places.clone(),
            max_file_bytes: settings.max_file_bytes.value,
            ranking: settings.rank.value,
            notes: OnceLock::new(),
            early: Mutex::default(),
        })
    }

    /// The path of a note's file, if it is on this machine.
    pub(super) fn file(&self, uri: &str) -> Option<String> {
        self.notes().file(uri)
    }

    /// The notes that match a query, best first.
    pub(super) fn notes_about(&self, query: &str, limit: usize) -> FoundNotes {
        if query.trim().is_empty() {
            return Ok(Vec::new());
        }
        let page = limit.clamp(SEARCH_PAGE, LARGEST_PAGE);
        let payload = json!({ "query": query, "mode": "Hybrid", "pageSize": page });
        let told = self.asked_while_listing(Tool::SearchMemories, &payload, replies::search)?;
        // Every search fills its page with notes that are only similar to the query.
        let with_words = told.into_iter().filter(|note| note.has_words != Some(false));
        let signal = Signal::Search { place: 0, matched: Match::Text };
        let (mut told, mut taken) = (BTreeSet::new(), Vec::new());
        let found = with_words.filter_map(|note| self.note(note, signal, &mut taken));
        let found = found.filter(|note| told.insert(note.uri.clone())).take(limit);
        let mut found: Vec<FoundNote> = found.collect();
        for (n, note) in found.iter_mut().enumerate() {
            note.signal = Signal::Search { place: n + 1, matched: matched(note, query) };
        }
        Ok(found)
    }

    /// The recently written notes, newest first. The program counts back from its own clock, so notes outside the
    /// span before `now` are removed from its answer.
    pub(super) fn changed_notes(&self, question: RecentQuestion) -> FoundNotes {
        let RecentQuestion { now, span, limit, filter } = question;
        let payload =
            json!({ "timespan": span.dot_net(), "limit": limit, "filter": filter.name() });
        let told = self.asked_while_listing(Tool::RecentActivity, &payload, replies::recent)?;
        let since = now.unwrap_or_else(clock::now).before(span);
        let (mut taken, signal) = (Vec::new(), Signal::Recent { place: 0 });
        let mut found: Vec<FoundNote> =
            told.into_iter().filter_map(|note| self.note(note, signal, &mut taken)).collect();
        found.retain(|note| {
            // At the time `now`, later changes had not happened yet.
            let is_later = now.is_some_and(|now| note.modified > now);
            note.modified >= since && !is_later && admits(filter, &note.uri)
        });
        // maenifold sorts by the times at which it last saw the files.
        found.sort_by_key(|note| std::cmp::Reverse(note.modified));
        let mut told = BTreeSet::new();
        found.retain(|note| told.insert(note.uri.clone()));
        found.truncate(limit);
        number(&mut found);
        Ok(found)
    }

    /// The concepts around one, in maenifold's order.
    pub(super) fn relations(
        &self,
        concept: &Concept,
        limit: usize,
    ) -> Result<Vec<RelatedConcept>, String> {
        Ok(self.asker.related(concept, limit)?)
    }

    /// The notes with the names of concepts. maenifold does not tell how many notes mention a concept.
    fn own_notes(&self, ranked: &[FoundConcept]) -> ConceptDetails {
        let notes = self.notes();
        let going_by = notes.going_by(ranked.iter().map(|found| &found.concept));
        let in_time = going_by.into_iter().take_while(|_| Instant::now() < self.asker.until);
        let detail = |(concept, listed): (&Concept, Listed<'_>)| {
            let read = notes.read(listed)?;
            let note = Some((listed.uri(), read.excerpt));
            Some((concept.clone(), ConceptDetail { note, ..ConceptDetail::default() }))
        };
        in_time.filter_map(detail).collect()
    }

    /// A note of an answer, completed from its file. `taken` are the files of the preceding notes.
    ///
    /// A note without a listed file was removed, or the index ignores it as well. It is left out unless the answer is
    /// complete, or unless a search found it and the files are on another machine.
    fn note<'a>(
        &'a self,
        answered: AnsweredNote,
        signal: Signal,
        taken: &mut Vec<Listed<'a>>,
    ) -> Option<FoundNote> {
        let notes = self.notes();
        let AnsweredNote { place, title, modified, concepts, names_all_concepts, .. } = answered;
        let listed = match &place {
            NotePlace::Uri(uri) => notes.at(uri),
            NotePlace::Stem(stem) => notes.called(stem, title.as_deref(), taken),
        };
        taken.extend(listed);
        if let Some((listed, read)) = listed.and_then(|at| Some((at, notes.read(at)?))) {
            // The seed's layout knows titles and first sentences alone.
            let is_retold = self.ranking == Ranking::Notes;
            let (title, excerpt) = match is_retold.then(|| notes.retold(listed)).flatten() {
                Some(Retold { title, card }) => (title.unwrap_or(read.title), card),
                None => (read.title, read.excerpt),
            };
            // The file is newer than any answer.
            return Some(FoundNote {
                uri: listed.uri(),
                title,
                excerpt,
                concepts: if names_all_concepts { concepts } else { most_mentioned(read.mentions) },
                modified: listed.modified(),
                signal,
            });
        }
        let NotePlace::Uri(uri) = place else { return None };
        let (is_enough, modified) = match signal {
            // No code uses the time of a note that a search found.
            Signal::Search { .. } => (names_all_concepts || !notes.are_here(), Timestamp(0)),
            Signal::Recent { .. } | Signal::Relevance { .. } => (names_all_concepts, modified?),
        };
        let (title, excerpt) = (title.unwrap_or_else(|| uri.clone()), String::new());
        let note = FoundNote { uri, title, excerpt, concepts, modified, signal };
        (is_enough && is_address(&note.uri)).then_some(note)
    }

    /// Calls the program, and lists the notes in parallel.
    fn asked_while_listing(
        &self,
        tool: Tool,
        payload: &Value,
        parse: Parse<AnsweredNote>,
    ) -> Result<Vec<AnsweredNote>, String> {
        thread::scope(|scope| {
            let told = scope.spawn(|| self.asker.ask(tool, payload, parse));
            self.notes();
            Ok(joined(told)?)
        })
    }

    /// Whether one of the newest notes links to a concept.
    fn is_current(&self, concept: &Concept) -> bool {
        let notes = self.notes();
        let links =
            |note: Listed<'_>| notes.read(note)?.mentions.contains_key(concept).then_some(());
        notes.newest(RECENT).into_iter().any(|note| links(note).is_some())
    }

    fn early(&self) -> MutexGuard<'_, Option<EarlyQuestion>> {
        self.early.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn notes(&self) -> &Notes {
        self.notes.get_or_init(|| Notes::list(&self.places, self.max_file_bytes))
    }
}

impl Source for Cli {
    fn search(&self, project: Option<&str>) -> SourceAnswer<Vec<FoundNote>> {
        let Some(project) = project else { return Ok(Vec::new()) };
        Ok(self.notes_about(project, SEARCHED)?)
    }

    fn recent(&self, now: Option<Timestamp>) -> SourceAnswer<Vec<FoundNote>> {
        Ok(self.changed_notes(RecentQuestion::of_last_day(now))?)
    }

    /// Runs both calls in parallel, unless maenifold has yet to unpack its assets: two processes would disturb each
    /// other. The dearest question, about the project's own concept, begins at once, on a core of its own, where that concept
    /// is likely among the best.
    fn search_and_recent(
        &self,
        project: Option<&str>,
        now: Option<Timestamp>,
    ) -> (SourceAnswer<Vec<FoundNote>>, SourceAnswer<Vec<FoundNote>>) {
        if self.places.is_fresh() {
            return (self.search(project), self.recent(now));
        }
        let own = project.and_then(Concept::parse);
        if let Some(concept) = own.filter(|own| n_cores() > 1 && self.is_current(own)) {
            let most = self.ranking.expansion().n_neighbours;
            *self.early() = Some(self.asker.ask_early(concept, most));
            if n_cores() == 2 {
                return (self.search(project), self.recent(now));
            }
        }
        thread::scope(|scope| {
            let recent = scope.spawn(|| self.recent(now));
            (self.search(project), joined(recent))
        })
    }

    /// A failure for one concept does not affect the others.
    fn around(
        &self,
        concepts: &[FoundConcept],
        Expansion { n_concepts, n_neighbours }: Expansion,
    ) -> SourceAnswer<ConceptDetails> {
        // A call takes a second of a core: whatever no context shows is not worth one.
        let best = &concepts[..concepts.len().min(n_concepts).min(MOST_CONNECTIONS)];
        let (around, mut details) = thread::scope(|scope| {
            let early = self.early().take();
            let around = scope.spawn(|| self.asker.all_neighbours(best, n_neighbours, early));
            let details = self.own_notes(concepts);
            (around.join().unwrap_or_default(), details)
        });
        let mut failed: Vec<Unanswered> = Vec::new();
        for (found, around) in best.iter().zip(around) {
            match around {
                Ok(neighbours) => {
                    details.entry(found.concept.clone()).or_default().neighbours = neighbours;
                }
                Err(unanswered) => failed.push(unanswered),
            }
        }
        // A failure tells more than a late answer.
        let Some(first) = failed.iter().min_by_key(|unanswered| unanswered.is_late) else {
            return Ok(details);
        };
        let n_failed = failed.iter().filter(|other| other.is_late == first.is_late).count();
        let reason = format!("{} ({n_failed} of {} concepts)", first.reason, best.len());
        let is_late = first.is_late;
        Err(SourceError { partial: details, is_late, ..SourceError::from(reason) })
    }
}

/// Whether a text is the address of a note that could be in the memory.
fn is_address(uri: &str) -> bool {
    let anywhere = Vault::new("", PathBuf::new(), LinkStyle::Maenifold);
    matches!(anywhere.resolve(uri), Some(Ok(_)))
}

/// How a note matches a query that occurs somewhere in it.
fn matched(note: &FoundNote, query: &str) -> Match {
    let query = Concept::parse(query);
    let is_query = |name: &str| query.is_some() && Concept::parse(name) == query;
    let stem = note.uri.rsplit('/').next().unwrap_or_default();
    if is_query(&note.title) {
        Match::Title
    } else if is_query(stem) {
        Match::File
    } else {
        Match::Text
    }
}

fn joined<T, E: From<String>>(thread: ScopedJoinHandle<'_, Result<T, E>>) -> Result<T, E> {
    let broken = |_| Err(BROKEN.to_owned().into());
    thread.join().unwrap_or_else(broken)
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
