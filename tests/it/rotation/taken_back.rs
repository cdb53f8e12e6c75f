//! Rotations that are taken back before a key was sent: the old context stays, and the intent with it.

use std::fs;

use serde_json::json;

use crate::support::rotation_lab::Seat;

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "it needs /proc")]
fn r_4_14_a_prompt_or_a_tool_in_the_last_moment_keeps_the_old_context() {
    // a worker that has seen the window ready is about to announce the first key.
    for (event, reason) in [
        ("user-prompt-submit", "a prompt came before it"),
        ("post-tool-use", "the turn went on after its end"),
    ] {
        let seat = Seat::new();
        let id = seat.schedule();
        let worker = seat.stop_with_hold("rotate:ready");
        assert_eq!(seat.state(), "reserved", "{event}");
        seat.tell(&seat.lab.event(event, "old"));
        seat.untouched();
        assert_eq!(seat.column("reason").as_deref(), Some(reason), "{event}");
        worker.end(&seat);
        seat.untouched();
        assert_eq!(seat.lab.status(&id).as_deref(), Some("claimed"), "{event}");
        seat.stop("old");
        assert!(seat.clear().contains(&id), "{event}");
        seat.take_up();
        seat.until_state("done");
    }
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "it needs /proc")]
fn r_4_14_a_tool_of_another_agent_or_of_an_earlier_turn_takes_nothing_back() {
    // what a hook was told before the end of the turn may be worked off after it.
    let seat = Seat::new();
    seat.schedule();
    let worker = seat.stop_with_hold("rotate:ready");
    let tool = seat.lab.event("post-tool-use", "old");
    let mut of_agent = tool.clone();
    of_agent["agent_id"] = json!("a1");
    seat.tell(&of_agent);
    seat.tell(&seat.lab.event("post-tool-use", "other"));
    seat.lab.sql("UPDATE rotations SET prompted_tick = prompted_tick + 600000");
    seat.tell(&tool);
    assert_eq!(seat.state(), "reserved");
    std::thread::scope(|scope| {
        scope.spawn(|| worker.end(&seat));
        seat.clear();
        seat.take_up();
    });
    seat.until_state("done");
}

#[test]
fn r_4_20_a_handoff_whose_document_is_gone_clears_nothing_until_it_is_back() {
    //
    for is_empty in [false, true] {
        let seat = Seat::new();
        let id = seat.schedule();
        let document = seat.lab.document(&id);
        let kept = document.with_extension("kept");
        fs::rename(&document, &kept).unwrap();
        if is_empty {
            fs::write(&document, "").unwrap();
        }
        let why = seat.steps_back();
        assert!(why.starts_with("its handoff cannot be read; restore the file"), "{why}");
        assert_eq!(seat.lab.status(&id).as_deref(), Some("claimed"));
        let status = seat.rotate_as("old", &["--status"]);
        let status = String::from_utf8(status.stdout).unwrap();
        assert!(status.contains(&why) && status.contains("--cancel"), "{status}");
        fs::rename(&kept, &document).unwrap();
        // Whoever waits for the window sees that it is back.
        assert!(seat.clear().contains("NEXT-STEP"));
        seat.take_up();
        seat.until_state("done");
        assert_eq!(seat.entered().iter().filter(|line| *line == "/clear").count(), 1);
    }
}
