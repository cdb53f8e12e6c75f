//! The result of a replay: the recall of each ranking at each budget, and of each session.

use std::collections::BTreeSet;

use serde::{Serialize, Serializer};

use crate::core::context::rank::Ranking;
use crate::core::named::Named;
use crate::core::time::Timestamp;
use crate::core::tokens::encoding::Encoding;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplayReport {
    pub vault: String,
    pub project: String,
    pub encoding: Encoding,
    /// The commits that touch notes.
    pub commits: usize,
    pub sessions_found: usize,
    pub sessions_usable: usize,
    /// The means over all sessions.
    pub rankings: Vec<Recall>,
    pub sessions: Vec<ReplayedSession>,
}

/// What makes a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contender {
    Ranking(Ranking),
    /// The newest notes, for comparison.
    NewestFirst,
}

impl Contender {
    pub const ALL: [Contender; 3] = [
        Contender::Ranking(Ranking::Notes),
        Contender::Ranking(Ranking::Frequency),
        Contender::NewestFirst,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Contender::Ranking(ranking) => ranking.name(),
            Contender::NewestFirst => "recency",
        }
    }
}

impl Serialize for Contender {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// The share of the needed notes that contexts of a size show.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Recall {
    #[serde(rename = "ranking")]
    pub contender: Contender,
    pub tokens: usize,
    #[serde(rename = "recall")]
    pub all: Option<f64>,
    /// Of the cold notes; `None` if there are none.
    #[serde(rename = "coldRecall")]
    pub cold: Option<f64>,
}

#[derive(Debug, Serialize)]
pub struct ReplayedSession {
    pub number: usize,
    pub began: Timestamp,
    /// The number of notes that there were.
    pub notes: usize,
    pub edited: BTreeSet<String>,
    pub linked: BTreeSet<String>,
    pub cold: BTreeSet<String>,
    pub recall: Vec<Recall>,
}

/// The means of the sessions' figures, in the order of each session's.
pub(super) fn recall_by_ranking(sessions: &[ReplayedSession]) -> Vec<Recall> {
    let Some(first) = sessions.first() else { return Vec::new() };
    let means = first.recall.iter().enumerate().map(|(n, recall)| {
        let of_all = |figure: fn(&Recall) -> Option<f64>| {
            mean(sessions.iter().filter_map(|session| figure(&session.recall[n])))
        };
        Recall { all: of_all(|recall| recall.all), cold: of_all(|recall| recall.cold), ..*recall }
    });
    means.collect()
}

fn mean(figures: impl Iterator<Item = f64>) -> Option<f64> {
    let figures: Vec<f64> = figures.collect();
    (!figures.is_empty()).then(|| figures.iter().sum::<f64>() / figures.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_without_cold_notes_does_not_count_among_the_cold() {
        let session = |all, cold| ReplayedSession {
            number: 0,
            began: Timestamp(0),
            notes: 30,
            edited: BTreeSet::new(),
            linked: BTreeSet::new(),
            cold: BTreeSet::new(),
            recall: vec![Recall { contender: Contender::NewestFirst, tokens: 1_000, all, cold }],
        };
        let means = recall_by_ranking(&[session(Some(1.0), None), session(Some(0.5), Some(0.25))]);
        assert_eq!((means[0].all, means[0].cold), (Some(0.75), Some(0.25)));
        assert_eq!(means[0].tokens, 1_000);
    }
}
