//! The index as a source.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use crate::core::context::found::{
    ConceptDetail, ConceptDetails, FoundConcept, FoundNote, Link, OpenThread, RaisedNote,
    RankedNote, SEARCHED, SPEAKING, Signal, Uncommitted,
};
use crate::core::context::rank::{Expansion, Ranking};
use crate::core::note::concept::Concept;
use crate::core::quote::passage::Passage;
use crate::core::relevance::branch::{self, BRANCH};
use crate::core::relevance::prior;
use crate::core::relevance::prompt::Matches;
use crate::core::relevance::uncommitted::{Gain, MOST_CHANGED, NamedFiles, gains};
use crate::core::search::ranking::Ranked;
use crate::core::time::Timestamp;
use crate::sources::blend::links;
use crate::sources::recent::{RecentQuestion, newest};
use crate::sources::search::{best_at_start, uri};
use crate::sources::source::{NotesQuestion, RankedNotes, Source, SourceAnswer};
use crate::store::index::{
    Index, IndexError, Nearness, Neighbour, NoteCard, NoteId, RankedCard, ThreadCard,
};
use crate::system::git::uncommitted::uncommitted;
use crate::workspace::Workspace;

/// A prompt or branch that adds less to a note is not said to speak of it.
const TELLING: f64 = 0.5;

/// The number of newest notes that name files of code and are looked through.
const MOST_NAMING: usize = 2_000;
/// The number of newest sessions that go on and are looked at.
const MOST_THREADS: usize = 50;
/// The number of notes that uncommitted files raise.
const MOST_RAISED: usize = 12;

/// What prompt and branch add to the relevance of notes.
struct Spoken {
    prompted: Matches,
    of_branch: Matches,
}

impl Spoken {
    fn add_to(&self, card: &mut RankedCard) {
        let of = |matches: &Matches| matches.get(&card.note).copied().unwrap_or_default();
        card.relevance.prompt = of(&self.prompted);
        card.relevance.branch = BRANCH * of(&self.of_branch);
    }
}

/// One state of a workspace's index.
pub(crate) struct LocalIndex {
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) index: Index,
}

impl LocalIndex {
    fn found(&self, note: NoteId, card: NoteCard, signal: Signal) -> Result<FoundNote, IndexError> {
        let (uri, concepts) = (uri(&self.workspace, &card), self.index.concepts_of(note)?);
        let NoteCard { modified, .. } = card;
        let (title, excerpt) = match self.workspace.settings.rank.value {
            // The seed's layout knows titles and first sentences alone.
            Ranking::Notes if card.subject.is_some() => {
                (card.shown_title(), self.index.quote(note)?)
            }
            _ => (card.title, card.excerpt),
        };
        Ok(FoundNote { uri, title, excerpt, concepts, modified, signal })
    }

    fn spoken(&self, index: &Index, question: &NotesQuestion<'_>) -> Result<Spoken, IndexError> {
        let prompted = match question.prompt {
            Some(prompt) => index.prompted(prompt, self.workspace.vaults.len())?,
            None => Matches::new(),
        };
        let of_branch = match question.branch.and_then(branch::subject) {
            Some(words) => index.matches(&words)?,
            None => Matches::new(),
        };
        Ok(Spoken { prompted, of_branch })
    }

