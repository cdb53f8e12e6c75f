//! `kgctx handoff create`: what can be left, what is refused with its name, and what no input can do.

use std::os::unix::fs::symlink;

use kgctx::core::handoff::document;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use crate::support::handoff_project::{Project, fed};
use crate::support::{stderr, valid};

/// What `show` has of a document that was left.
#[track_caller]
fn shown(project: &Project, input: &str) -> Value {
    let id = project.leave("author", input);
    let shown = project.json("handoff-show", &["show", "--json", &id]);
    valid("handoff", &shown["document"]);
    shown
}

#[test]
fn p_3_25_a_document_has_many_forms() {
    // P-3.2, P-3.3, P-3.6, P-3.25
    let project = Project::new();
    for input in [
        "{\"goal\": \"Draw\", \"branch\": \"b\", \"specs\": [\"b\", \"a\"], \"mine\": {\"x\": [1]}}\nBody\n",
        "---\ngoal: Draw\ngit_ref: b\nspecs: [b, a]\nmine: {x: [1]}\n---\nBody\n",
        "\u{feff}---\r\ngoal: \"Draw\"\r\ngit_ref: b\r\nspecs:\r\n  - b\r\n  - a\r\nmine: {x: [1]}\r\n...\r\nBody\n",
    ] {
        let shown = shown(&project, input);
        assert_eq!(shown["body"], "Body\n", "{input}");
        let document = &shown["document"];
        assert_eq!(document["goal"], "Draw");
        assert_eq!(document["git_ref"], "b", "P-3.2");
        assert_eq!(document["specs"], json!(["b", "a"]), "P-3.3");
        assert_eq!(document["files"], json!([]), "P-3.3");
        assert_eq!(document["mine"], json!({"x": [1]}), "P-3.2");
    }
    // P-3.6: what stands further below is no front matter.
    for body in ["Text\n---\ngoal: x\n---\n", "Text\n --- \nText", "a\r\n---\r\n"] {
        assert_eq!(shown(&project, body)["body"], body);
    }
    // From a file, from an argument, and from flags alone.
    let file = project.write("notes.md", "From a file\n");
    for (arguments, body) in [
        (vec!["create", file.to_str().unwrap()], "From a file\n"),
        (vec!["create", "--body", "--- typed"], "--- typed"),
        (vec!["create", "--goal", "g", "--next", "n"], "## Goal\n\ng\n\n## Next step\n\nn\n"),
    ] {
        project.done(&arguments);
        assert_eq!(project.json("handoff-show", &["show", "--json"])["body"], body);
    }
    // Flags go before what stands in the text, and add to its lists.
    let arguments = [
        "create",
        "--task",
        "--goal",
        "flag",
        "--priority",
        "low",
        "--file",
        "b",
        "--tag",
        "t",
        "--spec",
        "s",
    ];
    let input =
        "{\"goal\":\"text\",\"next_step\":\"n\",\"priority\":\"high\",\"files\":[\"a\"]}\nx";
    let out = project.pipe(&[&arguments[..], &["-", "--json"]].concat(), input).done();
    let created: Value = serde_json::from_str(&out).unwrap();
    let shown = project.json("handoff-show", &["show", "--json", created["id"].as_str().unwrap()]);
    let document = &shown["document"];
    assert_eq!(
        [
            &document["goal"],
            &document["priority"],
            &document["files"],
            &document["tags"],
            &document["specs"]
        ],
        [&json!("flag"), &json!("low"), &json!(["a", "b"]), &json!(["t"]), &json!(["s"])]
    );
}

