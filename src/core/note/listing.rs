//! What a vault's folders hold, as the file system tells it without opening a file.

use serde::Serialize;

use crate::core::time::Timestamp;

/// What tells one state of a file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// When the content was last written.
    pub mtime: Timestamp,
    /// When anything about the file last changed, in nanoseconds. Nobody can set it, so that an edit that
    /// restores the file's time, or a rename that swaps two files, is seen all the same.
    pub ctime_ns: i64,
    pub size: u64,
}

/// A markdown file in a folder. Kept small, because every session sorts all files of its vaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedFile {
    pub name: Box<str>,
    pub stamp: Stamp,
    pub written: Written,
}

impl ListedFile {
    /// A file whose own time says when it was written.
    pub fn new(name: String, stamp: Stamp) -> ListedFile {
        ListedFile { name: name.into_boxed_str(), stamp, written: Written::at(stamp.mtime) }
    }

    /// The note's place in time. A file of unknown age is older than all others: nothing old may pass for new.
    pub fn time(&self) -> Timestamp {
        self.written.time().unwrap_or(Timestamp::UNKNOWN)
    }
}

/// When the content of a file was written: the file's own time, or that of its last commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written(Timestamp);

impl Written {
    /// Not looked up yet.
    pub const OPEN: Written = Written(Timestamp(i64::MIN));

    pub fn at(time: Timestamp) -> Written {
        Written(time)
    }

    /// `None` until it is looked up.
    pub fn time(self) -> Option<Timestamp> {
        (self != Written::OPEN).then_some(self.0)
    }
}

/// The markdown files of one folder, sorted by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderListing {
    /// The vault's place in the list of vaults.
    pub vault: usize,
    /// The folder below the vault's root; empty for the root.
    pub folder: String,
    /// The files that are to be indexed.
    pub files: Vec<ListedFile>,
    /// Sums up the files: equal digests mean that nothing in the folder changed.
    pub digest: Digest,
}

/// The sum of a [`FolderListing`].
pub type Digest = [u8; 16];

impl FolderListing {
    /// Lists `files` of a folder.
    pub fn new(vault: usize, folder: String, mut files: Vec<ListedFile>) -> FolderListing {
        files.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        let mut bytes = Vec::with_capacity(files.len() * 64);
        for file in &files {
            bytes.extend_from_slice(file.name.as_bytes());
            // No name holds a zero byte, so that no two listings give the same bytes.
            bytes.push(0);
            bytes.extend_from_slice(&file.stamp.mtime.0.to_le_bytes());
            bytes.extend_from_slice(&file.stamp.ctime_ns.to_le_bytes());
            bytes.extend_from_slice(&file.stamp.size.to_le_bytes());
        }
        let mut digest = Digest::default();
        digest.copy_from_slice(&blake3::hash(&bytes).as_bytes()[..16]);
        FolderListing { vault, folder, files, digest }
    }
}

/// Everything that was passed over, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Skipped {
    /// Folders and notes whose name starts with a dot.
    pub hidden: u64,
    /// Folders and notes that a `.gitignore` names.
    pub ignored: u64,
    /// Links, pipes, sockets and devices.
    pub special: u64,
    /// Notes above the size limit.
    pub too_large: u64,
    /// Notes that hold no text.
    pub binary: u64,
    /// Notes and folders that could not be read.
    pub unreadable: u64,
    /// Notes whose name is no UTF-8 or has a backslash, and so can have no address.
    pub unnameable: u64,
    /// Folders and notes that are templates.
    pub templates: u64,
    /// Folders and notes that are copies of others.
    pub backups: u64,
    /// Files that say that a program writes them.
    pub generated: u64,
    /// Folders and files beside the notes: licences, menus of sites, what hosts read by themselves.
    pub side_files: u64,
}

impl Skipped {
    pub fn total(&self) -> u64 {
        self.by_reason().into_iter().map(|(_, n)| n).sum()
    }

    /// Each reason in words, with its number.
    pub fn by_reason(&self) -> [(&'static str, u64); 11] {
        [
            ("hidden", self.hidden),
            ("ignored by git", self.ignored),
            ("links or special files", self.special),
            ("too large", self.too_large),
            ("binary", self.binary),
            ("unreadable", self.unreadable),
            ("names without an address", self.unnameable),
            ("templates", self.templates),
            ("backups", self.backups),
            ("generated", self.generated),
            ("side files", self.side_files),
        ]
    }

    /// Adds the numbers of another part of the vault.
    pub fn add(&mut self, other: &Skipped) {
        self.hidden += other.hidden;
        self.ignored += other.ignored;
        self.special += other.special;
        self.too_large += other.too_large;
        self.binary += other.binary;
        self.unreadable += other.unreadable;
        self.unnameable += other.unnameable;
        self.templates += other.templates;
        self.backups += other.backups;
        self.generated += other.generated;
        self.side_files += other.side_files;
    }
}

/// Why a listed file is no note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rejection {
    Binary,
    /// It could not be read.
    Unreadable,
    /// A program writes it.
    Generated,
    Template,
    /// It is for others than readers of notes.
    SideFile,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listed_file_is_small() {
        assert!(size_of::<ListedFile>() <= 48);
    }

    #[test]
    fn any_change_changes_the_digest() {
        let file = |name: &str, mtime, ctime_ns, size| {
            let stamp = Stamp { mtime: Timestamp(mtime), ctime_ns, size };
            ListedFile::new(name.to_owned(), stamp)
        };
        let digest = |files| FolderListing::new(0, String::new(), files).digest;
        let base = vec![file("a.md", 1, 2, 3), file("b.md", 1, 2, 3)];
        let others = [
            vec![],
            vec![file("a.md", 1, 2, 3)],
            vec![file("a.md", 9, 2, 3), file("b.md", 1, 2, 3)],
            vec![file("a.md", 1, 9, 3), file("b.md", 1, 2, 3)],
            vec![file("a.md", 1, 2, 9), file("b.md", 1, 2, 3)],
            vec![file("A.md", 1, 2, 3), file("b.md", 1, 2, 3)],
        ];
        assert_eq!(digest(base.clone()), digest(base.clone()));
        for other in others {
            assert_ne!(digest(base.clone()), digest(other));
        }
    }
}
