//! Transition tables and property tests of a handoff's life.

use std::convert::Infallible;

use proptest::prelude::*;

use super::*;
use crate::core::handoff::Priority;
use crate::core::handoff::choice::{
    ChoiceFacts, HandoffChoice, HandoffQuery, HandoffRequest, choose,
};
use crate::core::time::Timespan;

const MINUTE_MS: i64 = 60_000;
const SCOPES: [&str; 2] = ["p-1", "p-2"];
const SESSIONS: [&str; 3] = ["a", "b", "c"];

fn actor(session: Option<&str>, now_ms: i64) -> Actor {
    Actor { session: session.map(str::to_owned), now_ms }
}

fn record(occasion: Occasion, status: Status, created_ms: i64) -> HandoffRecord {
    let head = Head { occasion: Some(occasion), ..Head::default() };
    let actor = actor(None, created_ms);
    let facts = StepFacts { actor: &actor, pid: 1, waiting: None, is_author_over: false };
    let created = Timestamp::from_milliseconds(created_ms);
    let id = HandoffId::new(created, None, 1);
    let home = Home { scope: "p-1", channel: "p" };
    HandoffRecord { status, ..draft(id, &home, &head, created, None, &facts).record }
}

#[test]
fn of_two_the_one_with_the_better_right_waits() {
    use Occasion::{Auto, Bye, End, Manual, Rotation};
    let (old, new, later) = (MINUTE_MS, 2 * MINUTE_MS, 60 * MINUTE_MS);
    for (status, own, other, now_ms, is_active) in [
        // The newer one waits, whether it is written or given back.
        (Status::Draft, (Manual, new), (Manual, old), new, true),
        (Status::Draft, (Manual, old), (Manual, new), new, false),
        (Status::Claimed, (Manual, new), (Manual, old), new, true),
        (Status::Claimed, (Manual, old), (Manual, new), new, false),
        // The end of a session yields to a deliberate handoff, and to what another session needs after a compaction.
        (Status::Draft, (End, new), (Manual, old), new, false),
        (Status::Draft, (End, new), (Bye, old), new, false),
        (Status::Draft, (End, new), (Rotation, old), new, false),
        (Status::Draft, (End, new), (Auto, old), new, false),
        (Status::Draft, (End, new), (End, old), new, true),
        // A handoff that is given back supersedes the end of a session that was written meanwhile.
        (Status::Claimed, (Manual, old), (End, new), new, true),
        (Status::Claimed, (Auto, old), (End, new), new, true),
        (Status::Claimed, (End, new), (Manual, old), new, true),
        // A date in the future does not block later handoffs.
        (Status::Draft, (Manual, old), (Manual, later), old, true),
        (Status::Claimed, (Manual, old), (Manual, later), old, true),
    ] {
        let handoff = record(own.0.clone(), status.clone(), own.1);
        let waiting = record(other.0.clone(), Status::Active, other.1);
        let actor = actor(None, now_ms);
        let facts =
            StepFacts { actor: &actor, pid: 1, waiting: Some(&waiting), is_author_over: false };
        let event = match status {
            Status::Draft => HandoffEvent::Written,
            _ => HandoffEvent::GivenBack("why"),
        };
        let changes = step(&handoff, event, &facts);
        let told = format!("{own:?} {status} beside {other:?}: {changes:#?}");
        let (cleared, by) = if is_active { (&waiting, &handoff) } else { (&handoff, &waiting) };
        assert_eq!(changes.len(), 1 + usize::from(is_active), "{told}");
        let first = &changes[0].record;
        assert_eq!((&first.id, &first.status), (&cleared.id, &Status::Cleared), "{told}");
        assert_eq!(first.reason.as_deref(), Some(SUPERSEDED), "{told}");
        assert_eq!(first.superseded_by.as_ref(), Some(&by.id), "{told}");
        if let Some(second) = changes.get(1) {
            assert_eq!((&second.record.id, &second.record.status), (&handoff.id, &Status::Active));
        }
        // A task does not compete for the place.
        let task = HandoffRecord { kind: Kind::Task, ..handoff };
        let changes = step(&task, event, &facts);
        assert_eq!(changes.len(), 1);
        assert_eq!(changes[0].record.status, Status::Active);
    }
}