#[test]
fn p_3_25_what_is_wrong_is_named_and_nothing_is_written() {
    // P-3.5, P-3.25, P-3.26, P-3.27
    let project = Project::new();
    project.write("folder/file", "x");
    symlink(project.path().join("folder"), project.path().join("linked")).unwrap();
    let nul = "{\"files\": [\"a\\u0000b\"]}\nx";
    let long = "x".repeat(1024 * 1024 + 1);
    for (input, named) in [
        ("", "the handoff is empty"),
        (" \n\t\n", "the handoff is empty"),
        ("{\"goal\": \"g\"", "the JSON header cannot be read"),
        ("{]\nx", "the JSON header cannot be read"),
        ("{} x", "the text starts on the line where the JSON header ends"),
        ("---\ngoal: [\n---\nx", "the front matter cannot be read"),
        ("---\ngoal: g\nx", "the front matter does not end"),
        ("{\"goal\": 7}\nx", "goal is a number, not a text"),
        ("{\"files\": \"a\"}\nx", "files is a text, not a list of texts"),
        ("{\"specs\": {}}\nx", "specs is a map, not a list of texts"),
        ("{\"tags\": [\"a\", 7]}\nx", "tags has a number as item 2"),
        (
            "{\"priority\": \"urgent\"}\nx",
            "priority is \"urgent\", which is unknown; write high, medium or low",
        ),
        ("{\"kind\": \"other\"}\nx", "kind is \"other\", which is unknown"),
        ("{\"consume\": \"never\"}\nx", "consume is \"never\", which is unknown"),
        ("{\"goal\": \"a\", \"goal\": \"b\"}\nx", "goal appears twice"),
        ("---\nbranch: a\ngit_ref: b\n---\nx", "branch appears twice, or under two names"),
        (nul, "files names a file with a NUL character"),
        ("{\"files\": [\" \"]}\nx", "files names a file without a name"),
        ("{\"kind\": \"task\", \"goal\": \" \"}\nx", "a task needs goal and next_step"),
        ("{\"kind\": \"task\", \"goal\": \"g\"}\nx", "a task needs next_step"),
        ("{\"specs\": [\"docs/tiles.md\", \"folder\"]}\nx", "folder is a folder"),
        ("{\"files\": [\"linked\"]}\nx", "linked is a folder"),
        ("{\"files\": [\"..\"]}\nx", ".. is a folder"),
        ("{\"files\": [\"/\"]}\nx", "/ is a folder"),
        ("{}\n \n", "the handoff has no text"),
        (&long, "has more than 1048576 bytes"),
    ] {
        let message = project.pipe(&["create"], input).refused(2);
        assert!(
            message.starts_with("kgctx: ") && message.contains(named),
            "{input:.60}: {message}"
        );
    }
    let message = project.pipe(&["create"], b"Gr\xf6\xdfe").refused(2);
    assert!(message.contains("standard input is not UTF-8 text"), "{message}");
    for wrong in
        [&["create", "/no/such/file"][..], &["create", "--task", "--body", "x"], &["create", "."]]
    {
        project.say(wrong).refused(2);
    }
    assert!(project.documents().is_empty());
    assert_eq!(project.statuses(), []);
    // P-3.27: what is not there yet may be listed.
    project.leave("author", "{\"files\": [\"later/file.rs\"]}\nx");
}

#[test]
fn p_3_26_a_body_is_kept_to_the_byte() {
    // P-3.26
    let project = Project::new();
    let header = "{\"kind\": \"task\", \"goal\": \"g\", \"next_step\": \"n\"}";
    for body in [
        "\n\nText  \r\n\r\n",
        "  indented\n",
        "no end",
        "---\nx: y\n---\n",
        "{}\n",
        "\u{feff}x\u{85}\u{2028}",
    ] {
        for end in ["\n", "\r\n"] {
            assert_eq!(shown(&project, &format!("{header}{end}{body}"))["body"], body);
        }
    }
}

