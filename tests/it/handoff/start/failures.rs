//! Whatever is broken beside a session: it starts.

use std::fs;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::support::handoff_lab::{Lab, context, fire, given, waiting};
use crate::support::stderr;

/// Whatever is wrong: the hook ends well, in time, and says nothing but what it has to give.
#[track_caller]
fn starts_all_the_same(lab: &Lab, what: &str) {
    for event in ["start-startup", "start-resume", "start-compact", "start-clear", "end-other"] {
        let start = Instant::now();
        let output = given(lab.hook(), &lab.event(event, &format!("s-{}", what.len())));
        assert_eq!(output.status.code(), Some(0), "{what}: {output:?}");
        assert_eq!(stderr(&output), "", "{what}, {event}");
        assert!(output.stdout.is_empty(), "{what}, {event}: {output:?}");
        assert!(start.elapsed() < Duration::from_millis(1_500), "{what}: {:?}", start.elapsed());
    }
}

#[test]
fn a_1_44_whatever_is_broken_a_session_starts() {
    // no store, a state that is none, and one that is locked.
    let lab = Lab::new();
    starts_all_the_same(&lab, "nothing there");
    lab.leave("Ship it.");
    let folder = lab.scratch.path().join("kgctx-home/state");
    fs::rename(folder.join("handoffs"), folder.join("moved")).unwrap();
    starts_all_the_same(&lab, "the documents are gone");
    {
        let locked = Connection::open(folder.join("state.db")).unwrap();
        locked.execute_batch("BEGIN EXCLUSIVE").unwrap();
        starts_all_the_same(&lab, "locked");
    }
    for file in ["state.db-wal", "state.db-shm"] {
        let _ = fs::remove_file(folder.join(file));
    }
    let state = folder.join("state.db");
    fs::write(&state, "not a database, but long enough to be looked at as one".repeat(100))
        .unwrap();
    starts_all_the_same(&lab, "text");
    fs::remove_file(&state).unwrap();
    Connection::open(&state).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
    starts_all_the_same(&lab, "somebody else's");
    fs::remove_file(&state).unwrap();
    Connection::open(&state).unwrap().pragma_update(None, "user_version", 99).unwrap();
    starts_all_the_same(&lab, "from the future");
    fs::remove_dir_all(&folder).unwrap();
    fs::write(&folder, "").unwrap();
    starts_all_the_same(&lab, "a file in the place of the folder");
    for event in ["", "{", "null", "[]", "{\"hook_event_name\":\"SessionStart\"}"] {
        let mut hook = waiting(lab.hook());
        std::io::Write::write_all(&mut hook.stdin.take().unwrap(), event.as_bytes()).unwrap();
        assert_eq!(context(&hook.wait_with_output().unwrap()), None, "{event}");
    }
}

#[test]
fn with_a_state_that_cannot_be_used_a_session_gets_its_notes_also_after_a_compaction() {
    let lab = with_notes();
    let folder = lab.scratch.path().join("kgctx-home/state");
    fs::create_dir_all(folder.join("state.db")).unwrap();
    for event in ["start-startup", "start-compact", "start-clear"] {
        let text = lab.told(event, "s").unwrap_or_else(|| panic!("{event}: nothing"));
        assert!(text.contains("[[sail]]"), "{event}: {text}");
        let faults = lab.faults("s");
        assert!(faults.contains("state.db is not a regular file"), "{event}: {faults}");
    }
}

/// A lab with notes, so that a session has something to get beside a handoff.
fn with_notes() -> Lab {
    let lab = Lab::new();
    lab.scratch.write("zephyr/docs/zephyr.md", "# Zephyr\n\nOf [[zephyr]] and its [[sail]].\n");
    lab.kgctx(["index"]).output().unwrap();
    lab
}

/// What a session gets that starts while another process writes for so long.
fn start_while_locked(lab: &Lab, session: &str, lock: Duration) -> Option<String> {
    let state = lab.state();
    state.execute_batch("BEGIN IMMEDIATE").unwrap();
    let hook = fire(waiting(lab.hook()), &lab.event("start-startup", session));
    let unlock = thread::spawn(move || {
        thread::sleep(lock);
        state.execute_batch("COMMIT").unwrap();
    });
    let text = context(&hook.wait_with_output().unwrap());
    unlock.join().unwrap();
    text
}

#[test]
fn a_state_that_is_busy_for_a_while_costs_neither_context_nor_handoff() {
    let lab = with_notes();
    let id = lab.leave("Ship it.");
    let text = start_while_locked(&lab, "s", Duration::from_millis(600)).unwrap();
    assert!(text.contains("Knowledge Graph Context") && text.contains("Ship it."), "{text}");
    assert_eq!(lab.status(&id).as_deref(), Some("consumed"));
}

#[test]
fn a_state_that_stays_busy_costs_the_handoff_alone_which_waits_on() {
    let lab = with_notes();
    let id = lab.leave("Ship it.");
    let text = start_while_locked(&lab, "s", Duration::from_millis(1_500)).unwrap();
    assert!(text.contains("Knowledge Graph Context") && !text.contains("Ship it."), "{text}");
    assert_eq!(lab.status(&id).as_deref(), Some("active"));
    let faults = lab.faults("s");
    assert!(faults.contains("the state was busy until shortly before the deadline"), "{faults}");
    assert!(lab.start("next").unwrap().contains("Ship it."));
}

#[test]
fn after_a_clear_a_session_gets_its_notes_and_no_handoff() {
    let lab = with_notes();
    let id = lab.leave("Ship it.");
    let text = lab.told("start-clear", "cleared").unwrap();
    assert!(text.contains("[[sail]]") && !text.contains("Ship it."), "{text}");
    assert_eq!(lab.status(&id).as_deref(), Some("active"));
}

#[cfg(unix)]
#[test]
fn a_1_44_where_nothing_can_be_written_a_session_starts() {
    // a disk that is full, and a home that may not be written.
    let lab = Lab::new();
    let id = lab.leave("Ship it.");
    let full = |event: &str, session: &str| {
        let kgctx = lab.hook();
        let mut shell = Command::new("bash");
        shell.args(["-c", "ulimit -f 0; trap '' XFSZ; exec \"$@\"", "bash"]);
        shell.arg(kgctx.get_program()).args(kgctx.get_args()).env_clear();
        shell.envs(kgctx.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell.current_dir(kgctx.get_current_dir().unwrap());
        context(&given(shell, &lab.event(event, session)))
    };
    for event in ["start-startup", "start-resume", "end-other"] {
        assert_eq!(full(event, "s"), None, "{event}");
    }
    assert_eq!(lab.status(&id).as_deref(), Some("active"), "it waits on");
    let home = lab.scratch.path().join("kgctx-home");
    let mode = |mode: &str| {
        let changed = Command::new("chmod").args(["-R", mode]).arg(&home).status().unwrap();
        assert!(changed.success());
    };
    mode("a-w");
    // Whoever may write everywhere is not stopped by that.
    if fs::write(home.join("state/probe"), "").is_err() {
        starts_all_the_same(&lab, "read-only");
    }
    mode("u+w");
    assert!(lab.start("t").unwrap().contains(&id));
}
