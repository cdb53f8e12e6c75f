//! The law of the budget, for any notes and any budget: the final bytes never have more tokens or characters than
//! allowed, by the count of the reference tokenizer, and nothing in a note gets out of its fence.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::thread;

use kgctx::core::context::budget::Budget;
use kgctx::core::context::build::ContextRequest;
use kgctx::core::context::candidate::Candidate;
use kgctx::core::context::compose::compose;
use kgctx::core::context::found::{ConceptDetail, FoundNote, Link, Signal};
use kgctx::core::context::line::Forms;
use kgctx::core::context::merge;
use kgctx::core::context::pack::{Packed, pack};
use kgctx::core::context::prices::prices;
use kgctx::core::context::rank::{Ranked, Ranking};
use kgctx::core::handoff::record::HandoffRecord;
use kgctx::core::handoff::section::prepare;
use kgctx::core::handoff::{
    Audience, Consume, Document, FoundFile, HandoffId, HandoffSection, Head, Kind, ListedFile,
    Occasion, Priority, Status,
};
use kgctx::core::host::Host;
use kgctx::core::named::Named;
use kgctx::core::note::Remarks;
use kgctx::core::note::concept::Concept;
use kgctx::core::note::markdown;
use kgctx::core::session::Moment;
use kgctx::core::settings::LinkStyle;
use kgctx::core::time::Timestamp;
use kgctx::core::tokens::encoding::Encoding;
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use tiktoken_rs::CoreBPE;

use super::sized;
use crate::support::hostile_text::{Random, hostile_text};

/// Texts per generated vault, and vaults.
const TEXTS: usize = 12;
const VAULTS: u64 = sized(900) as u64;

#[test]
fn no_text_exceeds_any_budget() {
    let tested: usize = thread::scope(|scope| {
        let halves = [0, 1].map(|half| {
            scope.spawn(move || {
                (0..VAULTS).filter(|seed| seed % 2 == half).map(check_vault).sum::<usize>()
            })
        });
        halves.map(|half| half.join().unwrap()).into_iter().sum()
    });
    assert!(tested >= sized(10_000), "{tested} texts");
}

/// A handoff with hostile words wherever it may have some.
fn handoff(texts: &[String], body: String) -> HandoffSection {
    let now = Timestamp::from_seconds(1_800_000_000);
    let record = HandoffRecord {
        id: HandoffId::new(now, None, 1),
        scope: String::new(),
        channel: texts[0].clone(),
        kind: Kind::Session,
        occasion: Occasion::from(texts[1].clone()),
        consume: Consume::Once,
        audience: Audience::Interactive,
        is_abandoned: false,
        priority: Priority::Medium,
        status: Status::Active,
        reason: None,
        session: Some(texts[2].clone()),
        source_id: None,
        goal: None,
        working_dir: None,
        created: now,
        created_by_pid: 1,
        expires: None,
        changed: now,
        changed_by_pid: 1,
        changed_by: None,
        superseded_by: None,
    };
    let head = Head {
        goal: Some(texts[3].clone()),
        next_step: Some(texts[0].clone()),
        git_ref: Some(texts[1].clone()),
        ..Head::default()
    };
    let listed = |text: &String| ListedFile {
        path: text.chars().take(30).collect(),
        found: FoundFile::Text { total: text.len() as u64, text: text.clone() },
    };
    let files = texts.iter().take(4).map(listed).collect();
    HandoffSection::Handoff(Box::new(prepare(&record, &Document { head, body }, files)))
}

/// Packs one vault into many budgets; returns its number of texts.
fn check_vault(seed: u64) -> usize {
    let mut random = Random::new(seed);
    let texts: Vec<String> = (0..TEXTS).map(|_| hostile_text(&mut random)).collect();
    let candidates = candidates(&texts, &mut random);
    let body = texts.concat();
    let handoff = handoff(&texts, body);
    let encoding = if seed.is_multiple_of(4) { Encoding::Cl100kBase } else { Encoding::O200kBase };
    let names = ["atlas", "`x` <system-reminder>", "日本語プロジェクト", ""];
    for n in 0..8 {
        let tokens = match n {
            0 => (seed % 8) as usize,
            1 => random.below(120),
            2 => 100 + random.below(300),
            3 | 4 => 500 + random.below(1_500),
            _ => random.below(8_001),
        };
        let host = Host::ALL[random.below(4)];
        let request = ContextRequest {
            // A supplement is packed like a context, in a frame of its own.
            moment: if n % 4 == 1 { &Moment::Prompt } else { &Moment::Start },
            encoding,
            budget: host.budget(tokens),
            project: Some(names[random.below(4)]).filter(|name| !name.is_empty()),
            handoff: (random.below(3) == 0).then_some(&handoff),
            ranking: if n % 2 == 0 { Ranking::Frequency } else { Ranking::Notes },
        };
        let packed = pack(&request, &candidates);
        check(&request, &candidates, &packed, &format!("seed {seed} budget {tokens} {host}"));
    }
    texts.len()
}

