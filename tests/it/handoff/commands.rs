//! `kgctx handoff` as people and agents type it: what it shows, what it does, and how it says no.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::handoff_project::Project;
use crate::support::{git, valid};

/// A store with something of everything: a claimed task, four that wait, two that are done with.
fn busy() -> (Project, [String; 5]) {
    let project = Project::new();
    let first = project.leave("first", "Left first\n");
    let second = project.leave("second", "{\"goal\": \"Draw faster\"}\nLeft second\n");
    let low = project.task("low", "low");
    let high = project.task("high", "high");
    let medium = project.task("medium", "medium");
    let done = project.task("done", "high");
    project.done(["archive", &done]);
    let claimed = project.task("claimed", "low");
    project.done(["pickup", &claimed, "--session", "ses_taker"]);
    assert_eq!(project.status(&first), "cleared");
    (project, [claimed, high, second, medium, low])
}

#[test]
fn p_3_21_lists_please_the_eye() {
    // P-3.21
    let (project, _) = busy();
    let shown = |arguments: &[&str]| project.normal(&project.done(arguments));
    insta::assert_snapshot!("handoff_list", shown(&["list"]));
    insta::assert_snapshot!("handoff_list_all", shown(&["list", "--all"]));
    insta::assert_snapshot!("handoff_log", shown(&["log", "--limit", "12"]));
    insta::assert_snapshot!(
        "handoff_fields",
        shown(&["list", "--fields", "priority,id,claimed_by_session"])
    );
    let long = Project::new();
    long.leave("author", &format!("{}\nx", json!({"goal": "Draw\nall tiles ".repeat(20)})));
    insta::assert_snapshot!(long.normal(&long.done(["list"])), @r"
    Waiting
      HO-20260131-120000-author  session  manual    Draw all tiles Draw all tiles Draw all tiles Draw all tiles…  (just now)
    ");
    let empty = Project::new();
    insta::assert_snapshot!(empty.done(["list"]), @"Nothing waits in atlas. `kgctx handoff create` leaves a handoff.");
    insta::assert_snapshot!(empty.done(["log"]), @"Nothing has happened in atlas yet.");
}

#[test]
fn p_3_21_a_list_is_in_the_order_of_work() {
    // P-3.21: claimed, then what waits for the next session, then the tasks as they are taken.
    let (project, order) = busy();
    let ids = |arguments: &[&str]| -> Vec<String> {
        let listed = project.json("handoff-list", arguments);
        let handoffs = listed["handoffs"].as_array().unwrap();
        handoffs.iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
    };
    let [claimed, high, second, medium, low] = order;
    assert_eq!(
        ids(&["list", "--json"]),
        [&claimed, &second, &high, &medium, &low].map(String::clone)
    );
    assert_eq!(ids(&["list", "--all", "--json"]).len(), 7);
    // Of equal ones the oldest first, as `pickup --auto` takes them.
    let queue = Project::new();
    let tasks = ["one", "two", "three"].map(|session| queue.task(session, "medium"));
    let listed = queue.json("handoff-list", &["list", "--json"]);
    let listed = listed["handoffs"].as_array().unwrap();
    assert_eq!(listed.iter().map(|one| &one["id"]).collect::<Vec<_>>(), tasks.each_ref());
    for task in tasks {
        let picked = queue.json("handoff-pickup", &["pickup", "--auto", "--json"]);
        assert_eq!(picked["id"], task);
    }
    // No path of this machine is in a list.
    let text = project.done(["list", "--all", "--json"]);
    assert!(!text.contains(&*project.scratch.path().to_string_lossy()), "{text}");
    // Fields come in the order in which they were asked for, and what is not there is null.
    let text = project.done(["list", "--json", "--fields", "status,id,claimed_at,kind"]);
    assert!(
        text.contains(&format!(
            "{{\"status\":\"active\",\"id\":\"{high}\",\"claimed_at\":null,\"kind\":\"task\"}}"
        )),
        "{text}"
    );
    valid("handoff-list", &serde_json::from_str(&text).unwrap());
    // Every field that a record has can be asked for.
    let all = project.json("handoff-list", &["list", "--all", "--json"]);
    for handoff in all["handoffs"].as_array().unwrap() {
        for field in handoff.as_object().unwrap().keys() {
            project.done(["list", "--fields", field]);
        }
    }
    for unknown in ["nothing", "ID", "working_dir", "id,,kind", ""] {
        let message = project.say(["list", "--fields", unknown]).refused(2);
        assert!(message.contains("; the fields are id, kind,"), "{message}");
    }
}

#[test]
fn p_3_22_showing_takes_nothing_and_archiving_asks_nothing() {
    // P-3.22
    let project = Project::new();
    let id = project.leave("author", "# Left\r\n\nText without an end");
    let before = project.documents();
    let shown = project.done(["show", &id]);
    assert!(shown.ends_with("---\n# Left\r\n\nText without an end\n"), "{shown}");
    assert_eq!(project.done(["show"]), shown, "without an id, what waits for the next session");
    let json = project.json("handoff-show", &["show", "--json", &id]);
    assert_eq!(json["body"], "# Left\r\n\nText without an end");
    assert_eq!(Path::new(json["path"].as_str().unwrap()), before[0].0);
    valid("handoff", &json["document"]);
    assert_eq!(project.status(&id), "active");
    assert_eq!(project.documents(), before);

    let stepped = project.json("handoff-step", &["archive", "--json", &id]);
    assert_eq!(stepped, json!({"id": id, "done": "archived"}));
    let message = project.say(["archive", &id]).refused(1);
    assert!(message.contains("is already archived: it is cleared"), "{message}");
    let message = project.say(["show"]).refused(1);
    assert!(message.contains("no handoff waits in channel atlas"), "{message}");
    // Whatever stands in its document: it can be put away.
    let broken = project.leave("broken", "text");
    let path = project
        .documents()
        .iter()
        .find(|(path, _)| path.ends_with(format!("{broken}.md")))
        .unwrap()
        .0
        .clone();
    std::fs::write(path, "---\ngoal: [\n").unwrap();
    assert_eq!(project.done(["archive", &broken]), format!("{broken} is archived\n"));
}

#[test]
fn p_3_20_what_was_picked_up_can_be_given_back() {
    // P-3.20
    let project = Project::new();
    let (one, two) = (project.task("one", "low"), project.task("two", "low"));
    let other = project.task("other", "low");
    for (id, session) in [(&one, "mine"), (&two, "mine"), (&other, "theirs")] {
        project.done(["pickup", id, "--session", session]);
    }
    // The last one of this session, and then the one before.
    assert_eq!(project.done(["release", "--session", "mine"]), format!("{two} waits again\n"));
    let stepped = project.json("handoff-step", &["release", "--json", "--session", "mine"]);
    assert_eq!(stepped, json!({"id": one, "done": "released"}));
    let message = project.say(["release", "--session", "mine"]).refused(1);
    assert!(message.contains("this session picked up nothing"), "{message}");
    let message = project.say(["release"]).refused(1);
    assert!(message.contains("this session picked up nothing"), "{message}");
    assert_eq!(project.status(&other), "claimed");
    // By its name, whoever has it.
    project.done(["release", &other]);
    let message = project.say(["release", &other]).refused(1);
    assert!(message.contains("is active, not claimed"), "{message}");
    project.done(["archive", &other]);
    let message = project.say(["release", &other]).refused(1);
    assert!(
        message.contains(
            "is cleared, not claimed; you can release only a handoff that was picked up or given"
        ),
        "{message}"
    );
    let mut from_environment = project.command(["pickup", &one]);
    assert!(from_environment.env("KGCTX_SESSION_ID", "env").output().unwrap().status.success());
    let mut from_environment = project.command(["release"]);
    assert!(from_environment.env("KGCTX_SESSION_ID", "env").output().unwrap().status.success());
}

#[test]
fn p_3_24_several_are_all_done_and_each_is_told() {
    // P-3.24
    let project = Project::new();
    let ids: Vec<String> =
        ["a", "b", "c"].iter().map(|name| project.task(name, "medium")).collect();
    let unknown = "HO-20200101-000000-nobody";
    let said = project.say(["archive", &ids[0], unknown, &ids[1], &ids[0]]);
    assert_eq!(said.code, 1);
    assert_eq!(said.out, format!("{} is archived\n{} is archived\n", ids[0], ids[1]));
    let told: Vec<&str> = said.err.lines().collect();
    assert!(
        told[0].contains(&format!("there is no handoff {unknown} in channel atlas")),
        "{told:?}"
    );
    assert!(told[1].contains(&format!("{} is already archived", ids[0])), "{told:?}");
    assert_eq!(told.len(), 2);
    let said = project.say(["show", "--json", unknown, &ids[2], &ids[0]]);
    assert_eq!(said.code, 1);
    let shown: Vec<Value> =
        said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!([&shown[0]["id"], &shown[1]["id"]], [&ids[2], &ids[0]]);
    let said = project.say(["release", &ids[2], unknown]);
    assert_eq!((said.code, said.err.lines().count()), (1, 2));
}

#[test]
fn a_store_can_be_cleared_and_its_steps_are_told() {
    let project = Project::new();
    let id = project.leave("author", "text");
    let task = project.task("task", "high");
    assert_eq!(project.json("handoff-clear", &["clear", "--json"]), json!({"cleared": id}));
    assert_eq!(project.json("handoff-clear", &["clear", "--json"]), json!({"cleared": null}));
    insta::assert_snapshot!(project.done(["clear"]), @"Nothing waits for the next session in atlas");
    project.leave("again", "text");
    insta::assert_snapshot!(project.normal(&project.done(["clear"])), @"HO-20260131-120000-again is archived; nothing waits for the next session in atlas");
    assert_eq!(project.status(&task), "active", "tasks stay");
    let log = project.done(["log", "--json", &id]);
    let steps: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    steps.iter().for_each(|step| valid("handoff-log", step));
    let to: Vec<_> = steps.iter().map(|step| step["to"].as_str().unwrap()).collect();
    assert_eq!(to, ["cleared", "active", "draft"], "the newest first");
    project.say(["log", "HO-20200101-000000-nobody"]).refused(1);
}

#[test]
fn p_3_29_all_worktrees_share_one_store_and_a_plain_folder_has_its_own() {
    // P-3.29
    let project = Project::new();
    git(&project.path(), &["worktree", "add", "--quiet", "../beside"]);
    let id = project.leave("author", "text");
    let beside = project.scratch.path().join("beside");
    let listed = |folder: &Path| {
        let output =
            project.command(["list", "--fields", "id"]).current_dir(folder).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(listed(&beside), format!("{id}\n"));
    assert_eq!(listed(&project.path().join("src")), format!("{id}\n"));
    let plain = project.scratch.path().join("plain");
    std::fs::create_dir(&plain).unwrap();
    assert_eq!(listed(&plain), "");
    let output = project.command(["create", "--body", "x"]).current_dir(&plain).output().unwrap();
    let notice = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success());
    assert!(
        notice.starts_with("kgctx: the project is ")
            && notice.contains(" itself, without a git repository"),
        "{notice}"
    );
    assert_ne!(listed(&plain), "");
    assert_eq!(listed(&beside), format!("{id}\n"));
}

#[test]
fn p_3_31_what_is_no_id_is_refused_before_anything_is_opened() {
    // P-3.31
    let project = Project::new();
    let long = "a".repeat(4_096);
    for wrong in [
        "x",
        "..",
        "../../etc/passwd",
        "/etc/passwd",
        "HO-20260131-120000-a/../b",
        "HO-20260131-120000-ä",
        "HO-2026-01-31",
        "2026-01-31_12-00-00.md",
        "",
        " ",
        "\u{1b}[31m",
        &long,
    ] {
        for command in ["show", "pickup", "release", "archive", "log", "export", "reconcile"] {
            let message = project.say([command, wrong]).refused(2);
            assert!(
                message.contains("is not the id of a handoff") || wrong.is_empty(),
                "{command}: {message}"
            );
            assert!(!message.contains('\u{1b}'), "{message:?}");
        }
    }
    assert!(!project.scratch.path().join("kgctx-home").exists(), "nothing was opened");
    // What has the form of one, or of its beginning, is only unknown.
    for unknown in ["HO-20200101-000000-", "ho-2020", "2026-01-31"] {
        let message = project.say(["show", unknown]).refused(1);
        let expect = format!("no handoff in channel atlas starts with {unknown}");
        assert!(message.contains(&expect), "{message}");
    }
    for unknown in ["HO-20200101-000000-nobody", "2026-01-13_08-01-05"] {
        let message = project.say(["show", unknown]).refused(1);
        assert!(
            message.contains(&format!("there is no handoff {unknown} in channel atlas")),
            "{message}"
        );
    }
}

#[test]
fn p_3_32_what_a_handoff_says_is_compared_with_what_is_there() {
    // P-3.32
    let project = Project::new();
    project.write("secret/.env", "KEY=1");
    let header = json!({
        "kind": "task", "goal": "g", "next_step": "n", "git_ref": "gone-branch",
        "specs": ["docs/tiles.md"], "files": ["src/gone.rs", "../outside", "secret/.env", "later"],
    });
    let id = project.leave("author", &format!("{header}\ntext"));
    std::fs::create_dir(project.path().join("later")).unwrap();
    let before = (project.outside(), project.documents(), project.statuses());
    let said = project.say(["reconcile", &id]);
    assert_eq!((said.code, said.err.as_str()), (1, "kgctx: found 4 problems\n"));
    insta::assert_snapshot!("handoff_reconcile", said.out);
    let said = project.say(["reconcile", "--json", &id]);
    let findings: Value = serde_json::from_str(&said.out).unwrap();
    valid("handoff-reconcile", &findings);
    let verdicts: Vec<_> = findings["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(
        verdicts,
        ["discrepant", "confirmed", "discrepant", "discrepant", "discrepant", "unverifiable"]
    );
    assert_eq!((project.outside(), project.documents(), project.statuses()), before);

    // Without an id, documents and state are compared.
    let fine = project.leave("fine", "text");
    insta::assert_snapshot!(project.done(["reconcile"]), @"2 handoffs are correct");
    let path = |id: &str| {
        project
            .documents()
            .into_iter()
            .find(|(path, _)| path.ends_with(format!("{id}.md")))
            .unwrap()
            .0
    };
    std::fs::copy(path(&fine), path(&fine).with_file_name("HO-20260131-120000-lost.md")).unwrap();
    std::fs::remove_file(path(&id)).unwrap();
    let said = project.say(["reconcile"]);
    assert_eq!(said.code, 1);
    insta::assert_snapshot!("handoff_reconcile_all", project.normal(&said.out));
    let said = project.say(["reconcile", "--repair", "--json"]);
    let repaired: Value = serde_json::from_str(&said.out).unwrap();
    valid("handoff-reconcile", &repaired);
    assert_eq!(repaired["adopted"], json!(["HO-20260131-120000-lost"]));
}

#[test]
fn p_3_19_wrong_usage_is_told_with_the_usage() {
    // P-3.19, P-3.24
    let project = Project::new();
    let id = "HO-20260131-120000-a";
    for wrong in [
        &["pickup"][..],
        &["pickup", "--auto", id],
        &["pickup", id, id],
        &["archive"],
        &["import", "--amplifier", "file"],
        &["export", "--amplifier", "--to", "file"],
        &["reconcile", "--repair", id],
        &["create", "--task", "--sticky", "--body", "x"],
        &["create", "--body", "x", "file"],
        &["create", "--priority", "urgent", "--body", "x"],
        &["create", "--type", "later", "--body", "x"],
        &["unknown"],
        &[],
    ] {
        let message = project.say(wrong).refused(2);
        assert!(message.contains("--help") || message.contains("Usage: "), "{wrong:?}: {message}");
    }
    let message = project.say(["pickup"]).refused(2);
    assert!(message.contains("Usage: kgctx handoff pickup <ID|--auto>"), "{message}");
    assert!(project.documents().is_empty());
}

#[test]
fn help_can_be_read() {
    let project = Project::new();
    insta::assert_snapshot!("handoff_help", project.done(["-h"]));
    for command in ["create", "list", "pickup", "prune", "import", "reconcile"] {
        insta::assert_snapshot!(format!("handoff_help_{command}"), project.done([command, "-h"]));
    }
}

#[test]
fn an_id_may_be_typed_in_any_case_and_by_its_beginning() {
    let (project, [claimed, high, second, ..]) = busy();
    let shown =
        |typed: &str| project.json("handoff-show", &["show", typed, "--json"])["id"].clone();
    for id in [&claimed, &high, &second] {
        assert_eq!(shown(&id.to_lowercase()), *id);
        assert_eq!(shown(&id[..id.len() - 1]), *id);
    }
    let message = project.say(["show", "ho-2026"]).refused(1);
    assert!(message.contains("handoffs start with ho-2026: HO-2026"), "{message}");
    assert!(message.contains("; type more of the id"), "{message}");
    let beginning = high.to_lowercase();
    project.done(["pickup", &beginning[..beginning.len() - 2], "--session", "ses_other"]);
    assert_eq!(project.status(&high), "claimed");
    project.done(["release", &beginning]);
    project.done(["archive", &beginning]);
    assert_eq!(project.status(&high), "cleared");
    for command in ["log", "export", "reconcile"] {
        project.done([command, &beginning]);
    }
}
