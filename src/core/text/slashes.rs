//! Relative paths with `/` between their parts on every system, as addresses, settings and git have them.

use std::path::{MAIN_SEPARATOR, Path};

/// `None` for a path that is not UTF-8.
pub fn with_slashes(path: &Path) -> Option<String> {
    Some(path.to_str()?.replace(MAIN_SEPARATOR, "/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_stand_between_slashes_on_every_system() {
        let path = Path::new("a").join("b c").join("d.md");
        assert_eq!(with_slashes(&path).as_deref(), Some("a/b c/d.md"));
        assert_eq!(with_slashes(Path::new("")).as_deref(), Some(""));
    }

    /// There a name may have one.
    #[cfg(unix)]
    #[test]
    fn a_backslash_stays() {
        assert_eq!(with_slashes(Path::new(r"a\b")).as_deref(), Some(r"a\b"));
    }
}
