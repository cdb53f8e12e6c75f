//! Where projects keep notes: the names of their usual folders, and which markdown at the top of a project is a note.

use crate::core::host::Host;
use crate::core::note::without_extension;
use crate::core::text::words::words;

/// Folders of notes at the top of a project, beside `docs` and `.kgctx/memory`.
pub const AT_TOP: [&str; 18] = words(
    "doc documentation Documentation adr adrs decisions rfc rfcs design spec specs openspec memory-bank .memory-bank notes .notes wiki architecture",
);
/// Folders of notes in the packages of a repository. Fewer: code is in folders called `notes` or `wiki`.
pub const IN_PACKAGE: [&str; 13] = words(
    "docs doc adr adrs decisions rfc rfcs design spec specs openspec memory-bank .memory-bank",
);
/// Folders whose folders are packages. All other folders at the top are taken for a package.
pub const PACKAGES: [&str; 10] =
    words("packages crates apps libs services modules plugins projects components extensions");
/// Folders of others' code and of what is built.
pub const FOREIGN: [&str; 7] = words("node_modules vendor target build dist third_party venv");
/// Usually code: notes are there only if some are at most so many folders below it, as in `specs/001-login/spec.md`.
pub const USUALLY_CODE: [&str; 3] = words("spec specs design");
pub const DEEPEST_IN_CODE: usize = 2;

/// So many notes in known places suffice: nothing else is looked at.
pub const ENOUGH: usize = 20;
/// Fewer files elsewhere are not worth a vault.
const LEAST_ELSEWHERE: usize = 5;
/// Known places that hold a smaller part than one in so many of a project's markdown hold too little of it.
const PART: usize = 3;
/// Folders at the top whose markdown is made for programs.
const OF_TESTS: [&str; 8] =
    words("test tests testdata fixtures __fixtures__ __tests__ snapshots benchmarks");
/// A project with more folders or entries is not looked through for other notes: every session start would wait for it.
pub const MOST_FOLDERS: usize = 300;
pub const MOST_ENTRIES: usize = 10_000;

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
    is_markdown(name) && !NO_NOTES.iter().any(|other| is_named(other)) && !is_own()
}

/// Whether a file is markdown, by its name.
pub fn is_markdown(name: &str) -> bool {
    without_extension(name) != name
}

/// Whether notes are looked for in a folder at the top that is no usual place.
pub fn may_hold_notes(name: &str) -> bool {
    !name.starts_with('.') && !FOREIGN.contains(&name) && !OF_TESTS.contains(&name)
}

/// Whether known places hold so little of a project's markdown that the rest is read, too.
pub fn is_mostly_elsewhere(n_known: usize, n_elsewhere: usize) -> bool {
    let n_all = n_known + n_elsewhere;
    n_known < ENOUGH && n_elsewhere >= LEAST_ELSEWHERE && n_known * PART < n_all
}

/// Whether the search for places of notes looks at the name of a file, given by its path from a project's top.
pub fn is_looked_at(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let mut parts = folder.split('/').rev().take(DEEPEST_IN_CODE + 1);
    is_note_at_top(name) && (folder.is_empty() || parts.any(|part| USUALLY_CODE.contains(&part)))
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
    let mut last = first;
    if let Some(place) = parts.next_if(|part| IN_PACKAGE.contains(part)) {
        last = place;
        take(place);
    }
    if USUALLY_CODE.contains(&last) {
        parts.by_ref().take(DEEPEST_IN_CODE).for_each(&mut take);
    }
    parts.next_if(|part| OF_LOGSEQ.contains(part)).map(&mut take);
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
            ("specs/001/deep/deeper", "specs/001/deep"),
            ("packages/x/specs/001/a/b", "packages/x/specs/001/a"),
            ("packages/x/src/a", "packages/x"),
            ("packages/x/docs/journals/a", "packages/x/docs/journals"),
        ] {
            assert_eq!(looked_into(folder), expect, "{folder}");
        }
    }

    #[test]
    fn what_a_host_reads_and_what_says_nothing_is_no_note() {
        for name in
            ["README.md", "CONTRIBUTING.md", "README.markdown", "ROADMAP.mdx", "Guide.MD", "a b.md"]
        {
            assert!(is_note_at_top(name), "{name}");
        }
        for name in [
            "AGENTS.md",
            "agents.md",
            "CLAUDE.MD",
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
