//! Vaults of several programs, each read in its own style.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::support::{Scratch, stderr, valid};

/// A folder `vault` with these files.
fn vault(files: &[(&str, &str)]) -> Scratch {
    let scratch = Scratch::new();
    for (path, text) in files {
        scratch.write(&format!("vault/{path}"), text);
    }
    scratch
}

/// The notes of the vault as they are listed, read with a preference for a style.
fn notes(scratch: &Scratch, links: &str) -> Vec<Value> {
    let mut command = scratch.kgctx(["--vault", "vault", "recent", "--limit", "100", "--json"]);
    let output = command.env("KGCTX_LINKS", links).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    valid("recent", &answer);
    answer["items"].as_array().unwrap().clone()
}

/// All concepts and titles, each once.
fn names(scratch: &Scratch, links: &str) -> (String, String) {
    let words = |of: &dyn Fn(&Value) -> Vec<String>| {
        let all: BTreeSet<String> = notes(scratch, links).iter().flat_map(of).collect();
        all.into_iter().collect::<Vec<_>>().join(", ")
    };
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let concepts = words(&|note| note["concepts"].as_array().unwrap().iter().map(text).collect());
    (concepts, words(&|note| vec![text(&note["title"])]))
}

#[track_caller]
fn check(scratch: &Scratch, concepts: &str, titles: &str) {
    assert_eq!(names(scratch, "auto"), (concepts.to_owned(), titles.to_owned()));
}

/// What a session is told, ranked by notes.
fn context(scratch: &Scratch) -> String {
    let arguments = ["--vault", "vault", "inject", "--session", "s", "--dry-run"];
    let output = scratch.kgctx(arguments).env("KGCTX_RANK", "notes").output().unwrap();
    assert_eq!(stderr(&output), "");
    String::from_utf8(output.stdout).unwrap()
}

