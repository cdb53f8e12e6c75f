//! Rotation: what is scheduled and refused, and a worker in a window that is played.

mod adverse;
mod full_disk;
mod given_up;
mod kills;
mod opencode;
mod taken_back;

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::rotation_lab::Seat;
use crate::support::{stderr, valid};

#[test]
fn r_4_1_scheduling_returns_at_once_and_clears_nothing() {
    // R-4.1
    let seat = Seat::new();
    fs::write(seat.lab.folder().join("HANDOFF.md"), "# Goal\n\nShip it.\n").unwrap();
    let began = Instant::now();
    let output = seat.rotate_as("old", &[]);
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    let line = "Handoff scheduled — will execute after current turn completes\n<HANDOFF_ID>HO-";
    assert!(said.starts_with(line), "{said}");
    assert!(began.elapsed() < Duration::from_secs(2));
    seat.untouched();
}

#[test]
fn r_4_2_a_file_that_is_not_there_is_refused_and_nothing_is_stored() {
    // R-4.2
    let seat = Seat::new();
    let folder = seat.lab.folder();
    fs::create_dir(folder.join("folder")).unwrap();
    fs::write(folder.join("empty.md"), " \n").unwrap();
    fs::write(folder.join("a\nb.md"), "x").unwrap();
    for name in ["missing.md", "folder", "HANDOFF.md"] {
        let arguments: &[&str] = if name == "HANDOFF.md" { &[] } else { &[name] };
        let (code, said) = seat.refused(arguments);
        let path = folder.join(name);
        assert_eq!(code, 1, "{said}");
        assert!(said.starts_with(&format!("Error: File not found: {}", path.display())), "{said}");
    }
    fs::write(folder.join("binary.md"), [0xff, 0xfe, 0]).unwrap();
    fs::write(folder.join("large.md"), "x".repeat(2_000_000)).unwrap();
    for (name, why) in [("binary.md", "not UTF-8"), ("large.md", "large")] {
        let (code, said) = seat.refused(&[name]);
        assert!(code == 1 && said.contains(name) && said.contains(why), "{code} {said}");
        assert_eq!(said.trim_end().lines().count(), 1, "{said}");
    }
    assert!(seat.refused(&["empty.md"]).1.contains("is empty"));
    // 2 means that there is no session, or no store.
    for empty in [["--body", ""], ["--goal", ""]] {
        let (code, said) = seat.refused(&empty);
        let is_told = said.contains("has no text") || said.contains("is empty");
        assert!(code == 1 && is_told, "{code} {said}");
    }
    assert!(seat.refused(&["a\nb.md"]).1.contains("control characters"));
    assert!(seat.refused(&["--goal", "g", "--then", "two\nlines"]).1.contains("--then"));
    assert_eq!(seat.column("state"), None);
    assert!(seat.lab.handoff(&["list", "--all"])["handoffs"].as_array().unwrap().is_empty());
}

