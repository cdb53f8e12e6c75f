//! Windows that are not as they should be: no draft is lost, no dialog answered, nothing cleared twice.

use std::fs;
use std::os::fd::AsRawFd;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::handoff_lab::given;
use crate::support::rotation_lab::Seat;

#[test]
fn r_4_16_a_window_that_is_not_ready_is_not_touched() {
    // and when it is ready, the next end of a turn clears it.
    let seat = Seat::new();
    seat.schedule();
    let check = |name: &str, text: &str, why: &str| {
        let before = fs::read_to_string(seat.file(name)).ok();
        seat.set(name, text);
        assert_eq!(seat.steps_back(), why, "{name}");
        match before {
            Some(before) => seat.set(name, &before),
            None => seat.unset(name),
        }
    };
    check("typed", "half a thought", "something is typed in the composer");
    check("mode", "1", "the window is in tmux's copy mode");
    check("hidden", "Showing detailed transcript\n", "the window does not show its composer");
    let dialog = " Do you want to proceed?\n ❯ 1. Yes\n   2. No\n Esc to cancel\n";
    check("hidden", dialog, "the window does not show its composer");
    check("pid", "1", "the window no longer belongs to the session");
    check("clients", "%3", "someone is using the window");
    for (status, why) in [("busy", "a turn is under way"), ("waiting", "a dialog is open")] {
        seat.is("old", status);
        assert_eq!(seat.steps_back(), why);
    }
    seat.is("another", "idle");
    assert_eq!(seat.steps_back(), "the window has another session");
    seat.is("old", "idle");
    seat.stop("old");
    seat.clear();
    seat.take_up();
    seat.until_state("done");
    assert_eq!(seat.entered().iter().filter(|line| *line == "/clear").count(), 1);
}

#[test]
fn r_4_19_a_window_that_is_gone_or_does_not_answer_costs_little_time() {
    //
    for name in ["gone", "slow"] {
        let seat = Seat::new();
        seat.schedule();
        seat.set(name, "");
        let began = Instant::now();
        let why = seat.steps_back();
        assert_eq!(why, "the window is gone, or tmux does not answer", "{name}");
        assert!(began.elapsed() < Duration::from_secs(15), "{name}");
    }
}

#[test]
fn what_somebody_types_at_the_same_time_is_not_sent() {
    let seat = Seat::new();
    seat.schedule();
    seat.set("also", " and a word");
    seat.stop("old");
    seat.until_state("stuck");
    assert_eq!(seat.read("typed"), "/clear and a word");
    assert_eq!(seat.entered(), [""; 0]);
    // no second try by itself.
    seat.stop("old");
    assert_eq!((seat.state().as_str(), seat.keys().len()), ("stuck", 1));
    let status = seat.lab.kgctx(["handoff", "rotate", "--status"]).output().unwrap();
    let status = String::from_utf8(status.stdout).unwrap();
    assert!(status.contains("--retry") && status.contains("--cancel"), "{status}");
}

#[test]
fn r_4_22_a_window_that_does_not_say_that_it_was_cleared_is_left_alone() {
    // and a late word of the host heals it.
    let seat = Seat::new();
    let id = seat.schedule();
    seat.stop("old");
    seat.until_state("stuck");
    assert_eq!(seat.entered(), ["/clear"]);
    seat.stop("old");
    assert_eq!(seat.entered(), ["/clear"]);
    let told = seat.clear_now();
    assert!(told.contains(&id), "{told}");
    seat.take_up();
    seat.until_state("done");
    assert_eq!(seat.entered().len(), 2);
}

