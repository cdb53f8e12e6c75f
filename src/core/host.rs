//! The hosts: one row of facts for each program in which an agent runs. The protocol of each host is in `hosts`.

use serde::{Deserialize, Serialize};

use crate::core::context::budget::Budget;
use crate::core::installation::{Bundle, Install, InstallKind, JsonHooks, PluginFile, UserFolder};
use crate::core::named::{Named, named};

/// A program in which an agent runs. All other facts are in its row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Host {
    /// No specific program.
    #[default]
    Plain,
    Opencode,
    ClaudeCode,
    Codex,
    Amplifier,
}

/// The facts about a host.
#[derive(Debug)]
pub struct HostFacts {
    /// The name for people.
    pub title: &'static str,
    /// The command that starts it.
    pub program: &'static str,
    /// The tested versions of the program, if known.
    pub tried_versions: Option<TriedVersions>,
    /// The host's limits. `None`: those of the plain host, and no limit can be set.
    pub limits: Option<HostLimits>,
    /// The files of a repository that the host reads by itself at every start.
    pub own_files: &'static [OwnFile],
    /// Whether kgctx hears of the first prompt after the context went out, and can add to it.
    pub tells_prompt: bool,
    /// The help for `kgctx hook`; `None` if the host does not call it.
    pub hook: Option<&'static str>,
    /// `None` if `kgctx install` does not support the host.
    pub install: Option<Install>,
}

/// The versions of a host's program that kgctx was tested with.
#[derive(Debug)]
pub struct TriedVersions {
    /// The environment variable that names another program.
    pub variable: Option<&'static str>,
    /// Environment variables that keep the program from doing more than printing its version.
    pub quiet: &'static [(&'static str, &'static str)],
    pub oldest: [u64; 3],
    pub newest: [u64; 3],
}

/// The size limits of a context in this host, with a reserve for the host's own additions.
#[derive(Debug)]
pub struct HostLimits {
    pub tokens: Option<usize>,
    pub chars: Option<usize>,
    /// The limits in words, for the help.
    pub help: &'static str,
}

/// A file that a host reads by itself.
#[derive(Debug, PartialEq, Eq)]
pub struct OwnFile {
    /// A glob pattern, relative to the top of the repository.
    pub pattern: &'static str,
    /// The default limit in tokens. `None` for a file that is rarely committed.
    pub max_tokens: Option<usize>,
    /// Whether the host also reads the `@path` imports of the file.
    pub has_imports: bool,
}

impl OwnFile {
    /// The file name without folders.
    pub fn name(&self) -> &'static str {
        self.pattern.rsplit('/').next().unwrap_or(self.pattern)
    }
}

const AGENTS: OwnFile =
    OwnFile { pattern: "**/AGENTS.md", max_tokens: Some(2_500), has_imports: true };

const PLAIN: HostFacts = HostFacts {
    title: "plain",
    program: "",
    tried_versions: None,
    limits: Some(HostLimits { tokens: None, chars: None, help: "No limit" }),
    own_files: &[],
    tells_prompt: false,
    hook: None,
    install: None,
};

const OPENCODE: HostFacts = HostFacts {
    title: "OpenCode",
    program: "opencode",
    tried_versions: Some(TriedVersions {
        variable: Some("OPENCODE_BIN"),
        quiet: &[("OPENCODE_DISABLE_AUTOUPDATE", "1")],
        oldest: [1, 15, 13],
        newest: [1, 18, 33],
    }),
    limits: Some(HostLimits {
        tokens: None,
        chars: None,
        help: "No limit, but prompt_share stays free for the first prompt",
    }),
    own_files: &[AGENTS],
    tells_prompt: true,
    hook: Some("The plugin in OpenCode"),
    install: Some(Install {
        variable: Some("OPENCODE_CONFIG_DIR"),
        folder: UserFolder::InConfig("opencode"),
        project_folder: ".opencode",
        kind: InstallKind::PluginFile(PluginFile {
            file_name: "kgctx.ts",
            folders: &["plugin", "plugins"],
            text: include_str!("../../bridges/opencode/kgctx.ts"),
            head: "// The bridge between OpenCode and kgctx",
            off_switch: "OPENCODE_PURE",
            first_start: "The first start may take a few seconds longer, because OpenCode\ninstalls its own plugin \
                package into this folder.",
        }),
    }),
};

