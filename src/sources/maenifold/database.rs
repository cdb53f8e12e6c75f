//! maenifold's database as a source: answers the three questions from `memory.db` alone.

mod context;
mod names;
mod search;

use std::collections::HashMap;
use std::time::Duration;

use crate::core::context::found::{
    ConceptDetail, ConceptDetails, FoundConcept, FoundNote, Link, NEIGHBOURS, Signal,
};
use crate::core::note::concept::Concept;
use crate::core::note::freshness::Decay;
use crate::core::note::listing::FolderListing;
use crate::core::note::markdown;
use crate::core::note::vault::Vault;
use crate::core::note::{NotePath, Remarks};
use crate::core::search::answer::{RecentAnswer, RecentItem};
use crate::core::secrets;
use crate::core::settings::{LinkStyle, Setting, Settings, VaultSpec};
use crate::core::text::for_model;
use crate::core::time::Timestamp;
use crate::sources::maenifold::memory_db::{Database, DatabaseError, FileRow};

use crate::sources::recent::{RecentQuestion, admits};
use crate::system::clock;
use crate::system::maenifold_places::Places;
use crate::system::vault;

use names::Names;

/// The length of the text in which the first sentence of a note is searched.
const EXCERPT_SOURCE_CHARS: usize = 4 * 1024;

/// maenifold's memory as its database knows it at one moment. Serves one set of questions; do not keep it open.
pub struct Memory {
    database: Database,
    vault: Vault,
    links: LinkStyle,
    decay: Decay,
    /// Oldest first: the position of a note is its position in time, as in the index.
    notes: Vec<KnownNote>,
    places: HashMap<String, Place>,
    by_row: HashMap<i64, Place>,
    names: Names,
}

/// The position of a note in [`Memory::notes`], in order of time.
type Place = usize;

/// A note that the database knows.
struct KnownNote {
    row: FileRow,
    path: NotePath,
}

impl KnownNote {
    fn title(&self) -> &str {
        match &self.row.title {
            Some(title) if !title.trim().is_empty() => title,
            _ => self.path.stem(),
        }
    }

    fn folder(&self) -> &str {
        self.path.as_str().rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// When the file was last written, as far as the database knows; 1970 if it does not.
    fn modified(&self) -> Timestamp {
        self.row.last_indexed.unwrap_or(Timestamp(0))
    }
}

impl Memory {
    /// Opens the database, and reads which notes it knows.
    pub fn open(
        places: &Places,
        settings: &Settings,
        patience: Duration,
    ) -> Result<Memory, String> {
        let spec = VaultSpec { name: String::new(), path: places.memory.clone() };
        let vault = vault::open(&Setting { value: spec, origin: places.origin.clone() })
            .map_err(|error| error.to_string())?;
        let database = Database::open(&places.database, patience, places.cache.as_deref());
        let database = database.map_err(reason)?;
        let mut notes: Vec<KnownNote> = database
            .files()
            .map_err(reason)?
            .into_iter()
            .filter_map(|row| {
                let path = vault.resolve(&row.uri)?.ok()?;
                Some(KnownNote { row, path })
            })
            .collect();
        notes.sort_by(|a, b| {
            let (a_path, b_path) = (a.path.as_str(), b.path.as_str());
            let by_time = a.row.last_indexed.cmp(&b.row.last_indexed);
            by_time.then_with(|| a.folder().cmp(b.folder())).then_with(|| a_path.cmp(b_path))
        });
        let number = |(place, note): (Place, &KnownNote)| (note.row.uri.clone(), place);
        Ok(Memory {
            places: notes.iter().enumerate().map(number).collect(),
            by_row: notes.iter().enumerate().map(|(place, note)| (note.row.row, place)).collect(),
            names: Names::of(&notes),
            links: settings.links.value,
            decay: places.decay,
            database,
            vault,
            notes,
        })
    }

    /// Whether all answers so far are from one state. If not, the database was written meanwhile: open it and ask
    /// again.
    pub fn is_unchanged(&self) -> bool {
        self.database.is_unchanged()
    }

    /// Why the database is behind its files, compared with these listings; `None` if it is up to date.
    pub fn behind(&self, listings: &[FolderListing]) -> Option<String> {
        if self.database.is_behind_its_log() {
            return Some("its log cannot be read: its folder is not writable".to_owned());
        }
        let (mut newer, mut unknown, mut gone) = (0, 0, 0);
        let mut is_listed = vec![false; self.notes.len()];
        let mut uri = String::new();
        for listing in listings {
            for file in &listing.files {
                uri.clear();
                uri.push_str(crate::core::note::vault::SCHEME);
                if !listing.folder.is_empty() {
                    uri.extend([listing.folder.as_str(), "/"]);
                }
                uri.push_str(file.name.strip_suffix(".md").unwrap_or(&file.name));
                let Some(&place) = self.places.get(&uri) else {
                    unknown += 1;
                    continue;
                };
                is_listed[place] = true;
                // .NET counts in steps of 100 nanoseconds.
                let is_same = self.notes[place].row.last_indexed.is_some_and(|known| {
                    known.0.div_euclid(100) == file.stamp.mtime.0.div_euclid(100)
                });
                newer += u64::from(!is_same);
            }
        }
        let others = self.notes.iter().zip(is_listed).filter(|(_, is_listed)| !is_listed);
        for (note, _) in others {
            // maenifold's notes include hidden files and those that git ignores, which are not listed here.
            gone += u64::from(!vault::has(&self.vault, &note.path));
        }
        let notes = |n: u64| if n == 1 { "1 note is".to_owned() } else { format!("{n} notes are") };
        let mut reasons = Vec::new();
        if newer > 0 {
            reasons.push(format!("{} newer than it", notes(newer)));
        }
        if unknown > 0 {
            reasons.push(format!("{unknown} it does not know"));
        }
        if gone > 0 {
            reasons.push(format!(
                "{gone} that it knows {} gone",
                if gone == 1 { "is" } else { "are" }
            ));
        }
        (!reasons.is_empty()).then(|| reasons.join(", "))
    }

