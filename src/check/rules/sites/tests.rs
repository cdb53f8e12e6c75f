//! Tests of sites: their links, and the pages that they list.

use super::*;
use crate::check::finding::Rule::{DanglingLink, OrphanNote, StaleNote};
use crate::check::rules::tests::TestRepository;

#[test]
fn a_configuration_is_known_by_its_name() {
    for (pattern, path, folder) in [
        ("book.toml", "book.toml", Some("")),
        ("book.toml", "a/b/book.toml", Some("a/b")),
        ("book.toml", "a/mybook.toml", None),
        ("mkdocs.*", "web/mkdocs.en.yml", Some("web")),
        (".vitepress/config*", "docs/.vitepress/config.ts", Some("docs")),
        (".vitepress/config*", ".vitepress/config.mts", Some("")),
        (".vitepress/config*", "docs/config.ts", None),
    ] {
        assert_eq!(folder_before(pattern, path), folder, "{pattern} {path}");
    }
}

#[test]
fn a_setting_is_read_in_any_notation() {
    for text in [
        "docs_dir: docs/en",
        "docs_dir : 'docs/en' # here",
        "[book]\ndocs_dir = \"docs/en\"\n",
        "a: { \"docs_dir\": \"docs/en\", b: 1 }",
        "{docs_dir:docs/en}",
    ] {
        assert_eq!(values(text, "docs_dir").collect::<Vec<_>>(), ["docs/en"], "{text}");
    }
    assert_eq!(values("my_docs_dir: x\ndocs_dir_of: x\ndocs_dir", "docs_dir").count(), 0);
    assert_eq!(values("x: y", "").count(), 0);
}

/// A repository whose sites find these files.
fn sites(text: &str) -> TestRepository {
    TestRepository::new()
        .with("docs/a.md", text)
        .with("docs/guide/b.md", "# B\n")
        .with("docs/page.mdx", "# Page\n")
        .with("docs/content/c.md", "# C\n")
        .with_file("docs/static/logo.png")
        .with_file("web/static/img/x.png")
        .with_file("web/docusaurus.config.js")
        .with_file("docs/config.toml")
        .with_file("docs/astro.config.mjs")
        .with_file("web/docs/d.mdx")
}

#[test]
fn a_link_is_followed_as_its_site_does() {
    for text in [
        "[x](/img/x.png) [x](/logo.png) [x](/guide/b) [x](@/c.md#part) [x](@site/docs/d.mdx)",
        "[x](guide/b.html) [x](/guide/b.html#part) [x](page.md)",
        "[x](api/struct.Built.html) [x](/api/index.html)",
    ] {
        sites(text).check(DanglingLink, &[]);
    }
    for (text, expect) in [
        ("[x](@/gone.md)", "docs/a.md:1:5+9"),
        ("[x](@site/docs/gone.mdx)", "docs/a.md:1:5+19"),
        ("[x](guide/gone.html)", "docs/a.md:1:5+15"),
        ("[x](/img/gone.png)", "docs/a.md:1:5+13"),
        ("[x](gone.mdx)", "docs/a.md:1:5+8"),
    ] {
        sites(text).check(DanglingLink, &[expect]);
    }
}

#[test]
fn a_book_and_a_site_with_a_hook_have_links_of_their_own() {
    let book = |text: &str| {
        TestRepository::new()
            .with("docs/src/a.md", text)
            .with("docs/src/README.md", "# Start\n")
            .with_file("docs/book.toml")
    };
    book("[x](index.md)").check(DanglingLink, &[]);
    book("[x](sub/index.md)").check(DanglingLink, &["docs/src/a.md:1:5+12"]);
    sites("[x](index.md)")
        .with("docs/README.md", "# Start\n")
        .check(DanglingLink, &["docs/a.md:1:5+8"]);
    let hooked = |text: &str| sites(text).with_file("docs/layouts/_markup/render-link.html");
    hooked("[x](g) [x](methods/gone/)").check(DanglingLink, &[]);
    hooked("[x](gone.md)").check(DanglingLink, &["docs/a.md:1:5+7"]);
    sites("[x](g)").check(DanglingLink, &["docs/a.md:1:5+1"]);
}

