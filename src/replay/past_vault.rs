//! The vault as sessions of the past found it: its notes in a temporary folder, with an index of its own that is brought
//! up to date from session to session. Contexts are built by the code that builds all contexts.

use std::collections::{BTreeSet, HashSet};
use std::io;

use rayon::prelude::*;

use crate::app::inject::inject;
use crate::app::recorder::Recording;
use crate::app::session::Session;
use crate::app::session_handoff::SessionHandoff;
use crate::core::context::rank::Ranking;
use crate::core::context::receipt::Fault;
use crate::core::host::Host;
use crate::core::replay::newest_first::{card, newest_first, pack};
use crate::core::replay::past_notes::PastNotes;
use crate::core::replay::session::PastSession;
use crate::core::replay::shown::{Shown, recall};
use crate::core::replay::step::{Step, Versions};
use crate::core::settings::Settings;
use crate::core::source::SourcePreference;
use crate::core::time::Timestamp;
use crate::core::time_limits;
use crate::replay::history::VaultHistory;
use crate::replay::report::{Contender, Recall, ReplayedSession};
use crate::replay::{ReadContent, ReplayError};
use crate::system::environment::Environment;
use crate::system::temp_vault::TempVault;
use crate::workspace::refresh::{Mode, Patience, refresh};
use crate::workspace::{Place, Request, Workspace};

/// The prefix of folder names; the process id follows.
const PREFIX: &str = "kgctx-replay-";
/// The sizes of contexts, in tokens.
const BUDGETS: [usize; 3] = [1_000, 2_000, 4_000];

pub(super) struct PastVault {
    folder: TempVault,
    place: Place,
    workspace: Workspace,
    versions: Versions,
    n_steps: usize,
}

impl PastVault {
    /// Starts with no notes. The settings are those of the vault's project.
    pub(super) fn new(history: &VaultHistory) -> Result<PastVault, ReplayError> {
        let folder = TempVault::new(PREFIX, &history.project()).map_err(not_written)?;
        let mut place = Place::find(&Request {
            dir: Some(folder.project.clone()),
            vaults: vec![folder.root.clone()],
            home: Some(folder.home()),
            environment: Some(Environment::default()),
            source: Some(SourcePreference::Index),
            // The temporary folder can be in a repository.
            ceiling: Some(folder.folder().to_path_buf()),
            ..Request::default()
        })?;
        let Settings { vaults, source, .. } = place.settings;
        place.settings = Settings { vaults, source, ..history.place.settings.clone() };
        place.settings.enabled.value = true;
        place.settings.links.value = history.links;
        // A slow machine must not change the figures.
        place.settings.deadline_ms.value = time_limits::CHECK.as_millis() as u64;
        let workspace = Workspace::open(place.clone())?;
        Ok(PastVault { folder, place, workspace, versions: Versions::default(), n_steps: 0 })
    }

    /// Brings the vault to the state after these steps, which begin with those of the last call.
    pub(super) fn advance<R: ReadContent>(
        &mut self,
        steps: &[Step],
        notes: &mut PastNotes<R>,
    ) -> Result<(), ReplayError> {
        let mut touched = BTreeSet::new();
        for step in &steps[self.n_steps..] {
            self.versions.apply(step, &mut touched);
        }
        self.n_steps = steps.len();
        let (written, gone): (Vec<&String>, Vec<&String>) =
            touched.iter().partition(|path| self.versions.0.contains_key(*path));
        for path in gone {
            self.folder.remove(path).map_err(not_written)?;
        }
        for path in written {
            let version = &self.versions.0[path];
            let note = notes.note(path, &version.blob)?;
            let at = Timestamp::from_seconds(version.at);
            self.folder.write(path, &note.text, at).map_err(not_written)?;
        }
        refresh(&self.workspace, Mode::Incremental, Patience::Wait, &mut |_, _| {})?;
        Ok(())
    }

    /// Measures the contexts of a session that begins now.
    pub(super) fn replay<R: ReadContent>(
        &self,
        session: &PastSession,
        notes: &mut PastNotes<R>,
    ) -> Result<ReplayedSession, ReplayError> {
        let all = notes.all(&self.versions)?;
        let paths: HashSet<&str> = all.keys().map(String::as_str).collect();
        let began = Timestamp::from_seconds(session.began_at);
        let measure = |(contender, tokens): (Contender, usize)| {
            let context = match contender {
                Contender::Ranking(ranking) => self.context(ranking, tokens, began)?,
                Contender::NewestFirst => {
                    let paths = newest_first(&self.versions).into_iter();
                    let cards = paths.map(|path| card(path, &all[path]));
                    pack(cards, self.place.settings.encoding.value, tokens)
                }
            };
            let shown = Shown::new(&context, &paths);
            let of = |paths: &mut dyn Iterator<Item = &String>| {
                recall(&shown, paths.map(|path| (path.as_str(), all[path].body())))
            };
            let (all, cold) = (of(&mut session.needed()), of(&mut session.cold.iter()));
            Ok(Recall { contender, tokens, all, cold })
        };
        let contexts: Vec<(Contender, usize)> = Contender::ALL
            .into_iter()
            .flat_map(|contender| BUDGETS.map(|tokens| (contender, tokens)))
            .collect();
        let recall: Result<Vec<Recall>, ReplayError> =
            contexts.into_par_iter().map(measure).collect();
        Ok(ReplayedSession {
            number: session.number,
            began,
            notes: all.len(),
            edited: session.edited.clone(),
            linked: session.linked.clone(),
            cold: session.cold.clone(),
            recall: recall?,
        })
    }

    fn context(
        &self,
        ranking: Ranking,
        tokens: usize,
        now: Timestamp,
    ) -> Result<String, ReplayError> {
        let mut place = self.place.clone();
        place.settings.rank.value = ranking;
        let session = Session {
            found: Some(place),
            budget: Some(tokens),
            now: Some(now),
            within: Some(time_limits::CHECK),
            // It was refreshed just before.
            is_watched: true,
            handoff: Some(SessionHandoff::default()),
            ..Session::new("replay", Request::default(), Host::Plain)
        };
        let injection = inject(&session, Recording::Off)?;
        // A context that lacks something would be measured as if nothing else existed.
        match injection.receipt.faults.first() {
            Some(Fault { source, reason }) => {
                let message = format!("no context could be built as of {now}: {source}: {reason}");
                Err(ReplayError::Failed(message))
            }
            None => Ok(injection.text),
        }
    }
}

fn not_written(cause: io::Error) -> ReplayError {
    ReplayError::Failed(format!("cannot write to a temporary folder: {cause}"))
}
