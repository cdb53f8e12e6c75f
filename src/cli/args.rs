//! What can be typed. The doc comments are the help.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

use crate::cli::check::CheckArgs;
use crate::cli::config::ConfigArgs;
use crate::cli::context::ContextArgs;
use crate::cli::doctor::DoctorArgs;
use crate::cli::explain::ExplainArgs;
use crate::cli::handoff::HandoffArgs;
use crate::cli::index::IndexArgs;
use crate::cli::recent::RecentArgs;
use crate::cli::search::SearchArgs;
use crate::cli::serve::ServeArgs;
use crate::cli::whoami::WhoamiArgs;
use crate::core::host::Host;
use crate::core::installation::Scope;
use crate::core::named::Named;
use crate::core::source::SourcePreference;
use crate::core::time::Timestamp;
use crate::workspace::Request;

/// Knowledge-graph context for coding agents, from markdown notes with wiki links.
///
/// Notes are looked for in ~/maenifold/memory (or $MAENIFOLD_ROOT/memory) and in the project's own .kgctx/memory
/// and docs. The index over them is kept up to date by every command that reads it.
#[derive(Debug, Parser)]
#[command(name = "kgctx", version, max_term_width = 100)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) place: PlaceArgs,
    #[command(subcommand)]
    pub(super) command: Command,
}

/// Where to look. In the help of a command these come behind its own.
#[derive(Debug, ClapArgs)]
pub(super) struct PlaceArgs {
    /// Work as if started in this folder
    #[arg(long, value_name = "FOLDER", global = true, display_order = 900)]
    dir: Option<PathBuf>,
    /// Use this folder of notes instead of all others; may be given more than once
    ///
    /// Notes of the first have addresses like memory://note, those of the others memory://<folder's name>/note.
    #[arg(long = "vault", value_name = "FOLDER", global = true, display_order = 901)]
    vaults: Vec<PathBuf>,
}

impl PlaceArgs {
    /// Whether vaults were named.
    pub(super) fn names_vaults(&self) -> bool {
        !self.vaults.is_empty()
    }

    /// The folder that was named.
    pub(super) fn dir(&self) -> Option<PathBuf> {
        self.dir.clone()
    }

    pub(super) fn request(&self) -> Request {
        Request { dir: self.dir.clone(), vaults: self.vaults.clone(), ..Request::default() }
    }

