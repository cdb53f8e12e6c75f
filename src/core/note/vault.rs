//! A vault: a folder of markdown notes, and the memory:// addresses of what is in it. Reads no files.

use std::path::{Path, PathBuf};

use crate::core::note::not_note::is_note_name;
use crate::core::note::{NotePath, PathError};
use crate::core::settings::LinkStyle;

/// What every address starts with.
pub const SCHEME: &str = "memory://";

/// A folder of markdown notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vault {
    /// The first part of its notes' addresses; empty for the vault that owns plain `memory://` addresses.
    pub name: String,
    /// The folder, canonical.
    pub root: PathBuf,
    pub style: LinkStyle,
    /// The folders of its templates, below the root, as its program was told.
    pub templates: Vec<String>,
    /// Whether only the notes directly in its folder belong to it: the top of a project, and no vault of a person's.
    pub is_flat: bool,
}

impl Vault {
    pub fn new(name: &str, root: PathBuf, style: LinkStyle) -> Vault {
        Vault { name: name.to_owned(), root, style, templates: Vec::new(), is_flat: false }
    }

    /// The file of the note with this path.
    pub fn file(&self, path: &str) -> PathBuf {
        let mut file = self.root.clone();
        // Name by name: not every system has slashes between them.
        file.extend(path.split('/'));
        file
    }

    /// The note that an address names, if the address belongs to this vault.
    pub fn resolve(&self, uri: &str) -> Option<Result<NotePath, PathError>> {
        let below_scheme = uri.strip_prefix(SCHEME)?;
        let path = if self.name.is_empty() {
            below_scheme
        } else {
            below_scheme.strip_prefix(self.name.as_str())?.strip_prefix('/')?
        };
        let is_whole = is_note_name(path.as_bytes(), self.style);
        let with_ending = if is_whole { path.to_owned() } else { format!("{path}.md") };
        Some(if path.is_empty() { Err(PathError::Empty) } else { NotePath::parse(&with_ending) })
    }
}

/// Whether a vault in the folder `outer` holds the notes of the folder `inner`, too. It leaves out what is hidden.
pub fn holds(outer: &Path, inner: &Path) -> bool {
    let is_hidden =
        |below: &Path| below.iter().any(|part| part.as_encoded_bytes().starts_with(b"."));
    inner.strip_prefix(outer).is_ok_and(|below| !is_hidden(below))
}

/// The address of the note at `path` in the vault called `vault_name`: `memory://`, the name if there is one, and the
/// path without `.md`.
///
/// Exactly maenifold's form: `/` between parts, case kept, nothing percent-encoded.
pub fn uri(vault_name: &str, path: &str) -> String {
    let path = path.strip_suffix(".md").unwrap_or(path);
    let slash = if vault_name.is_empty() { "" } else { "/" };
    format!("{SCHEME}{vault_name}{slash}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn vault(name: &str) -> Vault {
        Vault::new(name, PathBuf::from("/notes"), LinkStyle::Plain)
    }

    #[test]
    fn a_vault_holds_the_folders_in_it_that_are_not_hidden() {
        for (inner, expect) in [
            ("/a/b", true),
            ("/a/b/c/d", true),
            ("/a", false),
            ("/a/bc", false),
            ("/a/b/.kgctx/memory", false),
            ("/a/b/c/.notes", false),
        ] {
            assert_eq!(holds(Path::new("/a/b"), Path::new(inner)), expect, "{inner}");
        }
        assert!(holds(Path::new("/.a"), Path::new("/.a/b")));
    }

    #[test]
    fn addresses_have_maenifolds_form() {
        assert_eq!(uri("", "Tech/Größe & Co.md"), "memory://Tech/Größe & Co");
        assert_eq!(uri("docs", "Tech/Größe & Co.md"), "memory://docs/Tech/Größe & Co");
    }

    #[test]
    fn an_address_never_leaves_its_vault() {
        for uri in [
            "memory://",
            "memory:///etc/passwd",
            "memory://../x",
            "memory://a/../../x",
            "memory://a//b",
            "memory://./a",
            "memory://a\\b",
        ] {
            assert!(matches!(vault("").resolve(uri), Some(Err(_))), "{uri} must be refused");
        }
        assert!(matches!(vault("docs").resolve("memory://docs/../x"), Some(Err(_))));
    }

    #[test]
    fn an_address_of_another_vault_is_not_ours() {
        assert_eq!(vault("docs").resolve("memory://docsy/x"), None);
        assert_eq!(vault("docs").resolve("memory://docs"), None);
        assert_eq!(vault("docs").resolve("https://docs/x"), None);
    }

    #[test]
    fn the_ending_may_be_written_or_not() {
        let expect = Some(NotePath::parse("a/b.md"));
        assert_eq!(vault("").resolve("memory://a/b"), expect);
        assert_eq!(vault("").resolve("memory://a/b.md"), expect);
        assert_eq!(vault("").resolve(&uri("", "a/b.mdx")), Some(NotePath::parse("a/b.mdx")));
        let memory = Vault::new("", PathBuf::from("/notes"), LinkStyle::Maenifold);
        assert_eq!(memory.resolve("memory://b.mdx"), Some(NotePath::parse("b.mdx.md")));
    }

    proptest! {
        #[test]
        fn path_to_address_and_back(parts in prop::collection::vec("[a-zA-Zß日 _-]{1,8}", 1..4), name in "[a-z]{0,4}") {
            let path = NotePath::parse(&format!("{}.md", parts.join("/"))).unwrap();
            let vault = vault(&name);
            prop_assert_eq!(vault.resolve(&uri(&name, path.as_str())), Some(Ok(path)));
        }
    }
}
