//! What a session is told about tasks that wait.

use super::OPENING;
use crate::support::handoff_lab::{Lab, context, given};

/// The lines of a context that speak of tasks.
fn about_tasks(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.contains("task") && line.contains("wait")).collect()
}

#[test]
fn waiting_tasks_are_said_in_one_line() {
    let lab = Lab::new();
    let task = |goal: &str, priority: &str| {
        lab.create(&["--task", "--priority", priority, "--goal", goal, "--next", "Test"])
    };
    let low = task("Ship\nit", "low");
    let text = lab.start("s").unwrap();
    let said =
        format!("[1 task waits: {low} (low): Ship it; `kgctx handoff pickup {low}` takes it.]");
    assert_eq!(about_tasks(&text), [said.as_str()], "{text}");
    assert!(!text.contains(OPENING), "{text}");
    // The first is the one that a pickup would take; the line stands beside a handoff, too.
    let first = task("Password is hunter2: PASSWORD=x9!kQ2vTz7", "high");
    task("Later", "high");
    let id = lab.leave("Go on.");
    let text = lab.start("t").unwrap();
    let lines = about_tasks(&text);
    let [line] = lines[..] else { panic!("{text}") };
    assert!(line.starts_with(&format!("[3 tasks wait, first {first} (high): Pass")), "{line}");
    assert!(line.ends_with(&format!("; `kgctx handoff pickup {first}` takes it.]")), "{line}");
    assert!(!text.contains("x9!kQ2vTz7"), "{text}");
    assert!(text.contains(&id) && text.contains("Go on."), "{text}");
    let picked = lab.handoff(&["pickup", "--auto", "--session", "t"]);
    assert_eq!(picked["id"], first.as_str());
    // After a compaction the line is said again, with what is true then.
    let text = lab.told("start-compact", "t").unwrap();
    assert!(about_tasks(&text)[0].starts_with("[2 tasks wait"), "{text}");
    // Whoever clears a session is rid of the handoff, and not of the tasks.
    let text = lab.told("start-clear", "cleared").unwrap();
    assert!(about_tasks(&text)[0].starts_with("[2 tasks wait"), "{text}");
    // A dry run shows it; nobody else is told, neither a script nor a session of another project.
    let output = lab.kgctx(["inject", "--session", "u", "--dry-run"]).output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("[2 tasks wait"));
    let mut hook = lab.hook();
    hook.env("CI", "true");
    assert_eq!(context(&given(hook, &lab.event("start-startup", "v"))), None);
    lab.scratch.write("kgctx-home/config.toml", "[handoff]\nenabled = false\n");
    assert_eq!(lab.start("w"), None);
}