/// Candidates as a session in a vault of these texts would have them.
fn candidates(texts: &[String], random: &mut Random) -> Vec<Candidate> {
    let notes: Vec<FoundNote> = texts
        .iter()
        .enumerate()
        .map(|(n, text)| {
            let note = markdown::parse(text, "stem", LinkStyle::Maenifold, Remarks::default());
            let uri = match random.below(12) {
                0 => format!("memory://{}", text.chars().take(200).collect::<String>()),
                _ => format!("memory://project/area-{}/note-{n}", n % 3),
            };
            FoundNote {
                title: note.title,
                excerpt: note.excerpt,
                concepts: note.mentions.into_keys().collect(),
                modified: kgctx::core::time::Timestamp::from_seconds(0),
                signal: Signal::Recent { place: n + 1 },
                uri,
            }
        })
        .collect();
    let mut concepts = merge::merge(&notes);
    // The most frequent first; with those whose names no ranking would let through.
    concepts.sort_by_key(|found| Reverse(found.signals.len()));
    let ranked = Ranked { concepts, recent: notes.iter().collect(), ..Ranked::default() };
    let concepts: Vec<Concept> =
        ranked.concepts.iter().map(|found| found.concept.clone()).collect();
    let mut details = BTreeMap::new();
    for (n, concept) in concepts.iter().enumerate() {
        let own = notes.get(random.below(2 * notes.len()));
        let around = concepts.iter().cycle().skip(n + 1).take(random.below(11).min(concepts.len()));
        let neighbours = around.map(|concept| Link { concept: concept.clone(), notes: 2 });
        let detail = ConceptDetail {
            note: own.map(|note| (note.uri.clone(), note.excerpt.clone())),
            notes: random.below(2_000) as u32,
            neighbours: neighbours.collect(),
        };
        details.insert(concept.clone(), detail);
    }
    compose(&ranked, &details)
}

fn reference(encoding: Encoding) -> &'static CoreBPE {
    match encoding {
        Encoding::O200kBase => tiktoken_rs::o200k_base_singleton(),
        Encoding::Cl100kBase => tiktoken_rs::cl100k_base_singleton(),
    }
}

fn check(request: &ContextRequest<'_>, candidates: &[Candidate], packed: &Packed, case: &str) {
    let Packed { text, used, parts, shown } = packed;
    let Budget { tokens, chars } = request.budget;
    let counted = reference(request.encoding).encode_ordinary(text).len();
    assert!(counted <= tokens, "{case}: {counted} tokens\n{text}");
    assert_eq!(used.tokens, counted, "{case}: a count of our own");
    let in_utf16 = text.encode_utf16().count();
    assert_eq!(used.chars, in_utf16, "{case}");
    assert!(chars.is_none_or(|chars| in_utf16 <= chars), "{case}: {in_utf16} characters");
    let sum: usize = parts.iter().map(|part| part.tokens).sum();
    assert_eq!(sum, counted, "{case}: the parts add up\n{text}");
    if text.is_empty() {
        assert!(shown.iter().all(Option::is_none), "{case}");
        return;
    }
    check_fence(request, candidates, packed, case);
    let all_shown = shown.iter().all(Option::is_some);
    let is_counted = request.ranking == Ranking::Frequency && !all_shown;
    assert_eq!(text.contains(" did not fit; `kgctx explain`"), is_counted, "{case}\n{text}");
    let bad = |c: char| {
        c.is_control() && c != '\n' && c != '\t'
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{200b}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    assert!(!text.contains(bad), "{case}\n{text:?}");
    assert!(!text.to_lowercase().contains("<system-reminder"), "{case}\n{text}");
}

/// What comes from notes stands in one block of code, and the frame outside of it.
fn check_fence(
    request: &ContextRequest<'_>,
    candidates: &[Candidate],
    packed: &Packed,
    case: &str,
) {
    let mut blocks: Vec<String> = Vec::new();
    let mut outside = String::new();
    let mut inside = false;
    for event in Parser::new(&packed.text) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => {
                inside = true;
                blocks.push(String::new());
            }
            Event::End(TagEnd::CodeBlock) => inside = false,
            Event::Text(text) | Event::Code(text) => {
                if inside { blocks.last_mut().unwrap() } else { &mut outside }.push_str(&text)
            }
            _ => {}
        }
    }
    assert_eq!(blocks.len(), 1, "{case}\n{}", packed.text);
    for (shown, candidate) in packed.shown.iter().zip(candidates) {
        let Some(shown) = shown else { continue };
        let line = Forms::of(&candidate.line).shown(shown.extent);
        assert!(blocks[0].contains(&line), "{case}: {line}\n{}", packed.text);
    }
    let frame = outside.replace(request.project.unwrap_or_default(), "");
    let (beginning, end) = match request.ranking {
        _ if *request.moment == Moment::Prompt => ("Notes for this prompt", "not instructions."),
        Ranking::Frequency => ("Knowledge Graph ContextThe following", "go deeper into the graph."),
        Ranking::Notes => ("Knowledge Graph Context", "shows a note."),
    };
    assert!(frame.starts_with(beginning) && frame.ends_with(end), "{case}: {frame}");
    assert!(frame.len() < 700, "{case}: {frame}");
}

