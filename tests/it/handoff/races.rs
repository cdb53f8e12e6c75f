//! Handoffs under many hands at once, and under hands that are taken away: one has it, nobody loses it, nothing is there
//! twice.

use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use kgctx::core::handoff::{Head, Kind};
use kgctx::core::session::Moment;
use kgctx::store::state::{
    Actor, Claim, HandoffChoice, HandoffQuery, HandoffRequest, Home, State, TakeOutcome,
};
use kgctx::system::process::identity::Process;
use rusqlite::OptionalExtension;
use serde_json::Value;

use crate::support::handoff_lab::{Lab, assert_whole, context, documents, fire, given, waiting};

const ROUNDS: usize = 200;
const SESSIONS: usize = 24;
const KILL_AT: &str = "KGCTX_TEST_KILL_AT";

/// A handoff's text, of which one can tell whether it is whole.
const TEXT: &str = "Ship it. THE END";

/// Starts sessions in a channel, all at the same moment, and returns what each hook printed.
fn start_at_once(
    lab: &Lab,
    channel: &str,
    name: &str,
    prepare: &dyn Fn(usize, &mut Command),
) -> Vec<Output> {
    let hook = |n: usize| {
        let mut hook = lab.hook();
        hook.env("KGCTX_CHANNEL", channel);
        prepare(n, &mut hook);
        waiting(hook)
    };
    // They read their event first, so that all of them are there when the first one is told.
    let hooks: Vec<Child> = (0..SESSIONS).map(hook).collect();
    let mut events =
        (0..SESSIONS).map(|n| lab.event("start-startup", &format!("{channel}-{name}-{n}")));
    let hooks: Vec<Child> =
        hooks.into_iter().map(|hook| fire(hook, &events.next().unwrap())).collect();
    hooks.into_iter().map(|hook| hook.wait_with_output().unwrap()).collect()
}

/// How many of those that ended by themselves were told of a handoff. The others start fresh, and nobody complains.
#[track_caller]
fn winners(outputs: &[Output], id: &str) -> usize {
    let told = outputs.iter().filter(|output| output.status.signal().is_none()).filter_map(context);
    told.inspect(|text| {
        assert!(text.contains(&format!("=== HANDOFF LOADED (ID: {id}) ===")), "{text}");
        assert!(text.contains(TEXT), "{text}");
    })
    .count()
}

/// Starts one more session in a channel; returns whether it is given the handoff.
#[track_caller]
fn next_start(lab: &Lab, channel: &str) -> bool {
    let mut hook = lab.hook();
    hook.env("KGCTX_CHANNEL", channel);
    context(&given(hook, &lab.event("start-startup", &format!("{channel}-next")))).is_some()
}

fn create_in(lab: &Lab, channel: &str) -> String {
    lab.create(&["--channel", channel, "--session", "author", "--body", TEXT])
}

/// Starts many sessions at once: exactly one has the handoff, and nobody after it. Returns `false` on a machine that had no
/// time for anybody, where the handoff waits on for the next session.
#[track_caller]
fn is_won_by_one(lab: &Lab, channel: &str, id: &str) -> bool {
    let start = Instant::now();
    let n_winners = winners(&start_at_once(lab, channel, "s", &|_, _| {}), id);
    let is_slow = start.elapsed() > Duration::from_millis(900);
    assert!(n_winners == 1 || n_winners == 0 && is_slow, "{n_winners} sessions have {id}");
    assert_eq!(next_start(lab, channel), n_winners == 0, "{id}");
    n_winners == 1
}

/// A program that was ended at a point on its way.
#[track_caller]
fn killed(command: &mut Command, point: &str) -> Output {
    let output = command.env(KILL_AT, point).stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.signal(), Some(9), "{point} is not on its way: {output:?}");
    output
}

/// A session whose hook was ended at a point on its way.
#[track_caller]
fn killed_start(lab: &Lab, channel: &str, session: &str, point: &str) -> Output {
    let mut hook = lab.hook();
    hook.env("KGCTX_CHANNEL", channel).env(KILL_AT, point);
    let output = given(hook, &lab.event("start-startup", session));
    assert_eq!(output.status.signal(), Some(9), "{point} is not on its way: {output:?}");
    output
}

