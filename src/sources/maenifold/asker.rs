//! Asks maenifold's program, in the time that is left. Knows the program's tools, and nothing of the notes.

use std::num::NonZero;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::core::context::found::{FoundConcept, Link};
use crate::core::note::concept::Concept;
use crate::core::search::answer::RelatedConcept;
use crate::core::time_limits;
use crate::sources::blend::links;
use crate::sources::maenifold::call::{CallError, Program, Tool};
use crate::sources::maenifold::replies;
use crate::system::process::run::RunError;
use crate::system::within::{self, Started};

/// The error of a thread that panicked.
pub(super) const BROKEN: &str = "kgctx crashed; please report it";

/// maenifold's program, and how long it may take.
#[derive(Debug, Clone)]
pub(super) struct Asker {
    pub(super) program: Program,
    /// The limit of one call.
    pub(super) timeout: Duration,
    /// The limit of all calls together.
    pub(super) until: Instant,
}

/// Why a call has no answer.
pub(super) struct Unanswered {
    pub(super) reason: String,
    /// Whether only the time was over.
    pub(super) is_late: bool,
}

impl From<Unanswered> for String {
    fn from(unanswered: Unanswered) -> String {
        unanswered.reason
    }
}

impl From<String> for Unanswered {
    fn from(reason: String) -> Unanswered {
        Unanswered { reason, is_late: false }
    }
}

/// The concepts around one, most shared notes first.
pub(super) type Neighbours = Result<Vec<Link>, Unanswered>;

/// Parses the output of a tool.
pub(super) type Parse<T> = fn(&[u8]) -> Result<Vec<T>, String>;

/// A question about a concept that is on its way before all concepts are known.
pub(super) struct EarlyQuestion {
    concept: Concept,
    answer: Started<Neighbours>,
}

impl Asker {
    pub(super) fn ask<T>(
        &self,
        tool: Tool,
        payload: &Value,
        parse: Parse<T>,
    ) -> Result<Vec<T>, Unanswered> {
        let until = self.until.min(Instant::now() + self.timeout);
        let said = self.program.call(tool, payload, until).map_err(|error| {
            let is_late = matches!(error, CallError::Run(RunError::Late(_)));
            let hint = match is_late && self.timeout < time_limits::MAENIFOLD_SHORTEST_CALL {
                true => {
                    "; CLI_TIMEOUT is in milliseconds here, and in seconds in maenifold's own hooks"
                }
                false => "",
            };
            Unanswered { reason: format!("{tool}: {error}{hint}"), is_late }
        })?;
        Ok(parse(&said).map_err(|error| format!("{tool}: {error}"))?)
    }

    /// The concepts around one, in maenifold's order.
    pub(super) fn related(
        &self,
        concept: &Concept,
        limit: usize,
    ) -> Result<Vec<RelatedConcept>, Unanswered> {
        let payload = json!({
            "conceptName": concept.as_str(), "depth": 1, "maxEntities": limit, "includeContent": false,
        });
        let mut told = self.ask(Tool::BuildContext, &payload, replies::context)?;
        told.retain(|related| related.name != *concept);
        Ok(told)
    }

    fn neighbours(&self, concept: &Concept, most: usize) -> Neighbours {
        let mut related = self.related(concept, most)?;
        related.sort_by(|a, b| a.name.cmp(&b.name).then(b.files.cmp(&a.files)));
        related.dedup_by(|a, b| a.name == b.name);
        let link = |related: RelatedConcept| Link { concept: related.name, notes: related.files };
        Ok(links(related.into_iter().map(link), most))
    }

    /// Asks about a concept without waiting for the answer.
    pub(super) fn ask_early(&self, concept: Concept, most: usize) -> EarlyQuestion {
        let (asker, asked) = (self.clone(), concept.clone());
        EarlyQuestion { concept, answer: within::start(move || asker.neighbours(&asked, most)) }
    }

    /// The neighbours of concepts, in their order: those that are asked about first are the ones that arrive. More calls
    /// at once than there are cores would only make all of them late, and an early question has one until it ends.
    pub(super) fn all_neighbours(
        &self,
        concepts: &[FoundConcept],
        most: usize,
        early: Option<EarlyQuestion>,
    ) -> Vec<Neighbours> {
        let is_early = |found: &FoundConcept| {
            early.as_ref().is_some_and(|early| early.concept == found.concept)
        };
        let place_of_early = concepts.iter().position(is_early);
        let next = AtomicUsize::new(0);
        let answers: Vec<OnceLock<Neighbours>> = concepts.iter().map(|_| OnceLock::new()).collect();
        let ask = |early: Option<EarlyQuestion>| {
            if let Some(answer) = early.and_then(|early| early.answer.wait())
                && let Some(n) = place_of_early
            {
                let _ = answers[n].set(answer);
            }
            while let Some((n, found)) = {
                let n = next.fetch_add(1, Ordering::Relaxed);
                concepts.get(n).map(|found| (n, found))
            } {
                if Some(n) != place_of_early {
                    let _ = answers[n].set(self.neighbours(&found.concept, most));
                }
            }
        };
        let ask = &ask;
        thread::scope(|scope| {
            scope.spawn(move || ask(early));
            for _ in 1..n_cores().min(concepts.len()) {
                scope.spawn(move || ask(None));
            }
        });
        let broken = || Err(BROKEN.to_owned().into());
        answers.into_iter().map(|answer| answer.into_inner().unwrap_or_else(broken)).collect()
    }
}

pub(super) fn n_cores() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}