#[test]
fn what_was_written_before_a_compaction_has_its_place_while_its_session_lives() {
    let (auto, end) = (Occasion::Auto, Occasion::End);
    let waiting = record(auto, Status::Active, MINUTE_MS);
    let written = record(end, Status::Draft, 2 * MINUTE_MS);
    let actor = actor(None, 2 * MINUTE_MS);
    for (is_author_over, left) in [(false, &waiting), (true, &written)] {
        let facts = StepFacts { actor: &actor, pid: 1, waiting: Some(&waiting), is_author_over };
        let changes = step(&written, HandoffEvent::Written, &facts);
        let superseded = &changes[0].record;
        assert_eq!(superseded.superseded_by.as_ref(), Some(&left.id), "{is_author_over}");
    }
}

#[test]
fn each_status_allows_some_events() {
    use HandoffEvent::{
        Abandoned, Archived, Condemned, Delivered, GivenAgain, GivenBack, Offered, PickedUp,
        Recovered, Removed, TooOld, Written,
    };
    let held = Delivered { is_held: true, is_new: false };
    let known = Delivered { is_held: false, is_new: false };
    let fresh = Delivered { is_held: false, is_new: true };
    let events = [
        Written,
        Abandoned,
        Recovered,
        Offered,
        held,
        fresh,
        known,
        PickedUp,
        GivenBack("r"),
        TooOld,
        Archived("r"),
        Condemned,
        Removed("r"),
        GivenAgain("r"),
    ];
    let gone = "gone";
    for (status, expect) in [
        (
            "draft",
            [
                "active", gone, "cleared", "claimed", "", "draft", "", "", "", "", "cleared", "",
                "", "",
            ],
        ),
        (
            "active",
            [
                "", "", "", "claimed", "", "active", "", "claimed", "", "expired", "cleared", "",
                "", "",
            ],
        ),
        (
            "claimed",
            [
                "", "", "", "claimed", "consumed", "claimed", "", "", "active", "", "cleared", "",
                "", "",
            ],
        ),
        (
            "consumed",
            ["", "", "", "claimed", "", "consumed", "", "", "", "", "", "consumed", gone, "active"],
        ),
        (
            "expired",
            ["", "", "", "claimed", "", "expired", "", "claimed", "", "", "", "cleared", gone, ""],
        ),
        (
            "cleared",
            ["", "", "", "claimed", "", "cleared", "", "", "", "", "", "cleared", gone, ""],
        ),
        ("later", ["", "", "", "claimed", "", "later", "", "", "", "", "cleared", "", "", ""]),
    ] {
        let handoff = record(Occasion::Manual, Status::from(status.to_owned()), 0);
        let actor = actor(Some("s"), 7);
        let facts = StepFacts { actor: &actor, pid: 9, waiting: None, is_author_over: false };
        for (event, expect) in events.iter().zip(expect) {
            let changes = step(&handoff, *event, &facts);
            let told = format!("{status} and {event:?}: {changes:#?}");
            let Some(change) = changes.first() else {
                assert_eq!(expect, "", "{told}");
                continue;
            };
            assert_eq!(changes.len(), 1, "{told}");
            let now = if change.is_removal() { gone } else { change.record.status.as_str() };
            assert_eq!(now, expect, "{told}");
            let Some(line) = &change.line else {
                assert_eq!(*event, Condemned, "{told}");
                assert_eq!(change.record.reason.as_deref(), Some(CONDEMNED));
                continue;
            };
            assert_eq!((line.at.milliseconds(), line.pid), (7, 9), "{told}");
            assert_eq!(line.session.as_deref(), Some("s"), "{told}");
            assert_eq!(line.from.as_ref(), Some(&handoff.status), "{told}");
        }
    }
    // A sticky handoff keeps waiting.
    let sticky =
        HandoffRecord { consume: Consume::Sticky, ..record(Occasion::End, Status::Active, 0) };
    let actor = actor(None, 0);
    assert!(
        step(
            &sticky,
            Offered,
            &StepFacts { actor: &actor, pid: 1, waiting: None, is_author_over: false }
        )
        .is_empty()
    );
}