#[test]
fn p_3_28_who_and_when_cannot_be_made_up() {
    // P-3.28
    let project = Project::new();
    let input = "{\"session_id\": \"forged\", \"created_at\": \"2001-01-01T00:00:00Z\", \"id\": \"HO-20010101-000000-x\", \
                 \"timestamp2\": 1, \"expires_at\": \"2001-01-01T00:00:00Z\", \"channel\": \"other\"}\nx";
    let said = project.pipe(&["create", "--json"], input);
    let created: Value = serde_json::from_str(&said.out).unwrap();
    valid("handoff-create", &created);
    assert_eq!(
        created["ignored"],
        json!(["session_id", "created_at", "id", "expires_at", "channel"])
    );
    let id = created["id"].as_str().unwrap();
    assert!(id.ends_with("-nosess") && !id.starts_with("HO-2001"), "{id}");
    let shown = project.json("handoff-show", &["show", "--json"]);
    assert!(shown["document"].get("session_id").is_none() && shown.get("session_id").is_none());
    assert_eq!(shown["document"]["channel"], "atlas");
    assert_ne!(shown["document"]["created_at"], "2001-01-01T00:00:00Z");
    project.done(["create", "--body", "x", "--session", " "]);
    let shown = project.json("handoff-show", &["show", "--json"]);
    assert!(shown.get("session_id").is_none(), "a session without a name is none");
    // People are told.
    let said = project.pipe(&["create"], input);
    insta::assert_snapshot!(said.err, @"kgctx: ignored session_id, created_at, id, expires_at, channel, which kgctx sets itself");
    let mut command = project.command(["create", "--json"]);
    command.env("KGCTX_SESSION_ID", "ses_env");
    let created: Value = serde_json::from_str(&fed(command, input.as_bytes()).out).unwrap();
    assert!(created["id"].as_str().unwrap().ends_with("-sesenv"));
}

#[test]
fn p_3_7_any_text_comes_back() {
    // P-3.7
    let project = Project::new();
    let config =
        ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() };
    let odd = [
        "#", ":", " > ", "|", "{", "'", "\"", "\n", "yes", "012", "😀", "\\", "~", "\u{85}", "---",
        "\r", "\0",
    ];
    let odd = prop::collection::vec(prop::sample::select(odd.to_vec()), 1..5)
        .prop_map(|parts| parts.concat());
    let text = || prop_oneof![any::<String>(), odd.clone()];
    TestRunner::new(config)
        .run(&(text(), text(), text()), |(goal, tag, other)| {
            let header = json!({"goal": goal, "next_step": other, "tags": [tag], "git_ref": other, "mine": tag});
            let shown = shown(&project, &format!("{header}\nx"));
            let document = &shown["document"];
            prop_assert_eq!(&document["goal"], &header["goal"]);
            prop_assert_eq!(&document["next_step"], &header["next_step"]);
            prop_assert_eq!(&document["tags"], &header["tags"]);
            prop_assert_eq!(&document["git_ref"], &header["git_ref"]);
            prop_assert_eq!(&document["mine"], &header["mine"]);
            Ok(())
        })
        .unwrap();
}

/// Bytes of every kind, and what looks like a document.
fn inputs() -> impl Strategy<Value = Vec<u8>> {
    let parts = [
        "---\n",
        "---\r\n",
        "...\n",
        "{",
        "}",
        "\n",
        "\r\n",
        "\"goal\": ",
        "\"g\"",
        ", ",
        "goal: ",
        "files: ",
        "- a\n",
        "[",
        "]",
        "kind: task\n",
        "\"kind\": \"task\"",
        "\0",
        "\u{feff}",
        "&a ",
        "*a",
        "!!x ",
        "<!-- HANDOFF-ID: x -->\n",
        "|\n",
        "  ",
        "x",
        "../..",
        "id: y\n",
        "🦀",
        "\u{1b}[2J",
        ": ",
        "'",
        "%YAML 9\n",
        "? ",
    ];
    let parts = prop::collection::vec(prop::sample::select(parts.to_vec()), 0..12);
    prop_oneof![
        1 => prop::collection::vec(any::<u8>(), 0..200),
        1 => any::<String>().prop_map(String::into_bytes),
        4 => parts.prop_map(|parts| parts.concat().into_bytes()),
    ]
}

