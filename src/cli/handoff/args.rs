//! What can be typed after `kgctx handoff`. The doc comments are the help.

use std::path::PathBuf;

use clap::{ArgGroup, Args as ClapArgs, Subcommand, ValueEnum};

use crate::core::handoff::{Consume, HandoffId, Kind, Occasion, Priority};

/// Leave work for the next session, and pick up what was left
///
/// A handoff is a markdown document. One that is left for the next session is given to it by itself, once; tasks wait in a
/// queue until somebody picks them up. All worktrees of a repository share them.
#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct HandoffArgs {
    #[command(subcommand)]
    pub(super) command: HandoffCommand,
    /// Use this channel instead of the one that the folder belongs to
    #[arg(long, value_name = "NAME", global = true, display_order = 800)]
    pub(super) channel: Option<String>,
    /// Act for this session [default: $KGCTX_SESSION_ID]
    #[arg(long, value_name = "ID", global = true, display_order = 801)]
    pub(super) session: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(super) enum HandoffCommand {
    Create(CreateArgs),
    List(ListArgs),
    Show(ShowArgs),
    Pickup(PickupArgs),
    Release(ReleaseArgs),
    Archive(ArchiveArgs),
    Clear(ClearArgs),
    Prune(PruneArgs),
    Log(LogArgs),
    Import(ImportArgs),
    Export(ExportArgs),
    Reconcile(ReconcileArgs),
    #[command(hide = true)]
    Finish(FinishArgs),
}

