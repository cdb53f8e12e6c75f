//! Settings from files and environment: what was written becomes [`Settings`], each value with its origin.

mod registry;
mod variables;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::IgnoredAny;
use thiserror::Error;

use crate::core::session::{Announcement, Delivery};
use crate::core::settings::{
    ChannelRule, HandoffSettings, LinkStyle, Origin, Setting, Settings, VaultSpec,
};
use crate::core::source::SourcePreference;
use crate::core::tokens::encoding::Encoding;
use crate::system::directories::Directories;
use crate::system::environment::Environment;
use crate::system::maenifold_places::Places;

const DEFAULT_MAX_FILE_BYTES: u64 = 10 * 1024 * 1024;
const DEFAULT_TOKEN_LIMIT: u32 = 4_000;
const DEFAULT_COMPACTION_TOKEN_LIMIT: u32 = 1_000;
/// Where OpenCode listens unless it is told otherwise.
const DEFAULT_SERVER: &str = "http://127.0.0.1:4096";
const DEFAULT_CLI_TIMEOUT_MS: u64 = 5_000;
const DEFAULT_MAX_AGE_DAYS: u32 = 7;
const DEFAULT_MIN_TURNS: u32 = 2;
/// Also in force while the settings themselves are being read.
pub const DEFAULT_DEADLINE_MS: u64 = 2_000;

/// A setting that cannot be used.
#[derive(Debug, Error)]
pub enum SettingsError {
    /// A file that is no valid configuration.
    #[error("{}:{line}:{column}: {message}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// Counted from 1, in characters.
        column: usize,
        /// What is wrong and what would be right.
        message: String,
    },
    /// A file that cannot be read.
    #[error("cannot read {}: {cause}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// An environment variable with a value of the wrong kind.
    #[error("{name}={value:?} is not {expected}; correct or unset it")]
    Variable {
        /// The variable.
        name: &'static str,
        /// Its value.
        value: String,
        /// What it should be.
        expected: &'static str,
    },
    /// A committed file that reaches outside of its project.
    #[error(
        "{}: the vault {} lies outside of the project; a project may only name its own folders, so put it into your {}",
        file.display(), vault.display(), user_file.display()
    )]
    VaultOutside {
        /// The project's file.
        file: PathBuf,
        /// The vault that it names.
        vault: PathBuf,
        /// Where it may be named.
        user_file: PathBuf,
    },
    /// A committed file that says whom to send notes to, what to run or what else to read.
    #[error(
        "{}: a project may not set {key}, {why}; put it into your {}",
        file.display(), user_file.display()
    )]
    NotForProject {
        /// The project's file.
        file: PathBuf,
        /// The setting.
        key: &'static str,
        /// Why not.
        why: &'static str,
        /// Where it may be set.
        user_file: PathBuf,
    },
    /// A registry of channels that cannot be used.
    #[error("{}: {reason}; it is a JSON object of folders and the names of their channels", file.display())]
    Registry {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Two vaults whose notes would have the same addresses.
    #[error(
        "two vaults are called {name:?}: {} and {}; give one of them another name",
        first.display(), second.display()
    )]
    SameName {
        /// The name.
        name: String,
        /// The one that had it first.
        first: PathBuf,
        /// The other.
        second: PathBuf,
    },
    /// A name that cannot be part of an address.
    #[error("{name:?} (for {}) is no name for a vault; use letters, digits, `-`, `_` and `.`", path.display())]
    VaultName {
        /// The name.
        name: String,
        /// The vault.
        path: PathBuf,
    },
}

