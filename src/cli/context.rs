//! `kgctx context`

use clap::Args as ClapArgs;

use crate::cli::outcome::{Failure, Outcome};
use crate::cli::place::PlaceArgs;
use crate::cli::question::QuestionArgs;
use crate::cli::screen::Screen;
use crate::cli::search::links;
use crate::cli::values::{from_one, moment};
use crate::core::search::answer::ContextAnswer;
use crate::core::text::for_terminal::{self, Style};
use crate::core::time::Timestamp;
use crate::sources::context::{ContextQuestion, context};

/// Show the concepts that share notes with a concept
///
/// Uses maenifold's order: neighbours that share the most notes first, weighted by how fresh those notes are. Exits
/// with 1 if no note mentions the concept.
#[derive(Debug, ClapArgs)]
pub(super) struct ContextArgs {
    /// The concept, in any spelling: "Auth Flow", auth-flow, auth_flow
    concept: String,
    /// The number of steps; above 1, also lists concepts further away
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=5))]
    depth: u32,
    /// The maximum number of concepts
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = from_one::<usize>)]
    max_entities: usize,
    /// Answer as of this time, like 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = moment)]
    now: Option<Timestamp>,
    #[command(flatten)]
    question: QuestionArgs,
}

pub(super) fn run(place: &PlaceArgs, args: &ContextArgs, screen: &mut Screen) -> Outcome {
    let question = ContextQuestion {
        now: args.now,
        concept: &args.concept,
        depth: args.depth,
        max_entities: args.max_entities,
    };
    let answer = args.question.ask(
        place,
        screen,
        |client| client.context(question),
        |workspace| context(workspace, question),
        print,
    )?;
    if answer.known { Ok(()) } else { Err(Failure::said_no()) }
}

fn print(answer: &ContextAnswer, screen: &mut Screen) {
    let name = for_terminal::one_line(&answer.concept);
    if !answer.known {
        screen.line(format!("No note mentions [[{name}]]."));
        if !answer.nearest.is_empty() {
            screen.line(format!("Close to it: {}", links(&answer.nearest)));
        }
        return;
    }
    screen.line(screen.paint(Style::Strong, format!("[[{name}]]")));
    if answer.related_concepts.is_empty() {
        screen.line("No other concept shares a note with it.");
    }
    let widest =
        answer.related_concepts.iter().map(|related| related.name.as_str().chars().count()).max();
    for related in &answer.related_concepts {
        let link = format!("[[{}]]", for_terminal::one_line(related.name.as_str()));
        let notes = if related.files == 1 { "note " } else { "notes" };
        let uris: Vec<String> =
            related.uris.iter().map(|uri| for_terminal::one_line(uri)).collect();
        screen.line(format!(
            "  {link:<width$}  {:>6} {notes}  {}",
            related.files,
            screen.paint(Style::Link, uris.join(" ")),
            width = widest.unwrap_or_default().min(40) + 4,
        ));
    }
    if !answer.expanded_concepts.is_empty() {
        screen.line(format!("Further: {}", links(&answer.expanded_concepts)));
    }
}
