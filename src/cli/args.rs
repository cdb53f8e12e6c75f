//! What can be typed. The doc comments are the help.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

use crate::check::reports::ReportFormat;
use crate::cli::handoff::HandoffArgs;
use crate::cli::screen::Screen;
use crate::core::context::budget::Host;
use crate::core::installation::Scope;
use crate::core::search::answer::RecentFilter;
use crate::core::source::SourcePreference;
use crate::core::time::{Timespan, Timestamp};
use crate::sources::maenifold::MaenifoldClient;
use crate::workspace::{AppError, Request};

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
        Request { source: source.source.map(SourcePreference::from), ..self.request() }
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    Inject(InjectArgs),
    #[command(subcommand)]
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
#[derive(Debug, Subcommand)]
pub(super) enum HookArgs {
    /// What the plugin in OpenCode asks
    Opencode,
    /// What Claude Code tells its hooks SessionStart and SessionEnd
    ClaudeCode,
    /// What Amplifier tells its hook prompt:submit
    Amplifier,
}

/// Keep running: watch the notes, and give sessions of OpenCode servers their context
///
/// For sessions that are created ahead of their prompts, and for faster answers to the plugin. A server that is not there yet
/// is waited for. Passwords are taken from OPENCODE_SERVER_PASSWORD. One per user.
#[derive(Debug, ClapArgs)]
pub(super) struct ServeArgs {
    /// An OpenCode server to follow; may be given more than once [default: `servers` in the configuration]
    #[arg(long = "server", value_name = "URL")]
    pub(super) servers: Vec<String>,
    /// Tell how the running service is
    #[arg(long, conflicts_with = "servers")]
    pub(super) status: bool,
    /// Print the status as JSON
    #[arg(long, requires = "status")]
    pub(super) json: bool,
}

/// How much room a context has.
#[derive(Debug, ClapArgs)]
pub(super) struct LimitArgs {
    /// How many tokens at most [default: 4000, or what TOKEN_LIMIT or the configuration says]
    #[arg(long, value_name = "TOKENS")]
    pub(super) budget: Option<u32>,
    /// Keep to the limits of this host, too [default: plain]
    #[arg(long)]
    pub(super) host: Option<HostArg>,
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
    #[arg(long, value_name = "SOURCE")]
    pub(super) source: Option<SourceArg>,
}

/// Who answers a question.
#[derive(Debug, ClapArgs)]
pub(super) struct AskedArgs {
    /// Ask maenifold about its notes, and nobody about others [default: index]
    #[arg(long, value_name = "SOURCE")]
    source: Option<SourceArg>,
}

impl AskedArgs {
    /// Who of maenifold's is asked; `None` for the index.
    pub(super) fn client(
        &self,
        place: &PlaceArgs,
        screen: &mut Screen,
    ) -> Result<Option<MaenifoldClient>, AppError> {
        let Some(source) = self.source else { return Ok(None) };
        let source = Some(SourcePreference::from(source));
        let client = MaenifoldClient::find(&Request { source, ..place.request() })?;
        if let Some(remark) = client.as_ref().and_then(|found| found.remark.as_deref()) {
            screen.complain(&format!("kgctx: {remark}\n"));
        }
        Ok(client)
    }
}

/// A source.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum SourceArg {
    /// maenifold's database if it knows all notes as they are, else its program, else the index
    Auto,
    /// The index that kgctx keeps of the notes
    Index,
    /// maenifold's memory.db, which is only read
    Database,
    /// The program `maenifold`
    Cli,
}

