//! `kgctx completions`

use clap::Args as ClapArgs;
use clap_complete::{Shell, generate};

use crate::cli::outcome::Outcome;
use crate::cli::screen::Screen;

/// A text and not a doc comment: rustdoc would take `fpath[1]` for a link.
const HELP: &str = r#"Print completions for a shell

bash: kgctx completions bash > ~/.local/share/bash-completion/completions/kgctx
zsh:  kgctx completions zsh > "${fpath[1]}/_kgctx"
fish: kgctx completions fish > ~/.config/fish/completions/kgctx.fish"#;

/// Print completions for a shell
#[derive(Debug, ClapArgs)]
#[command(long_about = HELP)]
pub(super) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(super) fn run(
    mut kgctx: clap::Command,
    args: &CompletionsArgs,
    screen: &mut Screen,
) -> Outcome {
    let mut script = Vec::new();
    generate(args.shell, &mut kgctx, "kgctx", &mut script);
    screen.print(&String::from_utf8_lossy(&script));
    Ok(())
}
