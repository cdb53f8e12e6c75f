//! Relevance: how likely a session needs a note, before anything is known of its prompt.
//!
//! A note that changes in nearly every session leads; one that just changed comes next; a note that changed often last
//! month still beats one that was touched once. Links pass some of this on. No clock: equal histories give equal orders.

pub mod activation;
pub mod branch;
mod dated;
mod generic;
pub mod naming;
pub mod prior;
pub mod prompt;
pub mod telling;
mod token;
pub mod uncommitted;
pub mod walk;

use std::collections::BTreeMap;

use crate::core::relevance::activation::Activation;

/// The weight of the walk over links beside the activation.
const WALK: f64 = 0.2;

/// The reasons for a note's place, as they are added up.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Relevance {
    /// From the sessions in which the note changed.
    pub activation: f64,
    /// From the notes around it.
    pub walk: f64,
    /// From its name, size and folder.
    pub prior: f64,
    /// From the session's prompt.
    pub prompt: f64,
    /// From the words of the branch's name.
    pub branch: f64,
    /// Whether links from notes that changed lead to it.
    pub is_linked: bool,
    /// The number of sessions in which the note changed.
    pub n_sessions: usize,
    /// The number of sessions since its last change.
    pub age: usize,
    /// The number of other notes that changed with it then, if they are too many for a session.
    pub n_with_it: usize,
}

impl Relevance {
    fn new(activation: Option<&Activation>, walk: f64, prior: f64) -> Relevance {
        Relevance {
            activation: activation.map_or(0.0, |of| (1.0 + 100.0 * of.value).ln()),
            walk: WALK * (1.0 + 10_000.0 * walk).ln(),
            prior,
            prompt: 0.0,
            branch: 0.0,
            is_linked: false,
            n_sessions: activation.map_or(0, |of| of.n_sessions),
            age: activation.map_or(0, |of| of.age),
            n_with_it: activation.map_or(0, |of| of.n_with_it),
        }
    }

    pub fn score(self) -> f64 {
        self.activation + self.walk + self.prior + self.prompt + self.branch
    }
}

/// Ranks notes by activation, walk and prior, best first. Of equal notes the larger id, which is the newer note, comes
/// first.
pub fn ranked(
    activations: &BTreeMap<i64, Activation>,
    walk: &BTreeMap<i64, f64>,
    priors: &BTreeMap<i64, f64>,
) -> Vec<(i64, Relevance)> {
    let mut ranked: Vec<(i64, Relevance)> = priors
        .iter()
        .map(|(&note, &prior)| {
            let walk = walk.get(&note).copied().unwrap_or_default();
            (note, Relevance::new(activations.get(&note), walk, prior))
        })
        .collect();
    ranked.sort_by(|(a, of_a), (b, of_b)| {
        of_b.score().total_cmp(&of_a.score()).then_with(|| b.cmp(a))
    });
    ranked
}
