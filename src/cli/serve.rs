//! `kgctx serve`

use clap::Args as ClapArgs;

use crate::cli::outcome::{Failure, NO, Outcome, UNAVAILABLE};
use crate::cli::place::PlaceArgs;
use crate::cli::screen::Screen;
use crate::core::text::{for_terminal, number::counted};
use crate::service::{self, Status};

/// Keep running: watch the notes and give OpenCode sessions their context
///
/// Serves sessions that exist before their first prompt, and makes the plugin faster. Waits for servers that are not
/// running yet. Reads passwords from OPENCODE_SERVER_PASSWORD. Each user can run one.
///
/// With --web, shows a page in the browser instead: live sessions, contexts, handoffs and the graph. Only this machine can reach
/// it, through the printed address. It changes nothing, and needs no running service.
#[derive(Debug, ClapArgs)]
pub(super) struct ServeArgs {
    /// An OpenCode server to follow; can be repeated [default: `servers` in the configuration]
    #[arg(long = "server", value_name = "URL")]
    servers: Vec<String>,
    /// Show a page about this project in the browser, and follow no server
    #[arg(long, conflicts_with_all = ["servers", "status"])]
    web: bool,
    /// The port of the page [default: any free one]
    #[arg(long, value_name = "N", requires = "web", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// Show the status of the running service
    #[arg(long, conflicts_with = "servers")]
    status: bool,
    /// Print the status as JSON
    #[arg(long, requires = "status", conflicts_with = "web")]
    json: bool,
}

pub(super) fn run(place: &PlaceArgs, args: &ServeArgs, screen: &mut Screen) -> Outcome {
    if args.status {
        return status(args, screen);
    }
    if args.web {
        service::serve_web(&place.request(), args.port.unwrap_or(0), |address| {
            screen.line(format!("open {address}"));
            screen.line(
                "Only this machine can reach it, and only by this address; stop with Ctrl-C.",
            );
            screen.flush();
        })?;
        return Ok(());
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
                "kgctx serve has version {version}, this is {}; restart it",
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
    screen.line(format!("kgctx {version} has been running since {since}, process {pid}"));
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
