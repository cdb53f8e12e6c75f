//! Tests of link targets.

use super::super::checked_files::MAX_PER_FILE;
use super::*;
use crate::check::finding::Rule::{AmbiguousLink, DanglingLink, OrphanNote};
use crate::check::rules::tests::TestRepository;

/// A note with this text and some other files.
fn docs(text: &str) -> TestRepository {
    TestRepository::new()
        .with("docs/a.md", text)
        .with("docs/b.md", "# B\n")
        .with("docs/sub/c d.md", "# C\n")
        .with("docs/guide/index.md", "# Guide\n")
        .with_file("src/main.rs")
        .with_file("LICENSE")
        .with_file("docs/image.png")
}

#[test]
fn a_link_to_a_file_that_is_there_is_fine() {
    for text in [
        "[x](b.md) [x](./b.md#part) [x](b) [x](b.md?raw=1)",
        "[x](sub/c%20d.md) [x](<sub/c d.md>)",
        "[x](../src/main.rs#L3) [x](/src/main.rs) [x](/LICENSE) [x](../src) [x](../src/)",
        "[x](../src/main.rs:3) [x](../src/main.rs:3:7)",
        "[x](guide) [x](guide/) [x](/guide/index.md)",
        "![x](image.png) [![x](image.png)](b.md)",
        "[x]\n\n[x]: b.md\n",
        "[x](#part) [x](?q) [x]()",
    ] {
        docs(text).check(DanglingLink, &[]);
    }
}

#[test]
fn what_is_no_link_of_the_repository_is_let_be() {
    for text in [
        "[x](https://x.y/gone.md) <https://x.y> [x](//cdn/x.js) [x](mailto:a@b.c) [x](vscode:x)",
        "[x](../../issues/4) [x](../../../wiki)",
        "`[x](gone.md)` <!-- [x](gone.md) -->\n\n```\n[x](gone.md)\n```\n\n    [x](gone.md)",
        "[x](tower_http::trace) [x](fn@axum::a) [x](crate#part)\n\n[`y`]: `tower::Service`\n",
        "[x](url) [x](...) [x]({{ url }}) [x](${base}/x.md)",
        "[x][undefined] [ ] done \\[x](gone.md)",
        "[[gone]] ![[gone.png]]",
        "[x](/tags/gone) [^1]\n\n[^1]: gone.md\n\n$a[k](gone)$",
    ] {
        docs(text).check(DanglingLink, &[]);
    }
}

#[test]
fn a_link_to_nothing_is_found_where_its_target_is_written() {
    for (text, expect) in [
        ("see [x](gone.md)", "docs/a.md:1:9+7"),
        ("---\ntitle: x\n---\n\nä [gone.md](gone.md#part)", "docs/a.md:5:13+12"),
        ("![x](gone.png 'title')", "docs/a.md:1:6+8"),
        ("[x]\n\n[x]: gone.md", "docs/a.md:3:6+7"),
        ("[x](/gone.md)", "docs/a.md:1:5+8"),
        ("[x](../gone/)", "docs/a.md:1:5+8"),
        ("[x](B.md)", "docs/a.md:1:5+4"),
        ("[x](main.rs)", "docs/a.md:1:5+7"),
        ("- a\n  > [x](gone\\_x.md)", "docs/a.md:2:5+15"),
    ] {
        docs(text).check(DanglingLink, &[expect]);
    }
}

#[test]
fn handoffs_and_static_files_are_looked_at_too() {
    let repository = docs("")
        .with("AGENTS.md", "[x](docs/b.md) [x](b.md)")
        .with(".kgctx/handoffs/h.md", "[x](/docs/b.md) [x](gone.md)")
        .with("src/other.md", "[x](gone.md)");
    repository.check(DanglingLink, &[".kgctx/handoffs/h.md:1:21+7", "AGENTS.md:1:20+4"]);
}

#[test]
fn a_file_that_could_be_meant_is_named() {
    let findings = docs("[x](main.rs) [y](nowhere.md)").of(DanglingLink);
    assert_eq!(findings[0].message, "main.rs does not exist");
    assert_eq!(findings[0].hint, "src/main.rs is there; fix the link, or remove it");
    assert_eq!(findings[1].hint, "fix the link, add the missing file, or remove the link");
    assert_eq!(findings[0].excerpt.as_deref(), Some("[x](main.rs) [y](nowhere.md)"));
}

