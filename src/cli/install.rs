//! `kgctx install` and `kgctx uninstall`

use clap::Args as ClapArgs;

use crate::app::install::{InstallPlan, VERSION, plan_install, plan_uninstall};
use crate::cli::outcome::Outcome;
use crate::cli::place::PlaceArgs;
use crate::cli::progress::during;
use crate::cli::screen::Screen;
use crate::cli::values::some_of;
use crate::core::host::Host;
use crate::core::installation::{Change, InstallKind, Parts, Scope, Step};
use crate::core::text::for_terminal::{self, Style};

/// Add kgctx's plugin or hooks to a host, so that its sessions get context automatically
///
/// OpenCode: adds one file, kgctx.ts, to its plugin folder. Claude Code: adds four hooks to its settings file,
/// leaves the rest untouched, and keeps a backup next to it. Amplifier: writes a bundle into kgctx's own folder and adds
/// one line for it to the settings, in the same way. Prints every change first. Run it again after an update of kgctx.
/// `kgctx uninstall` restores everything.
#[derive(Debug, ClapArgs)]
pub(super) struct InstallArgs {
    /// The host
    #[arg(value_parser = some_of(installable))]
    host: Host,
    #[command(flatten)]
    scope: ScopeArgs,
    /// Claude Code: tell the agent once that its context is filling up (adds a hook after every
    /// tool, and one at the end of a turn for `kgctx wrap`)
    #[arg(long)]
    monitor: bool,
    /// Claude Code: let a session in tmux continue in a fresh context with `kgctx handoff rotate` (adds a hook at the end of
    /// a turn)
    #[arg(long)]
    rotation: bool,
    /// Claude Code: read the size of the context window, with a status line that still shows yours
    #[arg(long)]
    statusline: bool,
    /// Print the changes without making them
    #[arg(long)]
    dry_run: bool,
}

/// Remove kgctx's plugin or hooks from a host and restore everything
///
/// Removes the plugin's files, or the added settings, and the folders that `kgctx install` made if they are empty
/// now.
#[derive(Debug, ClapArgs)]
pub(super) struct UninstallArgs {
    /// The host
    #[arg(value_parser = some_of(installable))]
    host: Host,
    #[command(flatten)]
    scope: ScopeArgs,
}

/// For whom a bridge is.
#[derive(Debug, ClapArgs)]
pub(super) struct ScopeArgs {
    /// Only for this project: .opencode, .claude/settings.local.json or .amplifier/settings.local.yaml, at the top of its
    /// files
    #[arg(long, conflicts_with = "global")]
    project: bool,
    /// For all projects (the default): $OPENCODE_CONFIG_DIR or ~/.config/opencode; $CLAUDE_CONFIG_DIR or
    /// ~/.claude; ~/.amplifier
    #[arg(long)]
    global: bool,
}

impl ScopeArgs {
    fn scope(&self) -> Scope {
        if self.project { Scope::Project } else { Scope::Global }
    }
}

fn kind(host: Host) -> Option<&'static InstallKind> {
    host.facts().install.as_ref().map(|install| &install.kind)
}

fn installable(host: Host) -> Option<&'static str> {
    host.facts().install.as_ref().map(|_| host.facts().title)
}

pub(super) fn install(place: &PlaceArgs, args: &InstallArgs, screen: &mut Screen) -> Outcome {
    let (monitor, rotation, status_line) = (args.monitor, args.rotation, args.statusline);
    let parts = Parts { monitor, rotation, status_line };
    let plan = during("Looking at the host", |_| {
        plan_install(&place.request(), args.host, args.scope.scope(), parts)
    })?;
    print_changes(&plan.changes, screen);
    if plan.changes.is_empty() {
        let file = for_terminal::one_line(&plan.file.display().to_string());
        screen.line(match kind(args.host) {
            Some(InstallKind::PluginFile(_)) => {
                format!("nothing to do: {file} is version {VERSION}")
            }
            Some(InstallKind::Bundle(_)) => format!("nothing to do: {file} has kgctx's bundle"),
            _ => format!("nothing to do: {file} has kgctx's hooks"),
        });
    } else if args.dry_run {
        screen.line("Nothing was changed.");
    } else {
        // Shows the planned changes even if they fail.
        screen.flush();
        plan.apply()?;
        print_what_now(args.host, args.scope.scope(), screen);
    }
    complain_about(&plan, args.host, screen);
    Ok(())
}

