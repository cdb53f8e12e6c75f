//! Takes in handoffs of other programs: files, or what waits in a program's own store, which stays as it is. Each is
//! taken in once, however often it is found.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::app::handoff::{Created, HandoffError, Handoffs, Result};
use crate::app::session_handoff::root_of_files;
use crate::core::handoff::document;
use crate::core::handoff::foreign::{self, ForeignHandoff, Incoming, LeftOut, WhyLeftOut};
use crate::core::handoff::life::{self, HandoffEvent, Home, StepFacts};
use crate::core::handoff::record::HandoffRecord;
use crate::core::handoff::tool::Tool;
use crate::core::handoff::{HandoffId, Head, Kind, Priority, Status};
use crate::core::secrets;
use crate::core::time::Timestamp;
use crate::hosts::handoff_stores;
use crate::store::handoff_files::{HandoffFiles, MAX_BYTES};
use crate::store::state::{State, StateError};
use crate::system::breakpoint;
use crate::system::clock;
use crate::system::user_input;

/// The manifests of claude-auto-handoff are no handoffs.
const MANIFEST: &str = ".manifest.json";

/// The result of an import, or what it would be.
#[derive(Debug, Default)]
pub struct Imported {
    /// Oldest first; files in the order in which they were named.
    pub handoffs: Vec<ImportedHandoff>,
    /// The number of handoffs that were imported earlier.
    pub n_known: usize,
    pub left_out: Vec<LeftOut>,
    pub warnings: Vec<String>,
    /// The handoffs that could not be imported, with reasons.
    pub failed: Vec<String>,
    is_dry_run: bool,
    /// What would wait for the next session by now, in a dry run.
    would_wait: Option<HandoffRecord>,
    /// The time of the last one, as it was written and as it was stored.
    last: Option<(Timestamp, Timestamp)>,
}

#[derive(Debug, Serialize)]
pub struct ImportedHandoff {
    /// `None` in a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<HandoffId>,
    /// The id in the other tool.
    pub source_id: String,
    pub status: Status,
    pub kind: Kind,
    pub priority: Priority,
    /// Without secrets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
}

impl Imported {
    /// The time under which a handoff is stored. Those of the same moment keep the order in which they come.
    fn in_order(&mut self, written: Timestamp) -> Timestamp {
        // The state knows milliseconds.
        let ms = Timestamp::milliseconds;
        let is_taken = |(first, last): &(Timestamp, Timestamp)| {
            (ms(*first)..=ms(*last)).contains(&ms(written))
        };
        let (first, stored) = match self.last.filter(is_taken) {
            Some((first, last)) => (first, Timestamp::from_milliseconds(ms(last) + 1)),
            None => (written, written),
        };
        self.last = Some((first, stored));
        stored
    }
}

impl Handoffs {
    /// Imports files, and recognises who wrote them.
    pub fn import_files(&mut self, paths: &[PathBuf], is_dry_run: bool) -> Result<Imported> {
        let mut imported = Imported { is_dry_run, ..Imported::default() };
        for path in paths {
            match read_file(path).and_then(|found| Incoming::read(None, found)) {
                Ok(incoming) => self.take_in(incoming, &mut imported)?,
                Err(error) => imported.failed.push(error),
            }
        }
        self.finish(imported)
    }

    /// Imports what waits in the store of a program for this project.
    pub fn import_from(&mut self, tool: Tool, is_dry_run: bool) -> Result<Imported> {
        let (project, environment) = (&self.place.project, &self.place.environment);
        let store = handoff_stores::look(tool, project, environment, clock::now());
        if store.folders.is_empty() && store.failed.is_empty() {
            let places = handoff_stores::places(tool, project, environment);
            let places: Vec<_> = places.iter().map(|place| place.display().to_string()).collect();
            return Err(HandoffError::No(format!(
                "{} has left nothing for this project: {} does not exist",
                tool.title(),
                places.join(" and no ")
            )));
        }
        let (left_out, failed, warnings) = (store.left_out, store.failed, store.remarks);
        let mut imported =
            Imported { is_dry_run, left_out, failed, warnings, ..Imported::default() };
        let mut waiting = Vec::new();
        for found in store.waiting {
            match Incoming::read(Some(tool), found) {
                Ok(incoming) => waiting.push(incoming),
                Err(error) => imported.failed.push(error),
            }
        }
        // Of those for the next session, each then supersedes the one before.
        foreign::oldest_first(&mut waiting);
        for incoming in waiting {
            self.take_in(incoming, &mut imported)?;
        }
        self.finish(imported)
    }

