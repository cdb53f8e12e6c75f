//! The links of 1,500 hostile documents, as maenifold named and counted them. Every difference follows from a rule of
//! docs/maenifold.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;

use kgctx::core::note::NotePath;
use kgctx::core::note::concept::Concept;
use kgctx::core::note::decode::{Decoded, decode};
use kgctx::core::note::front_matter;
use kgctx::core::note::markdown::{self, Parts};
use kgctx::core::note::wikilink::{find_links, find_places};
use kgctx::core::settings::LinkStyle;
use pulldown_cmark::{Event, Options, Parser, Tag};
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

/// The differences that docs/maenifold.md lists and these documents have, and one that they have not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rule {
    /// `[[ / ]]` is a concept for maenifold.
    EmptyName,
    /// A link over the end of a line: its name has the line's end as it is written, and what begins the next line.
    LineEnd,
    /// maenifold blanks the first of equal code spans, in single backticks and on one line.
    InlineCode,
    /// A comment, or a tag with brackets, inside of a paragraph.
    InlineHtml,
    /// `[name]: address` is text for maenifold if a line of text follows it.
    LinkTarget,
    /// What stands between two rules right behind the front matter is front matter for maenifold, too.
    SecondFrontMatter,
}

/// Where a rule hides text, and the text with the code spans blanked that maenifold blanks.
fn hidden_places(body: &str, rule: Rule) -> (Vec<Range<usize>>, String) {
    let (mut places, mut covered) = (Vec::new(), vec![false; body.len()]);
    let mut blanked = body.to_owned();
    let mut blanked_in_block = BTreeSet::new();
    for (event, range) in Parser::new_ext(body, Options::empty()).into_offset_iter() {
        match event {
            Event::Start(Tag::Paragraph | Tag::Heading { .. } | Tag::Item) => {
                blanked_in_block.clear();
            }
            Event::Start(_) | Event::End(_) => {}
            _ => covered[range.clone()].fill(true),
        }
        match event {
            Event::Code(code) if rule == Rule::InlineCode => {
                let written = &body[range.clone()];
                if written == format!("`{code}`") && blanked_in_block.insert(written) {
                    blanked.replace_range(range.clone(), &" ".repeat(range.len()));
                }
                places.push(range);
            }
            Event::InlineHtml(_) if rule == Rule::InlineHtml => places.push(range),
            _ => {}
        }
    }
    if rule == Rule::LinkTarget {
        // A target of links is no event; of two with one name, the parser tells one.
        let lines = body.split_inclusive('\n').scan(0, |at, line| {
            *at += line.len();
            Some(*at - line.len()..*at)
        });
        places.extend(lines.filter(|line| !covered[line.clone()].contains(&true)));
    }
    (places, blanked)
}

/// The names of the links that a rule hides, wholly or in part.
fn hidden(body: &str, rule: Rule) -> Vec<String> {
    let (places, blanked) = hidden_places(body, rule);
    let mut names = Vec::new();
    let mut add = |text: &str| names.extend(Concept::parse(text).map(|name| plain(name.as_str())));
    // What is hidden stands for itself, and so does what reaches into it.
    for place in &places {
        find_links(&body[place.clone()], &mut add);
    }
    find_places(&blanked, |link| {
        let reaches = |place: &Range<usize>| {
            let is_whole = place.start < link.start && link.end < place.end;
            place.start < link.end + 2 && link.start < place.end + 2 && !is_whole
        };
        if places.iter().any(reaches) {
            add(&blanked[link]);
        }
    });
    names
}

