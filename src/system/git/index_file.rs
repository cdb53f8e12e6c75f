//! Git's index: how each tracked file looked when git last saw it. Versions 2, 3 and 4, whole or split, with either hash.
//!
//! Reads no object, and does not check the hash at the end. An index that does not fit together is none.

use crate::system::git::ewah;

/// The bytes of a hash: SHA-1 or SHA-256. The index does not say which.
const HASH_BYTES: [usize; 2] = [20, 32];
/// The bytes of an entry before its hash.
const STAT_BYTES: usize = 40;

const ASSUME_UNCHANGED: u16 = 0x8000;
const HAS_MORE_FLAGS: u16 = 0x4000;
const STAGE: u16 = 0x3000;
const PATH_BYTES: u16 = 0x0fff;
/// Among the further flags.
const SKIP_WORKTREE: u16 = 0x4000;
const INTENT_TO_ADD: u16 = 0x2000;

/// The tracked files that were asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Index {
    /// In the order of their paths, except in a split index.
    pub(super) files: Vec<(String, Seen)>,
    /// Whether something may have been added since the last commit.
    pub(super) may_have_staged: bool,
}

/// What git remembers of a tracked file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) seconds: u32,
    pub(super) nanoseconds: u32,
    /// The last 32 bits.
    pub(super) size: u32,
    mode: u32,
    flags: u16,
    more_flags: u16,
}

impl Seen {
    #[cfg(unix)]
    #[cfg(test)]
    pub(super) fn for_tests(seconds: u32, nanoseconds: u32, size: u32) -> Seen {
        Seen { seconds, nanoseconds, size, mode: 0o100_644, flags: 0, more_flags: 0 }
    }

    /// Whether git compares it with a file or a link of the working tree.
    pub(super) fn is_compared(&self) -> bool {
        let is_file = matches!(self.mode >> 12, 0o10 | 0o12);
        is_file && self.flags & ASSUME_UNCHANGED == 0 && self.more_flags & SKIP_WORKTREE == 0
    }

    /// Whether the entry itself says that the file is not committed: a conflict, or a file that is to be added.
    pub(super) fn is_uncommitted(&self) -> bool {
        self.flags & STAGE != 0 || self.more_flags & INTENT_TO_ADD != 0
    }
}

/// Reads the wanted files of an index. `read_beside` reads a file beside it by its name. `None` if the index is damaged.
pub(super) fn read(
    bytes: &[u8],
    read_beside: impl Fn(&str) -> Option<Vec<u8>>,
    is_wanted: impl Fn(&str) -> bool,
) -> Option<Index> {
    let take = |files: &mut Vec<(String, Seen)>, path: &[u8], seen: Seen| {
        let wanted = std::str::from_utf8(path).ok().filter(|path| is_wanted(path));
        files.extend(wanted.map(|path| (path.to_owned(), seen)));
    };
    HASH_BYTES.into_iter().find_map(|n_hash| {
        let mut files = Vec::new();
        let extensions = scan(bytes, n_hash, |path, seen| take(&mut files, path, seen))?;
        if let Some((shared, bitmaps)) =
            extensions.link.and_then(|link| link.split_at_checked(n_hash))
            && shared.iter().any(|byte| *byte != 0)
        {
            files.clear();
            let name: String = shared.iter().map(|byte| format!("{byte:02x}")).collect();
            let base = read_beside(&format!("sharedindex.{name}"))?;
            merge(&base, bitmaps, bytes, n_hash, |path, seen| take(&mut files, path, seen))?;
        }
        Some(Index { files, may_have_staged: extensions.may_have_staged })
    })
}

/// Visits the entries of a split index: those of the shared one, as far as they are neither deleted nor replaced, and
/// its own, of which the first ones replace others and have no path.
fn merge(
    base: &[u8],
    bitmaps: &[u8],
    bytes: &[u8],
    n_hash: usize,
    mut visit: impl FnMut(&[u8], Seen),
) -> Option<()> {
    let (deleted, rest) = ewah::read(bitmaps, base.len())?;
    let (replaced, _) = ewah::read(rest, base.len())?;
    let mut own: Vec<(Vec<u8>, Seen)> = Vec::new();
    scan(bytes, n_hash, |path, seen| own.push((path.to_owned(), seen)))?;
    let mut own = own.into_iter();
    let mut places = 0..;
    scan(base, n_hash, |path, seen| {
        let is_in = |bits: &[bool], place: usize| bits.get(place).copied().unwrap_or_default();
        let place = places.next().unwrap_or_default();
        let seen =
            if is_in(&replaced, place) { own.next().map(|(_, seen)| seen) } else { Some(seen) };
        if let Some(seen) = seen.filter(|_| !is_in(&deleted, place)) {
            visit(path, seen);
        }
    })?;
    own.for_each(|(path, seen)| visit(&path, seen));
    Some(())
}

