//! Files beside the notes, told by their names: menus of sites, licences, and what hosts read by themselves.
//!
//! At the top of a project more files are none ([`crate::core::note::places`]): deeper, a page can have any such name.

use crate::core::note::without_extension;
use crate::core::text::bytes;
use crate::core::text::words::words;

/// Pages of sites and texts about rights, in any case.
const STEMS: [&str; 8] =
    words("_sidebar _navbar _coverpage _footer license licence copying code_of_conduct");
/// What hosts read by themselves, as they are spelt: a page may be called `agents`.
const OF_HOSTS: [&str; 10] =
    words("AGENTS AGENTS.override AGENTS.local CLAUDE CLAUDE.local GEMINI QWEN WARP CLINE CRUSH");
/// The length of the longest name in these lists.
const LONGEST: usize = 15;
/// The folder of packages that others wrote.
const OF_PACKAGES: &str = "node_modules";
/// Where mdBook has the links to all pages.
const CONTENTS: &str = "SUMMARY";
const NOT_FOUND: &str = "404";
const FRONT_MATTER: &str = "---";
const OF_DATA: [&str; 2] = ["excalidraw-plugin:", "database-plugin:"];
/// No front matter of these has more lines.
const MOST_KEYS: usize = 200;

/// Whether a file is no note, by its name.
pub fn is_side_file(name: &str) -> bool {
    // Every file of a vault is asked at every session's start.
    let stem = without_extension(name);
    let is_candidate = stem.len() <= LONGEST
        && matches!(stem.as_bytes().first(), Some(b'_' | b'A'..=b'Z' | b'c' | b'l'));
    is_candidate
        && (STEMS.iter().any(|other| other.eq_ignore_ascii_case(stem)) || OF_HOSTS.contains(&stem))
}

/// Whether a folder has no notes, by its name.
pub fn is_side_folder(name: &str) -> bool {
    name == OF_PACKAGES
}

/// Whether a file of this stem is no note, by its text: it only lists the pages of a book, or says that a page is not there.
pub fn is_side_text(stem: &str, text: &str) -> bool {
    match stem {
        CONTENTS => text.contains("](") && text.lines().all(is_of_contents),
        // A note can be called by its number.
        NOT_FOUND => text.contains(NOT_FOUND) || text.to_lowercase().contains("not found"),
        _ => false,
    }
}

/// Whether a text is what a plugin of Obsidian draws or fills a table from, by a key of its front matter.
pub fn is_data(text: &str) -> bool {
    let mut lines = bytes::lines(text);
    lines.next().is_some_and(|line| line.trim_end() == FRONT_MATTER)
        && lines
            .take(MOST_KEYS)
            .take_while(|line| line.trim_end() != FRONT_MATTER)
            .any(|line| OF_DATA.iter().any(|key| line.starts_with(key)))
}

/// Whether a line of contents is a heading, a rule, a comment or a link.
fn is_of_contents(line: &str) -> bool {
    let line = line.trim_start().trim_start_matches(['-', '*', '+', ' ']);
    line.is_empty() || line.starts_with(['#', '[']) || line.starts_with("<!--")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::host::Host;

    #[test]
    fn what_hosts_read_is_listed() {
        assert!(STEMS.iter().chain(&OF_HOSTS).all(|stem| stem.len() <= LONGEST));
        let files = Host::own_files().into_iter().map(|file| file.name());
        for name in
            files.filter(|name| name.ends_with(".md") && name.starts_with(char::is_uppercase))
        {
            assert!(is_side_file(name), "{name}");
        }
    }

    #[test]
    fn side_files_are_told_by_their_names() {
        for name in [
            "_sidebar.md",
            "_navbar.md",
            "_coverpage.md",
            "LICENSE.md",
            "license.md",
            "CODE_OF_CONDUCT.md",
            "AGENTS.md",
            "CLAUDE.md",
            "CLAUDE.local.md",
            "GEMINI.md",
            "QWEN.md",
        ] {
            assert!(is_side_file(name), "{name}");
        }
        for name in [
            "README.md",
            "SECURITY.md",
            "agents.md",
            "claude.md",
            "cline.md",
            "licensing.md",
            "404.md",
            "_index.md",
            "SUMMARY.md",
            "API.md",
            "Größe.md",
            "a.md",
            "",
        ] {
            assert!(!is_side_file(name), "{name}");
        }
        assert!(is_side_folder("node_modules") && !is_side_folder("modules"));
    }

    #[test]
    fn contents_are_links_alone_and_a_missing_page_says_so() {
        let book = "# Summary\n\n[Introduction](README.md)\n\n- [A](a.md)\n  - [B](b.md)\n- [Draft]()\n---\n";
        assert!(is_side_text("SUMMARY", book));
        assert!(!is_side_text("Summary of May", book));
        assert!(!is_side_text("SUMMARY", &format!("{book}\nWe shipped [it](a.md).")));
        assert!(!is_side_text("SUMMARY", "# Summary\n"));
        assert!(is_side_text("404", "# Page not found\n") && !is_side_text("404", "Of the boat."));
    }
}
