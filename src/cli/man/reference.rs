//! The reference of all commands in markdown, as in `docs/commands.md`.

use clap::builder::StyledStr;
use clap::{Arg, Command};

/// The command, then the visible ones below it. Options of all commands are listed with the first one only.
pub(super) fn reference(command: &Command) -> String {
    let mut text = String::new();
    write(command, &mut text);
    text
}

fn write(command: &Command, text: &mut String) {
    let name = command.get_bin_name().unwrap_or(command.get_name());
    let is_top = !name.contains(' ');
    let about = one_line(command.get_about());
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    text.push_str(&format!("## {name}\n\n{about}.\n\n`{usage}`\n"));
    let is_listed = |arg: &&Arg| {
        let id = arg.get_id().as_str();
        !arg.is_hide_set() && !["help", "version"].contains(&id) && (is_top || !arg.is_global_set())
    };
    let options: Vec<String> = command.get_arguments().filter(is_listed).map(option).collect();
    if !options.is_empty() {
        text.push_str(&format!("\n{}\n", options.join("\n")));
    }
    let is_command = |command: &&Command| !command.is_hide_set() && command.get_name() != "help";
    for below in command.get_subcommands().filter(is_command) {
        text.push('\n');
        write(below, text);
    }
}

fn option(arg: &Arg) -> String {
    let value = arg.get_value_names().unwrap_or_default().join(" ");
    let takes_value = arg.get_action().takes_values();
    let shown = match arg.get_long() {
        Some(long) if takes_value => format!("--{long} {value}"),
        Some(long) => format!("--{long}"),
        None => value,
    };
    let default: Vec<String> =
        arg.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    let default = match default.join(" ") {
        default if takes_value && !default.is_empty() => format!(" (default: {default})"),
        _ => String::new(),
    };
    format!("- `{shown}`: {}{default}", one_line(arg.get_help()))
}

fn one_line(text: Option<&StyledStr>) -> String {
    let text = text.map(ToString::to_string).unwrap_or_default();
    // A table or a list would take `|` and `<` for its own.
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('<', "\\<")
}
