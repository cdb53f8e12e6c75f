//! Processes that are killed at every step of a handoff's life: what they did is done or not done, and never lost.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use kgctx::core::handoff::choice::{HandoffChoice, HandoffQuery, HandoffRequest};
use kgctx::core::handoff::life::{Actor, Home};
use kgctx::core::handoff::{Head, Kind};
use kgctx::core::session::Moment;
use kgctx::core::time::Timespan;
use kgctx::store::state::{Claim, State};
use kgctx::system::process::identity::Process;
use serde_json::Value;

use crate::support::handoff_lab::{
    KILL_AT, Lab, TEXT, assert_whole, context, create_in, given, killed_start,
};

/// A program that was ended at a point on its way.
#[track_caller]
fn killed(command: &mut Command, point: &str) -> Output {
    let output = command.env(KILL_AT, point).stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.signal(), Some(9), "{point} is not on its way: {output:?}");
    output
}

#[test]
fn a_1_14_who_looked_at_the_clock_and_then_waited_takes_nothing_from_who_came_first() {
    // the time of who asks may be before that of who has it.
    let folder = tempfile::tempdir().unwrap();
    let mut state = State::open(folder.path(), Duration::from_secs(5)).unwrap();
    let actor = |now_ms: i64| Actor { session: None, now_ms };
    let home = Home { scope: "p-1", channel: "p" };
    let draft = state.draft_handoff(&home, &Head::default(), |_| true, &actor(5_000)).unwrap();
    assert!(state.orphaned_drafts("p-1", 4_500).unwrap().is_empty(), "its writer is at it");
    state.activate_handoff(&draft, &actor(5_000)).unwrap();
    let mut load = |session: &str, now_ms: i64| {
        let this = Some(Process::this());
        let claim = state.claim_for(this, session, &Moment::Start, now_ms, None).unwrap();
        let Claim::Won(token) = claim else { panic!("{claim:?}") };
        let request = HandoffRequest::First;
        let (scope, max_age, unusable) = ("p-1", Timespan::from_hours(u32::MAX), &[][..]);
        let is_scripted = false;
        let query =
            HandoffQuery { scope, session, request, is_scripted, max_age, now_ms, unusable };
        state.claim_handoff(&query, None, token).unwrap()
    };
    assert!(matches!(load("first", 5_000), HandoffChoice::Given(_)));
    assert_eq!(load("second", 4_500), HandoffChoice::Nothing);
    let task = Head { kind: Kind::Task, ..Head::default() };
    let task = state.draft_handoff(&home, &task, |_| true, &actor(5_000)).unwrap();
    state.activate_handoff(&task, &actor(5_000)).unwrap();
    let mut take = |now_ms: i64| state.take_handoff("p-1", &task, &actor(now_ms)).unwrap();
    assert!(matches!(take(5_000), Some((_, Some(_)))));
    assert!(matches!(take(4_500), Some((_, None))));
}

#[test]
fn a_1_15_a_session_whose_hook_died_is_given_it_when_its_host_tries_again() {
    let lab = Lab::new();
    let text_of_next = |session: &str| {
        let mut hook = lab.hook();
        hook.env("KGCTX_CHANNEL", "c");
        context(&given(hook, &lab.event("start-startup", session)))
    };
    for point in ["load:claimed", "load:composed", "load:printed"] {
        let id = create_in(&lab, "c");
        killed_start(&lab, "c", point, point);
        let text = text_of_next(point).unwrap();
        assert!(text.contains(&id), "{point}: {text}");
    }
    // Once it is written down that a session has it, nobody gets it any more.
    let id = create_in(&lab, "c");
    killed_start(&lab, "c", "last", "load:settled");
    assert_eq!((text_of_next("last"), text_of_next("other")), (None, None));
    assert_eq!(lab.status(&id).as_deref(), Some("consumed"));
    assert_whole(&lab);
}

#[test]
fn a_1_7_whoever_dies_while_creating_leaves_what_was_or_what_will_be() {
    // the old one or the new one, never a mix.
    for (point, is_new) in [
        ("state:uncommitted", false),
        ("create:reserved", false),
        ("create:written", false),
        ("create:linked", true),
        ("create:durable", true),
        ("create:activated", true),
    ] {
        let lab = Lab::new();
        let old = lab.leave(TEXT);
        let text = "The new one. THE END";
        killed(&mut lab.kgctx(["handoff", "create", "--session", "new", "--body", text]), point);
        let all = lab.handoff(&["list", "--all"]);
        let all = all["handoffs"].as_array().unwrap();
        let status = |of: &Value| of["status"].as_str().unwrap().to_owned();
        let (new, olds): (Vec<&Value>, Vec<&Value>) = all.iter().partition(|one| one["id"] != *old);
        assert_eq!(new.len(), usize::from(is_new), "{point}");
        assert!(new.iter().all(|one| status(one) == "active"), "{point}");
        let expected = if is_new { "cleared" } else { "active" };
        assert_eq!(olds.iter().map(|one| status(one)).collect::<Vec<_>>(), [expected], "{point}");
        assert_whole(&lab);
        // The next one takes its place, and the next session is given that.
        let next = lab.leave("The next one. THE END");
        assert!(lab.start("s").unwrap().contains(&next), "{point}");
        assert_whole(&lab);
    }
}

