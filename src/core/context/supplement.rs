//! A supplement: notes that fit a session's first prompt and that its context does not show. Contexts often go out
//! before anything is asked.
//!
//! It shows no note twice, and only notes that are worth it. Together with the context it never exceeds the session's
//! budget.

use std::collections::BTreeSet;

use crate::core::context::candidate::Line;
use crate::core::context::rank::Ranking;
use crate::core::context::receipt::{Entry, Receipt};
use crate::core::session::Moment;
use crate::core::text::for_model;

/// What a session has before its first prompt.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Given {
    /// The addresses of the notes that its context shows.
    shown: BTreeSet<String>,
    /// The tokens that are left of the session's budget.
    pub left: usize,
}

impl Given {
    /// Reads the receipt of the context that a session started with. `None` if no supplement follows it: it knew the
    /// prompt, or kept no tokens for one.
    pub fn of(receipt: &Receipt) -> Option<Given> {
        let Receipt { moment, ranking, is_prompted, kept_tokens, budget, used, .. } = receipt;
        let is_followed = *moment == Moment::Start
            && *ranking == Ranking::Notes
            && !is_prompted
            && *kept_tokens > 0;
        is_followed.then(|| Given {
            shown: shown(receipt),
            left: (budget.tokens + kept_tokens).saturating_sub(used.tokens),
        })
    }

    pub fn shows(&self, uri: &str) -> bool {
        self.shown.contains(&for_model::one_line(uri))
    }
}

/// The addresses of the shown notes.
fn shown(receipt: &Receipt) -> BTreeSet<String> {
    let shown = receipt.entries.iter().filter(|entry| entry.shown.is_some());
    let address = |entry: &Entry| match &entry.candidate.line {
        Line::Quoted { name, .. } => Some(name.clone()),
        Line::Described { .. } | Line::Connected { .. } => None,
    };
    shown.filter_map(address).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn receipt(changes: Value) -> Receipt {
        let entry = |uri: &str, title: &str, shown: Value| {
            json!({"part": "notes", "line": {"kind": "quoted", "name": uri, "title": title, "quote": "q"},
                   "signals": [{"by": "relevance", "place": 1, "sessions": 1, "age": 0}], "shown": shown})
        };
        let shown = json!({"extent": null, "tokens": 9});
        let mut receipt = json!({
            "session": "s", "moment": "start", "project": "p", "projectKey": "p-1",
            "at": "2026-01-31T12:00:00Z", "delivered": true, "host": "opencode",
            "ranking": "notes", "encoding": "o200k_base",
            "budget": {"tokens": 3_600, "chars": null}, "keptTokens": 400,
            "used": {"tokens": 3_500, "chars": 9_000}, "sha256": "", "parts": [],
            "found": [],
            "entries": [
                entry("memory://a", "b c", shown.clone()),
                entry("memory://d e", "", shown),
                entry("memory://b c", "", json!(null)),
            ],
            "faults": [], "stages": [],
        });
        for (key, value) in changes.as_object().unwrap() {
            receipt[key] = value.clone();
        }
        serde_json::from_value(receipt).unwrap()
    }

    #[test]
    fn what_is_left_and_what_is_shown_follow_from_the_receipt() {
        let given = Given::of(&receipt(json!({}))).unwrap();
        assert_eq!(given.left, 500);
        assert!(given.shows("memory://a") && given.shows("memory://d e"));
        for other in ["memory://b c", "memory://a b c", "memory://d"] {
            assert!(!given.shows(other), "{other}");
        }
    }

    #[test]
    fn a_context_that_knew_the_prompt_or_kept_nothing_is_not_followed_by_a_supplement() {
        for changes in [
            json!({"isPrompted": true}),
            json!({"keptTokens": 0}),
            json!({"ranking": "frequency"}),
            json!({"moment": "compaction:m"}),
            json!({"moment": "prompt"}),
        ] {
            assert_eq!(Given::of(&receipt(changes.clone())), None, "{changes}");
        }
    }
}
