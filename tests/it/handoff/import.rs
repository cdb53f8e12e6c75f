//! Handoffs in the stores of other tools: taken in as what they are, once, in their order, and left where they were.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{SystemTime, UNIX_EPOCH};

use kgctx::core::time::Timestamp;
use serde_json::{Value, json};

use crate::support::handoff_lab::KILL_AT;
use crate::support::handoff_project::{Project, Said, said};
use crate::support::{git, valid};

const URGENT: &str = "2026-11-17_07-52-34";
const SECOND: &str = "2026-11-17_07-52-36";
const QUEUE: &str = ".spx/sessions";

/// A session that the real spx wrote.
fn recorded(name: &str) -> String {
    let file = format!("fixtures/spx/{name}.md");
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}

/// A session as spx writes it.
fn session(n: usize, priority: &str, created_at: &str) -> String {
    format!(
        "---\n\"priority\": \"{priority}\"\n\"created_at\": \"{created_at}\"\n\"git_ref\": \"main\"\n\
         \"goal\": \"Goal {n}\"\n\"next_step\": \"Go on\"\n\"specs\": []\n\"files\": []\n---\n# Session {n}\n"
    )
}

impl Project {
    /// A project with the recorded queue, and the files that it lists.
    fn queued() -> Project {
        let project = Project::new();
        for name in [URGENT, SECOND] {
            project.write(&format!("{QUEUE}/todo/{name}.md"), recorded(name));
        }
        project.write("specs/a.md", "# The spec\n");
        project.write("src/a.ts", "const a = 1\n");
        project
    }

    /// Imports, and reads the answer, which may tell of failures.
    #[track_caller]
    fn import(&self, arguments: &[&str]) -> (i32, Value) {
        let Said { code, out, .. } = self.say([&["import", "--json"], arguments].concat());
        let imported = serde_json::from_str(&out).unwrap();
        valid("handoff-import", &imported);
        (code, imported)
    }

    fn waiting_tasks(&self) -> Vec<Value> {
        let listed = self.json("handoff-list", &["list", "--json"]);
        let is_task = |one: &Value| one["kind"] == "task" && one["status"] == "active";
        listed["handoffs"].as_array().unwrap().iter().filter(|one| is_task(one)).cloned().collect()
    }

    /// What a channel of claude-auto-handoff has left, so many minutes ago.
    fn auto_handoff(&self, channel: &str, minutes: i64, status: &str, text: &str) -> String {
        let created = before(minutes);
        let digits: String = created.chars().filter(char::is_ascii_digit).collect();
        let id = format!("HO-{}-{}-c74cc080", &digits[..8], &digits[8..14]);
        let current = json!({"id": id, "session_id": "c74cc080-94b9", "created_at": created,
            "created_by_pid": 7, "working_dir": self.path(), "type": "manual", "status": status});
        let folder = "home/.claude/handoff";
        let manifest = json!({"channel": channel, "current": current});
        self.scratch.write(&format!("{folder}/{channel}.manifest.json"), manifest.to_string());
        let head = format!(
            "<!-- HANDOFF-ID: {id} -->\n<!-- SESSION: c74cc080-94b9 -->\n<!-- CHANNEL: {channel} -->\n\
             <!-- CREATED: {created} -->\n<!-- TYPE: manual -->\n<!-- WORKING-DIR: {} -->\n\n{text}\n",
            self.path().display()
        );
        self.scratch.write(&format!("{folder}/{channel}-CURRENT.md"), head);
        id
    }
}

/// The time so many minutes ago.
fn before(minutes: i64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64;
    Timestamp::from_seconds(now - minutes * 60).to_string()
}

fn sources(imported: &Value) -> Vec<&str> {
    let all = imported["imported"].as_array().unwrap().iter();
    all.map(|one| one["source_id"].as_str().unwrap()).collect()
}

