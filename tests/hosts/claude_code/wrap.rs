//! The wrapper around the real Claude Code, in a real terminal: a session whose context is full is followed by a new one.

use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::thread;
use std::time::{Duration, Instant};

use super::lab::{Lab, PATIENCE, program};
use super::window::ClaudeCodeWindow;

/// Every context is full.
const FULL: &str = "[monitor]\nwindows = { \"*\" = 12 }\n";

/// Opens a window in which a wrapper runs Claude Code.
fn open<'a>(lab: &'a Lab, options: &str, arguments: &str) -> Option<ClaudeCodeWindow<'a>> {
    let place = lab.scratch.path().display().to_string();
    let claude = program().display();
    let script = format!(
        "#!/bin/sh\nstty -a > {place}/before\nkgctx wrap {options} -- {claude} {arguments} 2> {place}/said\n\
         code=$?\nstty -a > {place}/after\necho \"ENDED $code\"\ntrap : INT\nwhile :; do sleep 1; done\n"
    );
    let file = lab.scratch.write("run", script);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    ClaudeCodeWindow::open_by(lab, &file)
}

fn read(lab: &Lab, name: &str) -> String {
    fs::read_to_string(lab.scratch.path().join(name)).unwrap()
}

fn config(lab: &Lab, text: &str) {
    lab.scratch.write("kgctx-home/config.toml", text);
}

#[track_caller]
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < end, "waited in vain until {what}");
        thread::sleep(Duration::from_millis(100));
    }
}

/// Waits until a new session continues. On a busy machine a hook may have no time to ask for it; the end of the next turn asks
/// again.
#[track_caller]
fn until_restarted(lab: &Lab, window: &ClaudeCodeWindow<'_>) {
    // A wrapper waits for a minute.
    let is_restarted = || {
        (0..700).any(|_| {
            thread::sleep(Duration::from_millis(100));
            read(lab, "said").contains("a new session continues")
        })
    };
    let again = || window.say("Sort the tiles.");
    let is_restarted = is_restarted() || (0..2).any(|_| (again(), is_restarted()).1);
    assert!(is_restarted, "{}\n{}", read(lab, "said"), window.text());
}

#[test]
fn a_1_39_a_full_session_is_followed_by_a_new_one_in_the_same_window() {
    //
    let lab = Lab::with_kgctx(None, &["install", "claude-code", "--monitor"]);
    config(&lab, FULL);
    let Some(window) = open(&lab, "--auto-restart", "--model claude-sonnet-4-5") else { return };
    window.say("Sort the tiles.");
    window.wait_for("MOCK-REPLY");
    until_restarted(&lab, &window);
    config(&lab, "");
    window.wait_for("Continue from where you left off.");
    // The window may still show the reply of the first session, so the model says when it was asked.
    let told = RefCell::new(Vec::<String>::new());
    wait_until("the model is asked", || {
        told.borrow_mut().extend(lab.model.told());
        told.borrow().iter().any(|told| told.contains("Continue from"))
    });
    window.wait_for("MOCK-REPLY");
    let told = told.into_inner();
    let asked: Vec<_> = told.iter().filter(|told| told.contains("Continue from")).collect();
    let [asked] = asked[..] else { panic!("asked {} times: {told:#?}", asked.len()) };
    let id = read(&lab, "said");
    let id = id.split("handoff ").nth(1).unwrap().split(' ').next().unwrap();
    assert!(asked.contains(&format!("The handoff {id} is above")), "{asked}");
    assert!(asked.contains("Sort the tiles.") && asked.contains("=== HANDOFF"), "{asked}");
    // An end by its user is the end.
    window.say("/exit");
    window.wait_for("ENDED 0");
    assert_eq!(read(&lab, "after"), read(&lab, "before"));
    assert_eq!(window.known("#{alternate_on} #{cursor_flag}"), "0 1");
    assert_eq!(read(&lab, "said").matches("restart").count(), 1, "{}", read(&lab, "said"));
}

#[test]
fn a_1_36_a_session_that_its_user_leaves_or_types_in_is_not_restarted() {
    //
    let lab = Lab::with_kgctx(None, &["install", "claude-code", "--monitor"]);
    config(&lab, FULL);
    let Some(window) = open(&lab, "--auto-restart", "") else { return };
    window.say("Sort the tiles.");
    window.wait_for("MOCK-REPLY");
    // Whoever types is not disturbed.
    for _ in 0..8 {
        thread::sleep(Duration::from_secs(2));
        window.write("x");
    }
    window.wait_for("xxxxxxxx");
    assert!(!read(&lab, "said").contains("a new session"), "{}", read(&lab, "said"));
    // One empties the composer, two more leave.
    for _ in 0..3 {
        window.key("C-c");
        thread::sleep(Duration::from_millis(300));
    }
    window.wait_for("ENDED 0");
    assert_eq!(read(&lab, "after"), read(&lab, "before"));
    assert!(!read(&lab, "said").contains("a new session"), "{}", read(&lab, "said"));
}

#[test]
fn a_draft_that_nobody_touches_keeps_a_session_from_being_ended() {
    let lab = Lab::with_kgctx(None, &["install", "claude-code", "--monitor"]);
    config(&lab, FULL);
    let Some(window) = open(&lab, "--auto-restart", "") else { return };
    window.say("Sort the tiles.");
    window.wait_for("MOCK-REPLY");
    window.write("half a thought");
    window.wait_for("❯ half a thought");
    // Longer than a wrapper waits for somebody who types, with the eight seconds of the system's clock.
    thread::sleep(Duration::from_secs(22));
    assert!(window.shows("❯ half a thought"), "{}", window.text());
    assert!(!read(&lab, "said").contains("a new session"), "{}", read(&lab, "said"));
    window.key("C-u");
    until_restarted(&lab, &window);
    config(&lab, "");
    assert!(lab.model.told().iter().all(|told| !told.contains("half a thought")));
}

#[test]
fn the_terminal_is_in_order_after_claude_code_was_killed() {
    let lab = Lab::with_kgctx(None, &["install", "claude-code"]);
    let Some(window) = open(&lab, "", "") else { return };
    let sql = "pgrep -P $(pgrep -P \"$0\" -x kgctx)";
    let pane = window.known("#{pane_pid}");
    let found = lab.command("sh".as_ref()).args(["-c", sql, &pane]).output().unwrap();
    let agent = String::from_utf8(found.stdout).unwrap();
    assert!(!agent.trim().is_empty(), "{agent}");
    assert!(lab.command("kill".as_ref()).args(["-9", agent.trim()]).status().unwrap().success());
    window.wait_for("ENDED 137");
    assert_eq!(read(&lab, "after"), read(&lab, "before"));
    assert_eq!(window.known("#{alternate_on} #{cursor_flag} #{mouse_any_flag}"), "0 1 0");
}
