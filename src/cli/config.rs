//! `kgctx config`

use clap::Args as ClapArgs;
use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::args::PlaceArgs;
use crate::cli::outcome::Failure;
use crate::cli::screen::{Screen, Style};
use crate::core::settings::{Setting, Settings};
use crate::core::text::for_terminal;
use crate::workspace::Place;

/// One line of the answer.
#[derive(Serialize)]
struct Row {
    key: String,
    value: Value,
    origin: String,
}

/// Show every setting and where it comes from
#[derive(Debug, ClapArgs)]
pub(super) struct ConfigArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(
    place: &PlaceArgs,
    args: &ConfigArgs,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let place = Place::find(&place.request())?;
    let rows = rows(&place.settings);
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
    let width = rows.iter().map(|row| row.key.chars().count()).max().unwrap_or_default();
    for row in &rows {
        let value = match &row.value {
            Value::String(text) => for_terminal::one_line(text),
            Value::Null => "-".to_owned(),
            other => other.to_string(),
        };
        screen.line(format!(
            "{:<width$}  {value}  {}",
            row.key,
            screen.paint(Style::Faint, format!("({})", row.origin))
        ));
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

fn rows(settings: &Settings) -> Vec<Row> {
    fn row<T: Serialize>(key: &str, setting: &Setting<T>) -> Row {
        Row { key: key.to_owned(), value: json!(setting.value), origin: setting.origin.to_string() }
    }
    let mut rows = vec![
        row("default_vaults", &settings.default_vaults),
        row("links", &settings.links),
        row("max_file_bytes", &settings.max_file_bytes),
        row("token_limit", &settings.token_limit),
        row("source", &settings.source),
        row("cli_timeout_ms", &settings.cli_timeout_ms),
        row("encoding", &settings.encoding),
        row("deadline_ms", &settings.deadline_ms),
        row("enabled", &settings.enabled),
        row("delivery", &settings.delivery),
        row("notice", &settings.notice),
        row("compaction_token_limit", &settings.compaction_token_limit),
        row("servers", &settings.servers),
        row("handoff.enabled", &settings.handoff.enabled),
        row("handoff.inject_on_start", &settings.handoff.inject_on_start),
        row("handoff.inject_on_clear", &settings.handoff.inject_on_clear),
        row("handoff.max_age_days", &settings.handoff.max_age_days),
        row("handoff.min_turns", &settings.handoff.min_turns),
        row("handoff.summariser", &settings.handoff.summariser),
        row("handoff.allow", &settings.handoff.allow),
        row("channel", &settings.channel),
    ];
    rows.extend(settings.channels.iter().map(|rule| Row {
        key: format!("channels.{}", rule.value.path.display()),
        value: json!(rule.value.channel),
        origin: rule.origin.to_string(),
    }));
    rows.extend(settings.vaults.iter().map(|vault| Row {
        key: format!("vault {}", crate::core::note::vault::uri(&vault.value.name, "")),
        value: json!(vault.value.path.to_string_lossy()),
        origin: vault.origin.to_string(),
    }));
    rows
}