#[test]
fn r_4_17_the_clearing_of_another_window_confirms_nothing() {
    // nor does one that a person asked for earlier.
    let seat = Seat::new();
    seat.begin("start-clear", "earlier");
    seat.schedule();
    seat.begin("start-clear", "meanwhile");
    assert_eq!(seat.state(), "scheduled");
    seat.stop("old");
    seat.until_state("clearing");
    seat.lab.sql("UPDATE rotations SET host_started = host_started + 1");
    let told = seat.begin("start-clear", "stranger");
    assert!(!told.contains("HANDOFF LOADED"), "{told}");
    assert_eq!(seat.column("new_session"), None);
}

#[test]
fn a_host_whose_hook_could_not_say_so_is_believed_that_it_has_a_new_session() {
    let seat = Seat::new();
    let id = seat.schedule();
    seat.stop("old");
    seat.until("/clear is sent", |seat| seat.entered() == ["/clear"]);
    seat.is("new", "idle");
    // No hook told of it, so the handoff was not given: the prompt says how to read it.
    seat.until("the prompt", |seat| seat.entered().len() == 2);
    assert!(seat.entered()[1].starts_with(&format!("Run `kgctx handoff show {id}`")));
    seat.prompt("new", &seat.entered()[1]);
    seat.until_state("done");
    // it is no word of a person, and nobody else gets the handoff.
    assert_eq!(seat.column("is_prompted").as_deref(), Some("0"));
    assert_eq!(seat.lab.status(&id).as_deref(), Some("consumed"));
}

#[test]
fn a_draft_in_the_new_session_keeps_the_prompt_for_a_person() {
    let seat = Seat::new();
    seat.schedule();
    seat.stop("old");
    seat.until("/clear is sent", |seat| seat.entered() == ["/clear"]);
    seat.set("typed", "what the user types");
    seat.clear_now();
    seat.until_state("waiting");
    assert_eq!((seat.read("typed").as_str(), seat.entered().len()), ("what the user types", 1));
    // Whatever is typed then, the rotation is done.
    seat.prompt("new", "what the user types");
    assert_eq!((seat.state().as_str(), seat.column("is_prompted").as_deref()), ("done", Some("1")));
}

#[test]
fn an_enter_that_the_window_swallows_is_sent_once_more() {
    let seat = Seat::new();
    seat.schedule();
    seat.stop("old");
    seat.until("/clear is sent", |seat| seat.entered() == ["/clear"]);
    seat.set("swallow", "");
    seat.clear_now();
    seat.until("both are sent", |seat| seat.entered().len() == 3);
    let lines = seat.entered();
    assert_eq!(lines[1], lines[2]);
    seat.prompt("new", &lines[1]);
    seat.until_state("done");
}

#[test]
fn r_4_20_the_file_may_go_after_it_was_scheduled() {
    // the document is stored at scheduling, so that nothing is missing at the end of the turn.
    let seat = Seat::new();
    let file = seat.lab.folder().join("HANDOFF.md");
    fs::write(&file, "# Goal\n\nShip it. THE-TEXT\n").unwrap();
    seat.rotate(&[]);
    fs::remove_file(file).unwrap();
    seat.stop("old");
    assert!(seat.clear().contains("THE-TEXT"));
    seat.take_up();
    seat.until_state("done");
}

#[test]
fn a_clock_that_jumps_delays_nothing_and_ends_nothing() {
    let seat = Seat::new();
    let id = seat.schedule();
    // As if it had been recorded days ago, or in days, by a clock that was wrong.
    for days in ["-", "+"] {
        seat.lab.sql(&format!("UPDATE rotations SET recorded = recorded {days} 864000000"));
        seat.lab.handoff(&["list"]);
        assert_eq!(seat.state(), "scheduled");
    }
    seat.stop("old");
    assert!(seat.clear().contains(&id));
    // but one that nothing started for two hours is over.
    let seat = Seat::new();
    seat.schedule();
    seat.lab.sql("UPDATE rotations SET recorded_tick = recorded_tick - 7300000");
    seat.stop("old");
    assert_eq!((seat.state().as_str(), seat.keys().len()), ("expired", 0));
}

