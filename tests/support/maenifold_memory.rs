//! A maenifold memory to test with: notes, and a database that is filled as maenifold's Sync fills it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use kgctx::core::note::front_matter;
use kgctx::core::note::listing::FolderListing;
use kgctx::core::note::markdown;
use kgctx::core::note::vault::{Vault, uri};
use kgctx::core::note::{NotePath, Remarks};
use kgctx::core::settings::{LinkStyle, Settings};
use kgctx::sources::maenifold::database::Memory;
use kgctx::system::environment::Environment;
use kgctx::system::maenifold_places::Places;
use kgctx::system::vault;
use kgctx::workspace::{Place, Request};
use rusqlite::{Connection, OptionalExtension, params};
use tempfile::TempDir;

use crate::support::maenifold_db;
use crate::support::vault_generator;

/// A folder of maenifold's that is gone after the test.
pub(crate) struct Maenifold {
    root: PathBuf,
    _folder: Option<TempDir>,
}

impl Maenifold {
    pub(crate) fn new() -> Maenifold {
        Maenifold::called("maenifold")
    }

    /// One whose root has a name.
    pub(crate) fn called(name: &str) -> Maenifold {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join(name);
        fs::create_dir_all(root.join("memory")).unwrap();
        Maenifold { root, _folder: Some(folder) }
    }

    /// One that somebody else made.
    pub(crate) fn at(root: PathBuf) -> Maenifold {
        Maenifold { root, _folder: None }
    }

    /// The folder of all its data.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Its database.
    pub(crate) fn database(&self) -> PathBuf {
        self.root.join("memory.db")
    }

    /// Writes a note at a path below the memory's folder, as if at that second.
    pub(crate) fn note(&self, path: &str, text: &str, written: u64) {
        let place = self.root.join("memory").join(path);
        let name = place.file_name().unwrap().to_str().unwrap();
        vault_generator::write(place.parent().unwrap(), name, text, written);
    }

    /// Where its things are.
    pub(crate) fn places(&self) -> Places {
        let environment: Environment =
            [("MAENIFOLD_ROOT".into(), self.root.clone().into())].into_iter().collect();
        Places::locate(&environment).unwrap()
    }

    /// Opens the database as a source.
    pub(crate) fn memory(&self) -> Result<Memory, String> {
        Memory::open(&self.places(), &self.settings(), Duration::from_millis(200))
    }

    fn settings(&self) -> Settings {
        let request = Request {
            dir: Some(self.root.clone()),
            home: Some(self.root.join("kgctx-home")),
            ..Request::default()
        };
        Place::find(&request).unwrap().settings
    }

    /// Its notes as a walk finds them.
    pub(crate) fn listings(&self) -> Vec<FolderListing> {
        let vault = Vault { name: String::new(), root: self.root.join("memory"), is_flat: false };
        vault::walk(&[vault], u64::MAX).0
    }

    /// A connection to the database that may write, as maenifold has it.
    pub(crate) fn connection(&self) -> Connection {
        if self.database().exists() {
            Connection::open(self.database()).unwrap()
        } else {
            maenifold_db::create(&self.database())
        }
    }

    /// Changes the database in a way that maenifold would not.
    pub(crate) fn tamper(&self, sql: &str) {
        self.connection().execute_batch(sql).unwrap();
    }

    /// Brings the database up to date as maenifold's Sync does, with what it forgets: words of former texts stay in the
    /// full-text index, and links that left a note stay in the graph.
    pub(crate) fn sync(&self) {
        let connection = self.connection();
        self.sync_through(&connection);
    }

    /// The same through a connection that stays open.
    pub(crate) fn sync_through(&self, connection: &Connection) {
        let mut paths = Vec::new();
        collect(&self.root.join("memory"), &mut paths);
        paths.sort();
        connection.execute_batch("BEGIN").unwrap();
        for path in paths {
            self.take_in(connection, &path);
        }
        connection.execute_batch("COMMIT").unwrap();
    }

    fn take_in(&self, connection: &Connection, file: &Path) {
        let relative = file.strip_prefix(self.root.join("memory")).unwrap().to_str().unwrap();
        let path = NotePath::parse(relative).unwrap();
        let uri = uri("", relative);
        let modified = fs::metadata(file).unwrap().modified().unwrap();
        let since_1970 = modified.duration_since(UNIX_EPOCH).unwrap();
        let indexed = maenifold_db::moment(since_1970.as_secs(), since_1970.subsec_nanos() / 100);
        let known: Option<String> = connection
            .query_row(
                "SELECT last_indexed FROM file_content WHERE file_path = ?1",
                [&uri],
                |row| row.get(0),
            )
            .optional()
            .unwrap();
        if known.as_ref() == Some(&indexed) {
            return;
        }
        let text = fs::read_to_string(file).unwrap();
        let (yaml, body) = front_matter::split(&text);
        let title = front_matter::parse(yaml.unwrap_or_default()).0.title;
        let title = title.unwrap_or_else(|| path.stem().to_owned());
        let note = markdown::parse(&text, path.stem(), LinkStyle::Maenifold, Remarks::default());
        let run = |sql: &str, values: &[&dyn rusqlite::ToSql]| {
            connection.execute(sql, values).unwrap();
        };
        run(
            "INSERT OR REPLACE INTO file_content (file_path, title, content, last_indexed) VALUES (?, ?, ?, ?)",
            params![uri, title, body, indexed],
        );
        let concepts: Vec<&str> = note.mentions.keys().map(|concept| concept.as_str()).collect();
        for (concept, count) in &note.mentions {
            run(
                "INSERT OR IGNORE INTO concepts (concept_name) VALUES (?)",
                params![concept.as_str()],
            );
            run(
                "INSERT OR REPLACE INTO concept_mentions VALUES (?, ?, ?)",
                params![concept.as_str(), uri, count],
            );
        }
        for (n, a) in concepts.iter().enumerate() {
            for b in &concepts[n + 1..] {
                let stored: Option<String> = connection
                    .query_row(
                        "SELECT source_files FROM concept_graph WHERE concept_a = ?1 AND concept_b = ?2",
                        params![a, b],
                        |row| row.get(0),
                    )
                    .optional()
                    .unwrap();
                let mut uris: Vec<String> =
                    stored.map_or_else(Vec::new, |list| serde_json::from_str(&list).unwrap());
                if !uris.contains(&uri) {
                    uris.push(uri.clone());
                }
                let list = serde_json::to_string(&uris).unwrap();
                run(
                    "INSERT INTO concept_graph VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE \
                     SET co_occurrence_count = ?3, source_files = ?4",
                    params![a, b, uris.len() as i64, list],
                );
            }
        }
    }
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, paths);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            paths.push(path);
        }
    }
}
