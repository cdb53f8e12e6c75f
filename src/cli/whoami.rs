//! `kgctx whoami`

use clap::Args as ClapArgs;

use crate::cli::outcome::Outcome;
use crate::cli::place::PlaceArgs;
use crate::cli::screen::Screen;
use crate::core::text::for_terminal::{self, Style};
use crate::workspace::Place;

/// Show which project this folder belongs to, and why
#[derive(Debug, ClapArgs)]
pub(super) struct WhoamiArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(place: &PlaceArgs, args: &WhoamiArgs, screen: &mut Screen) -> Outcome {
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
        let label = screen.paint(Style::Faint, format!("{label:<7}"));
        screen.line(format!("{label}  {}", for_terminal::one_line(&value)));
    }
    Ok(())
}