#[test]
fn whoever_dies_while_picking_up_has_it_only_if_that_was_written_down() {
    for (point, is_kept) in [
        ("state:uncommitted", false),
        ("pickup:claimed", false),
        ("pickup:printed", false),
        ("pickup:confirmed", true),
    ] {
        let lab = Lab::new();
        let task = ["--task", "--goal", "Ship", "--next", "Test", "--body", TEXT];
        let id = lab.create(&task);
        let output = killed(&mut lab.kgctx(["handoff", "pickup", &id, "--session", "dead"]), point);
        let is_printed = String::from_utf8(output.stdout).unwrap().contains(TEXT);
        assert_eq!(is_printed, matches!(point, "pickup:printed" | "pickup:confirmed"), "{point}");
        assert_whole(&lab);
        if is_kept {
            let (code, said) = lab.refused(&["pickup", &id]);
            assert!(code == 1 && said.contains("claimed by session dead"), "{said}");
            lab.handoff(&["release", &id]);
        }
        let picked = lab.handoff(&["pickup", &id, "--session", "next"]);
        assert_eq!(picked["body"].as_str().unwrap().trim_end(), TEXT, "{point}");
        assert_whole(&lab);
        // By the queue, too: the dead one's claim is void.
        let id = lab.create(&task);
        killed(&mut lab.kgctx(["handoff", "pickup", "--auto"]), "pickup:claimed");
        assert_eq!(lab.handoff(&["pickup", "--auto"])["id"], *id, "{point}");
        assert_whole(&lab);
    }
}

#[test]
fn whoever_dies_while_releasing_or_clearing_has_done_it_or_not() {
    let lab = Lab::new();
    let task = lab.create(&["--task", "--goal", "Ship", "--next", "Test", "--body", TEXT]);
    for (point, expected) in
        [("release:begun", "claimed"), ("state:uncommitted", "claimed"), ("release:done", "active")]
    {
        lab.handoff(&["pickup", &task, "--session", "s"]);
        killed(&mut lab.kgctx(["handoff", "release", "--session", "s"]), point);
        assert_eq!(lab.status(&task).as_deref(), Some(expected), "{point}");
        assert_whole(&lab);
        if expected == "claimed" {
            lab.handoff(&["release", "--session", "s"]);
        }
    }
    for (point, expected) in
        [("clear:begun", "active"), ("state:uncommitted", "active"), ("clear:done", "cleared")]
    {
        let id = lab.leave(TEXT);
        killed(&mut lab.kgctx(["handoff", "clear"]), point);
        assert_eq!(lab.status(&id).as_deref(), Some(expected), "{point}");
        assert_whole(&lab);
        lab.handoff(&["clear"]);
        assert_eq!(lab.status(&id).as_deref(), Some("cleared"), "{point}");
    }
    assert_whole(&lab);
}

#[test]
fn what_somebody_died_removing_is_removed_by_the_next_one() {
    for point in ["state:uncommitted", "prune:condemned", "prune:removed"] {
        let lab = Lab::new();
        let ids: Vec<String> = (0..4).map(|_| lab.leave(TEXT)).collect();
        assert!(lab.start("s").is_some());
        lab.sql(&format!("UPDATE handoffs SET status = 'expired' WHERE id = '{}'", ids[0]));
        let sql =
            "UPDATE handoff_events SET new = 'expired' WHERE handoff = ?1 AND new = 'cleared'";
        lab.state().execute(sql, [&ids[0]]).unwrap();
        killed(&mut lab.kgctx(["handoff", "prune", "--keep", "1"]), point);
        // Nobody can take what is about to go.
        if point != "state:uncommitted" {
            assert!(lab.refused(&["pickup", &ids[0]]).1.contains(&ids[0]), "{point}");
        }
        assert_whole(&lab);
        lab.handoff(&["prune", "--keep", "1"]);
        assert_whole(&lab);
        let left: Vec<_> = ids.iter().map(|id| lab.status(id)).collect();
        assert_eq!(left, [None, None, None, Some("consumed".to_owned())], "{point}");
    }
}
