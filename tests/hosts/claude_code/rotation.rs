//! Sessions of the real Claude Code that go on in a fresh context, in a window in tmux, by the hooks that
//! `kgctx install claude-code --rotation` has put there and the real `kgctx` behind them.

mod adverse;

use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::lab::{Lab, PATIENCE};
use super::window::ClaudeCodeWindow;

const SETTINGS: &str = r#"{"permissions": {"defaultMode": "acceptEdits", "disableAutoMode": "disable", "allow": ["Bash(kgctx:*)", "Bash(sleep:*)"]}}"#;
/// What only the old context has.
const OLD: &str = "OLD-CONTEXT-4c1e";
/// What the handoff says.
const GOAL: &str = "GOAL-91d2";

fn lab() -> Lab {
    Lab::with_kgctx(Some(SETTINGS), &["install", "claude-code", "--rotation"])
}

/// A prompt that makes the model run kgctx.
fn rotate(arguments: &str) -> String {
    format!("{OLD} [[bash:kgctx handoff rotate {arguments}]]")
}

/// The rotation of the last session that asked for one.
fn rotation(lab: &Lab) -> Value {
    let all = rotations(lab);
    all.first().cloned().unwrap_or_default()
}

fn rotations(lab: &Lab) -> Vec<Value> {
    let path = lab.scratch.path().join("kgctx-home/state/state.db");
    let Ok(state) = rusqlite::Connection::open(path) else { return Vec::new() };
    let sql = "SELECT state, reason, session, new_session, handoff, prompt FROM rotations ORDER BY id DESC";
    let Ok(mut statement) = state.prepare(sql) else { return Vec::new() };
    let text = |row: &rusqlite::Row<'_>, at| row.get::<_, Option<String>>(at);
    let rows = statement.query_map([], |row| {
        Ok(serde_json::json!({"state": text(row, 0)?, "reason": text(row, 1)?, "session": text(row, 2)?,
            "new_session": text(row, 3)?, "handoff": text(row, 4)?, "prompt": text(row, 5)?}))
    });
    rows.unwrap().map(Result::unwrap).collect()
}

/// Waits until the last rotation has this state.
#[track_caller]
fn until(lab: &Lab, window: &ClaudeCodeWindow<'_>, state: &str) -> Value {
    let end = Instant::now() + PATIENCE;
    loop {
        let now = rotation(lab);
        if now["state"] == state {
            return now;
        }
        assert!(
            Instant::now() < end,
            "{now} is not {state}\n{}\n{:?}",
            window.text(),
            lab.model.told().last()
        );
        thread::sleep(Duration::from_millis(30));
    }
}

#[test]
fn r_4_15_a_session_goes_on_in_a_fresh_context_with_its_handoff() {
    // R-4.15, R-4.17, R-4.28, R-4.30
    let lab = lab();
    let Some(window) = ClaudeCodeWindow::open(&lab) else { return };
    window.say(&rotate(&format!("--goal {GOAL} --next NEXT-STEP")));
    let done = until(&lab, &window, "done");
    window.wait_for("MOCK-REPLY");
    assert_ne!(done["session"], done["new_session"]);
    let told = lab.model.told();
    // The old context asked for the tool and was told of its result; the new one had one prompt.
    let [first, second, third] = told.as_slice() else { panic!("{told:#?}") };
    assert!(first.contains(OLD) && second.contains(OLD), "{first}");
    assert!(second.contains("Handoff scheduled"), "{second}");
    assert!(!third.contains(OLD), "{third}");
    assert_eq!(third.matches("=== HANDOFF LOADED (ID: ").count(), 1, "{third}");
    assert_eq!(third.matches(GOAL).count(), 1, "{third}");
    let prompt = done["prompt"].as_str().unwrap();
    assert_eq!(third.matches(prompt).count(), 1, "{third}");
}

/// Schedules a rotation that a draft keeps from beginning, and takes the draft away.
#[track_caller]
fn held_back(lab: &Lab, window: &ClaudeCodeWindow<'_>) {
    window.say(&format!("{OLD} [[bash:sleep 2; kgctx handoff rotate --goal {GOAL}]]"));
    window.wait_for("sleep 2");
    window.write("half a thought");
    until_reason(lab, window, "something is typed in the composer");
    // The draft is as it was, and nothing was cleared.
    assert!(window.shows("❯ half a thought") && window.shows(OLD), "{}", window.text());
    window.key("C-u");
    let end = Instant::now() + PATIENCE;
    while window.shows("half a thought") {
        assert!(Instant::now() < end, "{}", window.text());
        thread::sleep(Duration::from_millis(50));
    }
}

