//! The table of all settings: key, type, default, environment variable, and what a project cannot set.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::core::context::rank::Ranking;
use crate::core::handoff::Audience;
use crate::core::relevance::uncommitted::UncommittedFiles;
use crate::core::session::{Announcement, Delivery};
use crate::core::settings::declare::{list, named, number_of, set_from_variable, settings, switch};
use crate::core::settings::percent::Percent;
use crate::core::settings::{ChannelRule, LinkPreference, Setting, VaultSpec};
use crate::core::source::SourcePreference;
use crate::core::time_limits;
use crate::core::tokens::encoding::Encoding;

/// The variables for `enabled`.
const ENABLED_VARIABLES: [&str; 3] =
    ["KGCTX_ENABLED", "KGCTX_SESSION_START_ENABLED", "SESSION_START_ENABLED"];

settings! {
    /// All effective settings.
    Settings {
        /// The folders of notes, in order. They need not exist.
        vaults: Vec<Setting<VaultSpec>> = Vec::new(),
        /// Channels of folders, used by handoffs.
        channels: Vec<Setting<ChannelRule>> = Vec::new(),
        /// A channel that overrides all rules. Only the environment sets it.
        channel: Setting<Option<String>> = Setting::default(None),
        handoff: HandoffSettings = HandoffSettings::default(),
        monitor: MonitorSettings = MonitorSettings::default(),
    }
    /// A settings file as written.
    SettingsFile in ""
    [
        #[serde(default, rename = "vault")]
        pub vaults: Vec<VaultEntry>,
    ] {
        /// Whether maenifold's memory and the project's own notes are vaults by default.
        default_vaults: bool = true, env("KGCTX_DEFAULT_VAULTS", switch), project_may(lower);
        /// How to read links and titles: `auto` follows each vault's program; `obsidian`, `logseq`, `dendron` or `maenifold` apply to all vaults.
        links: LinkPreference = LinkPreference::Auto, env("KGCTX_LINKS", named);
        /// The maximum size of a note in bytes; kgctx skips larger files.
        max_file_bytes: u64 = 10 * 1024 * 1024, env("KGCTX_MAX_FILE_BYTES", number_of("bytes")), project_may(lower);
    }
    [
        #[serde(default)]
        pub channels: BTreeMap<String, String>,
    ] {
        /// The maximum number of tokens in a session's context, its supplement included.
        token_limit: u32 = 4_000, env("KGCTX_TOKEN_LIMIT" | "TOKEN_LIMIT", number_of("tokens")), project_may(lower);
        /// The percentage of these tokens to reserve for notes that match the first prompt, if the context goes out before it.
        prompt_share: Percent = Percent::of_100(10), env("KGCTX_PROMPT_SHARE", number_of("percent, at most 100"));
        /// The source for the notes of maenifold's memory: `auto` (the index), `database`, `cli` or `index`.
        source: SourcePreference = SourcePreference::Auto,
            env("KGCTX_SOURCE", named),
            not_for_project("which may start a program");
        /// The time limit of one call of maenifold's program, in milliseconds.
        cli_timeout_ms: u64 = 5_000,
            env("KGCTX_CLI_TIMEOUT" | "CLI_TIMEOUT", number_of("milliseconds")), project_may(lower);
        /// What a context contains: `notes`, quoted and best first, or `frequency`, concepts and the last 24 hours.
        rank: Ranking = Ranking::default(), env("KGCTX_RANK", named);
        /// `on` ranks notes higher that name a changed file. With `record`, `kgctx explain` shows which would rank higher.
        uncommitted_files: UncommittedFiles = UncommittedFiles::default(),
            env("KGCTX_UNCOMMITTED_FILES", named);
        /// The token encoding: `o200k_base` or `cl100k_base`.
        encoding: Encoding = Encoding::O200kBase, env("KGCTX_ENCODING", named);
        /// The time limit for building a context, in milliseconds.
        deadline_ms: u64 = time_limits::CONTEXT.as_millis() as u64, env("KGCTX_DEADLINE_MS", number_of("milliseconds")), project_may(lower);
        /// Whether sessions get context at all. Each of its variables can switch it off.
        enabled: bool = true, env("KGCTX_ENABLED" | "KGCTX_SESSION_START_ENABLED" | "SESSION_START_ENABLED", switch), project_may(lower);
        /// How OpenCode gets the context: `noreply` as a separate message, `part` in the first prompt, or `auto` for whichever fits.
        delivery: Delivery = Delivery::Auto, env("KGCTX_DELIVERY", named);
        /// How OpenCode notifies you: `toast`, `log` or `off`.
        notice: Announcement = Announcement::Toast,
            env("KGCTX_NOTICE", named),
            not_for_project("which controls what you see");
        /// The maximum number of tokens in the context after a compaction.
        compaction_token_limit: u32 = 1_000, env("KGCTX_COMPACTION_TOKEN_LIMIT", number_of("tokens")), project_may(lower);
        /// The OpenCode servers for `kgctx serve` and `kgctx inject`.
        servers: Vec<String> = vec!["http://127.0.0.1:4096".to_owned()],
            env("KGCTX_SERVERS", list),
            not_for_project("which would receive your notes");
    }
    [
        #[serde(default)]
        pub handoff: HandoffFile,
        #[serde(default)]
        pub monitor: MonitorFile,
        /// Only `kgctx check` reads this section, with its own parser.
        #[serde(rename = "check")]
        pub _check: Option<IgnoredAny>,
    ] {}
}