#[test]
fn what_a_session_was_given_waits_again_unless_another_has_its_place() {
    use Occasion::{End, Manual};
    let (old, new) = (MINUTE_MS, 2 * MINUTE_MS);
    let actor = actor(None, new);
    for (own, other, is_allowed) in [
        ((Manual, old), None, true),
        ((Manual, new), Some((Manual, old)), true),
        ((Manual, old), Some((Manual, new)), false),
        ((Manual, old), Some((End, new)), true),
        ((End, old), Some((Manual, new)), false),
    ] {
        let told = format!("{own:?} {other:?}");
        let given = record(own.0, Status::Consumed, own.1);
        let waiting = other.map(|(occasion, at)| record(occasion, Status::Active, at));
        let facts =
            StepFacts { actor: &actor, pid: 1, waiting: waiting.as_ref(), is_author_over: false };
        let changes = step(&given, HandoffEvent::GivenAgain("r"), &facts);
        let n_changes = if is_allowed { 1 + usize::from(waiting.is_some()) } else { 0 };
        assert_eq!(changes.len(), n_changes, "{told}");
        let last = changes.last().map(|change| (&change.record.id, &change.record.status));
        assert_eq!(last, is_allowed.then_some((&given.id, &Status::Active)), "{told}");
        // Not while it is being removed.
        let condemned = HandoffRecord { reason: Some(CONDEMNED.to_owned()), ..given };
        assert!(step(&condemned, HandoffEvent::GivenAgain("r"), &facts).is_empty(), "{told}");
    }
}

/// The actions of people, sessions and processes, in any order.
#[derive(Debug, Clone)]
enum Action {
    Leave {
        scope: usize,
        head: Box<Head>,
        late_ms: i64,
    },
    Apply {
        nth: usize,
        event: HandoffEvent<'static>,
    },
    /// A session asks for a handoff, and its context is delivered or not.
    Start {
        scope: usize,
        session: usize,
        wants: usize,
        has_company: bool,
        is_delivered: Option<bool>,
    },
    Wait(i64),
}

fn heads() -> impl Strategy<Value = Head> {
    use Occasion::{Auto, Bye, End, Manual, Rotation};
    let occasion = prop::sample::select(vec![Auto, Manual, Bye, End, Rotation]);
    let consume = prop::sample::select(vec![None, Some(Consume::Once), Some(Consume::Sticky)]);
    let kind = prop::sample::select(vec![Kind::Session, Kind::Session, Kind::Task]);
    let session = prop::option::of(prop::sample::select(SESSIONS.to_vec()));
    (occasion, consume, kind, session).prop_map(|(occasion, consume, kind, session)| Head {
        occasion: Some(occasion),
        consume,
        kind,
        priority: Priority::Medium,
        session_id: session.map(str::to_owned),
        ..Head::default()
    })
}

fn actions() -> impl Strategy<Value = Action> {
    let events = prop::sample::select(vec![
        HandoffEvent::Written,
        HandoffEvent::Written,
        HandoffEvent::Abandoned,
        HandoffEvent::Recovered,
        HandoffEvent::PickedUp,
        HandoffEvent::GivenBack("released"),
        HandoffEvent::GivenAgain("released"),
        HandoffEvent::TooOld,
        HandoffEvent::Archived("archived"),
        HandoffEvent::Condemned,
        HandoffEvent::Removed("pruned"),
    ]);
    let late = prop_oneof![4 => Just(0), 1 => -90 * MINUTE_MS..90 * MINUTE_MS];
    prop_oneof![
        3 => (0..2_usize, heads(), late)
            .prop_map(|(scope, head, late_ms)| Action::Leave { scope, head: Box::new(head), late_ms }),
        5 => (0..9_usize, events).prop_map(|(nth, event)| Action::Apply { nth, event }),
        4 => (0..2_usize, 0..3_usize, 0..3_usize, any::<bool>(), any::<Option<bool>>()).prop_map(
            |(scope, session, wants, has_company, is_delivered)| {
                Action::Start { scope, session, wants, has_company, is_delivered }
            }
        ),
        1 => (0..200 * MINUTE_MS).prop_map(Action::Wait),
    ]
}

