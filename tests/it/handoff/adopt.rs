//! A project that was moved or renamed finds what was left in it before.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::handoff_lab::{KILL_AT, Lab};
use crate::support::{git, stderr, valid};

/// Moves the project, and returns its new folder.
fn moved(lab: &Lab) -> PathBuf {
    let to = lab.scratch.path().join("moved/breeze");
    fs::create_dir(to.parent().unwrap()).unwrap();
    fs::rename(lab.folder(), &to).unwrap();
    // The folder that commands of the lab start in is another project now.
    to
}

#[test]
fn handoffs_of_a_moved_project_are_found_and_adopted() {
    let lab = Lab::new();
    let task = lab.create(&["--task", "--priority", "high", "--goal", "Ship", "--next", "Test"]);
    let taken = lab.create(&["--task", "--goal", "Taken", "--next", "Test"]);
    lab.handoff(&["pickup", &taken, "--session", "gone"]);
    let left = lab.create(&["--session", "author", "--for", "any", "--body", "Go on."]);
    let (old, new) = (lab.folder().to_owned(), moved(&lab));
    let run = |arguments: &[&str]| {
        let mut command = lab.scratch.kgctx(["handoff"]);
        command.args(arguments).current_dir(&new).output().unwrap()
    };
    let text = |arguments: &[&str]| String::from_utf8(run(arguments).stdout).unwrap();
    let json = |arguments: &[&str]| -> Value { serde_json::from_str(&text(arguments)).unwrap() };

    let empty = text(&["list"]);
    assert!(
        empty.contains("There are more in folders that no longer exist (3 handoffs): "),
        "{empty}"
    );
    let all = text(&["list", "--everywhere"]);
    let adopt = format!("kgctx handoff adopt --from {}", old.display());
    assert!(
        all.starts_with(&format!("zephyr  {}", old.display())) && all.contains(&adopt),
        "{all}"
    );
    let listed = json(&["list", "--everywhere", "--json"]);
    valid("handoff-list", &listed);
    let ids: Vec<&Value> =
        listed["handoffs"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
    assert_eq!(ids, [&taken, &left, &task]);
    assert!(
        listed["handoffs"].as_array().unwrap().iter().all(|one| one["working_dir"] == json!(old))
    );

    let adopted = text(&["adopt", "--from", old.to_str().unwrap()]);
    assert_eq!(adopted.lines().count(), 3, "{adopted}");
    let listed = json(&["list", "--json"]);
    let listed = listed["handoffs"].as_array().unwrap();
    let sources: Vec<&Value> = listed.iter().map(|one| &one["source_id"]).collect();
    assert_eq!(sources, [&left, &task, &taken], "all of them wait");
    assert!(listed.iter().all(|one| one["status"] == "active" && one["channel"] == "breeze"));
    assert_eq!(listed[0]["audience"], "any");
    // The former ids still lead there, and the former handoffs are archived.
    assert!(text(&["show", &left]).contains("Go on."));
    assert_eq!(lab.status(&left).as_deref(), Some("cleared"));
    assert_eq!(run(&["adopt", "--from", old.to_str().unwrap()]).status.code(), Some(1));
    let all = text(&["list", "--everywhere"]);
    assert!(all.starts_with(&format!("breeze  {}  (this project)", new.display())), "{all}");
}

#[test]
fn one_is_adopted_by_its_id_and_what_waits_keeps_its_place() {
    let lab = Lab::new();
    let older = lab.leave("Older.");
    let other = lab.scratch.path().join("other");
    fs::create_dir(&other).unwrap();
    git(&other, &["init", "--quiet"]);
    let run = |arguments: &[&str]| {
        let mut command = lab.scratch.kgctx(["handoff"]);
        command.args(arguments).current_dir(&other).output().unwrap()
    };
    let said = run(&["create", "--json", "--body", "Newer."]);
    let newer: Value = serde_json::from_slice(&said.stdout).unwrap();
    // Killed between the copy and the rest, and done again.
    let mut killed = lab.scratch.kgctx(["handoff", "adopt", &older]);
    let killed = killed.current_dir(&other).env(KILL_AT, "adopt:copied").output().unwrap();
    assert_eq!(killed.status.code(), None, "{killed:?}");
    assert_eq!(lab.status(&older).as_deref(), Some("claimed"), "nothing is lost");
    assert_eq!(lab.start("s"), None, "nothing is given twice");
    let said = run(&["adopt", "--json", &older]);
    let adopted: Value = serde_json::from_slice(&said.stdout).unwrap();
    valid("handoff-step", &adopted);
    assert_eq!((&adopted["done"], &adopted["from"]), (&json!("adopted"), &json!(older)));
    let copy = adopted["id"].as_str().unwrap();
    assert_eq!(lab.status(copy).as_deref(), Some("cleared"), "a newer one waits");
    assert_eq!(lab.status(newer["id"].as_str().unwrap()).as_deref(), Some("active"));
    assert_eq!(lab.status(&older).as_deref(), Some("cleared"));
    for (arguments, why) in [
        (&["adopt", &older][..], "does not match exactly one waiting or claimed handoff"),
        (&["adopt", newer["id"].as_str().unwrap()], "already belongs to this project"),
        (&["adopt", "--from", "/no/such/folder"], "no other project left a handoff in"),
    ] {
        let said = run(arguments);
        assert_eq!(said.status.code(), Some(1), "{arguments:?}");
        assert!(stderr(&said).contains(why), "{arguments:?}: {}", stderr(&said));
    }
    assert_eq!(run(&["adopt"]).status.code(), Some(2));
}

/// Another project in the same scratch place.
struct Other<'a> {
    lab: &'a Lab,
    folder: PathBuf,
}

