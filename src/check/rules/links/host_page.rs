//! Links to pages that the host of a repository makes beside its files: `../../issues/4`,
//! `../blob/main/src/lib.rs`.

use crate::core::text::words::words;

/// The first part of a page's path below that of the repository.
const KINDS: [&str; 24] = words(
    "actions branches commit commits compare contributors discussions graphs issues labels \
     milestone milestones network packages projects pull pulls releases security stargazers tags \
     watchers wiki -",
);
/// The same, where a branch and a path of the repository follow.
const FILE_KINDS: [&str; 5] = words("blob tree raw edit blame");

#[derive(Debug, PartialEq, Eq)]
pub(super) struct HostPage<'l> {
    pub(super) kind: &'l str,
    /// A branch, and a path from the top.
    pub(super) file: Option<(&'l str, &'l str)>,
}

impl HostPage<'_> {
    /// Only links that go up: the pages lie beside the files, not among them.
    pub(super) fn of(link: &str) -> Option<HostPage<'_>> {
        let mut rest = link.strip_prefix("./").unwrap_or(link).strip_prefix("../")?;
        while let Some(further) = rest.strip_prefix("../") {
            rest = further;
        }
        let (kind, behind) = rest.split_once('/').unwrap_or((rest, ""));
        let file = behind.split_once('/').filter(|(_, path)| !path.is_empty());
        match FILE_KINDS.contains(&kind) {
            true => Some(HostPage { kind, file: Some(file?) }),
            // No page of a host has the name of a note.
            false if rest.ends_with(".md") => None,
            false => KINDS.contains(&kind).then_some(HostPage { kind, file: None }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_the_host_are_known_by_their_paths() {
        for (link, expect) in [
            ("../../issues/4", Some(("issues", None))),
            ("../releases", Some(("releases", None))),
            ("../blob/main/src/a.rs", Some(("blob", Some(("main", "src/a.rs"))))),
            ("./../../tree/v1/docs/", Some(("tree", Some(("v1", "docs/"))))),
            ("../blob/main", None),
            ("../blob", None),
            ("issues/4", None),
            ("../issue/4", None),
            ("../wiki/home.md", None),
            ("../src/main/lib.rs", None),
            ("..", None),
        ] {
            let page = HostPage::of(link).map(|HostPage { kind, file }| (kind, file));
            assert_eq!(page, expect, "{link}");
        }
    }
}
