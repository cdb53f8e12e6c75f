//! What uncommitted files say about a session: a note that names a file which is being changed is about the work at hand.
//!
//! Only names count. Which notes and files were changed together in the past is not known here: the index keeps no
//! commits.

use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use serde::{Deserialize, Serialize};

use crate::core::named::named;
use crate::core::note::named_files::LEAST_STEM_LETTERS;
use crate::core::note::reference::Key;
use crate::core::note::without_extension;

/// How much a note gains at most.
pub const UNCOMMITTED: f64 = 2.0;
/// More changed files tell of a checkout, a formatter or a copied folder, and not of a subject.
pub const MOST_CHANGED: usize = 60;

/// What a note's name for a file counts: the end of its path, its name, its stem.
const BY_PATH: f64 = 1.0;
const BY_NAME: f64 = 0.8;
const BY_STEM: f64 = 0.5;

/// Stems that many projects have, and that say nothing about a subject.
const COMMON_STEMS: [&str; 40] = [
    "__init__",
    "app",
    "base",
    "build",
    "client",
    "common",
    "config",
    "constants",
    "core",
    "data",
    "default",
    "error",
    "errors",
    "event",
    "events",
    "helper",
    "helpers",
    "index",
    "init",
    "lib",
    "main",
    "mod",
    "model",
    "models",
    "package",
    "page",
    "routes",
    "server",
    "service",
    "settings",
    "setup",
    "state",
    "store",
    "test",
    "tests",
    "types",
    "util",
    "utils",
    "version",
    "view",
];
/// Folders of files that nobody in the project writes.
const FOREIGN_FOLDERS: [&str; 6] =
    ["dist", "generated", "node_modules", "third_party", "vendor", "vendored"];

/// What is done with the uncommitted files of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UncommittedFiles {
    /// They are not looked for, which takes no time.
    #[default]
    Off,
    /// The receipt says what they would have changed.
    Record,
    /// Notes that name them gain.
    On,
}

impl UncommittedFiles {
    /// Whether such files are looked for. Only then does an index need the names of files in notes.
    pub fn are_looked_for(self) -> bool {
        self != UncommittedFiles::Off
    }
}

named!(UncommittedFiles { Off = "off", Record = "record", On = "on" });

/// The hashed names of files of code in a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamingNote {
    pub note: i64,
    pub files: Vec<Key>,
}

/// The names that some note has for a file.
#[derive(Debug, Default)]
pub struct NamedFiles(HashSet<Key, BuildHasherDefault<HashedAlready>>);

/// Spreads the bits of a key, which is a hash itself: a session's start looks up thousands.
#[derive(Debug, Default)]
struct HashedAlready(u64);