    /// The ranking of the index, and what prompt and branch add to it.
    fn ranked(
        &self,
        index: &Index,
        question: &NotesQuestion<'_>,
        spoken: &Spoken,
    ) -> Result<Vec<RankedCard>, IndexError> {
        let NotesQuestion { limit, given, .. } = *question;
        let Spoken { prompted, of_branch } = spoken;
        if prompted.is_empty() && of_branch.is_empty() && given.is_none() {
            return index.ranked(limit);
        }
        let mut ranked = index.ranked(usize::MAX)?;
        // What is not in the ranking has at most as much of its own as the last note in there.
        let least = ranked.last().map_or(0.0, |last| last.relevance.activation);
        let known: BTreeSet<NoteId> = ranked.iter().map(|card| card.note).collect();
        let others: BTreeSet<NoteId> = prompted.keys().chain(of_branch.keys()).copied().collect();
        for &note in others.difference(&known) {
            ranked.extend(index.unranked(note)?.map(|mut card| {
                card.relevance.activation = least;
                card
            }));
        }
        ranked.iter_mut().for_each(|card| spoken.add_to(card));
        ranked.sort_by(|a, b| {
            let by_score = b.relevance.score().total_cmp(&a.relevance.score());
            by_score.then_with(|| b.note.cmp(&a.note))
        });
        if let Some(given) = given {
            let worth = match question.prompt {
                Some(prompt) => {
                    index.worth_adding(prompt, prompted, self.workspace.vaults.len())?
                }
                None => Matches::new(),
            };
            ranked.retain(|ranked| {
                worth.contains_key(&ranked.note)
                    && !given.shows(&uri(&self.workspace, &ranked.card))
            });
        }
        ranked.truncate(limit);
        Ok(ranked)
    }

    /// What goes on about a project: what names it comes first, then the newest.
    fn threads(&self, index: &Index, project: Option<&str>) -> Result<Vec<OpenThread>, IndexError> {
        let Some(project) = project.and_then(Concept::parse) else { return Ok(Vec::new()) };
        let mut near = Vec::new();
        for thread in index.threads(MOST_THREADS)? {
            let nearness = index.nearness(thread.note, &project)?;
            if nearness > Nearness::Far {
                near.push((nearness, thread));
            }
        }
        // The sort is stable.
        near.sort_by_key(|(nearness, _)| Reverse(*nearness));
        let open = |ThreadCard { card, at, is_bare, .. }| OpenThread {
            uri: uri(&self.workspace, &card),
            title: card.shown_title(),
            at,
            is_bare,
        };
        Ok(near.into_iter().map(|(_, thread)| open(thread)).collect())
    }

    /// The uncommitted files that notes name, and those notes. `None` if there is nothing to tell them by.
    fn uncommitted(
        &self,
        index: &Index,
        checkout: &Path,
        spoken: &Spoken,
    ) -> Result<Option<Uncommitted>, IndexError> {
        let naming = index.naming_files(MOST_NAMING)?;
        if naming.is_empty() {
            return Ok(None);
        }
        let named = NamedFiles::of(&naming);
        let files = uncommitted(checkout, |path| named.may_have(path));
        let Some(files) = files.filter(|files| files.len() <= MOST_CHANGED) else {
            return Ok(None);
        };
        let gains = gains(&files, &naming, index.totals()?.notes);
        let mut best: Vec<(NoteId, Gain)> =
            gains.into_iter().filter(|(_, gain)| gain.value >= TELLING).collect();
        best.sort_by(|(a, of_a), (b, of_b)| {
            of_b.value.total_cmp(&of_a.value).then_with(|| b.cmp(a))
        });
        best.truncate(MOST_RAISED);
        let mut raised = Vec::new();
        for (note, Gain { value, file }) in best {
            let Some(mut card) = index.any_ranked(note)? else { continue };
            spoken.add_to(&mut card);
            let note = self.ranked_note(index, raised.len(), card, MOST_RAISED)?;
            raised.push(RaisedNote { note, gain: in_thousandths(value), file });
        }
        Ok(Some(Uncommitted { files, raised }))
    }

    /// The note at a place of the ranking, from 0.
    fn ranked_note(
        &self,
        index: &Index,
        place: usize,
        ranked: RankedCard,
        n_passages: usize,
    ) -> Result<RankedNote, IndexError> {
        let RankedCard { note, card, quote, relevance } = ranked;
        let is_bulk = relevance.n_with_it > 0;
        let told = prior::told(&card.path, relevance.prior);
        let signal = Signal::Relevance {
            place: place + 1,
            sessions: relevance.n_sessions,
            age: relevance.age,
            together: relevance.n_with_it,
            short_path: is_bulk && told.is_short_path,
            long_text: is_bulk && told.is_long_text,
            linked: relevance.is_linked,
            prompted: relevance.prompt >= TELLING,
            branch: relevance.branch >= TELLING,
            uncommitted: None,
        };
        let concepts = if place < SPEAKING { index.concepts_of(note)? } else { Vec::new() };
        let passage = if place < n_passages { index.passage(note)? } else { Passage::default() };
        let note = FoundNote {
            uri: uri(&self.workspace, &card),
            modified: card.modified,
            title: card.shown_title(),
            excerpt: quote,
            concepts,
            signal,
        };
        Ok(RankedNote { note, passage, relevance: in_thousandths(relevance.score()) })
    }
}

