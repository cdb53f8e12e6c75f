//! `kgctx vault`: names folders of notes, lists them, and takes them out again.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Scratch, git, valid};

const NOTE: &str = "# Mast\n\nThe [[Mast]] carries the [[Sail]].\n";
const USER_FILE: &str = "kgctx-home/config.toml";

/// A repository with notes in `docs`, and folders of notes elsewhere.
fn place() -> Scratch {
    let scratch = Scratch::new();
    for file in ["app/docs/a.md", "app/kb/b.md", "home/notes/c.md", "home/notes/deep/d.md"] {
        scratch.write(file, NOTE);
    }
    scratch.write("other/docs/e.md", NOTE);
    scratch.write("home/notes/.obsidian/app.json", "{}");
    git(&scratch.path().join("app"), &["init", "-q"]);
    scratch
}

/// Runs `kgctx vault` in the repository, and returns what it says.
#[track_caller]
fn vault(scratch: &Scratch, arguments: &[&str]) -> String {
    let output = scratch
        .kgctx([&["vault"], arguments].concat())
        .current_dir(scratch.path().join("app"))
        .output();
    let output = output.unwrap();
    let said = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    said.replace(&format!("{}/", scratch.path().display()), "")
}

/// Runs it where it must fail.
#[track_caller]
fn fails(scratch: &Scratch, arguments: &[&str]) -> String {
    let (code, message) = scratch.fail([&["--dir", "app", "vault"], arguments].concat());
    assert_eq!(code, 2, "{message}");
    message.replace(&format!("{}/", scratch.path().display()), "")
}

fn list(scratch: &Scratch) -> Vec<Value> {
    let answer = scratch.json(["--dir", "app", "vault", "list", "--json"]);
    valid("vault-list", &answer);
    answer["vaults"].as_array().unwrap().clone()
}

fn user_file(scratch: &Scratch) -> String {
    fs::read_to_string(scratch.path().join(USER_FILE)).unwrap_or_default()
}

