//! Lists the files of a folder outside of any repository.

use std::path::Path;

use ignore::WalkBuilder;

/// All regular files that no `.gitignore` in or below `top` excludes, and all links. Does not
/// follow links.
pub(super) fn files(top: &Path) -> (Vec<String>, Vec<String>) {
    let walk = WalkBuilder::new(top)
        .hidden(false)
        .parents(false)
        .ignore(false)
        .git_global(false)
        .git_exclude(false)
        .require_git(false)
        .follow_links(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build();
    let (mut files, mut links) = (Vec::new(), Vec::new());
    for entry in walk.flatten() {
        let kinds = entry.file_type().map(|kind| (kind.is_file(), kind.is_symlink()));
        let found = match kinds {
            Some((true, _)) => &mut files,
            Some((_, true)) => &mut links,
            _ => continue,
        };
        let below = entry.path().strip_prefix(top).ok();
        let parts: Option<Vec<&str>> = below
            .and_then(|below| below.components().map(|part| part.as_os_str().to_str()).collect());
        found.extend(parts.map(|parts| parts.join("/")));
    }
    (files, links)
}
