//! Processes of a rotation that are killed at every step: no handoff is lost, and no second `/clear` is sent.

use std::os::unix::process::ExitStatusExt;
use std::process::Output;

use crate::support::handoff_lab::{KILL_AT, TEXT, assert_whole, given};
use crate::support::rotation_lab::Seat;

/// Ends the turn with a worker that is killed at a point of its way, and waits for that.
fn stop_with_kill(seat: &Seat, point: &str) {
    let mut hook = seat.kgctx(&["hook", "claude-code"]);
    hook.env(KILL_AT, point);
    given(hook, &seat.lab.event("stop", "old"));
}

#[test]
fn r_4_24_a_worker_that_dies_before_a_key_begins_again_and_later_does_not() {
    //
    for (point, lines, state) in [
        ("rotate:reserved", 0, "scheduled"),
        ("rotate:ready", 0, "scheduled"),
        ("rotate:clearing", 0, "stuck"),
        ("rotate:typed", 0, "stuck"),
        ("rotate:entered", 1, "stuck"),
    ] {
        let seat = Seat::new();
        let id = seat.rotate(&["--body", TEXT]);
        stop_with_kill(&seat, point);
        // Any command looks after it.
        seat.until(point, |seat| {
            seat.lab.handoff(&["list"]);
            seat.state() == state
        });
        assert_eq!(seat.entered().len(), lines, "{point}");
        assert_eq!(seat.lab.status(&id).as_deref(), Some("claimed"), "{point}");
        seat.set("typed", "");
        seat.stop("old");
        if state == "scheduled" {
            seat.clear();
        } else {
            // Only the host's own word goes on from here.
            std::thread::sleep(std::time::Duration::from_millis(1_200));
            assert_eq!((seat.state().as_str(), seat.entered().len()), ("stuck", lines), "{point}");
            seat.clear_now();
        }
        seat.until("the prompt", |seat| {
            seat.entered().last().is_some_and(|line| line.contains(&id))
        });
        seat.prompt("new", &seat.entered().pop().unwrap());
        seat.until_state("done");
        assert_eq!(seat.lab.status(&id).as_deref(), Some("consumed"), "{point}");
        assert!(seat.entered().iter().filter(|line| *line == "/clear").count() <= 1, "{point}");
        assert_whole(&seat.lab);
    }
}

/// Clears the window, and kills the new session's hook at a point.
#[track_caller]
fn killed_in_new_session(seat: &Seat, point: &str) -> Output {
    seat.stop("old");
    seat.until("/clear is sent", |seat| seat.entered() == ["/clear"]);
    seat.is("new", "idle");
    let mut hook = seat.kgctx(&["hook", "claude-code"]);
    hook.env(KILL_AT, point);
    let output = given(hook, &seat.lab.event("start-clear", "new"));
    assert_eq!(output.status.signal(), Some(9), "{point}");
    output
}

#[test]
fn a_hook_that_dies_after_it_has_told_the_new_session_costs_nothing() {
    for point in ["load:printed", "load:settled"] {
        let seat = Seat::new();
        let id = seat.rotate(&["--body", TEXT]);
        let output = killed_in_new_session(&seat, point);
        let told = String::from_utf8(output.stdout).unwrap();
        assert!(told.contains(&format!("=== HANDOFF LOADED (ID: {id}) ===")), "{point}: {told}");
        assert!(seat.take_up().contains(&id), "{point}");
        seat.until_state("done");
        assert_eq!(seat.entered().iter().filter(|line| *line == "/clear").count(), 1, "{point}");
        assert_ne!(seat.lab.status(&id).as_deref(), Some("cleared"), "{point}");
        assert_whole(&seat.lab);
    }
}

#[test]
fn the_hook_of_a_prompt_or_of_a_clear_that_dies_sends_nothing_twice() {
    // The prompt was taken up, and nobody heard of it: it is not sent again.
    let seat = Seat::new();
    let id = seat.rotate(&["--body", TEXT]);
    seat.stop("old");
    seat.clear();
    seat.until("the first prompt is sent", |seat| seat.entered().len() == 2);
    let mut hook = seat.kgctx(&["hook", "claude-code"]);
    hook.env(KILL_AT, "state:uncommitted");
    let mut prompt = seat.lab.event("user-prompt-submit", "new");
    prompt["prompt"] = seat.entered().pop().unwrap().into();
    assert_eq!(given(hook, &prompt).status.signal(), Some(9));
    seat.until_state("waiting");
    assert_eq!(seat.entered().len(), 2);
    seat.prompt("new", "Go on.");
    assert_eq!((seat.state().as_str(), seat.entered().len()), ("done", 2));
    assert_eq!(seat.lab.status(&id).as_deref(), Some("consumed"));
    // Nobody heard of a user's own clearing: the window has another session, and no key is sent there.
    let seat = Seat::new();
    let id = seat.rotate(&["--body", TEXT]);
    let mut hook = seat.kgctx(&["hook", "claude-code"]);
    hook.env(KILL_AT, "state:uncommitted");
    assert_eq!(given(hook, &seat.lab.event("end-clear", "old")).status.signal(), Some(9));
    seat.is("new", "idle");
    seat.begin("start-clear", "new");
    seat.stop("old");
    seat.until("it steps back", |seat| seat.column("reason").is_some());
    assert_eq!(seat.keys(), [""; 0]);
    assert!(["claimed", "active"].contains(&seat.lab.status(&id).unwrap().as_str()));
    assert_whole(&seat.lab);
}

