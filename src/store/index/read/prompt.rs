//! The notes that a prompt speaks of.

use std::collections::BTreeMap;

use rusqlite::{params, params_from_iter};

use crate::core::note::reference::{Key, ReferenceKind};
use crate::core::relevance::prompt::{Evidence, Matches, Prompt};
use crate::core::relevance::telling::{self, TellingWord};
use crate::core::relevance::walk::{PROMPT_RESTART, walk};
use crate::core::search::{forms, fulltext};
use crate::store::index::links::{around, refers};
use crate::store::index::read::Index;
use crate::store::index::rows::in_vault;
use crate::store::index::{IndexError, NoteId};

/// The number of best matches of words.
const MATCHES: usize = 200;
/// A walk without a named note starts from so many best matches.
const SEEDS: usize = 3;
/// The number of nodes whose links are read.
const MOST_LOADED: usize = 100;
/// A name in more notes joins nothing.
const MOST_SHARING: i64 = 40;
/// The share of a note's links that leads over shared names.
const NAMES: f64 = 0.2;
/// A title in more notes names none of them.
const MOST_TITLED: i64 = 40;
/// A word is rare in at most one of so many notes.
const RARE_SHARE: i64 = 200;
const KEPT_KILOBYTES: i64 = 16 * 1024;
const LONG_BEGINNING_BYTES: usize = 5;
/// Words in so many notes or more are not counted on.
const COMMON_FROM: i64 = 1_000;

impl Index {
    /// What a prompt adds to the relevance of notes.
    pub fn prompted(&self, prompt: &Prompt, n_vaults: usize) -> Result<Matches, IndexError> {
        self.keep_pages()?;
        let terms = prompt.terms();
        let words = self.matches(&terms)?;
        let n_notes = self.totals()?.notes;
        let rare = (n_notes / RARE_SHARE).max(1);
        let named = prompt.named(
            |name| self.titled(name, n_vaults),
            |word| Ok(self.count_up_to(&fulltext::quoted(word), rare + 1)? <= rare),
        )?;
        let other_words = match named.notes.is_empty() {
            true => None,
            false => Some(self.matches(&named.other_words)?),
        };
        let mut seeds: Vec<(NoteId, f64)> = named.notes.into_iter().collect();
        if seeds.is_empty() {
            seeds = best_first(&words).into_iter().take(SEEDS).collect();
        }
        let mut walked =
            walk(&seeds, PROMPT_RESTART, MOST_LOADED, |node| self.joined(node, n_notes))?;
        walked.retain(|node, _| *node >= 0);
        let notes: Vec<NoteId> = words.keys().chain(walked.keys()).copied().collect();
        let titles = self.in_titles(&terms, &notes, n_notes)?;
        let seeds = seeds.into_iter().map(|(note, _)| note).collect();
        let is_sure = named.is_sure;
        let evidence = Evidence { words, other_words, walk: walked, seeds, titles, is_sure };
        Ok(evidence.relevance())
    }

    /// What a prompt adds to the notes that are worth being added for it alone, after a context without it.
    pub fn worth_adding(
        &self,
        prompt: &Prompt,
        added: &Matches,
        n_vaults: usize,
    ) -> Result<Matches, IndexError> {
        let n_notes = self.totals()?.notes;
        let common_from = telling::common_from(n_notes).min(COMMON_FROM);
        let mut words = Vec::new();
        for word in prompt.telling() {
            let (form, n) = self.form(&word)?;
            let is_whole = form == fulltext::quoted(&word);
            let is_told = is_whole || forms::beginning(&word).is_some_and(is_long);
            if is_told && (1..common_from).contains(&n) {
                words.push(TellingWord { word, notes: self.with_form(&form)? });
            }
        }
        let named = prompt.named(
            |name| match telling::is_telling_name(name) {
                true => self.titled(name, n_vaults),
                false => Ok(Vec::new()),
            },
            |_| Ok(false),
        )?;
        telling::worth_adding(added, &named, &words, n_notes, |note, word| {
            let card = self.card(note)?;
            let word = forms::beginning(word).unwrap_or(word);
            Ok(fulltext::has_beginning(&card.title, word))
        })
    }

