//! Files as people really have them: indexed as well as possible, one remark each, never a crash.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::support::{Scratch, git};

fn index(scratch: &Scratch) -> Value {
    scratch.json(["--vault", "vault", "index", "--json"])
}

#[test]
fn odd_texts_are_indexed_with_one_remark_each() {
    let scratch = Scratch::new();
    let line = format!("{} [[end]]", "word [[inside]] ".repeat(5 * 1024 * 1024 / 16));
    scratch.write("vault/plain.md", "[[plain]]");
    scratch.write("vault/latin1.md", b"Gr\xf6\xdfe [[gr\xf6\xdfe]]");
    scratch.write("vault/bom.md", b"\xef\xbb\xbf---\ntitle: Marked\n---\n[[bom]]");
    scratch.write("vault/crlf.md", "---\r\ntitle: Windows\r\n---\r\n[[crlf]]\r\n");
    scratch.write("vault/yaml.md", "---\ntitle: Foo: bar\n---\n[[yaml]]");
    scratch.write("vault/empty.md", "");
    scratch.write("vault/line.md", &line);
    scratch.write("vault/utf16.md", b"\xff\xfe[\0[\0u\0]\0]\0");
    let answer = index(&scratch);
    assert_eq!(answer["notes"], 8);
    assert_eq!(answer["remarks"], 7);
    let file = |name: &str| scratch.path().join(format!("vault/{name}.md"));
    assert_eq!(
        answer["remarked"],
        json!([
            {"uri": "memory://bom", "path": file("bom"), "remark": "byte order mark"},
            {"uri": "memory://crlf", "path": file("crlf"), "remark": "CRLF line ends"},
            {"uri": "memory://empty", "path": file("empty"), "remark": "empty"},
            {"uri": "memory://latin1", "path": file("latin1"), "remark": "not UTF-8"},
            {"uri": "memory://line", "path": file("line"), "remark": "very long line"},
            {"uri": "memory://utf16", "path": file("utf16"), "remark": "UTF-16"},
            {"uri": "memory://yaml", "path": file("yaml"), "remark": "broken front matter"},
        ])
    );
    for (concept, uri) in [
        ("größe", "latin1"),
        ("bom", "bom"),
        ("crlf", "crlf"),
        ("yaml", "yaml"),
        ("end", "line"),
        ("u", "utf16"),
    ] {
        let answer = scratch.json(["--vault", "vault", "search", concept, "--json"]);
        assert_eq!(answer["results"][0]["uri"], format!("memory://{uri}"), "{concept}");
    }
    let titles = scratch.json(["--vault", "vault", "search", "Foo: bar", "--json"]);
    assert_eq!(titles["results"][0]["matched"], "title");
    // Remarks stay with notes that are not read again.
    assert_eq!(index(&scratch)["remarks"], 7);
    scratch.write("vault/empty.md", "text");
    assert_eq!(index(&scratch)["remarks"], 6);
}

