//! What a change does to the contexts of sessions: compared with a revision, or with what was agreed on.

use std::collections::BTreeMap;

use super::scene::Scene;
use super::session::Played;
use crate::domain::check::{EntryName, Growth, StaticFile};
use crate::domain::receipt::PartUse;

/// What there was before.
#[derive(Debug, Default)]
pub(super) struct Before {
    pub(super) sessions: BTreeMap<String, Past>,
    pub(super) static_files: BTreeMap<String, usize>,
}

/// What a session was given before.
#[derive(Debug)]
pub(super) struct Past {
    pub(super) tokens: usize,
    pub(super) parts: Vec<PartUse>,
    pub(super) shown: Vec<EntryName>,
}

impl Before {
    /// What sessions were given in the base.
    pub(super) fn of_base(scene: &Scene<'_>, played: Vec<Played>) -> Before {
        let past = |played: Played| {
            let report = played.report;
            let past =
                Past { tokens: report.used.tokens, parts: report.parts, shown: report.shown };
            (report.name, past)
        };
        let files = scene.statics_before();
        Before {
            sessions: played.into_iter().map(past).collect(),
            static_files: files.into_iter().map(|file| (file.path, file.tokens)).collect(),
        }
    }

    /// Tells sessions and files apart from what they were.
    pub(super) fn compare(&self, played: &mut [Played], static_files: &mut [StaticFile]) {
        for played in played {
            if let Some(past) = self.sessions.get(&played.report.name) {
                played.report.growth = Some(past.growth(played));
            }
        }
        for file in static_files {
            // A file that is new had no tokens.
            file.tokens_before = Some(self.static_files.get(&file.path).copied().unwrap_or(0));
        }
    }
}

impl Past {
    fn growth(&self, now: &Played) -> Growth {
        let shown = &now.report.shown;
        let missing: Vec<&EntryName> =
            self.shown.iter().filter(|entry| !shown.contains(entry)).collect();
        let (pushed_out, removed): (Vec<&EntryName>, Vec<&EntryName>) =
            missing.into_iter().partition(|entry| now.has(entry));
        Growth {
            tokens_before: self.tokens,
            parts_before: self.parts.clone(),
            added: shown.iter().filter(|entry| !self.shown.contains(entry)).cloned().collect(),
            removed: removed.into_iter().cloned().collect(),
            pushed_out: pushed_out.into_iter().cloned().collect(),
        }
    }
}