/// A configuration file as written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawSettings {
    #[serde(default, rename = "vault")]
    pub(crate) vaults: Vec<RawVault>,
    pub(crate) default_vaults: Option<bool>,
    pub(crate) links: Option<LinkStyle>,
    pub(crate) max_file_bytes: Option<u64>,
    #[serde(default)]
    pub(crate) channels: BTreeMap<String, String>,
    pub(crate) token_limit: Option<u32>,
    pub(crate) source: Option<SourcePreference>,
    pub(crate) cli_timeout_ms: Option<u64>,
    pub(crate) encoding: Option<Encoding>,
    pub(crate) deadline_ms: Option<u64>,
    pub(crate) enabled: Option<bool>,
    pub(crate) delivery: Option<Delivery>,
    pub(crate) notice: Option<Announcement>,
    pub(crate) compaction_token_limit: Option<u32>,
    pub(crate) servers: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) handoff: RawHandoff,
    /// Only `kgctx check` has a use for it: see [`check`].
    #[serde(rename = "check")]
    pub(crate) _check: Option<IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawHandoff {
    pub(crate) enabled: Option<bool>,
    pub(crate) inject_on_start: Option<bool>,
    pub(crate) inject_on_clear: Option<bool>,
    pub(crate) max_age_days: Option<u32>,
    pub(crate) min_turns: Option<u32>,
    pub(crate) summariser: Option<Vec<String>>,
    pub(crate) allow: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawVault {
    pub(crate) path: String,
    pub(crate) name: Option<String>,
}

/// Where a project's settings and notes are looked for.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    /// The process's environment.
    pub environment: &'a Environment,
    /// kgctx's own folders.
    pub directories: &'a Directories,
    /// The folder that holds the project's notes and its `kgctx.toml`.
    pub notes_root: Option<&'a Path>,
    /// Vaults given on the command line; they replace all others.
    pub vault_flags: &'a [PathBuf],
    /// Who is asked about maenifold's memory, if the command line says it.
    pub source_flag: Option<SourcePreference>,
}

/// Settings, and what was wrong with what was written: there the value before it stands.
#[derive(Debug)]
pub struct Loaded {
    /// The settings.
    pub settings: Settings,
    /// What could not be used.
    pub faults: Vec<SettingsError>,
}

/// Resolves all settings: defaults, the user's file, the project's file, the environment, flags; later wins.
pub fn load(sources: Sources<'_>) -> Loaded {
    let Sources { environment, directories, notes_root, vault_flags, source_flag } = sources;
    let mut faults = Vec::new();
    let mut settings = Settings {
        vaults: Vec::new(),
        default_vaults: Setting::default(true),
        links: Setting::default(LinkStyle::Maenifold),
        max_file_bytes: Setting::default(DEFAULT_MAX_FILE_BYTES),
        channels: Vec::new(),
        channel: Setting::default(None),
        token_limit: Setting::default(DEFAULT_TOKEN_LIMIT),
        source: Setting::default(SourcePreference::default()),
        cli_timeout_ms: Setting::default(DEFAULT_CLI_TIMEOUT_MS),
        encoding: Setting::default(Encoding::default()),
        deadline_ms: Setting::default(DEFAULT_DEADLINE_MS),
        enabled: Setting::default(true),
        delivery: Setting::default(Delivery::default()),
        notice: Setting::default(Announcement::default()),
        compaction_token_limit: Setting::default(DEFAULT_COMPACTION_TOKEN_LIMIT),
        servers: Setting::default(vec![DEFAULT_SERVER.to_owned()]),
        handoff: HandoffSettings {
            enabled: Setting::default(true),
            inject_on_start: Setting::default(true),
            inject_on_clear: Setting::default(false),
            max_age_days: Setting::default(DEFAULT_MAX_AGE_DAYS),
            min_turns: Setting::default(DEFAULT_MIN_TURNS),
            summariser: Setting::default(Vec::new()),
            allow: Setting::default(Vec::new()),
        },
    };
    let home = environment.home();
    let user_file = directories.config.join("config.toml");
    registry::apply(&mut settings, directories, &mut faults);
    if let Some(raw) = read(&user_file, &mut faults) {
        apply(&mut settings, raw, &user_file, Origin::UserFile(user_file.clone()), home.as_deref());
    }
    let project_file = notes_root.map(|root| root.join("kgctx.toml"));
    if let (Some(root), Some(file)) = (notes_root, project_file)
        && let Some(mut raw) = read(&file, &mut faults)
    {
        raw.vaults.retain(|vault| {
            let is_inside = lies_inside(&resolve(&vault.path, &file, None), root);
            if !is_inside {
                let (file, vault) = (file.clone(), vault.path.clone().into());
                let user_file = user_file.clone();
                faults.push(SettingsError::VaultOutside { file, vault, user_file });
            }
            is_inside
        });
        for (key, why, is_set) in [
            ("servers", "to which your notes would be sent", raw.servers.take().is_some()),
            ("source", "which may start a program", raw.source.take().is_some()),
            (
                "handoff.summariser",
                "which would be run on your machine",
                raw.handoff.summariser.take().is_some(),
            ),
            (
                "handoff.allow",
                "from where your files would be read",
                raw.handoff.allow.take().is_some(),
            ),
        ] {
            if is_set {
                let (file, user_file) = (file.clone(), user_file.clone());
                faults.push(SettingsError::NotForProject { file, key, why, user_file });
            }
        }
        apply(&mut settings, raw, &file, Origin::ProjectFile(file.clone()), None);
    }
    variables::apply(&mut settings, environment, &mut faults);
    settings.source.set(source_flag, Origin::Flag("--source"));
    if settings.default_vaults.value {
        let defaults = default_vaults(environment, notes_root);
        settings.vaults.splice(0..0, defaults);
    }
    let listed =
        environment.get("KGCTX_VAULTS").map(|list| std::env::split_paths(list).collect::<Vec<_>>());
    if !vault_flags.is_empty() {
        settings.vaults = replacing(vault_flags, Origin::Flag("--vault"));
    } else if let Some(listed) = listed {
        settings.vaults = replacing(&listed, Origin::Environment("KGCTX_VAULTS"));
    }
    keep_good_names(&mut settings.vaults, &mut faults);
    Loaded { settings, faults }
}