#[test]
fn a_command_about_a_rotation_that_dies_changes_nothing_or_all_of_it() {
    for (command, point) in [("--cancel", "state:uncommitted"), ("--retry", "rotate:reserved")] {
        let seat = Seat::new();
        let id = seat.rotate(&["--body", TEXT]);
        let mut killed = seat.kgctx(&["handoff", "rotate", command]);
        killed.env("KGCTX_SESSION_ID", "old").env(KILL_AT, point);
        assert_eq!(killed.output().unwrap().status.signal(), Some(9), "{command}");
        seat.lab.handoff(&["list"]);
        seat.untouched();
        assert_eq!(seat.lab.status(&id).as_deref(), Some("claimed"), "{command}");
        seat.stop("old");
        assert!(seat.clear().contains(&id), "{command}");
        seat.take_up();
        seat.until_state("done");
        assert_whole(&seat.lab);
    }
}

#[test]
fn a_worker_that_dies_after_the_clearing_leaves_the_prompt_to_a_person() {
    for point in ["rotate:cleared", "rotate:prompt-typed", "rotate:prompted"] {
        let seat = Seat::new();
        let id = seat.schedule();
        stop_with_kill(&seat, point);
        let told = seat.clear();
        assert!(told.contains(&id), "{point}: {told}");
        if point == "rotate:prompt-typed" {
            // It is not sent, and stays for a person to send or to remove.
            seat.until("it is typed", |seat| seat.read("typed").starts_with("Continue"));
            std::thread::sleep(std::time::Duration::from_millis(1_200));
            assert_eq!(seat.entered(), ["/clear"], "{point}");
        }
        seat.prompt("new", "Go on.");
        assert_eq!(seat.state(), "done", "{point}");
        assert_eq!(seat.lab.status(&id).as_deref(), Some("consumed"), "{point}");
    }
}

#[test]
fn a_command_that_dies_loses_no_handoff() {
    for point in ["create:reserved", "create:durable", "rotate:scheduled", "state:uncommitted"] {
        let seat = Seat::new();
        let mut command = seat.kgctx(&["handoff", "rotate", "--body", TEXT]);
        command.env("KGCTX_SESSION_ID", "old").env(KILL_AT, point);
        let output = command.output().unwrap();
        assert_eq!(output.status.signal(), Some(9), "{point}");
        assert_whole(&seat.lab);
        let all = seat.lab.handoff(&["list", "--all"]);
        let statuses: Vec<&str> = all["handoffs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["status"].as_str().unwrap())
            .collect();
        // Before the document was written there is none; then it waits, or is kept for the rotation.
        let expected: &[&str] = match point {
            "create:durable" => &["active"],
            "rotate:scheduled" => &["claimed"],
            _ => &[],
        };
        assert_eq!(statuses, expected, "{point}");
        assert_eq!(seat.column("state").is_some(), point == "rotate:scheduled", "{point}");
    }
}

#[test]
fn a_hook_that_dies_in_the_new_session_gives_it_the_handoff_when_asked_again() {
    for point in ["rotate:confirmed", "load:claimed", "load:composed"] {
        let seat = Seat::new();
        let id = seat.schedule();
        killed_in_new_session(&seat, point);
        seat.until("the prompt", |seat| seat.entered().len() == 2);
        assert!(seat.entered()[1].contains(&id), "{point}");
        // It was not given, and is not lost.
        assert!(seat.entered()[1].contains("kgctx handoff show"), "{point}: {:?}", seat.entered());
        assert!(["claimed", "active"].contains(&seat.lab.status(&id).unwrap().as_str()), "{point}");
        assert_eq!(seat.entered().iter().filter(|line| *line == "/clear").count(), 1, "{point}");
    }
}
