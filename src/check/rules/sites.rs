//! The web sites of a repository: which folders have the pages and the static files of a site, told
//! by the configuration of its generator. Reads configurations as text: some are programs.

pub(super) mod addresses;
mod copied;
pub(super) mod navigation;
mod toctree;

use std::collections::HashMap;

use super::pattern;
use super::tree::{self, Tree};
use crate::check::repository_file::RepositoryFile;
use addresses::Naming;
use copied::Copied;

/// How the sites of a generator are laid out. All paths are seen from the site's folder.
struct Generator {
    /// Its configurations; `*` stands for any end of the name.
    configurations: &'static [&'static str],
    /// A folder that such a site has: other programs have a file of that name, too.
    needs: &'static str,
    /// A word that such a configuration has: other programs have a file of that name, too.
    says: &'static str,
    /// The setting that names a folder of pages, and the usual folders.
    pages_setting: &'static str,
    pages: &'static [&'static str],
    /// Folders of files that are served as they are.
    assets: &'static [&'static str],
    /// How a link begins that is seen from a folder, and that folder.
    alias: Option<(&'static str, &'static str)>,
    /// Files that list pages, beside the configuration or in a folder of pages; `*` as above.
    navigation: &'static [&'static str],
    /// The word without which the navigation lists all pages by itself.
    navigation_setting: &'static str,
    /// Folders of which the site lists all pages.
    listed: &'static [&'static str],
    /// Where the site has a page, beside its path.
    naming: Naming,
    /// Ends of links, and how the file may end instead.
    other_ends: &'static [(&'static str, &'static str)],
    /// The file with which a site gives links a meaning of its own.
    link_hook: Option<&'static str>,
    /// Whether a link may be the name of something in any page or program, instead of a path. Pages are then listed by
    /// other pages.
    has_named_targets: bool,
    /// Plugins, as a configuration lists them, that find a page by the end of its path.
    finders: &'static [&'static str],
    /// Whether `../b` in `a.md` leads from the page `a/` to the page `b/`.
    has_folder_pages: bool,
    /// Whether a page makes the site known, whose configuration is elsewhere: so are its static files.
    is_known_by_page: bool,
}

const PLAIN: Generator = Generator {
    configurations: &[],
    needs: "",
    says: "",
    pages_setting: "",
    pages: &[""],
    assets: &[],
    alias: None,
    navigation: &[],
    navigation_setting: "",
    listed: &[],
    naming: Naming::Path,
    other_ends: &[],
    link_hook: None,
    has_named_targets: false,
    finders: &[],
    has_folder_pages: false,
    is_known_by_page: false,
};

/// MkDocs, Docusaurus, mdBook, Zola and Hugo, pages for Hugo, Astro, VitePress and VuePress, Jekyll, Next.js, docsify, Sphinx,
/// Mintlify, Lume.
static GENERATORS: [Generator; 13] = [
    Generator {
        configurations: &["mkdocs.yml", "mkdocs.yaml", "mkdocs.*", "zensical.toml"],
        pages_setting: "docs_dir",
        pages: &["docs"],
        navigation: &["mkdocs.*", "zensical.toml"],
        navigation_setting: "nav",
        finders: &["- autolinks", "- ezlinks", "- roamlinks"],
        ..PLAIN
    },
    Generator {
        configurations: &["docusaurus.config.*"],
        pages_setting: "path",
        pages: &["docs"],
        assets: &["static"],
        alias: Some(("@site/", "")),
        navigation: &["sidebars.*"],
        navigation_setting: "sidebarPath",
        listed: &["blog"],
        naming: Naming::Id,
        ..PLAIN
    },
    Generator {
        configurations: &["book.toml"],
        pages_setting: "src",
        pages: &["src"],
        navigation: &["SUMMARY.md"],
        other_ends: &[("index.md", "README.md")],
        ..PLAIN
    },
    Generator {
        configurations: &["config.toml", "zola.toml", "hugo.*", "config.yaml", "config.yml"],
        needs: "content",
        pages: &["content"],
        listed: &["content", "archetypes"],
        assets: &["static", "assets"],
        alias: Some(("@/", "content")),
        link_hook: Some("_markup/render-link.html"),
        naming: Naming::Folded,
        has_folder_pages: true,
        ..PLAIN
    },
    Generator {
        configurations: &["_index.md"],
        listed: &[""],
        naming: Naming::Folded,
        has_folder_pages: true,
        is_known_by_page: true,
        ..PLAIN
    },
    Generator {
        configurations: &["astro.config.*"],
        pages: &["src/content/docs", "src/content", "src/pages"],
        assets: &["public"],
        navigation: &["astro.config.*"],
        other_ends: &[(".md", ".mdx")],
        ..PLAIN
    },
    Generator {
        configurations: &[".vitepress/config*", ".vuepress/config*"],
        pages_setting: "srcDir",
        assets: &["public", ".vuepress/public"],
        navigation: &[".vitepress/config*", ".vuepress/config*"],
        ..PLAIN
    },
    Generator {
        configurations: &["_config.yml"],
        navigation: &["_data/*.yml"],
        listed: &["_posts"],
        naming: Naming::Permalink,
        ..PLAIN
    },
    Generator {
        configurations: &["next.config.*"],
        pages: &["pages", "content", "src/pages", "src/content"],
        assets: &["public"],
        ..PLAIN
    },
    Generator { configurations: &["_sidebar.md"], navigation: &["_sidebar.md"], ..PLAIN },
    Generator {
        configurations: &["conf.py"],
        says: "sphinx",
        navigation: &["index.rst"],
        has_named_targets: true,
        ..PLAIN
    },
    Generator {
        configurations: &["docs.json", "mint.json"],
        says: "\"navigation\"",
        navigation: &["docs.json", "mint.json"],
        ..PLAIN
    },
    Generator {
        configurations: &["_config.ts", "_config.js"],
        says: "lume",
        has_folder_pages: true,
        ..PLAIN
    },
];

