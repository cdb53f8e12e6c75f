//! `kgctx whoami`

use crate::cli::args::{PlaceArgs, WhoamiArgs};
use crate::cli::outcome::Failure;
use crate::cli::screen::{Screen, Style};
use crate::core::text::for_terminal;
use crate::workspace::Place;

pub(super) fn run(
    place: &PlaceArgs,
    args: &WhoamiArgs,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let project = Place::find(&place.request())?.project;
    if args.json {
        screen.json(&project);
        return Ok(());
    }
    let none = || "-".to_owned();
    for (label, value) in [
        ("project", project.name.unwrap_or_else(none)),
        ("root", project.root.map_or_else(none, |root| root.display().to_string())),
        ("key", project.key),
        ("branch", project.branch.unwrap_or_else(none)),
        ("channel", project.channel),
        ("because", project.because),
    ] {
        screen.line(format!(
            "{}  {}",
            screen.paint(Style::Faint, format!("{label:<7}")),
            for_terminal::one_line(&value)
        ));
    }
    Ok(())
}