impl Settings {
    /// Switches sessions off if any of the variables for that says so. Returns those that say neither yes nor no.
    pub fn close_by_variables(
        &mut self,
        get: &dyn Fn(&str) -> Option<String>,
    ) -> Vec<(&'static str, String)> {
        let mut unclear = Vec::new();
        for name in ENABLED_VARIABLES {
            let mut said = Setting::default(true);
            unclear.extend(set_from_variable(&mut said, &[name], get, switch));
            if !said.value {
                self.enabled = said;
            }
        }
        unclear
    }
}

settings! {
    HandoffSettings {}
    /// The section `[handoff]` of a settings file.
    HandoffFile in "handoff."
    [] {
        /// Whether handoffs are written and delivered automatically.
        enabled: bool = true, env("KGCTX_HANDOFFS", switch), project_may(lower);
        /// Whether a session receives a handoff at its start.
        inject_on_start: bool = true, project_may(lower);
        /// Whether a session receives a handoff after `/clear`. It receives its notes in any case.
        inject_on_clear: bool = false, project_may(lower);
        /// The sessions that may get a handoff that does not name its audience: `interactive`, or `any`.
        audience: Audience = Audience::Interactive, project_may(lower);
        /// The maximum age of a sticky handoff, in days.
        max_age_days: u32 = 7, project_may(lower);
        /// The minimum number of prompts; a shorter session leaves no handoff at its end.
        min_turns: u32 = 2;
        /// The program that summarises a session, with its arguments. Empty: no program.
        summariser: Vec<String> = Vec::new(),
            not_for_project("which would run on your machine");
        /// Folders outside the project from which listed files can be read.
        allow: Vec<PathBuf> = Vec::new(), as Vec<String>,
            not_for_project("from where your files would be read");
    }
}

settings! {
    MonitorSettings {}
    /// The section `[monitor]` of a settings file.
    MonitorFile in "monitor."
    [] {
        /// Whether kgctx tells an agent once that its context is filling up, and once that it is nearly full.
        notify: bool = true, env("KGCTX_MONITOR_NOTIFY", switch), project_may(lower);
        /// The share of the window at which a context becomes EARLY_WARN, in percent.
        early_warn_percent: Percent = Percent::of_100(40),
            not_for_project("which decides what your agents are told about their contexts");
        /// The share of the window at which a context becomes WARN, in percent.
        warn_percent: Percent = Percent::of_100(50),
            not_for_project("which decides what your agents are told about their contexts");
        /// The share of the window at which a context becomes CRITICAL, in percent. The last 20,000 tokens before a compaction are always CRITICAL.
        critical_percent: Percent = Percent::of_100(65),
            not_for_project("which decides when your sessions are restarted");
        /// The windows of models in tokens, by model name; `*` for all others.
        windows: BTreeMap<String, u64> = BTreeMap::new(),
            not_for_project("which depends on your models");
    }
}

/// A vault as written in a settings file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VaultEntry {
    pub path: String,
    pub name: Option<String>,
}
