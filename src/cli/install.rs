//! `kgctx install` and `kgctx uninstall`

mod claude_code;

use crate::app::install::{InstallPlan, UninstallPlan, VERSION, plan_install, plan_uninstall};
use crate::cli::args::{InstallArgs, UninstallArgs};
use crate::cli::outcome::Failure;
use crate::cli::place::PlaceArgs;
use crate::cli::screen::{Screen, Style};
use crate::core::host::Host;
use crate::core::installation::{Change, OldFile, Scope};
use crate::core::text::for_terminal;

pub(super) fn install(
    place: &PlaceArgs,
    args: &InstallArgs,
    screen: &mut Screen,
) -> Result<(), Failure> {
    if let Host::ClaudeCode = args.host {
        return claude_code::install(place, args, screen);
    }
    let plan = plan_install(&place.request(), args.scope.scope())?;
    print_changes(&plan.changes, screen);
    if plan.changes.is_empty() {
        let file = plan.file.display().to_string();
        screen
            .line(format!("nothing to do: {} is version {VERSION}", for_terminal::one_line(&file)));
    } else if args.dry_run {
        screen.line("Nothing was changed.");
    } else {
        // What is about to change is seen even if it should fail.
        screen.flush();
        plan.apply()?;
        print_what_now(args.scope.scope(), screen);
    }
    warn_installed(&plan, screen);
    Ok(())
}

pub(super) fn uninstall(
    place: &PlaceArgs,
    args: &UninstallArgs,
    screen: &mut Screen,
) -> Result<(), Failure> {
    if let Host::ClaudeCode = args.host {
        return claude_code::uninstall(place, args, screen);
    }
    let plan = plan_uninstall(&place.request(), args.scope.scope())?;
    print_changes(&plan.changes, screen);
    if plan.changes.is_empty() {
        let folder = plan.folder.display().to_string();
        screen.line(format!(
            "nothing to do: kgctx is not installed in {}",
            for_terminal::one_line(&folder)
        ));
    } else {
        screen.flush();
        plan.apply()?;
        screen.line("");
        screen.line("Done. OpenCode goes on without kgctx when it is started next.");
    }
    warn_uninstalled(&plan, screen);
    Ok(())
}

fn print_changes(changes: &[Change], screen: &mut Screen) {
    for change in changes {
        let (verb, path, remark) = match change {
            Change::MakeFolder(folder) => ("make", folder, String::new()),
            Change::WriteFile(file) => ("write", file, format!("version {VERSION}")),
            Change::ReplaceFile(old) => {
                ("replace", &old.path, format!("{} by {VERSION}", described(old)))
            }
            Change::RemoveFile(old) => ("remove", &old.path, described(old)),
            Change::RemoveFolder(folder) => ("remove", folder, "made by install, empty".to_owned()),
            Change::KeepFolder(folder) => ("keep", folder, "holds other files now".to_owned()),
            Change::MakeSettings(file) => ("write", file, "with kgctx's hooks alone".to_owned()),
            Change::BackUpSettings(file) => ("write", file, "the settings as they are".to_owned()),
            Change::AddHooks(file) => ("edit", file, "kgctx's hooks; the rest stays".to_owned()),
            Change::RemoveHooks(file) => {
                ("edit", file, "without kgctx's hooks; the rest stays".to_owned())
            }
            Change::RestoreSettings(file) => {
                ("restore", file, "as it was before install".to_owned())
            }
            Change::RemoveSettings(file) => {
                ("remove", file, "made by install, nothing else in it".to_owned())
            }
            Change::RemoveBackup(file) => ("remove", file, "made by install".to_owned()),
        };
        let path = for_terminal::one_line(&path.display().to_string());
        let remark = if remark.is_empty() {
            remark
        } else {
            format!(
                "  {}",
                screen.paint(Style::Faint, format!("({})", for_terminal::one_line(&remark)))
            )
        };
        screen.line(format!("{verb:<7}  {path}{remark}"));
    }
}

fn described(old: &OldFile) -> String {
    let edited = if old.is_edited { ", with edits of yours" } else { "" };
    match &old.version {
        Some(version) => format!("version {version}{edited}"),
        None => format!("no version{edited}"),
    }
}

fn print_what_now(scope: Scope, screen: &mut Screen) {
    let (whose, flag) = match scope {
        Scope::Global => ("new OpenCode session", ""),
        Scope::Project => ("new OpenCode session in this project", " --project"),
    };
    screen.line("");
    screen.line(format!(
        "Done. From OpenCode's next start on, every {whose} gets context from your notes\n\
         with its first prompt. That start may once take some seconds longer, because OpenCode\n\
         installs its own plugin package into this folder."
    ));
    print_commands(&format!("kgctx uninstall opencode{flag}"), screen);
}

fn print_commands(undo: &str, screen: &mut Screen) {
    screen.line("");
    for (command, what) in [
        ("kgctx doctor", "checks everything"),
        ("kgctx explain --dry-run", "shows what a session here would get, and why"),
        (undo, "undoes this"),
    ] {
        screen.line(format!("  {command:<35}  {}", screen.paint(Style::Faint, what)));
    }
}

fn warn_installed(plan: &InstallPlan, screen: &mut Screen) {
    if let Some(program) = &plan.unfound_program {
        let program = for_terminal::one_line(&program.display().to_string());
        screen.complain(&format!(
            "kgctx: OpenCode would not find kgctx: put it on the PATH, or set KGCTX_BIN={program} where OpenCode is \
             started\n"
        ));
    }
    for copy in &plan.other_copies {
        let copy = for_terminal::one_line(copy);
        screen.complain(&format!(
            "kgctx: OpenCode loads another copy here, too: {copy}; that does no harm, since only one acts\n"
        ));
    }
}

fn warn_uninstalled(plan: &UninstallPlan, screen: &mut Screen) {
    for copy in &plan.other_copies {
        let copy = for_terminal::one_line(copy);
        screen.complain(&format!("kgctx: OpenCode still loads another copy here: {copy}\n"));
    }
}