fn read(path: &Path, faults: &mut Vec<SettingsError>) -> Option<RawSettings> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(cause)
            if matches!(cause.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            return None;
        }
        Err(cause) => {
            faults.push(SettingsError::Unreadable { path: path.to_path_buf(), cause });
            return None;
        }
    };
    match toml::from_str(&text) {
        Ok(raw) => Some(raw),
        Err(error) => {
            faults.push(invalid(path, &text, &error));
            what_is_good(&text)
        }
    }
}

pub(crate) fn invalid(path: &Path, text: &str, error: &toml::de::Error) -> SettingsError {
    let (line, column) = position(text, error.span().map_or(0, |span| span.start));
    let message = error.message().trim().to_owned();
    SettingsError::Invalid { path: path.to_path_buf(), line, column, message }
}

/// Line and column of a byte, both counted from 1, the column in characters.
pub(crate) fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at.min(text.len())).unwrap_or_default();
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (before.matches('\n').count() + 1, column)
}

/// What a file with a mistake says besides it; nothing where it is not even TOML.
fn what_is_good(text: &str) -> Option<RawSettings> {
    let mut table: toml::Table = toml::from_str(text).ok()?;
    table.retain(|key, value| {
        let alone = toml::Table::from_iter([(key.to_owned(), value.clone())]);
        alone.try_into::<RawSettings>().is_ok()
    });
    table.try_into().ok()
}

fn apply(
    settings: &mut Settings,
    raw: RawSettings,
    file: &Path,
    origin: Origin,
    home: Option<&Path>,
) {
    settings.default_vaults.set(raw.default_vaults, origin.clone());
    settings.links.set(raw.links, origin.clone());
    settings.max_file_bytes.set(raw.max_file_bytes, origin.clone());
    settings.token_limit.set(raw.token_limit, origin.clone());
    settings.source.set(raw.source, origin.clone());
    settings.cli_timeout_ms.set(raw.cli_timeout_ms, origin.clone());
    settings.encoding.set(raw.encoding, origin.clone());
    settings.deadline_ms.set(raw.deadline_ms, origin.clone());
    settings.enabled.set(raw.enabled, origin.clone());
    settings.delivery.set(raw.delivery, origin.clone());
    settings.notice.set(raw.notice, origin.clone());
    settings.compaction_token_limit.set(raw.compaction_token_limit, origin.clone());
    settings.servers.set(raw.servers, origin.clone());
    let handoff = &mut settings.handoff;
    handoff.enabled.set(raw.handoff.enabled, origin.clone());
    handoff.inject_on_start.set(raw.handoff.inject_on_start, origin.clone());
    handoff.inject_on_clear.set(raw.handoff.inject_on_clear, origin.clone());
    handoff.max_age_days.set(raw.handoff.max_age_days, origin.clone());
    handoff.min_turns.set(raw.handoff.min_turns, origin.clone());
    handoff.summariser.set(raw.handoff.summariser, origin.clone());
    let allow = raw.handoff.allow;
    let allow = allow.map(|all| all.iter().map(|path| resolve(path, file, home)).collect());
    handoff.allow.set(allow, origin.clone());
    for vault in raw.vaults {
        let path = resolve(&vault.path, file, home);
        let name = vault.name.unwrap_or_else(|| folder_name(&path));
        settings.vaults.push(Setting { value: VaultSpec { name, path }, origin: origin.clone() });
    }
    for (path, channel) in raw.channels {
        let path = resolve(&path, file, home);
        // A project's own place is known by its canonical path; a rule must be too, to match.
        let path = fs::canonicalize(&path).unwrap_or(path);
        settings
            .channels
            .push(Setting { value: ChannelRule { path, channel }, origin: origin.clone() });
    }
}

