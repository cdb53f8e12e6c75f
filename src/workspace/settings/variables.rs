//! Settings from environment variables.

use crate::core::named::Named;
use crate::core::session::{Announcement, Delivery};
use crate::core::settings::{LinkStyle, Origin, Setting, Settings};
use crate::core::source::SourcePreference;
use crate::core::tokens::encoding::Encoding;
use crate::system::environment::Environment;
use crate::workspace::settings::SettingsError;

/// Sets what the environment sets. A value of the wrong kind is a fault, and what was there before stands.
pub(super) fn apply(
    settings: &mut Settings,
    environment: &Environment,
    faults: &mut Vec<SettingsError>,
) {
    let mut variables = Variables { environment, faults };
    let switch = |text: &str| match text.to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Some(true),
        "false" | "0" | "no" | "off" => Some(false),
        _ => None,
    };
    let s = settings;
    let v = &mut variables;
    v.set(&mut s.default_vaults, "KGCTX_DEFAULT_VAULTS", "true or false", switch);
    v.set(&mut s.links, "KGCTX_LINKS", "maenifold or obsidian", LinkStyle::parse);
    v.set(&mut s.max_file_bytes, "KGCTX_MAX_FILE_BYTES", "a number of bytes", |t| t.parse().ok());
    v.set(&mut s.channel, "KGCTX_CHANNEL", "a name", |t| Some(Some(t.to_owned())));
    v.set(&mut s.token_limit, "TOKEN_LIMIT", "a number of tokens", |t| t.parse().ok());
    v.set(&mut s.source, "KGCTX_SOURCE", "auto, index, database or cli", SourcePreference::parse);
    let milliseconds = "a number of milliseconds";
    v.set(&mut s.cli_timeout_ms, "CLI_TIMEOUT", milliseconds, |t| t.parse().ok());
    v.set(&mut s.encoding, "KGCTX_ENCODING", "o200k_base or cl100k_base", Encoding::parse);
    v.set(&mut s.deadline_ms, "KGCTX_DEADLINE_MS", milliseconds, |t| t.parse().ok());
    v.set(&mut s.enabled, "SESSION_START_ENABLED", "true or false", switch);
    v.set(&mut s.delivery, "KGCTX_DELIVERY", "auto, noreply or part", Delivery::parse);
    v.set(&mut s.notice, "KGCTX_NOTICE", "toast, log or off", Announcement::parse);
    let limit = &mut s.compaction_token_limit;
    v.set(limit, "KGCTX_COMPACTION_TOKEN_LIMIT", "a number of tokens", |t| t.parse().ok());
    v.set(&mut s.handoff.enabled, "KGCTX_HANDOFFS", "true or false", switch);
    v.set(&mut s.servers, "KGCTX_SERVERS", "a list of addresses", |t| {
        Some(t.split(',').map(|server| server.trim().to_owned()).collect())
    });
}

/// Reads settings from the environment.
struct Variables<'a> {
    environment: &'a Environment,
    faults: &'a mut Vec<SettingsError>,
}

impl Variables<'_> {
    fn set<T>(
        &mut self,
        setting: &mut Setting<T>,
        name: &'static str,
        expected: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) {
        let Some(value) = self.environment.get(name) else { return };
        let value = value.to_string_lossy();
        match parse(value.trim()) {
            Some(parsed) => setting.set(Some(parsed), Origin::Environment(name)),
            None => {
                let value = value.into_owned();
                self.faults.push(SettingsError::Variable { name, value, expected });
            }
        }
    }
}
