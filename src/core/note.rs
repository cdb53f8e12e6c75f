//! A note: one markdown file of a vault, read and understood. Knows neither parser nor database.

pub mod concept;
pub mod decode;
pub mod file_name;
pub mod freshness;
pub mod front_matter;
mod known_names;
pub mod listing;
pub mod logseq;
pub mod markdown;
pub mod name;
pub mod named_files;
pub mod not_note;
mod page_heading;
pub mod places;
pub mod reading;
pub mod reference;
pub mod related;
pub mod side_file;
pub mod tag;
mod template;
pub mod vault;
pub mod wikilink;

use std::collections::BTreeMap;
use std::fmt;

use thiserror::Error;

use crate::core::note::concept::Concept;
use crate::core::time::Timestamp;

/// The path of a note below its vault's root: relative, `/` between parts, never leaving the vault.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NotePath(String);

/// Why a text names no note of a vault.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum PathError {
    #[error("the path is empty")]
    Empty,
    #[error("{0:?} is absolute; a note's path starts at its vault")]
    Absolute(String),
    #[error("{0:?} leaves its vault or is not in normal form")]
    Escapes(String),
    /// Has a character that no file name may have.
    #[error("{0:?} has a character that a note's path must not have")]
    Character(String),
}

impl NotePath {
    /// Takes a path relative to the vault; refuses a path that could leave it.
    pub fn parse(path: &str) -> Result<NotePath, PathError> {
        if path.is_empty() {
            return Err(PathError::Empty);
        }
        if path.starts_with('/') {
            return Err(PathError::Absolute(path.to_owned()));
        }
        if path.contains(['\\', '\0']) || cfg!(windows) && path.contains(':') {
            return Err(PathError::Character(path.to_owned()));
        }
        if path.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return Err(PathError::Escapes(path.to_owned()));
        }
        Ok(NotePath(path.to_owned()))
    }

    /// Joins a folder (`""` for the vault's root) and a file name that a folder listing gave.
    pub fn in_folder(folder: &str, name: &str) -> Result<NotePath, PathError> {
        if folder.is_empty() {
            NotePath::parse(name)
        } else {
            NotePath::parse(&format!("{folder}/{name}"))
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The file's name without folder and extension.
    pub fn stem(&self) -> &str {
        without_extension(self.0.rsplit('/').next().unwrap_or(&self.0))
    }
}

/// Extensions of notes.
pub const EXTENSIONS: [&str; 3] = [".md", ".markdown", ".mdx"];

/// The path or name of a note without its extension.
pub fn without_extension(name: &str) -> &str {
    let without = |ending: &&str| {
        let at = name.len().checked_sub(ending.len())?;
        name.as_bytes()[at..].eq_ignore_ascii_case(ending.as_bytes()).then(|| &name[..at])
    };
    EXTENSIONS.iter().find_map(without).unwrap_or(name)
}

impl fmt::Display for NotePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a note's text says, without its place and its times on disk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Note {
    /// From the front matter, else the first heading, else the file's stem.
    pub title: String,
    /// Other names of the note, from the front matter.
    pub aliases: Vec<String>,
    /// Tags of the front matter, without `#`.
    pub tags: Vec<String>,
    /// The front matter's `created`.
    pub created: Option<Timestamp>,
    /// The front matter's `modified`. Recent activity goes by the file's own time instead.
    pub modified: Option<Timestamp>,
    /// The front matter's `status`, as written.
    pub status: Option<String>,
    /// What the front matter says that the note is about, in one line; empty if it says nothing.
    pub description: String,
    /// The `##` headings, in order.
    pub sections: Vec<String>,
    /// Every concept that a counting link names, with the number of those links.
    pub mentions: BTreeMap<Concept, u32>,
    /// The first sentence or so of the text.
    pub excerpt: String,
    /// What was odd about the file.
    pub remarks: Remarks,
}

/// One thing that was odd about a file. The note is indexed all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Remark {
    /// Bytes that are no UTF-8: read as Windows-1252, or with replacement characters.
    NotUtf8,
    /// UTF-16, told by its byte order mark.
    Utf16,
    /// A UTF-8 byte order mark.
    ByteOrderMark,
    /// Lines that end in carriage returns.
    CarriageReturns,
    /// Front matter that is no valid YAML: read line by line.
    BrokenFrontMatter,
    Empty,
    /// A line of a megabyte or more.
    LongLine,
    /// More distinct concepts than co-occurrence edges are made for.
    TooManyConcepts,
    /// A pointer in place of the text, which git keeps elsewhere.
    Pointer,
}

impl Remark {
    /// All remarks, in the order in which they are shown.
    pub const ALL: [Remark; 9] = [
        Remark::NotUtf8,
        Remark::Utf16,
        Remark::ByteOrderMark,
        Remark::CarriageReturns,
        Remark::BrokenFrontMatter,
        Remark::Empty,
        Remark::LongLine,
        Remark::TooManyConcepts,
        Remark::Pointer,
    ];

    pub fn words(self) -> &'static str {
        match self {
            Remark::NotUtf8 => "not UTF-8",
            Remark::Utf16 => "UTF-16",
            Remark::ByteOrderMark => "byte order mark",
            Remark::CarriageReturns => "CRLF line ends",
            Remark::BrokenFrontMatter => "broken front matter",
            Remark::Empty => "empty",
            Remark::LongLine => "very long line",
            Remark::TooManyConcepts => "too many concepts for edges",
            Remark::Pointer => "a Git LFS pointer, whose text `git lfs pull` fetches",
        }
    }
}

/// The set of remarks on one file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Remarks(u32);

impl Remarks {
    pub fn add(&mut self, remark: Remark) {
        self.0 |= 1 << remark as u32;
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn has(self, remark: Remark) -> bool {
        self.0 & (1 << remark as u32) != 0
    }

    /// The remarks, in the order of [`Remark::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Remark> {
        Remark::ALL.into_iter().filter(move |&remark| self.has(remark))
    }

    /// The set as a number for storage.
    pub fn bits(self) -> u32 {
        self.0
    }

    /// The set behind a stored number.
    pub fn from_bits(bits: u32) -> Remarks {
        Remarks(bits)
    }
}

impl fmt::Display for Remarks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, remark) in self.iter().enumerate() {
            if n > 0 {
                f.write_str("; ")?;
            }
            f.write_str(remark.words())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_never_leaves_its_vault() {
        for bad in [
            "",
            "/",
            "/etc/passwd",
            "..",
            "../x.md",
            "a/../../x.md",
            "a/./b.md",
            "a//b.md",
            "a/",
            "./x.md",
            "a\\..\\b.md",
            "a\0b.md",
        ] {
            assert!(NotePath::parse(bad).is_err(), "{bad:?} must be refused");
        }
        for good in ["x.md", "a/b c/größe.md", "..hidden.md", "a/...md", "日本語.md"] {
            assert_eq!(NotePath::parse(good).map(|path| path.0).as_deref(), Ok(good));
        }
    }

    #[test]
    fn the_stem_has_no_folder_and_no_ending() {
        assert_eq!(NotePath::parse("a/b.c.md").unwrap().stem(), "b.c");
        assert_eq!(NotePath::parse("b").unwrap().stem(), "b");
        assert_eq!(NotePath::parse("b.mdx").unwrap().stem(), "b");
    }
}