const CLAUDE_CODE: HostFacts = HostFacts {
    title: "Claude Code",
    program: "claude",
    tried_versions: Some(TriedVersions {
        variable: None,
        quiet: &[("DISABLE_AUTOUPDATER", "1")],
        oldest: [2, 1, 138],
        newest: [2, 1, 325],
    }),
    // Claude Code silently replaces more than 10,000 characters by a preview.
    limits: Some(HostLimits {
        tokens: None,
        chars: Some(9_500),
        help: "9,500 characters, of which prompt_share stays free for the first prompt",
    }),
    own_files: &[
        OwnFile { pattern: "**/CLAUDE.md", max_tokens: Some(2_500), has_imports: true },
        OwnFile { pattern: "**/CLAUDE.local.md", max_tokens: None, has_imports: true },
    ],
    tells_prompt: true,
    hook: Some(
        "Claude Code's hooks SessionStart, UserPromptSubmit, PostToolUse, Stop, PreCompact and SessionEnd",
    ),
    install: Some(Install {
        variable: Some("CLAUDE_CONFIG_DIR"),
        folder: UserFolder::InHome(".claude"),
        project_folder: ".claude",
        kind: InstallKind::JsonHooks(JsonHooks {
            user_file: "settings.json",
            project_file: "settings.local.json",
            events: &["SessionStart", "UserPromptSubmit", "PreCompact", "SessionEnd"],
            monitor_events: &["PostToolUse", "Stop"],
            rotation_events: &["Stop"],
            arguments: &["hook", "claude-code"],
            // At the end of a session, this also raises the limit of 1.5 seconds for all hooks.
            timeout_seconds: 5,
            exec_since: [2, 1, 139],
        }),
    }),
};

const CODEX: HostFacts = HostFacts {
    title: "Codex",
    program: "codex",
    // Codex truncates after 2,500 tokens.
    limits: Some(HostLimits { tokens: Some(2_400), chars: None, help: "2,400 tokens" }),
    own_files: &[AGENTS],
    ..PLAIN
};

const AMPLIFIER: HostFacts = HostFacts {
    title: "Amplifier",
    program: "amplifier",
    limits: None,
    own_files: &[AGENTS],
    hook: Some("The module in Amplifier, or another hook at prompt:submit"),
    install: Some(Install {
        // AMPLIFIER_HOME moves neither settings nor sessions.
        variable: None,
        folder: UserFolder::InHome(".amplifier"),
        project_folder: ".amplifier",
        kind: InstallKind::Bundle(Bundle {
            user_file: "settings.yaml",
            project_file: "settings.local.yaml",
            list: ["bundle", "app"],
            // Amplifier lists a bundle by the last part of its path.
            folder: "amplifier/kgctx",
            files: &[
                (
                    "modules/hooks-kgctx/amplifier_module_hooks_kgctx/__init__.py",
                    include_str!(
                        "../../bridges/amplifier/amplifier_module_hooks_kgctx/__init__.py"
                    ),
                ),
                ("bundle.yaml", include_str!("../../bridges/amplifier/bundle.yaml")),
            ],
            arguments: &["hook", "amplifier"],
            lenient: "AMPLIFIER_ALLOW_PARTIAL_BUNDLE",
            // The first that tells a session's beginning once; before 1.0.0 none tells its end.
            package: ("amplifier-core", [1, 6, 0]),
        }),
    }),
    ..PLAIN
};

/// Files that hosts outside the table read by themselves: Gemini, Copilot and Cursor.
const FILES_OF_OTHERS: [OwnFile; 4] = [
    OwnFile { pattern: "**/GEMINI.md", max_tokens: Some(2_500), has_imports: true },
    OwnFile {
        pattern: ".github/copilot-instructions.md",
        max_tokens: Some(2_500),
        has_imports: false,
    },
    OwnFile { pattern: ".cursorrules", max_tokens: Some(2_500), has_imports: false },
    OwnFile { pattern: ".cursor/rules/**/*.mdc", max_tokens: Some(1_000), has_imports: false },
];

