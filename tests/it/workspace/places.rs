//! Where a project's notes are looked for.

use serde_json::{Value, json};

use crate::support::{Scratch, git};

/// The addresses of all notes.
fn addresses(scratch: &Scratch, arguments: &[&str]) -> Vec<String> {
    let asked = [
        &["--dir", "app"],
        arguments,
        &["recent", "--timespan", "9999d", "--json"],
        &["--limit", "99"],
    ];
    let answer = scratch.json(asked.concat());
    let items = answer["items"].as_array().unwrap().iter();
    let mut found: Vec<String> =
        items.map(|item| item["uri"].as_str().unwrap()["memory://".len()..].to_owned()).collect();
    found.sort();
    found
}

fn project(files: &[&str]) -> Scratch {
    let scratch = Scratch::new();
    scratch.write("app/.git/HEAD", "ref: refs/heads/main\n");
    for file in files {
        scratch.write(&format!("app/{file}"), format!("# {file}\n\nThe text of [[{file}]]."));
    }
    scratch
}

#[test]
fn a_projects_notes_are_found_in_its_usual_places() {
    let scratch = project(&[
        "README.md",
        "AGENTS.md",
        "CLAUDE.md",
        "LICENSE.md",
        ".hidden.md",
        "docs/a.md",
        "docs/adr/b.md",
        "adr/0001/c.md",
        ".memory-bank/d.md",
        "packages/x/docs/e.md",
        "packages/x/README.md",
        "packages/y/src/f.md",
        "backend/docs/g.md",
        "node_modules/z/docs/h.md",
        "built/docs/i.md",
    ]);
    scratch.write("app/.gitignore", "built\n");
    let expect = [
        ".memory-bank/d",
        "adr/0001/c",
        "backend/docs/g",
        "docs/a",
        "docs/adr/b",
        "packages/x/docs/e",
        "root/README",
    ];
    assert_eq!(addresses(&scratch, &[]), expect);
    for address in expect {
        let read = scratch.json(["--dir", "app", "read", address, "--json"]);
        assert_eq!(read["uri"], format!("memory://{address}"));
    }
    assert_eq!(addresses(&scratch, &["--vault", "app/adr"]), ["0001/c"]);
    let doctor = scratch.kgctx(["--dir", "app", "doctor"]).output().unwrap();
    let doctor = String::from_utf8(doctor.stdout).unwrap();
    let top = scratch.path().join("app");
    for (place, because) in [
        ("/packages/x/docs", "a usual place"),
        ("/adr", "a usual place"),
        ("", "notes at the project's top"),
    ] {
        let listed = format!("{}{place} ({because})", top.display());
        assert!(doctor.contains(&listed), "{listed}\n{doctor}");
    }
}

#[test]
fn the_places_of_the_settings_come_first() {
    let scratch = project(&["notes/a.md", "adr/b.md", "design/c.md", "README.md"]);
    scratch.write("mine/notes/d.md", "# D");
    let vaults = r#"[[vault]]
path = "adr"
name = "decided"
[[vault]]
path = "design/deep""#;
    scratch.write("app/kgctx.toml", vaults);
    scratch.write("app/design/deep/e.md", "# E");
    let mine = format!("[[vault]]\npath = {:?}\n", scratch.path().join("mine/notes"));
    scratch.write("kgctx-home/config.toml", mine);
    // A person's `notes` keeps its name, and a place that shares notes with a named one gives way.
    let expect = ["decided/b", "deep/e", "notes/d", "project-notes/a", "root/README"];
    assert_eq!(addresses(&scratch, &[]), expect);
    scratch
        .write("app/kgctx.toml", "default_vaults = false\n[[vault]]\npath = \".\"\nname = \"all\"");
    assert_eq!(addresses(&scratch, &[])[0], "all/README");
}

#[test]
fn a_project_that_is_a_vault_is_read_as_a_whole() {
    let files = [
        "README.md",
        "Ideas/a.md",
        "docs/b.md",
        "docs/adr/c.md",
        ".memory-bank/d.md",
        ".hidden/e.md",
    ];
    let whole = [".memory-bank/d", "root/Ideas/a", "root/README", "root/docs/adr/c", "root/docs/b"];
    for (sign, text) in
        [(".obsidian/app.json", "{}"), ("logseq/config.edn", "{}"), ("dendron.yml", "version: 5\n")]
    {
        let scratch = project(&files);
        assert!(addresses(&scratch, &[]).contains(&"docs/b".to_owned()));
        scratch.write(&format!("app/{sign}"), text);
        assert_eq!(addresses(&scratch, &[]), whole, "{sign}");
        let listed = scratch.run(["--dir", "app", "vault", "list"]);
        assert!(listed.contains("the whole project is a vault"), "{listed}");
        // Folders that a person names stay what they are.
        scratch.write("app/kgctx.toml", "[[vault]]\npath = \"Ideas\"\n");
        let expect = [".memory-bank/d", "Ideas/a", "docs/adr/c", "docs/b", "root/README"];
        assert_eq!(addresses(&scratch, &[]), expect, "{sign}");
    }
    let scratch = project(&["README.md", "vault/a.md", "other/b.md"]);
    scratch.write("app/dendron.yml", "vaults:\n- fsPath: vault\n");
    assert_eq!(addresses(&scratch, &[]), ["root/README", "vault/a"]);
}