#[test]
fn a_link_that_begins_at_the_top_is_told_so() {
    let findings = docs("[x](docs/b.md)").of(DanglingLink);
    assert_eq!(findings[0].message, "docs/b.md does not exist");
    let hint = "links start at the file's own folder; write /docs/b.md, or the path from there";
    assert_eq!(findings[0].hint, hint);
    docs("[x](/docs/b.md) [x](path/to/it.md) [x](TODO)").check(DanglingLink, &[]);
}

#[test]
fn addresses_of_the_repositorys_vaults_are_followed() {
    for text in [
        "memory://docs/b, memory://docs/b.md and [x](memory://docs/sub/c%20d)",
        "memory://docs/sub/c d, memory://docs/sub/ and memory://elsewhere/x",
        "memory://tech/x `memory://docs/gone` memory://docs memory://docs/<name>",
    ] {
        docs(text).check(DanglingLink, &[]);
    }
    docs("see memory://docs/gone.").check(DanglingLink, &["docs/a.md:1:5+18"]);
    docs("see [x](memory://docs/gone)").check(DanglingLink, &["docs/a.md:1:9+18"]);
}

#[test]
fn obsidian_finds_notes_as_obsidian_does() {
    let vault = |text: &str| {
        TestRepository::obsidian()
            .with("docs/a.md", text)
            .with("docs/sub/Deep Note.md", "---\naliases: [Deeper]\n---\n# A Title\n")
            .with_file("docs/img/Pic.png")
    };
    for text in [
        "[[deep note]] [[Deep Note.md]] [[sub/deep note]] [[docs/sub/Deep Note]] [[deeper]] [[a title]]",
        "[[Deep Note|shown]] [[Deep Note#part]] [[Deep Note#^block]] [[#own part]] [[Deep Note\\|x]]",
        "![[pic.png]] ![[img/pic.png|200]] [[./sub/Deep Note]]",
        "[x](Deep%20Note.md) ![x](Pic.png)",
        "`[[gone]]` [[{{template}}]] [[sub/|folder]]",
    ] {
        vault(text).check(DanglingLink, &[]);
    }
    vault("[[Links: gone]] [[https://x.y]]").check(DanglingLink, &["docs/a.md:1:1+15"]);
    vault("x [[gone|shown]]\n![[gone.png]]")
        .check(DanglingLink, &["docs/a.md:1:3+14", "docs/a.md:2:2+12"]);
}

#[test]
fn a_link_that_names_its_note_behind_the_label_is_followed() {
    let vault = |text: &str| {
        TestRepository::obsidian()
            .with("docs/a.md", text)
            .with("docs/topic.tags.md", "# Tags\n")
            .with("docs/labels.md", "# Tags\n")
    };
    for text in [
        "[[how to tag|topic.tags]] [[docs|topic.tags#part]] [[Tags|topic.tags]]",
        "[[docs|dendron://site/topic.tags]] [[docs|dendron://elsewhere/gone]]",
        "[[topic.tags|gone]] [[...]] [[label|#part]] [[gone.*]]",
        "[x]([[topic.tags]])",
    ] {
        vault(text).check(DanglingLink, &[]);
        vault(text).check(AmbiguousLink, &[]);
        vault(text).check(OrphanNote, &["docs/labels.md:1:1+0"]);
    }
    vault("[[how to tag|gone]] [[Tags|gone]]").check(DanglingLink, &["docs/a.md:1:1+19"]);
    vault("[[how to tag|gone]] [[Tags|gone]]").check(AmbiguousLink, &["docs/a.md:1:21+13"]);
    // In maenifold's style, the bar is part of the name.
    let repository =
        TestRepository::new().with("docs/a.md", "[[x|tags]]").with("docs/tags.md", "# Tags\n");
    repository.check(OrphanNote, &["docs/a.md:1:1+0", "docs/tags.md:1:1+0"]);
}

#[test]
fn an_address_without_its_scheme_is_told_as_one() {
    let hint = |text: &str| docs(text).of(DanglingLink).first().map(|found| found.hint.clone());
    for address in ["slack.atlas.ai", "docs.rs/serde/latest"] {
        let said = hint(&format!("[x]({address})")).unwrap();
        assert!(said.starts_with(&format!("if this is an address, write https://{address};")));
    }
    for path in ["gone.md", "gone/x.y", "gone.png", "./gone.ai", "Gone.Ai", "gone"] {
        let said = hint(&format!("[x]({path})")).unwrap();
        assert_eq!(said, "fix the link, add the missing file, or remove the link", "{path}");
    }
    assert_eq!(hint("[x](example.com) [x](example.org/x)"), None);
}

