//! The links of 1,500 hostile documents, as maenifold named and counted them. Every difference follows from a rule of
//! docs/maenifold.md.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use kgctx::core::note::NotePath;
use kgctx::core::note::concept::Concept;
use kgctx::core::note::decode::{Decoded, decode};
use kgctx::core::note::markdown::{self, Parts};
use kgctx::core::note::wikilink::{find_links, find_places};
use kgctx::core::settings::LinkStyle;
use pulldown_cmark::{Event, Options, Parser};
use serde_json::Value;

use crate::support::Scratch;
use crate::support::maenifold_real::{json_lines, unpack};

type Counts = BTreeMap<String, i64>;

fn of_kgctx(text: &str) -> Counts {
    let Decoded::Text(text, remarks) = decode(text.as_bytes().to_vec()) else { panic!("no text") };
    let note = markdown::parse(&text, "stem", LinkStyle::Maenifold, remarks);
    note.mentions.into_iter().map(|(name, n)| (name.to_string(), i64::from(n))).collect()
}

fn of_maenifold(document: &Value) -> Counts {
    let concepts = document["concepts"].as_object().unwrap();
    concepts.iter().map(|(name, n)| (name.clone(), n.as_i64().unwrap())).collect()
}

/// The differences that docs/maenifold.md lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rule {
    /// `[[ / ]]` is a concept for maenifold.
    EmptyName,
    /// A link over the end of a line: its name has maenifold's carriage return.
    LineEnd,
    /// maenifold blanks the first of equal code spans, and single backticks only.
    InlineCode,
    /// A comment, or a tag with brackets, inside of a paragraph.
    InlineHtml,
    /// `[name]: address` is text for maenifold if a line of text follows it.
    LinkTarget,
}

/// The names of the links that a rule hides, wholly or in part.
fn hidden(body: &str, rule: Rule) -> Vec<String> {
    let parser = Parser::new_ext(body, Options::empty());
    let targets = parser.reference_definitions().iter().map(|(_, target)| target.span.clone());
    let mut places: Vec<Range<usize>> = targets.filter(|_| rule == Rule::LinkTarget).collect();
    places.extend(parser.into_offset_iter().filter_map(|(event, range)| {
        let is_hidden = match event {
            Event::Code(_) => rule == Rule::InlineCode,
            Event::InlineHtml(_) => rule == Rule::InlineHtml,
            _ => false,
        };
        is_hidden.then_some(range)
    }));
    let mut names = Vec::new();
    let mut add = |text: &str| names.extend(Concept::parse(text).map(|name| name.to_string()));
    // What is hidden stands for itself, and so does what reaches into it.
    for place in &places {
        find_links(&body[place.clone()], &mut add);
    }
    find_places(body, |link| {
        let reaches = |place: &Range<usize>| {
            let is_whole = place.start < link.start && link.end < place.end;
            place.start < link.end + 2 && link.start < place.end + 2 && !is_whole
        };
        if places.iter().any(reaches) {
            add(&body[link]);
        }
    });
    names
}

/// The rules by which the counts of a document differ; what no rule explains is an error.
fn differences(text: &str, theirs: &Counts) -> Result<BTreeSet<Rule>, String> {
    let Decoded::Text(text, _) = decode(text.as_bytes().to_vec()) else {
        return Err("no text".to_owned());
    };
    let body = &*Parts::of(&text, LinkStyle::Maenifold).body;
    let mut rules = BTreeSet::new();
    let mut ours = of_kgctx(&text);
    for (name, &n) in theirs {
        if name.is_empty() {
            rules.insert(Rule::EmptyName);
            continue;
        }
        let plain = name.replace("\r\n", "\n").replace('\r', "\n");
        if plain != *name {
            rules.insert(Rule::LineEnd);
        }
        let known = ours.remove(&plain).unwrap_or_default();
        let mut missing = n - known;
        for rule in [Rule::InlineCode, Rule::InlineHtml, Rule::LinkTarget] {
            let n_hidden =
                hidden(body, rule).iter().filter(|hidden| **hidden == plain).count() as i64;
            if missing > 0 && n_hidden > 0 {
                missing -= n_hidden.min(missing);
                rules.insert(rule);
            }
        }
        if missing != 0 {
            return Err(format!("{name:?}: {known} here, {n} there"));
        }
    }
    match ours.pop_first() {
        Some((name, n)) => Err(format!("{name:?}: {n} here, none there")),
        None => Ok(rules),
    }
}

#[test]
fn links_are_named_and_counted_as_maenifold_does() {
    let scratch = Scratch::new();
    unpack("links", &scratch.path());
    let mut by_rule: BTreeMap<Rule, usize> = BTreeMap::new();
    let mut unexplained = Vec::new();
    for document in json_lines(scratch.path().join("links.jsonl")) {
        let text = document["text"].as_str().unwrap();
        match differences(text, &of_maenifold(&document)) {
            Ok(rules) => rules.into_iter().for_each(|rule| *by_rule.entry(rule).or_default() += 1),
            Err(why) => unexplained.push(format!("{}: {why}\n  {text:?}", document["path"])),
        }
    }
    assert!(unexplained.is_empty(), "{} documents:\n{}", unexplained.len(), unexplained.join("\n"));
    // Each rule is needed.
    assert_eq!(by_rule.len(), 5, "{by_rule:?}");
}

/// A title of the front matter is maenifold's; else it takes the name of the file, and kgctx may find a heading.
#[test]
fn titles_are_those_of_the_front_matter() {
    let scratch = Scratch::new();
    unpack("links", &scratch.path());
    let mut n_titled = 0;
    for document in json_lines(scratch.path().join("links.jsonl")) {
        let path = NotePath::parse(document["path"].as_str().unwrap()).unwrap();
        let (text, theirs) =
            (document["text"].as_str().unwrap(), document["title"].as_str().unwrap());
        let Decoded::Text(text, remarks) = decode(text.as_bytes().to_vec()) else {
            panic!("{path}")
        };
        if theirs != path.stem() {
            n_titled += 1;
            let note = markdown::parse(&text, path.stem(), LinkStyle::Maenifold, remarks);
            let theirs: Vec<&str> = theirs.split_whitespace().collect();
            assert_eq!(note.title, theirs.join(" "), "{path}");
        }
    }
    assert!(n_titled > 0);
}

/// The rules by name, each with a text of its own.
#[test]
fn every_rule_has_a_case() {
    #[track_caller]
    fn check(text: &str, ours: &[&str]) {
        assert_eq!(of_kgctx(text).into_keys().collect::<Vec<_>>(), ours, "{text:?}");
    }
    check("[[ / ]]", &[]);
    check("[[a\r\nb]] [[a\nb]]", &["a\nb"]);
    check("`[[a]]` and `` [[b]] `` and `[[a]]`", &[]);
    check("a <!-- [[b]] --> <i title=\"[[c]]\"> [[<b>d]] [[e<br>f]]", &["<b>d", "e<br>f"]);
    check("[^1]: [[a\nb]] [[c]]", &["c"]);
    // Carriage returns by themselves end lines.
    check("# [[a]]\r\r- [[b]]\r- [[c]]\r\r```\r[[d]]\r```\r[[e]]", &["a", "b", "c", "e"]);
    check("---\rtitle: x\r---\r[[a]]\r", &["a"]);
}