#[test]
fn a_real_queue_of_spx_becomes_tasks() {
    let project = Project::queued();
    project.write(&format!("{QUEUE}/doing/2026-11-17_08-00-00.md"), session(3, "high", "x"));
    for n in 0..5 {
        project.write(&format!("{QUEUE}/archive/2026-10-01_00-00-0{n}.md"), "done");
    }
    let before = project.outside();
    insta::assert_snapshot!("spx_dry_run", project.done(["import", "--from", "spx", "--dry-run"]));
    assert!(project.documents().is_empty(), "a dry run takes in nothing");
    insta::assert_snapshot!("spx", project.normal(&project.done(["import", "--from", "spx"])));
    assert_eq!(project.outside(), before, "the store is as it was");
    let tasks = project.waiting_tasks();
    let told = |one: &Value| (one["source_id"].clone(), one["priority"].clone());
    let expected = [(json!(URGENT), json!("high")), (json!(SECOND), json!("low"))];
    assert_eq!(tasks.iter().map(told).collect::<Vec<_>>(), expected);

    // Twice changes nothing, wherever one stands.
    let (statuses, documents) = (project.statuses(), project.documents());
    for folder in [".", "src"] {
        let (code, again) = project.import(&["--from", "spx", "--dir", folder]);
        assert_eq!((code, &again["imported"], &again["known"]), (0, &json!([]), &json!(2)));
    }
    assert_eq!((project.statuses(), project.documents()), (statuses, documents));

    let picked = project.say(["pickup", "--auto"]);
    assert_eq!(picked.code, 0);
    insta::assert_snapshot!("spx_pickup", project.normal(&picked.out));
    let next = project.done(["pickup", "--auto"]);
    assert!(next.contains("goal: \"Second\"") && next.contains("Body two."), "{next}");
}

#[test]
fn files_of_spx_are_recognised_and_are_the_same_sessions() {
    let project = Project::queued();
    let todo = project.path().join(QUEUE).join("todo");
    let files = [URGENT, SECOND].map(|name| todo.join(format!("{name}.md")));
    let files: Vec<&str> = files.iter().map(|file| file.to_str().unwrap()).collect();
    let (code, imported) = project.import(&files);
    assert_eq!((code, sources(&imported)), (0, vec![URGENT, SECOND]));
    assert_eq!(project.waiting_tasks().len(), 2);
    for again in [&["--from", "spx"][..], &files] {
        assert_eq!(project.import(again).1["known"], 2);
    }
    // Under another name it is a task all the same.
    let copy = project.scratch.write("copy.md", recorded(URGENT));
    let (_, imported) = project.import(&[copy.to_str().unwrap()]);
    assert_eq!(imported["imported"][0]["kind"], "task");
}

#[test]
fn what_was_taken_in_is_known_for_good() {
    let project = Project::queued();
    project.import(&["--from", "spx"]);
    for task in project.waiting_tasks() {
        project.done(["archive", task["id"].as_str().unwrap()]);
    }
    // Of what is done with, only one is kept: nothing but its log tells of the other.
    project.done(["prune", "--keep", "1"]);
    assert_eq!(project.statuses().len(), 1);
    let (_, again) = project.import(&["--from", "spx"]);
    assert_eq!((&again["imported"], &again["known"]), (&json!([]), &json!(2)));
    // Another project has its own.
    let other = project.scratch.path().join("other");
    fs::create_dir_all(other.join(QUEUE)).unwrap();
    git(&other, &["init", "--quiet"]);
    fs::rename(project.path().join(QUEUE).join("todo"), other.join(QUEUE).join("todo")).unwrap();
    let (_, elsewhere) = project.import(&["--from", "spx", "--dir", other.to_str().unwrap()]);
    assert_eq!(sources(&elsewhere), [URGENT, SECOND]);
}

