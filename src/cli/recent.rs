//! `kgctx recent`

use crate::cli::args::{PlaceArgs, RecentArgs};
use crate::cli::outcome::Failure;
use crate::cli::screen::{Screen, Style};
use crate::cli::search::concepts;
use crate::core::text::for_terminal;
use crate::sources::recent::{RecentQuestion, recent};
use crate::workspace::Workspace;

pub(super) fn run(
    place: &PlaceArgs,
    args: &RecentArgs,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let question = RecentQuestion {
        now: args.now,
        span: args.timespan,
        limit: args.limit,
        filter: args.filter.into(),
    };
    let answer = match args.source.client(place, screen)? {
        Some(client) => client.recent(question)?,
        None => {
            let workspace = Workspace::find(&place.request())?;
            let (answer, refreshed) = recent(&workspace, question)?;
            screen.notice(refreshed.notice.as_ref());
            answer
        }
    };
    if args.json {
        screen.json(&answer);
        return Ok(());
    }
    if answer.items.is_empty() {
        screen.line(format!("No note changed in the last {}.", args.timespan));
        if let Some(newest) = &answer.newest_older {
            screen.line(format!(
                "The newest is {}, {}; --timespan looks further back.",
                for_terminal::one_line(&newest.title),
                newest.modified.ago(answer.now)
            ));
        }
    }
    for item in &answer.items {
        screen.line(format!(
            "{:>12}  {}  {}",
            item.modified.ago(answer.now),
            screen.paint(Style::Strong, for_terminal::one_line(&item.title)),
            screen.paint(Style::Link, for_terminal::one_line(&item.uri)),
        ));
        if !item.concepts.is_empty() {
            screen.line(format!("{:>12}  {}", "", concepts(&item.concepts, screen)));
        }
    }
    Ok(())
}