/// Reads a path as written in `file`: `~/` is the home folder, and a relative path starts at the file's folder.
fn resolve(path: &str, file: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~/").or((path == "~").then_some("")), home) {
        (Some(below_home), Some(home)) => home.join(below_home),
        _ => file.parent().unwrap_or(Path::new("")).join(path),
    }
}

/// Whether a path stays in a folder, links followed as far as they exist.
fn lies_inside(path: &Path, root: &Path) -> bool {
    let canonical = path.ancestors().find_map(|existing| {
        let rest = path.strip_prefix(existing).ok()?;
        let climbs = rest.components().any(|part| part.as_os_str() == "..");
        fs::canonicalize(existing).ok().filter(|_| !climbs)
    });
    canonical.is_some_and(|canonical| canonical.starts_with(root))
}

/// maenifold's memory, and the project's own notes, as far as they exist.
fn default_vaults(environment: &Environment, notes_root: Option<&Path>) -> Vec<Setting<VaultSpec>> {
    let mut vaults = Vec::new();
    let mut add = |name: &str, path: PathBuf, origin: Origin| {
        vaults.push(Setting { value: VaultSpec { name: name.to_owned(), path }, origin });
    };
    let maenifold = Places::locate(environment);
    let memory = maenifold.filter(|places| places.memory.is_dir()).map(|places| {
        add("", places.memory.clone(), places.origin);
        places.memory
    });
    for (name, other_name, folder) in
        [("project", "project-notes", ".kgctx/memory"), ("docs", "project-docs", "docs")]
    {
        let Some(root) = notes_root else { continue };
        let path = root.join(folder);
        // A link out of the project is not followed: a cloned repository must not choose whose notes are read.
        if path.is_dir() && lies_inside(&path, root) {
            let is_taken = memory.as_ref().is_some_and(|memory| memory.join(name).exists());
            add(if is_taken { other_name } else { name }, path, Origin::Default);
        }
    }
    vaults
}

/// Vaults that stand instead of all others: the first owns the plain addresses, the others their folder's name,
/// with a number where that is taken.
fn replacing(paths: &[PathBuf], origin: Origin) -> Vec<Setting<VaultSpec>> {
    let mut vaults: Vec<Setting<VaultSpec>> = Vec::new();
    for path in paths {
        let base: String = folder_name(path).chars().filter(|&c| may_be_in_name(c)).collect();
        let numbered = (2..).map(|n| format!("{base}{n}"));
        let is_free = |name: &String| !vaults.iter().any(|vault| vault.value.name == *name);
        let name = if vaults.is_empty() {
            String::new()
        } else {
            let plain = [base.clone()].into_iter().filter(|name| !name.is_empty());
            plain.chain(numbered).find(is_free).unwrap_or_default()
        };
        let value = VaultSpec { name, path: path.clone() };
        vaults.push(Setting { value, origin: origin.clone() });
    }
    vaults
}

fn may_be_in_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ')
}

fn folder_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Leaves out vaults whose notes could not be addressed.
fn keep_good_names(vaults: &mut Vec<Setting<VaultSpec>>, faults: &mut Vec<SettingsError>) {
    let mut kept: Vec<Setting<VaultSpec>> = Vec::with_capacity(vaults.len());
    for vault in vaults.drain(..) {
        let VaultSpec { name, path } = &vault.value;
        if !name.chars().all(may_be_in_name) || matches!(name.as_str(), "." | "..") {
            faults.push(SettingsError::VaultName { name: name.clone(), path: path.clone() });
        } else if let Some(first) = kept.iter().find(|other| other.value.name == *name) {
            faults.push(SettingsError::SameName {
                name: name.clone(),
                first: first.value.path.clone(),
                second: path.clone(),
            });
        } else {
            kept.push(vault);
        }
    }
    *vaults = kept;
}