impl Source for LocalIndex {
    fn search(&self, project: Option<&str>) -> SourceAnswer<Vec<FoundNote>> {
        let Some(project) = project else { return Ok(Vec::new()) };
        Ok(self.index.consistently(|index| {
            let best = best_at_start(&self.workspace, index, project, SEARCHED)?;
            let found = best.into_iter().enumerate().map(|(n, Ranked { note, matched, .. })| {
                self.found(note, index.card(note)?, Signal::Search { place: n + 1, matched })
            });
            found.collect()
        })?)
    }

    fn recent(&self, now: Option<Timestamp>) -> SourceAnswer<Vec<FoundNote>> {
        Ok(self.index.consistently(|index| {
            let question = RecentQuestion::of_last_day(now);
            let newest = newest(&self.workspace, index, question)?.found;
            let found = newest
                .into_iter()
                .enumerate()
                .map(|(n, (note, card))| self.found(note, card, Signal::Recent { place: n + 1 }));
            found.collect()
        })?)
    }

    fn notes(&self, question: &NotesQuestion<'_>) -> SourceAnswer<RankedNotes> {
        Ok(self.index.consistently(|index| {
            let NotesQuestion { limit, n_at_length, checkout, .. } = *question;
            let spoken = self.spoken(index, question)?;
            let ranked = self.ranked(index, question, &spoken)?;
            // With fewer notes than a context could show, there is room for more of each.
            let n_passages = if ranked.len() < limit { limit } else { n_at_length + SEARCHED };
            let ranked = ranked.into_iter().enumerate();
            let notes = ranked.map(|(n, card)| self.ranked_note(index, n, card, n_passages));
            let notes = notes.collect::<Result<_, _>>()?;
            let uncommitted = checkout.map(|checkout| self.uncommitted(index, checkout, &spoken));
            let threads = self.threads(index, question.project)?;
            Ok(RankedNotes { notes, threads, uncommitted: uncommitted.transpose()?.flatten() })
        })?)
    }

    fn around(
        &self,
        concepts: &[FoundConcept],
        Expansion { n_concepts, n_neighbours }: Expansion,
    ) -> SourceAnswer<ConceptDetails> {
        Ok(self.index.consistently(|index| {
            let mut details = ConceptDetails::new();
            for (n, FoundConcept { concept, .. }) in concepts.iter().enumerate() {
                let Some((row, notes)) = index.concept_and_notes(concept)? else { continue };
                let own = index.own_note(concept)?;
                let note = own.map(|card| (uri(&self.workspace, &card), card.excerpt));
                let is_expanded = n < n_concepts;
                let neighbours =
                    if is_expanded { neighbours(index, row, n_neighbours)? } else { Vec::new() };
                details.insert(concept.clone(), ConceptDetail { note, notes, neighbours });
            }
            Ok(details)
        })?)
    }
}

fn in_thousandths(score: f64) -> i64 {
    (score * 1_000.0).round() as i64
}

/// The concepts that share the most notes with one. Ignores the weights that decay daily: a context changes with the
/// notes, not with the clock.
fn neighbours(index: &Index, concept: i64, most: usize) -> Result<Vec<Link>, IndexError> {
    let neighbours = index.neighbours(concept, most, 0)?.into_iter();
    let link = |neighbour: Neighbour| Link { concept: neighbour.name, notes: neighbour.notes };
    Ok(links(neighbours.map(link), most))
}
