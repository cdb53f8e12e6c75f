//! Checks the plugin of a host that loads one.

use crate::app::install::VERSION;
use crate::app::install::plugin_file::loaded;
use crate::core::diagnosis::Check;
use crate::core::host::Host;
use crate::core::installation::{Install, PluginFile};
use crate::hosts::opencode::plugins::LoadedPlugin;
use crate::system::environment::Environment;
use crate::workspace::Surroundings;

/// Checks that the plugin is installed once, in this version.
pub(super) fn plugins(
    surroundings: &Surroundings,
    host: Host,
    install: &Install,
    plugin_file: &PluginFile,
) -> Vec<Check> {
    let title = host.facts().title;
    let found = loaded(surroundings, install, plugin_file);
    let is_bridge = |found: &&LoadedPlugin| {
        matches!(found, LoadedPlugin::Bridge { .. } | LoadedPlugin::Package { .. })
    };
    let n_bridges = found.iter().filter(is_bridge).count();
    let mut checks: Vec<Check> = found.iter().map(|found| plugin(host, found)).collect();
    if n_bridges == 0 {
        let found = format!("{title} has no kgctx plugin here");
        checks.insert(0, Check::fail("plugin", found, format!("run `kgctx install {host}`")));
    } else if n_bridges > 1 {
        let found = format!("it is installed {n_bridges} times, which is harmless: only one acts");
        let out = format!("`kgctx uninstall {host}`, with or without --project, removes one");
        checks.push(Check::warn("plugin", found, out));
    }
    checks
}

fn plugin(host: Host, found: &LoadedPlugin) -> Check {
    let name = "plugin";
    match found {
        LoadedPlugin::Bridge { file, copy } if copy.is_original => {
            Check::ok(name, format!("{VERSION}, {}", file.display()))
        }
        LoadedPlugin::Bridge { file, copy } => {
            let found = match copy.version.as_deref().unwrap_or("no version") {
                VERSION => format!("{VERSION}, {}: edited", file.display()),
                other => format!("{other}, {}, but this is kgctx {VERSION}", file.display()),
            };
            let out =
                format!("run `kgctx install {host}`, or with --project, to install this version");
            Check::warn(name, found, out)
        }
        LoadedPlugin::Package { name: package, named_in } => {
            Check::ok(name, format!("the package {package}, named in {}", named_in.display()))
        }
        LoadedPlugin::Stranger { file } => Check::warn(
            name,
            format!("{} is not from kgctx", file.display()),
            "move it away if it does not belong there",
        ),
        LoadedPlugin::Unclear { file, reason } => Check::warn(
            name,
            format!("cannot parse {}: {reason}", file.display()),
            format!("fix it: {} may reject it, too", host.facts().title),
        ),
    }
}

pub(super) fn plugins_allowed(environment: &Environment, host: Host, off_switch: &str) -> Check {
    let (name, title) = ("plugins", host.facts().title);
    let switch = environment.get(off_switch).map(|value| value.to_string_lossy());
    match switch.as_deref() {
        None | Some("0" | "false") => Check::ok(name, format!("{title} may load them")),
        Some(value) => Check::warn(
            name,
            format!("{off_switch}={value} keeps {title} from loading any"),
            format!("unset {off_switch} where you start {title}"),
        ),
    }
}
