//! Where everything is, what a start makes there, and the clock.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use rusqlite::Connection;

use crate::Thrown;

/// How long a start looks at a missing asset before it copies it: long enough for another start to do the same.
const BETWEEN_LOOKING_AND_COPYING: Duration = Duration::from_millis(60);

/// The folders and files of one data root.
pub(crate) struct Places {
    root: PathBuf,
    pub(crate) memory: PathBuf,
    pub(crate) database: PathBuf,
}

impl Places {
    pub(crate) fn locate() -> Places {
        let root = text("MAENIFOLD_ROOT").map_or_else(
            || PathBuf::from(env::var_os("HOME").unwrap_or_default()).join("maenifold"),
            PathBuf::from,
        );
        let database =
            text("MAENIFOLD_DATABASE_PATH").map_or_else(|| root.join("memory.db"), PathBuf::from);
        Places { memory: root.join("memory"), database, root }
    }

    /// Copies the packaged assets that are missing, as every start does before it reads its arguments. Whatever goes wrong
    /// here is caught by nobody.
    pub(crate) fn unpack(&self) {
        let models = self.root.join("assets/models");
        let model = models.join("all-MiniLM-L6-v2.onnx");
        let unpacked = fs::create_dir_all(&models).and_then(|()| {
            if model.exists() {
                return Ok(());
            }
            thread::sleep(BETWEEN_LOOKING_AND_COPYING);
            let mut file = OpenOptions::new().write(true).create_new(true).open(&model)?;
            file.write_all(b"no model\n")
        });
        or_abort(unpacked);
    }

    /// Makes the folders that every tool needs.
    pub(crate) fn ensure_folders(&self) {
        or_abort(fs::create_dir_all(&self.memory));
    }

    /// Opens the database as every tool does, those that only read as well: it comes into being here.
    pub(crate) fn open(&self) -> Result<Connection, Thrown> {
        let connection = Connection::open(&self.database)?;
        connection.busy_timeout(Duration::from_millis(5_000))?;
        let journal = if is_ci() { "DELETE" } else { "WAL" };
        connection.pragma_update(None, "journal_mode", journal)?;
        Ok(connection)
    }

    /// The same for a tool that only reads.
    pub(crate) fn open_to_read(&self) -> Result<Connection, Thrown> {
        let connection = self.open()?;
        connection.pragma_update(None, "query_only", true)?;
        Ok(connection)
    }

    /// Makes the tables that are missing.
    pub(crate) fn ensure_tables(&self) -> Result<(), Thrown> {
        let connection = self.open()?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        let mut tables = include_str!("../memory.sql").to_owned();
        for kind in ["TABLE", "VIRTUAL TABLE", "INDEX", "TRIGGER"] {
            tables = tables
                .replace(&format!("CREATE {kind} "), &format!("CREATE {kind} IF NOT EXISTS "));
        }
        connection.execute_batch(&tables)?;
        for column in ["status TEXT", "file_md5 TEXT", "file_size INTEGER", "last_accessed TEXT"] {
            // Most databases have it.
            let _ =
                connection.execute_batch(&format!("ALTER TABLE file_content ADD COLUMN {column}"));
        }
        Ok(())
    }

    /// All notes below a folder in the order in which .NET lists them: a folder's own entries as the system returns them,
    /// then folder after folder.
    pub(crate) fn notes(folder: &Path) -> Vec<PathBuf> {
        let mut notes = Vec::new();
        let mut folders = std::collections::VecDeque::from([folder.to_path_buf()]);
        while let Some(folder) = folders.pop_front() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push_back(path);
                } else if path.to_string_lossy().ends_with(".md") {
                    notes.push(path);
                }
            }
        }
        notes
    }

    pub(crate) fn uri(&self, note: &Path) -> String {
        let relative = note.strip_prefix(&self.memory).unwrap_or(note).to_string_lossy();
        format!("memory://{}", relative.strip_suffix(".md").unwrap_or(&relative))
    }

    /// The file of an address; none that lies elsewhere.
    pub(crate) fn note(&self, uri: &str) -> Option<PathBuf> {
        let mut relative = uri.replace("memory://", "");
        if !relative.to_lowercase().ends_with(".md") {
            relative.push_str(".md");
        }
        (!relative.split('/').any(|part| part == "..")).then(|| self.memory.join(relative))
    }
}

fn or_abort(done: std::io::Result<()>) {
    if let Err(cause) = done {
        let _ = writeln!(std::io::stderr(), "Unhandled exception. System.IO.IOException: {cause}");
        std::process::abort();
    }
}

/// A variable that is not empty.
pub(crate) fn text(variable: &str) -> Option<String> {
    env::var(variable).ok().filter(|value| !value.is_empty())
}

/// A whole number of a variable; a value that is none does not count.
pub(crate) fn number(variable: &str, default: i64) -> i64 {
    text(variable).and_then(|value| value.parse().ok()).unwrap_or(default)
}

fn is_ci() -> bool {
    ["CI", "GITHUB_ACTIONS"].iter().any(|variable| text(variable).as_deref() == Some("true"))
}

/// The time, which a test may set.
pub(crate) fn now() -> Timestamp {
    text("STAND_IN_NOW")
        .and_then(|moment| moment.parse().ok())
        .or_else(|| Timestamp::try_from(SystemTime::now()).ok())
        .unwrap_or_default()
}
