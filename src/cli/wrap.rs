//! `kgctx wrap`.

use std::ffi::OsString;

use clap::Args as ClapArgs;

use crate::app::wrap::{Wanted, WrapError, Wrapped, wrap};
use crate::cli::outcome::{Failure, NO, Outcome, UNAVAILABLE, USAGE};
use crate::cli::place::PlaceArgs;
use crate::cli::screen::Screen;
use crate::core::text::for_terminal;

/// Run an agent in this terminal, and restart it when its context is full
///
/// The agent has the whole terminal. kgctx passes its arguments unchanged and exits with its exit code. With
/// --auto-restart, kgctx ends a Claude Code session whose context is CRITICAL (see `kgctx monitor`) when it is idle after
/// a turn, and starts a new one with its handoff. This needs `kgctx install claude-code --monitor`. kgctx restarts only
/// sessions that it ended for this reason.
#[derive(Debug, ClapArgs)]
pub(super) struct WrapArgs {
    /// When an idle session's context is full, end it and continue in a new one
    #[arg(long)]
    auto_restart: bool,
    /// The maximum number of restarts in a row; 30 minutes without one reset the count
    #[arg(long, value_name = "N", default_value_t = 10)]
    max_restarts: u32,
    /// Start the first session with the handoff that waits for this project
    #[arg(long)]
    handoff: bool,
    /// The agent, with its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub(super) fn run(place: &PlaceArgs, args: &WrapArgs, screen: &mut Screen) -> Outcome {
    let WrapArgs { auto_restart: is_auto, max_restarts, handoff: with_handoff, command } = args;
    let (is_auto, max_restarts, with_handoff) = (*is_auto, *max_restarts, *with_handoff);
    let wanted = Wanted { command: command.clone(), is_auto, max_restarts, with_handoff };
    let mut say =
        |text: &str| screen.complain(&format!("kgctx: {}\n", for_terminal::one_line(text)));
    let Wrapped { code, is_refused, handoff, remarks } = wrap(&place.request(), &wanted, &mut say)?;
    for remark in remarks {
        say(&remark);
    }
    if is_refused {
        say(&format!(
            "Max restarts reached: {max_restarts} in a row; check what the agent does, and start it again yourself"
        ));
    }
    // Not to standard output, which is the agent's.
    if let Some(id) = handoff {
        screen.complain(&format!("Handoff available: {id}\n"));
    }
    match if is_refused { NO } else { code } {
        0 => Ok(()),
        code => Err(Failure::new(code, "")),
    }
}

impl From<WrapError> for Failure {
    fn from(error: WrapError) -> Failure {
        let code = match error {
            WrapError::App(error) => return error.into(),
            WrapError::NotClaude { .. } => USAGE,
            WrapError::NoHandoff { .. } => NO,
            WrapError::NotHere | WrapError::Start { .. } | WrapError::Again { .. } => UNAVAILABLE,
        };
        Failure::new(code, error)
    }
}
