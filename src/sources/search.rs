//! Answers "which notes are about this?" from the index.

use std::path::Path;

use crate::core::note::NotePath;
use crate::core::note::concept::Concept;
use crate::core::note::decode::{self, Decoded};
use crate::core::note::front_matter;
use crate::core::note::vault::SCHEME;
use crate::core::search::answer::{Match, SearchAnswer, SearchHit};
use crate::core::search::fulltext;
use crate::core::search::ranking::{Ranked, Reason, rank};
use crate::core::search::snippet;
use crate::core::secrets;
use crate::store::index::{Index, IndexError, NoteCard, NoteId};
use crate::system::vault;
use crate::workspace::refresh::{Refreshed, ask};
use crate::workspace::{AppError, Workspace};

/// The length of the part of a note in which a snippet is searched.
const SNIPPET_SOURCE_BYTES: u64 = 256 * 1024;

/// Words in this many notes or more do not rank.
pub(crate) const COMMON_FROM: usize = 1_000;
/// The same limit for words of the project's name: a session start has no time for more, and the newest notes with
/// these words are just as good.
pub(crate) const COMMON_FROM_AT_START: usize = 100;
/// The minimum number of candidates from each way of searching.
pub(crate) const CANDIDATES: usize = 50;

/// Finds the notes that match `query`, best first, after a refresh.
pub fn search(
    workspace: &Workspace,
    query: &str,
    limit: usize,
) -> Result<(SearchAnswer, Refreshed), AppError> {
    ask(workspace, |index| answer(workspace, index, query, limit))
}

/// Finds the notes that match `query`, without a refresh.
pub fn answer(
    workspace: &Workspace,
    index: &Index,
    query: &str,
    limit: usize,
) -> Result<SearchAnswer, IndexError> {
    let terms = fulltext::terms(query);
    let ranked = best(workspace, index, query, limit, COMMON_FROM)?;
    let hits = ranked.into_iter().map(|Ranked { note, matched, score }| {
        let card = index.card(note)?;
        let (uri, path) = (uri(workspace, &card), Some(path(workspace, &card)));
        let snippet = snippet_of(workspace, &card, &terms).unwrap_or(card.excerpt);
        let snippet = secrets::mask(&snippet).into_owned();
        let concepts = index.concepts_of(note)?;
        Ok(SearchHit { uri, path, title: card.title, score, matched, snippet, concepts })
    });
    let results = hits.collect::<Result<_, IndexError>>()?;
    Ok(SearchAnswer { query: query.to_owned(), results })
}

/// The notes that match `query` best. Words in `common_from` notes or more do not rank.
pub(crate) fn best(
    workspace: &Workspace,
    index: &Index,
    query: &str,
    limit: usize,
    common_from: usize,
) -> Result<Vec<Ranked<NoteId>>, IndexError> {
    let candidates = limit.max(CANDIDATES);
    let mut reasons = Vec::new();
    let trimmed = query.trim();
    if trimmed.starts_with(SCHEME) {
        for (n, vault) in workspace.vaults.iter().enumerate() {
            if let Some(Ok(path)) = vault.resolve(trimmed)
                && let Some(note) = index.note_at(n, path.as_str())?
            {
                reasons.push(Reason { note, matched: Match::Uri, strength: 1.0 });
            }
        }
    }
    if let Some(name) = Concept::parse(query) {
        for (note, matched, title) in index.named(&name, candidates)? {
            reasons.push(named(note, matched, &title, query));
        }
        for (note, links) in index.mentioning(&name, candidates)? {
            reasons.push(Reason { note, matched: Match::Concept, strength: f64::from(links) });
        }
    }
    let terms = fulltext::terms(query);
    let quoted: Vec<String> = terms.iter().map(|term| fulltext::quoted(term)).collect();
    for (note, strength) in index.texts(&quoted, candidates, common_from as i64)? {
        reasons.push(Reason { note, matched: Match::Text, strength });
    }
    let mut ranked = rank(reasons);
    ranked.truncate(limit);
    Ok(ranked)
}

/// The reason for a note with the name that is searched.
pub(crate) fn named<Id>(note: Id, matched: Match, title: &str, query: &str) -> Reason<Id> {
    // Two titles can have the same name; the one with the spelling of the query is stronger.
    let is_spelt_alike = title.trim().to_lowercase() == query.trim().to_lowercase();
    Reason { note, matched, strength: if is_spelt_alike { 1.0 } else { 0.0 } }
}

pub(crate) fn uri(workspace: &Workspace, card: &NoteCard) -> String {
    let name = workspace.vaults.get(card.vault).map_or("", |vault| vault.name.as_str());
    crate::core::note::vault::uri(name, &card.path)
}

/// The note's file.
pub(crate) fn path(workspace: &Workspace, card: &NoteCard) -> String {
    let root = workspace.vaults.get(card.vault).map(|vault| vault.root.as_path());
    root.unwrap_or(Path::new("")).join(&card.path).display().to_string()
}

/// The text around the first match; `None` if the file can no longer be read.
fn snippet_of(workspace: &Workspace, card: &NoteCard, terms: &[String]) -> Option<String> {
    let vault = workspace.vaults.get(card.vault)?;
    let path = NotePath::parse(&card.path).ok()?;
    let bytes = vault::read_start(vault, &path, SNIPPET_SOURCE_BYTES).ok()?;
    let Decoded::Text(text, _) = decode::decode(bytes) else { return None };
    Some(snippet::snippet(front_matter::split(&text).1, terms))
}
