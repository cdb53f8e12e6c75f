//! Checks the bundle of a host that is told of it by its settings.

use std::path::{Path, PathBuf};

use crate::app::doctor::host_program;
use crate::app::install::bundle::{in_order, item, own_files};
use crate::app::install::{Target, VERSION};
use crate::core::diagnosis::{Check, Verdict};
use crate::core::host::Host;
use crate::core::installation::{Bundle, Scope};
use crate::core::time_limits;
use crate::hosts::python;
use crate::hosts::yaml_list::YamlSettings;
use crate::store::state::State;
use crate::system::folders;
use crate::workspace::Surroundings;

pub(super) fn all(surroundings: &Surroundings, host: Host, bundle: &Bundle) -> Vec<Check> {
    let mut checks =
        vec![package(surroundings, host, bundle), settings(surroundings, host, bundle)];
    checks.extend(files(surroundings, host, bundle));
    checks.extend(last_use(surroundings, host));
    checks
}

/// Checks whether the settings that count here name our folder.
fn settings(surroundings: &Surroundings, host: Host, bundle: &Bundle) -> Check {
    let (name, title) = (host.facts().program, host.facts().title);
    let way_out = format!("run `kgctx install {host}`");
    let Ok(item) = item(surroundings, bundle) else {
        return Check::fail(name, "the path of kgctx's folder is not UTF-8", way_out);
    };
    let user = Target::find(surroundings, host, Scope::Global).ok();
    let project = project_folder(surroundings, host);
    let order = in_order(user.as_ref().map(|user| user.folder.as_path()), &project, bundle);
    let mut hidden_by: Option<PathBuf> = None;
    for file in order {
        let settings = match YamlSettings::read(&file, bundle.list) {
            Ok(Some(settings)) if settings.has_list() => settings,
            Ok(_) => continue,
            Err(error) => return Check::of_error(name, Verdict::Fail, error, &way_out),
        };
        let has_item = settings.items().contains(&&*item);
        match (&hidden_by, has_item) {
            (None, true) => {
                return Check::ok(name, format!("{} names kgctx's bundle", file.display()));
            }
            (Some(by), true) => {
                let (by, file) = (by.display(), file.display());
                let found = format!("the list in {by} hides the bundle of {file} here");
                return Check::warn(name, found, format!("add this line to its list: - {item}"));
            }
            (None, false) => hidden_by = Some(file),
            (Some(_), false) => {}
        }
    }
    Check::fail(name, format!("{title} has no kgctx bundle here"), way_out)
}

/// When a session of the host got its context last, if one ever did.
fn last_use(surroundings: &Surroundings, host: Host) -> Option<Check> {
    let state = State::open_if_there(&surroundings.directories.state, time_limits::DOCTOR);
    let receipt = state.ok().flatten()?.last_of_host(host).ok()??;
    let found = format!("session {} got its context, {}", receipt.session, receipt.at);
    Some(Check::ok(host.facts().program, found))
}

/// The host looks into the folder that it is started in, and no further up.
fn project_folder(surroundings: &Surroundings, host: Host) -> PathBuf {
    let below = host.facts().install.as_ref().map_or("", |install| install.project_folder);
    surroundings.facts.folder.join(below)
}

/// Checks our own files, and the program that they name.
fn files(surroundings: &Surroundings, host: Host, bundle: &Bundle) -> Vec<Check> {
    let (name, title) = ("bundle", host.facts().title);
    let way_out = format!("run `kgctx install {host}`");
    let Ok(own) = own_files(surroundings, bundle) else { return Vec::new() };
    let there: Vec<(&Path, Option<bool>)> =
        own.iter().map(|(path, text)| (path.as_path(), folders::has_text(path, text))).collect();
    let [.., (index, index_is_right)] = there.as_slice() else { return Vec::new() };
    if index_is_right.is_none() {
        let found = format!("{} is missing: sessions start without kgctx", index.display());
        return vec![Check::fail(name, found, way_out)];
    }
    if let Some((path, _)) = there.iter().find(|(_, is_right)| is_right.is_none()) {
        let found = format!("{} is missing: no {title} session starts", path.display());
        let out = format!("{way_out}, or start {title} with {}=1 until then", bundle.lenient);
        return vec![Check::fail(name, found, out)];
    }
    let mut checks = Vec::new();
    checks.push(match there.iter().find(|(_, is_right)| *is_right == Some(false)) {
        Some((path, _)) => {
            let found =
                format!("{} belongs to another version than kgctx {VERSION}", path.display());
            Check::warn(name, found, way_out.clone())
        }
        None => Check::ok(name, format!("{VERSION}, {}", index.display())),
    });
    checks.extend(program(host, index, bundle, &way_out));
    checks
}

/// Checks the kgctx that the bundle starts.
fn program(host: Host, index: &Path, bundle: &Bundle, way_out: &str) -> Option<Check> {
    let (name, title) = ("program", host.facts().title);
    let program = python::command_in(index, bundle.arguments)?;
    let shown = program.display();
    Some(match host_program::kgctx_version(&program) {
        Ok(said) if said == format!("kgctx {VERSION}") => {
            Check::ok(name, format!("{title} starts {shown}"))
        }
        Ok(said) => {
            let found = format!(
                "{title} starts {shown}, which reports {said:?} instead of kgctx {VERSION}"
            );
            Check::warn(name, found, way_out)
        }
        Err(error) => Check::fail(name, format!("{title} starts {shown}, but {error}"), way_out),
    })
}

/// Checks the package that the module runs in.
fn package(surroundings: &Surroundings, host: Host, bundle: &Bundle) -> Check {
    let (name, title) = (host.facts().program, host.facts().title);
    let (package, since) = bundle.package;
    let Some(file) = host_program::find(&surroundings.environment, host) else {
        let found = format!("{} is not found", host.facts().program);
        return Check::warn(name, found, format!("install {title}, or put it on the PATH"));
    };
    let shown = file.display();
    let said = python::package_version(&file, package, time_limits::DOCTOR);
    let Some(version) = said.as_deref().and_then(host_program::version_numbers) else {
        let found = format!("{shown} does not report its version of {package}");
        return Check::warn(
            name,
            found,
            format!("{package} {} or later works", host_program::dotted(since)),
        );
    };
    let version_shown = host_program::dotted(version);
    if version < since {
        let found = format!(
            "{package} {version_shown}, {shown}: older than the versions tested with kgctx"
        );
        return Check::warn(
            name,
            found,
            format!("update {title}: it needs {package} {}", host_program::dotted(since)),
        );
    }
    Check::ok(name, format!("{package} {version_shown}, {shown}"))
}
