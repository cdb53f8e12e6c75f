//! `kgctx install claude-code` and `kgctx uninstall claude-code`

use crate::app::install::claude_code::{plan_install, plan_uninstall};
use crate::cli::args::{InstallArgs, UninstallArgs};
use crate::cli::install::{print_changes, print_commands};
use crate::cli::outcome::Failure;
use crate::cli::place::PlaceArgs;
use crate::cli::screen::Screen;
use crate::core::installation::Scope;
use crate::core::text::for_terminal;

pub(super) fn install(
    place: &PlaceArgs,
    args: &InstallArgs,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let scope = args.scope.scope();
    let plan = plan_install(&place.request(), scope)?;
    print_changes(&plan.changes, screen);
    if plan.changes.is_empty() {
        let file = plan.file.display().to_string();
        screen.line(format!("nothing to do: {} has kgctx's hooks", for_terminal::one_line(&file)));
    } else if args.dry_run {
        screen.line("Nothing was changed.");
    } else {
        // What is about to change is seen even if it should fail.
        screen.flush();
        plan.apply()?;
        let (whose, flag) = match scope {
            Scope::Global => ("new Claude Code session", ""),
            Scope::Project => ("new Claude Code session in this project", " --project"),
        };
        screen.line("");
        screen.line(format!(
            "Done. From now on, every {whose} gets context before its first prompt."
        ));
        print_commands(&format!("kgctx uninstall claude-code{flag}"), screen);
    }
    Ok(())
}

pub(super) fn uninstall(
    place: &PlaceArgs,
    args: &UninstallArgs,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let plan = plan_uninstall(&place.request(), args.scope.scope())?;
    print_changes(&plan.changes, screen);
    if plan.changes.is_empty() {
        let file = plan.file.display().to_string();
        screen.line(format!(
            "nothing to do: {} has no hooks of kgctx",
            for_terminal::one_line(&file)
        ));
    } else {
        screen.flush();
        plan.apply()?;
        screen.line("");
        screen.line("Done. New sessions of Claude Code go on without kgctx.");
    }
    Ok(())
}