/// How long a hook takes longer than one that has nothing to do: the fastest of several, because on a busy machine the start of a
/// process alone can take hundreds of milliseconds.
fn cost(seat: &Seat, event: &serde_json::Value) -> Duration {
    let fastest = |event: &serde_json::Value| {
        let took = (0..7).map(|_| {
            let began = Instant::now();
            seat.tell(event);
            began.elapsed()
        });
        took.min().unwrap()
    };
    fastest(event).saturating_sub(fastest(&serde_json::json!({"hook_event_name": "None"})))
}

#[test]
fn r_4_12_a_prompt_in_the_queue_keeps_no_host_waiting() {
    // the worker sees it, and looks again.
    let seat = Seat::new();
    seat.schedule();
    let transcript = seat.lab.transcript("old");
    fs::create_dir_all(transcript.parent().unwrap()).unwrap();
    fs::write(&transcript, "{\"type\":\"queue-operation\",\"operation\":\"enqueue\"}\n").unwrap();
    let stop = seat.lab.event("stop", "old");
    let took = cost(&seat, &stop);
    assert!(took < Duration::from_millis(120), "{took:?}");
    seat.until("it steps back", |seat| {
        seat.column("reason").as_deref() == Some("a prompt waits in the queue")
    });
    seat.untouched();
    fs::write(&transcript, "").unwrap();
    seat.clear();
    seat.take_up();
    seat.until_state("done");
}

#[test]
fn r_4_12_the_hook_is_silent_and_fast_under_every_fault() {
    // a state that another process writes; the worker waits for it, not the host.
    let seat = Seat::new();
    seat.schedule();
    let state = seat.lab.state();
    state.execute_batch("BEGIN IMMEDIATE").unwrap();
    let stop = seat.lab.event("stop", "old");
    let took = cost(&seat, &stop);
    assert!(took < Duration::from_millis(200), "{took:?}");
    state.execute_batch("ROLLBACK").unwrap();
    seat.clear();
    seat.take_up();
    seat.until_state("done");
    // One that is no database, and one that cannot be reached.
    let seat = Seat::new();
    seat.schedule();
    let folder = seat.lab.scratch.path().join("kgctx-home/state");
    fs::write(folder.join("state.db"), "no database").unwrap();
    assert_eq!(seat.tell(&stop).stdout, b"");
    // A worker that was started before may still write there.
    while {
        let _ = fs::remove_dir_all(&folder);
        fs::write(&folder, "").is_err()
    } {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(seat.tell(&stop).stdout, b"");
    // Nor does a broken event disturb anybody.
    let output = given(
        seat.kgctx(&["hook", "claude-code"]),
        &serde_json::json!({"hook_event_name": "Stop"}),
    );
    assert_eq!((output.status.code(), output.stdout.len(), output.stderr.len()), (Some(0), 0, 0));
}

#[test]
fn r_4_10_agents_in_the_background_keep_their_window_where_the_state_is_busy_too() {
    //
    let seat = Seat::new();
    seat.schedule();
    let state = seat.lab.state();
    state.execute_batch("BEGIN IMMEDIATE").unwrap();
    let agents = serde_json::json!({"background_tasks": [{"id": "a", "type": "subagent", "status": "running"}]});
    seat.stop_with(&agents, "old");
    state.execute_batch("ROLLBACK").unwrap();
    let reason = |seat: &Seat| seat.column("reason").unwrap_or_default();
    seat.until("it waits for them", |seat| reason(seat).starts_with("agents work"));
    std::thread::sleep(Duration::from_millis(1_200));
    seat.untouched();
    seat.stop("old");
    seat.clear();
    seat.take_up();
    seat.until_state("done");
    assert_eq!(seat.entered().iter().filter(|line| *line == "/clear").count(), 1);
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "it needs /proc")]
fn r_4_23_a_worker_that_cannot_start_gives_the_rotation_back() {
    // a kgctx that was removed while it runs, as by an update, cannot start itself again.
    let seat = Seat::new();
    seat.schedule();
    let installed = seat.kgctx(&["hook", "claude-code"]);
    let copy = seat.lab.scratch.path().join("removed-kgctx");
    fs::copy(installed.get_program(), &copy).unwrap();
    let open = fs::File::open(&copy).unwrap();
    fs::remove_file(&copy).unwrap();
    let still_there = format!("/proc/{}/fd/{}", std::process::id(), open.as_raw_fd());
    let mut removed = Command::new(still_there);
    removed
        .args(installed.get_args())
        .current_dir(installed.get_current_dir().unwrap())
        .env_clear();
    removed.envs(installed.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let stop = seat.lab.event("stop", "old");
    assert_eq!(seat.tell_by(removed, &stop).stdout, b"");
    seat.untouched();
    let reason = seat.column("reason").unwrap();
    assert!(reason.starts_with("its worker could not be started: "), "{reason}");
    // The end of the next turn tries again.
    seat.stop("old");
    seat.clear();
    seat.take_up();
    seat.until_state("done");
}

#[test]
fn r_4_27_two_workers_send_one_clear() {
    // the row is the lock of the session and of its window.
    let seat = Seat::new();
    seat.schedule();
    let stop = seat.lab.event("stop", "old");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| seat.tell(&stop));
        }
    });
    seat.clear();
    seat.take_up();
    seat.until_state("done");
    assert_eq!(seat.entered().iter().filter(|line| *line == "/clear").count(), 1);
    assert_eq!(seat.keys().len(), 4);
}

