//! spx: a queue of sessions in the repository, one markdown file each. The folder of a file is its status.

use std::path::{Path, PathBuf};

use super::{HandoffStore, names, read};
use crate::core::handoff::document;
use crate::core::handoff::foreign::{ForeignHandoff, LeftOut, WhyLeftOut};
use crate::core::handoff::tool::{Tool, spx_time};

/// Below the folder that all worktrees share; spx takes the folder around a bare repository for that.
pub(super) fn places(roots: &[PathBuf]) -> Vec<PathBuf> {
    let is_bare = |root: &&PathBuf| !root.join(".git").exists() && root.join("HEAD").is_file();
    let around = roots.iter().filter(is_bare).filter_map(|root| root.parent());
    let tops = roots.iter().map(PathBuf::as_path).chain(around);
    tops.map(|top| top.join(".spx/sessions")).collect()
}

pub(super) fn look(places: &[PathBuf]) -> HandoffStore {
    let mut store = HandoffStore::default();
    for place in places.iter().filter(|place| place.is_dir()) {
        if let Some(target) = leads_out(place) {
            store.failed.push(format!(
                "{} leads to {}, out of the repository; if you mean those files, name them directly",
                place.display(),
                target.display()
            ));
            continue;
        }
        store.folders.push(place.clone());
        take(place, &mut store);
    }
    store
}

/// Where the queue is, if a link leads it out of the repository.
fn leads_out(place: &Path) -> Option<PathBuf> {
    let top = dunce::canonicalize(place.parent()?.parent()?).ok()?;
    let target = dunce::canonicalize(place).ok()?;
    (!target.starts_with(top)).then_some(target)
}

fn take(place: &Path, store: &mut HandoffStore) {
    for (folder, why) in [
        ("todo", None),
        ("doing", Some(WhyLeftOut::Doing)),
        ("archive", Some(WhyLeftOut::Archived)),
    ] {
        let folder = place.join(folder);
        let found = names(&folder, ".md").unwrap_or_else(|error| {
            store.failed.push(format!("{} cannot be read: {error}", folder.display()));
            Vec::new()
        });
        for name in found {
            let path = folder.join(format!("{name}.md"));
            match why {
                Some(why) => store.left_out.push(LeftOut { source_id: name, why }),
                None => match read(place, &path) {
                    Ok(Some((bytes, _))) if !is_session(&name, &bytes) => {}
                    Ok(Some((bytes, modified))) => {
                        let name = Some(name);
                        store.waiting.push(ForeignHandoff { name, path, bytes, modified });
                    }
                    // Somebody took it meanwhile.
                    Ok(None) => {}
                    Err(error) => store.failed.push(error),
                },
            }
        }
    }
}

/// Whether spx wrote a file, and not a person who explains the folder: by its name, or by its keys.
fn is_session(name: &str, bytes: &[u8]) -> bool {
    spx_time(name).is_some() || document::read(bytes).is_ok_and(|read| read.tool == Some(Tool::Spx))
}