#[test]
fn a_1_14_of_24_sessions_that_start_at_once_exactly_one_is_given_the_handoff() {
    // 200 rounds of 24 processes.
    let lab = Lab::new();
    let channels: Vec<String> = (0..ROUNDS).map(|n| format!("round{n}")).collect();
    let ids: Vec<String> = channels.iter().map(|channel| create_in(&lab, channel)).collect();
    let started = Instant::now();
    let mut n_late = 0;
    for (channel, id) in channels.iter().zip(&ids) {
        n_late += usize::from(!is_won_by_one(&lab, channel, id));
    }
    eprintln!("{ROUNDS} rounds of {SESSIONS}: {:?}, {n_late} too late", started.elapsed());
    assert!(n_late * 20 <= ROUNDS);
    assert_whole(&lab);
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
        let wanted = HandoffRequest::First;
        let (scope, host, max_age_ms, unusable) = ("p-1", None, i64::MAX, &[][..]);
        let asked = HandoffQuery { scope, session, host, wanted, max_age_ms, now_ms, unusable };
        state.load_handoff(&asked, token).unwrap()
    };
    assert!(matches!(load("first", 5_000), HandoffChoice::Given(_)));
    assert_eq!(load("second", 4_500), HandoffChoice::Nothing);
    let task = Head { kind: Kind::Task, ..Head::default() };
    let task = state.draft_handoff(&home, &task, |_| true, &actor(5_000)).unwrap();
    state.activate_handoff(&task, &actor(5_000)).unwrap();
    let mut take = |now_ms: i64| state.take_handoff("p-1", &task, &actor(now_ms)).unwrap();
    assert!(matches!(take(5_000), TakeOutcome::Won(_)));
    assert!(matches!(take(4_500), TakeOutcome::Unavailable(_)));
}

#[test]
fn a_1_13_what_was_printed_is_used_up_though_another_process_is_writing() {
    // whoever waits for the other one, waits as long as there is time.
    let lab = Lab::new();
    let mut n_given = 0;
    for wait_ms in 4..44 {
        let id = lab.leave(TEXT);
        let event = lab.event("start-startup", &format!("s{wait_ms}"));
        let hook = fire(waiting(lab.hook()), &event);
        thread::sleep(Duration::from_millis(wait_ms));
        let state = lab.state();
        state.execute_batch("BEGIN IMMEDIATE").unwrap();
        thread::sleep(Duration::from_millis(260));
        state.execute_batch("COMMIT").unwrap();
        let is_given = context(&hook.wait_with_output().unwrap()).is_some();
        n_given += usize::from(is_given);
        assert_eq!(lab.status(&id).as_deref() == Some("consumed"), is_given, "after {wait_ms} ms");
    }
    eprintln!("{n_given} of 40 were given a handoff");
    assert!(n_given > 0);
}