/// An in-memory store.
#[derive(Default)]
struct World {
    now_ms: i64,
    records: Vec<HandoffRecord>,
    log: Vec<LogLine>,
    /// Sessions and the handoffs that they received.
    receivers: Vec<(String, HandoffId)>,
    n_left: u32,
}

struct Asked<'a> {
    world: &'a World,
    query: &'a HandoffQuery<'a>,
    has_company: bool,
}

impl Asked<'_> {
    fn newest_with(&self, is_it: impl Fn(&HandoffRecord) -> bool) -> Vec<HandoffRecord> {
        let is_here = |record: &&HandoffRecord| {
            record.scope == self.query.scope && record.kind == Kind::Session && is_it(record)
        };
        let mut found: Vec<_> = self.world.records.iter().filter(is_here).cloned().collect();
        found.sort_by_key(|record| (record.created, record.id.clone()));
        found.reverse();
        found
    }
}

impl ChoiceFacts for Asked<'_> {
    type Error = Infallible;

    fn last_received(&self) -> Result<Option<HandoffRecord>, Infallible> {
        let mut had = self.world.receivers.iter().rev();
        let last = had.find(|(session, _)| session == self.query.session);
        let record = |id: &HandoffId| self.world.records.iter().find(|record| record.id == *id);
        Ok(last.and_then(|(_, id)| record(id)).cloned())
    }

    fn left_by_itself(&self) -> Result<Option<HandoffRecord>, Infallible> {
        let superseded = Some(SUPERSEDED.to_owned());
        let is_own = |record: &HandoffRecord| {
            let is_left = match record.status {
                Status::Active => true,
                Status::Cleared => record.reason == superseded && record.occasion == Occasion::Auto,
                _ => false,
            };
            let had = (self.query.session.to_owned(), record.id.clone());
            record.session.as_deref() == Some(self.query.session)
                && record.occasion != Occasion::End
                && is_left
                && !self.world.receivers.contains(&had)
        };
        let mut own = self.newest_with(is_own);
        own.sort_by_key(|record| record.status != Status::Active);
        Ok(own.into_iter().next())
    }

    fn has_received(&self, id: &HandoffId) -> Result<bool, Infallible> {
        Ok(self
            .world
            .receivers
            .iter()
            .any(|had| *had == (self.query.session.to_owned(), id.clone())))
    }

    fn waiting(&self) -> Result<Option<HandoffRecord>, Infallible> {
        Ok(self.newest_with(|record| record.status == Status::Active).into_iter().next())
    }

    fn superseded(&self) -> Result<Vec<HandoffRecord>, Infallible> {
        let reason = Some(SUPERSEDED.to_owned());
        Ok(self.newest_with(|record| record.status == Status::Cleared && record.reason == reason))
    }

    fn newest(&self) -> Result<Option<HandoffRecord>, Infallible> {
        let is_out = |status: &Status| matches!(status, Status::Draft | Status::Cleared);
        Ok(self.newest_with(|record| !is_out(&record.status)).into_iter().next())
    }

    fn rotated(&self) -> Result<Option<HandoffRecord>, Infallible> {
        Ok(None)
    }

    fn has_company(&self) -> Result<bool, Infallible> {
        Ok(self.has_company)
    }

    fn is_alive(&self, _session: &str) -> Result<bool, Infallible> {
        Ok(false)
    }
}

impl World {
    fn apply(&mut self, handoff: &HandoffRecord, event: HandoffEvent<'_>, session: Option<&str>) {
        let actor = actor(session, self.now_ms);
        let waits = |record: &&HandoffRecord| {
            record.scope == handoff.scope
                && record.kind == Kind::Session
                && record.status == Status::Active
        };
        let waiting = self.records.iter().find(waits).cloned();
        let facts =
            StepFacts { actor: &actor, pid: 1, waiting: waiting.as_ref(), is_author_over: false };
        for change in step(handoff, event, &facts) {
            self.write(change);
        }
    }