const OBSIDIAN: [(&str, &str); 7] = [
    (".obsidian/app.json", "{}"),
    (".obsidian/templates.json", r#"{"folder": "Meta/Forms"}"#),
    (
        "Ship's hull.md",
        "---\ntitle: Hull\n---\n# Of oak\n\n[[Mast|the mast]] ![[plan.png]] [[Mast#Rigging]] [[Keel#^a1]]",
    ),
    ("Mast.md", "Of spruce: ![[Ship's hull]] [[#Rigging]] [[sail.pdf|a sail]]"),
    ("Meta/Forms/Note.md", "[[{{title}}]]"),
    ("Templates/Day.md", "[[{{date}}]]"),
    ("Mast (conflicted copy 2026-01-01).md", "[[old]]"),
];

#[test]
fn obsidian() {
    let scratch = vault(&OBSIDIAN);
    check(&scratch, "keel, mast, ship's-hull", "Mast, Ship's hull");
    let answer = scratch.json(["--vault", "vault", "index", "--json"]);
    valid("index", &answer);
    let skipped = &answer["skippedBy"];
    assert_eq!((&skipped["templates"], &skipped["backups"]), (&2.into(), &1.into()), "{answer}");
    let told = scratch.run(["--vault", "vault", "index"]);
    assert!(told.lines().next().unwrap().ends_with("vault  memory://  Obsidian"), "{told}");
    assert!(told.contains("1 hidden, 2 templates, 1 backups"), "{told}");
    // The other title is a name as well.
    let found = scratch.json(["--vault", "vault", "search", "Hull", "--json"]);
    assert_eq!(found["results"][0]["title"], "Ship's hull", "{found}");
    let text = context(&scratch);
    assert!(text.contains("memory://Ship's hull") && !text.contains("title"), "{text}");
}

#[test]
fn logseq() {
    let scratch = vault(&[
        ("logseq/config.edn", "{}"),
        ("logseq/bak/pages/hull/old.md", "[[old]]"),
        (
            "pages/ship___hull.md",
            "alias:: Rumpf\ntags:: boat, [[oak wood]]\n\n- See [[mast]] #keel #[[top sail]]\n  id:: 6453-a\n  collapsed:: true\n- The planks are steamed for an hour and then bent around the ribs while they are hot.",
        ),
        (
            "journals/2026_01_05.md",
            "- Bent planks: ((6453-a)), [[Rumpf]] ![x](../assets/x.png) #12",
        ),
    ]);
    check(&scratch, "boat, keel, mast, oak-wood, rumpf, top-sail", "Jan 5th, 2026, ship/hull");
    let text = context(&scratch);
    assert!(text.contains("planks are steamed"), "{text}");
    assert!(!text.contains("6453-a\n") && !text.contains("collapsed"), "{text}");
}

#[test]
fn dendron() {
    let files = [
        (
            "ship.hull.md",
            "---\nid: 1\ntitle: The hull\n---\n[[The mast|ship.mast]] [[ship.keel#part]] ![[ship.sail#a:#b]] [[x|dendron://main/ship.rudder]] ![p](/assets/p.png)",
        ),
        ("ship.mast.md", "---\ntitle: The mast\n---\nOf spruce."),
        ("templates.day.md", "[[day]]"),
    ];
    let scratch = vault(&files);
    // The workspace is the folder around the vault.
    scratch.write("dendron.yml", "version: 5\n");
    let concepts = "ship.keel, ship.mast, ship.rudder, ship.sail";
    check(&scratch, concepts, "The hull, The mast");
    // The style is part of what the index is made from.
    fs::remove_file(scratch.path().join("dendron.yml")).unwrap();
    check(&scratch, &format!("day, {concepts}"), "The hull, The mast, templates.day");
    let (concepts, _) = names(&scratch, "obsidian");
    assert_eq!(concepts, "day, ship.keel, ship.sail, the-mast, x");
}

#[test]
fn plain_markdown() {
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n";
    let scratch = vault(&[
        ("hull.mdx", "# The hull\n\n[[Mast|m]] ![[a.png]] [[C#]] [[C# tips]] [[keel#Part]]"),
        ("mast.markdown", "---\ntitle: The mast\n---\n[[label|ship.sail]]"),
        ("large.md", pointer),
        ("api.md", "<!-- Generated by gen. DO NOT EDIT. -->\n# API\n\n[[x]]"),
        ("about.md", "DO NOT EDIT is what generated files say."),
        ("templates/t.md", "[[t]]"),
    ]);
    check(&scratch, "c#, c#-tips, keel, mast, ship.sail, t", "The hull, The mast, about, large, t");
    let answer = scratch.json(["--vault", "vault", "index", "--json"]);
    assert_eq!(answer["skippedBy"]["generated"], 1, "{answer}");
    assert_eq!(answer["remarked"][0]["uri"], "memory://large", "{answer}");
    let found = scratch.json(["--vault", "vault", "search", "memory://hull.mdx", "--json"]);
    assert_eq!(found["results"][0]["matched"], "uri", "{found}");
}

#[test]
fn a_pointer_is_named_as_one_and_tied_to_nothing() {
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a21\nsize 12345\n";
    let text = "# The mast\n\nThe mast of [[large]] stands where [the plan](large.md) says that it stands.";
    let scratch = vault(&[("mast.md", text), ("large.md", pointer)]);
    check(&scratch, "large", "The mast, large");
    let line = "- memory://large: text not checked out: \
                version https://git-lfs.github.com/spec/v1 oid sha256:4d7a21\n";
    let told = context(&scratch);
    assert!(told.contains(line) && !told.contains("12345"), "{told}");
    let mut explain = scratch.kgctx(["--vault", "vault", "explain", "--dry-run"]);
    let explained = explain.env("KGCTX_RANK", "notes").output().unwrap();
    let explained = String::from_utf8(explained.stdout).unwrap();
    assert!(!explained.contains("linked"), "{explained}");
    // What the file says is no text to be found.
    let found = scratch.kgctx(["--vault", "vault", "search", "spec"]).output().unwrap();
    assert_eq!(found.status.code(), Some(1), "{found:?}");
    // Fetched, it is a note like others; put back, nothing of the text stays.
    scratch.write(
        "vault/large.md",
        "# Large\n\nThe large sail hangs from the mast and is older than the ship itself.",
    );
    assert!(context(&scratch).contains("large sail hangs"));
    scratch.write("vault/large.md", pointer);
    let told = context(&scratch);
    assert!(told.contains(line) && !told.contains("large sail hangs"), "{told}");
}

/// The law: whatever stands in and around maenifold's memory, it is read by maenifold's rules.
#[test]
fn the_memory_is_read_as_before() {
    let scratch = Scratch::new();
    for (path, text) in OBSIDIAN {
        scratch.write(&format!("home/maenifold/memory/{path}"), text);
    }
    for (path, text) in [
        ("home/maenifold/dendron.yml", ""),
        ("home/maenifold/memory/cafe\u{301}.md", "[[cafe\u{301}]] #tag"),
        ("home/maenifold/memory/api.md", "<!-- @generated -->\n\n[[a|b]]"),
        ("home/maenifold/memory/no.mdx", "[[no]]"),
    ] {
        scratch.write(path, text);
    }
    let answer = scratch.json(["recent", "--limit", "100", "--source", "index", "--json"]);
    let items = answer["items"].as_array().unwrap();
    let concepts: BTreeSet<&str> = items
        .iter()
        .flat_map(|note| note["concepts"].as_array().unwrap())
        .map(|concept| concept.as_str().unwrap())
        .collect();
    let expect = [
        "#rigging",
        "a|b",
        "cafe\u{301}",
        "keel#^a1",
        "mast#rigging",
        "mast|the-mast",
        "old",
        "plan.png",
        "sail.pdf|a-sail",
        "ship's-hull",
        "{{date}}",
        "{{title}}",
    ];
    assert_eq!(concepts.into_iter().collect::<Vec<_>>(), expect);
    let titles: BTreeSet<&str> = items.iter().map(|note| note["title"].as_str().unwrap()).collect();
    assert!(titles.contains("Hull") && titles.contains("cafe\u{301}"), "{titles:?}");
}

#[test]
fn names_are_found_in_any_composition() {
    let scratch = vault(&[
        ("cafe\u{301}.md", "Of the [[maste\u{301}]]."),
        ("b.md", "See [[café]] and [[masté]]."),
    ]);
    check(&scratch, "café, masté", "b, café");
    for query in ["memory://café", "memory://cafe\u{301}", "café", "cafe\u{301}"] {
        let found = scratch.json(["--vault", "vault", "search", query, "--json"]);
        let first = &found["results"][0];
        // The address is that of the file.
        assert_eq!(first["uri"], "memory://cafe\u{301}", "{query}: {found}");
        assert_ne!(first["matched"], "text", "{query}: {found}");
    }
    let rows = |name: &str| {
        let found = scratch.json(["--vault", "vault", "search", name, "--json"]);
        found["results"].as_array().unwrap().len()
    };
    assert_eq!(rows("café"), 2);
    for concept in ["masté", "maste\u{301}"] {
        let found = scratch.json(["--vault", "vault", "context", concept, "--json"]);
        assert_eq!(found["relatedConcepts"][0]["name"], "café", "{found}");
    }
    // A note that is gone leaves no name behind.
    fs::remove_file(scratch.path().join("vault/cafe\u{301}.md")).unwrap();
    assert_eq!(rows("café"), 1);
}
