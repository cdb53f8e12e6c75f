//! The help of kgctx itself, which lists commands by what they are for. clap lists them in one column.

/// Every command, below what it is for.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Set up", &["init", "install", "uninstall", "doctor", "vault", "config", "whoami"]),
    ("Contexts of sessions", &["inject", "explain", "check", "replay"]),
    ("Your notes", &["search", "read", "recent", "context", "index"]),
    ("Between and within sessions", &["handoff", "monitor", "wrap"]),
    ("In the background", &["hook", "serve"]),
    ("Help", &["help", "man", "completions"]),
];

const COMMANDS: &str = "\nCommands:\n";

/// Groups the commands in a help text of kgctx itself. The help of a command stays as it is.
pub(super) fn grouped(help: &str) -> String {
    let parts = help.split_once(COMMANDS).and_then(|(before, rest)| {
        let (commands, after) = rest.split_once("\n\n")?;
        before.contains("Usage: kgctx [OPTIONS] <COMMAND>").then_some((before, commands, after))
    });
    let Some((before, commands, after)) = parts else { return help.to_owned() };
    let entries = entries(commands);
    let mut text = before.to_owned();
    for (title, names) in GROUPS {
        text.push_str(&format!("\n{title}:\n"));
        for name in names {
            text.extend(
                entries.iter().filter(|(of, _)| of == name).map(|(_, lines)| lines.as_str()),
            );
        }
    }
    format!("{text}\n{after}")
}

/// The commands of a list, each with its lines. A narrow terminal has several for one command.
fn entries(list: &str) -> Vec<(&str, String)> {
    let mut entries: Vec<(&str, String)> = Vec::new();
    for line in list.lines() {
        let name = line.strip_prefix("  ").filter(|rest| !rest.starts_with(' '));
        match (name, entries.last_mut()) {
            (None, Some((_, lines))) => lines.push_str(&format!("{line}\n")),
            _ => {
                let name = line.split_whitespace().next().unwrap_or_default();
                entries.push((name, format!("{line}\n")));
            }
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Args;

    #[test]
    fn every_command_is_in_one_group() {
        let mut kgctx = Args::command();
        kgctx.build();
        let shown = kgctx.get_subcommands().filter(|command| !command.is_hide_set());
        let mut shown: Vec<&str> = shown.map(clap::Command::get_name).collect();
        let mut grouped: Vec<&str> =
            GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        shown.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(shown, grouped);
    }

    #[test]
    fn no_line_of_the_help_is_lost() {
        for width in [40, 60, 100] {
            let mut kgctx = Args::command().term_width(width);
            let help = kgctx.render_long_help().to_string();
            let text = grouped(&help);
            let sorted = |text: &str| {
                let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
                lines.retain(|line| !line.is_empty());
                lines.sort_unstable();
                lines
            };
            let mut lines = sorted(&text);
            lines.retain(|line| !GROUPS.iter().any(|(title, _)| *line == format!("{title}:")));
            lines.push("Commands:".to_owned());
            lines.sort_unstable();
            assert_eq!(lines, sorted(&help), "{text}");
        }
    }

    #[test]
    fn the_help_of_a_command_stays_as_it_is() {
        let mut kgctx = Args::command();
        kgctx.build();
        for name in ["handoff", "vault", "monitor"] {
            let command = kgctx.find_subcommand_mut(name).unwrap();
            let help = command.render_long_help().to_string();
            assert!(help.contains(COMMANDS), "{help}");
            assert_eq!(grouped(&help), help);
        }
    }
}
