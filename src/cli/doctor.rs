//! `kgctx doctor`

use crate::app::doctor::diagnose;
use crate::cli::args::{DoctorArgs, PlaceArgs};
use crate::cli::outcome::{Failure, NO};
use crate::cli::screen::{Screen, Style};
use crate::core::diagnosis::{Check, Diagnosis, Verdict};
use crate::core::text::for_terminal;

pub(super) fn run(
    place: &PlaceArgs,
    args: &DoctorArgs,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let mut diagnosis = diagnose(&place.request(), args.server.as_deref())?;
    #[cfg(unix)]
    diagnosis.add(crate::service::check());
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

fn print(diagnosis: &Diagnosis, screen: &mut Screen) {
    for Check { name, verdict, found, way_out } in &diagnosis.checks {
        let (word, style) = match verdict {
            Verdict::Ok => ("ok  ", Style::Good),
            Verdict::Warn => ("warn", Style::Doubtful),
            Verdict::Fail => ("FAIL", Style::Bad),
        };
        screen.line(format!(
            "{}  {name:<8}  {}",
            screen.paint(style, word),
            for_terminal::one_line(found)
        ));
        if let Some(way_out) = way_out {
            screen.line(format!(
                "{:>16}{}",
                "",
                screen.paint(Style::Strong, for_terminal::one_line(way_out))
            ));
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
