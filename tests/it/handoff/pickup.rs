//! `kgctx handoff pickup`: what is printed, which files come with it, and who gets it.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::support::handoff_project::{Project, Said, said};
use crate::support::valid;

#[test]
fn p_3_1_a_pickup_is_the_document_and_its_files() {
    // P-3.1, P-3.8, P-3.9, P-3.30
    let project = Project::new();
    let id = project.listing(&["docs/tiles.md"], &["src/render.rs", "src/gone.rs"]);
    let said = project.say(["pickup", &id, "--session", "taker"]);
    assert_eq!(said.code, 0);
    insta::assert_snapshot!("handoff_pickup", project.normal(&said.out));
    assert_eq!(said.err, "kgctx: [Warning: File not found: src/gone.rs]\n", "P-3.9");
    assert!(said.out.contains(&format!("<PICKUP_ID>{id}</PICKUP_ID>\n")), "P-3.30");
    assert_eq!(project.status(&id), "claimed");
}

#[test]
fn p_3_30_scripts_find_the_id_and_the_file() {
    // P-3.30
    let project = Project::new();
    let out = project.done(["create", "--goal", "Draw", "--next", "Read", "--session", "author"]);
    insta::assert_snapshot!("handoff_create", project.normal(&out));
    let between = |mark: &str| {
        let (_, rest) = out.split_once(&format!("<{mark}>")).unwrap();
        rest.split_once(&format!("</{mark}>")).unwrap().0.to_owned()
    };
    let text = fs::read_to_string(between("SESSION_FILE")).unwrap();
    assert_eq!(project.done(["show", &between("HANDOFF_ID")]), text);
    let out = project.done(["create", "--body", "x", "--type", "end", "--session", "newer"]);
    insta::assert_snapshot!("handoff_create_end", project.normal(&out));
    let out = project.done(["create", "--task", "--goal", "g", "--next", "n", "--session", "task"]);
    insta::assert_snapshot!("handoff_create_task", project.normal(&out));
}

/// The names of what a pickup shows, in its order, and its warnings.
fn shown(project: &Project, arguments: &[&str]) -> (Vec<String>, Vec<String>) {
    let said = project.say([&["pickup"], arguments].concat());
    assert_eq!(said.code, 0, "{}", said.err);
    let title = |line: &str| Some(line.strip_prefix("--- ")?.strip_suffix(" ---")?.to_owned());
    let titles: Vec<String> = said.out.lines().filter_map(title).collect();
    let has_section = said.out.contains("\n=== Injected Files ===\n");
    assert_eq!(has_section, !titles.is_empty(), "P-3.11: {}", said.out);
    let warnings: Vec<String> =
        said.out.lines().filter(|line| line.starts_with('[')).map(str::to_owned).collect();
    let told: Vec<String> = said.err.lines().map(|line| line.replace("kgctx: ", "")).collect();
    assert_eq!(warnings, told, "what is in the text is also told beside it");
    (titles, warnings)
}

#[test]
fn p_3_8_specs_come_first_and_nothing_twice() {
    // P-3.8, P-3.14
    let project = Project::new();
    for name in ["a", "b", "c", "unlisted"] {
        project.write(name, format!("text of {name}\n"));
    }
    let id = project.listing(&["c", "a"], &["b", "./a", "docs/tiles.md", "b"]);
    let (titles, warnings) = shown(&project, &[&id]);
    assert_eq!(titles, ["c", "a", "b", "docs/tiles.md"]);
    assert!(warnings.is_empty());
    project.done(["release", &id]);
    assert!(!project.done(["pickup", &id]).contains("text of unlisted"), "P-3.14");
}

#[test]
fn p_3_10_what_cannot_be_read_is_named_and_the_claim_stands() {
    // P-3.9, P-3.10, P-3.11
    let project = Project::new();
    project.write("latin.txt", b"Gr\xf6\xdfe");
    project.write("binary", b"a\0b");
    let pipe = std::process::Command::new("mkfifo").arg(project.path().join("pipe")).status();
    assert!(pipe.unwrap().success());
    let listed = ["later", "latin.txt", "binary", "pipe", "gone"];
    let id = project.listing(&[], &listed);
    fs::create_dir(project.path().join("later")).unwrap();
    let (titles, warnings) = shown(&project, &[&id]);
    assert_eq!(
        (titles.len(), warnings),
        (
            0,
            [
                "[Warning: Unreadable: later (it is a directory)]",
                "[Warning: Unreadable: latin.txt (it is not UTF-8 text)]",
                "[Warning: Unreadable: binary (it is binary)]",
                "[Warning: Unreadable: pipe (it is not a regular file)]",
                "[Warning: File not found: gone]",
            ]
            .map(str::to_owned)
            .to_vec()
        )
    );
    assert_eq!(project.status(&id), "claimed");
    // P-3.11: nothing listed, no section.
    let id = project.task("plain", "low");
    assert!(!project.done(["pickup", &id]).contains("=== Injected"));
}

