//! claude-auto-handoff: a manifest for each channel below the user's home folder, and beside it the handoff that waits.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{HandoffStore, names, read};
use crate::core::handoff::document;
use crate::core::handoff::foreign::{ForeignHandoff, LeftOut, WhyLeftOut};
use crate::core::project::Project;
use crate::core::time::{Timespan, Timestamp};
use crate::system::environment::Environment;
use crate::workspace::{Request, Surroundings};

const MANIFEST: &str = ".manifest.json";
const DOCUMENT: &str = "-CURRENT.md";

#[derive(Deserialize)]
struct Manifest {
    current: Option<Current>,
}

/// The last handoff of a channel.
#[derive(Deserialize)]
struct Current {
    id: String,
    created_at: Option<String>,
    working_dir: Option<PathBuf>,
    status: String,
}

/// The program knows no other place.
pub(super) fn places(environment: &Environment) -> Vec<PathBuf> {
    environment.home().map(|home| home.join(".claude/handoff")).into_iter().collect()
}

pub(super) fn look(
    places: &[PathBuf],
    project: &Project,
    environment: &Environment,
    now: Timestamp,
) -> HandoffStore {
    let mut store = HandoffStore::default();
    for place in places.iter().filter(|place| place.is_dir()) {
        store.folders.push(place.clone());
        let channels = names(place, MANIFEST).unwrap_or_else(|error| {
            store.failed.push(format!("{} cannot be read: {error}", place.display()));
            Vec::new()
        });
        for channel in channels {
            let current = match current(place, &channel) {
                Ok(Some(current)) => current,
                Ok(None) => continue,
                // Somebody else's must not stand in the way of this project.
                Err(error) if !speaks_of(project, place, &channel) => {
                    store.remarks.push(error);
                    continue;
                }
                Err(error) => {
                    store.failed.push(error);
                    continue;
                }
            };
            let why = match is_of(project, &current, environment) {
                false => Ok(Some(WhyLeftOut::OtherProject)),
                true => why_not(&current, now),
            };
            let found = why.and_then(|why| {
                match why {
                    Some(why) => store.left_out.push(LeftOut { source_id: current.id, why }),
                    None => store.waiting.push(waiting(place, &channel, current.id)?),
                }
                Ok(())
            });
            store.failed.extend(found.err());
        }
        let archived = names(&place.join("archive"), ".md").unwrap_or_default().into_iter();
        let why = WhyLeftOut::Archived;
        let known: Vec<String> = store.left_out.iter().map(|one| one.source_id.clone()).collect();
        let archived = archived.filter(|id| !known.contains(id));
        store.left_out.extend(archived.map(|source_id| LeftOut { source_id, why }));
    }
    store
}

/// Whether a channel whose manifest cannot be understood seems to be this project's: by its name, or because manifest or
/// document mention the project's folder.
fn speaks_of(project: &Project, place: &Path, channel: &str) -> bool {
    let files = [MANIFEST, DOCUMENT].map(|ending| place.join(format!("{channel}{ending}")));
    let read = files.iter().filter_map(|file| read(place, file).ok().flatten());
    let texts: Vec<String> =
        read.map(|(bytes, _)| String::from_utf8_lossy(&bytes).into_owned()).collect();
    let goes_on = |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || "-_.".contains(c));
    let mentions = |folder: &PathBuf| {
        let folder = folder.to_string_lossy();
        texts.iter().any(|text| text.split(&*folder).skip(1).any(|rest| !goes_on(rest)))
    };
    channel == project.channel
        || [&project.root, &project.checkout].into_iter().flatten().any(mentions)
}

/// Reads the manifest of a channel; `None` if nothing was ever left there.
fn current(place: &Path, channel: &str) -> Result<Option<Current>, String> {
    let path = place.join(format!("{channel}{MANIFEST}"));
    let Some((bytes, _)) = read(place, &path)? else { return Ok(None) };
    let manifest: Manifest = serde_json::from_slice(&bytes).map_err(|error| {
        let document = place.join(format!("{channel}{DOCUMENT}"));
        format!(
            "{} is not a manifest: {error}; `kgctx handoff import {}` imports the file next to it",
            path.display(),
            document.display()
        )
    })?;
    Ok(manifest.current)
}

/// Whether a handoff was left in this project.
fn is_of(project: &Project, current: &Current, environment: &Environment) -> bool {
    let Some(folder) = &current.working_dir else { return false };
    let request = Request {
        dir: Some(folder.clone()),
        environment: Some(environment.clone()),
        ..Request::default()
    };
    match Surroundings::find(&request) {
        Ok(there) => there.project.key == project.key,
        // The folder may be gone.
        Err(_) => project.root.as_ref().is_some_and(|root| folder.starts_with(root)),
    }
}

/// Why the program would not give it, by its own rules.
fn why_not(current: &Current, now: Timestamp) -> Result<Option<WhyLeftOut>, String> {
    match current.status.as_str() {
        "active" => {
            let created = current.created_at.as_deref().and_then(Timestamp::parse);
            let is_old = |created: Timestamp| created.after(Timespan::from_hours(2)) < now;
            Ok(created.is_some_and(is_old).then_some(WhyLeftOut::Expired))
        }
        "consumed" => Ok(Some(WhyLeftOut::Consumed)),
        "expired" => Ok(Some(WhyLeftOut::Expired)),
        "cleared" => Ok(Some(WhyLeftOut::Archived)),
        other => Err(format!("{} has the unknown status {other:?}", current.id)),
    }
}

fn waiting(place: &Path, channel: &str, id: String) -> Result<ForeignHandoff, String> {
    let path = place.join(format!("{channel}{DOCUMENT}"));
    let shown = path.display();
    let Some((bytes, modified)) = read(place, &path)? else {
        return Err(format!("{shown} does not exist, but its manifest says that {id} waits in it"));
    };
    // As the program does: whatever else lies there is not what was left.
    let named = document::read(&bytes).ok().and_then(|read| read.document.head.id);
    match named {
        Some(named) if named != id => Err(format!(
            "{shown} has the id {named}, but its manifest says {id}; `kgctx handoff import {shown}` imports it anyway"
        )),
        _ => Ok(ForeignHandoff { name: Some(id), path, bytes, modified }),
    }
}