#[test]
fn p_3_4_any_bytes_are_kept_or_refused() {
    // P-3.4, and what must hold of everything: it comes back, or it is said what is wrong, and nothing else happens.
    let project = Project::new();
    let outside = project.outside();
    let config =
        ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() };
    TestRunner::new(config)
        .run(&inputs(), |bytes| {
            let said = project.pipe(&["create", "--json"], &bytes);
            if said.code != 0 {
                let message = said.refused(2);
                prop_assert!(message.starts_with("kgctx: ") && message.len() > 20, "{}", message);
                return Ok(());
            }
            let created: Value = serde_json::from_str(&said.out).unwrap();
            valid("handoff-create", &created);
            let shown =
                project.json("handoff-show", &["show", "--json", created["id"].as_str().unwrap()]);
            let text = String::from_utf8(bytes).unwrap();
            let document = document::input(&text).unwrap().document;
            if document.body.trim().is_empty() {
                prop_assert!(shown["body"].as_str().unwrap().starts_with("## "));
            } else {
                prop_assert_eq!(&shown["body"], &document.body);
                prop_assert!(text.ends_with(&document.body));
            }
            prop_assert_eq!(shown["document"]["goal"].as_str(), document.head.goal.as_deref());
            Ok(())
        })
        .unwrap();
    assert_eq!(project.outside(), outside);
}

#[test]
fn no_name_leads_out_of_the_store() {
    let project = Project::new();
    project.scratch.write("victim/HANDOFF.md", "mine");
    symlink(project.scratch.path().join("victim"), project.path().join("link")).unwrap();
    let before = project.outside();
    let (long, deep) = ("n".repeat(4_096), "../".repeat(1_365));
    for name in [
        "..",
        ".",
        "/",
        "../../victim",
        "/tmp",
        "a/../../../victim",
        "link",
        "link/HANDOFF.md",
        "\\..\\x",
        "C:\\x",
        "~",
        "@x",
        "con",
        "a\nb",
        "\u{1b}[2J",
        "ä/ö",
        "-x",
        " ",
        "%2e%2e%2f",
        &long,
        &deep,
    ] {
        let by_name = |flag: &str| format!("{flag}={name}");
        for arguments in [
            vec!["create".to_owned(), "--body=x".to_owned(), by_name("--channel")],
            vec!["create".to_owned(), "--body=x".to_owned(), by_name("--session")],
            vec!["create".to_owned(), "--body=x".to_owned(), by_name("--spec")],
            vec!["create".to_owned(), "--body=x".to_owned(), by_name("--file")],
            vec!["list".to_owned(), by_name("--channel")],
            vec!["release".to_owned(), by_name("--session")],
            vec!["show".to_owned(), "--".to_owned(), name.to_owned()],
            vec!["pickup".to_owned(), "--".to_owned(), name.to_owned()],
        ] {
            let said = project.say(&arguments);
            assert!((0..=2).contains(&said.code), "{arguments:.80?}: {said:?}");
            assert!(said.code == 0 || said.out.is_empty(), "{arguments:.80?}: {said:?}");
        }
        let header = json!({"session_id": name, "id": name, "channel": name, "source_id": name, "files": [name]});
        let said = project.pipe(&["create"], format!("{header}\nx"));
        assert!(matches!(said.code, 0 | 2), "{name:.80}: {said:?}");
    }
    assert_eq!(project.outside(), before);
    let store = project.scratch.path().join("kgctx-home/state/handoffs");
    for (path, _) in project.documents() {
        let inside: Vec<_> = path.strip_prefix(&store).unwrap().components().collect();
        assert_eq!(inside.len(), 2, "{}", path.display());
    }
}