impl Hasher for HashedAlready {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u32(u32::from(*byte)));
    }

    fn write_u32(&mut self, key: u32) {
        self.0 = (self.0 ^ u64::from(key)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl NamedFiles {
    pub fn of(notes: &[NamingNote]) -> NamedFiles {
        let n_names = notes.iter().map(|note| note.files.len()).sum();
        let mut named = HashSet::with_capacity_and_hasher(n_names, BuildHasherDefault::default());
        named.extend(notes.iter().flat_map(|note| note.files.iter().copied()));
        NamedFiles(named)
    }

    /// Whether a note may name this file, and people write it as code.
    pub fn may_have(&self, path: &str) -> bool {
        let (base, stem) = base_and_stem(path);
        let has = |name: &str| Key::of(name).is_some_and(|key| self.0.contains(&key));
        // A note that has the end of a path has the file's name, too, and most files have neither.
        (has(base) || is_identifier(stem) && has(stem)) && is_telling(stem) && is_written_here(path)
    }
}

/// What a note gains by naming changed files, and which of them it names best.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gain {
    /// From 0 to [`UNCOMMITTED`].
    pub value: f64,
    pub file: usize,
}

/// What notes gain by naming changed files. A file that many of the `n_notes` name says less about each of them.
pub fn gains(files: &[String], notes: &[NamingNote], n_notes: i64) -> BTreeMap<i64, Gain> {
    let named: Vec<Vec<(i64, f64)>> = files.iter().map(|file| naming(file, notes)).collect();
    let mut gains: BTreeMap<i64, (Gain, f64)> = BTreeMap::new();
    let all = (1.0 + n_notes as f64).ln();
    for (file, naming) in named.iter().enumerate() {
        let rareness = (1.0 + n_notes as f64 / naming.len() as f64).ln() / all;
        for &(note, weight) in naming {
            let value = weight * rareness;
            let (gain, best) =
                gains.entry(note).or_insert((Gain { value: 0.0, file }, f64::NEG_INFINITY));
            gain.value += value;
            if value > *best {
                (gain.file, *best) = (file, value);
            }
        }
    }
    let most = gains.values().map(|(gain, _)| gain.value).fold(1.0, f64::max);
    let share = |gain: Gain| Gain { value: UNCOMMITTED * gain.value / most, ..gain };
    gains.into_iter().map(|(note, (gain, _))| (note, share(gain))).collect()
}

/// The notes that name a file, each with what its best name for it counts.
fn naming(path: &str, notes: &[NamingNote]) -> Vec<(i64, f64)> {
    let names = names(path);
    let best = |note: &NamingNote| {
        let known = names.iter().find(|(key, _)| note.files.binary_search(key).is_ok());
        known.map(|(_, weight)| (note.note, *weight))
    };
    notes.iter().filter_map(best).collect()
}

/// The names that a note can have for a file, the best first.
fn names(path: &str) -> Vec<(Key, f64)> {
    let ends = path.match_indices('/').map(|(at, _)| &path[at + 1..]);
    let with_folder = [path].into_iter().chain(ends).filter(|end| end.contains('/'));
    let (base, stem) = base_and_stem(path);
    let names = with_folder.map(|end| (end, BY_PATH)).chain([(base, BY_NAME), (stem, BY_STEM)]);
    names.filter_map(|(name, weight)| Key::of(name).map(|key| (key, weight))).collect()
}

fn base_and_stem(path: &str) -> (&str, &str) {
    let base = path.rsplit('/').next().unwrap_or(path);
    let stem = base.split_once('.').map_or(base, |(stem, _)| stem);
    (base, stem)
}

/// Whether a note's word can be known as this stem: plain words are not.
fn is_identifier(stem: &str) -> bool {
    let is_hump = |pair: &[u8]| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase();
    stem.contains('_') || stem.as_bytes().windows(2).any(is_hump)
}

/// Whether a stem tells files apart: `mod.rs` says as little as `mod`.
fn is_telling(stem: &str) -> bool {
    stem.chars().filter(|c| c.is_alphabetic()).count() >= LEAST_STEM_LETTERS
        && COMMON_STEMS.binary_search(&stem.to_ascii_lowercase().as_str()).is_err()
}

/// Whether people write this file as code: it is no note, no lock file, and not from elsewhere.
fn is_written_here(path: &str) -> bool {
    let (base, _) = base_and_stem(path);
    let is_lock = base.ends_with(".lock") || base.contains("-lock.") || base == "go.sum";
    without_extension(base) == base
        && !is_lock
        && !base.contains(".min.")
        && !path.split('/').any(|part| FOREIGN_FOLDERS.binary_search(&part).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn note(note: i64, names: &[&str]) -> NamingNote {
        let mut files: Vec<Key> = names.iter().filter_map(|name| Key::of(name)).collect();
        files.sort_unstable();
        NamingNote { note, files }
    }

    fn gained(file: &str, names: &[&str]) -> f64 {
        let gains = gains(&[file.to_owned()], &[note(1, names)], 100);
        gains.get(&1).map_or(0.0, |gain| (gain.value * 100.0).round() / 100.0)
    }

    #[test]
    fn the_lists_are_sorted() {
        assert!(COMMON_STEMS.is_sorted() && FOREIGN_FOLDERS.is_sorted());
    }

    #[test]
    fn the_best_name_of_a_file_counts() {
        let file = "crates/ship/src/mast.rs";
        for (names, expect) in [
            (&["crates/ship/src/mast.rs"][..], 2.0),
            (&["src/mast.rs", "mast.rs"], 2.0),
            (&["mast.rs", "mast"], 1.6),
            (&["Mast"], 1.0),
            (&["lib/mast.rs"], 0.0),
            (&["mast.py", "src"], 0.0),
        ] {
            assert_eq!(gained(file, names), expect, "{names:?}");
        }
    }

    #[test]
    fn a_file_that_many_notes_name_says_less_and_two_files_say_more() {
        let files = ["src/mast.rs".to_owned(), "src/sail.rs".to_owned()];
        let mut notes: Vec<NamingNote> = (2..50).map(|n| note(n, &["sail.rs"])).collect();
        notes.push(note(1, &["src/mast.rs", "sail.rs"]));
        notes.push(note(90, &["mast.rs"]));
        let gains = gains(&files, &notes, 100);
        assert!(gains[&1].value > gains[&90].value && gains[&90].value > gains[&2].value);
        assert_eq!((gains[&1].file, gains[&90].file, gains[&2].file), (0, 0, 1));
    }

    #[test]
    fn files_that_nobody_writes_as_code_are_not_looked_at() {
        let names = [
            "mast.rs",
            "hull.md",
            "Cargo.lock",
            "package-lock.json",
            "local_index",
            "mod.rs",
            "fs.rs",
        ];
        let named = NamedFiles::of(&[note(1, &names)]);
        for (path, expect) in [
            ("src/mast.rs", true),
            ("local_index.rs", true),
            ("src/sail.rs", false),
            ("docs/hull.md", false),
            ("Cargo.lock", false),
            ("web/package-lock.json", false),
            ("src/app/mod.rs", false),
            ("src/fs.rs", false),
            ("vendor/mast.rs", false),
            ("web/node_modules/x/mast.rs", false),
        ] {
            assert_eq!(named.may_have(path), expect, "{path}");
        }
    }

    proptest! {
        #[test]
        fn gains_are_bounded_and_the_order_of_notes_does_not_matter(
            files in prop::collection::vec("[a-c]{4}(/[a-c]{4}){0,2}\\.rs", 1..5),
            names in prop::collection::vec(prop::collection::vec("[a-c]{4}(/[a-c]{4})?\\.rs", 0..4), 1..6),
        ) {
            let named = |names: &Vec<String>, n: usize| {
                note(n as i64, &names.iter().map(String::as_str).collect::<Vec<_>>())
            };
            let mut notes: Vec<NamingNote> =
                names.iter().enumerate().map(|(n, names)| named(names, n)).collect();
            let expect = gains(&files, &notes, 10);
            notes.reverse();
            prop_assert_eq!(&gains(&files, &notes, 10), &expect);
            for gain in expect.values() {
                prop_assert!(gain.value > 0.0 && gain.value <= UNCOMMITTED && gain.file < files.len());
            }
        }
    }
}
