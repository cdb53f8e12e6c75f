//! Which plugins of ours OpenCode would load: files in its folders, and what its configuration names.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::hosts::opencode::bridge::{self, Copy};
use crate::hosts::opencode::jsonc;
use crate::hosts::opencode::places;
use crate::system::environment::Environment;

/// The bridge's name as an npm package.
pub const PACKAGE: &str = "opencode-kgctx";

/// Something that OpenCode would load, or something that keeps us from telling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// A copy of the bridge.
    Bridge {
        /// The file.
        file: PathBuf,
        /// What it is.
        copy: Copy,
    },
    /// The bridge's npm package.
    Package {
        /// As it is named, perhaps with a version.
        name: String,
        /// The configuration that names it.
        named_in: PathBuf,
    },
    /// A plugin with the bridge's name that is not it, or that a configuration names and that cannot be read.
    Stranger {
        /// The file.
        file: PathBuf,
    },
    /// A configuration that cannot be understood.
    Unclear {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

/// Looks for everything that OpenCode would load as the bridge when it runs in `folder`.
pub fn find(environment: &Environment, folder: &Path, top: Option<&Path>) -> Vec<Found> {
    let mut found = Vec::new();
    let mut files: Vec<PathBuf> =
        places::all(environment, folder, top).iter().flat_map(|at| places::files(at)).collect();
    files.retain(|file| file.exists());
    for configuration in places::configurations(environment, folder, top) {
        let plugins = match plugins_in(&configuration) {
            Ok(plugins) => plugins,
            Err(reason) => {
                found.push(Found::Unclear { file: configuration, reason });
                continue;
            }
        };
        for plugin in plugins {
            if plugin == PACKAGE || plugin.starts_with(&format!("{PACKAGE}@")) {
                found.push(Found::Package { name: plugin, named_in: configuration.clone() });
            } else if plugin.ends_with(bridge::FILE_NAME) {
                files.push(named(&plugin, &configuration));
            }
        }
    }
    let mut seen = Vec::new();
    let mut bridges = Vec::new();
    for file in files {
        let target = fs::canonicalize(&file).unwrap_or_else(|_| file.clone());
        if !seen.contains(&target) {
            seen.push(target);
            bridges.push(match bridge::read(&file) {
                Ok(Some(copy)) => Found::Bridge { file, copy },
                _ => Found::Stranger { file },
            });
        }
    }
    bridges.extend(found);
    bridges
}

/// The plugins that a configuration names; none where there is no such file.
fn plugins_in(configuration: &Path) -> Result<Vec<String>, String> {
    let text = match fs::read_to_string(configuration) {
        Ok(text) => text,
        Err(error) if bridge::is_absence(&error) => return Ok(Vec::new()),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            return Err("it is not UTF-8".to_owned());
        }
        Err(error) => return Err(error.to_string()),
    };
    let json: Value =
        serde_json::from_str(&jsonc::plain(&text)).map_err(|error| error.to_string())?;
    let plugins = json.get("plugin").and_then(Value::as_array);
    // A plugin with options is a pair.
    let name =
        |plugin: &Value| plugin.as_str().or_else(|| plugin.get(0)?.as_str()).map(str::to_owned);
    Ok(plugins.into_iter().flatten().filter_map(name).collect())
}

/// The file that a configuration means: relative paths start at its folder, or beside that if it is `.opencode`.
fn named(plugin: &str, configuration: &Path) -> PathBuf {
    let plugin = plugin.strip_prefix("file://").unwrap_or(plugin);
    let folder = configuration.parent().unwrap_or(Path::new(""));
    let beside = folder.parent().filter(|_| folder.ends_with(".opencode")).unwrap_or(folder);
    let file = beside.join(plugin);
    if file.exists() { file } else { folder.join(plugin) }
}
