//! `kgctx monitor`

use std::io::{self, Read};
use std::thread;

use clap::{Args as ClapArgs, Subcommand};
use serde_json::{Value, json};

use crate::app::monitor::{SessionFill, sessions, status_line};
use crate::cli::outcome::{Failure, NO, Outcome};
use crate::cli::place::PlaceArgs;
use crate::cli::screen::Screen;
use crate::core::monitor::Level;
use crate::core::text::for_terminal::{self, Style};
use crate::core::text::number::thousands;
use crate::core::time::Timestamp;
use crate::core::time_limits;

/// No status line is told more.
const LONGEST_STATUS: u64 = 1024 * 1024;

/// Show how full each live session's context is, and how kgctx knows
///
/// Tokens come from the host's own usage: Claude Code's transcript, OpenCode's messages. The window comes from Claude Code's
/// status line or OpenCode's list of models, else from the setting monitor.windows, else from a table of models, else it is
/// 200,000. If no usage can be read, the size of the transcript counts. Lists Claude Code sessions from their
/// start, and OpenCode sessions from their first answer.
#[derive(Debug, ClapArgs)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct MonitorArgs {
    #[command(subcommand)]
    command: Option<MonitorCommand>,
    /// Show only this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Keep running, and print again when something changes
    #[arg(long)]
    watch: bool,
}

#[derive(Debug, Subcommand)]
enum MonitorCommand {
    /// Act as Claude Code's status line: store the window, and show the output of CMD
    ///
    /// Reads Claude Code's input for a status line. Runs CMD with the same input and prints its output; without CMD, prints how
    /// full the context is. Always exits with 0.
    Statusline {
        /// Your own command, with its arguments
        #[arg(last = true, value_name = "CMD")]
        command: Vec<String>,
    },
}

pub(super) fn run(place: &PlaceArgs, args: &MonitorArgs, screen: &mut Screen) -> Outcome {
    if let Some(MonitorCommand::Statusline { command }) = &args.command {
        let mut input = Vec::new();
        // What cannot be read is only missing.
        let _ = io::stdin().take(LONGEST_STATUS).read_to_end(&mut input);
        screen.print(&status_line(&input, command));
        return Ok(());
    }
    let request = place.request();
    let mut shown: Option<Vec<Value>> = None;
    loop {
        let found = sessions(&request, args.session.as_deref())?;
        if let (Some(session), [], None) = (&args.session, found.as_slice(), &shown) {
            let session = for_terminal::one_line(session);
            let message = format!(
                "there is no live session {session}; `kgctx monitor` lists the known ones, and `kgctx install` adds \
                those of a host"
            );
            return Err(Failure::new(NO, message));
        }
        let facts: Vec<Value> = found.iter().map(facts).collect();
        if shown.as_ref() != Some(&facts) {
            print(&found, args.json, screen);
            shown = Some(facts);
        }
        if !args.watch || screen.written().is_err() {
            return Ok(());
        }
        thread::sleep(time_limits::MONITOR_POLL);
    }
}

/// What is new if it changes: all but the time of looking.
fn facts(session: &SessionFill) -> Value {
    let mut facts = session.to_json();
    facts["now"] = Value::Null;
    facts
}

fn print(sessions: &[SessionFill], is_json: bool, screen: &mut Screen) {
    if is_json {
        let sessions: Vec<Value> = sessions.iter().map(SessionFill::to_json).collect();
        screen.json(&json!({ "sessions": sessions }));
        return;
    }
    if sessions.is_empty() {
        screen.line("There is no live session. After `kgctx install`, this lists Claude Code sessions from their \
            start, and OpenCode sessions from their first answer.");
    }
    for SessionFill { session, channel, fill, window_at, now } in sessions {
        let style = match fill.level {
            Level::Ok | Level::EarlyWarn => Style::Faint,
            Level::Warn | Level::Critical => Style::Strong,
        };
        let level = screen.paint(style, format!("{:<10}", fill.level));
        let (window, window_from) = fill.window;
        let age = |at: Option<i64>| {
            let age = at.map(|at| Timestamp::from_milliseconds(at).ago(*now));
            age.map(|age| format!(", {age}")).unwrap_or_default()
        };
        let window_from = format!("{window_from}{}", age(*window_at));
        let (used, from) = match fill.tokens {
            Some((used, source, at)) => {
                let age = age(at);
                let percent = fill.percent.unwrap_or_default();
                let used =
                    format!("{} of {} tokens, {percent} %", thousands(used), thousands(window));
                (used, format!("tokens: {source}{age}; window: {window_from}"))
            }
            None => {
                let window = thousands(window);
                (
                    format!("tokens unknown, window {window}"),
                    format!("by the size of the transcript; window: {window_from}"),
                )
            }
        };
        let (session, channel) = (for_terminal::one_line(session), for_terminal::one_line(channel));
        screen.line(format!("{level}  {used}  {}  {session}  {channel}", fill.status_and_size()));
        screen.line(format!("{:<10}  {}", "", screen.paint(Style::Faint, from)));
    }
}
