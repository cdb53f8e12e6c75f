//! Composes the candidates of a context of quoted notes: a few at length, many in one line, and a little of the graph.

use crate::core::context::build::ContextRequest;
use crate::core::context::candidate::{Candidate, Line, Part};
use crate::core::context::compose::{connections, shown_title};
use crate::core::context::found::{Found, Link, OpenThread, RankedNote};
use crate::core::context::line::Forms;
use crate::core::context::rank::{Ranked, note_signals};
use crate::core::note::concept::Concept;
use crate::core::quote::passage::{MOST_WORDS, Passage, n_words};
use crate::core::text::for_model;
use crate::core::tokens;
use crate::core::tokens::encoding::Encoding;

/// The number of notes at length for a budget of [`FULL_TOKENS`]; fewer for less.
const LONG_NOTES: usize = 2;
const MEDIUM_NOTES: usize = 7;
const FULL_TOKENS: usize = 4_000;
const MEDIUM_WORDS: usize = 60;
/// Below this budget no note is quoted at full length.
const LONG_FROM_TOKENS: usize = 1_500;
/// The graph gets up to 1/`GRAPH_SHARE` of the budget: every line about it costs the line of a note.
const GRAPH_SHARE: usize = 40;
/// The number of concepts whose neighbours a context shows at most.
pub const MOST_CONNECTIONS: usize = 5;
/// What goes on gets one line, with up to 1/`THREADS_SHARE` of the budget.
const THREADS_SHARE: usize = 12;
const MOST_THREADS: usize = 3;
const OPEN_THREADS: &str = "Open threads";
/// The number of neighbours in such a line.
const CONNECTED: usize = 4;
/// No card is shorter than this, so that no context holds more of them.
const LEAST_CARD_TOKENS: usize = 25;

/// The number of notes that a budget can hold at most.
pub fn most_notes(budget: usize) -> usize {
    budget / LEAST_CARD_TOKENS + 1
}

/// The number of notes that are quoted at length.
pub fn n_at_length(budget: usize) -> usize {
    scaled(MEDIUM_NOTES, budget)
}

fn scaled(n_notes: usize, budget: usize) -> usize {
    ((n_notes * budget + FULL_TOKENS / 2) / FULL_TOKENS).max(1)
}

pub(super) fn compose_notes(
    ranked: &Ranked<'_>,
    found: &Found,
    request: &ContextRequest<'_>,
) -> Vec<Candidate> {
    let ContextRequest { budget, encoding, .. } = *request;
    let (open, told) = threads_line(&found.threads, budget.tokens / THREADS_SHARE, encoding);
    let mut candidates: Vec<Candidate> = ranked
        .notes
        .iter()
        .filter(|ranked| !told.iter().any(|thread| thread.says_all_of(&ranked.note)))
        .take(most_notes(budget.tokens))
        .enumerate()
        .map(|(place, note)| note_line(note, words(place, budget.tokens), found))
        .collect();
    let at = n_at_length(budget.tokens).min(candidates.len());
    candidates.splice(at..at, graph_lines(ranked, found, budget.tokens / GRAPH_SHARE, encoding));
    candidates.splice(0..0, open);
    candidates
}

/// One line about what goes on, with at most so many tokens, and those that it tells.
fn threads_line(
    threads: &[OpenThread],
    room: usize,
    encoding: Encoding,
) -> (Option<Candidate>, &[OpenThread]) {
    let told: Vec<String> = threads
        .iter()
        .take(MOST_THREADS)
        .map(|OpenThread { uri, title, at, .. }| {
            format!("{} ({at}, {})", shown_title(title), for_model::one_line(uri))
        })
        .collect();
    for n in (1..=told.len()).rev() {
        let (name, quote) = (OPEN_THREADS.to_owned(), told[..n].join("; "));
        let (title, passage) = Default::default();
        let line = Line::Quoted { name, title, quote, passage };
        if tokens::count(encoding, &Forms::of(&line).whole()) <= room {
            let candidate = Candidate { part: Part::Notes, line, signals: Vec::new() };
            return (Some(candidate), &threads[..n]);
        }
    }
    (None, &[])
}