/// Says what keeps an installation from working well.
pub(super) fn complain_about(plan: &InstallPlan, host: Host, screen: &mut Screen) {
    let title = host.facts().title;
    if let Some(program) = &plan.unfound_program {
        let program = for_terminal::one_line(&program.display().to_string());
        screen.complain(&format!(
            "kgctx: {title} would not find kgctx: put it on the PATH, or set KGCTX_BIN={program} where you start \
            {title}\n"
        ));
    }
    for copy in &plan.other_copies {
        let copy = for_terminal::one_line(copy);
        screen.complain(&format!(
            "kgctx: {title} also loads another copy here: {copy}; this is harmless, because only one acts\n"
        ));
    }
}

pub(super) fn uninstall(place: &PlaceArgs, args: &UninstallArgs, screen: &mut Screen) -> Outcome {
    let plan = plan_uninstall(&place.request(), args.host, args.scope.scope())?;
    let (kind, title) = (kind(args.host), args.host.facts().title);
    print_changes(&plan.changes, screen);
    if plan.changes.is_empty() {
        let searched = for_terminal::one_line(&plan.searched.display().to_string());
        screen.line(match kind {
            Some(InstallKind::PluginFile(_)) => {
                format!("nothing to do: kgctx is not installed in {searched}")
            }
            Some(InstallKind::Bundle(_)) => {
                format!("nothing to do: {searched} has no kgctx bundle")
            }
            _ => format!("nothing to do: {searched} has no kgctx hooks"),
        });
    } else {
        screen.flush();
        plan.apply()?;
        screen.line("");
        screen.line(match args.host.plugin() {
            Some(_) if !plan.other_copies.is_empty() => "Done.".to_owned(),
            Some(_) => format!("Done. {title} runs without kgctx from its next start."),
            None if plan.own_hooks_stay => {
                "Done. This restored kgctx hooks that existed before `install`; run it again to remove them."
                    .to_owned()
            }
            None => format!("Done. New {title} sessions run without kgctx."),
        });
    }
    for copy in &plan.other_copies {
        let copy = for_terminal::one_line(copy);
        screen.complain(&format!("kgctx: {title} still loads another copy here: {copy}\n"));
    }
    Ok(())
}

fn print_changes(changes: &[Change], screen: &mut Screen) {
    for change in changes {
        screen.line(described(change, screen));
    }
}

/// A change in one line.
pub(super) fn described(change: &Change, screen: &Screen) -> String {
    let Change { step, path, remark } = change;
    let verb = match step {
        Step::MakeFolder => "make",
        Step::Write => "write",
        Step::Replace => "replace",
        Step::Edit => "edit",
        Step::Restore => "restore",
        Step::Remove | Step::RemoveFolder | Step::RemoveOwn => "remove",
        Step::KeepFolder => "keep",
    };
    let line = format!("{verb:<7}  {}", for_terminal::one_line(&path.display().to_string()));
    if remark.is_empty() {
        return line;
    }
    let remark = format!("({})", for_terminal::one_line(remark));
    format!("{line}  {}", screen.paint(Style::Faint, remark))
}

fn print_what_now(host: Host, scope: Scope, screen: &mut Screen) {
    let title = host.facts().title;
    let (place, flag) = match scope {
        Scope::Global => ("", ""),
        Scope::Project => (" in this project", " --project"),
    };
    screen.line("");
    screen.line(match host.plugin() {
        Some(plugin) => format!(
            "Done. From {title}'s next start on, every new {title} session{place} gets context from your notes\nwith \
            its first prompt. {}",
            plugin.first_start
        ),
        None => format!(
            "Done. From now on, every new {title} session{place} gets context before its first prompt."
        ),
    });
    screen.line("");
    let undo = format!("kgctx uninstall {host}{flag}");
    for (command, what) in [
        ("kgctx doctor", "checks everything"),
        ("kgctx explain --dry-run", "shows what a session here would get, and why"),
        (&undo, "undoes this"),
    ] {
        screen.line(format!("  {command:<35}  {}", screen.paint(Style::Faint, what)));
    }
}
