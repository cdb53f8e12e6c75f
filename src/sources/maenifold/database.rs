//! maenifold's database as a source: answers the three questions from `memory.db` alone.

mod context;
mod names;
mod search;

use std::collections::HashMap;
use std::time::Duration;

use crate::core::context::found::{
    ConceptDetail, ConceptDetails, FoundConcept, FoundNote, Link, Signal,
};
use crate::core::context::rank::Expansion;
use crate::core::note::concept::Concept;
use crate::core::note::decode::{Decoded, decode};
use crate::core::note::freshness::Decay;
use crate::core::note::listing::FolderListing;
use crate::core::note::markdown;
use crate::core::note::vault::{SCHEME, Vault};
use crate::core::note::{NotePath, Remarks};
use crate::core::quote::retold::Retold;
use crate::core::quote::thinking::Thinking;
use crate::core::search::answer::{RecentAnswer, RecentItem};
use crate::core::secrets;
use crate::core::settings::{LinkStyle, Setting, VaultSpec};
use crate::core::text::for_model;
use crate::core::time::Timestamp;
use crate::sources::maenifold::memory_db::{Database, DatabaseError, Edge, FileRow};
use crate::sources::recent::{Newest, RecentQuestion};
use crate::system::maenifold_places::Places;
use crate::system::vault::{self, Styles};

use names::{Names, names_of};

/// The length of the text in which the first sentence of a note is searched.
const EXCERPT_SOURCE_CHARS: usize = 4 * 1024;

/// A session has its conclusion at the end.
const RETOLD_BYTES: usize = 256 * 1024;