#[track_caller]
fn until_reason(lab: &Lab, window: &ClaudeCodeWindow<'_>, reason: &str) {
    let end = Instant::now() + PATIENCE;
    loop {
        let now = rotation(lab);
        if now["state"] == "scheduled" && now["reason"] == reason {
            return;
        }
        assert!(Instant::now() < end, "{now} is not for {reason}\n{}", window.text());
        thread::sleep(Duration::from_millis(30));
    }
}

/// Whether a handoff waits for the next session.
fn waits(lab: &Lab, id: &Value) -> bool {
    let list = lab.type_kgctx(&["handoff", "list", "--json"]);
    list.contains(id.as_str().unwrap()) && list.contains("active")
}

/// A person lets the rotation begin again, while the window is not as it must be.
#[track_caller]
fn retried(lab: &Lab, window: &ClaudeCodeWindow<'_>, reason: &str) {
    lab.type_kgctx(&["handoff", "rotate", "--retry"]);
    until_reason(lab, window, reason);
}

#[test]
fn r_4_16_no_key_reaches_a_window_that_is_not_ready() {
    // R-4.16, R-4.36: a draft, copy mode, the transcript's view, a shell's line, two dialogs, an interrupt, a small window.
    let lab = lab();
    let Some(window) = ClaudeCodeWindow::open(&lab) else { return };
    held_back(&lab, &window);
    // One of two lines, with the cursor on the second, which is empty.
    window.write("half a thought\\");
    thread::sleep(Duration::from_millis(500));
    window.key("Enter");
    retried(&lab, &window, "something is typed in the composer");
    assert!(window.shows("❯ half a thought"), "{}", window.text());
    for key in ["C-u", "BSpace", "C-u"] {
        window.key(key);
    }
    let end = Instant::now() + PATIENCE;
    while window.shows("half a thought") {
        assert!(Instant::now() < end, "{}", window.text());
        thread::sleep(Duration::from_millis(50));
    }
    // A menu of commands, in which an Enter would choose one.
    window.write("/mod");
    window.wait_for("/model");
    retried(&lab, &window, "something is typed in the composer");
    window.key("C-u");
    window.wait_for("accept edits on");

    window.tmux(&["copy-mode"]);
    retried(&lab, &window, "the window is in tmux's copy mode");
    window.tmux(&["send-keys", "-X", "cancel"]);

    window.key("C-o");
    window.wait_for("Showing detailed transcript");
    retried(&lab, &window, "the window does not show its composer");
    window.key("C-o");
    window.wait_for("accept edits on");

    window.write("!");
    window.wait_for("! ");
    retried(&lab, &window, "the window does not show its composer");
    window.key("BSpace");
    window.wait_for("accept edits on");

    window.say("/model");
    window.wait_for("Select model");
    retried(&lab, &window, "a dialog is open");
    assert!(window.shows("Select model"), "{}", window.text());
    window.key("Escape");
    window.wait_for("accept edits on");

    // A dialog that an Enter would approve.
    window.say("[[bash:curl http://127.0.0.1:1/never]]");
    window.wait_for("1. Yes");
    retried(&lab, &window, "a dialog is open");
    assert!(window.shows("1. Yes"), "{}", window.text());
    assert!(!lab.model.told().iter().any(|told| told.contains("Exit code 7")), "curl was run");
    window.tmux(&["resize-window", "-x", "60", "-y", "18"]);
    // An interrupt ends no turn: only who watches the window sees that it is free.
    window.key("Escape");
    until(&lab, &window, "done");
    window.wait_for("MOCK-REPLY");
    let told = lab.model.told().pop().unwrap();
    assert!(told.contains(GOAL) && !told.contains(OLD), "{told}");
}

#[test]
fn r_4_26_a_message_in_the_queue_is_answered_before_the_context_is_cleared() {
    // R-4.26
    let lab = lab();
    let Some(window) = ClaudeCodeWindow::open(&lab) else { return };
    window.say(&format!("{OLD} [[bash:sleep 3; kgctx handoff rotate --goal {GOAL}]]"));
    window.wait_for("sleep 3");
    window.write("QUEUED-MESSAGE");
    thread::sleep(Duration::from_millis(500));
    window.key("Enter");
    until(&lab, &window, "done");
    window.wait_for("MOCK-REPLY");
    let told = lab.model.told();
    let (new, old) = told.split_last().unwrap();
    assert!(old.iter().any(|told| told.contains("QUEUED-MESSAGE")), "it was never answered");
    assert!(!new.contains("QUEUED-MESSAGE") && new.contains(GOAL), "{new}");
    assert_eq!(rotations(&lab).len(), 1);
}

