//! `kgctx handoff rotate`

use std::path::PathBuf;

use clap::Args as ClapArgs;
use serde_json::json;

use crate::app::handoff::HandoffError;
use crate::app::rotation::{self, RotationRequest, RotationView};
use crate::cli::outcome::{Failure, Outcome, USAGE};
use crate::cli::place::PlaceArgs;
use crate::cli::screen::Screen;
use crate::core::text::for_terminal;
use crate::workspace::AppError;

/// Continue in a fresh context, with a handoff that this session writes
///
/// An agent runs this as its last step. The command returns at once; at the end of the turn, kgctx clears the context, and
/// the new one starts with the handoff. Works in OpenCode, and in Claude Code in tmux after `kgctx install claude-code
/// --rotation`. kgctx clears a window only while it is idle and its composer is empty.
#[derive(Debug, ClapArgs)]
pub(super) struct RotateArgs {
    /// The handoff: a markdown file [default: HANDOFF.md]
    file: Option<PathBuf>,
    /// The text, instead of a file
    #[arg(long, value_name = "MARKDOWN", conflicts_with = "file", allow_hyphen_values = true)]
    body: Option<String>,
    /// The goal; enough without a file or a text
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    goal: Option<String>,
    /// What to do next
    #[arg(long = "next", value_name = "TEXT", allow_hyphen_values = true)]
    next_step: Option<String>,
    /// A sentence to add to the first prompt
    #[arg(long = "then", value_name = "TEXT", allow_hyphen_values = true)]
    task: Option<String>,
    /// Show the progress of this session's rotation; outside a session, of all rotations under way
    #[arg(long, conflicts_with_all = ["file", "body", "goal", "next_step", "task", "cancel", "retry"])]
    status: bool,
    /// Cancel it; the handoff waits for the next session
    #[arg(long, conflicts_with_all = ["file", "body", "goal", "next_step", "task", "retry"])]
    cancel: bool,
    /// Start again, after it was stuck or found the window in use
    #[arg(long, conflicts_with_all = ["file", "body", "goal", "next_step", "task"])]
    retry: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Go on with a rotation
#[derive(Debug, ClapArgs)]
pub(super) struct RotateNowArgs {
    /// Which
    #[arg(long, allow_hyphen_values = true, required_unless_present = "ended")]
    token: Option<i64>,
    /// The session whose turn has ended, where the rotation could not be reserved
    #[arg(long, requires = "tick", conflicts_with = "token")]
    ended: Option<String>,
    /// When that was
    #[arg(long)]
    tick: Option<i64>,
    /// Agents work in the background: it has to wait
    #[arg(long = "agents")]
    has_agents: bool,
}

pub(super) fn run(
    place: &PlaceArgs,
    channel: Option<&str>,
    session: Option<&str>,
    args: &RotateArgs,
    screen: &mut Screen,
) -> Outcome {
    let request = place.request();
    if args.status {
        let all = rotation::list(&request, session).map_err(refused)?;
        print_all(&all, args.json, screen);
        return Ok(());
    }
    if args.cancel || args.retry {
        let change = if args.cancel { rotation::cancel } else { rotation::retry };
        let changed = change(&request, session).map_err(refused)?;
        print_all(&[changed], args.json, screen);
        return Ok(());
    }
    let wanted = RotationRequest {
        file: args.file.clone(),
        body: args.body.clone(),
        goal: args.goal.clone(),
        next_step: args.next_step.clone(),
        task: args.task.clone(),
    };
    let id = match rotation::schedule(&request, channel, session, &wanted) {
        // It says itself that it is an error.
        Err(error @ HandoffError::NoFile(_)) => {
            screen.complain(&format!("{}\n", for_terminal::lines(&error.to_string())));
            return Err(Failure::said_no());
        }
        scheduled => scheduled.map_err(refused)?,
    };
    if args.json {
        screen.json(&json!({ "handoff": id, "state": "scheduled" }));
        return Ok(());
    }
    screen.line("Handoff scheduled — will execute after current turn completes");
    screen.line(format!("<HANDOFF_ID>{id}</HANDOFF_ID>"));
    Ok(())
}

pub(super) fn run_now(args: &RotateNowArgs) {
    match (args.token, &args.ended, args.tick) {
        (Some(token), ..) => rotation::worker::run(token),
        (None, Some(session), Some(tick)) => {
            rotation::worker::begin_for(session, args.has_agents, tick);
        }
        _ => {}
    }
}

/// A store that cannot be used ends with 2 here: an agent tells it from a refusal by that.
fn refused(error: HandoffError) -> Failure {
    let is_store = matches!(
        error,
        HandoffError::State(_)
            | HandoffError::App(AppError::State(_))
            | HandoffError::Document { .. }
    );
    let failure = Failure::from(error);
    Failure { code: if is_store { USAGE } else { failure.code }, ..failure }
}

fn print_all(rotations: &[RotationView], is_json: bool, screen: &mut Screen) {
    if is_json {
        let all: Vec<_> = rotations.iter().map(RotationView::to_json).collect();
        screen.json(&json!({ "rotations": all }));
        return;
    }
    if rotations.is_empty() {
        screen.line("No rotation is under way.");
    }
    for rotation in rotations {
        let session = for_terminal::one_line(rotation.session());
        let words = for_terminal::one_line(&rotation.words());
        screen.line(format!(
            "{}  session {session}, handoff {}",
            rotation.state(),
            rotation.handoff()
        ));
        screen.line(format!("  {words}"));
    }
}