#[test]
fn r_4_3_outside_of_a_session_the_missing_variable_is_named() {
    // R-4.3, R-4.4, R-4.5
    let seat = Seat::new();
    let output = seat.kgctx(&["handoff", "rotate", "--goal", "g"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("KGCTX_SESSION_ID"), "{output:?}");
    // Claude Code's own name for its session counts, too.
    let mut named = seat.kgctx(&["handoff", "rotate", "--goal", "g"]);
    assert!(named.env("CLAUDE_CODE_SESSION_ID", "old").output().unwrap().status.success());
    assert_eq!(seat.state(), "scheduled");
    // R-4.4: only itself.
    seat.begin("start-startup", "other");
    let output = seat.rotate_as("other", &["--session", "old", "--goal", "g"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("self-directed only"), "{output:?}");
    assert_eq!(seat.column("count(*)").as_deref(), Some("1"));
    // R-4.5: a session that nobody has heard of, and a store that cannot be used.
    let output = seat.rotate_as("stranger", &["--goal", "g"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("stranger"), "{output:?}");
    let (code, said) = {
        let folder = seat.lab.scratch.path().join("kgctx-home/state/handoffs");
        let kept = folder.with_extension("kept");
        fs::rename(&folder, &kept).unwrap();
        fs::write(&folder, "in the way").unwrap();
        let refused = seat.refused(&["--goal", "THIRD"]);
        fs::remove_file(&folder).unwrap();
        fs::rename(kept, folder).unwrap();
        refused
    };
    assert!(code == 2 && said.trim_end().lines().count() == 1, "{code} {said}");
    assert!(said.contains("; check its permissions and the disk"), "{said}");
    // What was scheduled before is as it was.
    assert_eq!(seat.state(), "scheduled");
    let state = seat.lab.scratch.path().join("kgctx-home/state/state.db");
    fs::write(state, "no database").unwrap();
    assert_eq!(seat.refused(&["--goal", "g"]).0, 2);
}

#[test]
fn r_4_6_a_host_that_cannot_be_cleared_is_refused_with_the_reason() {
    // R-4.6
    let seat = Seat::new();
    let refused = |change: &dyn Fn(&mut std::process::Command)| {
        let mut command = seat.kgctx(&["handoff", "rotate", "--goal", "g"]);
        command.env("KGCTX_SESSION_ID", "old");
        change(&mut command);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        stderr(&output)
    };
    assert!(
        refused(&|command| {
            command.env_remove("TMUX");
        })
        .contains("tmux")
    );
    assert!(
        refused(&|command| {
            command.env("PATH", "/none");
        })
        .contains("tmux is not on the PATH")
    );
    assert!(
        refused(&|command| {
            command.env("CLAUDE_CODE_ENTRYPOINT", "sdk-ts");
        })
        .contains("sdk-ts")
    );
    assert!(
        refused(&|command| {
            command.env_remove("CLAUDECODE");
        })
        .contains("does not support rotation")
    );
    seat.set("pid", "1");
    assert!(refused(&|_| ()).contains("%3"));
    seat.set("pid", &std::process::id().to_string());
    seat.set("gone", "");
    assert!(refused(&|_| ()).contains("does not find the pane %3"));
    seat.unset("gone");
    seat.is("old", "idle");
    let file = format!("home/.claude/sessions/{}.json", std::process::id());
    seat.lab.scratch.write(&file, r#"{"sessionId":"old"}"#);
    assert!(refused(&|_| ()).contains("whether it is idle"));
    seat.is("old", "idle");
    let uninstalled = seat.kgctx(&["uninstall", "claude-code"]).output().unwrap();
    assert!(uninstalled.status.success());
    assert!(refused(&|_| ()).contains("kgctx install claude-code --rotation"));
    assert_eq!(seat.column("state"), None);
}

#[test]
fn r_4_7_the_last_of_several_calls_counts() {
    // R-4.7
    let seat = Seat::new();
    let first = seat.rotate(&["--goal", "FIRST"]);
    let last = seat.rotate(&["--goal", "LAST"]);
    assert_eq!(seat.lab.status(&first).as_deref(), Some("cleared"));
    seat.stop("old");
    let told = seat.clear();
    assert!(told.contains("LAST") && !told.contains("FIRST"), "{told}");
    seat.take_up();
    seat.until_state("done");
    assert_eq!(seat.lab.status(&last).as_deref(), Some("consumed"));
    assert_eq!(seat.entered().iter().filter(|line| *line == "/clear").count(), 1);
}

#[test]
fn r_4_18_the_whole_path_types_two_lines_and_gives_the_handoff_once() {
    // R-4.8, R-4.11, R-4.12, R-4.15, R-4.18, R-4.19, R-4.25, R-4.28, R-4.30
    let seat = Seat::new();
    let id = seat.schedule();
    // It is nobody else's meanwhile.
    assert_eq!(seat.lab.status(&id).as_deref(), Some("claimed"));
    let began = Instant::now();
    seat.stop("old");
    let took = began.elapsed();
    assert!(took < Duration::from_millis(600), "{took:?} with the start of two processes");
    assert!(["reserved", "clearing"].contains(&seat.state().as_str()), "{}", seat.state());
    let told = seat.clear();
    assert!(told.contains(&format!("=== HANDOFF LOADED (ID: {id}) ===")), "{told}");
    assert!(told.contains("GOAL") && told.contains("NEXT-STEP"), "{told}");
    let prompt = seat.take_up();
    assert_eq!(prompt, format!("Continue from where you left off; the handoff {id} is above."));
    seat.until_state("done");
    assert_eq!(seat.column("new_session").as_deref(), Some("new"));
    assert_eq!(seat.lab.status(&id).as_deref(), Some("consumed"));
    // Always the exact pane of the exact socket, as it is.
    for call in seat.read("calls").lines() {
        let is_exact = call.contains("-t %3") || call.ends_with(" list-clients ");
        assert!(call.starts_with("/run/a,b/socket ") && is_exact, "{call}");
    }
    assert_eq!(seat.keys().len(), 4, "{:?}", seat.keys());
    if cfg!(target_os = "linux") {
        // Right behind its text, an Enter is a part of what was pasted.
        let [clear, _, prompt] = seat.between_keys()[..] else { panic!("{}", seat.read("times")) };
        assert!(clear >= 300 && prompt >= 300, "{clear} ms, {prompt} ms");
    }
    // A fast end of the first turn rotates nothing.
    seat.stop("new");
    assert_eq!((seat.state().as_str(), seat.entered().len()), ("done", 2));
    // R-4.25: what the agent was told of the old context says nothing of the new one.
    let told = "SELECT count(*) FROM contexts WHERE session = 'new' AND notified > 0";
    let told: i64 = seat.lab.state().query_row(told, [], |row| row.get(0)).unwrap();
    assert_eq!(told, 0);
    // The log and the explanation tell what happened.
    let said = |arguments: &[&str]| {
        let output = seat.lab.kgctx(arguments.iter()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let log = said(&["handoff", "log", &id]);
    assert!(
        log.contains("kept for the rotation of its session") && log.contains("consumed"),
        "{log}"
    );
    let explained = said(&["explain", "--session", "new"]);
    let told = [id.as_str(), "Previous Session: old", "Type: rotation"];
    assert!(told.iter().all(|told| explained.contains(told)), "{explained}");
    // R-4.29: after a compaction it is told again.
    let again = seat.begin("start-compact", "new");
    assert!(again.contains(&id), "{again}");
}

#[test]
fn r_4_18_a_handoff_that_does_not_fit_is_read_from_its_file() {
    // R-4.18: whatever its name is.
    let seat = Seat::new();
    let name = "it's $HOME; -x (1).md";
    let file = seat.lab.folder().join(name);
    let sections: String =
        (0..400).map(|n| format!("## Part {n}\n\n{}\n\n", "Long. ".repeat(20))).collect();
    fs::write(&file, format!("# Goal\n\nShip.\n\n{sections}")).unwrap();
    seat.rotate(&[name, "--then", "Then run the tests."]);
    seat.stop("old");
    seat.clear();
    let prompt = seat.take_up();
    let expected = format!(
        "Read {} and continue from where you left off. Then run the tests.",
        file.display()
    );
    assert_eq!(prompt, expected);
    seat.until_state("done");
}

#[test]
fn r_4_9_only_the_end_of_a_turn_starts_it() {
    // R-4.9, R-4.10, R-4.13, R-4.14
    let seat = Seat::new();
    seat.schedule();
    for recorded in ["post-tool-use", "pre-compact-manual"] {
        seat.tell(&seat.lab.event(recorded, "old"));
    }
    for name in ["Notification", "StopFailure", "SubagentStop", "PermissionRequest"] {
        seat.tell(&json!({"hook_event_name": name, "session_id": "old", "cwd": seat.lab.folder()}));
    }
    // That of a sub-agent, or of another session.
    seat.stop_with(&json!({"agent_id": "a"}), "old");
    seat.begin("start-startup", "other");
    seat.stop("other");
    seat.untouched();
    // R-4.10: agents in the background; after three turns that is told as odd.
    let agents =
        json!({"background_tasks": [{"id": "a", "type": "subagent", "status": "running"}]});
    for n in 1..=3 {
        seat.stop_with(&agents, "old");
        let reason = seat.column("reason").unwrap();
        assert!(reason.contains("agents work in the background"), "{reason}");
        assert_eq!(reason.contains("cancel"), n == 3, "{reason}");
    }
    seat.untouched();
    // R-4.26: a prompt waits in the queue.
    let transcript = seat.lab.transcript("old");
    fs::create_dir_all(transcript.parent().unwrap()).unwrap();
    let queued = "{\"type\":\"queue-operation\",\"operation\":\"enqueue\"}\n";
    fs::write(&transcript, queued).unwrap();
    seat.stop("old");
    seat.until("it steps back", |seat| {
        seat.column("reason").as_deref() == Some("a prompt waits in the queue")
    });
    seat.untouched();
    seat.is("old", "busy");
    let taken = "{\"type\":\"queue-operation\",\"operation\":\"dequeue\"}\n";
    fs::write(&transcript, format!("{queued}{taken}")).unwrap();
    // R-4.14: a prompt before the window was cleared cancels the reservation, and keeps the intent.
    seat.stop("old");
    seat.until_state("reserved");
    seat.prompt("old", "One more thing");
    seat.untouched();
    assert_eq!(seat.column("reason").as_deref(), Some("a prompt came before it"));
    // R-4.13: an end of turn that is older than the last prompt does nothing.
    seat.lab.sql("UPDATE rotations SET prompted_tick = prompted_tick + 600000");
    seat.stop("old");
    seat.untouched();
    seat.lab.sql("UPDATE rotations SET prompted_tick = prompted_tick - 600000");
    seat.is("old", "idle");
    seat.stop_with(&json!({"stop_hook_active": true}), "old");
    seat.clear();
    seat.take_up();
    seat.until_state("done");
}

#[test]
fn r_4_35_any_shell_tells_cancels_and_begins_again() {
    // R-4.35, R-4.21, R-4.22
    let seat = Seat::new();
    let id = seat.schedule();
    let outside = |arguments: &[&str]| {
        let output = seat.lab.kgctx(["handoff", "rotate"]).args(arguments).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code().unwrap(), said, stderr(&output))
    };
    let (_, said, _) = outside(&["--status"]);
    assert!(said.starts_with("scheduled  session old") && said.contains("--cancel"), "{said}");
    let (_, json, _) = outside(&["--status", "--json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    valid("handoff-rotate", &json);
    assert_eq!(json["rotations"][0]["handoff"], id.as_str());
    let (code, said, _) = outside(&["--cancel"]);
    assert!(code == 0 && said.starts_with("cancelled"), "{said}");
    // Nothing is lost.
    assert_eq!(seat.lab.status(&id).as_deref(), Some("active"));
    assert_eq!(outside(&["--cancel"]).0, 1);
    assert_eq!(outside(&["--status"]).1, "No rotation is under way.\n");
    seat.stop("old");
    assert_eq!(seat.keys(), [""; 0]);
    // A draft kept it from clearing; when that is gone, a person lets it begin again.
    seat.schedule();
    seat.set("typed", "half a thought");
    seat.stop("old");
    seat.until("it steps back", |seat| {
        seat.state() == "scheduled" && seat.column("reason").is_some()
    });
    let (_, said, _) = outside(&["--status"]);
    assert!(said.contains("something is typed in the composer"), "{said}");
    assert_eq!((seat.keys().len(), seat.read("typed").as_str()), (0, "half a thought"));
    seat.set("typed", "");
    let mut retry = seat.kgctx(&["handoff", "rotate", "--retry"]);
    assert!(retry.output().unwrap().status.success());
    seat.clear();
    seat.take_up();
    seat.until_state("done");
}

#[test]
fn r_4_34_what_a_session_scheduled_ends_with_it() {
    // R-4.34
    for end in ["end-other", "end-clear"] {
        let seat = Seat::new();
        let id = seat.schedule();
        seat.begin(end, "old");
        assert_eq!(seat.state(), "dropped", "{end}");
        assert_eq!(seat.lab.status(&id).as_deref(), Some("active"), "{end}");
        seat.stop("old");
        assert_eq!(seat.keys(), [""; 0]);
    }
    // A host that was killed tells nothing.
    let seat = Seat::new();
    let id = seat.schedule();
    seat.lab.sql("UPDATE rotations SET host_started = host_started + 1");
    seat.lab.handoff(&["list"]);
    assert_eq!(seat.state(), "dropped");
    assert_eq!(seat.lab.status(&id).as_deref(), Some("active"));
}

#[test]
fn a_chain_of_rotations_is_told_and_bounded() {
    let seat = Seat::new();
    seat.schedule();
    seat.stop("old");
    seat.clear();
    seat.take_up();
    seat.until_state("done");
    // The tenth in a row has happened.
    seat.lab.sql("UPDATE rotations SET in_a_row = 10");
    let refused = seat.rotate_as("new", &["--goal", "g"]);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    assert!(stderr(&refused).contains("10 rotations in a row"), "{refused:?}");
    // A person's word lets it go on.
    seat.prompt("new", "Go on.");
    assert!(seat.rotate_as("new", &["--goal", "SECOND"]).status.success());
    assert_eq!(seat.column("in_a_row").as_deref(), Some("1"));
    let log = seat.lab.kgctx(["handoff", "log", "--chain"]).output().unwrap();
    let log = String::from_utf8(log.stdout).unwrap();
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines.len(), 2, "{log}");
    let unknown = "HO-20260131-120000-deadbeef";
    let output = seat.lab.kgctx(["handoff", "log", "--chain", unknown]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(stderr(&output).contains(unknown), "{output:?}");
    assert!(lines[0].contains("new") && lines[0].contains("scheduled"), "{log}");
    assert!(lines[1].contains("old → new") && lines[1].contains("done"), "{log}");
}
