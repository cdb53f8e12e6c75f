//! Answers "what does this note say?": finds the note in the index, and reads its file.

use std::path::Path;

use crate::core::extract::{self, Limit, NoteHead, NoteText, Unfit};
use crate::core::note::NotePath;
use crate::core::note::concept::Concept;
use crate::core::note::decode::{self, Decoded};
use crate::core::note::vault::SCHEME;
use crate::core::search::answer::{Match, NamedNote, QuotedNote, ReadAnswer};
use crate::core::search::nearest;
use crate::core::search::ranking::{Reason, rank};
use crate::core::text::slashes::with_slashes;
use crate::sources::search::{CANDIDATES, path, uri};
use crate::store::index::{Index, IndexError, NoteCard, NoteId};
use crate::system::folders;
use crate::system::vault;
use crate::workspace::refresh::{Refreshed, ask};
use crate::workspace::{AppError, Workspace};

/// The number of notes that are listed for a concept.
const MENTIONING: usize = 20;

#[derive(Debug, Clone, Copy)]
pub struct ReadQuestion<'a> {
    /// An address, a path, a title, an alias, a file name or a concept.
    pub wanted: &'a str,
    /// The folder at which a relative path starts.
    pub dir: &'a Path,
    /// The first line to show.
    pub from: usize,
    pub tokens: usize,
}

/// The answer and its text; no text if there is no note to show.
pub type Told = (ReadAnswer, Option<String>);

/// What a name stands for.
enum Meaning {
    Note(NoteCard),
    Concept(Concept, u32, Vec<(NoteCard, String)>),
    Several(Vec<NoteCard>),
    Nothing(Vec<Concept>),
}

