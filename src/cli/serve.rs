//! `kgctx serve`

use crate::cli::args::{PlaceArgs, ServeArgs};
use crate::cli::outcome::{Failure, NO, UNAVAILABLE};
use crate::cli::screen::Screen;
use crate::core::text::for_terminal;
use crate::core::text::number::counted;
use crate::service::{self, Status};

pub(super) fn run(place: &PlaceArgs, args: &ServeArgs, screen: &mut Screen) -> Result<(), Failure> {
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

fn status(args: &ServeArgs, screen: &mut Screen) -> Result<(), Failure> {
    let status = match service::status() {
        None => {
            let message = "kgctx serve is not running, or does not answer".to_owned();
            return Err(Failure { code: NO, message });
        }
        Some(Err(version)) => {
            let message = format!(
                "kgctx serve is of version {version}, this is {}; restart it",
                env!("CARGO_PKG_VERSION")
            );
            return Err(Failure { code: UNAVAILABLE, message });
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
