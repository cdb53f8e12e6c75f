//! How contexts grow, compared with a revision or the baseline.

use std::collections::BTreeMap;

use crate::check::contexts::session::SessionContext;
use crate::check::facts::SnapshotFacts;
use crate::check::report::{EntryName, Growth, SessionReport, StaticFile, part_tokens};
use crate::core::context::candidate::Part;
use crate::core::context::receipt::PartUse;

/// The contexts and static files before the change.
#[derive(Debug)]
pub(crate) struct Before {
    pub(crate) sessions: BTreeMap<String, SessionBefore>,
    pub(crate) static_files: BTreeMap<String, usize>,
}

#[derive(Debug, Default)]
pub(crate) struct SessionBefore {
    pub(crate) tokens: usize,
    pub(crate) parts: Vec<PartUse>,
    pub(crate) shown: Vec<EntryName>,
}

impl Before {
    pub(crate) fn of_base(contexts: Vec<SessionContext>, files: Vec<StaticFile>) -> Before {
        let session = |context: SessionContext| {
            let SessionReport { name, used, parts, shown, .. } = context.report;
            (name, SessionBefore { tokens: used.tokens, parts, shown })
        };
        Before {
            sessions: contexts.into_iter().map(session).collect(),
            static_files: files.into_iter().map(|file| (file.path, file.tokens)).collect(),
        }
    }

    /// Sets the growth of sessions. A baseline was measured with notes of one day, so it is
    /// compared with contexts that are measured the same way.
    pub(crate) fn compare(
        &self,
        facts: &SnapshotFacts<'_>,
        contexts: &mut [SessionContext],
        of_one_day: Option<&[SessionReport]>,
    ) {
        for (n, SessionContext { report, .. }) in contexts.iter_mut().enumerate() {
            let Some(before) = self.sessions.get(&report.name) else { continue };
            let measured = of_one_day.and_then(|measured| measured.get(n));
            let mut growth = before.growth(measured.unwrap_or(report), facts);
            if let Some(measured) = measured {
                growth.move_to(measured, report);
            }
            report.growth = Some(growth);
        }
    }

    /// Sets the former tokens of static files, and adds those that were removed.
    pub(crate) fn compare_static_files(&self, files: &mut Vec<StaticFile>) {
        let mut gone = self.static_files.clone();
        for file in files.iter_mut() {
            // A new file had no tokens.
            file.tokens_before = Some(gone.remove(&file.path).unwrap_or(0));
        }
        files.extend(gone.into_iter().map(|(path, before)| StaticFile {
            path,
            tokens: 0,
            limit: None,
            tokens_before: Some(before),
        }));
        files.sort_by(|a, b| a.path.cmp(&b.path));
    }
}

impl SessionBefore {
    fn growth(&self, now: &SessionReport, facts: &SnapshotFacts<'_>) -> Growth {
        let missing = self.shown.iter().filter(|entry| !now.shown.contains(entry)).cloned();
        let (pushed_out, removed) =
            missing.partition(|entry| now.omitted.contains(entry) || facts.has_entry(entry));
        Growth {
            tokens_before: self.tokens,
            parts_before: self.parts.clone(),
            added: now.shown.iter().filter(|entry| !self.shown.contains(entry)).cloned().collect(),
            removed,
            pushed_out,
        }
    }
}

impl Growth {
    /// Transfers a growth that was measured with notes of one day to a session with the notes' real
    /// dates: the difference stays the same.
    fn move_to(&mut self, measured: &SessionReport, shown: &SessionReport) {
        let moved = |before: usize, measured: usize, shown: usize| {
            shown.saturating_add(before).saturating_sub(measured)
        };
        self.tokens_before = moved(self.tokens_before, measured.used.tokens, shown.used.tokens);
        let part = |name| {
            let tokens = |parts: &[PartUse]| part_tokens(parts, name);
            let before = tokens(&self.parts_before);
            PartUse { name, tokens: moved(before, tokens(&measured.parts), tokens(&shown.parts)) }
        };
        self.parts_before =
            Part::ALL.into_iter().map(part).filter(|part| part.tokens > 0).collect();
        // The baseline does not record which notes were recent.
        self.pushed_out.retain(|entry| entry.part != Part::Recent);
    }
}
