//! The programs between a host and kgctx: the host's own, and the kgctx that its plugin starts.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::app::install::{VERSION, plugin_file};
use crate::core::diagnosis::Check;
use crate::core::host::{Host, HostFacts, TriedVersions};
use crate::core::time_limits;
use crate::system::environment::Environment;
use crate::system::process::find;
use crate::system::process::run::RunError;
use crate::workspace::Surroundings;

/// The host's program.
pub(in crate::app) fn find(environment: &Environment, host: Host) -> Option<PathBuf> {
    find::find(named(environment, host), environment)
}

fn named(environment: &Environment, host: Host) -> &OsStr {
    let variable = host.facts().tried_versions.as_ref().and_then(|tried| tried.variable);
    let named = variable.and_then(|variable| environment.get(variable));
    named.map_or(host.facts().program.as_ref(), |bin| bin.as_os_str())
}

/// The version of the host's program, if it tells one.
pub(super) fn version(environment: &Environment, host: Host) -> Option<[u64; 3]> {
    let quiet = host.facts().tried_versions.as_ref()?.quiet;
    let said = find::version(&find(environment, host)?, quiet, time_limits::DOCTOR).ok()?;
    version_numbers(&said)
}

/// Checks the host's version, and whether kgctx was tested with it; `None` if there is no tested
/// version.
pub(super) fn host_program(environment: &Environment, host: Host) -> Option<Check> {
    let HostFacts { program: name, title, ref tried_versions, .. } = *host.facts();
    let TriedVersions { variable, quiet, oldest, newest } = *tried_versions.as_ref()?;
    let Some(file) = find(environment, host) else {
        let found = format!("{} is not found", named(environment, host).to_string_lossy());
        let out = match variable {
            Some(variable) => format!("install {title}, or set {variable} to its path"),
            None => format!("install {title}, or put it on the PATH"),
        };
        return Some(Check::warn(name, found, out));
    };
    let shown = file.display();
    let said = match find::version(&file, quiet, time_limits::DOCTOR) {
        Ok(said) => said,
        Err(error) => {
            let out = format!("install {title} again");
            return Some(Check::warn(name, format!("{shown}: {error}"), out));
        }
    };
    let tried = format!("{} to {}", dotted(oldest), dotted(newest));
    Some(match version_numbers(&said) {
        None => Check::warn(
            name,
            format!("{shown} reports {said:?}, which is not a version"),
            format!("use {title} {tried}"),
        ),
        Some(version) if version < oldest => Check::warn(
            name,
            format!("{said}, {shown}: older than the versions tested with kgctx"),
            format!("update {title}: kgctx was tested with {tried}"),
        ),
        Some(version) if version[0] > newest[0] => Check::warn(
            name,
            format!("{said}, {shown}: kgctx may not work as in {title} {}", newest[0]),
            format!("use {title} {tried}, or update kgctx"),
        ),
        Some(version) if version > newest => {
            Check::ok(name, format!("{said}, {shown} (newer than the tested versions, {tried})"))
        }
        Some(_) => Check::ok(name, format!("{said}, {shown}")),
    })
}

/// Checks the kgctx that a host's plugin starts, which can differ from this one.
pub(super) fn kgctx(surroundings: &Surroundings, host: Host) -> Check {
    let (name, title) = ("program", host.facts().title);
    let named = surroundings.environment.get("KGCTX_BIN");
    let by = if named.is_some() { "KGCTX_BIN" } else { "PATH" };
    let this = find::this().unwrap_or_default();
    let this = this.display();
    let Some(file) = plugin_file::program(surroundings) else {
        let found = match named {
            Some(named) => {
                format!("KGCTX_BIN is {}, which is not a program", named.to_string_lossy())
            }
            None => format!("{title} would not find kgctx on the PATH"),
        };
        let out = format!("put it on the PATH, or set KGCTX_BIN={this} where you start {title}");
        return Check::fail(name, found, out);
    };
    let shown = file.display();
    match kgctx_version(&file) {
        Ok(said) if said == format!("kgctx {VERSION}") => {
            Check::ok(name, format!("{title} starts {shown}, from {by}"))
        }
        Ok(said) => Check::warn(
            name,
            format!(
                "{title} starts {shown}, from {by}, which reports {said:?} instead of kgctx {VERSION}"
            ),
            format!("update it, or set KGCTX_BIN={this} where you start {title}"),
        ),
        Err(error) => Check::fail(
            name,
            format!("{title} starts {shown}, from {by}, but {error}"),
            format!("install it again, or set KGCTX_BIN={this} where you start {title}"),
        ),
    }
}

/// What a kgctx says about its version.
pub(super) fn kgctx_version(file: &Path) -> Result<String, RunError> {
    find::version(file, &[], time_limits::DOCTOR)
}

pub(super) fn version_numbers(text: &str) -> Option<[u64; 3]> {
    let first = text.split_whitespace().next()?;
    let mut numbers = first.trim_start_matches('v').split(['.', '-', '+']).map(str::parse);
    Some([numbers.next()?.ok()?, numbers.next()?.ok()?, numbers.next()?.ok()?])
}

pub(super) fn dotted(version: [u64; 3]) -> String {
    version.map(|number| number.to_string()).join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_programs_say_them() {
        let check = |text, expected| assert_eq!(version_numbers(text), expected, "{text}");
        check("1.18.33", Some([1, 18, 33]));
        check("v1.2.27", Some([1, 2, 27]));
        check("2.0.0-beta.1", Some([2, 0, 0]));
        check("0.0.0+local", Some([0, 0, 0]));
        check("2.1.325 (Claude Code)", Some([2, 1, 325]));
        for text in ["", "1.18", "opencode", "1.x.3"] {
            check(text, None);
        }
    }
}
