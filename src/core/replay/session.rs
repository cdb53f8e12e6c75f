//! The sessions of a history: runs of commits, and the notes that each went on to need.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::core::replay::links::{LinkTargets, PastLink, links};
use crate::core::replay::past_notes::PastNotes;
use crate::core::replay::step::{Blob, NoteChange, Step, Versions};

/// Commits further apart belong to different sessions.
const GAP_SECONDS: i64 = 4 * 3_600;
/// A session began so long before its first commit.
const HEAD_START_SECONDS: i64 = 30 * 60;
/// The first sessions fill the vault.
const WARM_UP: usize = 10;
/// In a smaller vault nothing has to be chosen.
pub const LEAST_NOTES: usize = 30;
/// A session that edits more is a change in bulk, which no context can prepare for.
const MOST_EDITED: usize = 20;
const MOST_NEEDED: usize = 30;
/// A note is cold if so many sessions before did not edit it.
const COLD_SESSIONS: usize = 3;

/// A session of the past that can be replayed. Paths are those before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastSession {
    /// Its place among all sessions, from 0.
    pub number: usize,
    pub steps: Range<usize>,
    /// When it began, in seconds.
    pub began_at: i64,
    /// The notes whose text it changed.
    pub edited: BTreeSet<String>,
    /// The other notes that it newly linked to.
    pub linked: BTreeSet<String>,
    /// The needed notes that the sessions just before did not edit: to list the newest notes does not find them.
    pub cold: BTreeSet<String>,
}

impl PastSession {
    pub fn needed(&self) -> impl Iterator<Item = &String> {
        self.edited.iter().chain(&self.linked)
    }
}

/// The sessions of a history.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PastSessions {
    /// The number of all sessions.
    pub n_all: usize,
    /// Those that can be replayed.
    pub usable: Vec<PastSession>,
}

impl PastSessions {
    /// Finds all sessions. Calls `progress` with the number of finished steps.
    pub fn find<E, R: FnMut(&Blob) -> Result<Vec<u8>, E>>(
        steps: &[Step],
        notes: &mut PastNotes<R>,
        progress: &mut dyn FnMut(usize),
    ) -> Result<PastSessions, E> {
        let mut found = PastSessions::default();
        let mut versions = Versions::default();
        let mut history: Vec<BTreeSet<String>> = Vec::new();
        for (number, range) in runs(steps).into_iter().enumerate() {
            progress(range.start);
            let before = versions.clone();
            let mut touched = BTreeSet::new();
            for step in &steps[range.clone()] {
                versions.apply(step, &mut touched);
            }
            let change = Change {
                origins: origins(&steps[range.clone()], &before),
                before,
                after: &versions,
            };
            let edited = change.edited(notes)?;
            let n_notes = change.before.0.len();
            let is_usable = number >= WARM_UP
                && n_notes >= LEAST_NOTES
                && (1..=MOST_EDITED).contains(&edited.len());
            if is_usable {
                let linked = change.linked(&touched, notes)?;
                let linked: BTreeSet<String> = linked.difference(&edited).cloned().collect();
                let recent = &history[history.len().saturating_sub(COLD_SESSIONS)..];
                let is_cold = |path: &&String| !recent.iter().any(|edited| edited.contains(*path));
                let cold = edited.iter().chain(&linked).filter(is_cold).cloned().collect();
                let began_at = began_at(steps, range.start);
                let edited = edited.clone();
                let session = PastSession { number, steps: range, began_at, edited, linked, cold };
                found.usable.extend((session.needed().count() <= MOST_NEEDED).then_some(session));
            }
            history.push(edited);
        }
        found.n_all = history.len();
        Ok(found)
    }

    /// At most so many of the usable sessions, evenly spread.
    pub fn spread(&self, most: usize) -> Vec<&PastSession> {
        let n = self.usable.len();
        match n <= most {
            true => self.usable.iter().collect(),
            false => (0..most).map(|i| &self.usable[i * n / most]).collect(),
        }
    }
}

/// The steps of each session.
fn runs(steps: &[Step]) -> Vec<Range<usize>> {
    let mut at = 0;
    let runs = steps.chunk_by(|step, next| next.at - step.at <= GAP_SECONDS).map(|run| {
        at += run.len();
        at - run.len()..at
    });
    runs.collect()
}

/// When a session with this first step began: after the last one.
fn began_at(steps: &[Step], first: usize) -> i64 {
    let last = first.checked_sub(1).map_or(0, |last| steps[last].at);
    (steps[first].at - HEAD_START_SECONDS).max(last + 1)
}

/// Where the notes after some steps came from: the path before, by the path now.
fn origins(steps: &[Step], before: &Versions) -> BTreeMap<String, String> {
    let mut origins: BTreeMap<String, String> =
        before.0.keys().map(|path| (path.clone(), path.clone())).collect();
    for change in steps.iter().flat_map(|step| &step.changes) {
        if let NoteChange::Moved { from, to, .. } = change
            && let Some(origin) = origins.remove(from)
        {
            origins.insert(to.clone(), origin);
        }
    }
    origins
}

/// What a session did.
struct Change<'a> {
    before: Versions,
    after: &'a Versions,
    origins: BTreeMap<String, String>,
}

impl Change<'_> {
    /// The notes whose words changed. A note that was moved counts with any change.
    fn edited<E, R: FnMut(&Blob) -> Result<Vec<u8>, E>>(
        &self,
        notes: &mut PastNotes<R>,
    ) -> Result<BTreeSet<String>, E> {
        let mut edited = BTreeSet::new();
        for (path, origin) in &self.origins {
            let (Some(old), Some(new)) = (self.before.0.get(origin), self.after.0.get(path)) else {
                continue;
            };
            if old.blob == new.blob {
                continue;
            }
            let is_edited = path != origin || {
                let old = notes.note(origin, &old.blob)?;
                notes.note(path, &new.blob)?.has_other_words(&old)
            };
            if is_edited {
                edited.insert(origin.clone());
            }
        }
        Ok(edited)
    }

    /// The notes that were there before and are newly linked to.
    fn linked<E, R: FnMut(&Blob) -> Result<Vec<u8>, E>>(
        &self,
        touched: &BTreeSet<String>,
        notes: &mut PastNotes<R>,
    ) -> Result<BTreeSet<String>, E> {
        let all = notes.all(&self.before)?;
        let targets = LinkTargets::new(&all);
        let mut linked = BTreeSet::new();
        for path in touched {
            let Some(version) = self.after.0.get(path) else { continue };
            let origin = self.origins.get(path).map(String::as_str);
            let old_links = origin.and_then(|path| all.get(path)).map(|note| links(&note.text));
            let resolve = |link: &PastLink, source: &str| targets.resolve(link, source);
            let before: BTreeSet<&str> = origin
                .zip(old_links.as_ref())
                .into_iter()
                .flat_map(|(source, links)| {
                    links.iter().filter_map(move |link| resolve(link, source))
                })
                .collect();
            for link in links(&notes.note(path, &version.blob)?.text) {
                let target = resolve(&link, path);
                let is_new = |target: &&str| !before.contains(target) && Some(*target) != origin;
                linked.extend(target.filter(is_new).map(str::to_owned));
            }
        }
        Ok(linked)
    }
}

#[cfg(test)]
mod tests;
