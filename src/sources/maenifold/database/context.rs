//! Answers "which concepts are around this one?" like maenifold's BuildContext, including decay.

use std::collections::BTreeMap;

use super::{Memory, is_no_secret, reason};
use crate::core::note::NotePath;
use crate::core::note::concept::Concept;
use crate::core::note::decode::{self, Decoded};
use crate::core::note::front_matter;
use crate::core::search::answer::{ContextAnswer, RelatedConcept};
use crate::core::search::nearest;
use crate::core::time::Timestamp;
use crate::sources::context::{ContextQuestion, expand};
use crate::sources::maenifold::memory_db::Edge;
use crate::system::clock;
use crate::system::vault;

/// The length of the part of a file in which front matter is searched.
const FRONT_MATTER_BYTES: u64 = 64 * 1024;
/// The number of files that are named per relation, as in maenifold.
const SHOWN_FILES: usize = 3;
const NANOS_PER_DAY: i64 = 86_400_000_000_000;

/// A relation of a concept, with its current weight.
struct Related {
    edge: Edge,
    uris: Vec<String>,
    score: f64,
}

impl Memory {
    /// Finds the concepts around one.
    pub fn context(&self, question: ContextQuestion<'_>) -> Result<ContextAnswer, String> {
        let ContextQuestion { now, concept: wanted, depth, max_entities } = question;
        let mut answer = ContextAnswer::unknown(wanted);
        let Some(concept) = Concept::parse(wanted) else { return Ok(answer) };
        answer.concept = concept.to_string();
        if !self.database.knows(&concept).map_err(reason)? {
            let known = self.database.concepts().map_err(reason)?;
            answer.nearest = nearest::nearest(&concept, known.into_iter().filter(is_no_secret));
            return Ok(answer);
        }
        answer.known = true;
        let mut weights = Weights::at(self, now.unwrap_or_else(clock::now));
        let direct = self.related(&concept, max_entities, &mut weights)?;
        let names = direct.iter().map(|related| related.edge.concept.clone()).collect();
        let around = |concept: &Concept| -> Result<Vec<(Concept, Concept)>, String> {
            let related = self.related(concept, max_entities, &mut weights)?;
            let names = related.into_iter().map(|related| related.edge.concept);
            Ok(names.map(|name| (name.clone(), name)).collect())
        };
        answer.expanded_concepts = expand(concept, names, depth, max_entities, around)?;
        for Related { edge, uris, .. } in direct {
            for uri in &uris {
                if !answer.file_references.contains(uri) {
                    answer.file_references.push(uri.clone());
                }
            }
            let related = RelatedConcept { name: edge.concept, files: edge.notes, uris };
            answer.related_concepts.push(related);
        }
        Ok(answer)
    }

    /// The relations of a concept: selected by number of shared notes, and only then sorted by the current weight of
    /// these notes.
    fn related(
        &self,
        concept: &Concept,
        limit: usize,
        weights: &mut Weights<'_>,
    ) -> Result<Vec<Related>, String> {
        let edges = self.database.edges(concept, limit, is_no_secret).map_err(reason)?;
        let mut related = Vec::with_capacity(edges.len());
        for edge in edges {
            let mut uris = self.database.notes_behind(&edge).map_err(reason)?;
            let score = f64::from(edge.notes) * weights.mean(&uris);
            uris.retain(|uri| matches!(self.vault.resolve(uri), Some(Ok(_))));
            uris.truncate(SHOWN_FILES);
            related.push(Related { edge, uris, score });
        }
        // Stable, so that ties stay sorted by number of notes and by name.
        related.sort_by(|a, b| b.score.total_cmp(&a.score));
        Ok(related)
    }
}

/// A cache of the weights of notes at one time.
struct Weights<'a> {
    memory: &'a Memory,
    now: Timestamp,
    known: BTreeMap<String, f64>,
}

impl<'a> Weights<'a> {
    fn at(memory: &'a Memory, now: Timestamp) -> Weights<'a> {
        Weights { memory, now, known: BTreeMap::new() }
    }

    /// The mean weight of notes; 1 for an empty list.
    fn mean(&mut self, uris: &[String]) -> f64 {
        if uris.is_empty() {
            return 1.0;
        }
        let sum: f64 = uris.iter().map(|uri| self.weight(uri)).sum();
        sum / uris.len() as f64
    }

    fn weight(&mut self, uri: &str) -> f64 {
        if let Some(&weight) = self.known.get(uri) {
            return weight;
        }
        let path = self.memory.vault.resolve(uri).and_then(Result::ok);
        let weight = path.map_or(1.0, |path| self.weight_of(uri, &path));
        self.known.insert(uri.to_owned(), weight);
        weight
    }

    /// maenifold's own rule: whole days since the note was last read, otherwise since it was created; without either,
    /// no decay.
    fn weight_of(&self, uri: &str, path: &NotePath) -> f64 {
        let place = self.memory.places.get(uri);
        let read = place.and_then(|&place| self.memory.notes[place].row.last_accessed);
        let Some(since) = read.or_else(|| self.created(path)) else { return 1.0 };
        let days = self.now.0.saturating_sub(since.0) / NANOS_PER_DAY;
        let days = i32::try_from(days).unwrap_or(i32::MAX);
        self.memory.decay.weight(path, days)
    }

    /// The creation time in a note's front matter. The database does not store it.
    fn created(&self, path: &NotePath) -> Option<Timestamp> {
        let bytes = vault::read_start(&self.memory.vault, path, FRONT_MATTER_BYTES).ok()?;
        let Decoded::Text(text, _) = decode::decode(bytes) else { return None };
        let (yaml, _) = front_matter::split(&text);
        Timestamp::parse(&front_matter::parse(yaml?).0.created?)
    }
}
