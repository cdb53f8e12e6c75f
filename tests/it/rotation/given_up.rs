//! Rotations that come to nothing: postponed too often, or with a new session in which nobody says anything. Their handoffs
//! are not lost.

use serde_json::json;

use crate::support::handoff_lab::KILL_AT;
use crate::support::rotation_lab::Seat;

fn said(seat: &Seat, arguments: &[&str]) -> String {
    let output = seat.kgctx(arguments).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Lets a turn end while agents work in the background.
fn stop_with_agents(seat: &Seat) {
    let agents =
        json!({"background_tasks": [{"id": "a", "type": "subagent", "status": "running"}]});
    seat.stop_with(&agents, "old");
}

#[test]
fn r_4_10_what_was_postponed_ten_times_waits_for_a_person() {
    //
    let seat = Seat::new();
    let id = seat.schedule();
    for _ in 0..10 {
        stop_with_agents(&seat);
    }
    seat.untouched();
    let status = said(&seat, &["handoff", "rotate", "--status"]);
    assert!(status.contains("10 turns ended without it: agents work"), "{status}");
    assert!(status.contains("--cancel"), "{status}");
    stop_with_agents(&seat);
    assert_eq!(seat.state(), "stuck");
    let status = said(&seat, &["handoff", "rotate", "--status"]);
    assert!(
        status.contains("given up, nothing was cleared, 11 turns ended without it"),
        "{status}"
    );
    assert!(status.contains("--retry") && status.contains("--cancel"), "{status}");
    let doctor = said(&seat, &["doctor"]);
    assert!(doctor.contains("the rotation of session old is stuck: agents work"), "{doctor}");
    assert!(doctor.contains("tmux shows this session in pane %3"), "{doctor}");
    let mut elsewhere = seat.kgctx(&["doctor"]);
    let output = elsewhere.env_remove("TMUX").output().unwrap();
    let doctor = String::from_utf8(output.stdout).unwrap();
    assert!(doctor.contains("this Claude Code does not run in tmux"), "{doctor}");
    // Nothing more happens by itself, also when the window would be ready.
    seat.stop("old");
    std::thread::sleep(std::time::Duration::from_millis(1_200));
    assert_eq!((seat.state().as_str(), seat.keys().len()), ("stuck", 0));
    // A person lets it begin again, and it is counted anew.
    said(&seat, &["handoff", "rotate", "--retry"]);
    assert!(seat.clear().contains(&id));
    seat.take_up();
    seat.until_state("done");
    assert_eq!(seat.column("postponed").as_deref(), Some("0"));
}

#[test]
fn r_4_21_a_window_that_is_never_ready_is_given_up_and_a_clear_of_its_user_is_the_users() {
    //
    let seat = Seat::new();
    let id = seat.schedule();
    seat.lab.sql("UPDATE rotations SET postponed = 10");
    seat.set("typed", "half a thought");
    seat.stop("old");
    seat.until_state("stuck");
    assert_eq!(seat.column("reason").as_deref(), Some("something is typed in the composer"));
    assert_eq!((seat.keys().len(), seat.read("typed").as_str()), (0, "half a thought"));
    // Whoever clears the window now does not mean the rotation.
    let told = seat.clear_now();
    assert!(!told.contains("HANDOFF LOADED"), "{told}");
    assert_eq!(seat.state(), "dropped");
    assert_eq!(seat.lab.status(&id).as_deref(), Some("active"));
}

#[test]
fn a_new_session_in_which_nobody_says_anything_leaves_the_handoff_to_the_next() {
    for is_killed in [false, true] {
        let seat = Seat::new();
        let id = seat.schedule();
        seat.stop("old");
        seat.until("/clear is sent", |seat| seat.entered() == ["/clear"]);
        // Somebody types, so that the first prompt is theirs.
        seat.set("typed", "what the user types");
        assert!(seat.clear_now().contains(&id));
        seat.until_state("waiting");
        assert_eq!(seat.lab.status(&id).as_deref(), Some("consumed"));
        if is_killed {
            seat.lab.sql("UPDATE rotations SET host_started = host_started + 1");
            seat.lab.handoff(&["list"]);
        } else {
            seat.begin("end-other", "new");
        }
        assert_eq!(seat.state(), "dropped", "{is_killed}");
        let status = seat.rotate_as("old", &["--status"]);
        let status = String::from_utf8(status.stdout).unwrap();
        assert!(
            status.contains(&format!("the handoff {id} waits for the next session")),
            "{status}"
        );
        let told = seat.begin("start-startup", "third");
        assert!(told.contains(&id), "{is_killed}: {told}");
        assert_eq!(seat.lab.status(&id).as_deref(), Some("consumed"), "{is_killed}");
    }
}

#[test]
fn a_worker_that_dies_before_the_first_prompt_is_told_by_the_status() {
    let seat = Seat::new();
    seat.schedule();
    let mut hook = seat.kgctx(&["hook", "claude-code"]);
    hook.env(KILL_AT, "rotate:cleared");
    seat.tell_by(hook, &seat.lab.event("stop", "old"));
    seat.clear();
    seat.until("it waits", |seat| {
        seat.lab.handoff(&["list"]);
        seat.state() == "waiting"
    });
    let status = said(&seat, &["handoff", "rotate", "--status"]);
    assert!(status.contains("session new has the handoff and waits for a prompt"), "{status}");
    seat.prompt("new", "Go on.");
    assert_eq!(seat.state(), "done");
}