/// A name without what stands around the ends of its lines.
fn plain(name: &str) -> String {
    let unix = name.replace("\r\n", "\n").replace('\r', "\n");
    let lines = unix.split('\n').enumerate().map(|(n, line)| {
        let line = if n > 0 { line.trim_start_matches([' ', '\t', '-', '>']) } else { line };
        if n < unix.matches('\n').count() { line.trim_end_matches(['-', '\\']) } else { line }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The rules by which the counts of a document differ; what no rule explains is an error.
fn differences(text: &str, theirs: &Counts) -> Result<BTreeSet<Rule>, String> {
    let Decoded::Text(text, _) = decode(text.as_bytes().to_vec()) else {
        return Err("no text".to_owned());
    };
    let parts = Parts::of(&text, LinkStyle::Maenifold);
    let mut rules = BTreeSet::new();
    let mut ours = of_kgctx(&text);
    let mut body = &*parts.body;
    let has_front_matter = body.len() < text.len();
    if has_front_matter && let (Some(_), rest) = front_matter::split(body.trim_start_matches('\n'))
    {
        rules.insert(Rule::SecondFrontMatter);
        ours = of_kgctx(&format!("\n{rest}"));
        body = rest;
    }
    for (name, &n) in theirs {
        if name.is_empty() {
            rules.insert(Rule::EmptyName);
            continue;
        }
        let plain = plain(name);
        let known = match ours.remove(name) {
            Some(known) => known,
            None => ours.remove(&plain).unwrap_or_default(),
        };
        if plain != *name && name.contains(['\r', '\n']) {
            rules.insert(Rule::LineEnd);
        }
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
    // Each rule is needed, but for one that these documents have no case of.
    assert_eq!(by_rule.len(), 5, "{by_rule:?}");
    assert!(!by_rule.contains_key(&Rule::SecondFrontMatter));
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

/// The names of the links that a text has here.
#[track_caller]
fn check(text: &str, ours: &[&str]) {
    assert_eq!(of_kgctx(text).into_keys().collect::<Vec<_>>(), ours, "{text:?}");
}

/// One row of the first table in `docs/maenifold.md`: its name, and what shows it.
type Case = (&'static str, fn());

const CASES: [Case; 12] = [
    ("the empty concept", empty_name),
    ("a link that contains a secret (`[[password=…]]`, an address with a token)", secret),
    ("inline code", inline_code),
    ("inline HTML", inline_html),
    ("a link across a line break", line_end),
    ("a link definition (`[name]: address`) followed by a line of text", link_target),
    ("text between two rules (`---`) directly after the front matter", second_front_matter),
    (
        "a numbered line, from 2 on, or an empty list item, directly after a quoted line",
        list_after_a_quote,
    ),
    ("an HTML block of `<pre>`, `<script>`, `<style>` or `<textarea>`", end_of_html),
    ("`<!doctype …>` in lower case", doctype),
    ("`<source>` directly after a line of text", source_tag),
    ("a file with a NUL character", nul),
];

#[test]
fn every_rule_is_named_in_the_guide_and_shown_here() {
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/maenifold.md");
    let guide = fs::read_to_string(guide).unwrap();
    let table = guide.split("| links | maenifold | kgctx | why |").nth(1).unwrap();
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let named: Vec<&str> = rows.map(|row| row.split('|').nth(1).unwrap().trim()).collect();
    assert_eq!(named, CASES.map(|(name, _)| name));
    for (_, show) in CASES {
        show();
    }
}

fn empty_name() {
    check("[[ / ]]", &[]);
}

fn secret() {
    check("[[password=hunter2xyz9]] [[postgres://u:s3cr3tpa55w0rd@db/x]] [[a]]", &["a"]);
}

fn inline_code() {
    check("`[[a]]` and `` [[b]] `` and `[[a]]`", &[]);
    check("`[[a]]\n`[[b]]` [[c]]", &["b", "c"]);
}

fn inline_html() {
    check("a <!-- [[b]] --> <i title=\"[[c]]\"> [[<b>d]] [[e<br>f]]", &["<b>d", "e<br>f"]);
}

fn line_end() {
    check("[[a\r\nb]] [[a\nb]]", &["a\nb"]);
    check("[[a  \nb]] [[a\\\nb]]\n\n> [[c\n> d]]\n\n- [[e\n  f]]", &["a\nb", "c\nd", "e\nf"]);
    check("[[a\n`code` b]] [[c `code`\nd]]\n\n> [[e\n> `code`f]]", &["a\nb", "c\nd", "e\nf"]);
}

fn link_target() {
    check("[^1]: [[a\nb]] [[c]]", &["c"]);
}

fn second_front_matter() {
    check("---\ntitle: x\n---\n\n---\n[[a]]\n\n---\n[[b]]", &["a", "b"]);
}

/// For maenifold, the second line belongs to the quote; so does the third of the second text.
fn list_after_a_quote() {
    check("> [[a]]\n10) [[b]]\n\n    [[c]]", &["a", "b", "c"]);
    check("> [[a]]\n-\n      [[b]]", &["a"]);
}

fn end_of_html() {
    check("<pre>\n[[a]]\n</script>\n[[b]]\n</pre>\n[[c]]", &["c"]);
}

fn doctype() {
    check("<!doctype html> [[a]]\n\n[[b]]", &["b"]);
}

fn source_tag() {
    check("x\n<source>\n[[a]]", &["a"]);
    check("<source>\n[[a]]", &[]);
}

fn nul() {
    assert_eq!(decode(b"[[a\0b]] [[c]]".to_vec()), Decoded::Binary);
}

/// Carriage returns by themselves end lines, as in maenifold.
#[test]
fn links_of_a_text_without_line_feeds_count() {
    check("# [[a]]\r\r- [[b]]\r- [[c]]\r\r```\r[[d]]\r```\r[[e]]", &["a", "b", "c", "e"]);
    check("---\rtitle: x\r---\r[[a]]\r", &["a"]);
}
