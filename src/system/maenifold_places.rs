//! The paths of maenifold's files, by maenifold's own rules.

use std::fs;
use std::path::{Path, PathBuf};

use crate::core::note::freshness::Decay;
use crate::core::settings::Origin;
use crate::system::environment::Environment;

#[derive(Debug, Clone, PartialEq)]
pub struct Places {
    /// The folder of all its data.
    pub root: PathBuf,
    /// The setting that defined the root.
    pub origin: Origin,
    pub memory: PathBuf,
    pub database: PathBuf,
    /// The folder in which kgctx can cache what it read.
    pub cache: Option<PathBuf>,
    pub decay: Decay,
}

impl Places {
    /// Finds the paths, existing or not. Does not expand `~`, because maenifold does not.
    pub fn locate(environment: &Environment) -> Option<Places> {
        let (root, origin) = match environment.path("MAENIFOLD_ROOT") {
            Some(root) => (root, Origin::Environment("MAENIFOLD_ROOT")),
            None => (environment.home()?.join("maenifold"), Origin::Default),
        };
        let database =
            environment.path("MAENIFOLD_DATABASE_PATH").unwrap_or_else(|| root.join("memory.db"));
        let decay = decay(environment);
        let (memory, cache) = (root.join("memory"), None);
        Some(Places { memory, database, cache, decay, origin, root })
    }

    /// Whether the folder is in the memory folder or contains it; resolves links.
    pub fn shares_notes_with(&self, folder: &Path) -> bool {
        let canonical =
            |path: &Path| dunce::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let (memory, folder) = (canonical(&self.memory), canonical(folder));
        memory.starts_with(&folder) || folder.starts_with(&memory)
    }

    /// Whether maenifold has not unpacked its files yet. If two of its processes unpack at the same
    /// time, one of them dies.
    pub fn is_fresh(&self) -> bool {
        let assets = fs::read_dir(self.root.join("assets"));
        !assets.is_ok_and(|mut assets| assets.next().is_some())
    }
}

/// Reads maenifold's own variables. Like maenifold, uses the default for an invalid value.
fn decay(environment: &Environment) -> Decay {
    let text = |name: &str| environment.get(name).and_then(|value| value.to_str());
    let days =
        |name: &str, default| text(name).and_then(|days| days.parse().ok()).unwrap_or(default);
    let Decay { sequential, workflows, default, .. } = Decay::default();
    let is_exponential = text("MAENIFOLD_DECAY_FUNCTION") == Some("exponential");
    Decay {
        sequential: days("MAENIFOLD_DECAY_GRACE_DAYS_SEQUENTIAL", sequential),
        workflows: days("MAENIFOLD_DECAY_GRACE_DAYS_WORKFLOWS", workflows),
        default: days("MAENIFOLD_DECAY_GRACE_DAYS_DEFAULT", default),
        half_life: is_exponential.then(|| days("MAENIFOLD_DECAY_HALF_LIFE_DAYS", 30)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn located(variables: &[(&str, &str)]) -> Option<Places> {
        let environment: Environment =
            variables.iter().map(|&(name, value)| (name.into(), value.into())).collect();
        Places::locate(&environment)
    }

    #[cfg(unix)]
    #[test]
    fn places_are_where_maenifold_finds_them() {
        let home = located(&[("HOME", "/home/ada")]).unwrap();
        assert_eq!(home.memory, PathBuf::from("/home/ada/maenifold/memory"));
        assert_eq!(home.database, PathBuf::from("/home/ada/maenifold/memory.db"));
        let both = located(&[
            ("HOME", "/home/ada"),
            ("MAENIFOLD_ROOT", "/data"),
            ("MAENIFOLD_DATABASE_PATH", "/fast/m.db"),
        ]);
        let both = both.unwrap();
        assert_eq!(both.memory, PathBuf::from("/data/memory"));
        assert_eq!(both.database, PathBuf::from("/fast/m.db"));
        assert_eq!(located(&[]), None);
    }

    #[test]
    fn a_root_is_fresh_until_something_was_unpacked_in_it() {
        let root = tempfile::tempdir().unwrap();
        let places = located(&[("MAENIFOLD_ROOT", root.path().to_str().unwrap())]).unwrap();
        assert!(places.is_fresh());
        fs::create_dir(root.path().join("assets")).unwrap();
        assert!(places.is_fresh());
        fs::write(root.path().join("assets/model.onnx"), "").unwrap();
        assert!(!places.is_fresh());
    }
}
