//! `kgctx vault`

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};
use serde_json::json;

use crate::app::vaults::{Added, ListedVault, NamedIn, Removed, add, list, remove};
use crate::cli::init::quoted;
use crate::cli::outcome::Outcome;
use crate::cli::place::PlaceArgs;
use crate::cli::progress::during;
use crate::cli::screen::Screen;
use crate::core::text::for_terminal::{self, Style};
use crate::core::text::number::counted;
use crate::workspace::AppError;

/// Name folders of notes, list them, and remove them again
///
/// kgctx finds a project's usual places. Name a vault elsewhere once: your config.toml then has it for every project. kgctx
/// keeps the comments and the order of the file.
#[derive(Debug, ClapArgs)]
pub(super) struct VaultArgs {
    #[command(subcommand)]
    command: VaultCommand,
}

#[derive(Debug, Subcommand)]
enum VaultCommand {
    /// Name a folder of notes
    Add(AddArgs),
    /// List every vault of this place: how many notes it has, how they are read, and why it is there
    List(ListArgs),
    /// Remove a folder of notes from the settings; kgctx does not touch the folder
    Remove(RemoveArgs),
}

#[derive(Debug, ClapArgs)]
struct AddArgs {
    /// The folder
    path: PathBuf,
    /// The first part of its notes' addresses [default: the folder's name]
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    file: FileArgs,
}

#[derive(Debug, ClapArgs)]
struct RemoveArgs {
    /// The folder
    path: PathBuf,
    #[command(flatten)]
    file: FileArgs,
}

#[derive(Debug, ClapArgs)]
struct FileArgs {
    /// Use the project's kgctx.toml, which may only name folders of the project, instead of your config.toml, which counts everywhere
    #[arg(long)]
    project: bool,
}

impl FileArgs {
    fn named_in(&self) -> NamedIn {
        if self.project { NamedIn::Project } else { NamedIn::User }
    }
}

#[derive(Debug, ClapArgs)]
struct ListArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(place: &PlaceArgs, args: &VaultArgs, screen: &mut Screen) -> Outcome {
    match &args.command {
        VaultCommand::Add(args) => {
            let added =
                add(&place.request(), &args.path, args.name.as_deref(), args.file.named_in())?;
            print_added(place, added, args.file.named_in(), screen)?;
        }
        VaultCommand::List(args) => {
            let vaults = listed(place)?;
            if args.json {
                screen.json(&json!({ "vaults": vaults }));
            } else {
                print_list(&vaults, screen);
            }
        }
        VaultCommand::Remove(args) => {
            let Removed { file, path } =
                remove(&place.request(), &args.path, args.file.named_in())?;
            let file = for_terminal::one_line(&file.display().to_string());
            let path = for_terminal::one_line(&path.display().to_string());
            screen.line(format!("removed {path} from {file}"));
        }
    }
    Ok(())
}

/// The vaults of the place, with an index that is up to date.
pub(super) fn listed(place: &PlaceArgs) -> Result<Vec<ListedVault>, AppError> {
    during("Reading notes", |progress| {
        list(&place.request(), &mut |done, all| progress.count("notes", done, all))
    })
}

fn print_added(
    place: &PlaceArgs,
    added: Added,
    named_in: NamedIn,
    screen: &mut Screen,
) -> Result<(), AppError> {
    let (path, file, is_in_project) = match added {
        Added::Written { file, path, is_in_project } => (path, file, is_in_project),
        Added::Already { path, because } => {
            let path = for_terminal::one_line(&path.display().to_string());
            let because = for_terminal::one_line(&because);
            screen.line(format!("nothing to do: {path} is a vault already, {because}"));
            return Ok(());
        }
    };
    let file = for_terminal::one_line(&file.display().to_string());
    let shown = path.display().to_string();
    screen.line(format!("added {} to {file}", for_terminal::one_line(&shown)));
    screen.flush();
    let is_it = |vault: &&ListedVault| same_folder(&vault.path, &shown) && vault.is_named;
    match listed(place)?.iter().find(is_it) {
        Some(ListedVault { fault: Some(fault), .. }) => {
            screen.complain(&format!("kgctx: {}\n", for_terminal::one_line(fault)));
        }
        Some(vault) => {
            let n_notes = counted(vault.notes.unwrap_or_default() as usize, "note");
            let of = vault.program.map_or(String::new(), |program| format!(" of {program}"));
            screen.line(format!("{n_notes}{of}, at {}", for_terminal::one_line(&vault.address)));
        }
        None => screen.line("other vaults replace it here: --vault, or KGCTX_VAULTS"),
    }
    if is_in_project && named_in == NamedIn::User {
        let folder = for_terminal::one_line(&quoted(&shown));
        screen.line(format!(
            "Every project reads it now. For this project alone: kgctx vault remove {folder} && kgctx vault add --project {folder}"
        ));
    }
    Ok(())
}

/// Whether two paths name one folder, as far as they can be compared without a look.
fn same_folder(one: &str, other: &str) -> bool {
    PathBuf::from(one).components().eq(PathBuf::from(other).components())
}

/// One line for each vault.
pub(super) fn print_list(vaults: &[ListedVault], screen: &mut Screen) {
    if vaults.is_empty() {
        screen.line("no vaults; `kgctx vault add FOLDER` names one, and `kgctx init` looks around");
    }
    let notes = |vault: &ListedVault| match vault.notes {
        Some(n) => counted(n as usize, "note"),
        None => "not read".to_owned(),
    };
    let widest = |text: &dyn Fn(&ListedVault) -> String| {
        vaults.iter().map(|vault| text(vault).chars().count()).max().unwrap_or_default()
    };
    let path = |vault: &ListedVault| for_terminal::one_line(&vault.path);
    let address = |vault: &ListedVault| for_terminal::one_line(&vault.address);
    let (width, of_path, of_address) = (widest(&notes), widest(&path), widest(&address));
    for vault in vaults {
        let number = format!("{:<width$}", notes(vault));
        let because = for_terminal::one_line(&vault.described());
        let address = screen.paint(Style::Link, format!("{:<of_address$}", address(vault)));
        let because = screen.paint(Style::Faint, because);
        screen.line(format!("{number}  {:<of_path$}  {address}  {because}", path(vault)));
        if let Some(fault) = &vault.fault {
            let fault = screen.paint(Style::Bad, for_terminal::one_line(fault));
            screen.line(format!("{:width$}  {fault}", ""));
        }
    }
}
