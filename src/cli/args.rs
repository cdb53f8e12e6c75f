//! The arguments of `kgctx install` and `kgctx uninstall`.

use clap::Args as ClapArgs;

use crate::cli::values::some_of;
use crate::core::host::Host;
use crate::core::installation::Scope;

/// Put the bridge into a host, so that its sessions get context by themselves
///
/// For OpenCode, adds one file, kgctx.ts, to its folder of plugins. For Claude Code, adds two hooks to its settings file,
/// leaves the rest untouched, and keeps a backup next to it. Prints every change first. Run it again after an update of
/// kgctx. `kgctx uninstall` restores everything.
#[derive(Debug, ClapArgs)]
pub(super) struct InstallArgs {
    /// The host
    #[arg(value_parser = some_of(installable))]
    pub(super) host: Host,
    #[command(flatten)]
    pub(super) scope: ScopeArgs,
    /// Say what would be changed, and change nothing
    #[arg(long)]
    pub(super) dry_run: bool,
}

/// Take the bridge out of a host, and leave everything as it was before
///
/// Removes the bridge's file, or the hooks from the settings, and those folders that `kgctx install` made, if they are
/// empty now.
#[derive(Debug, ClapArgs)]
pub(super) struct UninstallArgs {
    /// The host
    #[arg(value_parser = some_of(installable))]
    pub(super) host: Host,
    #[command(flatten)]
    pub(super) scope: ScopeArgs,
}

/// For whom a bridge is.
#[derive(Debug, ClapArgs)]
pub(super) struct ScopeArgs {
    /// For this project alone: in .opencode, or .claude/settings.local.json, at the top of its files
    #[arg(long, conflicts_with = "global")]
    project: bool,
    /// For all projects, as by default: in $OPENCODE_CONFIG_DIR, or ~/.config/opencode; in $CLAUDE_CONFIG_DIR, or ~/.claude
    #[arg(long)]
    global: bool,
}

impl ScopeArgs {
    pub(super) fn scope(&self) -> Scope {
        if self.project { Scope::Project } else { Scope::Global }
    }
}

fn installable(host: Host) -> Option<&'static str> {
    host.facts().install.as_ref().map(|_| host.facts().title)
}