#[test]
fn a_name_of_two_notes_is_ambiguous() {
    let notes = |text: &str| {
        TestRepository::new()
            .with("docs/a.md", text)
            .with("docs/x/setup.md", "# One\n")
            .with("docs/y/setup.md", "# Two\n")
            .with("docs/y/other.md", "---\naliases: [two]\n---\n# Else\n")
    };
    notes("ä [[setup]]").check(AmbiguousLink, &["docs/a.md:1:3+9"]);
    notes("[[Setup]] `[[setup]]`").check(AmbiguousLink, &["docs/a.md:1:1+9"]);
    // A title takes precedence over an alias.
    notes("[[two]] [[one]] [[x/setup]] [[nobody]]").check(AmbiguousLink, &[]);
    let message = &notes("[[setup]]").of(AmbiguousLink)[0].message;
    assert_eq!(message, "[[setup]] matches docs/x/setup.md and docs/y/setup.md");
}

#[test]
fn many_notes_of_one_name_are_counted() {
    let mut repository = TestRepository::obsidian().with("docs/a.md", "[[same]]");
    for n in 0..6 {
        repository = repository.with(&format!("docs/{n}/same.md"), &format!("# Title {n}\n"));
    }
    let message = &repository.of(AmbiguousLink)[0].message;
    assert_eq!(
        message,
        "[[same]] matches docs/0/same.md, docs/1/same.md, docs/2/same.md and 3 more"
    );
}

#[test]
fn percent_signs_are_decoded_where_they_can_be() {
    for (text, expect) in
        [("a%20b", "a b"), ("100%", "100%"), ("%zz%4", "%zz%4"), ("%C3%A4", "ä"), ("%FF", "%FF")]
    {
        assert_eq!(resolver::percent_decoded(text), expect);
    }
}

#[test]
fn links_that_are_too_many_to_be_told_are_counted() {
    let text: String = (0..MAX_PER_FILE + 70).map(|n| format!("[x](gone-{n}.md)\n")).collect();
    let findings = TestRepository::new().with("docs/a.md", &text).of(DanglingLink);
    assert_eq!(findings.len(), MAX_PER_FILE + 1);
    let last = findings.last().unwrap();
    assert_eq!(last.message, "from here on, 70 more links in this file lead nowhere");
    assert_eq!(last.spot.line, MAX_PER_FILE + 1);
}

#[test]
fn a_path_in_somebodys_home_is_not_looked_at() {
    docs("[settings](~/.config/kgctx/config.toml)").check(DanglingLink, &[]);
}

#[test]
fn a_page_that_git_ignores_is_built() {
    let repository = |text: &str| {
        docs(text).with(".gitignore", "/site/\n").with("docs/.gitignore", "/settings.md\nrules/\n")
    };
    for text in [
        "[x](settings.md#part) [x](settings) [x](settings.md/#part) [x](rules/unused.md)",
        "[x](../site/) [x](/site/index.html) [x](sub/../rules/)",
    ] {
        repository(text).check(DanglingLink, &[]);
    }
    repository("[x](sub/settings.md)").check(DanglingLink, &["docs/a.md:1:5+15"]);
}

#[test]
fn a_page_of_the_host_is_no_file() {
    for text in [
        "[x](../blob/main/src/main.rs) [x](../../tree/master/src) [x](../blob/main/docs/b.md#part)",
        "[x](../issues/4) [x](../releases) [x](../../wiki) [x](../pull/7/files)",
        "[x](../blob/v1.2/gone.rs) [x](../../../elsewhere/blob/main/gone.rs)",
    ] {
        docs(text).check(DanglingLink, &[]);
    }
    for (text, expect) in [
        ("[x](../blob/main/gone.rs)", "docs/a.md:1:5+20"),
        ("[x](../../blob/master/gone.rs)", "docs/a.md:1:5+25"),
        ("[x](blob/main/src/main.rs)", "docs/a.md:1:5+21"),
        ("[x](../wiki/gone.md)", "docs/a.md:1:5+15"),
    ] {
        docs(text).with_file("wiki/home.md").check(DanglingLink, &[expect]);
    }
    let orphans = ["docs/sub/c d.md:1:1+0"];
    docs("[x](../blob/main/docs/b.md)").check(OrphanNote, &orphans);
}

