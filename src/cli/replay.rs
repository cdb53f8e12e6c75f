//! `kgctx replay`

use clap::Args as ClapArgs;

use crate::cli::outcome::Outcome;
use crate::cli::place::PlaceArgs;
use crate::cli::progress::during;
use crate::cli::screen::Screen;
use crate::cli::values::from_one;
use crate::core::text::for_terminal::{self, Style};
use crate::core::text::number::thousands;
use crate::replay::report::{Contender, Recall, ReplayReport};
use crate::replay::{ReplayRequest, Stage, replay};

/// Measure how good contexts are, on the git history of your notes
///
/// Goes back to past sessions, builds the context that each would have started with, and counts how many of the notes
/// edited or linked later in that session it contains. A session is a run of commits at most 4 hours apart.
/// Of several vaults, choose one with --vault. Does not change your notes, your index or your settings.
#[derive(Debug, ClapArgs)]
pub(super) struct ReplayArgs {
    /// The maximum number of sessions to replay, spread evenly over the history
    #[arg(long, value_name = "NUMBER", default_value = "50", value_parser = from_one::<u32>)]
    sessions: u32,
    /// Print JSON, with every session and the notes that it needed
    #[arg(long)]
    json: bool,
}

pub(super) fn run(place: &PlaceArgs, args: &ReplayArgs, screen: &mut Screen) -> Outcome {
    let request = ReplayRequest { place: place.request(), most_sessions: args.sessions as usize };
    let report = during("Reading the history", |progress| {
        replay(&request, &mut |stage, done, all| progress.count(things(stage), done, all))
    })?;
    if args.json {
        screen.json(&report);
    } else {
        print(&report, screen);
    }
    Ok(())
}

/// What is counted.
fn things(stage: Stage) -> &'static str {
    match stage {
        Stage::ReadingCommits => "commits",
        Stage::ReplayingSessions => "sessions",
    }
}

fn print(report: &ReplayReport, screen: &mut Screen) {
    let ReplayReport { sessions, rankings, .. } = report;
    let (n, n_found) = (thousands(sessions.len()), thousands(report.sessions_found));
    screen.line(format!(
        "{n} of {n_found} sessions in {} commits of {}",
        thousands(report.commits),
        for_terminal::one_line(&report.vault)
    ));
    if let (Some(first), Some(last)) = (sessions.first(), sessions.last()) {
        let (from, to) = (date(first.began.to_string()), date(last.began.to_string()));
        let (few, many) = (thousands(first.notes), thousands(last.notes));
        screen.line(format!("from {from} with {few} notes to {to} with {many}"));
    }
    screen.line("");
    let of =
        |contender: Contender| rankings.iter().filter(move |recall| recall.contender == contender);
    let budgets =
        of(Contender::NewestFirst).map(|recall| format!("{:>15}", thousands(recall.tokens)));
    screen.line(format!("{:<10}{} tokens", "", budgets.collect::<String>()));
    let columns = of(Contender::NewestFirst).map(|_| format!("{:>8}{:>7}", "all", "cold"));
    let columns = format!("{:<10}{}", "ranking", columns.collect::<String>());
    screen.line(screen.paint(Style::Faint, columns));
    for contender in Contender::ALL {
        let figures = of(contender)
            .map(|Recall { all, cold, .. }| format!("{:>8}{:>7}", percent(*all), percent(*cold)));
        screen.line(format!("{:<10}{}", contender.name(), figures.collect::<String>()));
    }
    screen.line("");
    screen.line("all   percent of the notes that a session then edited or linked to and that its context showed");
    screen.line("cold  the same, for notes that the three sessions before did not edit");
    screen.line(
        "recency lists the newest notes first; it is not a ranking of kgctx, only a baseline",
    );
    if sessions.len() < FEW {
        screen.line(format!("{n} sessions are few: a difference of a few points may be chance"));
    }
}

/// With fewer sessions than this the means are rough.
const FEW: usize = 20;

/// The day of a moment as it is printed.
fn date(moment: String) -> String {
    moment.split('T').next().unwrap_or_default().to_owned()
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.1}", 100.0 * share))
}
