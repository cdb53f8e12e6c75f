//! What a change does to the contexts of sessions: compared with a revision, or with what was agreed on.

use std::collections::BTreeMap;

use crate::check::contexts::session::Played;
use crate::check::present::Present;
use crate::check::report::{EntryName, Growth, StaticFile};
use crate::check::snapshot::Scene;
use crate::core::context::candidate::Part;
use crate::core::context::receipt::PartUse;

/// What there was before.
#[derive(Debug, Default)]
pub(crate) struct Before {
    pub(crate) sessions: BTreeMap<String, Past>,
    pub(crate) static_files: BTreeMap<String, usize>,
}

/// What a session was given before.
#[derive(Debug)]
pub(crate) struct Past {
    pub(crate) tokens: usize,
    pub(crate) parts: Vec<PartUse>,
    pub(crate) shown: Vec<EntryName>,
}

impl Before {
    /// What sessions were given in the base.
    pub(crate) fn of_base(scene: &Scene<'_>, played: Vec<Played>) -> Before {
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
    ///
    /// The baseline was measured with notes of one day, and is compared with sessions that are measured like that.
    pub(crate) fn compare(
        &self,
        scene: &Scene<'_>,
        played: &mut [Played],
        of_one_day: Option<&[Played]>,
        static_files: &mut Vec<StaticFile>,
    ) {
        let present = Present::new(scene);
        for (n, played) in played.iter_mut().enumerate() {
            if let Some(past) = self.sessions.get(&played.report.name) {
                let growth = match of_one_day.and_then(|measured| measured.get(n)) {
                    Some(measured) => past.growth(measured, &present).moved_to(measured, played),
                    None => past.growth(played, &present),
                };
                played.report.growth = Some(growth);
            }
        }
        for file in static_files.iter_mut() {
            // A file that is new had no tokens.
            file.tokens_before = Some(self.static_files.get(&file.path).copied().unwrap_or(0));
        }
        let is_gone = |path: &str| !static_files.iter().any(|file| file.path == path);
        let gone = self.static_files.iter().filter(|(path, _)| is_gone(path));
        let gone = gone.map(|(path, &before)| StaticFile {
            path: path.clone(),
            tokens: 0,
            limit: None,
            tokens_before: Some(before),
        });
        let gone: Vec<StaticFile> = gone.collect();
        static_files.extend(gone);
        static_files.sort_by(|a, b| a.path.cmp(&b.path));
    }
}

impl Past {
    fn growth(&self, now: &Played, present: &Present<'_>) -> Growth {
        let shown = &now.report.shown;
        let missing: Vec<&EntryName> =
            self.shown.iter().filter(|entry| !shown.contains(entry)).collect();
        let (pushed_out, removed): (Vec<&EntryName>, Vec<&EntryName>) =
            missing.into_iter().partition(|entry| now.has(entry) || present.has(entry));
        Growth {
            tokens_before: self.tokens,
            parts_before: self.parts.clone(),
            added: shown.iter().filter(|entry| !self.shown.contains(entry)).cloned().collect(),
            removed: removed.into_iter().cloned().collect(),
            pushed_out: pushed_out.into_iter().cloned().collect(),
        }
    }
}

impl Growth {
    /// What was measured with notes of one day, put beside a session with notes of their own days: the difference stays.
    fn moved_to(mut self, measured: &Played, shown: &Played) -> Growth {
        let (measured, shown) = (&measured.report, &shown.report);
        let moved = |before: usize, measured: usize, shown: usize| {
            shown.saturating_add(before).saturating_sub(measured)
        };
        self.tokens_before = moved(self.tokens_before, measured.used.tokens, shown.used.tokens);
        let of = |parts: &[PartUse], name: Part| {
            parts.iter().find(|part| part.name == name).map_or(0, |part| part.tokens)
        };
        let parts = Part::ALL.into_iter().map(|name| PartUse {
            name,
            tokens: moved(
                of(&self.parts_before, name),
                of(&measured.parts, name),
                of(&shown.parts, name),
            ),
        });
        let mut parts: Vec<PartUse> = parts.filter(|part| part.tokens > 0).collect();
        parts.sort_by_key(|part| part.name);
        self.parts_before = parts;
        // Which of many notes are the recent ones was nothing to agree on.
        self.pushed_out.retain(|entry| entry.part != Part::Recent);
        self
    }
}