impl Host {
    pub fn facts(self) -> &'static HostFacts {
        match self {
            Host::Plain => &PLAIN,
            Host::Opencode => &OPENCODE,
            Host::ClaudeCode => &CLAUDE_CODE,
            Host::Codex => &CODEX,
            Host::Amplifier => &AMPLIFIER,
        }
    }

    /// The host's plugin; `None` for a host without one.
    pub fn plugin(self) -> Option<&'static PluginFile> {
        match &self.facts().install.as_ref()?.kind {
            InstallKind::PluginFile(plugin) => Some(plugin),
            InstallKind::JsonHooks(_) | InstallKind::Bundle(_) => None,
        }
    }

    /// The hosts for which a limit can be set.
    pub fn with_limits() -> impl Iterator<Item = Host> {
        Host::ALL.iter().copied().filter(|host| host.facts().limits.is_some())
    }

    /// The files that hosts read by themselves, without duplicates.
    pub fn own_files() -> Vec<&'static OwnFile> {
        let mut files: Vec<&OwnFile> = Vec::new();
        let known = Host::ALL.iter().copied().flat_map(|host| host.facts().own_files);
        for file in known.chain(&FILES_OF_OTHERS) {
            if !files.contains(&file) {
                files.push(file);
            }
        }
        files
    }

    /// Limits a number of tokens to what the host accepts.
    pub fn budget(self, tokens: usize) -> Budget {
        match &self.facts().limits {
            Some(limits) => Budget {
                tokens: limits.tokens.map_or(tokens, |limit| tokens.min(limit)),
                chars: limits.chars,
            },
            None => Host::Plain.budget(tokens),
        }
    }
}

named!(Host {
    Plain = "plain",
    Opencode = "opencode",
    ClaudeCode = "claude-code",
    Codex = "codex",
    Amplifier = "amplifier",
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_has_one_name_everywhere() {
        for host in Host::ALL {
            assert_eq!(serde_json::to_value(host).unwrap(), host.name());
            assert_eq!(Host::parse(&host.to_string()), Some(*host));
        }
    }

    #[test]
    fn limits_narrow_a_budget() {
        let budget = |host: Host| (host.budget(4_000).tokens, host.budget(4_000).chars);
        assert_eq!(budget(Host::Plain), (4_000, None));
        assert_eq!(budget(Host::ClaudeCode), (4_000, Some(9_500)));
        assert_eq!(budget(Host::Codex), (2_400, None));
        assert_eq!(budget(Host::Amplifier), budget(Host::Plain));
        assert_eq!(Host::Codex.budget(100).tokens, 100);
    }

    #[test]
    fn a_bundle_names_its_files_and_its_version() {
        let Some(InstallKind::Bundle(bundle)) =
            Host::Amplifier.facts().install.as_ref().map(|install| &install.kind)
        else {
            panic!("no bundle");
        };
        let [(module, text), (_, index)] = bundle.files else { panic!("{:?}", bundle.files) };
        let version = format!("VERSION = \"{}\"", env!("CARGO_PKG_VERSION"));
        assert!(text.lines().any(|line| line == version), "the module has another version");
        let (folder, _) = module.split_once("/amplifier_module_").unwrap();
        assert!(index.contains(&format!("source: ./{folder}\n")), "{index}");
    }

    #[test]
    fn the_schema_of_settings_lists_the_hosts_of_the_table() {
        let schema = include_str!("../../schema/json/kgctx.toml.schema.json");
        let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
        let check = &schema["properties"]["check"]["properties"];
        let session = &check["session"]["items"]["properties"];
        assert_eq!(session["host"]["enum"], serde_json::json!(Host::ALL));
        for host in Host::ALL {
            let budget = check["budget"]["properties"].get(host.name());
            assert_eq!(budget.is_some(), host.facts().limits.is_some(), "{host}");
        }
    }
}