    fn take_in(&mut self, incoming: Incoming, imported: &mut Imported) -> Result<()> {
        let files = self.files(&self.scope);
        if is_known(&self.state, &files, &self.scope, &incoming)? {
            imported.n_known += 1;
            return Ok(());
        }
        let origin = incoming.origin();
        let Incoming { source_id, path, written, mut document, warnings, .. } = incoming;
        imported.warnings.extend(warnings);
        let head = &mut document.head;
        head.created_at = Some(imported.in_order(written));
        self.fill_in(head, written);
        head.source_id = Some(source_id.clone());
        let folder = || Some(root_of_files(&self.place.project)?.to_string_lossy().into_owned());
        head.working_dir = head.working_dir.take().or_else(folder);
        if self.would_only_displace(head, imported)? {
            imported.left_out.push(LeftOut { source_id, why: WhyLeftOut::Expired });
            return Ok(());
        }
        let (kind, priority) = (head.kind, head.priority);
        let goal = head.goal.as_deref().map(|goal| secrets::mask(goal).into_owned());
        let (id, status) = match imported.is_dry_run {
            true => (None, self.foresee(head, imported)?),
            false => match self.store_once(document, origin.as_deref()) {
                Ok(Some(Created { id, status, .. })) => (Some(id), status),
                // Another process was faster.
                Ok(None) => {
                    imported.n_known += 1;
                    return Ok(());
                }
                // A handoff that is too long does not block the others.
                Err(error @ HandoffError::TooLong(_)) => {
                    imported.failed.push(format!("{}: {error}", path.display()));
                    return Ok(());
                }
                Err(error) => return Err(error),
            },
        };
        breakpoint::reach("import:taken");
        imported.handoffs.push(ImportedHandoff { id, source_id, status, kind, priority, goal });
        Ok(())
    }

    /// What would become of a handoff. Writes nothing.
    fn foresee(&self, head: &Head, imported: &mut Imported) -> Result<Status> {
        let waiting = self.waiting(imported)?;
        let (actor, created) = (self.actor(), head.created_at.unwrap_or_else(clock::now));
        let facts =
            StepFacts { actor: &actor, pid: 0, waiting: waiting.as_ref(), is_author_over: false };
        let home = Home { scope: &self.scope, channel: &self.channel };
        let id = HandoffId::new(created, head.session_id.as_deref(), 1);
        let draft = life::draft(id, &home, head, created, None, &facts).record;
        let last = life::step(&draft, HandoffEvent::Written, &facts).pop();
        let record = last.map_or(draft, |change| change.record);
        let status = record.status.clone();
        if record.kind == Kind::Session && status == Status::Active {
            for before in imported.handoffs.iter_mut().filter(|one| one.kind == Kind::Session) {
                before.status = Status::Cleared;
            }
            imported.would_wait = Some(record);
        }
        Ok(status)
    }

    /// What waits for the next session, or would by now.
    fn waiting(&self, imported: &Imported) -> Result<Option<HandoffRecord>> {
        match &imported.would_wait {
            Some(record) => Ok(Some(record.clone())),
            None => Ok(self.state.current_handoff(&self.scope)?),
        }
    }

    /// Whether a handoff is too old to be given to a session, and would take the place of one that is not.
    fn would_only_displace(&self, head: &Head, imported: &Imported) -> Result<bool> {
        let now = clock::now();
        if head.kind == Kind::Task || head.expires_at.is_none_or(|at| at >= now) {
            return Ok(false);
        }
        let max_age = self.place.settings.handoff.max_age();
        let waiting = self.waiting(imported)?;
        Ok(waiting.is_some_and(|waiting| !waiting.is_too_old(max_age, now)))
    }

    /// Tells what has become of each when all are taken in.
    fn finish(&self, mut imported: Imported) -> Result<Imported> {
        if imported.handoffs.iter().any(|one| one.id.is_some()) {
            let records = self.state.list_handoffs(&self.scope)?;
            for one in &mut imported.handoffs {
                let now = records.iter().find(|record| Some(&record.id) == one.id.as_ref());
                one.status = now.map_or(one.status.clone(), |record| record.status.clone());
            }
        }
        Ok(imported)
    }
}

/// Reads a file that the user named.
fn read_file(path: &Path) -> std::result::Result<ForeignHandoff, String> {
    if path.to_string_lossy().ends_with(MANIFEST) {
        return Err(format!(
            "{} is a manifest, not a handoff; `kgctx handoff import --from claude-auto-handoff` imports the handoffs \
            that it lists",
            path.display()
        ));
    }
    let bytes = user_input::read_file(path, MAX_BYTES)?.into_bytes();
    let modified = user_input::modified(path).unwrap_or_else(clock::now);
    Ok(ForeignHandoff { name: None, path: path.to_path_buf(), bytes, modified })
}

/// Whether a handoff was imported earlier. Also finds one of our own documents, by its id.
pub(crate) fn is_known(
    state: &State,
    files: &HandoffFiles,
    scope: &str,
    incoming: &Incoming,
) -> Result<bool, StateError> {
    if let Some(origin) = incoming.origin()
        && state.is_imported(scope, &origin)?
    {
        return Ok(true);
    }
    let Some(newest) = state.handoff(scope, &incoming.source_id)? else { return Ok(false) };
    if incoming.tool != Some(Tool::Amplifier) {
        return Ok(true);
    }
    // A session can leave several, and earlier versions of kgctx did not write down which one they took.
    let has_text = |record: &HandoffRecord| {
        let read = files.read(&record.id).ok().and_then(|bytes| document::read(&bytes).ok());
        read.is_some_and(|read| read.document.body == incoming.document.body)
    };
    let of_session = |record: &&HandoffRecord| record.source_id == newest.source_id;
    Ok(state.list_handoffs(scope)?.iter().filter(of_session).any(has_text))
}