#[test]
fn r_4_34_a_session_that_the_user_clears_or_kills_is_not_rotated() {
    // R-4.34: and its handoff waits for the next one.
    let lab = lab();
    let Some(window) = ClaudeCodeWindow::open(&lab) else { return };
    held_back(&lab, &window);
    window.say("/clear");
    let dropped = until(&lab, &window, "dropped");
    thread::sleep(Duration::from_secs(2));
    window.say("hello");
    window.wait_for("MOCK-REPLY");
    let told = lab.model.told().pop().unwrap();
    assert!(!told.contains(GOAL) && !told.contains("Continue from"), "{told}");
    assert!(waits(&lab, &dropped["handoff"]));
    // A host that is killed tells nothing.
    held_back(&lab, &window);
    let process = window.tmux(&["display-message", "-p", "#{pane_pid}"]);
    let killed = std::process::Command::new("kill").args(["-9", process.trim()]).status().unwrap();
    assert!(killed.success());
    thread::sleep(Duration::from_millis(500));
    assert!(waits(&lab, &rotation(&lab)["handoff"]));
    assert_eq!(rotation(&lab)["state"], "dropped");
}

#[test]
fn r_4_24_a_worker_that_is_killed_loses_no_handoff_and_nothing_is_cleared_twice() {
    // R-4.24, R-4.22: before a key was sent, with the line typed and not sent, and right after it was sent.
    for (point, state) in
        [("rotate:ready", "scheduled"), ("rotate:typed", "stuck"), ("rotate:entered", "done")]
    {
        let lab = lab();
        let Some(window) = ClaudeCodeWindow::open(&lab) else { return };
        lab.kill_at(Some(point));
        window.say(&rotate(&format!("--goal {GOAL}")));
        let end = Instant::now() + PATIENCE;
        // Any command sees that the worker is gone.
        while rotation(&lab)["state"] != state {
            lab.type_kgctx(&["handoff", "list"]);
            assert!(Instant::now() < end, "{point}: {}\n{}", rotation(&lab), window.text());
            thread::sleep(Duration::from_millis(100));
        }
        lab.kill_at(None);
        match point {
            "rotate:ready" => {
                assert!(window.shows(OLD), "{}", window.text());
                // The end of the next turn tries again.
                window.say("One more word.");
            }
            "rotate:typed" => {
                // Nothing is sent by itself, and the status tells what to do.
                thread::sleep(Duration::from_secs(2));
                assert!(window.shows("❯ /clear") && window.shows(OLD), "{}", window.text());
                let status = lab.type_kgctx(&["handoff", "rotate", "--status"]);
                assert!(status.contains("--retry") && status.contains("--cancel"), "{status}");
                window.key("Enter");
            }
            // The host's own word has brought another worker.
            _ => {}
        }
        let done = until(&lab, &window, "done");
        window.wait_for("MOCK-REPLY");
        let told = lab.model.told();
        let new: Vec<&String> =
            told.iter().filter(|told| told.contains(GOAL) && !told.contains(OLD)).collect();
        assert_eq!(new.len(), 1, "{point}: {told:#?}");
        let prompt = done["prompt"].as_str().unwrap();
        assert_eq!(new[0].matches(prompt).count(), 1, "{point}: {}", new[0]);
        assert_eq!(rotations(&lab).len(), 1, "{point}");
    }
}

/// From the model's last word in the old context to the first prompt in the new one.
#[test]
#[ignore = "a measurement: `.ci/rotation-time`"]
fn how_long_a_rotation_takes_in_claude_code() {
    let lab = lab();
    if let Some(measured) = std::env::var_os("KGCTX_MEASURED") {
        let kgctx = lab.scratch.path().join("bin/kgctx");
        std::fs::remove_file(&kgctx).unwrap();
        std::os::unix::fs::symlink(measured, kgctx).unwrap();
    }
    let Some(window) = ClaudeCodeWindow::open(&lab) else { return };
    let mut seconds: Vec<f64> = (1..=20)
        .map(|n| {
            window.say(&format!("[[bash:kgctx handoff rotate --goal GOAL-{n}]]"));
            let end = Instant::now() + PATIENCE;
            while rotations(&lab).len() < n || lab.model.times().len() < 3 * n {
                assert!(Instant::now() < end, "{}\n{}", rotation(&lab), window.text());
                thread::sleep(Duration::from_millis(20));
            }
            until(&lab, &window, "done");
            window.wait_for("MOCK-REPLY");
            let times = lab.model.times();
            let [.., (_, ended), (begun, _)] = times.as_slice() else { panic!() };
            (*begun - *ended).as_secs_f64()
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    let (median, worst) = (seconds[seconds.len() / 2], seconds[seconds.len() - 1]);
    eprintln!("Claude Code: {median:.2} s in the median of 20, {worst:.2} s at most");
    assert!(median <= 2.5, "{seconds:?}");
}
