//! The page that `kgctx explain --html` writes, as text.

use std::fs;

use crate::support::Scratch;
use crate::support::explained_page::{concepts, explained, hostile_project, run_in};

/// Every element that a page has.
const ELEMENTS: &str = "html head meta title style body header main footer section h1 h2 p span strong b bdi code time \
    dl dt dd div ul li figure figcaption details summary table caption thead tbody tr th td svg desc g path circle text";

/// A tag of a page: its name and its attributes. A closing one has a `/` before its name.
#[derive(Debug)]
struct Tag {
    name: String,
    attributes: Vec<(String, String)>,
}

/// Reads a page's tags, as strictly as this program writes them; anything else is an error.
fn tags(page: &str) -> Vec<Tag> {
    let mut tags = Vec::new();
    let mut rest = page.strip_prefix("<!DOCTYPE html>").unwrap();
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '/').unwrap();
        let mut tag = Tag { name: rest[..end].to_owned(), attributes: Vec::new() };
        assert!(tag.name.len() > usize::from(tag.name.starts_with('/')), "a stray < before {rest}");
        rest = &rest[end..];
        while let Some(attribute) = rest.strip_prefix(' ') {
            let (name, value) = attribute.split_once("=\"").unwrap();
            let (value, after) = value.split_once('"').unwrap();
            assert!(name.bytes().all(|b| b.is_ascii_alphabetic() || b == b'-'), "{name}");
            tag.attributes.push((name.to_owned(), value.to_owned()));
            rest = after;
        }
        rest = rest.strip_prefix('>').unwrap_or_else(|| panic!("an open {tag:?}"));
        if tag.name == "style" {
            rest = &rest[rest.find("</style>").unwrap()..];
        }
        tags.push(tag);
    }
    tags
}

#[track_caller]
fn assert_well_nested(tags: &[Tag]) {
    let mut open: Vec<&str> = Vec::new();
    for Tag { name, .. } in tags {
        match name.strip_prefix('/') {
            Some(closed) => assert_eq!(open.pop(), Some(closed)),
            None if name == "meta" => {}
            None => open.push(name),
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn a_page_needs_nothing_but_itself() {
    let (scratch, project) = hostile_project();
    let (explanation, path) = explained(&scratch, &project);
    let page = fs::read_to_string(&path).unwrap();
    let tags = tags(&page);
    assert_well_nested(&tags);

    for Tag { name, attributes } in &tags {
        let known = name.trim_start_matches('/');
        assert!(ELEMENTS.split_whitespace().any(|element| element == known), "{name}");
        for (attribute, value) in attributes {
            let is_harmless = !attribute.starts_with("on")
                && !["src", "href", "srcset", "action", "data"].contains(&attribute.as_str());
            assert!(is_harmless, "{name} has {attribute}");
            assert!(attribute != "style" || value.starts_with("width:"), "{value}");
        }
    }
    let policy =
        tags.iter().flat_map(|tag| &tag.attributes).find(|(_, v)| v.contains("-src")).unwrap();
    assert_eq!(policy.1, "default-src 'none'; style-src 'unsafe-inline'; img-src data:");
    let (_, style) = page.split_once("<style>").unwrap();
    let (style, _) = style.split_once("</style>").unwrap();
    for loads in ["@import", "url(", "http", "//", "src"] {
        assert!(!style.contains(loads), "the style has {loads}");
    }

    let count = |name: &str| tags.iter().filter(|tag| tag.name == name).count();
    assert_eq!(count("circle"), concepts(&explanation).len());
    for address in ["script", "image", "quotes"] {
        let address = format!("memory://docs/{address}");
        assert!(page.contains(&address), "{address} is not in the context");
    }

    // The same receipt gives the same bytes.
    run_in(&scratch, &project, &["explain", "--html", path.to_str().unwrap()]);
    assert_eq!(fs::read_to_string(&path).unwrap(), page);
}

#[test]
fn a_page_that_cannot_be_written_is_a_failure() {
    let scratch = Scratch::new();
    scratch.write("vault/a.md", "# A\n\n[[b]]\n");
    let explain =
        |file: &str| scratch.fail(["--vault", "vault", "explain", "--dry-run", "--html", file]);
    for file in ["missing/page.html", "vault"] {
        let (code, message) = explain(file);
        assert_eq!(code, 2, "{message}");
        assert!(message.starts_with(&format!("kgctx: cannot write {file}: ")), "{message}");
        assert!(message.contains("name a file in an existing folder"), "{message}");
    }
    let page = ["--vault", "vault", "explain", "--dry-run", "--html", "page.html"];
    assert_eq!(scratch.run(page), "wrote page.html\n");
}
