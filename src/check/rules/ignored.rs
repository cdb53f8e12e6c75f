//! What the `.gitignore` files of a repository name: files that are built, or that are nobody else's
//! business. They may be there, though the repository does not have them.

use std::collections::HashMap;
use std::iter::successors;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::tree::{self, Tree};
use crate::check::repository_file::RepositoryFile;

/// The name of a file with ignore rules for its folder.
pub(crate) const GITIGNORE: &str = ".gitignore";

#[derive(Debug)]
pub(super) struct Ignored<'a> {
    /// The rules by the folder that they are about.
    rules: HashMap<&'a str, Gitignore>,
}

impl<'a> Ignored<'a> {
    pub(super) fn new(files: &'a [RepositoryFile]) -> Ignored<'a> {
        let files = files.iter().filter(|file| tree::name_of(&file.path) == GITIGNORE);
        let rules = files.filter_map(|file| {
            let mut rules = GitignoreBuilder::new("");
            for line in file.text.as_deref()?.lines() {
                // Skips invalid patterns.
                let _ = rules.add_line(None, line);
            }
            Some((tree::folder_of(&file.path), rules.build().ok()?))
        });
        Ignored { rules: rules.collect() }
    }

    /// Whether a missing path is ignored, as a file or as a folder, or lies in an ignored folder.
    pub(super) fn has(&self, tree: &Tree<'_>, path: &str) -> bool {
        // The rules of an inner folder take precedence.
        let mut folder = path;
        while !folder.is_empty() {
            folder = tree::folder_of(folder);
            let below = tree::below(folder, path).filter(|below| !below.is_empty());
            let Some((rules, below)) = self.rules.get(folder).zip(below) else { continue };
            let above = path.len() - below.len();
            let places = successors(Some(below), |place| Some(tree::folder_of(place)));
            // A folder with files that were added all the same is not ignored as a whole.
            let places = places.take_while(|place| {
                !place.is_empty() && !tree.has_folder(&path[..above + place.len()])
            });
            for (place, is_folder) in [(below, false)].into_iter().chain(places.map(|p| (p, true)))
            {
                match rules.matched(place, is_folder) {
                    Match::Ignore(_) => return true,
                    Match::Whitelist(_) => return false,
                    Match::None => {}
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::time::Timestamp;

    #[test]
    fn the_innermost_rule_decides() {
        let file = |path: &str, text: &str| RepositoryFile {
            path: path.to_owned(),
            text: Some(text.to_owned()),
            modified: Timestamp(0),
        };
        let files = [
            file(".gitignore", "# built\n/site/\n*.log\n[\nnode_modules\nassets\n"),
            file("docs/.gitignore", "/settings.md\nrules/\n!kept.log\n"),
            file("docs/assets/added.png", ""),
        ];
        let ignored = Ignored::new(&files);
        let tree = Tree::new(&files, &[]);
        for path in [
            "site",
            "site/a/b.html",
            "a/x.log",
            "docs/x.log",
            "docs/settings.md",
            "docs/rules/deep/x.md",
            "docs/rules",
            "web/node_modules/x/README.md",
            "docs/assets/sub/x.log",
            "web/assets/x.png",
        ] {
            assert!(ignored.has(&tree, path), "{path}");
        }
        for path in [
            "",
            "a.md",
            "a/site/x",
            "docs/kept.log",
            "docs/sub/settings.md",
            "settings.md",
            "docs/assets/gone.png",
            "docs/assets/sub/gone.png",
        ] {
            assert!(!ignored.has(&tree, path), "{path}");
        }
    }
}
