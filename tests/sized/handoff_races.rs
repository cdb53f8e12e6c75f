//! Handoffs that many processes want at once, some of which are killed: one gets it, none is lost, none exists twice.

use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::OptionalExtension;
use serde_json::Value;

use super::sized;
use crate::ONE_IN;
use crate::support::handoff_lab::{
    KILL_AT, Lab, TEXT, assert_whole, context, create_in, documents, fire, given, killed_start,
    waiting,
};

const ROUNDS: usize = sized(200);
const SESSIONS: usize = 24;

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

#[test]
fn a_1_14_of_24_sessions_that_start_at_once_exactly_one_is_given_the_handoff() {
    // 200 rounds of 24 processes at full size.
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
fn a_1_13_what_was_printed_is_used_up_though_another_process_is_writing() {
    // whoever waits for the other one, waits as long as there is time.
    let lab = Lab::new();
    let mut n_given = 0;
    for wait_ms in (4..44).step_by(ONE_IN) {
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
    eprintln!("{n_given} of {} were given a handoff", sized(40));
    assert!(n_given > 0);
}

#[test]
fn a_1_15_what_a_dead_winner_had_is_given_to_the_next_one_at_once() {
    // also right after the winner was killed.: nobody has to wait for the dead.
    let lab = Lab::new();
    for point in ["load:claimed", "load:composed", "load:printed", "state:uncommitted"] {
        for round in 0..sized(5) {
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
fn a_1_15_one_who_dies_in_the_middle_of_a_race_takes_nothing_along() {
    let lab = Lab::new();
    for (point, n_rounds) in [("load:claimed", 10), ("load:composed", 5), ("load:printed", 5)] {
        for round in 0..sized(n_rounds) {
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
fn a_1_15_after_many_kills_nothing_is_lost_and_nothing_is_there_twice() {
    // at any step, not only at those that have a name.
    let lab = Lab::new();
    let mut numbers = Numbers(4_711);
    let mut n_killed = 0;
    let mut created = BTreeSet::new();
    for n in 0..sized(400) {
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
        if n % sized(50) == 0 {
            assert_whole(&lab);
        }
    }
    eprintln!("{n_killed} of {} killed, {} created for sure", sized(400), created.len());
    assert!(n_killed > sized(50) && !created.is_empty());
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

#[test]
fn sessions_that_start_at_once_all_get_their_context() {
    const AT_ONCE: usize = sized(50);
    let lab = Lab::new();
    lab.scratch.write("zephyr/docs/zephyr.md", "# Zephyr\n\nOf [[zephyr]] and its [[sail]].\n");
    lab.kgctx(["index"]).output().unwrap();
    let hooks: Vec<Child> = (0..AT_ONCE).map(|_| waiting(lab.hook())).collect();
    let told = hooks
        .into_iter()
        .enumerate()
        .map(|(n, hook)| fire(hook, &lab.event("start-startup", &format!("s{n}"))));
    let told: Vec<Child> = told.collect();
    let given = told.into_iter().filter_map(|hook| context(&hook.wait_with_output().unwrap()));
    assert_eq!(given.count(), AT_ONCE);
}
