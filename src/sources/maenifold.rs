//! maenifold as a source: who is asked about the notes of its memory, and why.

pub mod answers;
pub mod call;
mod cli;
mod client;
pub mod database;
pub mod failure;
pub mod memory_db;
mod notes;
pub mod replies;

use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use crate::core::context::found::{ConceptDetails, FoundConcept, FoundNote, RECENT, SEARCHED};
use crate::core::context::receipt::Fault;
use crate::core::note::vault::Vault;
use crate::core::search::answer::RecentFilter;
use crate::core::settings::{LinkStyle, Origin};
use crate::core::source::{Source, SourceChoice, SourcePreference};
use crate::core::time::{Timespan, Timestamp};
use crate::sources::maenifold::call::Program;
pub(crate) use crate::sources::maenifold::cli::Cli;
pub use crate::sources::maenifold::client::MaenifoldClient;
use crate::sources::maenifold::database::Memory;

use crate::sources::recent::RecentQuestion;
use crate::system::maenifold_places::Places;
#[cfg(unix)]
pub use crate::system::process::reaper::run as watch_over_programs;
use crate::system::vault;
use crate::workspace::Place;

/// A database that is busy is waited for this long.
const PATIENCE: Duration = Duration::from_millis(100);

/// Who is asked about the notes of maenifold's memory.
pub(crate) enum Asked {
    /// The index, as about all other notes.
    Index,
    /// The database, which has answered already.
    Database(Box<FromDatabase>),
    /// The program, which takes its time.
    Program(Box<Cli>),
}

/// What the database answered, and can still be asked.
pub(crate) struct FromDatabase {
    pub(crate) search: Vec<FoundNote>,
    pub(crate) recent: Vec<FoundNote>,
    memory: Mutex<Memory>,
    place: Place,
}

impl FromDatabase {
    fn ask(
        mut memory: Memory,
        place: &Place,
        now: Option<Timestamp>,
    ) -> Result<FromDatabase, String> {
        let question = RecentQuestion {
            now,
            span: Timespan::DAY,
            limit: RECENT,
            filter: RecentFilter::Memory,
        };
        let (search, recent) = asked(&mut memory, place, |memory| {
            let project = place.project.name.as_deref();
            let search = project.map(|project| memory.search(project, SEARCHED)).transpose()?;
            Ok((search.unwrap_or_default(), memory.recent(question)?))
        })?;
        let (memory, place) = (Mutex::new(memory), place.clone());
        Ok(FromDatabase { search, recent, memory, place })
    }

    /// What it knows about found concepts.
    pub(crate) fn details(
        &self,
        ranked: &[FoundConcept],
        n_expanded: usize,
    ) -> Result<ConceptDetails, String> {
        let mut memory = self.memory.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        asked(&mut memory, &self.place, |memory| memory.details(ranked, n_expanded))
    }
}

/// Puts a question to the database, and once more if it was written meanwhile: such an answer may be of two states, or an
/// error that is none.
fn asked<T>(
    memory: &mut Memory,
    place: &Place,
    question: impl Fn(&Memory) -> Result<T, String>,
) -> Result<T, String> {
    let answer = question(memory);
    if memory.is_unchanged() {
        return answer;
    }
    let places = memory_of(place)?;
    *memory = Memory::open(&places, &place.settings, PATIENCE)?;
    question(memory)
}

/// Who is asked, why, and what is wrong with those who are not.
pub(crate) struct Chosen {
    pub(crate) asked: Asked,
    pub(crate) choice: SourceChoice,
    pub(crate) faults: Vec<Fault>,
}

/// That the index alone is asked.
pub(crate) fn index_alone(because: impl Into<String>) -> Chosen {
    let choice = SourceChoice { source: Source::Index, because: because.into() };
    Chosen { asked: Asked::Index, choice, faults: Vec::new() }
}

/// Chooses who is asked about the notes of maenifold's memory: whom the settings name, or else the database if it knows
/// all notes as they are, the program if there is one, and the index otherwise. The program may answer `until` then.
pub(crate) fn choose(place: &Place, now: Option<Timestamp>, until: Instant) -> Chosen {
    let wish = &place.settings.source;
    let wished = format!("{} says so", wish.origin);
    let places = match memory_of(place) {
        Ok(places) if wish.value != SourcePreference::Index => places,
        Ok(_) => return index_alone(wished),
        Err(because) => {
            let mut chosen = index_alone(because);
            if matches!(wish.value, SourcePreference::Database | SourcePreference::Cli) {
                chosen.faults.push(Fault::new("maenifold", &chosen.choice.because));
            }
            return chosen;
        }
    };
    match wish.value {
        SourcePreference::Database => match database(place, &places) {
            Ok((memory, behind)) => match FromDatabase::ask(memory, place, now) {
                Ok(database) => {
                    let asked = Asked::Database(Box::new(database));
                    let mut chosen = by(Source::Database, asked, wished);
                    chosen.faults.extend(behind.map(|behind| Fault::new("maenifold", behind)));
                    chosen
                }
                Err(reason) => failed(reason),
            },
            Err(Unusable::Missing) => failed(format!("there is no {}", places.database.display())),
            Err(Unusable::Broken(reason)) => failed(reason),
        },
        SourcePreference::Cli => match program(place, &places, until) {
            Ok(program) => by(Source::Cli, Asked::Program(Box::new(program)), wished),
            Err(reason) => failed(reason),
        },
        SourcePreference::Auto | SourcePreference::Index => by_itself(place, &places, now, until),
    }
}

