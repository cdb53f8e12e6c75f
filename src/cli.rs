//! The command line: texts and exit codes. The only layer that prints.

mod check;
mod completions;
mod config;
mod context;
mod doctor;
mod explain;
mod handoff;
mod hook;
mod index;
mod init;
mod inject;
mod install;
mod man;
mod monitor;
mod outcome;
mod overview;
mod place;
mod progress;
mod question;
mod read;
mod recent;
mod replay;
mod screen;
mod search;
mod serve;
mod values;
mod vault;
mod whoami;
mod wrap;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::{ContextKind, ErrorKind};
use clap::{CommandFactory, Parser, Subcommand};

use crate::cli::outcome::Failure;
use crate::cli::place::PlaceArgs;
use crate::cli::screen::Screen;
use crate::core::text::for_terminal;

/// Give coding agents the notes they need, from your markdown notes and their links.
///
/// kgctx looks for notes in ~/maenifold/memory (or $MAENIFOLD_ROOT/memory) and in the project: .kgctx/memory, docs, adr
/// and other usual places, which `kgctx doctor` lists. Every command that reads the index first brings it up to
/// date.
#[derive(Debug, Parser)]
#[command(name = "kgctx", version, max_term_width = 100)]
struct Args {
    #[command(flatten)]
    place: PlaceArgs,
    #[command(subcommand)]
    command: Command,
}

/// Shown when the name is typed without arguments.
const INTRODUCTION: &str = "\
kgctx gives the sessions of coding agents the notes and handoffs of their project.
  kgctx init                  finds your notes, shows a first context, and offers to install into your hosts
  kgctx explain --dry-run     shows what a session in this folder would get, and why
  kgctx doctor                checks the setup and shows how to fix it
Usage: kgctx <COMMAND>        `kgctx --help` lists all commands
";

#[derive(Debug, Subcommand)]
enum Command {
    Init(init::InitArgs),
    Inject(inject::InjectArgs),
    Hook(hook::HookArgs),
    Serve(serve::ServeArgs),
    Explain(explain::ExplainArgs),
    Handoff(handoff::HandoffArgs),
    Monitor(monitor::MonitorArgs),
    Wrap(wrap::WrapArgs),
    Index(index::IndexArgs),
    Search(search::SearchArgs),
    Read(read::ReadArgs),
    Recent(recent::RecentArgs),
    Context(context::ContextArgs),
    Check(check::CheckArgs),
    Replay(replay::ReplayArgs),
    Whoami(whoami::WhoamiArgs),
    Config(config::ConfigArgs),
    Vault(vault::VaultArgs),
    Install(install::InstallArgs),
    Uninstall(install::UninstallArgs),
    Doctor(doctor::DoctorArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
    /// End the programs of whoever writes to standard input, when they are gone
    #[command(hide = true)]
    Watchdog,
}

/// Whether only options were named. The parser would list every command, also the hidden one.
fn names_no_command(error: &clap::Error) -> bool {
    let asked = error.get(ContextKind::InvalidSubcommand);
    error.kind() == ErrorKind::MissingSubcommand
        && asked.is_some_and(|command| command.to_string() == "kgctx")
}

/// Runs the program with its arguments, the first of which is its name.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut screen = Screen::of_process();
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let is_bare = arguments.len() < 2;
    // A host that drops a hook's arguments, or was given wrong ones, must not show its session what people are told.
    let is_of_host =
        || (is_bare || arguments.iter().any(|word| word == "hook")) && hook::is_asked();
    let args = match Args::try_parse_from(&arguments) {
        Ok(args) => args,
        Err(error) if error.use_stderr() && is_of_host() => return ExitCode::SUCCESS,
        Err(error) if is_bare || names_no_command(&error) => {
            screen.complain(INTRODUCTION);
            return outcome::USAGE.into();
        }
        Err(error) if error.use_stderr() => {
            screen.complain(&for_terminal::lines(&error.render().to_string()));
            return outcome::USAGE.into();
        }
        // The user asked for help or the version.
        Err(help) => {
            screen.print(&overview::grouped(&help.render().to_string()));
            return screen.finish();
        }
    };
    let done = match &args.command {
        Command::Hook(command) => return hook::run(&args.place, command, screen),
        Command::Init(command) => init::run(&args.place, command, &mut screen),
        Command::Inject(command) => inject::run(&args.place, command, &mut screen),
        Command::Serve(command) => serve::run(&args.place, command, &mut screen),
        Command::Explain(command) => explain::run(&args.place, command, &mut screen),
        Command::Handoff(command) => handoff::run(&args.place, command, &mut screen),
        Command::Monitor(command) => monitor::run(&args.place, command, &mut screen),
        Command::Wrap(command) => wrap::run(&args.place, command, &mut screen),
        Command::Index(command) => index::run(&args.place, command, &mut screen),
        Command::Search(command) => search::run(&args.place, command, &mut screen),
        Command::Read(command) => read::run(&args.place, command, &mut screen),
        Command::Recent(command) => recent::run(&args.place, command, &mut screen),
        Command::Context(command) => context::run(&args.place, command, &mut screen),
        Command::Check(command) => match check::run(&args.place, command, &mut screen) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Failure::said_no()),
            Err(failure) => Err(failure),
        },
        Command::Replay(command) => replay::run(&args.place, command, &mut screen),
        Command::Whoami(command) => whoami::run(&args.place, command, &mut screen),
        Command::Config(command) => config::run(&args.place, command, &mut screen),
        Command::Vault(command) => vault::run(&args.place, command, &mut screen),
        Command::Install(command) => install::install(&args.place, command, &mut screen),
        Command::Uninstall(command) => install::uninstall(&args.place, command, &mut screen),
        Command::Doctor(command) => doctor::run(&args.place, command, &mut screen),
        Command::Completions(command) => completions::run(Args::command(), command, &mut screen),
        Command::Man(command) => man::run(Args::command(), command, &mut screen),
        Command::Watchdog => {
            crate::app::process::reap();
            Ok(())
        }
    };
    match done {
        Ok(()) => screen.finish(),
        Err(Failure { code, message }) if message.is_empty() => screen.finish_with(code),
        Err(Failure { code, message }) => {
            // A message can quote text by others.
            screen.complain(&format!("kgctx: {}\n", for_terminal::lines(&message)));
            code.into()
        }
    }
}
