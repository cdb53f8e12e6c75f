//! Tests of the pure pipeline, with plain values.

use proptest::prelude::*;

use super::*;
use crate::core::context::candidate::Part;
use crate::core::context::found::{ConceptDetail, FoundNote, Link, RankedNote, Signal};
use crate::core::context::pack::measure;
use crate::core::note::concept::Concept;
use crate::core::quote::lines::body_lines;
use crate::core::quote::passage::{Passage, most_words};
use crate::core::search::answer::Match;
use crate::core::time::Timestamp;

fn request(tokens: usize, chars: Option<usize>) -> ContextRequest<'static> {
    ContextRequest {
        moment: &Moment::Start,
        project: Some("atlas"),
        handoff: None,
        ranking: Ranking::Frequency,
        encoding: Encoding::default(),
        budget: Budget { tokens, chars },
    }
}

fn note(name: &str, concepts: &[String], signal: Signal) -> FoundNote {
    FoundNote {
        uri: format!("memory://{name}"),
        title: name.to_owned(),
        excerpt: format!("What {name} is about, in one sentence."),
        concepts: concepts.iter().filter_map(|name| Concept::parse(name)).collect(),
        modified: Timestamp::from_seconds(0),
        signal,
    }
}

/// Notes with these concepts from both sources, and a graph that links every concept to the first one.
fn found(searched: &[Vec<String>], recent: &[Vec<String>]) -> Found {
    let matched = Match::Text;
    let search = searched.iter().enumerate().map(|(n, concepts)| {
        note(&format!("searched-{n}"), concepts, Signal::Search { place: n + 1, matched })
    });
    let changed = recent.iter().enumerate().map(|(n, concepts)| {
        note(&format!("changed-{n}"), concepts, Signal::Recent { place: n + 1 })
    });
    let mut found =
        Found { search: search.collect(), recent: changed.collect(), ..Found::default() };
    let concepts: Vec<Concept> =
        found.search.iter().chain(&found.recent).flat_map(|note| note.concepts.clone()).collect();
    for concept in &concepts {
        let to = concepts.first().filter(|&first| first != concept).cloned();
        let neighbours = to.into_iter().map(|concept| Link { concept, notes: 2 }).collect();
        let detail = ConceptDetail { note: None, notes: 3, neighbours };
        found.details.insert(concept.clone(), detail);
    }
    found
}

/// A note that is ranked by its relevance, in a vault of few.
fn ranked(n: usize, concept: &String, text: &str, relevance: i64) -> RankedNote {
    let signal = Signal::Relevance {
        place: n + 1,
        sessions: n,
        age: 0,
        together: 0,
        short_path: false,
        long_text: false,
        linked: false,
        prompted: false,
        branch: false,
        uncommitted: None,
    };
    let mut note = note(&format!("ranked-{n}"), std::slice::from_ref(concept), signal);
    note.excerpt = text.chars().take(90).collect();
    let passage = Passage::of(&body_lines(text), &[], most_words(1));
    RankedNote { note, passage, relevance }
}

#[test]
fn no_note_gets_much_before_the_others_have_some() {
    let request = ContextRequest { ranking: Ranking::Notes, ..request(1_200, None) };
    let text = |n: usize| -> String {
        (0..150).map(|line| format!("Note {n} says in line {line} some seven words.\n")).collect()
    };
    let notes = (0..4).map(|n| ranked(n, &"concept".to_owned(), &text(n), 9 - n as i64));
    let found = Found { notes: notes.collect(), ..Found::default() };
    let context = build(&request, &found);
    let n_lines = |n: usize| context.text.matches(&format!("Note {n} says")).count();
    assert!(n_lines(3) >= 10 && n_lines(0) <= 2 * n_lines(3), "{}", context.text);
    assert!(context.used.tokens >= 1_190, "{}", context.used.tokens);
}

#[test]
fn the_concept_of_most_notes_comes_first_and_its_neighbours_are_shown() {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let found = found(&[names(&["Tiles", "Map"])], &[names(&["Map"]), names(&["Sea"])]);
    let context = build(&request(2_000, None), &found);
    let inside = context.text.split("```").nth(1).unwrap();
    assert_eq!(
        inside,
        "text\n**Related Concepts:**\n- [[map]] - in 3 notes\n- [[sea]] - in 3 notes\n- [[tiles]] - in 3 notes\n\n\
         **Recent Activity (last 24h):**\n\
         - changed-0 - What changed-0 is about, in one sentence. (memory://changed-0)\n\
         - changed-1 - What changed-1 is about, in one sentence. (memory://changed-1)\n\n\
         **Graph Connections:**\n- [[map]] → [[tiles]]\n- [[sea]] → [[tiles]]\n"
    );
    let entries: Vec<Part> = context.entries.iter().map(|entry| entry.candidate.part).collect();
    let (concept, recent, graph) = (Part::Concepts, Part::Recent, Part::Graph);
    assert_eq!(entries, [concept, concept, concept, recent, recent, graph, graph]);
    assert!(context.entries.iter().all(|entry| entry.shown.is_some()));
}

#[test]
fn nothing_found_or_no_room_is_no_text() {
    assert_eq!(build(&request(2_000, None), &Found::default()).text, "");
    let found = found(&[vec!["map".to_owned()]], &[]);
    let context = build(&request(10, None), &found);
    assert_eq!((context.text.as_str(), context.used), ("", Size::default()));
    assert!(context.entries.iter().all(|entry| entry.shown.is_none()));
}

proptest! {
    #[test]
    fn no_context_exceeds_its_budget_and_the_order_of_notes_does_not_matter(
        searched in prop::collection::vec(prop::collection::vec("[A-F`é ]{1,4}", 0..6), 0..6),
        recent in prop::collection::vec(prop::collection::vec("[A-F`é ]{1,4}", 0..6), 0..11),
        tokens in 0usize..900,
        chars in prop::option::of(0usize..4_000),
        turn in 0usize..11,
    ) {
        let request = request(tokens, chars);
        let mut found = found(&searched, &recent);
        let context = build(&request, &found);
        prop_assert_eq!(context.used, measure(request.encoding, &context.text));
        prop_assert!(request.budget.holds(context.used));
        let parts: usize = context.parts.iter().map(|part| part.tokens).sum();
        prop_assert_eq!(parts, context.used.tokens);
        for notes in [&mut found.search, &mut found.recent] {
            let by = turn.min(notes.len());
            notes.rotate_left(by);
        }
        prop_assert_eq!(build(&request, &found), context);
    }

    #[test]
    fn no_context_of_notes_exceeds_its_budget_and_equal_inputs_give_equal_bytes(
        notes in prop::collection::vec(("[A-F`é ]{1,4}", "[a-z`é日. ]{0,200}", 0i64..5), 0..30),
        searched in prop::collection::vec(prop::collection::vec("[A-F]{1,3}", 0..3), 0..4),
        tokens in 0usize..2_500,
        chars in prop::option::of(0usize..8_000),
    ) {
        let request = ContextRequest { ranking: Ranking::Notes, ..request(tokens, chars) };
        let mut found = found(&searched, &[]);
        found.notes = notes
            .iter()
            .enumerate()
            .map(|(n, (concept, text, relevance))| ranked(n, concept, text, *relevance))
            .collect();
        let context = build(&request, &found);
        prop_assert_eq!(context.used, measure(request.encoding, &context.text));
        prop_assert!(request.budget.holds(context.used));
        let parts: usize = context.parts.iter().map(|part| part.tokens).sum();
        prop_assert_eq!(parts, context.used.tokens);
        prop_assert_eq!(build(&request, &found), context);
    }
}
