//! Remembers a failure of maenifold's program, so that `auto` waits for it once an hour instead of at every session
//! start.

use crate::core::time_limits;
use std::fs;
use std::path::Path;

const FILE: &str = "maenifold-failed";

/// Records a failure. If the file cannot be written, the next session waits, too.
pub fn remember(cache: &Path) {
    let _ = fs::create_dir_all(cache);
    let _ = fs::write(cache.join(FILE), "");
}

/// Whether the program failed recently, so that `auto` skips it.
pub fn is_remembered(cache: &Path) -> bool {
    let failed = fs::metadata(cache.join(FILE)).and_then(|there| there.modified());
    failed
        .is_ok_and(|failed| failed.elapsed().is_ok_and(|age| age < time_limits::MAENIFOLD_FAILURE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_remembered_for_an_hour() {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("cache");
        assert!(!is_remembered(&cache));
        remember(&cache);
        assert!(is_remembered(&cache));
        let file = fs::File::options().write(true).open(cache.join(FILE)).unwrap();
        let then = file.metadata().unwrap().modified().unwrap() - time_limits::MAENIFOLD_FAILURE;
        file.set_modified(then).unwrap();
        assert!(!is_remembered(&cache));
    }
}