#[test]
fn a_clear_that_the_user_types_meanwhile_is_the_only_one() {
    let seat = Seat::new();
    let id = seat.schedule();
    // The worker looks at the window while the user clears it.
    seat.set("typed", "/clear");
    seat.stop("old");
    seat.until_state("reserved");
    seat.set("typed", "");
    seat.clear_now();
    assert_eq!(seat.state(), "dropped");
    std::thread::sleep(Duration::from_millis(1_500));
    assert_eq!(seat.keys(), [""; 0]);
    assert_eq!(seat.lab.status(&id).as_deref(), Some("active"), "it waits for the next session");
}

#[test]
fn two_sessions_of_a_project_rotate_without_each_other() {
    let seat = Seat::new();
    let id = seat.schedule();
    // Another session of the project leaves a handoff, and one more starts: neither has to do with it.
    seat.begin("start-startup", "other");
    let left = seat.lab.create(&["--session", "other", "--goal", "OTHERS", "--next", "n"]);
    let told = seat.begin("start-startup", "third");
    assert!(told.contains(&left) && !told.contains(&id), "{told}");
    seat.stop("old");
    let told = seat.clear();
    assert!(told.contains(&id) && !told.contains("OTHERS"), "{told}");
    assert_eq!(seat.lab.status(&left).as_deref(), Some("consumed"));
}

#[test]
fn a_shell_in_the_background_does_not_keep_a_window_from_being_cleared() {
    // Claude Code says `shell` instead of `idle` while one runs, and it outlives the clearing.
    let seat = Seat::new();
    seat.schedule();
    seat.is("old", "shell");
    seat.stop("old");
    seat.until("/clear is sent", |seat| seat.entered() == ["/clear"]);
    seat.is("new", "shell");
    seat.begin("end-clear", "old");
    seat.begin("start-clear", "new");
    seat.take_up();
    seat.until_state("done");
}

#[test]
fn somebody_who_works_in_another_pane_is_not_disturbed_and_does_not_disturb() {
    let seat = Seat::new();
    seat.schedule();
    seat.set("clients", "%9");
    seat.stop("old");
    seat.clear();
    seat.take_up();
    seat.until_state("done");
}