impl Other<'_> {
    fn new<'a>(lab: &'a Lab, name: &str) -> Other<'a> {
        let folder = lab.scratch.path().join(name);
        fs::create_dir(&folder).unwrap();
        git(&folder, &["init", "--quiet"]);
        Other { lab, folder }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.lab.scratch.kgctx(["handoff"]);
        command.args(arguments).current_dir(&self.folder);
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn text(&self, arguments: &[&str]) -> String {
        String::from_utf8(self.run(arguments).stdout).unwrap()
    }
}

#[test]
fn a_removed_worktree_is_not_a_moved_project() {
    let lab = Lab::new();
    let author = ["-c", "user.name=A", "-c", "user.email=a@example.org"];
    let commit = ["commit", "--quiet", "--allow-empty", "--message", "first"];
    git(lab.folder(), &[&author[..], &commit].concat());
    git(lab.folder(), &["worktree", "add", "--quiet", "../side"]);
    lab.handoff(&["archive", &lab.leave("In the main checkout.")]);
    let side = lab.scratch.path().join("side");
    let mut create = lab.scratch.kgctx(["handoff", "create", "--body", "In the worktree."]);
    assert!(create.current_dir(&side).output().unwrap().status.success());
    git(lab.folder(), &["worktree", "remove", "../side"]);
    let other = Other::new(&lab, "other");
    let all = other.text(&["list", "--everywhere"]);
    assert!(all.contains("zephyr") && !all.contains("gone"), "{all}");
    let empty = other.text(&["list"]);
    assert!(!empty.contains("gone"), "{empty}");
    // Without any folder that is there, it is.
    fs::rename(lab.folder(), lab.scratch.path().join("elsewhere")).unwrap();
    let all = other.text(&["list", "--everywhere"]);
    assert!(all.contains("(gone; "), "{all}");
}

#[test]
fn what_is_adopted_from_a_folder_is_only_what_was_left_there() {
    let lab = Lab::new();
    let [other, third] = ["other", "third"].map(|name| Other::new(&lab, name));
    let own = lab.create(&["--task", "--goal", "Own", "--next", "Test"]);
    // A document can name any folder, as after an import.
    let body = format!("---\nworking_dir: {}\n---\nFrom elsewhere.\n", third.folder.display());
    let named = lab.create(&["--body", &body]);
    let folder = third.folder.to_str().unwrap();
    let adopted = other.text(&["adopt", "--from", folder]);
    assert!(adopted.contains(&named) && adopted.lines().count() == 1, "{adopted}");
    assert_eq!(lab.status(&own).as_deref(), Some("active"));
    // All of the project whose root the folder is, wherever they say that they were left.
    let nowhere = lab.create(&["--body", "---\nworking_dir: /no/such/folder\n---\nX\n"]);
    let adopted = other.text(&["adopt", "--from", lab.folder().to_str().unwrap()]);
    assert!(adopted.contains(&nowhere) && adopted.contains(&own), "{adopted}");
}