#[test]
fn markdown_that_is_mostly_in_no_usual_place_is_read_where_it_is() {
    let files: Vec<String> = (0..6).map(|n| format!("articles/{n}.md")).collect();
    let mut files: Vec<&str> = files.iter().map(String::as_str).collect();
    files.extend(["README.md", "docs/a.md", "articles/CLAUDE.md", "node_modules/x/b.md"]);
    let scratch = project(&files);
    let all: Vec<String> = (0..6).map(|n| format!("articles/{n}")).collect();
    let expect: Vec<&str> =
        all.iter().map(String::as_str).chain(["docs/a", "root/README"]).collect();
    assert_eq!(addresses(&scratch, &[]), expect);
    // Who names a folder of the project decides on all of them.
    scratch.write("app/kgctx.toml", "[[vault]]\npath = \"docs\"\n");
    assert_eq!(addresses(&scratch, &[]), ["docs/a", "root/README"]);
    // Outside of a repository, a project is whatever folder a session is in.
    let elsewhere = Scratch::new();
    for n in 0..6 {
        elsewhere.write(&format!("app/articles/{n}.md"), "# A\n\nText.");
    }
    let told = elsewhere.kgctx(["--dir", "app", "doctor"]).output().unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(told.contains("no folder of notes found"), "{told}");
    assert!(told.contains("run `kgctx vault add --project articles`"), "{told}");
    let told = elsewhere.run(["--dir", "app", "init"]);
    assert!(told.contains("6 of the project's 6 markdown files are in no vault"), "{told}");
    assert!(told.contains("kgctx vault add --project articles"), "{told}");
}

#[test]
fn a_specification_in_a_folder_of_its_own_and_any_case_of_an_ending_are_found() {
    let scratch = project(&["specs/001-login/spec.md", "Guide.MD", "lib/openspec/a.Markdown"]);
    let expect = ["lib/openspec/a.Markdown", "root/Guide.MD", "specs/001-login/spec"];
    assert_eq!(addresses(&scratch, &[]), expect);
    for address in expect {
        let read = scratch.json(["--dir", "app", "read", address, "--json"]);
        assert_eq!(read["uri"], format!("memory://{address}"));
    }
}

#[test]
fn doctor_says_that_most_markdown_is_in_no_vault() {
    let scratch = project(&["README.md", "docs/a.md"]);
    let doctor = || {
        let output = scratch.kgctx(["--dir", "app", "doctor"]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(!doctor().contains("in no vault"));
    for n in 0..30 {
        scratch.write(&format!("app/docs/{n}.md"), "A note.");
        scratch.write(&format!("app/knowledge/deep/{n}.md"), "A note.");
        scratch.write(&format!("app/knowledge/{n}.md"), "A note.");
    }
    let told = doctor();
    assert!(told.contains("60 of the project's 92 markdown files are in no vault"), "{told}");
    assert!(told.contains("kgctx vault add --project knowledge"), "{told}");
    scratch.write("app/kgctx.toml", "[[vault]]\npath = \"knowledge\"\n");
    assert!(!doctor().contains("in no vault"));
}

#[test]
fn a_check_finds_the_same_places() {
    let scratch =
        project(&["README.md", "AGENTS.md", "adr/a.md", "specs/b.md", "packages/x/docs/c.md"]);
    let app = scratch.path().join("app");
    std::fs::remove_dir_all(app.join(".git")).unwrap();
    git(&app, &["init", "-q", "-b", "main"]);
    git(&app, &["add", "."]);
    git(&app, &["commit", "-q", "-m", "all"]);
    let report = scratch.kgctx(["--dir", "app", "check", "--format", "json"]).output().unwrap();
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    assert_eq!(report["notes"], json!(addresses(&scratch, &[]).len()), "{report:#}");
    assert_eq!(report["notes"], 4);
    for n in 0..20 {
        scratch.write(&format!("app/backlog/{n}/task.md"), "# Task\n\nThe text.");
    }
    git(&app, &["add", "."]);
    git(&app, &["commit", "-q", "-m", "backlog"]);
    let report = scratch.kgctx(["--dir", "app", "check", "--format", "json"]).output().unwrap();
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    assert_eq!(report["notes"], json!(addresses(&scratch, &[]).len()), "{report:#}");
    assert_eq!(report["notes"], 24);
    scratch.write("app/.obsidian/app.json", "{}");
    scratch.write("app/Ideas/d.md", "# D\n\nThe text.");
    git(&app, &["add", "."]);
    git(&app, &["commit", "-q", "-m", "vault"]);
    let report = scratch.kgctx(["--dir", "app", "check", "--format", "json"]).output().unwrap();
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    assert_eq!(report["notes"], json!(addresses(&scratch, &[]).len()), "{report:#}");
}