    /// The notes with a word in a form that hardly any note has.
    fn with_form(&self, form: &str) -> Result<Vec<NoteId>, IndexError> {
        let sql = "SELECT rowid FROM fulltext WHERE fulltext MATCH ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([form], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Copies pages instead of mapping them. A mapped page is checked whenever it is looked at, and the notes around a
    /// prompt are in thousands of places below the same few pages.
    fn keep_pages(&self) -> Result<(), IndexError> {
        self.connection.pragma_update(None, "mmap_size", 0)?;
        self.connection.pragma_update(None, "cache_size", -KEPT_KILOBYTES)?;
        Ok(())
    }

    /// The best matches of words, the best 1.
    pub fn matches(&self, terms: &[String]) -> Result<Matches, IndexError> {
        let mut any = Vec::new();
        for term in terms {
            let (form, n_notes) = self.form(term)?;
            if (1..COMMON_FROM).contains(&n_notes) {
                any.push(form);
            }
        }
        if any.is_empty() {
            return Ok(Matches::new());
        }
        let sql = "SELECT rowid, -bm25(fulltext, 2.0, 1.0, 1.0) AS strength FROM fulltext \
                   WHERE fulltext MATCH ?1 ORDER BY strength DESC, rowid DESC LIMIT ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let question = params![any.join(" OR "), MATCHES as i64];
        let rows = statement.query_map(question, |row| Ok((row.get(0)?, row.get(1)?)))?;
        let found: Vec<(NoteId, f64)> = rows.collect::<Result<_, _>>()?;
        let most = found.iter().map(|(_, strength)| *strength).fold(0.0, f64::max);
        Ok(found.into_iter().map(|(note, strength)| (note, strength / most)).collect())
    }

    /// A word for the full-text index, and the number of notes with it. A word that no note has stands for its other
    /// forms.
    fn form(&self, term: &str) -> Result<(String, i64), IndexError> {
        let exact = fulltext::quoted(term);
        let n_notes = self.count_up_to(&exact, COMMON_FROM)?;
        let Some(forms) = fulltext::forms(term).filter(|_| n_notes == 0) else {
            return Ok((exact, n_notes));
        };
        let n_notes = self.count_up_to(&forms, COMMON_FROM)?;
        Ok((forms, n_notes))
    }

    /// The notes with a title, alias or file name, in any vault.
    fn titled(&self, name: &str, n_vaults: usize) -> Result<Vec<NoteId>, IndexError> {
        let Some(key) = Key::of(name) else { return Ok(Vec::new()) };
        let keys = (0..n_vaults).map(|vault| in_vault(vault, key));
        let places = vec!["?"; n_vaults].join(", ");
        let sql =
            format!("SELECT note FROM keys WHERE key IN ({places}) LIMIT {}", MOST_TITLED + 1);
        // A prompt without blanks asks for a name at each of its characters.
        let mut statement = self.connection.prepare_cached(&sql)?;
        let rows = statement.query_map(params_from_iter(keys), |row| row.get(0))?;
        let notes: Vec<NoteId> = rows.collect::<Result<_, _>>()?;
        Ok(if notes.len() as i64 > MOST_TITLED { Vec::new() } else { notes })
    }

    /// The links of a node: of a note, also over the names that few other notes have; of such a name, to its notes. A
    /// name has a negative number.
    fn joined(&self, node: i64, n_notes: i64) -> Result<Vec<(i64, f64)>, IndexError> {
        if node < 0 {
            return Ok(self.sharing(-node - 1)?.into_iter().map(|note| (note, 1.0)).collect());
        }
        let mut links: BTreeMap<i64, f64> = around(&self.connection, node)?.all();
        let Some((keys, references)) = refers(&self.connection, node)? else {
            return Ok(Vec::new());
        };
        let proper = references.iter().filter(|(_, kind)| *kind == ReferenceKind::Name as u8);
        let names = keys.iter().chain(proper.map(|(key, _)| key));
        let mut weights: BTreeMap<i64, f64> = BTreeMap::new();
        for &name in names {
            let n_sharing = self.sharing(i64::from(name))?.len() as i64;
            if (2..=MOST_SHARING).contains(&n_sharing) {
                weights.insert(-i64::from(name) - 1, (n_notes as f64 / n_sharing as f64).ln());
            }
        }
        let (all, linked): (f64, f64) = (weights.values().sum(), links.values().sum());
        let linked = if linked > 0.0 { linked } else { 1.0 };
        let name_links = weights.into_iter().filter(|(_, weight)| *weight > 0.0);
        links.extend(name_links.map(|(name, weight)| (name, NAMES * linked * weight / all)));
        Ok(links.into_iter().collect())
    }

    /// The notes that have a name, in their text or as their own; one more than are useful at most.
    fn sharing(&self, key: i64) -> Result<Vec<NoteId>, IndexError> {
        let sql = "SELECT note FROM refs WHERE key = ?1 AND kind = ?2 \
                   UNION SELECT note FROM keys WHERE key = ?1 LIMIT ?3";
        let mut statement = self.connection.prepare_cached(sql)?;
        let question = params![key, ReferenceKind::Name as u8, MOST_SHARING + 1];
        let rows = statement.query_map(question, |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The share of a prompt's words, by how rare they are, that stands in the titles and paths of notes.
    fn in_titles(
        &self,
        terms: &[String],
        notes: &[NoteId],
        n_notes: i64,
    ) -> Result<Matches, IndexError> {
        let mut words: Vec<(Vec<String>, f64)> = Vec::new();
        for term in terms {
            let n = self.form(term)?.1 as f64;
            let weight = (1.0 + (n_notes as f64 - n + 0.5).max(0.0) / (n + 0.5)).ln();
            let mut beginnings = forms::beginnings(term);
            if beginnings.is_empty() {
                beginnings.push(term.clone());
            }
            words.push((beginnings, weight));
        }
        let all: f64 = words.iter().map(|(_, weight)| weight).sum();
        let mut shares = Matches::new();
        for &note in notes.iter().filter(|_| all > 0.0) {
            let card = self.card(note)?;
            let name = format!("{} {}", card.title, card.path);
            let has = |word: &String| fulltext::has_beginning(&name, word);
            let in_title = words.iter().filter(|(beginnings, _)| beginnings.iter().any(has));
            let sum: f64 = in_title.map(|(_, weight)| weight).sum();
            shares.insert(note, sum / all);
        }
        Ok(shares)
    }
}

/// Whether a beginning is long enough to be one of a word that tells: `test` begins testimonials. In other scripts few letters
/// say more.
fn is_long(beginning: &str) -> bool {
    beginning.len() >= LONG_BEGINNING_BYTES
}

fn best_first(matches: &Matches) -> Vec<(NoteId, f64)> {
    let mut best: Vec<(NoteId, f64)> =
        matches.iter().map(|(note, value)| (*note, *value)).collect();
    best.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| b.0.cmp(&a.0)));
    best
}