    /// The recently written notes, newest first.
    pub fn recent(&self, question: RecentQuestion) -> Result<Vec<FoundNote>, String> {
        let (newest, _) = self.newest(question);
        let found = newest.into_iter().enumerate();
        found.map(|(n, place)| self.found(place, Signal::Recent { place: n + 1 })).collect()
    }

    /// Like [`Memory::recent`], in the form of an answer for a person.
    pub fn recent_answer(&self, question: RecentQuestion) -> Result<RecentAnswer, String> {
        let now = question.now.unwrap_or_else(clock::now);
        let (newest, older) = self.newest(question);
        let item = |place: Place| -> Result<RecentItem, String> {
            let note = &self.notes[place];
            Ok(RecentItem {
                uri: note.row.uri.clone(),
                title: note.title().to_owned(),
                modified: note.modified(),
                concepts: self.concepts_of(place)?,
            })
        };
        let newest_older = older.filter(|_| newest.is_empty()).map(item).transpose()?;
        let items = newest.into_iter().map(item).collect::<Result<_, _>>()?;
        Ok(RecentAnswer { now, items, newest_older })
    }

    /// The notes that are recent enough, newest first. Also the newest older note, if the filter admits it.
    fn newest(&self, question: RecentQuestion) -> (Vec<Place>, Option<Place>) {
        let RecentQuestion { now: asked_for_now, span, limit, filter } = question;
        let since = asked_for_now.unwrap_or_else(clock::now).before(span);
        let mut found = Vec::new();
        let dated = self.notes.iter().enumerate().rev();
        for (place, note) in dated.filter(|(_, note)| note.row.last_indexed.is_some()) {
            let is_admitted = admits(filter, &note.row.uri);
            if note.modified() < since {
                return (found, is_admitted.then_some(place));
            }
            // At the given time, later changes had not happened yet.
            let is_later = asked_for_now.is_some_and(|now| note.modified() > now);
            if found.len() == limit {
                break;
            }
            if is_admitted && !is_later {
                found.push(place);
            }
        }
        (found, None)
    }

    /// What the database knows about found concepts, with the neighbours of the best ones.
    ///
    /// Ignores the weights that decay daily: a context changes with the notes, not with the clock.
    pub fn details(
        &self,
        ranked: &[FoundConcept],
        n_expanded: usize,
    ) -> Result<ConceptDetails, String> {
        let mut details = ConceptDetails::new();
        for (n, FoundConcept { concept, .. }) in ranked.iter().enumerate() {
            let notes = self.database.notes_of(concept).map_err(reason)?;
            if notes == 0 {
                continue;
            }
            let note = match self.names.own_note(concept) {
                Some(place) => Some((self.notes[place].row.uri.clone(), self.excerpt(place)?)),
                None => None,
            };
            let neighbours = if n < n_expanded { self.neighbours(concept)? } else { Vec::new() };
            details.insert(concept.clone(), ConceptDetail { note, notes, neighbours });
        }
        Ok(details)
    }

    fn neighbours(&self, concept: &Concept) -> Result<Vec<Link>, String> {
        let edges = self.database.edges(concept, NEIGHBOURS, is_no_secret).map_err(reason)?;
        Ok(edges
            .into_iter()
            .map(|edge| Link { concept: edge.concept, notes: edge.notes })
            .collect())
    }

    fn found(&self, place: Place, signal: Signal) -> Result<FoundNote, String> {
        let note = &self.notes[place];
        Ok(FoundNote {
            uri: note.row.uri.clone(),
            title: note.title().to_owned(),
            excerpt: self.excerpt(place)?,
            concepts: self.concepts_of(place)?,
            modified: note.modified(),
            signal,
        })
    }

    /// A note's concepts, most mentioned first.
    fn concepts_of(&self, place: Place) -> Result<Vec<Concept>, String> {
        let uri = &self.notes[place].row.uri;
        let mut concepts = self.database.concepts_of(uri).map_err(reason)?;
        concepts.retain(is_no_secret);
        Ok(concepts)
    }

    /// A note's first sentence.
    fn excerpt(&self, place: Place) -> Result<String, String> {
        let note = &self.notes[place];
        let start = self.database.text_start(note.row.row, EXCERPT_SOURCE_CHARS).map_err(reason)?;
        let Some(start) = start else { return Ok(String::new()) };
        // The stored text has no front matter. The line break keeps a rule at its start from being read as one.
        let text = format!("\n{start}");
        let stem = note.path.stem();
        Ok(markdown::parse(&text, stem, self.links, Remarks::default()).excerpt)
    }
}

/// Whether a concept's name contains no secret: maenifold treats any link as a concept.
fn is_no_secret(concept: &Concept) -> bool {
    !secrets::are_in_name(concept.as_str())
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` gives")]
fn reason(error: DatabaseError) -> String {
    // SQLite quotes content of the file in its messages.
    secrets::mask(&for_model::one_line(&error.to_string())).into_owned()
}