    fn write(&mut self, change: HandoffChange) {
        let is_removal = change.is_removal();
        self.log.extend(change.line);
        let known = self.records.iter().position(|record| record.id == change.record.id);
        match known {
            Some(at) if is_removal => drop(self.records.remove(at)),
            Some(at) => self.records[at] = change.record,
            None => self.records.push(change.record),
        }
    }

    fn act(&mut self, action: &Action) {
        self.now_ms += 1;
        match action {
            Action::Leave { scope, head, late_ms } => {
                self.n_left += 1;
                let created = Timestamp::from_milliseconds(self.now_ms + late_ms);
                let id = HandoffId::new(created, None, self.n_left);
                let home = Home { scope: SCOPES[*scope], channel: "p" };
                let head = Head { expires_at: head.end_of_lifetime(created), ..(**head).clone() };
                let actor = actor(None, self.now_ms);
                let facts =
                    StepFacts { actor: &actor, pid: 1, waiting: None, is_author_over: false };
                self.write(draft(id, &home, &head, created, None, &facts));
            }
            Action::Apply { nth, event } => {
                if let Some(handoff) = self.records.iter().rev().nth(*nth).cloned() {
                    self.apply(&handoff, *event, None);
                }
            }
            Action::Start { scope, session, wants, has_company, is_delivered } => {
                self.start(SCOPES[*scope], SESSIONS[*session], *wants, *has_company, *is_delivered);
            }
            Action::Wait(ms) => self.now_ms += ms,
        }
    }

    fn start(
        &mut self,
        scope: &str,
        session: &str,
        wants: usize,
        has_company: bool,
        is_delivered: Option<bool>,
    ) {
        let request =
            [HandoffRequest::First, HandoffRequest::Again, HandoffRequest::Since(i64::MIN)][wants];
        let (max_age, now_ms) = (Timespan::DAY, self.now_ms);
        let (is_scripted, unusable) = (false, &[][..]);
        let query =
            HandoffQuery { scope, session, request, is_scripted, max_age, now_ms, unusable };
        let Ok(choice) = choose(&query, &Asked { world: self, query: &query, has_company });
        let given = match choice {
            HandoffChoice::Given(given) => {
                assert_eq!(given.status, Status::Active, "only what waits is given");
                assert!(!self.receivers.contains(&(session.to_owned(), given.id.clone())));
                // To its author only what that left for itself before a compaction.
                let is_for_itself =
                    given.occasion == Occasion::Auto && matches!(request, HandoffRequest::Again);
                assert!(given.session.as_deref() != Some(session) || is_for_itself);
                self.apply(&given, HandoffEvent::Offered, Some(session));
                given
            }
            HandoffChoice::Again(given) => given,
            HandoffChoice::TooOld(old) => return self.apply(&old, HandoffEvent::TooOld, None),
            _ => return,
        };
        let now = self.records.iter().find(|record| record.id == given.id).cloned();
        let Some(now) = now else { return };
        let is_held = now.status == Status::Claimed && given.status == Status::Active;
        match is_delivered {
            Some(true) => {
                let had = (session.to_owned(), given.id.clone());
                let is_new = !self.receivers.contains(&had);
                if is_new {
                    self.receivers.push(had);
                }
                self.apply(&now, HandoffEvent::Delivered { is_held, is_new }, Some(session));
            }
            Some(false) if is_held => {
                self.apply(&now, HandoffEvent::GivenBack("not delivered"), Some(session));
            }
            _ => {}
        }
    }

    /// Checks that the statuses in the log follow one another without a gap.
    fn check_log(&self) {
        for record in &self.records {
            let mut status = None;
            let mut last = None;
            for line in self.log.iter().filter(|line| line.id == record.id.as_str()) {
                assert_eq!(line.from, status, "the log has a gap: {:#?}", self.log);
                status.clone_from(&line.to);
                if line.from != line.to {
                    last = Some(line);
                }
            }
            let last = last.expect("every handoff has a log");
            assert_eq!(status.as_ref(), Some(&record.status), "{record:#?} {:#?}", self.log);
            assert_eq!(last.at, record.changed);
            assert_eq!(last.session, record.changed_by);
            if record.reason.as_deref() != Some(CONDEMNED) {
                assert_eq!(last.reason, record.reason);
            }
        }
    }