impl From<SourceArg> for SourcePreference {
    fn from(source: SourceArg) -> SourcePreference {
        match source {
            SourceArg::Auto => SourcePreference::Auto,
            SourceArg::Index => SourcePreference::Index,
            SourceArg::Database => SourcePreference::Database,
            SourceArg::Cli => SourcePreference::Cli,
        }
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

/// A host with limits of its own.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum HostArg {
    /// None
    Plain,
    /// OpenCode: none
    Opencode,
    /// Claude Code: 9,500 characters
    ClaudeCode,
    /// Codex: 2,400 tokens
    Codex,
}

impl From<HostArg> for Host {
    fn from(host: HostArg) -> Host {
        match host {
            HostArg::Plain => Host::Plain,
            HostArg::Opencode => Host::Opencode,
            HostArg::ClaudeCode => Host::ClaudeCode,
            HostArg::Codex => Host::Codex,
        }
    }
}

/// Explain a context: why each line is there, what it costs, and what was left out
///
/// Of the last context that was made, or of the last one for a session, or, with --dry-run, of the one that would
/// be made now.
#[derive(Debug, ClapArgs)]
pub(super) struct ExplainArgs {
    /// The session that it was for
    #[arg(long, value_name = "ID")]
    pub(super) session: Option<String>,
    /// Explain what would be injected now, and write nothing down
    #[arg(long)]
    pub(super) dry_run: bool,
    #[command(flatten)]
    pub(super) limits: LimitArgs,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
    /// Write a page that a browser shows, with the graph drawn
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub(super) html: Option<PathBuf>,
}

/// Bring the index up to date, and sum it up
///
/// Only changed notes are read again. An index that is damaged, or was made by another version or with other
/// settings, is made anew.
#[derive(Debug, ClapArgs)]
pub(super) struct IndexArgs {
    /// Read every note again
    #[arg(long)]
    pub(super) full: bool,
    /// Keep running, and keep the index up to date
    #[arg(long, conflicts_with = "json")]
    pub(super) watch: bool,
    /// Leave out vaults that cannot be opened, as a session start does
    #[arg(long, hide = true)]
    pub(super) what_answers: bool,
    /// Leave out maenifold's memory, as a session start does for which maenifold's database answers
    #[arg(long, hide = true, requires = "what_answers")]
    pub(super) without_memory: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Find notes by their words, title, alias or concept
///
/// A note whose title is the query comes first, then one with that alias or file name, then notes that mention
/// it as a concept or hold its words. Any text is a valid query; a memory:// address finds its note.
#[derive(Debug, ClapArgs)]
pub(super) struct SearchArgs {
    /// What to look for
    #[arg(allow_hyphen_values = true)]
    query: String,
    /// More words of the same query
    more: Vec<String>,
    /// How many notes at most
    #[arg(long, default_value_t = 5)]
    pub(super) limit: usize,
    #[command(flatten)]
    pub(super) source: AskedArgs,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

impl SearchArgs {
    /// The whole query.
    pub(super) fn query(&self) -> String {
        let mut query = self.query.clone();
        for word in &self.more {
            query.push(' ');
            query.push_str(word);
        }
        query
    }
}

/// List notes that changed lately, newest first
#[derive(Debug, ClapArgs)]
pub(super) struct RecentArgs {
    /// How far back: 24h, 90m, 7d, 2w, or [days.]hours:minutes:seconds like 1.00:00:00
    #[arg(long, value_name = "SPAN", default_value = "24h", value_parser = Timespan::parse, allow_hyphen_values = true)]
    pub(super) timespan: Timespan,
    /// How many notes at most
    #[arg(long, default_value_t = 10)]
    pub(super) limit: usize,
    /// Which notes
    #[arg(long, default_value = "all")]
    pub(super) filter: Filter,
    /// Answer as of this moment, like 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(super) now: Option<Timestamp>,
    #[command(flatten)]
    pub(super) source: AskedArgs,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Which notes recent activity is about.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Filter {
    /// Every note
    All,
    /// Notes outside of memory://thinking/
    Memory,
    /// Notes below memory://thinking/
    Thinking,
}

impl From<Filter> for RecentFilter {
    fn from(filter: Filter) -> RecentFilter {
        match filter {
            Filter::All => RecentFilter::All,
            Filter::Memory => RecentFilter::Memory,
            Filter::Thinking => RecentFilter::Thinking,
        }
    }
}

/// Show the concepts that share notes with a concept
///
/// In maenifold's order: the neighbours with the most common notes, weighted by how fresh those notes are.
#[derive(Debug, ClapArgs)]
pub(super) struct ContextArgs {
    /// The concept, in any spelling: "Auth Flow", auth-flow, auth_flow
    #[arg(allow_hyphen_values = true)]
    pub(super) concept: String,
    /// How many steps to go; above 1 also lists concepts further away
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=5))]
    pub(super) depth: u32,
    /// How many concepts at most
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(super) max_entities: usize,
    /// Answer as of this moment, like 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(super) now: Option<Timestamp>,
    #[command(flatten)]
    pub(super) source: AskedArgs,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Check what this repository's sessions are given: budgets, links, handoffs, secrets
///
/// Works from the checkout alone, so that it says the same on every machine: neither your home folder, nor your
/// configuration, nor the clock counts. `[check]` in kgctx.toml sets sessions, budgets and rules. Ends with 0 if all is well
/// or there are only warnings, with 1 if a rule is broken, with 2 if the configuration is wrong.
#[derive(Debug, ClapArgs)]
pub(super) struct CheckArgs {
    /// Compare with where this branch left that revision [default: the committed baseline, if there is one]
    #[arg(long, value_name = "REV", allow_hyphen_values = true)]
    pub(super) base: Option<String>,
    /// How to tell what was found
    #[arg(long, default_value = "text")]
    pub(super) format: CheckFormat,
    /// Agree on what sessions are given now: write the baseline
    #[arg(long, conflicts_with = "base")]
    pub(super) update_baseline: bool,
    /// Write a commented section for checks into kgctx.toml, and the baseline
    #[arg(long, conflicts_with_all = ["base", "update_baseline", "format"])]
    pub(super) init: bool,
    /// Check as of this moment [default: that of the newest commit]
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(super) now: Option<Timestamp>,
}

/// How a check tells what it found.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum CheckFormat {
    /// For people: each place with its line and the way out, and a table of sessions
    Text,
    /// For scripts
    Json,
    /// For GitHub: annotations at the lines of a pull request
    Github,
    /// For code scanning: SARIF 2.1.0
    Sarif,
    /// For test reports: JUnit's XML
    Junit,
    /// For a comment below a pull request
    Markdown,
}

impl From<CheckFormat> for ReportFormat {
    fn from(format: CheckFormat) -> ReportFormat {
        match format {
            CheckFormat::Text => ReportFormat::Text,
            CheckFormat::Json => ReportFormat::Json,
            CheckFormat::Github => ReportFormat::Github,
            CheckFormat::Sarif => ReportFormat::Sarif,
            CheckFormat::Junit => ReportFormat::Junit,
            CheckFormat::Markdown => ReportFormat::Markdown,
        }
    }
}

/// Tell which project this folder belongs to, and why
#[derive(Debug, ClapArgs)]
pub(super) struct WhoamiArgs {
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Show every setting and where it comes from
#[derive(Debug, ClapArgs)]
pub(super) struct ConfigArgs {
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Put the bridge into a host, so that its sessions get context by themselves
///
/// For OpenCode that is one file, kgctx.ts, in its folder of plugins; for Claude Code two hooks in its settings file,
/// of which all else stays as it is, and which is kept beside it as it was. What is changed is said before. Run again
/// after an update of kgctx. `kgctx uninstall` leaves everything as it was before.
#[derive(Debug, ClapArgs)]
pub(super) struct InstallArgs {
    /// The host
    pub(super) host: BridgeHost,
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
    pub(super) host: BridgeHost,
    #[command(flatten)]
    pub(super) scope: ScopeArgs,
}

/// A host that has a bridge.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum BridgeHost {
    /// OpenCode
    Opencode,
    /// Claude Code
    ClaudeCode,
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

/// Check the way from your notes into OpenCode's sessions, and say what to do
///
/// Each check is one line: ok, warn or FAIL, and what was found; below it, the way out. Changes nothing, except that
/// the index is brought up to date.
#[derive(Debug, ClapArgs)]
pub(super) struct DoctorArgs {
    /// Check this OpenCode server, too [default: those of `servers` in the configuration, if it names any]
    #[arg(long, value_name = "URL")]
    pub(super) server: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

fn moment(text: &str) -> Result<Timestamp, String> {
    let seconds = || text.parse::<i64>().ok().map(Timestamp::from_seconds);
    Timestamp::parse(text).or_else(seconds).ok_or_else(|| {
        "it is not a moment; write 2026-01-31, 2026-01-31T12:00:00Z or seconds since 1970"
            .to_owned()
    })
}