/// What an index says after its entries.
struct Extensions<'a> {
    may_have_staged: bool,
    /// For a split index: the hash of the shared one, and which of its entries are deleted and replaced.
    link: Option<&'a [u8]>,
}

/// Calls `visit` with every entry. `None` if the bytes are no index with hashes of this length; some entries may have
/// been visited then.
fn scan(bytes: &[u8], n_hash: usize, mut visit: impl FnMut(&[u8], Seen)) -> Option<Extensions<'_>> {
    let rest = bytes.strip_prefix(b"DIRC")?;
    let (&version, rest) = rest.split_first_chunk()?;
    let (&n_entries, mut rest) = rest.split_first_chunk()?;
    let version = u32::from_be_bytes(version);
    if !(2..=4).contains(&version) {
        return None;
    }
    let mut path = Vec::new();
    for _ in 0..u32::from_be_bytes(n_entries) {
        let (seen, after) = seen(rest, n_hash, version)?;
        rest = if version == 4 {
            compressed_path(&mut path, after)?
        } else {
            let n_before = rest.len() - after.len();
            padded_path(&mut path, after, n_before, seen.flags)?
        };
        visit(&path, seen);
    }
    extensions(&rest[..rest.len().checked_sub(n_hash)?])
}

/// The entry at the beginning of `bytes`, without its path, and the bytes after it.
fn seen(bytes: &[u8], n_hash: usize, version: u32) -> Option<(Seen, &[u8])> {
    let (stat, rest) = bytes.split_at_checked(STAT_BYTES)?;
    let numbers = stat.as_chunks::<4>().0;
    let number = |n: usize| u32::from_be_bytes(numbers[n]);
    let (&flags, mut rest) = rest.get(n_hash..)?.split_first_chunk()?;
    let flags = u16::from_be_bytes(flags);
    let mut more_flags = 0;
    if version > 2 && flags & HAS_MORE_FLAGS != 0 {
        let (&more, after) = rest.split_first_chunk()?;
        (more_flags, rest) = (u16::from_be_bytes(more), after);
    }
    let (seconds, nanoseconds, mode, size) = (number(2), number(3), number(6), number(9));
    Some((Seen { seconds, nanoseconds, size, mode, flags, more_flags }, rest))
}

/// A path that is written in full. Each entry ends with one to eight zeros, so that the next begins at a multiple of eight.
fn padded_path<'a>(
    path: &mut Vec<u8>,
    bytes: &'a [u8],
    n_before: usize,
    flags: u16,
) -> Option<&'a [u8]> {
    let n_path = match flags & PATH_BYTES {
        // The length does not fit in there.
        PATH_BYTES => memchr::memchr(0, bytes)?,
        n_path => usize::from(n_path),
    };
    path.clear();
    path.extend(bytes.get(..n_path)?);
    let n_entry = (n_before + n_path + 8) / 8 * 8;
    let padding = bytes.get(n_path..n_entry - n_before)?;
    padding.iter().all(|byte| *byte == 0).then(|| &bytes[n_entry - n_before..])
}

/// A path as the difference to the one before: how many bytes of its end are left out, and what is there instead.
fn compressed_path<'a>(path: &mut Vec<u8>, mut bytes: &'a [u8]) -> Option<&'a [u8]> {
    let mut n_left_out: usize = 0;
    loop {
        let (&byte, rest) = bytes.split_first()?;
        bytes = rest;
        n_left_out = n_left_out.checked_mul(128)? + usize::from(byte & 127);
        if byte & 128 == 0 {
            break;
        }
        n_left_out += 1;
    }
    path.truncate(path.len().checked_sub(n_left_out)?);
    let end = memchr::memchr(0, bytes)?;
    path.extend(&bytes[..end]);
    Some(&bytes[end + 1..])
}

fn extensions(mut bytes: &[u8]) -> Option<Extensions<'_>> {
    let mut found = Extensions { may_have_staged: true, link: None };
    while !bytes.is_empty() {
        let (name, rest) = bytes.split_first_chunk::<4>()?;
        let (&length, rest) = rest.split_first_chunk()?;
        let (data, rest) = rest.split_at_checked(u32::from_be_bytes(length) as usize)?;
        match name {
            // The trees of the last commit. The first is the root: its path, which is empty, and how many entries it
            // has, or -1 once something in it was added.
            b"TREE" => found.may_have_staged = data.get(..2).is_none_or(|root| root == b"\0-"),
            b"link" => found.link = Some(data),
            _ => {}
        }
        bytes = rest;
    }
    Some(found)
}
