//! `kgctx install` and `kgctx uninstall`

use clap::Args as ClapArgs;

use crate::app::install::{VERSION, plan_install, plan_uninstall};
use crate::cli::outcome::Outcome;
use crate::cli::place::PlaceArgs;
use crate::cli::screen::Screen;
use crate::cli::values::some_of;
use crate::core::host::Host;
use crate::core::installation::{Change, InstallKind, Parts, Scope, Step};
use crate::core::text::for_terminal::{self, Style};

/// Put the bridge into a host, so that its sessions get context by themselves
///
/// For OpenCode, adds one file, kgctx.ts, to its folder of plugins. For Claude Code, adds four hooks to its settings file,
/// leaves the rest untouched, and keeps a backup next to it. For Amplifier, writes a bundle into kgctx's own folder and adds
/// one line that names it to the settings, in the same way. Prints every change first. Run it again after an update of kgctx.
/// `kgctx uninstall` restores everything.
#[derive(Debug, ClapArgs)]
pub(super) struct InstallArgs {
    /// The host
    #[arg(value_parser = some_of(installable))]
    host: Host,
    #[command(flatten)]
    scope: ScopeArgs,
    /// Claude Code: tell the agent once that its context is filling up, by one more hook, after every tool
    #[arg(long)]
    monitor: bool,
    /// Claude Code: learn the size of the context's window, by a status line that shows what yours shows
    #[arg(long)]
    statusline: bool,
    /// Say what would be changed, and change nothing
    #[arg(long)]
    dry_run: bool,
}

/// Take the bridge out of a host, and leave everything as it was before
///
/// Removes the bridge's files, or what was added to the settings, and those folders that `kgctx install` made, if they are
/// empty now.
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
    /// For this project alone: in .opencode, .claude/settings.local.json or .amplifier/settings.local.yaml, at the top of its
    /// files
    #[arg(long, conflicts_with = "global")]
    project: bool,
    /// For all projects, as by default: in $OPENCODE_CONFIG_DIR, or ~/.config/opencode; in $CLAUDE_CONFIG_DIR, or
    /// ~/.claude; in ~/.amplifier
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
    let parts = Parts { monitor: args.monitor, status_line: args.statusline };
    let plan = plan_install(&place.request(), args.host, args.scope.scope(), parts)?;
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
    let title = args.host.facts().title;
    if let Some(program) = &plan.unfound_program {
        let program = for_terminal::one_line(&program.display().to_string());
        screen.complain(&format!(
            "kgctx: {title} would not find kgctx: put it on the PATH, or set KGCTX_BIN={program} where {title} is \
             started\n"
        ));
    }
    for copy in &plan.other_copies {
        let copy = for_terminal::one_line(copy);
        screen.complain(&format!(
            "kgctx: {title} loads another copy here, too: {copy}; that does no harm, since only one acts\n"
        ));
    }
    Ok(())
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
                format!("nothing to do: {searched} has no bundle of kgctx")
            }
            _ => format!("nothing to do: {searched} has no hooks of kgctx"),
        });
    } else {
        screen.flush();
        plan.apply()?;
        screen.line("");
        screen.line(match args.host.plugin() {
            Some(_) => format!("Done. {title} goes on without kgctx when it is started next."),
            None if plan.own_hooks_stay => {
                "Done. The hooks of kgctx that were there before are there again; run this once more to remove them."
                    .to_owned()
            }
            None => format!("Done. New sessions of {title} go on without kgctx."),
        });
    }
    for copy in &plan.other_copies {
        let copy = for_terminal::one_line(copy);
        screen.complain(&format!("kgctx: {title} still loads another copy here: {copy}\n"));
    }
    Ok(())
}

fn print_changes(changes: &[Change], screen: &mut Screen) {
    for Change { step, path, remark } in changes {
        let verb = match step {
            Step::MakeFolder => "make",
            Step::Write => "write",
            Step::Replace => "replace",
            Step::Edit => "edit",
            Step::Restore => "restore",
            Step::Remove | Step::RemoveFolder | Step::RemoveOwn => "remove",
            Step::KeepFolder => "keep",
        };
        let path = for_terminal::one_line(&path.display().to_string());
        let mut line = format!("{verb:<7}  {path}");
        if !remark.is_empty() {
            let remark = format!("({})", for_terminal::one_line(remark));
            line = format!("{line}  {}", screen.paint(Style::Faint, remark));
        }
        screen.line(line);
    }
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
            "Done. From {title}'s next start on, every new {title} session{place} gets context from your notes\n\
             with its first prompt. {}",
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