/// Leave a handoff
///
/// The text comes from FILE, from --body, or from standard input: markdown, with a JSON header or YAML front matter if you
/// like. On a terminal $EDITOR is opened. With --goal and --next no text is needed.
#[derive(Debug, ClapArgs)]
pub(super) struct CreateArgs {
    /// Read the text from here; - is standard input
    pub(super) file: Option<PathBuf>,
    /// The text
    #[arg(long, value_name = "MARKDOWN", conflicts_with = "file", allow_hyphen_values = true)]
    pub(super) body: Option<String>,
    /// Put it into the queue, to be picked up, instead of giving it to the next session
    #[arg(long)]
    pub(super) task: bool,
    /// What is to be reached
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(super) goal: Option<String>,
    /// What to do next
    #[arg(long = "next", value_name = "TEXT", allow_hyphen_values = true)]
    pub(super) next_step: Option<String>,
    /// How urgent a task is [default: medium]
    #[arg(long)]
    pub(super) priority: Option<PriorityArg>,
    /// A file to be read first with it; may be given more than once
    #[arg(long = "spec", value_name = "PATH")]
    pub(super) specs: Vec<String>,
    /// A file to be read with it; may be given more than once
    #[arg(long = "file", value_name = "PATH")]
    pub(super) files: Vec<String>,
    /// A word to find it by; may be given more than once
    #[arg(long = "tag", value_name = "WORD")]
    pub(super) tags: Vec<String>,
    /// Keep it for further sessions, until there is a newer one
    #[arg(long, conflicts_with = "task")]
    pub(super) sticky: bool,
    /// How it came about, which decides when it is too old: auto and rotation after 2 hours, end after 7 days [default: manual]
    #[arg(long = "type", value_name = "TYPE")]
    pub(super) occasion: Option<OccasionArg>,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum PriorityArg {
    High,
    Medium,
    Low,
}

impl From<PriorityArg> for Priority {
    fn from(priority: PriorityArg) -> Priority {
        match priority {
            PriorityArg::High => Priority::High,
            PriorityArg::Medium => Priority::Medium,
            PriorityArg::Low => Priority::Low,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum OccasionArg {
    Auto,
    Manual,
    Bye,
    End,
    Rotation,
}

impl From<OccasionArg> for Occasion {
    fn from(occasion: OccasionArg) -> Occasion {
        match occasion {
            OccasionArg::Auto => Occasion::Auto,
            OccasionArg::Manual => Occasion::Manual,
            OccasionArg::Bye => Occasion::Bye,
            OccasionArg::End => Occasion::End,
            OccasionArg::Rotation => Occasion::Rotation,
        }
    }
}

impl CreateArgs {
    pub(super) fn kind(&self) -> Option<Kind> {
        self.task.then_some(Kind::Task)
    }

    pub(super) fn consume(&self) -> Option<Consume> {
        self.sticky.then_some(Consume::Sticky)
    }

    /// Whether everything that is needed was typed, so that standard input is not waited for.
    pub(super) fn is_complete(&self) -> bool {
        self.file.is_none() && (self.body.is_some() || self.goal.is_some())
    }
}

/// List what is claimed and what waits
#[derive(Debug, ClapArgs)]
pub(super) struct ListArgs {
    /// Also what is done with
    #[arg(long)]
    pub(super) all: bool,
    /// Only these fields, in this order, like id,status,goal
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(super) fields: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Show handoffs without taking them
#[derive(Debug, ClapArgs)]
pub(super) struct ShowArgs {
    /// Which [default: the one that waits for the next session]
    #[arg(value_parser = HandoffId::parse)]
    pub(super) ids: Vec<HandoffId>,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Take a handoff up: claim it, and print it with the files that it lists
#[derive(Debug, ClapArgs)]
#[command(group = ArgGroup::new("which").required(true))]
pub(super) struct PickupArgs {
    /// Which
    #[arg(value_parser = HandoffId::parse, group = "which")]
    pub(super) id: Option<HandoffId>,
    /// The most urgent task, and of those the oldest
    #[arg(long, group = "which")]
    pub(super) auto: bool,
    /// Leave the listed files alone
    #[arg(long)]
    pub(super) no_inject: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Give back what was picked up
#[derive(Debug, ClapArgs)]
pub(super) struct ReleaseArgs {
    /// Which [default: what this session picked up last]
    #[arg(value_parser = HandoffId::parse)]
    pub(super) ids: Vec<HandoffId>,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Put handoffs away: they are done with
#[derive(Debug, ClapArgs)]
pub(super) struct ArchiveArgs {
    /// Which
    #[arg(value_parser = HandoffId::parse, required = true)]
    pub(super) ids: Vec<HandoffId>,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Put away what waits for the next session
#[derive(Debug, ClapArgs)]
pub(super) struct ClearArgs {
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Remove the oldest of what is done with
///
/// What waits or is claimed stays. What was done with more than 7 days ago goes by itself.
#[derive(Debug, ClapArgs)]
pub(super) struct PruneArgs {
    /// How many to keep
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) keep: u32,
    /// Say what would be removed, and remove nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Tell what became of handoffs, the newest step first
#[derive(Debug, ClapArgs)]
pub(super) struct LogArgs {
    /// Of which [default: of all]
    #[arg(value_parser = HandoffId::parse)]
    pub(super) id: Option<HandoffId>,
    /// How many steps at most
    #[arg(long, default_value_t = 30)]
    pub(super) limit: usize,
    /// Print JSON, a line for each step
    #[arg(long)]
    pub(super) json: bool,
}

/// Take in handoffs of other tools
///
/// Files with any of the known headers, or, with --amplifier, what Amplifier has left for this project below
/// $AMPLIFIER_PROJECTS_DIR, $AMPLIFIER_HOME/projects or ~/.amplifier/projects.
#[derive(Debug, ClapArgs)]
pub(super) struct ImportArgs {
    /// The files
    #[arg(required_unless_present = "amplifier")]
    pub(super) files: Vec<PathBuf>,
    /// What Amplifier has left for this project
    #[arg(long, conflicts_with = "files")]
    pub(super) amplifier: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Write handoffs for other tools
#[derive(Debug, ClapArgs)]
pub(super) struct ExportArgs {
    /// Which [default: the one that waits for the next session]
    #[arg(value_parser = HandoffId::parse)]
    pub(super) id: Option<HandoffId>,
    /// Write it here instead of to standard output
    #[arg(long, value_name = "FILE")]
    pub(super) to: Option<PathBuf>,
    /// Write it where Amplifier looks, in its form
    #[arg(long, conflicts_with = "to")]
    pub(super) amplifier: bool,
}

/// Compare what handoffs say with what is there
///
/// With an id: whether its git_ref, specs and files are there. Without: whether the documents are what the state says.
/// Changes nothing without --repair.
#[derive(Debug, ClapArgs)]
pub(super) struct ReconcileArgs {
    /// Which [default: all]
    #[arg(value_parser = HandoffId::parse)]
    pub(super) id: Option<HandoffId>,
    /// Take in documents that the state has lost
    #[arg(long, conflicts_with = "id")]
    pub(super) repair: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Write the handoffs of sessions that have ended
#[derive(Debug, ClapArgs)]
pub(super) struct FinishArgs {
    /// A session that has ended and could not be noted
    #[arg(long, requires = "folder")]
    pub(super) ended: Option<String>,
    /// Where it worked
    #[arg(long)]
    pub(super) folder: Option<PathBuf>,
    /// What was said in it
    #[arg(long)]
    pub(super) transcript: Option<PathBuf>,
}
