//! From where the links of a file are seen: the folders in which their targets may be.

use super::super::checked_files::{CheckedFile, CheckedFiles};
use super::super::sites::Sites;
use super::super::tree::{self, Tree};

pub(super) struct View<'f> {
    folder: &'f str,
    /// The folder that the page is on a web site.
    page: &'f str,
    vault: Option<&'f str>,
    /// The folder into which a build copies that of the file.
    copy: Option<String>,
    /// Where the targets of links that begin with `/` may be.
    tops: Vec<&'f str>,
    /// Ends of links, and how the file may end instead.
    pub(super) other_ends: Vec<(&'static str, &'static str)>,
    /// Whether only a site knows what a link without the name of a file means.
    pub(super) has_link_hook: bool,
    /// The folder of the site in which a link may be the name of something, instead of a path.
    pub(super) named_targets: Option<&'f str>,
    /// Whether the end of a page's path is enough.
    pub(super) finds_by_end: bool,
    has_folder_pages: bool,
    /// Whether the site has static files that are not in the repository.
    pub(super) has_foreign_files: bool,
}

impl<'f> View<'f> {
    pub(super) fn new(checked: &'f CheckedFiles<'_>, file: &CheckedFile<'f>) -> View<'f> {
        let vault = file.vault.map(|vault| vault.folder.as_str());
        let tops = [""].into_iter().chain(vault).chain(checked.sites.folders_for(file.path));
        View {
            folder: tree::folder_of(file.path),
            page: match file.is_index() {
                true => tree::folder_of(file.path),
                false => file.path.rsplit_once('.').map_or(file.path, |(page, _)| page),
            },
            vault,
            copy: checked.sites.copy_of(tree::folder_of(file.path)),
            tops: tops.collect(),
            other_ends: checked.sites.other_ends(file.path),
            has_link_hook: checked.sites.has_link_hook(file.path),
            named_targets: checked.sites.named_targets(file.path),
            finds_by_end: checked.sites.finds_by_end(file.path),
            has_folder_pages: checked.sites.has_folder_pages(file.path),
            has_foreign_files: checked.sites.has_foreign_files(file.path),
        }
    }

    /// The paths from the top of the repository that a link may mean; none if it leaves it.
    pub(super) fn paths(&self, sites: &Sites<'_>, link: &str) -> Vec<String> {
        if let Some((rest, folders)) = sites.without_alias(link) {
            return folders.iter().filter_map(|folder| tree::joined(folder, rest)).collect();
        }
        let (folders, relative) = match link.strip_prefix('/') {
            Some(from_top) => (self.tops.clone(), from_top),
            None => {
                // `../b/` in `a.md` leads from the page `a/` to the page `b/`.
                let is_page = self.has_folder_pages || link.ends_with('/');
                let page = Some(self.page).filter(|_| is_page);
                ([self.folder].into_iter().chain(self.vault).chain(page).collect(), link)
            }
        };
        let copy = self.copy.as_deref().filter(|_| !link.starts_with('/'));
        let folders = folders.into_iter().chain(copy);
        let paths = folders.filter_map(|folder| tree::joined(folder, relative));
        paths.map(|path| sites.before_copied(path)).collect()
    }

    /// Whether one of the places for links that begin with `/` has a folder of this name.
    pub(super) fn has_top(&self, tree: &Tree<'_>, name: &str) -> bool {
        let mut folders = self.tops.iter().filter_map(|top| tree::joined(top, name));
        folders.any(|folder| tree.has_folder(&folder))
    }
}