#[test]
fn a_1_15_what_a_dead_winner_had_is_given_to_the_next_one_at_once() {
    // also right after the winner was killed.: nobody has to wait for the dead.
    let lab = Lab::new();
    for point in ["load:claimed", "load:composed", "load:printed", "state:uncommitted"] {
        for round in 0..5 {
            let channel = format!("{}{round}", point.replace(':', "-"));
            let id = create_in(&lab, &channel);
            killed_start(&lab, &channel, "dead", point);
            let start = Instant::now();
            is_won_by_one(&lab, &channel, &id);
            assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
            assert_eq!(lab.status(&id).as_deref(), Some("consumed"), "{point}");
        }
    }
    assert_whole(&lab);
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
fn a_1_15_one_who_dies_in_the_middle_of_a_race_takes_nothing_along() {
    let lab = Lab::new();
    for (point, n_rounds) in [("load:claimed", 10), ("load:composed", 5), ("load:printed", 5)] {
        for round in 0..n_rounds {
            let channel = format!("{}{round}", point.replace(':', "-"));
            let id = create_in(&lab, &channel);
            let outputs = start_at_once(&lab, &channel, "s", &|n, hook| {
                if n < 6 {
                    hook.env(KILL_AT, point);
                }
            });
            let n_winners = winners(&outputs, &id);
            assert!(n_winners <= 1, "{n_winners} sessions have {id}");
            // Whoever was last may have been too late for the others.
            assert_eq!(next_start(&lab, &channel), n_winners == 0, "{point}");
            assert_eq!(lab.status(&id).as_deref(), Some("consumed"), "{point}");
        }
    }
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

#[test]
fn a_1_2_fifty_creates_at_once_give_fifty_ids_and_fifty_files() {
    // of one session, in about one second.
    let lab = Lab::new();
    lab.leave(TEXT);
    let texts: Vec<String> = (0..50).map(|n| format!("Text {n}. THE END")).collect();
    let create = |text: &String| {
        let mut command = lab.kgctx(["handoff", "create", "--session", "same", "--json"]);
        command.args(["--body", text]);
        waiting(command)
    };
    let children: Vec<Child> = texts.iter().map(create).collect();
    let mut ids = BTreeSet::new();
    for (child, text) in children.into_iter().zip(&texts) {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let created: Value = serde_json::from_slice(&output.stdout).unwrap();
        let id = created["id"].as_str().unwrap().to_owned();
        let stored = std::fs::read_to_string(lab.document(&id)).unwrap();
        assert!(stored.contains(text), "{id}: {stored}");
        ids.insert(id);
    }
    assert_eq!((ids.len(), documents(&lab.scratch).len()), (50, 51));
    assert!(ids.iter().all(|id| id.starts_with("HO-") && id.contains("-same")), "{ids:?}");
    assert!(ids.iter().any(|id| id.contains("-samex")), "{ids:?}");
    assert_whole(&lab);
}

/// Numbers as good as random ones, the same every time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

#[test]
fn a_1_15_after_hundreds_of_kills_nothing_is_lost_and_nothing_is_there_twice() {
    // at any step, not only at those that have a name.
    let lab = Lab::new();
    let mut numbers = Numbers(4_711);
    let mut n_killed = 0;
    let mut created = BTreeSet::new();
    for n in 0..400 {
        let session = format!("s{n}");
        let task = ["create", "--task", "--goal", "Ship", "--next", "Test", "--body", TEXT];
        let (mut command, event) = match numbers.below(8) {
            0 | 1 => (lab.kgctx(["handoff", "create", "--body", TEXT]), None),
            2 => (lab.kgctx(["handoff"].iter().chain(&task)), None),
            3 => (lab.kgctx(["handoff", "pickup", "--auto"]), None),
            4 => (lab.kgctx(["handoff", "release"]), None),
            5 => (lab.kgctx(["handoff", "clear"]), None),
            6 => (lab.kgctx(["handoff", "prune", "--keep", "3"]), None),
            _ => (lab.hook(), Some(lab.event("start-startup", &session))),
        };
        command.env("KGCTX_SESSION_ID", "same");
        let mut child = waiting(command);
        match event {
            Some(event) => child = fire(child, &event),
            None => drop(child.stdin.take()),
        }
        thread::sleep(Duration::from_micros(numbers.below(25_000)));
        // Some come through, and others may have ended by themselves.
        if numbers.below(8) > 0 {
            let _ = child.kill();
        }
        let output = child.wait_with_output().unwrap();
        n_killed += usize::from(output.status.signal().is_some());
        let said = String::from_utf8(output.stdout).unwrap();
        if let Some((_, rest)) = said.split_once("<HANDOFF_ID>") {
            created.insert(rest.split_once('<').unwrap().0.to_owned());
        }
        if n % 50 == 0 {
            assert_whole(&lab);
        }
    }
    eprintln!("{n_killed} of 400 killed, {} created for sure", created.len());
    assert!(n_killed > 50 && !created.is_empty());
    assert_whole(&lab);
    // What somebody was told of is there, or it is written down who removed it.
    let state = lab.state();
    for id in &created {
        let sql = "SELECT count(*) FROM handoff_events WHERE handoff = ?1 AND new = 'active'";
        let n_steps: i64 = state.query_row(sql, [id], |row| row.get(0)).unwrap();
        assert!(n_steps > 0, "{id} was never there");
    }
    // No session has what another one has had.
    let sql = "SELECT group_concat(coalesce(old, '-') || '>' || coalesce(new, '-') || '(' || coalesce(session, '') || ' ' \
               || coalesce(reason, '') || ')', ' ') FROM handoff_events GROUP BY handoff \
               HAVING sum(new IS 'consumed') > 1";
    let twice: Option<String> = state.query_row(sql, [], |row| row.get(0)).optional().unwrap();
    assert_eq!(twice, None, "given to two sessions");
    // And all goes on as if nothing had happened.
    let id = lab.leave(TEXT);
    assert!(lab.start("last").unwrap().contains(&id));
}
