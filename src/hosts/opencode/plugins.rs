//! Finds the copies of the bridge that OpenCode would load: files in its folders, and plugins that
//! its configuration names.

use std::path::{Path, PathBuf};

use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::Value;

use crate::core::installation::PluginFile;
use crate::hosts::is_absent;
use crate::hosts::opencode::places::OpencodePlaces;
use crate::hosts::plugin_file::{self, PluginCopy};
use crate::system::plain_file;

/// The bridge's npm package.
const PACKAGE: &str = "opencode-kgctx";

/// The JSON dialect of OpenCode's configuration.
const JSON_WITH_COMMENTS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// A plugin that OpenCode would load, or the reason why that is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoadedPlugin {
    /// A copy of the bridge.
    Bridge { file: PathBuf, copy: PluginCopy },
    Package {
        /// The package as the configuration names it; can include a version.
        name: String,
        named_in: PathBuf,
    },
    /// A plugin that has the bridge's file name and is not the bridge, or that cannot be read.
    Stranger { file: PathBuf },
    /// A configuration that cannot be parsed.
    Unclear { file: PathBuf, reason: String },
}

/// Finds everything that OpenCode would load as the bridge.
pub fn find(places: &OpencodePlaces<'_>, plugin_file: &PluginFile) -> Vec<LoadedPlugin> {
    let mut found = Vec::new();
    let folders = places.folders();
    let mut files: Vec<PathBuf> =
        folders.iter().flat_map(|at| plugin_file::candidates(at, plugin_file)).collect();
    files.retain(|file| file.exists());
    for configuration in places.configurations() {
        let plugins = plugins_in(&configuration).unwrap_or_else(|reason| {
            found.push(LoadedPlugin::Unclear { file: configuration.clone(), reason });
            Vec::new()
        });
        for plugin in plugins {
            if plugin == PACKAGE || plugin.starts_with(&format!("{PACKAGE}@")) {
                found.push(LoadedPlugin::Package { name: plugin, named_in: configuration.clone() });
            } else if plugin.ends_with(plugin_file.file_name) {
                files.push(named(&plugin, &configuration));
            }
        }
    }
    let mut seen = Vec::new();
    let mut bridges = Vec::new();
    for file in files {
        let target = dunce::canonicalize(&file).unwrap_or_else(|_| file.clone());
        if !seen.contains(&target) {
            seen.push(target);
            bridges.push(match plugin_file::read(&file, plugin_file) {
                Ok(Some(copy)) => LoadedPlugin::Bridge { file, copy },
                _ => LoadedPlugin::Stranger { file },
            });
        }
    }
    bridges.extend(found);
    bridges
}

/// The plugins that a configuration names; empty if the file does not exist.
fn plugins_in(configuration: &Path) -> Result<Vec<String>, String> {
    let text = match plain_file::read(configuration) {
        Ok(bytes) => String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?,
        Err(error) if is_absent(&error) => return Ok(Vec::new()),
        Err(error) => return Err(error.to_string()),
    };
    let parsed = parse_to_ast(
        text.trim_start_matches('\u{feff}'),
        &CollectOptions::default(),
        &JSON_WITH_COMMENTS,
    );
    let value = parsed.map_err(|error| error.to_string())?.value.ok_or("it is empty")?;
    // The last of several members with the same name wins.
    let settings: Value = value.into();
    let plugins = settings["plugin"].as_array().into_iter().flatten();
    // A plugin with options is a pair.
    let name = |plugin: &Value| Some(plugin.as_str().or(plugin[0].as_str())?.to_owned());
    Ok(plugins.filter_map(name).collect())
}

/// Resolves a plugin's path: relative to the configuration's folder. If that is `.opencode`, its
/// parent comes first.
fn named(plugin: &str, configuration: &Path) -> PathBuf {
    let plugin = plugin.strip_prefix("file://").unwrap_or(plugin);
    let folder = configuration.parent().unwrap_or(Path::new(""));
    let beside = folder.parent().filter(|_| folder.ends_with(".opencode")).unwrap_or(folder);
    let file = beside.join(plugin);
    if file.exists() { file } else { folder.join(plugin) }
}
