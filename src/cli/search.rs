//! `kgctx search`

use clap::Args as ClapArgs;

use crate::cli::outcome::{Failure, Outcome};
use crate::cli::place::PlaceArgs;
use crate::cli::question::QuestionArgs;
use crate::cli::screen::Screen;
use crate::cli::values::from_one;
use crate::core::note::concept::Concept;
use crate::core::search::answer::{Match, SearchAnswer, SearchHit};
use crate::core::text::for_terminal::{self, Style};
use crate::sources::search::search;

/// How many concepts of a note are shown on a screen.
const CONCEPTS_SHOWN: usize = 8;

/// Find notes by their words, title, alias or concept
///
/// A note with the query as its title comes first, then one with that alias or file name, then notes that mention
/// it as a concept or contain its words. Any text is a valid query; put one that starts with a hyphen after --. A
/// memory:// address finds its note. Exits with 1 if no note matches.
#[derive(Debug, ClapArgs)]
pub(super) struct SearchArgs {
    /// What to look for
    query: String,
    /// More words of the same query
    more: Vec<String>,
    /// The maximum number of notes
    #[arg(long, default_value_t = 5, value_parser = from_one::<usize>)]
    limit: usize,
    #[command(flatten)]
    question: QuestionArgs,
}

pub(super) fn run(place: &PlaceArgs, args: &SearchArgs, screen: &mut Screen) -> Outcome {
    let query = [std::slice::from_ref(&args.query), &args.more].concat().join(" ");
    let answer = args.question.ask(
        place,
        screen,
        |client| client.search(&query, args.limit),
        |workspace| search(workspace, &query, args.limit),
        print,
    )?;
    if answer.results.is_empty() { Err(Failure::said_no()) } else { Ok(()) }
}

fn print(answer: &SearchAnswer, screen: &mut Screen) {
    if answer.results.is_empty() {
        screen.line(format!("No note matches {:?}.", answer.query));
    }
    for (n, hit) in answer.results.iter().enumerate() {
        if n > 0 {
            screen.line("");
        }
        print_hit(n + 1, hit, screen);
    }
}

fn print_hit(number: usize, hit: &SearchHit, screen: &mut Screen) {
    let because = match hit.matched {
        Match::Uri => "this address",
        Match::Title => "this title",
        Match::Alias => "this alias",
        Match::File => "this file name",
        Match::Concept => "mentions the concept",
        Match::Text => "has the words",
    };
    let title = screen.paint(Style::Strong, for_terminal::one_line(&hit.title));
    let uri = screen.paint(Style::Link, for_terminal::one_line(&hit.uri));
    let because = screen.paint(Style::Faint, format!("({because})"));
    screen.line(format!("{number}. {title}  {uri}  {because}"));
    if !hit.snippet.is_empty() {
        let snippet = screen.folded(&for_terminal::one_line(&hit.snippet), 3);
        screen.line(format!("   {snippet}"));
    }
    if !hit.concepts.is_empty() {
        screen.line(format!("   {}", concepts(&hit.concepts, screen)));
    }
}

/// The first concepts of a note as links, and how many more there are.
pub(super) fn concepts(concepts: &[Concept], screen: &Screen) -> String {
    let shown = links(&concepts[..concepts.len().min(CONCEPTS_SHOWN)]);
    let more = concepts.len().saturating_sub(CONCEPTS_SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    screen.paint(Style::Faint, format!("{shown}{more}"))
}

pub(super) fn links(concepts: &[Concept]) -> String {
    let link = |concept: &Concept| format!("[[{}]]", for_terminal::one_line(concept.as_str()));
    concepts.iter().map(link).collect::<Vec<_>>().join(" ")
}
