//! The documentation: pages that can be read in one go, links that lead somewhere, and a reference of every command and setting.
//! `KGCTX_WRITE_DOCS=1 cargo test --test it docs` writes the references anew.

mod first_pages;
mod settings;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::Scratch;

const LONGEST_PAGE: usize = 300;
const WIDEST_LINE: usize = 165;
const LONGEST_README: usize = 140;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All pages that people read, with their paths.
fn pages() -> Vec<PathBuf> {
    let markdown = |folder: PathBuf| {
        let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        files.filter(|path| path.extension().is_some_and(|end| end == "md")).collect::<Vec<_>>()
    };
    let folders = [root(), root().join("docs"), root().join("docs/design")];
    let bridges = ["opencode", "amplifier"].map(|name| root().join("bridges").join(name));
    folders.into_iter().chain(bridges).flat_map(markdown).collect()
}

/// A page without its code.
fn prose(text: &str) -> String {
    let mut fence: Option<&str> = None;
    let mut prose = String::new();
    for line in text.lines() {
        let ticks = &line[..line.len() - line.trim_start_matches('`').len()];
        match fence {
            None if ticks.len() >= 3 => fence = Some(ticks),
            Some(open) if line.trim_end() == open => fence = None,
            None => {
                prose.extend(line.split('`').step_by(2));
                prose.push('\n');
            }
            Some(_) => {}
        }
    }
    prose
}

/// The targets of the markdown links of a page.
fn targets(text: &str) -> Vec<String> {
    let prose = prose(text);
    let after = prose.split("](").skip(1);
    after.filter_map(|rest| rest.split_once(')')).map(|(target, _)| target.to_owned()).collect()
}

/// The anchors of a page's headings, as forges make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let anchor = |heading: &str| {
        let kept = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        kept.chars().filter(|c| c.is_alphanumeric() || *c == '-' || *c == '_').collect()
    };
    // Comments in code blocks would only be anchors too many.
    text.lines().filter(|line| line.starts_with('#')).map(anchor).collect()
}

#[test]
fn pages_can_be_read_in_one_go() {
    for page in pages().iter().filter(|page| page.starts_with(root().join("docs"))) {
        let lines = read(page).lines().count();
        assert!(lines <= LONGEST_PAGE, "{} has {lines} lines: split it", page.display());
    }
    let lines = read(&root().join("README.md")).lines().count();
    assert!(lines <= LONGEST_README, "README.md has {lines} lines: move some to docs/");
}

#[test]
fn pages_can_be_read_without_wrapping() {
    let mut wide = Vec::new();
    for page in pages() {
        for (n, line) in read(&page).lines().enumerate() {
            if line.chars().count() > WIDEST_LINE && !line.starts_with('|') {
                wide.push(format!("{}:{}", page.display(), n + 1));
            }
        }
    }
    assert!(wide.is_empty(), "more than {WIDEST_LINE} columns: {wide:#?}");
}

#[test]
fn links_between_pages_lead_somewhere() {
    let mut broken = Vec::new();
    for page in pages() {
        for target in targets(&read(&page)) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let path = match file {
                "" => page.clone(),
                file => page.parent().unwrap().join(file),
            };
            let is_there =
                path.exists() && (anchor.is_empty() || anchors(&read(&path)).contains(anchor));
            if !is_there {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn every_page_can_be_found_from_the_readme() {
    let mut found = BTreeSet::from([root().join("README.md")]);
    let mut next: Vec<PathBuf> = found.iter().cloned().collect();
    while let Some(page) = next.pop() {
        for target in targets(&read(&page)) {
            let file = target.split('#').next().unwrap();
            let Ok(path) = page.parent().unwrap().join(file).canonicalize() else { continue };
            if path.extension().is_some_and(|end| end == "md") && found.insert(path.clone()) {
                next.push(path);
            }
        }
    }
    let pages = pages().into_iter().filter(|page| page.starts_with(root().join("docs")));
    let lost: Vec<PathBuf> = pages.filter(|page| !found.contains(page)).collect();
    assert!(lost.is_empty(), "no page links to {lost:?}");
}

/// Compares a generated part of a page with what stands there, or writes it.
fn check_generated(page: &str, head: &str, generated: &str) {
    let path = root().join("docs").join(page);
    let expected = format!("{head}{generated}");
    if std::env::var_os("KGCTX_WRITE_DOCS").is_some() {
        fs::write(&path, &expected).unwrap();
    }
    let text = read(&path);
    let differing = text.lines().zip(expected.lines()).find(|(is, should)| is != should);
    assert!(
        text == expected,
        "docs/{page} is out of date at {differing:?}; KGCTX_WRITE_DOCS=1 cargo test --test it docs writes it"
    );
}

#[test]
fn every_command_is_documented() {
    let scratch = Scratch::new();
    let commands = scratch.run(["man", "--markdown"]);
    let is_handoff = |section: &&str| section.starts_with("kgctx handoff");
    let sections: Vec<&str> = commands.trim_start_matches("## ").split("\n## ").collect();
    let page = |keep: &dyn Fn(&&str) -> bool| {
        let kept = sections.iter().filter(|section| keep(section));
        kept.map(|section| format!("\n## {}\n", section.trim_end())).collect::<String>()
    };
    let made = "Generated from `--help`, which has more details; `kgctx man COMMAND` prints a manual page.";
    let others = format!(
        "# Commands\n\n{made}\nMost commands take `--json`; its format is in [schema/json](../schema/json). \
         Commands about handoffs have [their own page](commands-handoff.md).\n"
    );
    check_generated("commands.md", &others, &page(&|section| !is_handoff(section)));
    let handoffs = format!(
        "# Commands about handoffs\n\n{made} [Handoffs](handoffs.md) explains how to use them.\n"
    );
    check_generated("commands-handoff.md", &handoffs, &page(&is_handoff));
}