/// Notes as people write them, from which at least this share of a budget is used if there is more to say.
#[test]
fn at_least_95_percent_of_a_budget_is_used() {
    let mut tested = 0;
    for seed in 0..sized(250) as u64 {
        let mut random = Random::new(seed);
        let texts: Vec<String> = (0..15)
            .map(|n| match seed % 5 {
                // Nothing but long titles: no sentence that could be shortened.
                0 => format!("# {n} {}\n", "a title of many long words ".repeat(1 + n % 4)),
                _ => hostile_text(&mut random),
            })
            .collect();
        let candidates = candidates(&texts, &mut random);
        for _ in 0..8 {
            let request = ContextRequest {
                moment: &Moment::Start,
                encoding: Encoding::O200kBase,
                budget: Host::ALL[random.below(4)].budget(500 + random.below(6_000)),
                project: Some("atlas"),
                handoff: None,
                ranking: Ranking::Frequency,
            };
            let Packed { used, shown, text, .. } = pack(&request, &candidates);
            if shown.iter().all(Option::is_some) {
                continue;
            }
            tested += 1;
            let Budget { tokens, chars } = request.budget;
            let share = used.tokens as f64 / tokens as f64;
            let of_chars = chars.map_or(0.0, |chars| used.chars as f64 / chars as f64);
            assert!(share.max(of_chars) >= 0.95, "seed {seed}: {used:?} of {tokens}\n{text}");
        }
    }
    assert!(tested > sized(200), "{tested} budgets were too small");
}

#[test]
fn what_was_left_out_comes_in_at_the_budget_that_is_told() {
    for seed in 0..sized(4) as u64 {
        let mut random = Random::new(seed);
        let texts: Vec<String> = (0..8).map(|_| hostile_text(&mut random)).collect();
        let candidates = candidates(&texts, &mut random);
        let request = ContextRequest {
            moment: &Moment::Start,
            encoding: Encoding::O200kBase,
            budget: Host::Plain.budget(300 + random.below(500)),
            project: Some("atlas"),
            handoff: None,
            ranking: Ranking::Frequency,
        };
        let prices = prices(&request, &candidates, |tokens| Host::Plain.budget(tokens));
        let at = |tokens: usize, candidate: usize| {
            let budget = Budget { tokens, chars: None };
            pack(&ContextRequest { budget, ..request }, &candidates).shown[candidate].is_some()
        };
        let now = request.budget.tokens;
        for (candidate, price) in prices.iter().enumerate() {
            assert_eq!(price.is_none(), at(now, candidate), "seed {seed}");
            let Some(price) = *price else { continue };
            assert!(at(price, candidate) && !at(price - 1, candidate), "seed {seed} at {price}");
            if candidate % 7 == 0 && price <= now + 300 {
                let earlier = (now..price).any(|tokens| at(tokens, candidate));
                assert!(!earlier, "seed {seed}: {candidate} comes in before {price}");
            }
        }
    }
}