/// Chooses where nobody said whom to ask.
fn by_itself(place: &Place, places: &Places, now: Option<Timestamp>, until: Instant) -> Chosen {
    let asked = database(place, places).and_then(|(memory, behind)| match behind {
        Some(behind) => Ok(Err(behind)),
        None => FromDatabase::ask(memory, place, now).map(Ok).map_err(Unusable::Broken),
    });
    let (because, fault) = match asked {
        Ok(Ok(database)) => {
            let because = "memory.db knows all its notes as they are".to_owned();
            return by(Source::Database, Asked::Database(Box::new(database)), because);
        }
        Ok(Err(behind)) => (behind, None),
        Err(Unusable::Missing) => ("there is no memory.db".to_owned(), None),
        Err(Unusable::Broken(reason)) => (reason.clone(), Some(Fault::new("maenifold", reason))),
    };
    let mut chosen = match program(place, places, until) {
        Ok(_) if !is_worth_asking(places) => {
            index_alone(format!("{because}, and maenifold has yet to run for the first time"))
        }
        Ok(_) if failure::is_remembered(&place.directories.cache) => {
            index_alone(format!("{because}, and its program failed less than an hour ago"))
        }
        Ok(program) => by(Source::Cli, Asked::Program(Box::new(program)), because),
        Err(reason) => index_alone(format!("{because}, and {reason}")),
    };
    chosen.faults.extend(fault);
    chosen
}

fn by(source: Source, asked: Asked, because: String) -> Chosen {
    Chosen { asked, choice: SourceChoice { source, because }, faults: Vec::new() }
}

/// Remembers that the program was asked in vain, so that not every session waits for it anew.
pub(crate) fn remember_failure(place: &Place) {
    failure::remember(&place.directories.cache);
}

/// That somebody was asked for who cannot be asked.
fn failed(reason: String) -> Chosen {
    let mut chosen = index_alone(reason.clone());
    chosen.faults.push(Fault::new("maenifold", format!("{reason}; this is from the index")));
    chosen
}

/// Whether the program is asked by who was not told to. If it had to be ended while it unpacks its things, they would stay half
/// unpacked.
fn is_worth_asking(places: &Places) -> bool {
    !places.is_fresh()
}

/// Why the database cannot be asked.
enum Unusable {
    Missing,
    Broken(String),
}

/// Where maenifold's things are, if its memory is among the notes of a place; else why nobody but the index is asked.
pub(crate) fn memory_of(place: &Place) -> Result<Places, String> {
    let settings = &place.settings;
    let mut places = Places::locate(&place.environment).ok_or("there is no home folder")?;
    places.cache = Some(place.directories.cache.clone());
    let mut of_memory = settings.vaults.iter().filter(|vault| vault.value.path == places.memory);
    match of_memory.next_back() {
        Some(vault) if !vault.value.name.is_empty() => {
            let name = &vault.value.name;
            Err(format!("maenifold's memory is called {name} here, which maenifold does not know"))
        }
        Some(_) if settings.links.value == LinkStyle::Obsidian => {
            Err("links = \"obsidian\" names concepts that maenifold does not know".to_owned())
        }
        Some(_) => {
            let others = settings.vaults.iter().filter(|vault| vault.value.path != places.memory);
            // Its notes would be told twice, by two who do not know of each other.
            match others.map(|vault| &vault.value.path).find(|path| places.shares_notes_with(path))
            {
                Some(other) => Err(format!("{} has notes of maenifold's memory", other.display())),
                None => Ok(places),
            }
        }
        // Its program makes the folder when it is first asked.
        None if settings.source.value == SourcePreference::Cli && has_default_vaults(place) => {
            Ok(places)
        }
        None if has_default_vaults(place) => Err("there is no maenifold here".to_owned()),
        None => Err("maenifold's memory is not among the vaults".to_owned()),
    }
}

/// Whether the usual vaults are meant, and not others in their place.
fn has_default_vaults(place: &Place) -> bool {
    let is_replaced =
        |origin: &Origin| matches!(origin, Origin::Flag(_) | Origin::Environment("KGCTX_VAULTS"));
    let settings = &place.settings;
    settings.default_vaults.value && !settings.vaults.iter().any(|vault| is_replaced(&vault.origin))
}

/// Opens the database, and says why it is behind its notes if it is.
fn database(place: &Place, places: &Places) -> Result<(Memory, Option<String>), Unusable> {
    if !places.has_database() {
        return Err(Unusable::Missing);
    }
    let vault = Vault { name: String::new(), root: places.memory.clone() };
    // To open it means to read through all its rows, which takes as long as a look at all files.
    let (memory, (listings, _)) = thread::scope(|scope| {
        let walk = || vault::walk(&[vault], place.settings.max_file_bytes.value);
        let listed = scope.spawn(walk);
        let memory = Memory::open(places, &place.settings, PATIENCE);
        (memory, listed.join().unwrap_or_default())
    });
    let memory = memory.map_err(Unusable::Broken)?;
    let behind = memory.behind(&listings);
    Ok((memory, behind.map(|reason| format!("memory.db is behind its notes: {reason}"))))
}

/// Finds the program.
fn program(place: &Place, places: &Places, until: Instant) -> Result<Cli, String> {
    let program = Program::find(&place.environment).map_err(|error| error.to_string())?;
    let settings = &place.settings;
    let timeout = Duration::from_millis(settings.cli_timeout_ms.value);
    let (links, max_file_bytes) = (settings.links.value, settings.max_file_bytes.value);
    Ok(Cli::new(program, places, (timeout, until), links, max_file_bytes))
}
