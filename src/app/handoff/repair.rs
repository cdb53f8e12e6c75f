//! Repairs a damaged state: makes a new one, and takes in the documents of all projects.

use std::path::PathBuf;

use crate::app::handoff::reconcile::{Finding, take_in};
use crate::app::handoff::{HandoffError, Result};
use crate::core::handoff::HandoffId;
use crate::core::handoff::life::{Actor, Home};
use crate::core::time_limits;
use crate::store::handoff_files::{self, HandoffFiles};
use crate::store::state::Repair;
use crate::system::clock;
use crate::system::directories::Directories;
use crate::workspace::{Place, Request};

/// What a repair did.
#[derive(Debug)]
pub struct RepairedState {
    /// What was wrong with the old state.
    pub cause: String,
    /// Where the old state is now.
    pub aside: PathBuf,
    /// The documents of all projects that the new state knows.
    pub adopted: Vec<HandoffId>,
    /// Documents that could not be taken in.
    pub findings: Vec<Finding>,
    /// Whether `uninstall` still knows what `install` did.
    pub has_installations: bool,
}

/// Repairs the state of this user; `None` if it is not damaged.
pub fn repair_state(request: &Request) -> Result<Option<RepairedState>> {
    let directories = Place::find(request)?.directories;
    let Some(mut repair) = Repair::begin(&directories.state, time_limits::STATE)? else {
        return Ok(None);
    };
    let (mut adopted, mut findings) = (Vec::new(), Vec::new());
    for scope in scopes(&directories)? {
        let files = HandoffFiles::new(&directories, &scope);
        let listed = files.all().map_err(|cause| HandoffError::document(files.folder(), cause))?;
        // Newest first: the older ones are then superseded, as they were before.
        for id in listed.into_iter().rev() {
            // A repair that was killed has taken it in.
            if repair.new.handoff(&scope, id.as_str())?.is_some_and(|known| known.id == id) {
                adopted.push(id);
                continue;
            }
            let was_archived = repair.was_archived(id.as_str());
            let home = Home { scope: &scope, channel: scope.trim_start_matches('@') };
            let actor = Actor { session: None, now_ms: clock::now_ms() };
            match take_in(&mut repair.new, &files, &home, &id, was_archived, &actor) {
                Ok(()) => adopted.push(id),
                Err(error @ HandoffError::Document { .. }) => {
                    findings.push(Finding::of_document(&id, error.to_string()));
                }
                Err(error) => return Err(error),
            }
        }
    }
    let has_installations = repair.take_installations()?;
    let cause = repair.cause.what();
    let aside = repair.finish()?;
    Ok(Some(RepairedState { cause, aside, adopted, findings, has_installations }))
}

fn scopes(directories: &Directories) -> Result<Vec<String>> {
    let listed = handoff_files::scopes(directories);
    listed.map_err(|cause| HandoffError::document(directories.state.join("handoffs"), cause))
}