#[test]
fn a_window_that_becomes_free_at_rest_is_cleared_without_another_turn() {
    let seat = Seat::new();
    seat.schedule();
    seat.set("typed", "half a thought");
    assert_eq!(seat.steps_back(), "something is typed in the composer");
    seat.set("typed", "");
    seat.clear();
    seat.take_up();
    seat.until_state("done");
    assert_eq!(seat.entered().iter().filter(|line| *line == "/clear").count(), 1);
}

#[test]
fn nobody_watches_a_window_for_a_rotation_that_is_over() {
    let seat = Seat::new();
    seat.schedule();
    seat.set("typed", "half a thought");
    seat.steps_back();
    let output = seat.rotate_as("old", &["--cancel"]);
    assert!(output.status.success(), "{output:?}");
    seat.set("typed", "");
    let looked = seat.read("calls").len();
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(seat.keys(), [""; 0]);
    // One look may have been under way.
    let calls = seat.read("calls");
    assert!(calls[looked..].lines().count() <= 4, "{}", &calls[looked..]);
}

#[test]
fn a_handoff_that_is_archived_or_released_takes_its_rotation_with_it() {
    for command in ["archive", "release"] {
        let seat = Seat::new();
        let id = seat.schedule();
        seat.lab.handoff(&[command, &id]);
        assert_eq!(seat.state(), "cancelled", "{command}");
        let status = if command == "archive" { "cleared" } else { "active" };
        assert_eq!(seat.lab.status(&id).as_deref(), Some(status), "{command}");
        seat.stop("old");
        std::thread::sleep(Duration::from_millis(1_200));
        assert_eq!(seat.keys(), [""; 0], "{command}");
    }
    // What is being cleared at this moment waits for a word of Claude Code.
    let seat = Seat::new();
    let id = seat.schedule();
    seat.stop("old");
    seat.until_state("clearing");
    let (code, said) = seat.lab.refused(&["archive", &id]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("being cleared right now"), "{said}");
    seat.clear();
    seat.take_up();
    seat.until_state("done");
}

#[test]
fn a_worker_looks_whether_the_handoff_is_still_there_before_it_clears() {
    let seat = Seat::new();
    seat.schedule();
    seat.set("typed", "half a thought");
    seat.stop("old");
    seat.until_state("reserved");
    seat.lab.sql("UPDATE handoffs SET status = 'cleared', owner_pid = NULL");
    seat.set("typed", "");
    seat.until_state("cancelled");
    assert_eq!(seat.keys(), [""; 0]);
}

#[test]
fn a_composer_with_the_keys_of_vim_takes_a_text_in_its_insert_mode_alone() {
    let seat = Seat::new();
    seat.schedule();
    let mode = "the composer is not in vim's INSERT mode";
    // In NORMAL mode nothing on the screen says so.
    let settings = seat.lab.scratch.home().join(".claude/settings.json");
    let before = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, before.replacen('{', "{\"editorMode\":\"vim\",", 1)).unwrap();
    assert_eq!(seat.steps_back(), mode);
    seat.set("footer", "-- VISUAL -- auto mode on");
    assert_eq!(seat.steps_back(), mode);
    seat.set("footer", "-- INSERT -- auto mode on");
    seat.stop("old");
    seat.clear();
    seat.take_up();
    seat.until_state("done");
}

#[test]
fn r_4_18_a_first_prompt_that_a_window_takes_for_pasted_text_is_refused() {
    // some 1,000 characters.
    let seat = Seat::new();
    let folder = ["d".repeat(100), "e".repeat(200), "f".repeat(200)].join("/");
    fs::create_dir_all(seat.lab.folder().join(&folder)).unwrap();
    let file = format!("{folder}/HANDOFF.md");
    fs::write(seat.lab.folder().join(&file), "# Goal\n\nShip it.\n").unwrap();
    let (code, said) = seat.refused(&[&file, "--then", &"word ".repeat(80)]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("shorten --then") && said.contains("800"), "{said}");
    seat.rotate(&[&file, "--then", "Go on."]);
}