/// The best concepts with their strongest neighbours, with at most so many tokens.
fn graph_lines(
    ranked: &Ranked<'_>,
    found: &Found,
    mut room: usize,
    encoding: Encoding,
) -> Vec<Candidate> {
    let (mut lines, mut n_left) = (Vec::new(), MOST_CONNECTIONS);
    let mut told: Vec<(Concept, Concept)> = Vec::new();
    for concept in ranked.concepts.iter().filter(|found| says_something(&found.concept)) {
        let Some(detail) = found.details.get(&concept.concept) else { continue };
        let Some(mut line) = connections(concept, detail) else { continue };
        retain_links(&mut line, |link| says_something(&link.concept));
        let Line::Connected { to, .. } = &line.line else { continue };
        let one = &concept.concept;
        let pairs: Vec<_> =
            to.iter().take(CONNECTED).map(|link| (link.concept.clone(), one.clone())).collect();
        if pairs.is_empty() || n_left == 0 {
            continue;
        }
        n_left -= 1;
        retain_links(&mut line, |link| pairs.iter().any(|(other, _)| *other == link.concept));
        // What a line before has said the other way round takes room all the same: it is left to the notes.
        let text = format!("{}\n", Forms::of(&line.line).whole());
        let Some(left) = room.checked_sub(tokens::count(encoding, &text)) else { break };
        room = left;
        if retain_links(&mut line, |link| !told.contains(&(one.clone(), link.concept.clone()))) > 0
        {
            lines.push(line);
        }
        told.extend(pairs);
    }
    lines
}

/// Leaves out connections of a line. Returns how many are left.
fn retain_links(line: &mut Candidate, is_kept: impl FnMut(&Link) -> bool) -> usize {
    let Line::Connected { to, .. } = &mut line.line else { return 0 };
    to.retain(is_kept);
    to.len()
}

/// Whether the name of a concept is one, and neither a link with its label or address nor a date.
fn says_something(concept: &Concept) -> bool {
    let name = concept.as_str();
    !name.contains(['|', '#', ':']) && !is_date(name)
}

/// Whether a name consists of the numbers of a date, such as 2024-01-19, 2024.01 or 2024-W03.
fn is_date(name: &str) -> bool {
    let begins =
        name.as_bytes().first_chunk::<4>().is_some_and(|year| year.iter().all(u8::is_ascii_digit));
    begins
        && name
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'.' | b'w' | b'q'))
}

/// The number of words that are quoted of the note at a place; `None` for its card.
fn words(place: usize, budget: usize) -> Option<usize> {
    if budget >= LONG_FROM_TOKENS && place < scaled(LONG_NOTES, budget) {
        Some(MOST_WORDS)
    } else if place < n_at_length(budget) {
        Some(MEDIUM_WORDS)
    } else {
        None
    }
}

fn note_line(ranked: &RankedNote, words: Option<usize>, found: &Found) -> Candidate {
    let RankedNote { note, passage, .. } = ranked;
    let quote = words.map(|words| passage.quote(words));
    // The card of a note of few words has all of them, and its description.
    let quote = quote.filter(|quote| !note.excerpt.ends_with(quote.as_str()));
    let name = for_model::one_line(&note.uri);
    let title = Some(shown_title(&note.title)).filter(|title| adds_to(&name, title));
    let title = title.unwrap_or_default();
    let quote = match &quote {
        Some(quote) => without_title(quote, &note.title),
        // A card is just long enough to be recognised, with the title that may stand before it.
        None if title == note.title => without_title(&note.excerpt, &title),
        None => &note.excerpt,
    };
    let without_colon = |text: &str| text.trim_end_matches(':').len();
    let is_title_alone = quote[..without_colon(quote)] == title[..without_colon(&title)];
    let quote = for_model::one_line(if is_title_alone { "" } else { quote });
    let passage = passage.clone().without_title(&note.title);
    let has_more = passage.n_words() > n_words(&quote) && !is_title_alone;
    let passage = if has_more { passage } else { Passage::default() };
    Candidate {
        part: Part::Notes,
        line: Line::Quoted { name, title, quote, passage },
        signals: note_signals(found, note),
    }
}

/// A quote without the title that it begins with: address or title stand before it.
fn without_title<'a>(quote: &'a str, title: &str) -> &'a str {
    // No colon follows a heading that ends with another mark.
    let end = if title.ends_with(char::is_alphanumeric) { ':' } else { ' ' };
    let rest = quote.strip_prefix(title).and_then(|rest| rest.strip_prefix(end));
    rest.map(str::trim_start).filter(|rest| !rest.is_empty()).unwrap_or(quote)
}

