//! Answers "which notes are about this?" from the index.

use std::path::PathBuf;

use crate::core::context::rank::Ranking;
use crate::core::note::NotePath;
use crate::core::note::concept::Concept;
use crate::core::note::decode::{self, Decoded};
use crate::core::note::front_matter;
use crate::core::note::vault::SCHEME;
use crate::core::quote::thinking::Thinking;
use crate::core::search::answer::{Match, SearchAnswer, SearchHit};
use crate::core::search::ranking::{Ranked, Reason, add_forms, rank};
use crate::core::search::snippet;
use crate::core::search::words::TextMatch;
use crate::core::search::{forms, fulltext};
use crate::core::secrets;
use crate::core::text::nfc;
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
    let terms = with_pairs(index, fulltext::terms(query))?;
    let mut ranked =
        best(workspace, index, query, &with_forms(index, &terms)?, limit, COMMON_FROM)?;
    if ranked.len() < limit {
        add_forms(&mut ranked, of_other_forms(index, &terms, limit)?);
        ranked.truncate(limit);
    }
    let hits = ranked.into_iter().map(|Ranked { note, matched, score }| {
        let card = index.card(note)?;
        let (uri, path) = (uri(workspace, &card), Some(path(workspace, &card)));
        let shown = snippet::looked_for(matched, &terms);
        let snippet = snippet_of(workspace, &card, shown).unwrap_or_else(|| card.excerpt.clone());
        let snippet = secrets::mask(&snippet).into_owned();
        let concepts = index.concepts_of(note)?;
        Ok(SearchHit { uri, path, title: card.shown_title(), score, matched, snippet, concepts })
    });
    let results = hits.collect::<Result<_, IndexError>>()?;
    Ok(SearchAnswer { query: query.to_owned(), results })
}

/// The words of a query. A run of characters without blanks that no note has stands for its pairs.
fn with_pairs(index: &Index, terms: Vec<String>) -> Result<Vec<String>, IndexError> {
    for term in &terms {
        if fulltext::is_run(term) && !index.has_text(&fulltext::quoted(term))? {
            return Ok(fulltext::pairs(&terms));
        }
    }
    Ok(terms)
}

/// The words of a query as FTS5 strings; a word that no note has stands for its forms.
fn with_forms(index: &Index, terms: &[String]) -> Result<Vec<String>, IndexError> {
    let mut quoted = Vec::new();
    for term in terms {
        let word = fulltext::quoted(term);
        let forms = fulltext::forms(term).filter(|forms| *forms != format!("{word}*"));
        quoted.push(match forms {
            Some(forms) if !index.has_text(&word)? && index.has_text(&forms)? => forms,
            _ => word,
        });
    }
    Ok(quoted)
}

/// The notes that have all words of a query in some form.
fn of_other_forms(
    index: &Index,
    terms: &[String],
    limit: usize,
) -> Result<Vec<TextMatch<NoteId>>, IndexError> {
    let forms = |term: &String| fulltext::forms(term).unwrap_or_else(|| fulltext::quoted(term));
    let all: Vec<String> = terms.iter().map(forms).collect();
    match all.is_empty() {
        true => Ok(Vec::new()),
        false => index.matching(&all.join(" AND "), limit, COMMON_FROM as i64),
    }
}

/// The notes that match a project's name best.
pub(crate) fn best_at_start(
    workspace: &Workspace,
    index: &Index,
    project: &str,
    limit: usize,
) -> Result<Vec<Ranked<NoteId>>, IndexError> {
    let terms = fulltext::terms(project);
    let mut words: Vec<String> = terms.iter().map(|term| fulltext::quoted(term)).collect();
    // Without any of the words, notes with words that begin like them would be found: they do not name the project.
    if workspace.settings.rank.value == Ranking::Notes && !has_any(index, &words)? {
        words.clear();
    }
    best(workspace, index, project, &words, limit, COMMON_FROM_AT_START)
}

fn has_any(index: &Index, words: &[String]) -> Result<bool, IndexError> {
    Ok(!words.is_empty() && index.has_text(&words.join(" OR "))?)
}

/// The notes that match `query`, whose words are FTS5 strings, best. Words in `common_from` notes or more do not rank.
fn best(
    workspace: &Workspace,
    index: &Index,
    query: &str,
    words: &[String],
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
    for name in nfc::forms(query).iter().filter_map(|query| Concept::parse(query)) {
        for (note, matched, title) in index.named(&name, candidates)? {
            reasons.push(named(note, matched, &title, query));
        }
        for (note, links) in index.mentioning(&name, candidates)? {
            reasons.push(Reason { note, matched: Match::Concept, strength: f64::from(links) });
        }
    }
    for (note, strength) in index.texts(words, candidates, common_from as i64)? {
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
    let vault = workspace.vaults.get(card.vault);
    let file = vault.map_or_else(|| PathBuf::from(&card.path), |vault| vault.file(&card.path));
    file.display().to_string()
}

/// The text around the first match; `None` if the file can no longer be read.
fn snippet_of(workspace: &Workspace, card: &NoteCard, terms: &[String]) -> Option<String> {
    let vault = workspace.vaults.get(card.vault)?;
    let path = NotePath::parse(&card.path).ok()?;
    let bytes = vault::read_start(vault, &path, SNIPPET_SOURCE_BYTES).ok()?;
    let Decoded::Text(text, _) = decode::decode(bytes) else { return None };
    // The lines of maenifold's own documents are headings and times, or JSON.
    let told = card.subject.as_ref().and_then(|_| Thinking::of_file(&card.path, &text));
    let body = told.as_ref().map_or_else(|| front_matter::split_any(&text).1, |told| &told.body);
    if terms.iter().any(|term| fulltext::has_word(body, term)) {
        return Some(snippet::snippet(body, terms));
    }
    let beginnings = terms.iter().map(|term| forms::beginning(term).unwrap_or(term).to_owned());
    Some(snippet::snippet(body, &beginnings.collect::<Vec<_>>()))
}
