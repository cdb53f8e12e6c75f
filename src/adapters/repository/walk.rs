//! The files of a folder that is in no repository.

use std::path::Path;

use ignore::WalkBuilder;

/// All plain files that no `.gitignore` below `top` excludes. Links are not followed.
pub(super) fn files(top: &Path) -> Vec<String> {
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
    let is_file = |entry: &ignore::DirEntry| entry.file_type().is_some_and(|kind| kind.is_file());
    walk.flatten()
        .filter(is_file)
        .filter_map(|entry| {
            let below = entry.path().strip_prefix(top).ok()?;
            let parts: Option<Vec<&str>> =
                below.components().map(|part| part.as_os_str().to_str()).collect();
            Some(parts?.join("/"))
        })
        .collect()
}