/// Reads the note that is meant, after a refresh.
pub fn read(
    workspace: &Workspace,
    question: ReadQuestion<'_>,
) -> Result<(Told, Refreshed), AppError> {
    let (meaning, refreshed) = ask(workspace, |index| meaning(workspace, index, question))?;
    let limit = Limit { tokens: question.tokens, encoding: workspace.settings.encoding.value };
    let name = question.wanted.to_owned();
    let told = match meaning {
        Meaning::Note(card) => shown(workspace, &card, question.from, limit)?,
        Meaning::Concept(concept, mentions, cards) => {
            let notes = cards.into_iter().map(|(card, quote)| {
                let quote = if quote.is_empty() { card.excerpt.clone() } else { quote };
                QuotedNote { note: named(workspace, &card), quote }
            });
            let notes: Vec<QuotedNote> = notes.collect();
            let heads: Vec<(NoteHead<'_>, &str)> =
                notes.iter().map(|quoted| (head(&quoted.note), quoted.quote.as_str())).collect();
            let text = extract::concept_text(concept.as_str(), mentions as usize, &heads, limit);
            let text = text.map_err(|unfit| {
                AppError::Place(unfit_words(&format!("[[{concept}]]"), question.from, limit, unfit))
            })?;
            (ReadAnswer::Concept { concept, mentions, notes }, Some(text))
        }
        Meaning::Several(cards) => {
            let notes = cards.iter().map(|card| named(workspace, card)).collect();
            (ReadAnswer::Ambiguous { name, notes }, None)
        }
        Meaning::Nothing(nearest) => (ReadAnswer::Unknown { name, nearest }, None),
    };
    Ok((told, refreshed))
}

fn meaning(
    workspace: &Workspace,
    index: &Index,
    question: ReadQuestion<'_>,
) -> Result<Meaning, IndexError> {
    let wanted = question.wanted.trim();
    // Contexts name concepts as links.
    let bare = wanted.strip_prefix("[[").and_then(|name| name.strip_suffix("]]"));
    let wanted = bare.unwrap_or(wanted).trim();
    for find in [addressed, at_path, inside_of_vaults, called] {
        let notes = find(workspace, index, wanted, question.dir)?;
        match notes[..] {
            [] => {}
            [note] => return Ok(Meaning::Note(index.card(note)?)),
            _ => {
                let cards = notes.iter().map(|&note| index.card(note));
                return Ok(Meaning::Several(cards.collect::<Result<_, _>>()?));
            }
        }
    }
    let Some(name) = Concept::parse(wanted) else { return Ok(Meaning::Nothing(Vec::new())) };
    if let Some((_, mentions)) = index.concept_and_notes(&name)? {
        let cards = mentioning(index, &name)?;
        return Ok(Meaning::Concept(name, mentions, cards));
    }
    let mut known = index.names()?;
    known.extend(index.concepts()?);
    known.sort_unstable();
    known.dedup();
    Ok(Meaning::Nothing(nearest::nearest(&name, known.into_iter())))
}

/// The note with an address, which may lack its scheme.
fn addressed(
    workspace: &Workspace,
    index: &Index,
    wanted: &str,
    _dir: &Path,
) -> Result<Vec<NoteId>, IndexError> {
    let address = format!("{SCHEME}{}", wanted.strip_prefix(SCHEME).unwrap_or(wanted));
    let mut notes = Vec::new();
    for (n, vault) in workspace.vaults.iter().enumerate() {
        if let Some(Ok(path)) = vault.resolve(&address) {
            notes.extend(index.note_at(n, path.as_str())?);
        }
    }
    Ok(notes)
}

/// The note in a file.
fn at_path(
    workspace: &Workspace,
    index: &Index,
    wanted: &str,
    dir: &Path,
) -> Result<Vec<NoteId>, IndexError> {
    let file = folders::settled(dir.join(wanted));
    for (n, vault) in workspace.vaults.iter().enumerate() {
        if let Some(below) = file.strip_prefix(&vault.root).ok().and_then(with_slashes)
            && let Some(note) = index.note_at(n, &below)?
        {
            return Ok(vec![note]);
        }
    }
    Ok(Vec::new())
}

/// The notes at a path below a vault's root, of whatever vault.
fn inside_of_vaults(
    workspace: &Workspace,
    index: &Index,
    wanted: &str,
    _dir: &Path,
) -> Result<Vec<NoteId>, IndexError> {
    let mut notes = Vec::new();
    for n in 0..workspace.vaults.len() {
        notes.extend(match index.note_at(n, wanted)? {
            Some(note) => Some(note),
            None => index.note_at(n, &format!("{wanted}.md"))?,
        });
    }
    Ok(notes)
}

/// The notes with a name: those with that title, else with that alias, else with that file name.
fn called(
    _workspace: &Workspace,
    index: &Index,
    wanted: &str,
    _dir: &Path,
) -> Result<Vec<NoteId>, IndexError> {
    let name = Concept::parse(wanted.strip_suffix(".md").unwrap_or(wanted));
    let Some(name) = name else { return Ok(Vec::new()) };
    let named = index.named(&name, CANDIDATES)?;
    let best = named.first().map(|&(_, matched, _)| matched);
    let mut best: Vec<(NoteId, Match, String)> =
        named.into_iter().filter(|&(_, matched, _)| Some(matched) == best).collect();
    let is_spelt_alike =
        |(_, matched, title): &(NoteId, Match, String)| *matched == Match::Title && title == wanted;
    if best.iter().any(is_spelt_alike) {
        best.retain(is_spelt_alike);
    }
    Ok(best.into_iter().map(|(note, _, _)| note).collect())
}

/// The notes that mention a concept, best first, with a quote.
fn mentioning(index: &Index, concept: &Concept) -> Result<Vec<(NoteCard, String)>, IndexError> {
    let reasons = index.mentioning(concept, CANDIDATES)?.into_iter();
    let reason =
        |(note, links)| Reason { note, matched: Match::Concept, strength: f64::from(links) };
    let best = rank(reasons.map(reason)).into_iter().take(MENTIONING);
    best.map(|ranked| Ok((index.card(ranked.note)?, index.quote(ranked.note)?))).collect()
}

/// A note's text, as far as it fits.
fn shown(
    workspace: &Workspace,
    card: &NoteCard,
    from: usize,
    limit: Limit,
) -> Result<Told, AppError> {
    let note = named(workspace, card);
    let unreadable = |why: String| AppError::Place(format!("cannot read {}: {why}", note.path));
    let vault = workspace.vaults.get(card.vault);
    let path = NotePath::parse(&card.path).map_err(|error| unreadable(error.to_string()))?;
    let max_bytes = workspace.settings.max_file_bytes.value;
    let bytes = match vault {
        Some(vault) => vault::read_start(vault, &path, max_bytes),
        None => Err(std::io::ErrorKind::NotFound.into()),
    };
    let bytes = bytes.map_err(|cause| unreadable(cause.to_string()))?;
    let Decoded::Text(text, _) = decode::decode(bytes) else {
        return Err(unreadable("it is not text".to_owned()));
    };
    let extract = extract::fit(&head(&note), &NoteText::of(&text), from, limit);
    let extract =
        extract.map_err(|unfit| AppError::Place(unfit_words(&note.uri, from, limit, unfit)))?;
    let text = extract::note_text(&head(&note), &extract);
    let tokens = crate::core::tokens::count(limit.encoding, &text);
    Ok((ReadAnswer::Note { note, modified: card.modified, extract, tokens }, Some(text)))
}

fn unfit_words(uri: &str, from: usize, limit: Limit, unfit: Unfit) -> String {
    match unfit {
        Unfit::AfterEnd(last) => {
            format!("{uri} has no line {from}; its last line is {last}: pass a smaller --from")
        }
        Unfit::Frame(needs) => {
            let tokens = limit.tokens;
            format!("{uri} needs at least {needs} tokens, not {tokens}; pass a larger --tokens")
        }
    }
}

fn named(workspace: &Workspace, card: &NoteCard) -> NamedNote {
    let title = card.clone().shown_title();
    NamedNote { uri: uri(workspace, card), path: path(workspace, card), title }
}

fn head(note: &NamedNote) -> NoteHead<'_> {
    NoteHead { uri: &note.uri, title: &note.title }
}
