//! `kgctx serve`

use clap::Args as ClapArgs;

use crate::cli::outcome::{Failure, NO, Outcome, UNAVAILABLE};
use crate::cli::place::PlaceArgs;
use crate::cli::screen::Screen;
use crate::core::text::{for_terminal, number::counted};
use crate::service::{self, Status};

/// Keep running: watch the notes, and give sessions of OpenCode servers their context
///
/// For sessions that are created ahead of their prompts, and for faster answers to the plugin. A server that is not there yet
/// is waited for. Passwords are taken from OPENCODE_SERVER_PASSWORD. One per user.
#[derive(Debug, ClapArgs)]
pub(super) struct ServeArgs {
    /// An OpenCode server to follow; may be given more than once [default: `servers` in the configuration]
    #[arg(long = "server", value_name = "URL")]
    servers: Vec<String>,
    /// Tell how the running service is
    #[arg(long, conflicts_with = "servers")]
    status: bool,
    /// Print the status as JSON
    #[arg(long, requires = "status")]
    json: bool,
}

pub(super) fn run(place: &PlaceArgs, args: &ServeArgs, screen: &mut Screen) -> Outcome {
    if args.status {
        return status(args, screen);
    }
    service::serve(&place.request(), &args.servers, |serving| {
        screen.line(format!("listening on {}", serving.socket.display()));
        for server in &serving.servers {
            screen.line(format!("following {server}"));
        }
        screen.line(format!("log in {}; stop with Ctrl-C", serving.log.display()));
        screen.flush();
    })?;
    Ok(())
}

fn status(args: &ServeArgs, screen: &mut Screen) -> Outcome {
    let status = match service::status() {
        None => return Err(Failure::new(NO, "kgctx serve is not running, or does not answer")),
        Some(Err(version)) => {
            let message = format!(
                "kgctx serve is of version {version}, this is {}; restart it",
                env!("CARGO_PKG_VERSION")
            );
            return Err(Failure::new(UNAVAILABLE, message));
        }
        Some(Ok(status)) => status,
    };
    if args.json {
        screen.json(&status);
        return Ok(());
    }
    let Status { version, pid, since, watched, answered, servers, log } = status;
    screen.line(format!("kgctx {version} serves since {since}, process {pid}"));
    let watched = counted(watched, "place");
    screen.line(format!("{watched} watched, {} answered", counted(answered as usize, "question")));
    for server in servers {
        let state = if server.connected { "connected" } else { "not connected" };
        let delivered = counted(server.delivered as usize, "session");
        screen.line(format!("{}  {state}, {delivered} given context", server.address));
        if let Some(error) = server.error {
            screen.line(format!("  {}", for_terminal::one_line(&error)));
        }
    }
    screen.line(format!("log in {log}"));
    Ok(())
}
