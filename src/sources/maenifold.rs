//! maenifold as a source: chooses which part of maenifold answers about the notes of its memory, and why.

pub mod answers;
mod asker;
pub mod call;
mod cli;
mod client;
pub mod database;
mod memory;
pub mod memory_db;
mod notes;
pub mod replies;

use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

use crate::core::context::found::{ConceptDetails, FoundConcept, FoundNote, SEARCHED};
use crate::core::context::rank::{Expansion, Ranking};
use crate::core::context::receipt::{Fault, FaultSource};
use crate::core::note::vault::Vault;
use crate::core::settings::LinkStyle;
use crate::core::settings::Setting;
use crate::core::source::SourcePreference;
use crate::core::time::Timestamp;
use crate::core::time_limits::MAENIFOLD_DATABASE;
use crate::sources::maenifold::cli::Cli;
pub use crate::sources::maenifold::client::MaenifoldClient;
use crate::sources::maenifold::database::Memory;
use crate::sources::maenifold::memory::memory_of;
use crate::sources::maenifold::memory_db::Stamp;
use crate::sources::recent::RecentQuestion;
use crate::sources::slow::SlowSource;
use crate::sources::source::{Source, SourceAnswer};
use crate::sources::{Chosen, Plan};
use crate::system::maenifold_places::Places;
use crate::system::vault;
use crate::workspace::Place;

/// Chooses the preferred part. `auto` starts no program: it is the index, except that the seed's ranking, which only
/// counts, asks the database while that is up to date with its notes.
pub(super) fn choose(place: &Place, now: Option<Timestamp>, until: Instant) -> Chosen {
    let Setting { value: preference, origin } = &place.settings.source;
    let preferred = format!("{origin} says so");
    let chosen = match (memory_of(place), preference) {
        (Ok(_), SourcePreference::Index) => return Chosen::index(preferred),
        // maenifold does not say which notes a session needs.
        (Ok(_), SourcePreference::Auto) if place.settings.rank.value == Ranking::Notes => {
            return Chosen::index("only the index ranks notes".to_owned());
        }
        (Ok(places), SourcePreference::Auto) => return up_to_date(place, &places, now),
        (Ok(places), SourcePreference::Database) => {
            open_database(place, &places).and_then(|(memory, behind)| {
                let faults = behind.map(|behind| Fault::new(FaultSource::Maenifold, behind));
                let chosen = by_database(place, memory, now, preferred)?;
                Ok(Chosen { faults: Vec::from_iter(faults), ..chosen })
            })
        }
        (Ok(places), SourcePreference::Cli) => {
            Cli::find(place, &places, until).map(|program| by_program(place, program, preferred))
        }
        (Err(because), SourcePreference::Auto | SourcePreference::Index) => {
            return Chosen::index(because);
        }
        (Err(because), SourcePreference::Database | SourcePreference::Cli) => {
            let faults = vec![Fault::new(FaultSource::Maenifold, &because)];
            return Chosen { faults, ..Chosen::index(because) };
        }
    };
    chosen.unwrap_or_else(|reason| {
        let fault = Fault::new(FaultSource::Maenifold, format!("{reason}; this is from the index"));
        Chosen { faults: vec![fault], ..Chosen::index(reason) }
    })
}

/// The database if it knows its notes as they are, otherwise the index.
fn up_to_date(place: &Place, places: &Places, now: Option<Timestamp>) -> Chosen {
    let because = "memory.db is up to date".to_owned();
    let asked = open_database(place, places).and_then(|(memory, behind)| match behind {
        Some(behind) => Ok(Chosen::index(behind)),
        None => by_database(place, memory, now, because),
    });
    asked.unwrap_or_else(|reason| match places.database.exists() {
        true => {
            let faults = vec![Fault::new(FaultSource::Maenifold, &reason)];
            Chosen { faults, ..Chosen::index(reason) }
        }
        false => Chosen::index("there is no memory.db"),
    })
}

/// The database for a session that cannot wait for its first index, however far it is behind its notes.
pub(super) fn before_the_first_index(place: &Place, now: Option<Timestamp>) -> Option<Chosen> {
    if place.settings.source.value != SourcePreference::Auto {
        return None;
    }
    let places = memory_of(place).ok()?;
    let (memory, behind) = open_database(place, &places).ok()?;
    let because = match behind {
        Some(behind) => format!("there is no index yet, and {behind}"),
        None => "there is no index yet".to_owned(),
    };
    by_database(place, memory, now, because).ok()
}

