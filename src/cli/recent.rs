//! `kgctx recent`

use clap::Args as ClapArgs;

use crate::cli::outcome::Outcome;
use crate::cli::place::PlaceArgs;
use crate::cli::question::QuestionArgs;
use crate::cli::screen::Screen;
use crate::cli::search::concepts;
use crate::cli::values::{from_one, moment, one_of};
use crate::core::search::answer::{RecentAnswer, RecentFilter};
use crate::core::text::for_terminal::{self, Style};
use crate::core::time::{Timespan, Timestamp};
use crate::sources::recent::{RecentQuestion, recent};

/// List notes that changed recently, newest first
///
/// An empty list is an answer, too: the exit code is 0.
#[derive(Debug, ClapArgs)]
pub(super) struct RecentArgs {
    /// How far back: 24h, 90m, 7d, 2w, or [days.]hours:minutes:seconds like 1.00:00:00
    #[arg(long, value_name = "SPAN", default_value = "24h", value_parser = Timespan::parse, allow_hyphen_values = true)]
    timespan: Timespan,
    /// The maximum number of notes
    #[arg(long, default_value_t = 10, value_parser = from_one::<usize>)]
    limit: usize,
    /// Which notes
    #[arg(long, default_value = "all", value_parser = one_of(filter_help))]
    filter: RecentFilter,
    /// Answer as of this time, like 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = moment)]
    now: Option<Timestamp>,
    #[command(flatten)]
    question: QuestionArgs,
}

fn filter_help(filter: RecentFilter) -> &'static str {
    match filter {
        RecentFilter::All => "Every note",
        RecentFilter::Memory => "Notes outside memory://thinking/",
        RecentFilter::Thinking => "Notes below memory://thinking/",
    }
}

pub(super) fn run(place: &PlaceArgs, args: &RecentArgs, screen: &mut Screen) -> Outcome {
    let question = RecentQuestion {
        now: args.now,
        span: args.timespan,
        limit: args.limit,
        filter: args.filter,
    };
    args.question.ask(
        place,
        screen,
        |client| client.recent(question),
        |workspace| recent(workspace, question),
        |answer, screen| print(answer, args.timespan, screen),
    )?;
    Ok(())
}

fn print(answer: &RecentAnswer, timespan: Timespan, screen: &mut Screen) {
    if answer.items.is_empty() {
        screen.line(format!("No note changed in the last {timespan}."));
        if let Some(newest) = &answer.newest_older {
            let title = for_terminal::one_line(&newest.title);
            let age = newest.modified.ago(answer.now);
            screen.line(format!("The newest is {title}, {age}; --timespan looks further back."));
        }
    }
    for item in &answer.items {
        let title = screen.paint(Style::Strong, for_terminal::one_line(&item.title));
        let uri = screen.paint(Style::Link, for_terminal::one_line(&item.uri));
        screen.line(format!("{:>12}  {title}  {uri}", item.modified.ago(answer.now)));
        if !item.concepts.is_empty() {
            screen.line(format!("{:>12}  {}", "", concepts(&item.concepts, screen)));
        }
    }
}
