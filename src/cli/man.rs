//! `kgctx man`

mod reference;

use std::io;

use clap::Args as ClapArgs;
use clap_mangen::Man;

use crate::cli::man::reference::reference;
use crate::cli::outcome::{Failure, Outcome, UNAVAILABLE, USAGE};
use crate::cli::screen::Screen;

/// Print a manual page; `kgctx man | man -l -` shows it
#[derive(Debug, ClapArgs)]
pub(super) struct ManArgs {
    /// The command, for example `handoff create` [default: kgctx itself]
    #[arg(value_name = "COMMAND")]
    words: Vec<String>,
    /// Print a markdown reference of the command and all commands below it
    #[arg(long)]
    markdown: bool,
}

pub(super) fn run(mut kgctx: clap::Command, args: &ManArgs, screen: &mut Screen) -> Outcome {
    // Gives each command its whole name.
    kgctx.build();
    let mut command = &kgctx;
    for word in &args.words {
        command = command.find_subcommand(word).ok_or_else(|| {
            let above = command.get_bin_name().unwrap_or("kgctx");
            Failure::new(
                USAGE,
                format!("{above} has no command {word:?}; `{above} --help` lists them"),
            )
        })?;
    }
    if args.markdown {
        screen.print(&reference(command));
        return Ok(());
    }
    let mut page = Vec::new();
    let render = |error: io::Error| Failure::new(UNAVAILABLE, error.to_string());
    Man::new(command.clone()).render(&mut page).map_err(render)?;
    screen.print(&with_usage(&String::from_utf8_lossy(&page), command));
    Ok(())
}

/// A page whose synopsis is the usage of `--help`, because clap_mangen's leaves out the values of options.
fn with_usage(page: &str, command: &clap::Command) -> String {
    const HEAD: &str = ".SH SYNOPSIS\n";
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim().replace('\\', "\\e").replace('-', "\\-");
    let lines: Vec<&str> = usage.lines().map(str::trim).collect();
    let Some((before, after)) = page.split_once(HEAD) else { return page.to_owned() };
    let (_, rest) = after.split_once('\n').unwrap_or_default();
    format!("{before}{HEAD}{}\n{rest}", lines.join("\n.br\n"))
}
