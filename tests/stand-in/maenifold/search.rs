//! SearchMemories: a scan of the first files that the system lists, for pieces of words.

use std::path::Path;

use rusqlite::Connection;

use crate::Thrown;
use crate::decay;
use crate::json;
use crate::markdown::{Markdown, lowered, lowered_letter};
use crate::payload::Payload;
use crate::places::Places;

const STOPWORDS: [&str; 38] = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it",
    "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these",
    "they", "this", "to", "was", "will", "with", "we", "you", "your", "our", "from",
];
/// What a hit in the title is worth.
const TITLE_HIT: usize = 5;
/// The constant of reciprocal rank fusion.
const RRF_K: usize = 60;
const SNIPPET_UNITS: usize = 200;
const UNITS_BEFORE_A_HIT: usize = 20;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Hybrid,
    Semantic,
    FullText,
}

/// A note that was found.
pub(crate) struct Found {
    pub(crate) title: String,
    pub(crate) uri: String,
    pub(crate) score: f64,
    text_score: f64,
    snippet: String,
}

/// A search that ended well, or in a sentence.
pub(crate) enum Searched {
    Sentence(&'static str),
    Page(Page),
}

pub(crate) struct Page {
    mode: Mode,
    query: String,
    total: usize,
    page: i64,
    page_size: i64,
    n_text: usize,
    pub(crate) found: Vec<Found>,
}

pub(crate) fn search(places: &Places, payload: &Payload) -> Result<Searched, Thrown> {
    let query = payload.required("query")?;
    let mode = mode(payload)?;
    let page_size = payload.whole("pageSize", 10)?;
    let page = payload.whole("page", 1)?;
    let folder = payload
        .text("folder")?
        .map_or_else(|| places.memory.clone(), |folder| places.memory.join(folder));
    let min_score = payload.fraction("minScore", 0.0)?;
    if !folder.is_dir() {
        return Ok(Searched::Sentence("No memories found in specified folder"));
    }
    let terms = terms(&query);
    if terms.is_empty() {
        return Ok(Searched::Sentence(
            "ERROR: Query contains no informative keywords. Try adding specific terms (e.g. \"machine learning\", \
             \"NLP\").\n💡 Provide at least one non-stopword keyword Run GetHelp(\"SearchMemories\") for complete \
             documentation.",
        ));
    }
    // The half that looks for meaning opens the database, and finds nothing.
    let connection = places.open_to_read()?;
    let size = usize::try_from(page_size).unwrap_or(0);
    let hits = match mode {
        Mode::Hybrid => hits(places, &folder, &terms, size * 3),
        Mode::FullText => hits(places, &folder, &terms, size * 2),
        Mode::Semantic => Vec::new(),
    };
    let mut found = scored(places, &connection, mode, &hits, &terms, min_score);
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    let total = found.len();
    let skipped = usize::try_from((page - 1) * page_size).unwrap_or(0);
    let found = found.into_iter().skip(skipped).take(size).collect();
    Ok(Searched::Page(Page { mode, query, total, page, page_size, n_text: hits.len(), found }))
}

fn mode(payload: &Payload) -> Result<Mode, Thrown> {
    let Ok(Some(name)) = payload.text("mode") else { return Ok(Mode::Hybrid) };
    match name.trim().to_lowercase().as_str() {
        "hybrid" => Ok(Mode::Hybrid),
        "semantic" => Ok(Mode::Semantic),
        "fulltext" => Ok(Mode::FullText),
        _ => Err(Thrown::argument(&format!("Requested value '{name}' was not found."))),
    }
}

fn terms(query: &str) -> Vec<String> {
    let lowered = lowered(query);
    let terms = lowered.split(' ').map(str::trim).filter(|term| !term.is_empty());
    terms.filter(|term| !STOPWORDS.contains(term)).map(str::to_owned).collect()
}

/// The best of the first files, and how often the terms stand in them.
fn hits(places: &Places, folder: &Path, terms: &[String], most: usize) -> Vec<(String, usize)> {
    let mut hits: Vec<(String, usize)> = Places::notes(folder)
        .iter()
        .take(most * 2)
        .filter_map(|path| {
            let note = Markdown::read(path).ok()?;
            let body = lowered(&note.body);
            let title = note.front.get("title").map(|title| lowered(title)).unwrap_or_default();
            let of_term = |term: &String| {
                body.matches(term.as_str()).count()
                    + if title.contains(term.as_str()) { TITLE_HIT } else { 0 }
            };
            let score = terms.iter().map(of_term).sum();
            (score > 0).then(|| (places.uri(path), score))
        })
        .collect();
    hits.sort_by_key(|(_, score)| std::cmp::Reverse(*score));
    hits.truncate(most);
    hits
}

fn scored(
    places: &Places,
    connection: &Connection,
    mode: Mode,
    hits: &[(String, usize)],
    terms: &[String],
    min_score: f64,
) -> Vec<Found> {
    let best = hits.first().map_or(1, |(_, score)| *score) as f64;
    let mut found = Vec::new();
    for (rank, (uri, hits)) in hits.iter().enumerate() {
        let weight = decay::weight(places, Some(connection), uri);
        let before_decay = match mode {
            Mode::Hybrid => 1.0 / (RRF_K + rank + 1) as f64,
            Mode::FullText | Mode::Semantic => *hits as f64 / best,
        };
        let score = before_decay * weight;
        // The threshold of one mode is for the product, the other's is not.
        if if mode == Mode::Hybrid { score } else { before_decay } < min_score {
            continue;
        }
        let path = places.note(uri);
        let note = path.as_deref().and_then(|path| Markdown::read(path).ok());
        let stem = path.as_deref().and_then(Path::file_stem).unwrap_or_default();
        let (title, snippet) = match note {
            Some(mut note) => (note.front.remove("title"), snippet(&note.body, terms)),
            None => (None, String::new()),
        };
        let title = title.unwrap_or_else(|| stem.to_string_lossy().into_owned());
        let text_score = (*hits as f64 / 100.0).min(1.0);
        found.push(Found { title, uri: uri.clone(), score, text_score, snippet });
    }
    found
}

/// A piece of a body around the first place where a term stands.
fn snippet(body: &str, terms: &[String]) -> String {
    let units: Vec<u16> = body.encode_utf16().collect();
    let lowered: Vec<u16> = units.iter().map(|&unit| lowered_unit(unit)).collect();
    let first = terms
        .iter()
        .filter_map(|term| {
            let term: Vec<u16> = term.encode_utf16().collect();
            lowered.windows(term.len()).position(|window| window == term)
        })
        .min();
    let start = first.unwrap_or(0).saturating_sub(UNITS_BEFORE_A_HIT);
    let end = (start + SNIPPET_UNITS).min(units.len());
    let piece = String::from_utf16_lossy(&units[start..end]);
    piece.replace("\r\n", " ").replace('\n', " ").trim().to_owned()
}

fn lowered_unit(unit: u16) -> u16 {
    let letter = char::from_u32(u32::from(unit)).map(lowered_letter);
    letter.and_then(|letter| u16::try_from(u32::from(letter)).ok()).unwrap_or(unit)
}

impl Page {
    pub(crate) fn json(&self) -> String {
        let found: Vec<String> = self.found.iter().map(|found| self.item(found)).collect();
        let counts = match self.mode {
            Mode::Hybrid => {
                format!("\"textResultCount\":{},\"semanticResultCount\":0,", self.n_text)
            }
            Mode::Semantic | Mode::FullText => String::new(),
        };
        json::ok(&format!(
            "{{\"mode\":\"{}\",\"query\":{},\"totalCount\":{},\"page\":{},\"pageSize\":{},{counts}\"results\":[{}]}}",
            match self.mode {
                Mode::Hybrid => "Hybrid",
                Mode::Semantic => "Semantic",
                Mode::FullText => "FullText",
            },
            json::string(&self.query),
            self.total,
            self.page,
            self.page_size,
            found.join(",")
        ))
    }

