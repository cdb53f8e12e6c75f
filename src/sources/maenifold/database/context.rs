//! Answers "which concepts are around this one?" like maenifold's BuildContext, including decay.

use std::collections::BTreeMap;

use super::Memory;
use crate::core::note::NotePath;
use crate::core::note::concept::Concept;
use crate::core::note::decode::{self, Decoded};
use crate::core::note::front_matter;
use crate::core::search::answer::{ContextAnswer, RelatedConcept};
use crate::core::search::nearest;
use crate::core::time::Timestamp;
use crate::sources::context::{ContextQuestion, add_related, expand};
use crate::system::clock;
use crate::system::vault;

/// The length of the part of a file in which front matter is searched.
const FRONT_MATTER_BYTES: u64 = 64 * 1024;
/// The number of files that are named per relation, as in maenifold.
const SHOWN_FILES: usize = 3;
const NANOS_PER_DAY: i64 = 86_400_000_000_000;

impl Memory {
    /// Finds the concepts around one.
    pub fn context(&self, question: ContextQuestion<'_>) -> Result<ContextAnswer, String> {
        let ContextQuestion { now, concept: wanted, depth, max_entities } = question;
        let mut answer = ContextAnswer::unknown(wanted);
        let Some(concept) = Concept::parse(wanted) else { return Ok(answer) };
        answer.concept = concept.to_string();
        if !self.database.knows(&concept)? {
            answer.nearest = nearest::nearest(&concept, self.database.concepts()?.into_iter());
            return Ok(answer);
        }
        answer.known = true;
        let now = now.unwrap_or_else(clock::now);
        let mut weights = Weights { memory: self, now, known: BTreeMap::new() };
        let direct = self.related(&concept, max_entities, &mut weights)?;
        let names = direct.iter().map(|related| related.name.clone()).collect();
        let around = |concept: &Concept| -> Result<Vec<(Concept, Concept)>, String> {
            let related = self.related(concept, max_entities, &mut weights)?;
            Ok(related.into_iter().map(|related| (related.name.clone(), related.name)).collect())
        };
        answer.expanded_concepts = expand(concept, names, depth, max_entities, around)?;
        for related in direct {
            add_related(&mut answer, related);
        }
        let path = |uri: &String| {
            let path = self.vault.resolve(uri)?.ok()?;
            Some((uri.clone(), self.vault.file(path.as_str()).display().to_string()))
        };
        answer.paths = answer.file_references.iter().filter_map(path).collect();
        Ok(answer)
    }

    /// The relations of a concept: selected by number of shared notes, and only then sorted by the current weight of
    /// these notes.
    fn related(
        &self,
        concept: &Concept,
        limit: usize,
        weights: &mut Weights<'_>,
    ) -> Result<Vec<RelatedConcept>, String> {
        let mut related = Vec::new();
        for edge in self.database.edges(concept, limit)? {
            let mut uris = self.database.notes_behind(&edge)?;
            let score = f64::from(edge.notes) * weights.mean(&uris);
            uris.retain(|uri| matches!(self.vault.resolve(uri), Some(Ok(_))));
            uris.truncate(SHOWN_FILES);
            related.push((score, RelatedConcept { name: edge.concept, files: edge.notes, uris }));
        }
        // Stable, so that ties stay sorted by number of notes and by name.
        related.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        Ok(related.into_iter().map(|(_, related)| related).collect())
    }
}

/// A cache of the weights of notes at one time.
struct Weights<'a> {
    memory: &'a Memory,
    now: Timestamp,
    known: BTreeMap<String, f64>,
}

impl Weights<'_> {
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
        let weight = self.decayed(uri).unwrap_or(1.0);
        self.known.insert(uri.to_owned(), weight);
        weight
    }

    /// maenifold's own rule: whole days since the note was last read, otherwise since it was created; without either,
    /// no decay.
    fn decayed(&self, uri: &str) -> Option<f64> {
        let path = self.memory.vault.resolve(uri)?.ok()?;
        let place = self.memory.places.get(uri);
        let read = place.and_then(|&place| self.memory.notes[place].row.last_accessed);
        let since = read.or_else(|| self.created(&path))?;
        let days = self.now.0.saturating_sub(since.0) / NANOS_PER_DAY;
        let days = i32::try_from(days).unwrap_or(i32::MAX);
        Some(self.memory.decay.weight(&path, days))
    }

    /// The creation time in a note's front matter. The database does not store it.
    fn created(&self, path: &NotePath) -> Option<Timestamp> {
        let bytes = vault::read_start(&self.memory.vault, path, FRONT_MATTER_BYTES).ok()?;
        let Decoded::Text(text, _) = decode::decode(bytes) else { return None };
        let (yaml, _) = front_matter::split(&text);
        Timestamp::parse(&front_matter::parse(yaml?).0.created?)
    }
}
