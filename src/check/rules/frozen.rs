//! Files that nobody corrects: pages about an older version, samples to fill in, and other people's files.

use super::tree;

/// Folders of other people's files.
const FOREIGN: [&str; 2] = ["node_modules", "third_party"];
const VENDOR: &str = "vendor";
/// How the folder of pages about older versions ends, in Docusaurus.
const VERSIONED: &str = "versioned_docs";

/// Whether a file is somebody else's. A folder `vendor` in a vault may have notes about vendors.
pub(super) fn is_foreign(path: &str, is_note: bool) -> bool {
    let mut folders = tree::folder_of(path).split('/');
    let is_vendored = path.split_once('/').is_some_and(|(first, _)| first == VENDOR);
    is_vendored || folders.any(|folder| FOREIGN.contains(&folder) || !is_note && folder == VENDOR)
}

/// Whether a page is about an older version.
pub(super) fn is_of_old_version(path: &str) -> bool {
    tree::folder_of(path).split('/').any(|folder| {
        let before = folder.strip_suffix(VERSIONED);
        before.is_some_and(|before| before.is_empty() || before.ends_with('_'))
    })
}

/// Whether a file is a sample to fill in: its name begins or ends with the word.
pub(super) fn is_template(path: &str) -> bool {
    let name = tree::name_of(path).to_ascii_lowercase();
    let stem = name.rsplit_once('.').map_or(&*name, |(stem, _)| stem);
    let mut words = stem.split(|c: char| !c.is_ascii_alphanumeric());
    [words.next(), words.next_back()].contains(&Some("template"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::TestRepository;
    use super::*;
    use crate::check::finding::Rule::{
        DanglingLink, DuplicateNote, OrphanNote, StaleNote, StaticContext,
    };

    #[test]
    fn files_are_known_by_their_paths() {
        for path in ["vendor/a/CLAUDE.md", "docs/node_modules/x/a.md", "third_party/a.md"] {
            assert!(is_foreign(path, true), "{path}");
        }
        assert!(!is_foreign("docs/vendor/a.md", true) && is_foreign("go/vendor/AGENTS.md", false));
        assert!(!is_foreign("vendor.md", true) && !is_foreign("docs/a.md", false));
        for path in ["docs/versioned_docs/version-1/a.md", "docs/x_versioned_docs/version-1/a.md"] {
            assert!(is_of_old_version(path), "{path}");
        }
        assert!(!is_of_old_version("docs/versioned_docs.md"));
        assert!(!is_of_old_version("docs/conversioned_docs/a.md"));
        for path in
            ["docs/template.md", "docs/adr_template.md", "Template-ADR.md", "docs/x.template.md"]
        {
            assert!(is_template(path), "{path}");
        }
        for path in [
            "docs/templates.md",
            "docs/template/a.md",
            "docs/templating.md",
            "docs/topic.template.helpers.md",
        ] {
            assert!(!is_template(path), "{path}");
        }
    }

    #[test]
    fn pages_of_older_versions_may_be_outdated() {
        let text = "See `src/gone.rs` and much else, so that the text is long enough to compare.\n";
        let page = |path: &str| {
            TestRepository::new()
                .with("docs/a.md", "[x](b.md)")
                .with("docs/b.md", &format!("{text}[x](a.md)\n"))
                .with(path, text)
                .with_file("src/main.rs")
        };
        let frozen = page("docs/versioned_docs/version-1/b.md");
        assert_eq!(frozen.of(StaleNote).len(), 1);
        assert!(frozen.of(OrphanNote).is_empty());
        let repeated = |path: &str| {
            page(path)
                .with("docs/c.md", text)
                .of(DuplicateNote)
                .iter()
                .map(|f| f.spot.path.clone())
                .collect::<Vec<_>>()
        };
        assert!(repeated("docs/versioned_docs/version-1/b.md").is_empty());
        assert_eq!(repeated("docs/live/b.md"), ["docs/live/b.md"]);
        assert_eq!(page("docs/live/b.md").of(StaleNote).len(), 2);
        assert_eq!(page("docs/live/b.md").of(OrphanNote).len(), 1);
    }

    #[test]
    fn a_template_is_filled_in_elsewhere() {
        let template = |path: &str| {
            let text = "---\nsuperseded_by:\n  - ADR\n---\n[x](gone.md) `src/gone.rs`\n";
            TestRepository::new()
                .with("docs/a.md", "# A\n")
                .with(path, text)
                .with_file("src/main.rs")
        };
        for rule in [DanglingLink, StaleNote, OrphanNote] {
            let found =
                |path: &str| template(path).of(rule).iter().filter(|f| f.spot.path == path).count();
            assert_eq!(found("docs/adr-template.md"), 0, "{rule:?}");
            assert_ne!(found("docs/adr-one.md"), 0, "{rule:?}");
        }
    }

    #[test]
    fn files_of_others_are_not_looked_at() {
        let text = format!("[x](gone.md) {}", "word ".repeat(4_000));
        let repository = TestRepository::new()
            .with("vendor/x/AGENTS.md", &text)
            .with("docs/node_modules/x/a.md", &text);
        assert!(repository.all().is_empty());
        let own = TestRepository::new().with("lib/AGENTS.md", &text);
        assert_eq!((own.of(DanglingLink).len(), own.of(StaticContext).len()), (1, 1));
    }
}
