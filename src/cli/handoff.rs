//! `kgctx handoff`

mod args;
mod create;
mod list;
mod pickup;
mod steps;

use crate::app::ending::{Ended, finish_all};
use crate::app::handoff::{HandoffError, Handoffs};
use crate::cli::outcome::{Failure, NO, UNAVAILABLE, USAGE};
use crate::cli::place::PlaceArgs;
use crate::cli::screen::Screen;
use crate::core::text::for_terminal;

pub(super) use crate::cli::handoff::args::HandoffArgs;
use crate::cli::handoff::args::HandoffCommand;

pub(super) fn run(
    place: &PlaceArgs,
    args: &HandoffArgs,
    screen: &mut Screen,
) -> Result<(), Failure> {
    if let HandoffCommand::Finish(args) = &args.command {
        let ended = args.ended.clone().zip(args.folder.clone());
        let transcript = args.transcript.clone();
        let ended = ended.map(|(session, folder)| Ended { session, folder, transcript });
        finish_all(ended);
        return Ok(());
    }
    // Wrong input is told before anything is opened.
    let input = match &args.command {
        HandoffCommand::Create(create) => Some(create::input(create)?),
        _ => None,
    };
    let channel = args.channel.as_deref();
    let mut handoffs = Handoffs::open(&place.request(), channel, args.session.as_deref())?;
    let handoffs = &mut handoffs;
    match &args.command {
        HandoffCommand::Create(args) => {
            input.map_or(Ok(()), |input| create::run(handoffs, args, input, screen))
        }
        HandoffCommand::List(args) => list::list(handoffs, args, screen),
        HandoffCommand::Show(args) => list::show(handoffs, args, screen),
        HandoffCommand::Log(args) => list::log(handoffs, args, screen),
        HandoffCommand::Pickup(args) => pickup::run(handoffs, args, screen),
        HandoffCommand::Release(args) => steps::release(handoffs, args, screen),
        HandoffCommand::Archive(args) => steps::archive(handoffs, args, screen),
        HandoffCommand::Clear(args) => steps::clear(handoffs, args, screen),
        HandoffCommand::Prune(args) => steps::prune(handoffs, args, screen),
        HandoffCommand::Import(args) => steps::import(handoffs, args, screen),
        HandoffCommand::Export(args) => steps::export(handoffs, args, screen),
        HandoffCommand::Reconcile(args) => steps::reconcile(handoffs, args, screen),
        HandoffCommand::Finish(_) => Ok(()),
    }
}

impl From<HandoffError> for Failure {
    fn from(error: HandoffError) -> Failure {
        let code = match error {
            HandoffError::App(error) => return error.into(),
            HandoffError::Input(_)
            | HandoffError::Incomplete(_)
            | HandoffError::Empty
            | HandoffError::TooLong(_)
            | HandoffError::ListedFolder(_)
            | HandoffError::Id(_)
            | HandoffError::Editor(_) => USAGE,
            HandoffError::Unknown { .. }
            | HandoffError::Unavailable { .. }
            | HandoffError::PutAway { .. }
            | HandoffError::NoTask(_)
            | HandoffError::NoCurrent(_)
            | HandoffError::NothingClaimed(_)
            | HandoffError::NotClaimed { .. }
            | HandoffError::Archived { .. } => NO,
            HandoffError::State(_) | HandoffError::Document { .. } => UNAVAILABLE,
        };
        Failure { code, message: error.to_string() }
    }
}

/// Does something for each of several, in order. Whatever fails is told, and the rest is done all the same.
fn each<T>(
    all: &[T],
    screen: &mut Screen,
    mut one: impl FnMut(&T, &mut Screen) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut failed: Option<Failure> = None;
    for item in all {
        let Err(failure) = one(item, screen) else { continue };
        if let Some(before) = failed.replace(failure) {
            screen.complain(&format!("kgctx: {}\n", for_terminal::lines(&before.message)));
        }
    }
    failed.map_or(Ok(()), Err)
}