#[test]
fn what_a_live_session_claims_is_only_adopted_by_its_id() {
    let lab = Lab::new();
    let other = Other::new(&lab, "other");
    let waiting = lab.create(&["--task", "--goal", "Waits", "--next", "Test"]);
    let claimed = lab.create(&["--task", "--goal", "Claimed", "--next", "Test"]);
    lab.start("live");
    lab.handoff(&["pickup", &claimed, "--session", "live"]);
    let folder = lab.folder().to_str().unwrap();
    let said = other.run(&["adopt", "--from", folder]);
    assert_eq!(said.status.code(), Some(1), "{said:?}");
    let why = format!("skipped {claimed}, which session live claims");
    assert!(stderr(&said).contains(&why), "{said:?}");
    assert_eq!(lab.status(&waiting).as_deref(), Some("cleared"));
    assert_eq!(lab.status(&claimed).as_deref(), Some("claimed"));
    assert!(other.run(&["adopt", &claimed]).status.success());
    assert_eq!(lab.status(&claimed).as_deref(), Some("cleared"));
}

#[test]
fn what_is_being_adopted_is_neither_given_nor_adopted_twice() {
    let lab = Lab::new();
    let [other, third] = ["other", "third"].map(|name| Other::new(&lab, name));
    let id = lab.leave("Go on.");
    let killed = other.command(&["adopt", &id]).env(KILL_AT, "adopt:begun").output().unwrap();
    assert_eq!(killed.status.code(), None, "{killed:?}");
    assert_eq!(lab.start("s"), None);
    lab.handoff(&["list"]);
    assert_eq!(lab.status(&id).as_deref(), Some("claimed"), "no process gives it back");
    // As long as a process adopts it, no other one can.
    let mut held = other.command(&["adopt", &id]);
    held.env("KGCTX_TEST_HOLD_AT", "adopt:begun").stdout(Stdio::null());
    let mut held = held.spawn().unwrap();
    let sql = "SELECT owner_pid FROM handoffs WHERE id = ?1";
    let owner = || -> u32 { lab.state().query_row(sql, [&id], |row| row.get(0)).unwrap() };
    while owner() != held.id() {
        thread::sleep(Duration::from_millis(5));
    }
    let said = third.run(&["adopt", &id]);
    assert!(stderr(&said).contains(&format!("{id} cannot be adopted")), "{said:?}");
    thread::sleep(Duration::from_millis(100));
    let pid = held.id().to_string();
    assert!(Command::new("kill").args(["-CONT", &pid]).status().unwrap().success());
    assert!(held.wait().unwrap().success());
    assert_eq!(lab.status(&id).as_deref(), Some("cleared"));
    let listed: Value = serde_json::from_str(&other.text(&["list", "--json"])).unwrap();
    assert_eq!(listed["handoffs"].as_array().unwrap().len(), 1, "{listed}");
    // What cannot be copied waits on.
    let broken = lab.leave("Broken.");
    fs::write(lab.document(&broken), [0xff, 0xfe]).unwrap();
    assert!(!other.run(&["adopt", &broken]).status.success());
    assert_eq!(lab.status(&broken).as_deref(), Some("active"));
}

#[test]
fn a_folder_in_a_command_is_quoted_and_masked() {
    const SECRET: &str = "ghp_x7Kd93hTq0ZmB2vLs8RfYwN4aUeC6pJ1gXoI";
    for (left, is_from) in [
        ("/gone/a b; touch 'pwned'", Some(r"--from '/gone/a b; touch '\''pwned'\'''`")),
        ("/gone/$(touch pwned)", Some("--from '/gone/$(touch pwned)'`")),
        ("/gone/plain", Some("--from /gone/plain`")),
        ("--json", None),
        (&format!("/gone/{SECRET}"), None),
    ] {
        let lab = Lab::new();
        lab.create(&["--body", &format!("---\nworking_dir: {}\n---\nX\n", json!(left))]);
        fs::rename(lab.folder(), lab.scratch.path().join("moved")).unwrap();
        let all = Other::new(&lab, "other").text(&["list", "--everywhere"]);
        assert!(!all.contains(SECRET), "{all}");
        let expected = is_from.unwrap_or("`kgctx handoff adopt ID` takes one over");
        assert!(all.contains(expected), "{left}: {all}");
    }
}
