//! `kgctx handoff`

mod adopt;
mod create;
mod export;
mod import;
mod list;
mod pickup;
mod reconcile;
mod rotate;
mod steps;

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

use crate::app::ending::finish_all;
use crate::app::handoff::{HandoffError, Handoffs};
use crate::cli::outcome::{Failure, NO, Outcome, UNAVAILABLE, USAGE};
use crate::cli::place::PlaceArgs;
use crate::cli::progress::during;
use crate::cli::screen::Screen;
use crate::core::handoff::{HandoffId, TypedId};
use crate::core::text::for_terminal;

/// What takes time: the state has one writer.
const WAITING: &str = "Waiting for another process";

/// Leave work for the next session, and pick up work that was left
///
/// A handoff is a markdown document. The next session gets it automatically, once; tasks wait in a queue until someone
/// picks them up. All worktrees of a repository share them.
#[derive(Debug, ClapArgs)]
pub(super) struct HandoffArgs {
    #[command(subcommand)]
    command: HandoffCommand,
    /// Use this channel instead of the folder's own
    #[arg(long, value_name = "NAME", global = true, display_order = 800)]
    channel: Option<String>,
    /// Act for this session [default: $KGCTX_SESSION_ID]
    #[arg(long, value_name = "ID", global = true, display_order = 801)]
    session: Option<String>,
}

#[derive(Debug, Subcommand)]
enum HandoffCommand {
    Create(create::CreateArgs),
    List(list::ListArgs),
    Show(list::ShowArgs),
    Pickup(pickup::PickupArgs),
    Release(steps::ReleaseArgs),
    Archive(steps::ArchiveArgs),
    Clear(steps::ClearArgs),
    Prune(steps::PruneArgs),
    Log(list::LogArgs),
    Rotate(rotate::RotateArgs),
    Adopt(adopt::AdoptArgs),
    Import(import::ImportArgs),
    Export(export::ExportArgs),
    Reconcile(reconcile::ReconcileArgs),
    #[command(hide = true)]
    Finish(FinishArgs),
    #[command(hide = true)]
    RotateNow(rotate::RotateNowArgs),
}

/// Write the handoffs of sessions that have ended
#[derive(Debug, ClapArgs)]
struct FinishArgs {
    /// A session that has ended and could not be noted
    #[arg(long, requires = "folder")]
    ended: Option<String>,
    /// Where it worked
    #[arg(long)]
    folder: Option<PathBuf>,
    /// What was said in it
    #[arg(long)]
    transcript: Option<PathBuf>,
}

pub(super) fn run(place: &PlaceArgs, args: &HandoffArgs, screen: &mut Screen) -> Outcome {
    let open = || {
        let (channel, session) = (args.channel.as_deref(), args.session.as_deref());
        during(WAITING, |_| Handoffs::open(&place.request(), channel, session))
    };
    match &args.command {
        HandoffCommand::Create(args) => create::run(open, args, screen),
        HandoffCommand::Finish(args) => {
            let ended = args.ended.clone().zip(args.folder.clone());
            finish_all(ended, args.transcript.clone());
            Ok(())
        }
        HandoffCommand::Rotate(wanted) => {
            let (channel, session) = (args.channel.as_deref(), args.session.as_deref());
            rotate::run(place, channel, session, wanted, screen)
        }
        HandoffCommand::RotateNow(args) => {
            rotate::run_now(args);
            Ok(())
        }
        HandoffCommand::List(args) => list::list(&open()?, args, screen),
        HandoffCommand::Show(args) => list::show(&open()?, args, screen),
        HandoffCommand::Log(args) => list::log(&open()?, args, screen),
        HandoffCommand::Pickup(args) => pickup::run(&mut open()?, args, screen),
        HandoffCommand::Release(args) => steps::release(&mut open()?, args, screen),
        HandoffCommand::Archive(args) => steps::archive(&mut open()?, args, screen),
        HandoffCommand::Clear(args) => steps::clear(&mut open()?, args, screen),
        HandoffCommand::Prune(args) => steps::prune(&mut open()?, args, screen),
        HandoffCommand::Adopt(args) => adopt::run(&mut open()?, args, screen),
        HandoffCommand::Import(args) => import::run(&mut open()?, args, screen),
        HandoffCommand::Export(args) => export::export(&open()?, args, screen),
        HandoffCommand::Reconcile(args) => reconcile::run(&place.request(), open, args, screen),
    }
}

impl From<HandoffError> for Failure {
    fn from(error: HandoffError) -> Failure {
        let code = match error {
            HandoffError::App(error) => return error.into(),
            HandoffError::Input(_)
            | HandoffError::Incomplete(_)
            | HandoffError::TooLong(_)
            | HandoffError::Usage(_) => USAGE,
            HandoffError::NoFile(_) | HandoffError::No(_) => NO,
            HandoffError::State(_) | HandoffError::Document { .. } => UNAVAILABLE,
        };
        Failure { code, message: error.to_string() }
    }
}

/// The ids that were typed, or `None` for the default where there are none.
fn named_or_default(ids: &[TypedId]) -> Vec<Option<&TypedId>> {
    if ids.is_empty() { vec![None] } else { ids.iter().map(Some).collect() }
}

/// The handoff that is meant by an id as it was typed.
fn meant(handoffs: &Handoffs, typed: Option<&TypedId>) -> Result<Option<HandoffId>, HandoffError> {
    typed.map(|typed| handoffs.named(typed)).transpose()
}

/// Does something for each of several, in order. Reports failures and goes on with the rest.
fn each<T>(
    all: &[T],
    screen: &mut Screen,
    mut one: impl FnMut(&T, &mut Screen) -> Outcome,
) -> Outcome {
    let mut failed: Option<Failure> = None;
    for item in all {
        let Err(failure) = one(item, screen) else { continue };
        if let Some(before) = failed.replace(failure) {
            screen.complain(&format!("kgctx: {}\n", for_terminal::lines(&before.message)));
        }
    }
    failed.map_or(Ok(()), Err)
}