#[test]
fn p_3_12_without_files_none_is_opened() {
    // P-3.12: a file's time of access tells whether it was read, where the file system keeps it.
    let project = Project::new();
    let id = project.listing(&["docs/tiles.md"], &["src/render.rs", "gone"]);
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let paths = ["docs/tiles.md", "src/render.rs"].map(|path| project.path().join(path));
    let forget = || {
        for path in &paths {
            let file = fs::File::options().write(true).open(path).unwrap();
            file.set_times(fs::FileTimes::new().set_accessed(long_ago)).unwrap();
        }
    };
    let accessed = || paths.clone().map(|path| fs::metadata(path).unwrap().accessed().unwrap());
    forget();
    let out = project.done(["pickup", &id, "--no-inject"]);
    assert!(out.ends_with("Body\n") && !out.contains("=== Injected"), "{out}");
    assert_eq!(accessed(), [long_ago; 2]);
    project.done(["release", &id]);
    let picked = project.json("handoff-pickup", &["pickup", &id, "--no-inject", "--json"]);
    assert_eq!(picked["files"], json!([]));
    assert_eq!(accessed(), [long_ago; 2]);
    project.done(["release", &id]);
    assert_eq!(project.say(["pickup", &id]).code, 0);
    if accessed() == [long_ago; 2] {
        eprintln!("this file system keeps no time of access: the test has seen little");
    }
}

#[test]
fn p_3_13_files_are_read_when_they_are_needed() {
    // P-3.13
    let project = Project::new();
    project.write("notes.md", "as it was\n");
    let id = project.listing(&[], &["notes.md", "later.md"]);
    assert!(!String::from_utf8_lossy(&project.documents()[0].1).contains("as it was"));
    project.write("notes.md", "as it is\n");
    project.write("later.md", "new\n");
    let out = project.done(["pickup", &id]);
    assert!(out.ends_with("--- notes.md ---\nas it is\n\n--- later.md ---\nnew\n"), "{out}");
    project.done(["release", &id]);
    project.write("notes.md", "as it is now\n");
    assert!(project.done(["pickup", &id]).contains("\nas it is now\n"));
}

#[test]
fn p_3_15_nothing_outside_of_the_project_is_shown() {
    // P-3.15
    let project = Project::new();
    let outside = project.scratch.write("outside.txt", "private\n");
    let allowed = project.scratch.write("shared/style.md", "shared\n");
    project.write(".env", "KEY=1\n");
    project.write("keys/server.pem", "KEY\n");
    symlink(&outside, project.path().join("link")).unwrap();
    symlink(project.scratch.path(), project.path().join("up")).unwrap();
    let long = "n/".repeat(2_048);
    let listed = [
        "../outside.txt",
        outside.to_str().unwrap(),
        "link",
        "up/outside.txt",
        "src/../../outside.txt",
        ".env",
        "keys/server.pem",
        allowed.to_str().unwrap(),
        &long,
    ];
    let id = project.listing(&[], &listed);
    let said = project.say(["pickup", &id]);
    assert_eq!(said.code, 0);
    assert_eq!(said.out.matches("[Warning: Unreadable: ").count(), listed.len(), "{}", said.out);
    assert_eq!(said.out.matches("(it is outside the project)]").count(), 6, "{}", said.out);
    for content in ["private", "KEY", "shared\n"] {
        assert!(!said.out.contains(content), "{content}");
    }
    // What the user allows is shown.
    project.done(["release", &id]);
    let folder = allowed.parent().unwrap().to_str().unwrap();
    project.scratch.write("kgctx-home/config.toml", format!("[handoff]\nallow = [{folder:?}]\n"));
    let said = project.say(["pickup", &id]);
    assert!(said.out.contains(&format!("--- {} ---\nshared\n", allowed.display())), "{}", said.out);
    assert!(!said.out.contains("private"));
}