#[test]
fn a_listed_file_is_relative_to_where_one_stands() {
    let project = Project::new();
    project.write("src/tiles/cache.rs", "fn cache() {}\n");
    project.write("docs/.env", "A=1\n");
    let outside = project.scratch.write("outside.md", "x");
    let folder = project.path().join("src/tiles");
    let created = |arguments: &[&str]| {
        let mut command = project.command(["create", "--json", "--goal", "g", "--next", "n"]);
        let output = command.args(arguments).current_dir(&folder).output().unwrap();
        let created: Value = serde_json::from_slice(&output.stdout).unwrap();
        valid("handoff-create", &created);
        let shown =
            project.json("handoff-show", &["show", "--json", created["id"].as_str().unwrap()]);
        (shown["document"].clone(), created["warnings"].clone())
    };
    let absolute = project.path().join("docs/tiles.md");
    let (document, warnings) = created(&[
        "--file",
        "cache.rs",
        "--file",
        "../render.rs",
        "--file",
        "./cache.rs",
        "--spec",
        "../../docs/tiles.md",
        "--spec",
        absolute.to_str().unwrap(),
    ]);
    assert_eq!(
        document["files"],
        json!(["src/tiles/cache.rs", "src/render.rs", "src/tiles/cache.rs"])
    );
    assert_eq!(document["specs"], json!(["docs/tiles.md", "docs/tiles.md"]));
    assert_eq!(warnings, json!([]));
    // Missing, outside or secret ones are listed all the same, and warned about.
    for (typed, listed, why) in [
        ("render.rs", "src/tiles/render.rs", "it does not exist"),
        ("../../docs/.env", "docs/.env", "its name marks it as secret"),
        ("../../../outside.md", outside.to_str().unwrap(), "it is outside the project"),
    ] {
        let (document, warnings) = created(&["--file", typed]);
        assert_eq!(document["files"], json!([listed]));
        let warning = match why {
            "it does not exist" => format!("{listed} does not exist; sessions cannot read it"),
            why => format!("sessions cannot read {listed} as it is now: {why}"),
        };
        assert_eq!(warnings, json!([warning]));
        let said = {
            let mut command = project.command(["create", "--goal", "g", "--file", typed]);
            command.current_dir(&folder).output().unwrap()
        };
        assert!(said.status.success());
        assert_eq!(stderr(&said), format!("kgctx: {warning}\n"));
    }
    // What a header lists is relative to the project's top, wherever one stands.
    let mut command = project.command(["create", "--json"]);
    let said = fed(
        {
            command.current_dir(&folder);
            command
        },
        b"{\"files\": [\"src/render.rs\", \"cache.rs\"]}\nx",
    );
    let created: Value = serde_json::from_str(&said.done()).unwrap();
    assert_eq!(created["warnings"], json!(["cache.rs does not exist; sessions cannot read it"]));
    // `--dir` is where one stands.
    let mut command =
        project.command(["create", "--json", "--goal", "g", "--file", "tiles.md", "--dir"]);
    let output = command.arg(project.path().join("docs")).output().unwrap();
    let created: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(created["warnings"], json!([]));
    // A folder is refused, whatever leads there.
    let mut command = project.command(["create", "--goal", "g", "--file", ".."]);
    let output = command.current_dir(&folder).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("src is a folder"), "{}", stderr(&output));
}

#[test]
fn a_secret_in_the_name_of_a_file_is_masked_in_every_answer() {
    const SECRET: &str = "ghp_x7Kd93hTq0ZmB2vLs8RfYwN4aUeC6pJ1gXoI";
    let project = Project::new();
    for form in [&["--json"][..], &[]] {
        let mut command = project.command(["create", "--goal", "g", "--file", SECRET]);
        let output = command.args(form).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let said = format!("{output:?}");
        assert!(said.contains("sessions cannot read"), "{said}");
        assert!(!said.contains(SECRET), "{said}");
    }
    project.write(&format!("{SECRET}/x"), "x");
    let output = project.command(["create", "--goal", "g", "--file", SECRET]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = format!("{output:?}");
    assert!(said.contains("is a folder") && !said.contains(SECRET), "{said}");
}