fn by_database(
    place: &Place,
    mut memory: Memory,
    now: Option<Timestamp>,
    because: String,
) -> Result<Chosen, String> {
    let project = place.project.name.as_deref();
    let (search, recent) = consistently(&mut memory, place, |memory| {
        let search = project.map(|project| memory.search(project, SEARCHED)).transpose()?;
        let found = (search.unwrap_or_default(), memory.recent(RecentQuestion::of_last_day(now))?);
        // The seed's layout knows titles and first sentences alone.
        match place.settings.rank.value {
            Ranking::Frequency => Ok(found),
            Ranking::Notes => Ok((memory.retold(found.0)?, memory.retold(found.1)?)),
        }
    })?;
    let source = FromDatabase { search, recent, memory: Mutex::new(memory), place: place.clone() };
    let plan = Plan::Beside(Arc::new(source), Box::new(place.without_memory()));
    Ok(Chosen::new(plan, "database", because))
}

fn by_program(place: &Place, program: Cli, because: String) -> Chosen {
    let slow = SlowSource {
        label: FaultSource::Maenifold,
        until: program.asker.until,
        source: Arc::new(program),
        rest: place.without_memory(),
    };
    Chosen::new(Plan::Slow(Arc::new(slow)), "cli", because)
}

/// Why the index answered before it was known whether maenifold can.
pub(super) fn undecided(preference: SourcePreference) -> (String, Option<Fault>) {
    let because = "it took too long to find out what maenifold knows";
    let is_fault = preference != SourcePreference::Index;
    (because.to_owned(), is_fault.then(|| Fault::new(FaultSource::Maenifold, because)))
}

/// maenifold can write the database without a change of any note.
pub(super) fn state_of(place: &Place) -> impl Debug + use<> {
    memory_of(place).map(|places| Stamp::of(&places.database))
}

/// The database as a source. It has already found the notes.
struct FromDatabase {
    search: Vec<FoundNote>,
    recent: Vec<FoundNote>,
    memory: Mutex<Memory>,
    place: Place,
}

impl Source for FromDatabase {
    fn search(&self, _: Option<&str>) -> SourceAnswer<Vec<FoundNote>> {
        Ok(self.search.clone())
    }

    fn recent(&self, _: Option<Timestamp>) -> SourceAnswer<Vec<FoundNote>> {
        Ok(self.recent.clone())
    }

    fn around(
        &self,
        concepts: &[FoundConcept],
        expansion: Expansion,
    ) -> SourceAnswer<ConceptDetails> {
        let mut memory = self.memory.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let details = |memory: &Memory| memory.details(concepts, expansion);
        Ok(consistently(&mut memory, &self.place, details)?)
    }
}

/// Queries the database, and repeats the query if the database was written meanwhile: such an answer can mix two
/// states, or be a false error.
fn consistently<T>(
    memory: &mut Memory,
    place: &Place,
    question: impl Fn(&Memory) -> Result<T, String>,
) -> Result<T, String> {
    let answer = question(memory);
    if memory.is_unchanged() {
        return answer;
    }
    *memory = Memory::open(&memory_of(place)?, MAENIFOLD_DATABASE)?;
    question(memory)
}

/// Opens the database, with the reason if it is behind its notes.
fn open_database(place: &Place, places: &Places) -> Result<(Memory, Option<String>), String> {
    if !places.database.exists() {
        return Err(format!("there is no {}", places.database.display()));
    }
    let vault = Vault::new("", places.memory.clone(), LinkStyle::Maenifold);
    // Opening reads all rows, which takes as long as listing all files, so both run in parallel.
    let (memory, (listings, _)) = thread::scope(|scope| {
        let walk = || vault::walk(&[vault], place.settings.max_file_bytes.value);
        let listed = scope.spawn(walk);
        let memory = Memory::open(places, MAENIFOLD_DATABASE);
        (memory, listed.join().unwrap_or_default())
    });
    let memory = memory?;
    let behind = memory.behind(&listings);
    Ok((memory, behind.map(|reason| format!("memory.db is behind its notes: {reason}"))))
}
