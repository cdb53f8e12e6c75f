//! `kgctx search`

use clap::Args as ClapArgs;

use crate::cli::outcome::Outcome;
use crate::cli::place::PlaceArgs;
use crate::cli::question::QuestionArgs;
use crate::cli::screen::{Screen, Style};
use crate::core::note::concept::Concept;
use crate::core::search::answer::{Match, SearchHit};
use crate::core::text::for_terminal;
use crate::sources::search::search;

/// How many concepts of a note are shown on a screen.
const CONCEPTS_SHOWN: usize = 8;

/// Find notes by their words, title, alias or concept
///
/// A note whose title is the query comes first, then one with that alias or file name, then notes that mention
/// it as a concept or hold its words. Any text is a valid query; a memory:// address finds its note.
#[derive(Debug, ClapArgs)]
pub(super) struct SearchArgs {
    /// What to look for
    #[arg(allow_hyphen_values = true)]
    query: String,
    /// More words of the same query
    more: Vec<String>,
    /// How many notes at most
    #[arg(long, default_value_t = 5)]
    limit: usize,
    #[command(flatten)]
    source: QuestionArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl SearchArgs {
    /// The whole query.
    fn query(&self) -> String {
        let mut query = self.query.clone();
        for word in &self.more {
            query.push(' ');
            query.push_str(word);
        }
        query
    }
}

pub(super) fn run(place: &PlaceArgs, args: &SearchArgs, screen: &mut Screen) -> Outcome {
    let query = args.query();
    let answer = args.source.ask(
        place,
        screen,
        |client| client.search(&query, args.limit),
        |workspace| search(workspace, &query, args.limit),
    )?;
    if args.json {
        screen.json(&answer);
        return Ok(());
    }
    if answer.results.is_empty() {
        screen.line(format!("No note matches {:?}.", answer.query));
    }
    for (n, hit) in answer.results.iter().enumerate() {
        if n > 0 {
            screen.line("");
        }
        print(n + 1, hit, screen);
    }
    Ok(())
}

fn print(number: usize, hit: &SearchHit, screen: &mut Screen) {
    let because = match hit.matched {
        Match::Uri => "this address",
        Match::Title => "this title",
        Match::Alias => "this alias",
        Match::File => "this file name",
        Match::Concept => "mentions the concept",
        Match::Text => "has the words",
    };
    screen.line(format!(
        "{number}. {}  {}  {}",
        screen.paint(Style::Strong, for_terminal::one_line(&hit.title)),
        screen.paint(Style::Link, for_terminal::one_line(&hit.uri)),
        screen.paint(Style::Faint, format!("({because}, {:.2})", hit.score)),
    ));
    if !hit.snippet.is_empty() {
        screen.line(format!("   {}", for_terminal::one_line(&hit.snippet)));
    }
    if !hit.concepts.is_empty() {
        screen.line(format!("   {}", concepts(&hit.concepts, screen)));
    }
}

/// The first concepts of a note as links, and how many more there are.
pub(super) fn concepts(concepts: &[Concept], screen: &Screen) -> String {
    let shown: Vec<String> = concepts
        .iter()
        .take(CONCEPTS_SHOWN)
        .map(|concept| format!("[[{}]]", for_terminal::one_line(concept.as_str())))
        .collect();
    let more = concepts.len().saturating_sub(CONCEPTS_SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    screen.paint(Style::Faint, format!("{}{more}", shown.join(" ")))
}
