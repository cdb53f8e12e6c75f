//! A cache of the rows of notes, valid until the database is written again. Reading all rows takes as long as all
//! queries together, because SQLite stores the small columns behind the texts. The file is in our own cache.

use std::fs;
use std::path::{Path, PathBuf};

use super::files::FileRow;
use super::stamp::Stamp;
use crate::core::time::Timestamp;
use crate::core::time_limits;

/// Represents a missing value.
const NONE: i64 = i64::MIN;
/// The version of the file format.
const FORM: &str = "kgctx rows 1";

/// The cached rows of one state of a database.
pub(super) struct Remembered {
    database: PathBuf,
    file: PathBuf,
    /// The identity of the state.
    stamp: Stamp,
    /// The file format, and the identity of the state.
    head: String,
    is_settled: bool,
}

impl Remembered {
    /// The cache for the current state of a database; `None` if the state cannot be determined.
    pub(super) fn of(database: &Path, cache: &Path) -> Option<Remembered> {
        let stamp = Stamp::of(database)?;
        let is_settled = stamp.is_older_than(time_limits::FILE_TIMES_TICK);
        let head = format!("{FORM}\n{}\n{stamp:?}\n", database.display());
        let database = database.to_path_buf();
        let name = blake3::hash(database.as_os_str().as_encoded_bytes()).to_hex();
        let file = cache.join("maenifold").join(format!("{}.rows", &name[..16]));
        Some(Remembered { database, file, stamp, head, is_settled })
    }

    /// The rows of this state, if they are cached.
    pub(super) fn rows(&self) -> Option<Vec<FileRow>> {
        let bytes = fs::read(&self.file).ok()?;
        let mut rest = bytes.strip_prefix(self.head.as_bytes())?;
        let mut rows = Vec::new();
        while !rest.is_empty() {
            rows.push(FileRow {
                row: number(&mut rest)?,
                last_indexed: optional(&mut rest)?.map(Timestamp),
                last_accessed: optional(&mut rest)?.map(Timestamp),
                uri: text(&mut rest)??,
                title: text(&mut rest)?,
            });
        }
        Some(rows)
    }

    /// Stores the rows of this state. If that fails, they are read again next time.
    pub(super) fn keep(&self, rows: &[FileRow]) {
        if !self.is_settled {
            return;
        }
        let mut bytes = self.head.clone().into_bytes();
        for row in rows {
            bytes.extend(row.row.to_le_bytes());
            for time in [row.last_indexed, row.last_accessed] {
                bytes.extend(time.map_or(NONE, |time| time.0).to_le_bytes());
            }
            for text in [Some(row.uri.as_str()), row.title.as_deref()] {
                let length = text.map_or(NONE, |text| text.len() as i64);
                bytes.extend(length.to_le_bytes());
                bytes.extend(text.unwrap_or_default().bytes());
            }
        }
        let part = self.file.with_extension(format!("{}.part", std::process::id()));
        let written = self.file.parent().map_or(Ok(()), fs::create_dir_all);
        let written = written.and_then(|()| fs::write(&part, bytes));
        if written.and_then(|()| fs::rename(&part, &self.file)).is_err() {
            // The partial file, if it exists.
            let _ = fs::remove_file(&part);
        }
    }

    /// Whether the database is still in this state.
    pub(super) fn is_still_so(&self) -> bool {
        Stamp::of(&self.database).as_ref() == Some(&self.stamp)
    }
}

fn number(rest: &mut &[u8]) -> Option<i64> {
    let (bytes, after) = rest.split_first_chunk::<8>()?;
    *rest = after;
    Some(i64::from_le_bytes(*bytes))
}

/// An optional number; the outer `None` for invalid bytes.
fn optional(rest: &mut &[u8]) -> Option<Option<i64>> {
    Some(Some(number(rest)?).filter(|number| *number != NONE))
}

/// An optional text; the outer `None` for invalid bytes.
fn text(rest: &mut &[u8]) -> Option<Option<String>> {
    let Some(length) = optional(rest)? else { return Some(None) };
    let (bytes, after) = rest.split_at_checked(usize::try_from(length).ok()?)?;
    *rest = after;
    Some(Some(String::from_utf8(bytes.to_vec()).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn remembered(folder: &Path) -> Remembered {
        Remembered {
            is_settled: true,
            ..Remembered::of(&folder.join("memory.db"), folder).unwrap()
        }
    }

    #[test]
    fn rows_are_those_of_their_state_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("memory.db"), "a").unwrap();
        let first = remembered(folder.path());
        assert_eq!(first.rows(), None);
        first.keep(&[]);
        assert_eq!(first.rows(), Some(Vec::new()));
        assert!(first.is_still_so());
        for (file, text) in [("memory.db", "bb"), ("memory.db-wal", "c"), ("memory.db-wal", "")] {
            fs::write(folder.path().join(file), text).unwrap();
            let next = remembered(folder.path());
            assert!(!first.is_still_so() && next.rows().is_none(), "{file} {text:?}");
            next.keep(&[]);
        }
        // A file that was just written can change again within the same tick.
        let fresh = Remembered::of(&folder.path().join("memory.db"), folder.path()).unwrap();
        fs::remove_dir_all(folder.path().join("maenifold")).unwrap();
        fresh.keep(&[]);
        assert_eq!(fresh.rows(), None);
    }

    proptest! {
        #[test]
        fn rows_come_back_and_foreign_bytes_are_none(
            uri in ".{0,20}",
            title in prop::option::of(".{0,20}"),
            times in any::<(i64, Option<i64>, Option<i64>)>(),
            cut in any::<prop::sample::Index>(),
        ) {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("memory.db"), "a").unwrap();
            let remembered = remembered(folder.path());
            let time = |time: Option<i64>| time.filter(|&time| time != NONE).map(Timestamp);
            let row = FileRow {
                row: times.0,
                uri,
                title,
                last_indexed: time(times.1),
                last_accessed: time(times.2),
            };
            let rows = vec![row.clone(), row];
            remembered.keep(&rows);
            prop_assert_eq!(remembered.rows(), Some(rows.clone()));
            let bytes = fs::read(&remembered.file).unwrap();
            fs::write(&remembered.file, &bytes[..cut.index(bytes.len())]).unwrap();
            prop_assert!(remembered.rows().is_none_or(|found| found.len() < rows.len()));
        }
    }
}