#[test]
fn a_vault_is_named_listed_and_taken_out() {
    let scratch = place();
    let old = "# Mine.\ntoken_limit = 3000 # enough\n# The end.\n";
    scratch.write(USER_FILE, old);
    let added = vault(&scratch, &["add", "../home/notes"]);
    assert_eq!(
        added,
        "added home/notes to kgctx-home/config.toml\n2 notes of Obsidian, at memory://notes/\n"
    );
    assert_eq!(user_file(&scratch), format!("{old}\n[[vault]]\npath = \"~/notes\"\n"));
    let [docs, notes] = &list(&scratch)[..] else { panic!("{:#?}", list(&scratch)) };
    let path = |below: &str| scratch.path().join(below).to_str().unwrap().to_owned();
    assert_eq!(
        docs,
        &json!({
            "address": "memory://docs/", "path": path("app/docs"), "style": "plain", "program": null, "notes": 1,
            "because": "a usual place", "origin": "default", "fault": null,
        })
    );
    let because = format!("from {}", path(USER_FILE));
    assert_eq!(
        notes,
        &json!({
            "address": "memory://notes/", "path": path("home/notes"), "style": "obsidian", "program": "Obsidian",
            "notes": 2, "because": because, "origin": path(USER_FILE), "fault": null,
        })
    );
    let shown = vault(&scratch, &["list"]);
    insta::assert_snapshot!(shown, @"
    1 note   app/docs    memory://docs/   a usual place
    2 notes  home/notes  memory://notes/  Obsidian, from kgctx-home/config.toml
    ");
    // Again changes nothing.
    let again = vault(&scratch, &["add", "../home/notes/"]);
    assert_eq!(
        again,
        "nothing to do: home/notes is a vault already, from kgctx-home/config.toml\n"
    );
    let removed = vault(&scratch, &["remove", "../home/notes"]);
    assert_eq!(removed, "removed home/notes from kgctx-home/config.toml\n");
    assert_eq!(user_file(&scratch), old);
}

#[test]
fn a_project_names_its_own_folders() {
    let scratch = place();
    vault(&scratch, &["add", "kb", "--project", "--name", "base"]);
    let file = scratch.path().join("app/kgctx.toml");
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(text, "[[vault]]\npath = \"kb\"\nname = \"base\"\n");
    assert_eq!(list(&scratch)[1]["address"], "memory://base/");
    assert_eq!(user_file(&scratch), "");
    vault(&scratch, &["remove", "kb", "--project"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "");
    let already = vault(&scratch, &["add", "docs", "--project"]);
    assert_eq!(already, "nothing to do: app/docs is a vault already, a usual place\n");
}

#[test]
fn a_folder_of_the_project_in_your_own_settings_counts_everywhere_and_says_so() {
    let scratch = place();
    let added = vault(&scratch, &["add", "kb"]);
    assert_eq!(
        added,
        "added app/kb to kgctx-home/config.toml\n1 note, at memory://kb/\n\
         Every project reads it now. For this project alone: kgctx vault remove app/kb && kgctx vault add --project app/kb\n"
    );
    let added = vault(&scratch, &["add", "../home/notes"]);
    assert!(!added.contains("--project"), "{added}");
}

#[test]
fn what_cannot_be_a_vault_is_refused_with_the_way_out() {
    let scratch = place();
    scratch.write("file.md", NOTE);
    vault(&scratch, &["add", "../home/notes"]);
    vault(&scratch, &["add", "kb", "--project"]);
    let before = user_file(&scratch);
    for (arguments, expect) in [
        (&["add", "/"][..], "/ contains all your files, not only notes; choose the folder"),
        (&["add", "../home"], "home contains all your files, not only notes; choose the folder"),
        (&["add", "../none"], "none is not a folder; create it, or choose another one"),
        (&["add", "../file.md"], "file.md is not a folder; create it"),
        (&["add", "../home/notes/deep"], "deep is in the vault home/notes (from "),
        (&["add", "docs/.."], "the vault app/kb (from app/kgctx.toml) is in "),
        (&["add", "../home/notes", "--project"], "nothing"),
        (&["add", "../other/docs", "--project"], "is outside the project "),
        (
            &["add", "../other/docs", "--name", "a/b"],
            "\"a/b\" is not a valid name for a vault; use letters, digits, spaces,",
        ),
        (&["add", "../other/docs", "--name", "notes"], "another vault is called \"notes\"; choose"),
        (&["remove", "kb"], "app/kb is named in app/kgctx.toml; add --project"),
        (
            &["remove", "../home/notes", "--project"],
            "is named in kgctx-home/config.toml; leave out --project",
        ),
        (
            &["remove", "docs"],
            "app/docs is a usual place, and no file names it; default_vaults = false",
        ),
        (
            &["remove", "../none"],
            "none is not a vault of kgctx-home/config.toml; `kgctx vault list`",
        ),
    ] {
        if expect == "nothing" {
            assert!(vault(&scratch, arguments).starts_with("nothing to do: "), "{arguments:?}");
            continue;
        }
        let message = fails(&scratch, arguments);
        assert!(message.contains(expect), "{arguments:?}: {message}");
        assert_eq!(user_file(&scratch), before, "{arguments:?}");
    }
    scratch.write(USER_FILE, "vault = \n");
    let message = fails(&scratch, &["add", "../other/docs"]);
    assert!(
        message.contains("config.toml:1:9: ") && message.contains("correct it first"),
        "{message}"
    );
}

#[test]
fn names_of_vaults_never_collide() {
    let scratch = place();
    scratch.write("third/docs/f.md", NOTE);
    // In this project, `docs` is a usual place, which gives way.
    vault(&scratch, &["add", "../other/docs"]);
    vault(&scratch, &["add", "../third/docs"]);
    let addresses: Vec<Value> =
        list(&scratch).iter().map(|vault| vault["address"].clone()).collect();
    assert_eq!(addresses, ["memory://project-docs/", "memory://docs/", "memory://docs-2/"]);
    assert!(list(&scratch).iter().all(|vault| vault["notes"] == 1));
}

#[test]
fn a_vault_that_is_gone_is_listed_and_can_be_taken_out() {
    let scratch = place();
    vault(&scratch, &["add", "../other/docs", "--name", "other"]);
    fs::remove_dir_all(scratch.path().join("other")).unwrap();
    let gone = list(&scratch).pop().unwrap();
    assert_eq!((&gone["notes"], &gone["style"]), (&json!(null), &json!(null)));
    assert!(gone["fault"].as_str().unwrap().contains("no such vault"), "{gone}");
    vault(&scratch, &["remove", "../other/docs"]);
    assert_eq!(list(&scratch).len(), 1);
}

#[test]
fn a_place_without_vaults_says_how_to_name_one() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path().join("app")).unwrap();
    assert_eq!(list(&scratch), Vec::<Value>::new());
    assert!(vault(&scratch, &["list"]).contains("`kgctx vault add FOLDER` names one"));
}