#[test]
fn where_many_links_lead_nowhere_one_warning_says_so() {
    let repository = |missing: usize, found: usize| {
        let mut repository = TestRepository::new()
            .with("docs/b.md", "[x](gone.md)")
            .with("AGENTS.md", "[x](docs/src/gone.md)");
        for n in 0..5 {
            let links = "[x](./intro)\n".repeat(missing) + &"[x](intro-js.md)\n".repeat(found);
            repository = repository.with(&format!("docs/src/{n}.md"), &links);
        }
        repository.with("docs/src/intro-js.md", "# Intro\n")
    };
    let found = repository(5, 4).of(DanglingLink);
    let places: Vec<&str> = found.iter().map(|found| found.spot.path.as_str()).collect();
    assert_eq!(places, ["AGENTS.md", "docs/b.md", "docs/src/0.md"]);
    assert_eq!(
        found[2].message,
        "25 of 45 links between the notes of docs lead nowhere: kgctx does not know how its site finds pages"
    );
    assert_eq!(found[2].severity, crate::check::finding::Severity::Warn);
    // Mistakes are told one by one.
    assert_eq!(repository(5, 12).of(DanglingLink).len(), 27);
    assert_eq!(repository(3, 0).of(DanglingLink).len(), 17);
    let one_note = "[x](./intro)\n".repeat(30);
    assert_eq!(docs(&one_note).of(DanglingLink).len(), 30);
}

#[test]
fn a_file_below_a_top_folder_that_is_not_there_belongs_to_another_repository() {
    docs("![x](/img/v3/x.png) [x](/downloads/a.zip)").check(DanglingLink, &[]);
    let site = |text: &str| docs(text).with_file("img/y.png").with_file("docs/static/b/y.png");
    site("![x](/img/v3/x.png)").check(DanglingLink, &["docs/a.md:1:6+13"]);
    docs("[x](/gone/x.md)").check(DanglingLink, &["docs/a.md:1:5+10"]);
    docs("![x](/gone.png)").check(DanglingLink, &["docs/a.md:1:6+9"]);
}

#[test]
fn a_name_behind_a_dot_is_no_ending() {
    let repository = |text: &str| docs(text).with_file("api/x.ts");
    repository("[x](/api/deno/~/Deno.serve) [x](/api/web/A.prototype.b) [x](/api/deno/~/A.md)")
        .check(DanglingLink, &[]);
    repository("[x](/api/gone.ts)").check(DanglingLink, &["docs/a.md:1:5+12"]);
}

#[test]
fn a_link_whose_source_stands_beside_it_is_a_sample() {
    docs("- `[x](Gone.md)` appears as [x](Gone.md)").check(DanglingLink, &[]);
    docs("- `[x](Gone.md#part)` appears as [x](Gone.md#part)").check(DanglingLink, &[]);
    docs("`[x](Gone.md)`\nand [x](Gone.md)").check(DanglingLink, &["docs/a.md:2:9+7"]);
    docs("`[x](Other.md)` and [x](Gone.md)").check(DanglingLink, &["docs/a.md:1:25+7"]);
    let vault = |text: &str| TestRepository::obsidian().with("docs/a.md", text);
    vault("`[[Gone]]` is [[Gone]], and {{[[DONE]]}} is a task").check(DanglingLink, &[]);
    vault("`[[Other]]` and [[Gone]]").check(DanglingLink, &["docs/a.md:1:17+8"]);
}

#[test]
fn plugins_of_mkdocs_find_pages_by_their_names() {
    let site = |plugin: &str| {
        TestRepository::new()
            .with("mkdocs.yml", &format!("site_name: x\nplugins:\n  - search\n  - {plugin}\n"))
            .with("docs/tools/deep/git.md", "# Git\n")
            .with("docs/a.md", "[x](git.md#part) [x](gone.md)")
    };
    site("autolinks").check(DanglingLink, &["docs/a.md:1:22+7"]);
    site("minify").check(DanglingLink, &["docs/a.md:1:5+11", "docs/a.md:1:22+7"]);
}