#[test]
fn what_does_not_belong_is_skipped_and_counted() {
    let scratch = Scratch::new();
    scratch.write("vault/note.md", "[[a]]");
    scratch.write("vault/not-markdown.txt", "[[b]]");
    scratch.write("vault/.obsidian/hidden.md", "[[b]]");
    scratch.write("vault/.hidden.md", "[[b]]");
    scratch.write("vault/binary.md", b"\0\x01[[b]]");
    scratch.write("vault/large.md", vec![b'x'; 2_000]);
    scratch.write("outside.md", "[[outside]]");
    scratch.write("outside/inner.md", "[[outside]]");
    symlink("../outside.md", scratch.path().join("vault/link.md")).unwrap();
    symlink("../outside", scratch.path().join("vault/linked-folder")).unwrap();
    fs::write(scratch.path().join("vault").join(std::ffi::OsStr::from_bytes(b"bad\xff.md")), "x")
        .unwrap();
    let run = || {
        let output = scratch
            .kgctx(["--vault", "vault", "index", "--json"])
            .env("KGCTX_MAX_FILE_BYTES", "1000")
            .output()
            .unwrap();
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    for _ in 0..2 {
        let answer = run();
        assert_eq!(answer["notes"], 1);
        assert_eq!(answer["concepts"], 1);
        assert_eq!(answer["skipped"], 6);
        assert_eq!(
            answer["skippedBy"],
            json!({"hidden": 2, "ignored": 0, "special": 1, "tooLarge": 1, "binary": 1, "unreadable": 0, "unnameable": 1,
                "templates": 0, "backups": 0, "generated": 0, "sideFiles": 0})
        );
    }
}

#[test]
fn ignored_files_are_skipped_as_git_would() {
    let scratch = Scratch::new();
    let root = scratch.path().join("repo");
    fs::create_dir(&root).unwrap();
    git(&root, &["init", "-q"]);
    scratch.write("repo/.gitignore", "*.local.md\n/docs/generated/\n");
    scratch.write("repo/docs/a.md", "[[a]]");
    scratch.write("repo/docs/b.local.md", "[[b]]");
    scratch.write("repo/docs/generated/c.md", "[[c]]");
    scratch.write("repo/docs/sub/.gitignore", "d.md\n!keep.local.md\n");
    scratch.write("repo/docs/sub/d.md", "[[d]]");
    scratch.write("repo/docs/sub/keep.local.md", "[[keep]]");
    let answer = scratch.json(["--dir", "repo", "index", "--json"]);
    assert_eq!(answer["notes"], 2, "{answer}");
    assert_eq!(answer["skippedBy"]["ignored"], 3);
}

#[test]
fn an_ignored_vault_is_still_a_vault() {
    let scratch = Scratch::new();
    let root = scratch.path().join("repo");
    fs::create_dir(&root).unwrap();
    git(&root, &["init", "-q"]);
    scratch.write("repo/.gitignore", ".kgctx/\n*.md\n");
    scratch.write("repo/.kgctx/memory/private.md", "[[a]]");
    scratch.write("repo/.kgctx/memory/.gitignore", "drafts/\n");
    scratch.write("repo/.kgctx/memory/drafts/x.md", "[[b]]");
    let answer = scratch.json(["--dir", "repo", "index", "--json"]);
    assert_eq!((&answer["notes"], &answer["skippedBy"]["ignored"]), (&json!(1), &json!(1)));
}

#[test]
fn a_note_that_becomes_a_link_out_of_its_vault_shows_nothing() {
    let scratch = Scratch::new();
    scratch.write("secret.txt", "the secret word is swordfish");
    scratch.write("vault/a.md", "harmless");
    index(&scratch);
    fs::remove_file(scratch.path().join("vault/a.md")).unwrap();
    symlink("../secret.txt", scratch.path().join("vault/a.md")).unwrap();
    let (code, found) = scratch.answer(["--vault", "vault", "search", "swordfish", "--json"]);
    assert_eq!(code, 1);
    assert!(!found.to_string().contains("the secret"), "{found}");
    assert_eq!(index(&scratch)["notes"], 0);
}

#[test]
fn both_link_styles_are_read() {
    let scratch = Scratch::new();
    scratch.write("vault/a.md", "[[Auth Flow|login]] [[Auth Flow#Tokens]] [[#here]] [[auth flow]]");
    let concepts = |style: &str| {
        let output = scratch
            .kgctx(["--vault", "vault", "search", "login", "--json"])
            .env("KGCTX_LINKS", style)
            .output()
            .unwrap();
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["results"][0]["concepts"].clone()
    };
    assert_eq!(
        concepts("maenifold"),
        json!(["#here", "auth-flow", "auth-flow#tokens", "auth-flow|login"])
    );
    assert_eq!(concepts("obsidian"), json!(["auth-flow"]));
}

#[test]
fn a_note_with_thousands_of_links_gets_no_edges_but_its_mentions() {
    let scratch = Scratch::new();
    let list: String = (0..1_500).map(|n| format!("- [[c{n}]]\n")).collect();
    scratch.write("vault/list.md", list);
    scratch.write("vault/a.md", "[[c1]] [[c2]]");
    let answer = index(&scratch);
    assert_eq!(
        (&answer["concepts"], &answer["links"], &answer["edges"]),
        (&json!(1500), &json!(1502), &json!(1))
    );
    // Both ways over the border: with edges and back without.
    scratch.write("vault/list.md", "[[c1]] [[c3]]");
    assert_eq!(index(&scratch)["edges"], 2);
    scratch.write("vault/list.md", (0..1_001).map(|n| format!("- [[c{n}]]\n")).collect::<String>());
    assert_eq!(index(&scratch)["edges"], 1);
}