#[test]
fn two_hundred_keep_their_order_and_a_broken_one_is_named() {
    let project = Project::new();
    let name = |n: usize| format!("2026-01-13_08-{:02}-{:02}", n / 60, n % 60);
    let path = |n: usize| format!("{QUEUE}/todo/{}.md", name(n));
    for n in 0..200 {
        // All of the same moment: their names alone tell the order.
        project.write(&path(n), session(n, "medium", "2026-01-13T08:01:05Z"));
    }
    project.write(&path(70), b"Gr\xf6\xdfe");
    project.write(&path(80), "---\npriority: [\n---\nBody\n");
    project.write(&path(90), " \n");
    // One that would lose its files.
    project.write(&path(100), "---\ngoal: g\nfiles: \"src/a.ts\"\n---\nBody\n");
    let said = project.say(["import", "--from", "spx"]);
    assert_eq!(said.code, 1, "{}", said.err);
    for n in [70, 80, 90, 100] {
        assert!(said.err.contains(&name(n)), "{}", said.err);
    }
    assert!(said.err.ends_with("kgctx: 4 handoffs could not be imported\n"), "{}", said.err);
    let expected: Vec<String> =
        (0..200).filter(|n| ![70, 80, 90, 100].contains(n)).map(|n| format!("Goal {n}")).collect();
    let goals: Vec<_> = project
        .waiting_tasks()
        .iter()
        .map(|one| one["goal"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(goals, expected);
    for goal in &expected[..3] {
        assert!(project.done(["pickup", "--auto"]).contains(&format!("goal: \"{goal}\"")));
    }
    // Mended, they come in, and nothing else does.
    for n in [70, 80, 90, 100] {
        project.write(&path(n), session(n, "high", "2026-01-13T08:01:05Z"));
    }
    let (code, mended) = project.import(&["--from", "spx"]);
    assert_eq!((code, &mended["known"]), (0, &json!(196)));
    assert_eq!(sources(&mended), [name(70), name(80), name(90), name(100)]);

    // As files, too, and without any time in them.
    let other = Project::new();
    let files: Vec<PathBuf> = (0..200)
        .map(|n| {
            let text = format!("---\nkind: task\ngoal: Goal {n}\n---\nText {n}\n");
            other.scratch.write(&format!("files/{:03}.md", (n * 7) % 200), text)
        })
        .collect();
    let mut import = other.command(["import"]);
    said_ok(&said_of(import.args(&files)));
    let goals: Vec<_> =
        other.waiting_tasks().iter().map(|one| one["goal"].as_str().unwrap().to_owned()).collect();
    assert_eq!(goals, (0..200).map(|n| format!("Goal {n}")).collect::<Vec<_>>());
}

fn said_of(command: &mut std::process::Command) -> Said {
    said(&command.output().unwrap())
}

#[track_caller]
fn said_ok(said: &Said) {
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{}", said.out);
}

#[test]
fn whoever_dies_while_importing_takes_in_all_of_it_the_next_time() {
    for (point, n_taken) in [
        ("state:uncommitted", 0),
        ("create:reserved", 0),
        ("create:written", 0),
        ("create:linked", 1),
        ("create:durable", 1),
        ("create:activated", 1),
        ("import:taken", 1),
    ] {
        let project = Project::queued();
        let mut import = project.command(["import", "--from", "spx"]);
        let output = import.env(KILL_AT, point).output().unwrap();
        assert_eq!(output.status.signal(), Some(9), "{point} is not on its way: {output:?}");
        let (code, imported) = project.import(&["--from", "spx"]);
        assert_eq!((code, &imported["known"]), (0, &json!(n_taken)), "{point}");
        assert_eq!(project.waiting_tasks().len(), 2, "{point}");
        assert_eq!(project.documents().len(), 2, "{point}");
    }
}

#[test]
fn of_many_imports_at_once_each_session_is_taken_in_by_one() {
    let project = Project::queued();
    let import = || {
        let mut command = project.command(["import", "--from", "spx", "--json"]);
        command.stdout(Stdio::piped()).spawn().unwrap()
    };
    let running: Vec<_> = (0..6).map(|_| import()).collect();
    let counts = running.into_iter().map(|child| {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        let imported: Value = serde_json::from_slice(&output.stdout).unwrap();
        sources(&imported).len()
    });
    assert_eq!(counts.sum::<usize>(), 2);
    assert_eq!((project.waiting_tasks().len(), project.documents().len()), (2, 2));
}

#[test]
fn all_worktrees_find_the_queue() {
    let project = Project::queued();
    let tree = project.scratch.path().join("tree");
    git(&project.path(), &["worktree", "add", "--quiet", tree.to_str().unwrap()]);
    let (_, imported) = project.import(&["--from", "spx", "--dir", tree.to_str().unwrap()]);
    assert_eq!(sources(&imported), [URGENT, SECOND]);
    assert_eq!(project.waiting_tasks().len(), 2);
}

#[test]
fn claude_auto_handoff_leaves_one_for_the_next_session() {
    let project = Project::new();
    let message = project.say(["import", "--from", "claude-auto-handoff"]).refused(1);
    assert!(message.contains("does not exist") && message.contains(".claude/handoff"), "{message}");
    let waits = project.auto_handoff("atlas", 10, "active", "Go on with the tiles");
    let old = project.auto_handoff("old", 121, "active", "Old");
    let given = project.auto_handoff("given", 5, "consumed", "Given");
    let folder = project.scratch.path().join("elsewhere");
    fs::create_dir(&folder).unwrap();
    let elsewhere = ["import", "--from", "claude-auto-handoff", "--json", "--dir"];
    let other = project.done(elsewhere.iter().copied().chain([folder.to_str().unwrap()]));
    let other: Value = serde_json::from_str(&other).unwrap();
    let whose = other["left_out"].as_array().unwrap();
    assert!(whose.len() == 3 && whose.iter().all(|one| one["why"] == "other-project"), "{other:#}");

    let before = project.outside();
    let (code, imported) = project.import(&["--from", "claude-auto-handoff"]);
    assert_eq!((code, sources(&imported)), (0, vec![waits.as_str()]));
    let left_out = [(&given, "consumed"), (&old, "expired")];
    let left_out = left_out.map(|(id, why)| json!({"source_id": id, "why": why}));
    assert_eq!(imported["left_out"], json!(left_out));
    assert_eq!(project.outside(), before);
    let shown = project.json("handoff-show", &["show", "--json", &waits]);
    assert_eq!([&shown["status"], &shown["kind"], &shown["type"]], ["active", "session", "manual"]);
    assert_eq!(shown["session_id"], "c74cc080-94b9");
    assert_eq!(shown["body"].as_str().unwrap().trim(), "Go on with the tiles");
    assert_eq!(project.import(&["--from", "claude-auto-handoff"]).1["known"], 1);
}

#[test]
fn nothing_newer_is_displaced() {
    let project = Project::new();
    let newer = project.leave("author", "The newer one");
    let older = project.auto_handoff("atlas", 10, "active", "The older one");
    for dry_run in [&["--dry-run"][..], &[]] {
        let import = ["import", "--from", "claude-auto-handoff"];
        let said = project.done([&import, dry_run].concat());
        assert!(said.contains("archived, a newer one waits"), "{said}");
    }
    assert_eq!([project.status(&newer), project.status(&older)], ["active", "cleared"]);
    // A file without a time is as old as the file.
    let file = project.scratch.write("note.md", "Old\n");
    let touched =
        std::process::Command::new("touch").args(["-d", "2026-01-01"]).arg(&file).status();
    assert!(touched.unwrap().success());
    project.done(["import", file.to_str().unwrap()]);
    assert_eq!(project.status(&newer), "active");
    // What no session would be given takes no place at all, however old the one is that waits.
    let old = "---\nkind: session\ncreated_at: 2026-01-01T00:00:00Z\n---\nBefore\n";
    let before = project.scratch.write("before.md", old);
    let other = ["--channel", "other"];
    project.done([&["import", before.to_str().unwrap()], &other[..]].concat());
    let auto = "---\ntype: auto\ncreated_at: 2026-01-02T00:00:00Z\n---\nToo old\n";
    let auto = project.scratch.write("auto.md", auto);
    let (code, imported) = project.import(&[&[auto.to_str().unwrap()], &other[..]].concat());
    assert_eq!((code, &imported["left_out"][0]["why"]), (0, &json!("expired")), "{imported:#}");
    assert!(project.done([&["show"], &other[..]].concat()).ends_with("Before\n"));
}

#[test]
fn a_session_of_amplifier_may_leave_several() {
    let project = Project::new();
    let slug = project.path().to_string_lossy().replace('/', "-");
    let leave = |slug: &str, session: &str, text: &str| {
        let head = format!(
            "---\nsession_id: {session}\ntimestamp: 2026-02-02T10:11:12.5+00:00\nproject: unknown\n\
             duration_turns: 7\nfiles_changed:\n  []\n---\n\n{text}\n"
        );
        let path = format!("home/.amplifier/projects/{slug}/sessions/{session}/handoff.md");
        project.scratch.write(&path, head)
    };
    let import = || project.import(&["--from", "amplifier"]).1;
    leave("unknown", "s1", "Of this project");
    leave("unknown", "s2", "Of another project");
    let transcript = format!("home/.amplifier/projects/{slug}/sessions/s1/transcript.jsonl");
    project.scratch.write(&transcript, "{}\n");
    let imported = import();
    assert_eq!(sources(&imported), ["s1"]);
    assert_eq!(imported["left_out"], json!([{"source_id": "s2", "why": "other-project"}]));
    // The same text in another layout is the same handoff, another text is another.
    let file = leave(&slug, "s1", "Of this project");
    assert_eq!((&import()["imported"], &import()["known"]), (&json!([]), &json!(2)));
    leave(&slug, "s1", "Resumed, and ended again");
    assert_eq!(sources(&import()), ["s1"]);
    assert_eq!((&import()["imported"], &import()["known"]), (&json!([]), &json!(2)));
    // As a file it is the same.
    assert_eq!(project.import(&[file.to_str().unwrap()]).1["known"], 1);
    let all = project.json("handoff-list", &["list", "--all", "--json"]);
    let types: Vec<_> =
        all["handoffs"].as_array().unwrap().iter().map(|one| &one["type"]).collect();
    assert_eq!(types, ["end", "end"]);
}

#[test]
fn a_manifest_is_no_handoff_and_every_tool_is_named() {
    let project = Project::new();
    let manifest = project.scratch.write("global.manifest.json", "{}");
    let said = project.say(["import", manifest.to_str().unwrap()]);
    assert!(said.code == 1 && said.err.contains("--from claude-auto-handoff"), "{}", said.err);
    let message = project.say(["import"]).refused(2);
    assert!(message.contains("--from: spx, claude-auto-handoff or amplifier"), "{message}");
    let said = project.say(["import", "--from", "jira"]);
    assert!(said.code == 2 && said.err.contains("spx"), "{}", said.err);
    project.say(["import", "--from", "spx", "file"]).refused(2);
    let message = project.say(["import", "--from", "spx"]).refused(1);
    let expected =
        "kgctx: spx has left nothing for this project: ~/atlas/.spx/sessions does not exist\n";
    assert_eq!(project.normal(&message), expected);
}

#[test]
fn doctor_tells_of_what_others_have_left() {
    let project = Project::queued();
    let told = || {
        let mut doctor = project.scratch.kgctx(["doctor", "--json"]);
        let output = doctor.current_dir(project.path()).output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let checks = answer["checks"].as_array().unwrap().clone();
        let found = checks.iter().filter(|check| check["name"] == "other handoffs");
        found.map(|check| check["found"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    project.auto_handoff("atlas", 10, "active", "Go on");
    let expected = [
        "2 handoffs of spx that were not imported, in ~/atlas/.spx/sessions: \
         `kgctx handoff import --from spx`",
        "1 handoff of claude-auto-handoff that was not imported, in ~/home/.claude/handoff: \
         `kgctx handoff import --from claude-auto-handoff`",
    ];
    let normal =
        |texts: Vec<String>| texts.iter().map(|text| project.normal(text)).collect::<Vec<_>>();
    assert_eq!(normal(told()), expected);
    project.import(&["--from", "spx"]);
    assert_eq!(normal(told()), expected[1..]);
    project.import(&["--from", "claude-auto-handoff"]);
    assert!(told().is_empty());
}
