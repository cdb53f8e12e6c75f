//! `kgctx completions`

use clap::builder::PossibleValue;
use clap::{Arg, Args as ClapArgs, Command};
use clap_complete::{Shell, generate};

use crate::cli::outcome::Outcome;
use crate::cli::screen::Screen;

/// A text and not a doc comment, which would join the lines.
const HELP: &str = r#"Print completions for a shell

bash:
  mkdir -p ~/.local/share/bash-completion/completions && kgctx completions bash > ~/.local/share/bash-completion/completions/kgctx
zsh, with `fpath=(~/.zfunc $fpath)` before `compinit` in ~/.zshrc:
  mkdir -p ~/.zfunc && kgctx completions zsh > ~/.zfunc/_kgctx
fish:
  mkdir -p ~/.config/fish/completions && kgctx completions fish > ~/.config/fish/completions/kgctx.fish"#;

/// Print completions for a shell
#[derive(Debug, ClapArgs)]
#[command(long_about = HELP)]
pub(super) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(super) fn run(mut kgctx: Command, args: &CompletionsArgs, screen: &mut Screen) -> Outcome {
    let mut script = Vec::new();
    generate(args.shell, &mut kgctx, "kgctx", &mut script);
    screen.print(&String::from_utf8_lossy(&script));
    if args.shell == Shell::Fish {
        screen.print(&fish_values(&kgctx));
    }
    Ok(())
}

/// What clap_complete leaves out for fish: the values of arguments that have no flag, as of `kgctx install`.
fn fish_values(kgctx: &Command) -> String {
    let mut lines = String::new();
    for command in kgctx.get_subcommands() {
        let values = command.get_positionals().flat_map(Arg::get_possible_values);
        for value in values.filter(|value| !value.is_hide_set()) {
            lines.push_str(&format!(
                "complete -c kgctx -n \"__fish_kgctx_using_subcommand {}\" -f -a {} -d '{}'\n",
                command.get_name(),
                value.get_name(),
                fish_help(&value)
            ));
        }
    }
    lines
}

fn fish_help(value: &PossibleValue) -> String {
    let help = value.get_help().map(ToString::to_string).unwrap_or_default();
    help.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', " ")
}
