//! Reads single files: bytes from a vault or text in memory, and parses them.

use std::borrow::Cow;
use std::io;
use std::sync::{Mutex, PoisonError};

use crate::core::note::decode::{self, Decoded};
use crate::core::note::freshness;
use crate::core::note::listing::{FolderListing, ListedFile, Rejection};
use crate::core::note::logseq;
use crate::core::note::markdown::{self, Parts};
use crate::core::note::named_files::named_files;
use crate::core::note::not_note::{pointer, rejection};
use crate::core::note::reading::{Content, NoteQuotes, ReadNote, Reading};
use crate::core::note::reference::{Referring, keys, references};
use crate::core::note::vault::Vault;
use crate::core::note::{NotePath, Remarks};
use crate::core::quote::lines::body_lines;
use crate::core::quote::passage;
use crate::core::quote::thinking::Thinking;
use crate::core::search::fulltext;
use crate::core::secrets;
use crate::core::settings::LinkStyle;
use crate::core::text::for_model;
use crate::core::text::nfc::nfc;
use crate::system::clock;
use crate::system::vault;
use crate::system::vault::MemoryVault;
use crate::workspace::Workspace;

/// Files from this size on are parsed one at a time: a parser's tree can take sixty times the size
/// of the text.
const LARGE_FILE_BYTES: u64 = 1024 * 1024;
/// A change within this time after another can leave the file's times unchanged, because of the
/// granularity of file system clocks.
const TICK_NS: i64 = 20_000_000;
/// The same for file systems that store whole seconds.
const COARSE_TICK_NS: i64 = 2_000_000_000;

/// Where the notes of a listing are.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Notes<'a> {
    OnDisk,
    InMemory(&'a MemoryVault<'a>),
}

pub(crate) struct FileReader<'a> {
    workspace: &'a Workspace,
    listings: &'a [FolderListing],
    notes: Notes<'a>,
    one_large_file: Mutex<()>,
    /// The longest passage of a note.
    most_words: usize,
    /// Whether the names of files of code are collected.
    has_named_files: bool,
}

impl<'a> FileReader<'a> {
    pub(crate) fn new(
        workspace: &'a Workspace,
        listings: &'a [FolderListing],
        notes: Notes<'a>,
    ) -> Self {
        let most_words = most_words(listings);
        let has_named_files = workspace.settings.uncommitted_files.value.are_looked_for();
        let one_large_file = Mutex::new(());
        FileReader { workspace, listings, notes, one_large_file, most_words, has_named_files }
    }

    /// Reads and parses a listed file.
    pub(crate) fn read(&self, folder: usize, file: &ListedFile) -> Reading {
        let listing = &self.listings[folder];
        let (content, settled) = self.content(&self.workspace.vaults[listing.vault], listing, file);
        // A file whose time is not known yet is looked at again.
        let settled = settled && file.written.time().is_some();
        Reading { folder, file: file.clone(), settled, content }
    }

    fn content(
        &self,
        vault: &Vault,
        listing: &FolderListing,
        file: &ListedFile,
    ) -> (Content, bool) {
        let _alone = (file.stamp.size >= LARGE_FILE_BYTES)
            .then(|| self.one_large_file.lock().unwrap_or_else(PoisonError::into_inner));
        let (bytes, settled) = match self.notes {
            Notes::OnDisk => match opened(vault, listing, file) {
                Ok(read) => read,
                Err(unread) => return unread,
            },
            Notes::InMemory(notes) => match notes.text(vault, &listing.folder, &file.name) {
                Some(text) => (text.as_bytes().to_vec(), true),
                None => return (Content::Gone, false),
            },
        };
        let hash = blake3::hash(&bytes).as_bytes().as_chunks().0[0];
        let path = NotePath::in_folder(&listing.folder, &file.name);
        let (Decoded::Text(text, remarks), Ok(path)) = (decode::decode(bytes), path) else {
            return (Content::Rejected(Rejection::Binary), settled);
        };
        if let Some(reason) = rejection(&path, &text, vault.style) {
            return (Content::Rejected(reason), settled);
        }
        let read = self.read_note(&text, &path, vault.style, remarks);
        let read = match pointer(&text) {
            Some(says) if vault.style != LinkStyle::Maenifold => read.into_pointer(&says),
            _ => read,
        };
        (Content::Note(Box::new(ReadNote { hash, ..read })), settled)
    }