#[test]
fn in_sphinx_a_link_may_be_a_name() {
    let sphinx = |text: &str| {
        sites(text)
            .with("docs/conf.py", "extensions = ['sphinx.ext.autodoc', 'myst_parser']\n")
            .with("docs/index.md", "```{toctree}\n:glob:\n\nguide/*\nA <a>\n```\n")
    };
    sphinx("[x](label) [](2.16_changes) [x](app.models.Page.title)").check(DanglingLink, &[]);
    sphinx("[x](api/classes/page.Page)").check(DanglingLink, &[]);
    sphinx("[x](llms.txt) [x](guide/b.html.md)").check(DanglingLink, &[]);
    for (text, expect) in [
        ("[x](gone.md)", "docs/a.md:1:5+7"),
        ("![x](gone.png)", "docs/a.md:1:6+8"),
        ("[x](../guide/gone)", "docs/a.md:1:5+13"),
        ("[x](guide/gone)", "docs/a.md:1:5+10"),
        ("[x](guide/gone.html.md)", "docs/a.md:1:5+18"),
    ] {
        sphinx(text).check(DanglingLink, &[expect]);
    }
    // A `conf.py` alone is no site.
    sites("[x](label)")
        .with("docs/conf.py", "DEBUG = True\n")
        .check(DanglingLink, &["docs/a.md:1:5+5"]);
}

#[test]
fn in_sphinx_pages_list_pages() {
    let sphinx = |path: &str, listing: &str| {
        pages(path, listing).with("docs/conf.py", "extensions = ['sphinx.ext.autodoc']\n")
    };
    let rst = "Start\n=====\n\n.. toctree::\n\n   one\n   deep/*\n";
    sphinx("docs/index.rst", rst).check(OrphanNote, &[]);
    let markdown = "# All\n\n```{toctree}\none\nThree <deep/three>\n```\n\ndeep/two words\n";
    sphinx("docs/tied.md", markdown)
        .check(OrphanNote, &["docs/deep/two words.md:1:1+0", "docs/tied.md:1:1+0"]);
}

#[test]
fn a_link_with_a_slash_at_its_end_may_start_from_the_page() {
    sites("[x](../guide/) [x](../guide/b/#part)").check(DanglingLink, &[]);
    sites("[x](../guide/b)").check(DanglingLink, &["docs/a.md:1:5+10"]);
    sites("[x](../guide/gone/)").check(DanglingLink, &["docs/a.md:1:5+14"]);
}

#[test]
fn an_alias_of_another_program_is_let_be() {
    let repository = TestRepository::new().with("docs/a.md", "[x](@/gone.md) [x](@site/gone.md)");
    repository.check(DanglingLink, &[]);
    // A `config.toml` alone is no site.
    let repository =
        TestRepository::new().with_file("config.toml").with("docs/a.md", "[x](@/a.md)");
    repository.check(DanglingLink, &[]);
}

/// Two pages without a tie, and a navigation.
fn pages(path: &str, navigation: &str) -> TestRepository {
    TestRepository::new()
        .with("docs/one.md", "# One\n")
        .with("docs/deep/two words.md", "# Two\n")
        .with("docs/deep/three.md", "# Three\n")
        .with("docs/tied.md", "[x](index.md)")
        .with("docs/index.md", "# Start\n")
        .with(path, navigation)
}

#[test]
fn a_page_that_the_navigation_lists_is_no_orphan() {
    for (path, navigation) in [
        (
            "mkdocs.yml",
            "docs_dir: docs\nnav:\n  - One: one.md\n  - Bird's eye: 'deep/two words.md'\n  - deep/three.md # new\n",
        ),
        ("mkdocs.yml", "site_name: all pages are listed\n"),
        ("zensical.toml", "nav = [\"one.md\", { Two = \"deep/two words.md\" }, \"deep/three.md\"]"),
        (
            "docs/.vitepress/config.ts",
            "sidebar: [{ link: '/one' }, { link: \"/deep/two words\" }, { link: `/deep/three.html` }]",
        ),
    ] {
        pages(path, navigation).check(OrphanNote, &[]);
    }
    for (path, navigation) in [
        ("mkdocs.yml", "nav:\n  - One: one.md\n  - deep/two words.md\n"),
        ("docs/mkdocs.yml", "docs_dir: .\nnav: [one.md, 'deep/two words.md', 'three.md']\n"),
    ] {
        pages(path, navigation).check(OrphanNote, &["docs/deep/three.md:1:1+0"]);
    }
}

