//! `kgctx config`

use clap::Args as ClapArgs;
use serde_json::{Value, json};

use crate::cli::outcome::Outcome;
use crate::cli::place::PlaceArgs;
use crate::cli::screen::Screen;
use crate::core::text::for_terminal::{self, Style};
use crate::workspace::Place;

/// Show every setting and where it comes from
#[derive(Debug, ClapArgs)]
pub(super) struct ConfigArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(place: &PlaceArgs, args: &ConfigArgs, screen: &mut Screen) -> Outcome {
    let place = Place::find(&place.request())?;
    let rows = place.settings.list();
    let directories = &place.directories;
    let user_file = directories.config.join("config.toml");
    let project_file = place.project.notes_root.map(|root| root.join("kgctx.toml"));
    if args.json {
        screen.json(&json!({
            "settings": rows,
            "files": {
                "user": user_file.to_string_lossy(),
                "project": project_file.as_ref().map(|file| file.to_string_lossy()),
                "cache": directories.cache.to_string_lossy(),
                "state": directories.state.to_string_lossy(),
            },
        }));
        return Ok(());
    }
    for remark in &place.remarks {
        screen.complain(&format!("kgctx: {}\n", for_terminal::one_line(&remark.reason)));
    }
    let width = rows.iter().map(|row| row.key.chars().count()).max().unwrap_or_default();
    for row in &rows {
        let value = match &row.value {
            Value::String(text) => for_terminal::one_line(text),
            Value::Null => "-".to_owned(),
            other => other.to_string(),
        };
        let origin = screen.paint(Style::Faint, format!("({})", row.origin));
        screen.line(format!("{:<width$}  {value}  {origin}", row.key));
    }
    screen.line("");
    screen.line(format!("{:<width$}  {}", "user file", user_file.display()));
    if let Some(file) = project_file {
        screen.line(format!("{:<width$}  {}", "project file", file.display()));
    }
    screen.line(format!("{:<width$}  {}", "cache", directories.cache.display()));
    screen.line(format!("{:<width$}  {}", "state", directories.state.display()));
    Ok(())
}