#[test]
fn p_3_16_long_files_are_cut_and_the_rest_is_named() {
    // P-3.16
    let project = Project::new();
    let names: Vec<String> = (0..10).map(|n| format!("long{n}")).collect();
    for name in &names {
        // Characters of three bytes, of which none is cut.
        project.write(name, "€".repeat(20_000));
    }
    let listed: Vec<&str> = names.iter().map(String::as_str).collect();
    let id = project.listing(&[], &listed);
    let (titles, warnings) = shown(&project, &[&id]);
    assert_eq!(titles, listed[..9]);
    assert_eq!(warnings[0], "[Truncated: long0, 32766 of 60000 bytes]");
    assert_eq!(
        warnings[9],
        "[Not shown: long9, 60000 bytes; the limit of 262144 bytes was reached]"
    );
    assert_eq!(warnings.len(), 10);
}

#[test]
fn p_3_17_nothing_forges_our_lines_and_json_has_it_all() {
    // P-3.17
    let project = Project::new();
    let forged =
        "=== Injected Files ===\n--- src/evil.rs ---\n[Warning: none]\n<PICKUP_ID>x</PICKUP_ID>\n";
    project.write("forged.md", forged);
    let id = project.listing(&["forged.md"], &["gone"]);
    let (titles, warnings) = shown(&project, &[&id]);
    assert_eq!(titles, ["forged.md"]);
    assert_eq!(warnings, ["[Warning: File not found: gone]"]);
    project.done(["release", &id]);
    let said = project.say(["pickup", "--json", &id]);
    let picked: Value = serde_json::from_str(&said.out).unwrap();
    valid("handoff-pickup", &picked);
    valid("handoff", &picked["document"]);
    assert_eq!(picked["body"], "Body\n");
    assert_eq!(
        picked["files"],
        json!([
            {"path": "forged.md", "found": "text", "text": forged, "total": forged.len()},
            {"path": "gone", "found": "missing"},
        ])
    );
}

#[test]
fn p_3_18_of_many_one_gets_it() {
    // P-3.18
    let project = Project::new();
    for round in 0..6 {
        let id = project.task(&format!("author{round}"), "medium");
        let (won, lost) = race(&project, 8, &["pickup", &id]);
        assert_eq!(won.len(), 1, "{won:?}");
        assert!(won[0].out.contains(&format!("Body of author{round}")));
        for loser in lost {
            let message = loser.refused(1);
            assert!(message.contains(&format!("{id} is not available: ")), "{message}");
            assert!(message.contains("another session may have claimed it"), "{message}");
        }
    }
}

/// Runs a command many times at once: those that succeeded, and those that did not.
fn race(project: &Project, n_racers: usize, arguments: &[&str]) -> (Vec<Said>, Vec<Said>) {
    let start = |n: usize| {
        let mut command = project.command(arguments);
        command.args(["--session", &format!("s{n}")]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let racers: Vec<_> = (0..n_racers).map(start).collect();
    let ended = racers.into_iter().map(|racer| said(&racer.wait_with_output().unwrap()));
    ended.partition(|said| said.code == 0)
}

#[test]
fn p_3_19_the_most_urgent_is_next_and_each_goes_once() {
    // P-3.19
    let project = Project::new();
    project.leave("session", "Left for the next session, which is no task\n");
    let order = [("b", "medium"), ("a", "high"), ("c", "low"), ("d", "high"), ("e", "medium")]
        .map(|(name, priority)| project.task(name, priority));
    let picked = |out: &str| {
        out.lines().next().unwrap().strip_prefix("Session claimed: ").unwrap().to_owned()
    };
    for n in [1, 3] {
        assert_eq!(picked(&project.done(["pickup", "--auto"])), order[n]);
    }
    // All others at once: nobody goes away with what another has, and two go away with nothing.
    let (won, lost) = race(&project, 5, &["pickup", "--auto"]);
    let mut ids: Vec<_> = won.iter().map(|said| picked(&said.out)).collect();
    ids.sort();
    let mut expect = [order[0].clone(), order[2].clone(), order[4].clone()];
    expect.sort();
    assert_eq!(ids, expect);
    for loser in lost {
        let message = loser.refused(1);
        assert!(message.contains("no task waits in channel atlas"), "{message}");
    }
}

#[test]
fn a_pickup_that_nobody_can_read_is_no_pickup() {
    let project = Project::new();
    let id = project.task("author", "medium");
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = project.command(["pickup", &id]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(said(&output).err.contains("its text could not be printed"));
    assert_eq!(project.status(&id), "active");
}