pub(super) struct Site<'a> {
    generator: &'static Generator,
    /// The folder of the configuration.
    folder: &'a str,
    /// The text of the configuration, if it was read.
    text: &'a str,
    /// Folders of pages, from the top of the repository.
    pages: Vec<String>,
    assets: Vec<String>,
    has_link_hook: bool,
}

pub(super) struct Sites<'a> {
    sites: Vec<Site<'a>>,
    files: &'a [RepositoryFile],
    copied: Vec<Copied>,
}

impl<'a> Sites<'a> {
    pub(super) fn new(files: &'a [RepositoryFile], tree: &Tree<'_>) -> Sites<'a> {
        let of_file = |file: &'a RepositoryFile| {
            GENERATORS.iter().filter_map(|generator| Site::new(generator, file, tree))
        };
        let mut sites: Vec<Site<'_>> = files.iter().flat_map(of_file).collect();
        keep_outermost(&mut sites);
        let mut sites = Sites { sites, files, copied: Vec::new() };
        sites.copied = sites.find_copied(tree);
        sites
    }

    /// The folders in which a link that begins with `/` may find its file: those of the sites
    /// around the linking file first.
    pub(super) fn folders_for(&self, file: &str) -> impl Iterator<Item = &str> {
        let (around, others): (Vec<&Site<'_>>, _) =
            self.sites.iter().partition(|site| tree::below(site.folder, file).is_some());
        around.into_iter().rev().chain(others).flat_map(|site| {
            let folders = site.pages.iter().chain(&site.assets).map(String::as_str);
            folders.chain([site.folder])
        })
    }

    /// What follows the name of a folder at the start of a link, and these folders; `None` if the
    /// link does not begin like that. No folder is known where another program gives that name its
    /// meaning.
    pub(super) fn without_alias<'l>(&self, link: &'l str) -> Option<(&'l str, Vec<String>)> {
        let aliases = || GENERATORS.iter().filter_map(|generator| generator.alias);
        let (alias, _) = aliases().find(|(alias, _)| link.starts_with(alias))?;
        let folders = self.sites.iter().filter_map(|site| {
            let (_, folder) = site.generator.alias.filter(|(own, _)| *own == alias)?;
            tree::joined(site.folder, folder)
        });
        Some((&link[alias.len()..], folders.collect()))
    }

    fn around(&self, file: &str) -> impl Iterator<Item = &Site<'a>> {
        self.sites.iter().filter(move |site| tree::below(site.folder, file).is_some())
    }

    /// Ends of links from this file, and how the file that they lead to may end instead.
    pub(super) fn other_ends(&self, file: &str) -> Vec<(&'static str, &'static str)> {
        self.around(file).flat_map(|site| site.generator.other_ends).copied().collect()
    }

    /// Whether a site gives the links of this file a meaning of its own.
    pub(super) fn has_link_hook(&self, file: &str) -> bool {
        self.around(file).any(|site| site.has_link_hook)
    }

    /// Whether the file is a page that is a folder to others.
    pub(super) fn has_folder_pages(&self, file: &str) -> bool {
        let mut sites = self.around(file).filter(|site| site.generator.has_folder_pages);
        sites.any(|site| site.pages.iter().any(|pages| tree::below(pages, file).is_some()))
    }

    /// Whether the site around this file has static files that are not in the repository.
    pub(super) fn has_foreign_files(&self, file: &str) -> bool {
        self.around(file).any(|site| site.generator.is_known_by_page)
    }

    /// Whether the end of a page's path is enough in links of this file.
    pub(super) fn finds_by_end(&self, file: &str) -> bool {
        let mut finders = self
            .around(file)
            .flat_map(|site| site.generator.finders.iter().map(move |finder| (site.text, finder)));
        finders.any(|(text, finder)| text.contains(finder))
    }

    /// The folder of the site in which a link from this file may be the name of something, instead of a path.
    pub(super) fn named_targets(&self, file: &str) -> Option<&str> {
        let mut sites = self.around(file).filter(|site| site.generator.has_named_targets);
        sites.next().map(|site| site.folder)
    }

    /// Whether the file is a page that somebody reads who need not know the repository.
    pub(super) fn is_page(&self, file: &str) -> bool {
        let mut pages = self.sites.iter().flat_map(|site| &site.pages);
        pages.any(|folder| tree::below(folder, file).is_some())
    }
}

