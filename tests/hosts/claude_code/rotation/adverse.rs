//! What may happen in the real Claude Code between the call and the clearing.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use super::{
    ClaudeCodeWindow, GOAL, Lab, OLD, PATIENCE, held_back, lab, rotate, rotation, rotations, until,
    until_reason, waits,
};
use crate::support::full_disk::FullDisk;

/// Lets the agent ask for a rotation in the middle of its turn, and waits until it has.
#[track_caller]
fn asked(lab: &Lab, window: &ClaudeCodeWindow<'_>, arguments: &str) {
    window.say(&format!("{OLD} [[bash:kgctx handoff rotate {arguments}; sleep 4]]"));
    until(lab, window, "scheduled");
}

/// Waits for the rotation's end: one new context has the handoff, and nothing of the old one.
#[track_caller]
fn one_new_context(lab: &Lab, window: &ClaudeCodeWindow<'_>) -> String {
    until(lab, window, "done");
    window.wait_for("MOCK-REPLY");
    let mut told = lab.model.told();
    let new: Vec<_> =
        told.extract_if(.., |told| told.contains(GOAL) && !told.contains(OLD)).collect();
    let [new] = new.try_into().unwrap_or_else(|new| panic!("{new:#?}"));
    new
}

#[test]
fn a_shell_in_the_background_outlives_the_clearing() {
    let lab = lab();
    let Some(window) = ClaudeCodeWindow::open(&lab) else { return };
    window.say(&format!("{OLD} [[shell:sleep 90]]"));
    window.wait_for("MOCK-REPLY");
    window.say(&rotate(&format!("--goal {GOAL}")));
    one_new_context(&lab, &window);
    assert!(window.shows("1 shell"), "it still runs: {}", window.text());
}

#[test]
fn r_4_7_of_two_rotations_in_a_turn_the_last_counts() {
    //
    let lab = lab();
    let Some(window) = ClaudeCodeWindow::open(&lab) else { return };
    let arguments = format!("--goal FIRST-GOAL; kgctx handoff rotate --goal {GOAL}");
    window.say(&rotate(&arguments));
    let new = one_new_context(&lab, &window);
    assert!(!new.contains("FIRST-GOAL"), "{new}");
    let states: Vec<_> = rotations(&lab).iter().map(|rotation| rotation["state"].clone()).collect();
    assert_eq!(states, ["done", "superseded"]);
}

#[test]
fn r_4_20_a_file_that_is_deleted_after_the_call_is_not_missed() {
    //
    let lab = lab();
    let Some(window) = ClaudeCodeWindow::open(&lab) else { return };
    let file = lab.project().join("HANDOFF.md");
    fs::write(&file, format!("# Goal\n\n{GOAL}\n")).unwrap();
    asked(&lab, &window, "");
    fs::remove_file(file).unwrap();
    one_new_context(&lab, &window);
}

#[test]
fn r_4_12_a_state_that_is_busy_at_the_end_of_the_turn_only_delays_it() {
    //
    let lab = lab();
    let Some(window) = ClaudeCodeWindow::open(&lab) else { return };
    asked(&lab, &window, &format!("--goal {GOAL}"));
    let state = lab.scratch.path().join("kgctx-home/state/state.db");
    let state = rusqlite::Connection::open(state).unwrap();
    state.execute_batch("BEGIN IMMEDIATE").unwrap();
    window.wait_for("MOCK-REPLY");
    thread::sleep(Duration::from_millis(500));
    assert_eq!(rotation(&lab)["state"], "scheduled");
    state.execute_batch("ROLLBACK").unwrap();
    one_new_context(&lab, &window);
}

#[test]
fn r_4_27_workers_that_compete_for_a_window_clear_it_once() {
    //
    let lab = lab();
    let Some(window) = ClaudeCodeWindow::open(&lab) else { return };
    held_back(&lab, &window);
    thread::scope(|scope| {
        for _ in 0..3 {
            // Who comes too late is told so, and that is an error.
            scope.spawn(|| lab.try_kgctx(&["handoff", "rotate", "--retry"]));
        }
    });
    one_new_context(&lab, &window);
    assert_eq!(rotations(&lab).len(), 1);
}

#[test]
fn a_window_that_is_resized_all_the_time_is_cleared_once() {
    let lab = lab();
    let Some(window) = ClaudeCodeWindow::open(&lab) else { return };
    asked(&lab, &window, &format!("--goal {GOAL}"));
    let end = Instant::now() + PATIENCE;
    for width in (70..130).step_by(7).cycle() {
        window.tmux(&["resize-window", "-x", &width.to_string(), "-y", "30"]);
        thread::sleep(Duration::from_millis(100));
        match rotation(&lab)["state"].as_str() {
            Some("done") => break,
            // Text that moves looks as if somebody typed: the first prompt is then left to the user, who sends it.
            Some("waiting") => {
                window.key("Enter");
                break;
            }
            _ => {}
        }
        assert!(Instant::now() < end, "{}\n{}", rotation(&lab), window.text());
    }
    one_new_context(&lab, &window);
}

