//! `kgctx read`

use clap::Args as ClapArgs;

use crate::cli::outcome::{Failure, NO, Outcome};
use crate::cli::place::PlaceArgs;
use crate::cli::progress::during;
use crate::cli::screen::Screen;
use crate::cli::search::links;
use crate::cli::values::from_one;
use crate::core::search::answer::{NamedNote, ReadAnswer};
use crate::core::search::masked::Masked;
use crate::core::text::for_terminal;
use crate::sources::read::{ReadQuestion, read};

/// Print the text of a note, up to a number of tokens
///
/// Masks secrets and fences the text like a context, because notes are data. Names the parts it leaves out, with the
/// command that prints them. For a concept that is not the name of a note, lists the notes that mention it.
#[derive(Debug, ClapArgs)]
pub(super) struct ReadArgs {
    /// The note's address, path, title, alias or file name, or a concept
    note: String,
    /// More words of the same name
    more: Vec<String>,
    /// The maximum number of tokens
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = from_one::<usize>)]
    tokens: usize,
    /// Start at this line
    #[arg(long, value_name = "LINE", default_value_t = 1, value_parser = from_one::<usize>)]
    from: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(place: &PlaceArgs, args: &ReadArgs, screen: &mut Screen) -> Outcome {
    let wanted = [std::slice::from_ref(&args.note), &args.more].concat().join(" ");
    let question = ReadQuestion {
        wanted: &wanted,
        dir: place.dir.as_deref().unwrap_or(std::path::Path::new("")),
        from: args.from,
        tokens: args.tokens,
    };
    let workspace = place.workspace(screen)?;
    let ((mut answer, text), refreshed) = during("Reading notes", |_| read(&workspace, question))?;
    screen.notice(refreshed.notice.as_ref());
    answer.mask();
    if args.json {
        screen.json(&answer);
    } else if let Some(text) = text {
        screen.foreign(&text);
    }
    match answer {
        ReadAnswer::Note { .. } | ReadAnswer::Concept { .. } => Ok(()),
        ReadAnswer::Ambiguous { name, notes } => Err(Failure::new(NO, ambiguous(&name, &notes))),
        ReadAnswer::Unknown { name, nearest } => {
            let name = for_terminal::one_line(&name);
            let close = match links(&nearest) {
                names if names.is_empty() => String::new(),
                names => format!("close to it: {names}; "),
            };
            let way = "`kgctx search` looks for words";
            Err(Failure::new(NO, format!("there is no note {name:?}; {close}{way}")))
        }
    }
}

fn ambiguous(name: &str, notes: &[NamedNote]) -> String {
    let addresses = notes.iter().map(|note| format!("\n  {}", for_terminal::one_line(&note.uri)));
    let (number, addresses) = (notes.len(), addresses.collect::<String>());
    let name = for_terminal::one_line(name);
    format!("{number} notes match {name:?}; pass the address of one:{addresses}")
}