impl<'a> Site<'a> {
    fn new(
        generator: &'static Generator,
        file: &'a RepositoryFile,
        tree: &Tree<'_>,
    ) -> Option<Site<'a>> {
        let mut configurations = generator.configurations.iter();
        let folder = configurations.find_map(|pattern| folder_before(pattern, &file.path))?;
        let from_top = |path: &str| tree::joined(folder, path);
        let needed = from_top(generator.needs)?;
        if !generator.needs.is_empty() && !tree.has_folder(&needed) {
            return None;
        }
        let text = file.text.as_deref().unwrap_or_default();
        if !text.contains(generator.says) {
            return None;
        }
        let named = values(text, generator.pages_setting).filter_map(from_top);
        let pages = named.chain(generator.pages.iter().filter_map(|path| from_top(path)));
        let pages = pages.filter(|path| tree.has_folder(path)).collect();
        let assets = generator.assets.iter().filter_map(|path| from_top(path)).collect();
        let hook = generator.link_hook.and_then(|hook| tree.ending_with(hook));
        let has_link_hook = hook.is_some_and(|hook| tree::below(folder, hook).is_some());
        Some(Site { generator, folder, text, pages, assets, has_link_hook })
    }
}

/// Removes sites that a page below another such site makes known: there is one in every folder.
fn keep_outermost(sites: &mut Vec<Site<'_>>) {
    let mut outer: HashMap<&str, bool> = HashMap::new();
    for site in sites.iter().filter(|site| site.generator.has_folder_pages) {
        *outer.entry(site.folder).or_default() |= !site.generator.is_known_by_page;
    }
    sites.retain(|site| {
        let mut above = std::iter::successors(Some(site.folder), |folder| {
            (!folder.is_empty()).then(|| tree::folder_of(folder))
        });
        let is_own = above.next().is_some_and(|folder| outer.get(folder) == Some(&true));
        !site.generator.is_known_by_page
            || !is_own && !above.any(|folder| outer.contains_key(folder))
    });
}

/// Whether the rules read this file to know a site and its pages.
pub(super) fn is_read(path: &str) -> bool {
    let is_named = |pattern: &&str| folder_before(pattern, path).is_some();
    GENERATORS.iter().any(|generator| {
        let has_settings = !generator.pages_setting.is_empty() || !generator.says.is_empty();
        generator.navigation.iter().any(is_named)
            || has_settings && generator.configurations.iter().any(is_named)
    })
}

/// The folder above a path that ends like this; `*` stands for any end of the name.
fn folder_before<'p>(pattern: &str, path: &'p str) -> Option<&'p str> {
    let (start, is_open) = match pattern.strip_suffix('*') {
        Some(start) => (start, true),
        None => (pattern, false),
    };
    let is_pattern = start.contains('*');
    let parts = start.matches('/').count() + 1;
    let at = path.rmatch_indices('/').nth(parts - 1).map_or(0, |(at, _)| at + 1);
    let end = &path[at..];
    let fits = match is_open {
        _ if is_pattern => pattern::fits(pattern, end),
        true => end.starts_with(start),
        false => end == start,
    };
    fits.then(|| path[..at].trim_end_matches('/'))
}

/// The values of a setting in any of the usual notations: `key: value`, `key = "value"`.
fn values<'t>(text: &'t str, key: &'t str) -> impl Iterator<Item = &'t str> {
    let is_part = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    let found = text.match_indices(key).filter(move |_| !key.is_empty());
    found.filter_map(move |(at, _)| {
        let rest = text[at + key.len()..].trim_start_matches(['"', '\'']).trim_start();
        let value = rest.strip_prefix([':', '=']).filter(|_| !text[..at].ends_with(is_part))?;
        let value = value.lines().next()?.trim_start();
        match value.strip_prefix(['"', '\'']) {
            Some(quoted) => quoted.split(['"', '\'']).next(),
            None => value.split([',', '#', ' ', '}']).next(),
        }
    })
}

#[cfg(test)]
mod tests;
