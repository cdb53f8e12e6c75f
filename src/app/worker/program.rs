//! maenifold's program beside a worker: asked while the index is looked after, and listened to if it is in time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use super::{Answer, OUR_FAULT, Told, Work};
use crate::core::context::found::{ConceptDetails, Found, NEIGHBOURS, RECENT, SEARCHED};
use crate::core::context::rank::shortlist;
use crate::core::context::receipt::Fault;
use crate::sources::blend;
use crate::sources::maenifold::Cli;
use crate::sources::questions;
use crate::store::index::Index;
use crate::workspace::refresh::{Mode, Patience, refresh};
use crate::workspace::{Place, Workspace};

/// The other notes, and an index over them that is up to date.
type Others = (Workspace, Index);

impl Work {
    /// Asks the program in a thread of its own, and tells what it said together with the index of the other notes.
    pub(super) fn start_program(&self, program: Box<Cli>, place: &Place) {
        let work = self.clone();
        let place = place.without_memory();
        thread::spawn(move || {
            let started = Instant::now();
            let asked = catch_unwind(AssertUnwindSafe(|| work.ask_program(&program, place)));
            work.tell(Told::Took("program", started.elapsed()));
            work.tell(Told::Program(asked.unwrap_or_else(|_| Err(OUR_FAULT.to_owned()))));
        });
    }

    fn ask_program(&self, program: &Cli, place: Place) -> Result<Box<(Found, Vec<Fault>)>, String> {
        let project = place.project.name.clone();
        let others = (!place.settings.vaults.is_empty()).then(|| start_others(place));
        let (search, recent) = program.both(project.as_deref(), self.now);
        let (search, recent) = (search?, recent?);
        let others = match others {
            Some(others) => Some(ready(&others, program.until())?),
            None => None,
        };
        let index = |question: &dyn Fn(&Others) -> Answer<_>| match &others {
            Some(others) => question(others).map_err(|failed| failed.reason),
            None => Ok(Vec::new()),
        };
        let also =
            index(&|(workspace, index)| questions::searched(workspace, index, project.as_deref()))?;
        let search = blend::searched(search, also, SEARCHED);
        let also = index(&|(workspace, index)| questions::recent(workspace, index, self.now))?;
        let recent = blend::recent(recent, also, RECENT);
        let ranked = shortlist(self.ranking, &search, &recent);
        let n_expanded = self.ranking.n_expanded();
        let (details, fault) = program.details(&ranked, n_expanded);
        let of_index = match &others {
            Some((workspace, index)) => questions::details(workspace, index, &ranked, n_expanded)
                .map_err(|failed| failed.reason)?,
            None => ConceptDetails::new(),
        };
        let details = blend::details(details, of_index, NEIGHBOURS);
        let faults = fault.map(|reason| Fault::new("maenifold", reason)).into_iter().collect();
        Ok(Box::new((Found { search, recent, details }, faults)))
    }
}

/// Brings the index of the other notes up to date while the program works.
fn start_others(place: Place) -> Receiver<Result<Others, String>> {
    let (sender, others) = mpsc::channel();
    thread::spawn(move || {
        let (workspace, errors) = Workspace::open_what_answers(place, None);
        let opened = workspace.ok_or_else(|| {
            let reasons: Vec<String> = errors.iter().map(ToString::to_string).collect();
            reasons.join("; ")
        });
        let fresh = opened.and_then(|workspace| {
            let fresh = refresh(&workspace, Mode::Incremental, Patience::Skip, &mut |_, _| {});
            let (index, _) = fresh.map_err(|error| error.to_string())?;
            Ok((workspace, index))
        });
        // Nobody listens any more when it took too long.
        let _ = sender.send(fresh);
    });
    others
}

fn ready(others: &Receiver<Result<Others, String>>, until: Instant) -> Result<Others, String> {
    // Mostly it is there long before the program is.
    let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
    match others.recv_timeout(left) {
        Ok(others) => others,
        Err(_) => Err("the index of the other notes was not ready in time".to_owned()),
    }
}