#[test]
fn sidebars_name_pages_or_whole_folders() {
    let all = ["docs/deep/three.md:1:1+0", "docs/deep/two words.md:1:1+0", "docs/one.md:1:1+0"];
    for (sidebar, expect) in [
        ("export default { docs: ['one', {id: 'deep/two words'}, \"deep/three\"] };", &all[..0]),
        ("{ docs: [{ type: 'autogenerated', dirName: '.' }] }", &all[..0]),
        ("{ docs: [{ type: 'autogenerated', dirName: 'deep' }] }", &all[2..]),
        ("{ docs: ['deep/two words'] }", &[all[0], all[2]]),
    ] {
        let partial = pages("docs/_part.mdx", "# Part\n");
        let partial = partial.with("website/sidebars.ts", sidebar);
        let repository = partial.with(
            "website/docusaurus.config.ts",
            "docs: { path: '../docs', sidebarPath: './sidebars.ts' }",
        );
        repository.check(OrphanNote, expect);
    }
}

#[test]
fn a_summary_lists_the_pages_of_a_book() {
    let book = || {
        pages("docs/book/src/SUMMARY.md", "- [One](one.md)\n- [Two](<./deep/two.md>)\n")
            .with("docs/book/book.toml", "[book]\nsrc = \"src\"\n")
            .with("docs/book/src/one.md", "# One\n")
            .with("docs/mkdocs.yml", "docs_dir: .\n")
    };
    book().check(OrphanNote, &[]);
}

#[test]
fn docusaurus_pages_have_names_of_their_own() {
    let site = |text: &str| {
        TestRepository::new()
            .with("docs/docs/api/a.md", text)
            .with("docs/docs/api/get-a-list.api.mdx", "---\nid: get-a-list\n---\n# List\n")
            .with("docs/docs/02-guide/01-first.md", "---\nslug: \"/start\"\n---\n# First\n")
            .with("docs/old_versioned_docs/version-1/api/b.api.mdx", "---\nid: b\n---\n# B\n")
            .with("docs/old_versioned_docs/version-1/api/c.md", "[x](./b) [x](./b.api.mdx)")
            .with_file("docs/docusaurus.config.js")
    };
    site("[x](./get-a-list) [x](get-a-list#part) [x](../guide/first) [x](../start)")
        .check(DanglingLink, &[]);
    site("[x](./get-a-map)").check(DanglingLink, &["docs/docs/api/a.md:1:5+11"]);
    // Without the site, a name is no path.
    let mut plain = site("[x](./get-a-list)");
    plain.files.pop();
    plain.check(
        DanglingLink,
        &["docs/docs/api/a.md:1:5+12", "docs/old_versioned_docs/version-1/api/c.md:1:5+3"],
    );
}

#[test]
fn a_page_tells_that_its_folder_is_for_hugo() {
    let tree = |text: &str| {
        TestRepository::new()
            .with("docs/sources/guide/a.md", text)
            .with("docs/sources/guide/Rules-Of-Two.md", "---\naliases: [../old/]\n---\n# Two\n")
            .with("docs/sources/guide/_index.md", "[x](rules-of-two/)")
            .with("docs/plain/_b.md", "# B\n")
            .with_file("docs/sources/guide/x.svg")
    };
    let hugo = |text: &str| tree(text).with("docs/sources/_index.md", "# Start\n");
    for text in [
        "![x](../x.svg) [x](../rules-of-two) [x](../rules-of-two/) [x](../../old/)",
        "[x](/media/x.svg) [x](/blog/v1.4.0-is-out/)",
    ] {
        hugo(text).check(DanglingLink, &[]);
    }
    for (text, expect) in [
        ("[x](../../x.svg)", "docs/sources/guide/a.md:1:5+11"),
        ("[x](../gone)", "docs/sources/guide/a.md:1:5+7"),
        ("[x](/guide/gone.md)", "docs/sources/guide/a.md:1:5+14"),
    ] {
        hugo(text).check(DanglingLink, &[expect]);
    }
    hugo("# A\n").check(OrphanNote, &["docs/plain/_b.md:1:1+0"]);
    // Outside of such a folder, a page is none.
    hugo("# A\n")
        .with("docs/plain/c.md", "[x](../_b)")
        .check(DanglingLink, &["docs/plain/c.md:1:5+5"]);
}

