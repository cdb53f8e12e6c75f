//! `kgctx doctor`

use crate::app::doctor::diagnose;
use crate::cli::args::{DoctorArgs, PlaceArgs};
use crate::cli::outcome::{Failure, NO};
use crate::cli::screen::{Screen, Style, harmless};
use crate::domain::diagnosis::{Check, Diagnosis, Verdict};

pub(super) fn run(
    place: &PlaceArgs,
    args: &DoctorArgs,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let mut diagnosis = diagnose(&place.request(), args.server.as_deref())?;
    #[cfg(unix)]
    diagnosis.checks.push(service());
    if args.json {
        screen.json(&diagnosis);
    } else {
        print(&diagnosis, screen);
    }
    if diagnosis.ok {
        return Ok(());
    }
    let (failed, all) = (diagnosis.n(Verdict::Fail), diagnosis.checks.len());
    Err(Failure { code: NO, message: format!("{failed} of {all} checks failed") })
}

/// How the service is, which is needed only for servers without the plugin.
#[cfg(unix)]
fn service() -> Check {
    let name = "service";
    let status = match crate::service::status() {
        None => return Check::ok(name, "not running; with the plugin it need not"),
        Some(Err(version)) => {
            let found = format!("it is of version {version}, and not asked");
            return Check::warn(name, found, "stop it, and start `kgctx serve` again");
        }
        Some(Ok(status)) => status,
    };
    let lost = status.servers.iter().find(|server| !server.connected);
    match lost.and_then(|server| server.error.as_ref()) {
        Some(error) => {
            let found = format!("it runs, but {error}");
            Check::warn(name, found, format!("its log, {}, tells more", status.log))
        }
        None => Check::ok(name, format!("it runs since {}, process {}", status.since, status.pid)),
    }
}

fn print(diagnosis: &Diagnosis, screen: &mut Screen) {
    for Check { name, verdict, found, way_out } in &diagnosis.checks {
        let (word, style) = match verdict {
            Verdict::Ok => ("ok  ", Style::Good),
            Verdict::Warn => ("warn", Style::Doubtful),
            Verdict::Fail => ("FAIL", Style::Bad),
        };
        screen.line(format!("{}  {name:<8}  {}", screen.paint(style, word), harmless(found)));
        if let Some(way_out) = way_out {
            screen.line(format!("{:>16}{}", "", screen.paint(Style::Strong, harmless(way_out))));
        }
    }
    screen.line("");
    screen.line(match (diagnosis.n(Verdict::Fail), diagnosis.n(Verdict::Warn)) {
        (0, 0) => "All is well.".to_owned(),
        (0, 1) => "It works; one thing could be better.".to_owned(),
        (0, n) => format!("It works; {n} things could be better."),
        _ => "Correct what failed, and run `kgctx doctor` again.".to_owned(),
    });
}
