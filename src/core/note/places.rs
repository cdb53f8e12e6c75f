//! Where projects keep notes: the names of their usual folders, and which markdown at the top of a project is a note.

use crate::core::host::Host;
use crate::core::text::words::words;

/// Folders of notes at the top of a project, beside `docs` and `.kgctx/memory`.
pub const AT_TOP: [&str; 18] = words(
    "doc documentation Documentation adr adrs decisions rfc rfcs design spec specs openspec memory-bank .memory-bank notes .notes wiki architecture",
);
/// Folders of notes in the packages of a repository. Fewer: code is in folders called `design` or `notes`.
pub const IN_PACKAGE: [&str; 5] = words("docs doc adr decisions memory-bank");
/// Folders whose folders are packages. All other folders at the top are taken for a package.
pub const PACKAGES: [&str; 10] =
    words("packages crates apps libs services modules plugins projects components extensions");
/// Folders of others' code and of what is built.
pub const FOREIGN: [&str; 7] = words("node_modules vendor target build dist third_party venv");
/// Usually code: notes are there only if some stand in the folder itself.
pub const USUALLY_CODE: [&str; 2] = words("spec specs");

/// Folders that a vault of Logseq has.
pub const OF_LOGSEQ: [&str; 2] = words("pages journals");

/// Markdown that hosts outside of the table read by themselves, and texts that say nothing about a project.
const NO_NOTES: [&str; 12] = words(
    "agents.override.md agents.local.md qwen.md warp.md kilo.md cline.md crush.md \
     license.md licence.md copying.md code_of_conduct.md security.md",
);

/// Whether a file at the top of a project is a note, by its name: hosts read some files by themselves.
pub fn is_note_at_top(name: &str) -> bool {
    let is_named = |other: &str| other.eq_ignore_ascii_case(name);
    let is_own = || Host::own_files().iter().any(|file| is_named(file.name()));
    name.ends_with(".md") && !NO_NOTES.iter().any(|other| is_named(other)) && !is_own()
}

/// Whether the search for places of notes looks at the name of a file, given by its path from a project's top.
pub fn is_looked_at(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    is_note_at_top(name) && (folder.is_empty() || USUALLY_CODE.contains(&folder))
}

/// The part of a folder's path from a project's top that the search for places looks at: folders at the top, packages, places
/// in them, and the folders in a place by which a program is told.
pub fn looked_into(folder: &str) -> &str {
    let mut parts = folder.split('/').peekable();
    let mut n_bytes = 0;
    let mut take = |part: &str| n_bytes += part.len() + 1;
    let first = parts.next().unwrap_or_default();
    take(first);
    if PACKAGES.contains(&first) {
        parts.next().map(&mut take);
    }
    for names in [&IN_PACKAGE[..], &OF_LOGSEQ] {
        parts.next_if(|part| names.contains(part)).map(&mut take);
    }
    &folder[..folder.len().min(n_bytes - 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_place_is_deep() {
        for (folder, expect) in [
            ("", ""),
            ("docs", "docs"),
            ("docs/adr/old", "docs/adr"),
            ("wiki/pages/a", "wiki/pages"),
            ("src/a/b", "src"),
            ("backend/docs/pages", "backend/docs/pages"),
            ("backend/docs/pages/a/b", "backend/docs/pages"),
            ("backend/docs/a", "backend/docs"),
            ("packages", "packages"),
            ("packages/x/src/a", "packages/x"),
            ("packages/x/docs/journals/a", "packages/x/docs/journals"),
        ] {
            assert_eq!(looked_into(folder), expect, "{folder}");
        }
    }

    #[test]
    fn what_a_host_reads_and_what_says_nothing_is_no_note() {
        for name in
            ["README.md", "CONTRIBUTING.md", "ROADMAP.md", "CHANGELOG.md", "readme.md", "a b.md"]
        {
            assert!(is_note_at_top(name), "{name}");
        }
        for name in [
            "AGENTS.md",
            "agents.md",
            "AGENTS.override.md",
            "CLAUDE.md",
            "CLAUDE.local.md",
            "GEMINI.md",
            "QWEN.md",
            "LICENSE.md",
            "CODE_OF_CONDUCT.md",
            "SECURITY.md",
            "LICENSE",
            "README.txt",
            ".cursorrules",
        ] {
            assert!(!is_note_at_top(name), "{name}");
        }
    }
}