    fn check(&self, before: &[HandoffRecord], n_lines_before: usize) {
        for scope in SCOPES {
            let waits = |record: &&HandoffRecord| {
                record.scope == scope
                    && record.kind == Kind::Session
                    && record.status == Status::Active
            };
            assert!(self.records.iter().filter(waits).count() <= 1, "{:#?}", self.records);
        }
        for line in &self.log {
            if line.to == Some(Status::Consumed) {
                assert_eq!(line.from, Some(Status::Claimed), "consumed before it was given");
                let has_it = |(_, id): &(String, HandoffId)| id.as_str() == line.id;
                assert!(self.receivers.iter().any(has_it), "consumed, and no session has it");
            }
        }
        let status = |records: &[HandoffRecord], id: &HandoffId| {
            records.iter().find(|record| record.id == *id).map(|record| record.status.clone())
        };
        let mut ids: Vec<&HandoffId> =
            before.iter().chain(&self.records).map(|record| &record.id).collect();
        ids.sort();
        ids.dedup();
        for id in ids {
            let is_changed = status(before, id) != status(&self.records, id);
            let lines = self.log[n_lines_before..].iter().filter(|line| line.id == id.as_str());
            assert!(lines.count() >= usize::from(is_changed), "{id} changed without a line");
        }
        self.check_log();
    }
}

#[test]
fn what_a_hook_wrote_gives_way_to_what_was_left_on_purpose_or_is_still_needed() {
    use Occasion::{Auto, Bye, End, Manual, Rotation};
    let left = |occasion: &Occasion, session: &str, minute: i64| {
        let created = Timestamp::from_milliseconds(minute * MINUTE_MS);
        let mut head = Head { occasion: Some(occasion.clone()), ..Head::default() };
        head.session_id = Some(session.to_owned());
        head.expires_at = head.end_of_lifetime(created);
        let actor = actor(None, minute * MINUTE_MS);
        let facts = StepFacts { actor: &actor, pid: 1, waiting: None, is_author_over: false };
        let id = HandoffId::new(created, Some(session), 1);
        let home = Home { scope: "p-1", channel: "p" };
        draft(id, &home, &head, created, None, &facts).record
    };
    for (new, old, author, minute, takes_place) in [
        (End, Manual, "s", 1, false),
        (End, Bye, "t", 1, false),
        (End, Rotation, "t", 1, false),
        (Auto, Manual, "s", 1, false),
        (Auto, Manual, "t", 1, false),
        (Auto, End, "t", 1, true),
        (Auto, Auto, "s", 1, true),
        (End, End, "t", 1, true),
        (End, Auto, "s", 1, true),
        (End, Auto, "t", 1, false),
        (End, Auto, "t", 120, false),
        (End, Auto, "t", 121, true),
        (Manual, Manual, "t", 1, true),
        (Manual, Auto, "t", 1, true),
    ] {
        let waiting = HandoffRecord { status: Status::Active, ..left(&old, author, 0) };
        let actor = actor(None, minute * MINUTE_MS);
        let facts =
            StepFacts { actor: &actor, pid: 1, waiting: Some(&waiting), is_author_over: false };
        let changes = step(&left(&new, "s", minute), HandoffEvent::Written, &facts);
        let status = changes.last().map(|change| change.record.status.clone());
        let expected = if takes_place { Status::Active } else { Status::Cleared };
        assert_eq!(status, Some(expected), "{new} of s after {old} of {author}, at {minute}");
    }
}

proptest! {
    #[test]
    fn whatever_happens_the_laws_of_a_handoffs_life_hold(
        actions in prop::collection::vec(actions(), 1..60),
    ) {
        let mut world = World { now_ms: 1_000 * MINUTE_MS, ..World::default() };
        for action in &actions {
            let (before, n_lines) = (world.records.clone(), world.log.len());
            world.act(action);
            world.check(&before, n_lines);
        }
    }
}