    fn item(&self, found: &Found) -> String {
        let scores = match self.mode {
            Mode::Hybrid => format!(
                "\"fusedScore\":{},\"textScore\":{},\"semanticScore\":0",
                json::number(found.score),
                json::number(found.text_score)
            ),
            Mode::Semantic | Mode::FullText => format!("\"score\":{}", json::number(found.score)),
        };
        format!(
            "{{\"title\":{},\"path\":{},{scores},\"snippet\":{}}}",
            json::string(&found.title),
            json::string(&found.uri),
            json::string(&found.snippet)
        )
    }

    pub(crate) fn text(&self) -> String {
        let (total, page) = (self.total, self.page);
        let mut text = match self.mode {
            Mode::Hybrid => format!(
                "🔍 **Hybrid Search** (combining text + semantic similarity)\nFound {total} matches (page {page}):\n\
                 Text results: {}, Semantic results: 0\n\n",
                self.n_text
            ),
            Mode::Semantic => format!(
                "🧠 **Semantic Search** (concept similarity)\nFound {total} matches (page {page}):\n\n"
            ),
            Mode::FullText => format!(
                "📝 **Full-Text Search** (keyword matching)\nFound {total} matches (page {page}):\n\n"
            ),
        };
        for found in &self.found {
            let scores = match self.mode {
                Mode::Hybrid => format!(
                    "Scores - Fused: {:.3} | Text: {:.3} | Semantic: 0.000",
                    found.score, found.text_score
                ),
                Mode::Semantic | Mode::FullText => format!("Text relevance: {:.2}", found.score),
            };
            text.push_str(&format!(
                "📄 **{}** ({})\n   📊 {scores}\n   📝 {}\n\n",
                found.title, found.uri, found.snippet
            ));
        }
        let similar = if self.mode == Mode::Semantic { ", FindSimilarConcepts" } else { "" };
        text.push_str(&format!(
            "\n💡 Next: Consider using ReadMemory, BuildContext{similar} for related operations."
        ));
        text
    }
}
