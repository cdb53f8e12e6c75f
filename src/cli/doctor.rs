//! `kgctx doctor`

use clap::Args as ClapArgs;

use crate::app::doctor::diagnose;
use crate::cli::outcome::{Failure, NO, Outcome};
use crate::cli::place::PlaceArgs;
use crate::cli::progress::during;
use crate::cli::screen::Screen;
use crate::core::diagnosis::{Check, Diagnosis, Verdict};
use crate::core::text::for_terminal::{self, Style};

/// Check everything between your notes and your sessions, and show how to fix it
///
/// Checks the hosts that are set up, or the installed ones if none is; other hosts get one line. Each check prints
/// one line (ok, warn or FAIL) with what it found, and below it how to fix the problem. Changes nothing except that it
/// brings the index up to date.
#[derive(Debug, ClapArgs)]
pub(super) struct DoctorArgs {
    /// Also check this OpenCode server [default: `servers` in the configuration, if set]
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(place: &PlaceArgs, args: &DoctorArgs, screen: &mut Screen) -> Outcome {
    let diagnosis = during("Checking", |_| {
        let mut diagnosis = diagnose(&place.request(), args.server.as_deref())?;
        diagnosis.add(crate::service::check());
        Ok::<Diagnosis, Failure>(diagnosis)
    })?;
    if args.json {
        screen.json(&diagnosis);
    } else {
        print(&diagnosis, screen);
    }
    if diagnosis.ok {
        return Ok(());
    }
    let (failed, all) = (diagnosis.n(Verdict::Fail), diagnosis.checks.len());
    Err(Failure::new(NO, format!("{failed} of {all} checks failed")))
}

fn print(diagnosis: &Diagnosis, screen: &mut Screen) {
    let width = diagnosis.checks.iter().map(|check| check.name.len()).max().unwrap_or_default();
    for Check { name, verdict, found, way_out } in &diagnosis.checks {
        let (word, style) = match verdict {
            Verdict::Ok => ("ok  ", Style::Good),
            Verdict::Warn => ("warn", Style::Doubtful),
            Verdict::Fail => ("FAIL", Style::Bad),
        };
        let indent = width + 8;
        let found = screen.folded(&for_terminal::one_line(found), indent);
        screen.line(format!("{}  {name:<width$}  {found}", screen.paint(style, word)));
        if let Some(way_out) = way_out {
            let way_out = screen.folded(&for_terminal::one_line(way_out), indent);
            screen.line(format!("{:>indent$}{}", "", screen.paint(Style::Strong, way_out)));
        }
    }
    screen.line("");
    screen.line(match (diagnosis.n(Verdict::Fail), diagnosis.n(Verdict::Warn)) {
        (0, 0) => "Everything works.".to_owned(),
        (0, 1) => "It works; one thing could be better.".to_owned(),
        (0, n) => format!("It works; {n} things could be better."),
        _ => "Fix what failed, and run `kgctx doctor` again.".to_owned(),
    });
}