    fn read_note(
        &self,
        text: &str,
        path: &NotePath,
        style: LinkStyle,
        remarks: Remarks,
    ) -> ReadNote {
        let parts = Parts::of(text, style);
        let note = markdown::parse_parts(&parts, path.stem(), style, remarks);
        let Parts { yaml, properties, body } = &parts;
        let folder = path.as_str().rsplit_once('/').map_or("", |(folder, _)| folder);
        // Many pages of Logseq have other names and no text yet.
        let has_text = properties.is_empty() || body.contains(char::is_alphanumeric);
        let said = match has_text {
            true => Cow::Borrowed(&**body),
            false => logseq::without_properties_of_program(properties),
        };
        // Characters that nobody sees can stand inside of a secret.
        let visible = for_model::visible(&said);
        let masked = secrets::mask(&visible);
        let described = for_model::visible(&note.description);
        let description = &*secrets::mask(&described);
        let (lines, tags) = (&body_lines(&masked), &note.tags);
        let referring = Referring { style, folder, yaml, properties, tags, description, lines };
        let references = references(&referring);
        let aliases = note.aliases.iter().map(String::as_str);
        let blocks = (style == LinkStyle::Logseq).then(|| logseq::block_ids(text));
        let others = aliases.chain(blocks.into_iter().flatten());
        let is_memory = style == LinkStyle::Maenifold;
        let thinking = is_memory.then(|| {
            let yaml = for_model::visible(yaml);
            Thinking::of(path.as_str(), &secrets::mask(&yaml), &masked)
        });
        let thinking = thinking.flatten();
        let quotes = match &thinking {
            Some(thinking) => NoteQuotes::of_thinking(thinking, self.most_words),
            None if has_text => NoteQuotes::of(&masked, description, lines, self.most_words),
            None => NoteQuotes::of_properties(lines),
        };
        ReadNote {
            hash: [0; 16],
            fresh_until: freshness::fresh_until(path, note.created),
            has_edges: note.mentions.len() <= markdown::MAX_CONCEPTS_FOR_EDGES,
            text: fulltext::of_note(&note, path, body),
            quotes,
            thinking,
            stem: if is_memory { path.stem().to_owned() } else { nfc(path.stem()).into_owned() },
            keys: keys(path.as_str(), &note.title, others),
            references,
            named_files: if self.has_named_files { named_files(lines) } else { Vec::new() },
            note,
        }
    }
}

/// The longest passage of these notes: of few notes, more is kept of each.
pub(crate) fn most_words(listings: &[FolderListing]) -> usize {
    passage::most_words(listings.iter().map(|listing| listing.files.len()).sum())
}

/// The bytes of a file, and whether its stamp certainly belongs to them; or the reason why there
/// are none.
fn opened(
    vault: &Vault,
    listing: &FolderListing,
    file: &ListedFile,
) -> Result<(Vec<u8>, bool), (Content, bool)> {
    let read_at = clock::now();
    let (bytes, stamp) =
        vault::read(vault, &listing.folder, file).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => (Content::Gone, false),
            // Missing permission lasts until the stamp changes; any other error may be transient,
            // so the file is tried again.
            kind => {
                let settled = kind == io::ErrorKind::PermissionDenied;
                (Content::Rejected(Rejection::Unreadable), settled)
            }
        })?;
    let last_change = if stamp.ctime_ns == 0 { stamp.mtime.0 } else { stamp.ctime_ns };
    let tick = if last_change % 1_000_000_000 == 0 { COARSE_TICK_NS } else { TICK_NS };
    let settled = stamp == file.stamp && read_at.0.saturating_sub(last_change) > tick;
    Ok((bytes, settled))
}