/// Whether a title says more than the address: some word of it is not in there.
fn adds_to<'a>(uri: &'a str, title: &'a str) -> bool {
    let words =
        |text: &'a str| text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_same = |a: &str, b: &str| {
        a.eq_ignore_ascii_case(b)
            || !(a.is_ascii() && b.is_ascii()) && a.to_lowercase() == b.to_lowercase()
    };
    let of_uri: Vec<&str> = words(uri).collect();
    words(title).any(|word| !of_uri.iter().any(|of_uri| is_same(of_uri, word)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::context::found::{ConceptDetail, FoundConcept, FoundNote, Signal};
    use crate::core::quote::passage::Passage;
    use crate::core::time::Timestamp;

    #[test]
    fn the_graph_keeps_to_its_tokens_in_any_script() {
        let concept = |name: String| Concept::from_normal_form(name);
        let link = |n: usize| Link { concept: concept(format!("検索索引{n}")), notes: 2 };
        let detail =
            ConceptDetail { neighbours: (0..4).map(link).collect(), ..ConceptDetail::default() };
        let concepts: Vec<FoundConcept> = (0..5)
            .map(|n| FoundConcept {
                concept: concept(format!("概念図{n}")), signals: Vec::new()
            })
            .collect();
        let details = concepts.iter().map(|found| (found.concept.clone(), detail.clone()));
        let found = Found { details: details.collect(), ..Found::default() };
        let ranked = Ranked { concepts, ..Ranked::default() };
        let encoding = Encoding::O200kBase;
        let count = |room: usize| {
            let lines = graph_lines(&ranked, &found, room, encoding);
            let texts = lines.iter().map(|line| format!("{}\n", Forms::of(&line.line).whole()));
            (lines.len(), tokens::count(encoding, &texts.collect::<String>()))
        };
        let (n_lines, all) = count(10_000);
        assert_eq!(n_lines, MOST_CONNECTIONS);
        for room in 0..all {
            assert!(count(room).1 <= room, "{room}");
        }
    }

    #[test]
    fn no_connection_takes_two_lines_and_no_date_takes_one() {
        let concept = |name: &str| Concept::from_normal_form(name.to_owned());
        let around = [
            ("ship", &["mast", "2024-01-19"][..]),
            ("mast", &["ship"]),
            ("2024-w03", &["rope"]),
            ("sail", &["ship", "rope"]),
        ];
        let link = |name: &&str| Link { concept: concept(name), notes: 2 };
        let details = around.iter().map(|(name, others)| {
            let neighbours = others.iter().map(link).collect();
            (concept(name), ConceptDetail { neighbours, ..ConceptDetail::default() })
        });
        let concepts = around
            .iter()
            .map(|(name, _)| FoundConcept { concept: concept(name), signals: Vec::new() });
        let ranked = Ranked { concepts: concepts.collect(), ..Ranked::default() };
        let found = Found { details: details.collect(), ..Found::default() };
        let lines = graph_lines(&ranked, &found, 1_000, Encoding::O200kBase);
        let lines: Vec<String> = lines.iter().map(|line| Forms::of(&line.line).whole()).collect();
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].contains("mast") && !lines[0].contains("2024"), "{lines:?}");
        assert!(lines[1].contains("ship") && lines[1].contains("rope"), "{lines:?}");
    }

    #[test]
    fn a_title_is_not_said_twice() {
        assert_eq!(
            without_title("Edit history: 2026: mended it", "Edit history"),
            "2026: mended it"
        );
        assert_eq!(without_title("What now? We wait.", "What now?"), "We wait.");
        assert_eq!(without_title("Edit history", "Edit history"), "Edit history");
        assert_eq!(without_title("Edit history:", "Edit history"), "Edit history:");
        assert_eq!(without_title("Other words", "Edit history"), "Other words");
    }

    #[test]
    fn a_card_does_not_begin_with_the_title_before_it() {
        #[track_caller]
        fn check(uri: &str, title: &str, card: &str, expect: &str) {
            let note = FoundNote {
                uri: uri.to_owned(),
                title: title.to_owned(),
                excerpt: card.to_owned(),
                concepts: Vec::new(),
                modified: Timestamp::UNKNOWN,
                signal: Signal::Recent { place: 1 },
            };
            let ranked = RankedNote { note, passage: Passage::default(), relevance: 0 };
            let line = note_line(&ranked, None, &Found::default()).line;
            assert_eq!(Forms::of(&line).whole(), expect);
        }
        check("memory://quick", "Prepare", "Prepare: Wait", "- memory://quick Prepare: Wait\n");
        check("memory://a", "Apollo C++:", "Apollo C++:", "- memory://a Apollo C++:\n");
        check("memory://a", "Apollo C", "Apollo C:", "- memory://a Apollo C\n");
        check("memory://a", "Why?", "Why? So.", "- memory://a Why? So.\n");
        check(
            "memory://prepare",
            "Prepare",
            "Prepare: Wait",
            "- memory://prepare: Prepare: Wait\n",
        );
    }

    #[test]
    fn a_title_is_shown_where_it_adds_to_the_address() {
        assert!(!adds_to("memory://docs/auth-flow", "Auth flow"));
        assert!(adds_to("memory://docs/t13", "T13: Command line"));
    }
}