#[test]
fn r_4_34_the_handoff_of_a_pane_that_is_closed_waits_for_the_next_session() {
    //
    let lab = lab();
    let Some(window) = ClaudeCodeWindow::open(&lab) else { return };
    asked(&lab, &window, &format!("--goal {GOAL}"));
    window.tmux(&["kill-pane"]);
    let end = Instant::now() + PATIENCE;
    while rotation(&lab)["state"] != "dropped" {
        lab.type_kgctx(&["handoff", "list"]);
        assert!(Instant::now() < end, "{}", rotation(&lab));
        thread::sleep(Duration::from_millis(100));
    }
    let list = lab.type_kgctx(&["handoff", "list", "--json"]);
    assert!(list.contains("active") && list.contains(GOAL), "{list}");
    drop(window);
    let Some(window) = ClaudeCodeWindow::open(&lab) else { return };
    window.say("hello");
    window.wait_for("MOCK-REPLY");
    let told = lab.model.told().pop().unwrap();
    assert!(told.contains(GOAL) && !told.contains(OLD), "{told}");
}

#[test]
fn r_4_34_a_clear_that_the_user_queues_during_the_turn_is_the_only_one() {
    // Claude Code obeys it at the end of the turn, at the same moment at which kgctx is told of that.
    let lab = lab();
    let Some(window) = ClaudeCodeWindow::open(&lab) else { return };
    asked(&lab, &window, &format!("--goal {GOAL}"));
    window.write("/clear");
    window.wait_for("❯ /clear");
    thread::sleep(Duration::from_millis(500));
    window.key("Enter");
    let dropped = until(&lab, &window, "dropped");
    thread::sleep(Duration::from_secs(3));
    window.say("hello");
    window.wait_for("MOCK-REPLY");
    let told = lab.model.told().pop().unwrap();
    assert!(!told.contains(OLD) && !told.contains("Continue from"), "{told}");
    assert!(waits(&lab, &dropped["handoff"]));
    assert_eq!(rotations(&lab).len(), 1);
}

#[test]
fn a_draft_that_its_user_stashed_comes_back_and_is_not_sent() {
    // Claude Code brings it back by itself once the context is cleared.
    let lab = lab();
    let Some(window) = ClaudeCodeWindow::open(&lab) else { return };
    asked(&lab, &window, &format!("--goal {GOAL}"));
    window.write("half a thought");
    window.wait_for("❯ half a thought");
    window.key("C-s");
    until(&lab, &window, "waiting");
    window.wait_for("❯ half a thought");
    assert!(lab.model.told().iter().all(|told| !told.contains("half a thought")));
    // Its user goes on with it, and the new context has the handoff.
    window.write(" and its end");
    window.wait_for("❯ half a thought and its end");
    thread::sleep(Duration::from_millis(500));
    window.key("Enter");
    let new = one_new_context(&lab, &window);
    assert!(new.contains("half a thought and its end"), "{new}");
}

#[test]
fn an_agent_in_the_background_ends_its_work_before_the_clearing() {
    let lab = lab();
    let Some(window) = ClaudeCodeWindow::open(&lab) else { return };
    window.say(&format!("{OLD} [[agent:AGENTS-TASK]]"));
    window.wait_for("MOCK-REPLY");
    window.say(&rotate(&format!("--goal {GOAL}")));
    until_reason(&lab, &window, "agents work in the background");
    assert!(window.shows(OLD), "{}", window.text());
    // Its end is a turn of the session.
    let new = one_new_context(&lab, &window);
    assert!(!new.contains("AGENTS-TASK"), "{new}");
    assert_eq!(rotations(&lab).len(), 1);
}

#[test]
fn a_full_disk_lets_no_key_be_sent_and_loses_nothing() {
    let lab = lab();
    let Some(window) = ClaudeCodeWindow::open(&lab) else { return };
    asked(&lab, &window, &format!("--goal {GOAL}"));
    let id = rotation(&lab)["handoff"].clone();
    let Some(disk) = FullDisk::at(&lab.scratch.path().join("kgctx-home/state")) else { return };
    window.wait_for("MOCK-REPLY");
    // Longer than a worker waits for a window.
    thread::sleep(Duration::from_secs(5));
    assert!(window.shows(OLD) && !window.shows("/clear"), "{}", window.text());
    disk.free();
    assert_eq!((&rotation(&lab)["state"], &rotation(&lab)["handoff"]), (&"scheduled".into(), &id));
    window.say("One more word.");
    one_new_context(&lab, &window);
}

#[test]
fn a_clock_that_jumps_between_all_steps_delays_nothing() {
    let lab = lab();
    let Some(window) = ClaudeCodeWindow::open(&lab) else { return };
    if !lab.jump_clock() {
        return;
    }
    window.say(&rotate(&format!("--goal {GOAL}")));
    let new = one_new_context(&lab, &window);
    assert_eq!(new.matches("=== HANDOFF LOADED (ID: ").count(), 1, "{new}");
    assert_eq!(rotations(&lab).len(), 1);
    let state = lab.scratch.path().join("kgctx-home/state/state.db");
    let state = rusqlite::Connection::open(state).unwrap();
    let days = "SELECT (max(at) - min(at)) / 86400000 FROM handoff_events";
    assert_eq!(state.query_row(days, [], |row| row.get::<_, i64>(0)).unwrap(), 6, "it jumped");
}
