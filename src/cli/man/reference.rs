//! The reference of all commands in markdown, as in `docs/commands.md`.

use clap::builder::StyledStr;
use clap::{Arg, Command};

/// The command, then the visible ones below it. Lists an option of several commands with the first one only.
pub(super) fn reference(command: &Command) -> String {
    let mut text = String::new();
    write(command, None, &mut text);
    text
}

fn write(command: &Command, above: Option<&Command>, text: &mut String) {
    let name = command.get_bin_name().unwrap_or(command.get_name());
    let about = one_line(command.get_about());
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    text.push_str(&format!("## {name}\n\n{about}.\n\n`{usage}`\n"));
    let options: Vec<String> = listed(command, above).map(option).collect();
    if !options.is_empty() {
        text.push_str(&format!("\n{}\n", options.join("\n")));
    }
    let is_command = |command: &&Command| !command.is_hide_set() && command.get_name() != "help";
    for below in command.get_subcommands().filter(is_command) {
        text.push('\n');
        write(below, Some(command), text);
    }
}

/// The options of a command that the one above it does not already have.
fn listed<'a>(command: &'a Command, above: Option<&Command>) -> impl Iterator<Item = &'a Arg> {
    let globals =
        above.into_iter().flat_map(Command::get_arguments).filter(|arg| arg.is_global_set());
    let inherited: Vec<String> = globals.map(|arg| arg.get_id().to_string()).collect();
    command.get_arguments().filter(move |arg| {
        let id = arg.get_id().as_str();
        let is_new = !inherited.iter().any(|name| name == id);
        !arg.is_hide_set() && !["help", "version"].contains(&id) && is_new
    })
}

fn option(arg: &Arg) -> String {
    let value = arg.get_value_names().unwrap_or_default().join(" ");
    let takes_value = arg.get_action().takes_values();
    let shown = match arg.get_long() {
        Some(long) if takes_value => format!("--{long} {value}"),
        Some(long) => format!("--{long}"),
        None => value,
    };
    let shown = match arg.get_short() {
        Some(short) => format!("-{short}`, `{shown}"),
        None => shown,
    };
    let everywhere = if arg.is_global_set() { " (also for the commands below)" } else { "" };
    let default: Vec<String> =
        arg.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    let default = match default.join(" ") {
        default if takes_value && !default.is_empty() => format!(" (default: {default})"),
        _ => String::new(),
    };
    format!("- `{shown}`: {}{everywhere}{}{default}", one_line(arg.get_help()), values(arg))
}

/// The values that an option takes, where these are words to choose from.
fn values(arg: &Arg) -> String {
    let values = arg.get_possible_values();
    let shown = values.iter().filter(|value| !value.is_hide_set());
    let names: Vec<String> = shown.map(|value| format!("`{}`", value.get_name())).collect();
    match &names[..] {
        [first @ .., last] if arg.get_action().takes_values() && !first.is_empty() => {
            format!(" ({} or {last})", first.join(", "))
        }
        _ => String::new(),
    }
}

fn one_line(text: Option<&StyledStr>) -> String {
    let text = text.map(ToString::to_string).unwrap_or_default();
    // A table or a list would take `|` and `<` for its own.
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('<', "\\<")
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Args;

    /// Counts what clap knows of a command in its section, and does the same for those below it.
    fn check(command: &Command, reference: &str, inherited: &[&Arg]) {
        let name = command.get_bin_name().unwrap_or(command.get_name());
        let (_, section) = reference.split_once(&format!("## {name}\n")).unwrap();
        let section = section.split("\n## ").next().unwrap();
        let is_own = |arg: &&Arg| {
            let is_help = ["help", "version"].contains(&arg.get_id().as_str());
            !arg.is_hide_set()
                && !is_help
                && !inherited.iter().any(|one| one.get_id() == arg.get_id())
        };
        let own: Vec<&Arg> = command.get_arguments().filter(is_own).collect();
        let lines: Vec<&str> = section.lines().filter(|line| line.starts_with("- `")).collect();
        assert_eq!(lines.len(), own.len(), "{name}: {lines:#?}");
        for (arg, line) in own.iter().zip(lines) {
            let long = arg.get_long().map(|long| format!("`--{long}"));
            let short = arg.get_short().map(|short| format!("`-{short}`"));
            let is_choice = arg.get_action().takes_values() && arg.get_possible_values().len() > 1;
            let values = arg
                .get_possible_values()
                .into_iter()
                .filter(|value| is_choice && !value.is_hide_set());
            let values = values.map(|value| format!("`{}`", value.get_name()));
            for part in long.into_iter().chain(short).chain(values) {
                assert!(line.contains(&part), "{name} lacks {part}: {line}");
            }
        }
        let globals = own.into_iter().filter(|arg| arg.is_global_set());
        let inherited: Vec<&Arg> = inherited.iter().copied().chain(globals).collect();
        for below in command.get_subcommands() {
            if !below.is_hide_set() && below.get_name() != "help" {
                check(below, reference, &inherited);
            }
        }
    }

    #[test]
    fn every_option_of_every_command_is_listed_once() {
        let mut kgctx = Args::command();
        kgctx.build();
        check(&kgctx, &reference(&kgctx), &[]);
    }
}