#[test]
fn of_the_sites_that_pages_tell_only_the_outermost_counts() {
    let repository = TestRepository::new()
        .with("docs/a/_index.md", "")
        .with("docs/a/b/c/_index.md", "")
        .with("docs/z/_index.md", "")
        .with("web/content/_index.md", "")
        .with_file("web/hugo.toml");
    let tree = Tree::new(&repository.files, &[]);
    let sites = Sites::new(&repository.files, &tree);
    let folders: Vec<&str> = sites.sites.iter().map(|site| site.folder).collect();
    assert_eq!(folders, ["docs/a", "docs/z", "web"]);
}

#[test]
fn jekyll_lists_posts_and_what_its_data_name() {
    let repository = TestRepository::new()
        .with("docs/_config.yml", "title: x\n")
        .with(
            "docs/_data/docs_nav.yml",
            "- title: A\n  docs:\n    - link: /docs/setup/\n    - link: /docs/own/\n",
        )
        .with("docs/_docs/install.md", "---\npermalink: /docs/setup/\n---\n# Install\n")
        .with("docs/_docs/own.md", "# Own\n")
        .with("docs/_docs/lost.md", "# Lost\n")
        .with("docs/_posts/2026-01-01-hello.md", "# Hello\n");
    repository.check(OrphanNote, &["docs/_docs/lost.md:1:1+0"]);
}

#[test]
fn mintlify_lists_pages_in_its_settings() {
    let listing = r#"{ "navigation": { "pages": ["one", "deep/two words", "deep/three"] } }"#;
    pages("docs/docs.json", listing).check(OrphanNote, &[]);
    pages("docs/mint.json", r#"{ "navigation": ["one", "deep/three"] }"#)
        .check(OrphanNote, &["docs/deep/two words.md:1:1+0"]);
}

#[test]
fn hugo_lists_all_pages_of_its_content() {
    TestRepository::new()
        .with("docs/src/config.toml", "baseURL = \"\"\n")
        .with("docs/src/content/_index.md", "# Start\n")
        .with("docs/src/content/addons/a.md", "# A\n")
        .with("docs/src/archetypes/default.md", "+++\n+++\n")
        .with("docs/b.md", "# B\n")
        .check(OrphanNote, &["docs/b.md:1:1+0"]);
}

#[test]
fn a_book_lists_pages_that_its_build_copies() {
    let book = |page: &str, note: &str, summary: &str| {
        TestRepository::new()
            .with("docs/manual/SUMMARY.md", summary)
            .with("docs/manual/use/a.md", page)
            .with("docs/notes/b.md", note)
            .with_file("docs/manual/book.toml")
            .with("docs/manual/book.toml", "[book]\nsrc = \".\"\n")
    };
    let summary = "- [A](use/a.md)\n- [B](notes/b.md)\n";
    book("[x](../notes/b.md#part)", "[x](../use/a.md)", summary).check(DanglingLink, &[]);
    book("[x](../notes/c.md)", "[x](../use/c.md)", summary)
        .check(DanglingLink, &["docs/manual/use/a.md:1:5+13", "docs/notes/b.md:1:5+11"]);
    book("[x](../notes/b.md)", "", "- [A](use/a.md)\n")
        .check(DanglingLink, &["docs/manual/use/a.md:1:5+13"]);
}

#[test]
fn lume_makes_a_folder_of_a_page() {
    let page = |text: &str| {
        TestRepository::new()
            .with("_config.ts", "import lume from \"lume/mod.ts\";\n")
            .with("docs/classic/a.md", text)
            .with_file("docs/classic/images/x.png")
            .with_file("api/x.ts")
    };
    page("![x](../images/x.png) ![x](images/x.png) `api/gone.ts`").check(DanglingLink, &[]);
    page("![x](../images/y.png)").check(DanglingLink, &["docs/classic/a.md:1:6+15"]);
    page("Open `api/gone.ts`.").check(StaleNote, &[]);
}