    /// The same, with somebody to be asked.
    pub(super) fn request_of(&self, source: &SourceArgs) -> Request {
        Request { source: source.source, ..self.request() }
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    Inject(InjectArgs),
    Hook(HookArgs),
    Serve(ServeArgs),
    Explain(ExplainArgs),
    Handoff(HandoffArgs),
    Index(IndexArgs),
    Search(SearchArgs),
    Recent(RecentArgs),
    Context(ContextArgs),
    Check(CheckArgs),
    Whoami(WhoamiArgs),
    Config(ConfigArgs),
    Install(InstallArgs),
    Uninstall(UninstallArgs),
    Doctor(DoctorArgs),
    /// End the programs of whoever writes to standard input, when they are gone
    #[cfg(unix)]
    #[command(hide = true)]
    Watchdog,
}

/// Give a session its context, once
///
/// Concepts and notes about the project and of the last 24 hours, with what stands around them in the graph, within
/// an exact number of tokens. It is stored in a session of a running OpenCode server as a message that the model reads
/// and does not answer; the server's password is taken from OPENCODE_SERVER_PASSWORD. Only an idle session is given
/// anything, and only once. Every context has a receipt: see `kgctx explain`.
#[derive(Debug, ClapArgs)]
pub(super) struct InjectArgs {
    /// The session that it is for
    #[arg(long, value_name = "ID")]
    pub(super) session: String,
    /// The OpenCode server [default: the first of `servers` in the configuration, http://127.0.0.1:4096]
    #[arg(long, value_name = "URL", conflicts_with = "dry_run")]
    pub(super) server: Option<String>,
    /// Wait until the session is idle
    #[arg(long, conflicts_with = "dry_run")]
    pub(super) wait: bool,
    /// Print the very bytes that would be delivered, and deliver nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    #[command(flatten)]
    pub(super) limits: LimitArgs,
    /// What to print
    #[arg(long, default_value = "markdown")]
    pub(super) format: Format,
    /// Say on standard error how long each stage took
    #[arg(long)]
    pub(super) timings: bool,
}

/// Answer what a bridge inside of a host asks: JSON on standard input, JSON on standard output
///
/// Bridges call this; people have no use for it. It always ends with 0 and within 1.2 seconds.
#[derive(Debug, ClapArgs)]
pub(super) struct HookArgs {
    /// The host
    #[arg(value_parser = some_of(|host: Host| Some(host.facts().hook.as_ref()?.help)))]
    pub(super) host: Host,
}

/// How much room a context has.
#[derive(Debug, ClapArgs)]
pub(super) struct LimitArgs {
    /// How many tokens at most [default: 4000, or what TOKEN_LIMIT or the configuration says]
    #[arg(long, value_name = "TOKENS")]
    pub(super) budget: Option<u32>,
    /// Keep to the limits of this host, too [default: plain]
    #[arg(long, value_parser = some_of(|host: Host| Some(host.facts().limits.as_ref()?.help)))]
    pub(super) host: Option<Host>,
    /// Make it as of this moment, like 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(super) now: Option<Timestamp>,
    #[command(flatten)]
    pub(super) source: SourceArgs,
}

/// Who is asked about the notes of maenifold's memory.
#[derive(Debug, ClapArgs)]
pub(super) struct SourceArgs {
    /// Who is asked about the notes of maenifold's memory [default: auto, or what the configuration says]
    #[arg(long, value_name = "SOURCE", value_parser = one_of(source_help))]
    pub(super) source: Option<SourcePreference>,
}

pub(super) fn source_help(source: SourcePreference) -> &'static str {
    match source {
        SourcePreference::Auto => {
            "maenifold's database if it knows all notes as they are, else its program, else the index"
        }
        SourcePreference::Index => "The index that kgctx keeps of the notes",
        SourcePreference::Database => "maenifold's memory.db, which is only read",
        SourcePreference::Cli => "The program `maenifold`",
    }
}

/// What to print of a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// The text alone
    Markdown,
    /// The text, and how it came about
    Json,
}

/// Put the bridge into a host, so that its sessions get context by themselves
///
/// For OpenCode that is one file, kgctx.ts, in its folder of plugins; for Claude Code two hooks in its settings file,
/// of which all else stays as it is, and which is kept beside it as it was. What is changed is said before. Run again
/// after an update of kgctx. `kgctx uninstall` leaves everything as it was before.
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
    host.facts().can_install.then_some(host.facts().title)
}

/// Reads a name of an enum's; the help lists all of them.
pub(super) fn one_of<T: Named>(help: fn(T) -> &'static str) -> impl TypedValueParser<Value = T> {
    some_of(move |value| Some(help(value)))
}

/// Reads a name of an enum's; only values with a help text are known.
fn some_of<T: Named>(help: impl Fn(T) -> Option<&'static str>) -> impl TypedValueParser<Value = T> {
    let value = |value: &T| Some(PossibleValue::new(value.name()).help(help(*value)?));
    PossibleValuesParser::new(T::ALL.iter().filter_map(value).collect::<Vec<_>>())
        .try_map(|name| T::parse(&name).ok_or_else(|| format!("{name} is unknown")))
}

pub(super) fn moment(text: &str) -> Result<Timestamp, String> {
    let seconds = || text.parse::<i64>().ok().map(Timestamp::from_seconds);
    Timestamp::parse(text).or_else(seconds).ok_or_else(|| {
        "it is not a moment; write 2026-01-31, 2026-01-31T12:00:00Z or seconds since 1970"
            .to_owned()
    })
}