/// maenifold's memory as its database knows it at one moment. Serves one set of questions; do not keep it open.
pub struct Memory {
    database: Database,
    vault: Vault,
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
    pub fn open(places: &Places, patience: Duration) -> Result<Memory, String> {
        let spec = VaultSpec { name: String::new(), path: places.memory.clone(), is_flat: false };
        let spec = Setting { value: spec, origin: places.origin.clone() };
        let vault = vault::open(&spec, &Styles::of_memory())?;
        let database = Database::open(&places.database, patience, places.cache.as_deref())?;
        let known = |row: FileRow| {
            let path = vault.resolve(&row.uri)?.ok()?;
            Some(KnownNote { row, path })
        };
        let mut notes: Vec<KnownNote> = database.files()?.into_iter().filter_map(known).collect();
        notes.sort_by(|a, b| {
            let by_time = a.row.last_indexed.cmp(&b.row.last_indexed);
            by_time.then_with(|| (a.folder(), a.path.as_str()).cmp(&(b.folder(), b.path.as_str())))
        });
        let placed = || notes.iter().enumerate();
        Ok(Memory {
            places: placed().map(|(place, note)| (note.row.uri.clone(), place)).collect(),
            by_row: placed().map(|(place, note)| (note.row.row, place)).collect(),
            names: names_of(&notes),
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
        if self.database.is_behind_its_log {
            return Some("its log cannot be read: its folder is not writable".to_owned());
        }
        let (mut newer, mut unknown, mut gone) = (0, 0, 0);
        let mut is_listed = vec![false; self.notes.len()];
        for FolderListing { folder, files, .. } in listings {
            let slash = if folder.is_empty() { "" } else { "/" };
            let mut uri = format!("{SCHEME}{folder}{slash}");
            let folder_length = uri.len();
            for file in files {
                uri.truncate(folder_length);
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
        let (notes_are, are) = (
            if newer == 1 { "note is" } else { "notes are" },
            if gone == 1 { "is" } else { "are" },
        );
        let mut reasons = vec![
            (newer, format!("{newer} {notes_are} newer than it")),
            (unknown, format!("{unknown} it does not know")),
            (gone, format!("{gone} that it knows {are} gone")),
        ];
        reasons.retain(|(number, _)| *number > 0);
        let reasons: Vec<String> = reasons.into_iter().map(|(_, reason)| reason).collect();
        (!reasons.is_empty()).then(|| reasons.join(", "))
    }

    /// The recently written notes, newest first.
    pub fn recent(&self, question: RecentQuestion) -> Result<Vec<FoundNote>, String> {
        let found = self.newest(question).found.into_iter().enumerate();
        found.map(|(n, place)| self.found(place, Signal::Recent { place: n + 1 })).collect()
    }

    /// Like [`Memory::recent`], in the form of an answer for a person.
    pub fn recent_answer(&self, question: RecentQuestion) -> Result<RecentAnswer, String> {
        self.newest(question).into_answer(|place| {
            let note = &self.notes[place];
            Ok(RecentItem {
                uri: note.row.uri.clone(),
                path: Some(self.file(note)),
                title: self.shown_title(place)?,
                modified: note.modified(),
                concepts: self.concepts_of(place)?,
            })
        })
    }

    /// The note's file.
    fn file(&self, note: &KnownNote) -> String {
        self.vault.file(note.path.as_str()).display().to_string()
    }

    fn newest(&self, question: RecentQuestion) -> Newest<Place> {
        let mut newest = Newest::of(question);
        for (place, note) in self.notes.iter().enumerate().rev() {
            let Some(modified) = note.row.last_indexed else { break };
            // With no room for any note, no other note is looked at, not even for an older one.
            if !newest.take(&note.row.uri, modified, place) || question.limit == 0 {
                break;
            }
        }
        newest
    }

    /// What the database knows about found concepts, with the neighbours of the best ones.
    ///
    /// Ignores the weights that decay daily: a context changes with the notes, not with the clock.
    pub fn details(
        &self,
        ranked: &[FoundConcept],
        Expansion { n_concepts, n_neighbours }: Expansion,
    ) -> Result<ConceptDetails, String> {
        let mut details = ConceptDetails::new();
        for (n, FoundConcept { concept, .. }) in ranked.iter().enumerate() {
            let notes = self.database.notes_of(concept)?;
            if notes == 0 {
                continue;
            }
            let own = self.names.get(concept).and_then(|notes| notes.first());
            let note = match own {
                Some(&(_, place)) => {
                    Some((self.notes[place].row.uri.clone(), self.excerpt(place)?))
                }
                None => None,
            };
            let is_expanded = n < n_concepts;
            let edges =
                if is_expanded { self.database.edges(concept, n_neighbours)? } else { Vec::new() };
            let link = |Edge { concept, notes, .. }| Link { concept, notes };
            let neighbours = edges.into_iter().map(link).collect();
            details.insert(concept.clone(), ConceptDetail { note, notes, neighbours });
        }
        Ok(details)
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

    /// Notes with what the default layout shows of them.
    pub fn retold(&self, mut found: Vec<FoundNote>) -> Result<Vec<FoundNote>, String> {
        for note in &mut found {
            let Some(&place) = self.places.get(&note.uri) else { continue };
            let path = self.notes[place].path.as_str();
            let Retold { title, card } = Retold::of_file(path, &self.text(place)?);
            note.excerpt = card;
            if let Some(title) = title {
                note.title = title;
            }
        }
        Ok(found)
    }

    /// What a document of maenifold's own says; `None` for a note.
    fn thinking(&self, place: Place) -> Result<Option<Thinking>, String> {
        let path = self.notes[place].path.as_str();
        if !Thinking::is_kept_at(path) {
            return Ok(None);
        }
        Ok(Thinking::of_file(path, &self.text(place)?))
    }

    /// A note as its file has it, or as it is stored, which is without its front matter: a workflow has its name there, and
    /// an assumption how sure it is.
    fn text(&self, place: Place) -> Result<String, String> {
        let KnownNote { row, path } = &self.notes[place];
        if let Ok(bytes) = vault::read_start(&self.vault, path, RETOLD_BYTES as u64)
            && let Decoded::Text(text, _) = decode(bytes)
        {
            return Ok(text);
        }
        let stored = self.database.text_start(row.row, RETOLD_BYTES)?.unwrap_or_default();
        // The line break keeps a rule at the start from being read as front matter.
        Ok(format!("\n{stored}"))
    }

    /// The title that a reader sees.
    fn shown_title(&self, place: Place) -> Result<String, String> {
        let thinking = self.thinking(place)?;
        Ok(thinking.map_or_else(|| self.notes[place].title().to_owned(), |said| said.title))
    }

    /// A note's concepts, most mentioned first.
    fn concepts_of(&self, place: Place) -> Result<Vec<Concept>, String> {
        Ok(self.database.concepts_of(&self.notes[place].row.uri)?)
    }

    /// A note's first sentence.
    fn excerpt(&self, place: Place) -> Result<String, String> {
        let note = &self.notes[place];
        let start = self.database.text_start(note.row.row, EXCERPT_SOURCE_CHARS)?;
        let Some(start) = start else { return Ok(String::new()) };
        // The stored text has no front matter. The line break keeps a rule at its start from being read as one.
        let text = format!("\n{start}");
        let stem = note.path.stem();
        Ok(markdown::parse(&text, stem, LinkStyle::Maenifold, Remarks::default()).excerpt)
    }
}

impl From<DatabaseError> for String {
    fn from(error: DatabaseError) -> String {
        // SQLite quotes content of the file in its messages.
        secrets::mask(&for_model::one_line(&error.to_string())).into_owned()
    }
}
