//! Tests of the choice of a handoff, case by case.

use std::convert::Infallible;

use super::*;
use crate::core::handoff::life::{Actor, Home, StepFacts, draft};
use crate::core::handoff::{Consume, Head};

const HOUR_MS: i64 = 3_600_000;

/// A handoff that was left at this hour.
fn left(hour: i64, occasion: Occasion) -> HandoffRecord {
    let created = Timestamp::from_milliseconds(hour * HOUR_MS);
    let mut head = Head { occasion: Some(occasion), ..Head::default() };
    head.session_id = Some("author".to_owned());
    head.expires_at = head.end_of_lifetime(created);
    let actor = Actor { session: None, now_ms: 0 };
    let facts = StepFacts { actor: &actor, pid: 1, waiting: None, is_author_over: false };
    let id = HandoffId::new(created, None, 1);
    let home = Home { scope: "p-1", channel: "p" };
    let record = draft(id, &home, &head, created, None, &facts).record;
    HandoffRecord { status: Status::Active, ..record }
}

#[derive(Default, Clone)]
struct Known {
    waiting: Option<HandoffRecord>,
    own: Option<HandoffRecord>,
    superseded: Vec<HandoffRecord>,
    newest: Option<HandoffRecord>,
    received: Vec<HandoffRecord>,
    has_company: bool,
    alive: Option<&'static str>,
}

impl ChoiceFacts for Known {
    type Error = Infallible;

    fn last_received(&self) -> Result<Option<HandoffRecord>, Infallible> {
        Ok(self.received.last().cloned())
    }

    fn left_by_itself(&self) -> Result<Option<HandoffRecord>, Infallible> {
        Ok(self.own.clone())
    }

    fn has_received(&self, id: &HandoffId) -> Result<bool, Infallible> {
        Ok(self.received.iter().any(|record| record.id == *id))
    }

    fn waiting(&self) -> Result<Option<HandoffRecord>, Infallible> {
        Ok(self.waiting.clone())
    }

    fn superseded(&self) -> Result<Vec<HandoffRecord>, Infallible> {
        Ok(self.superseded.clone())
    }

    fn newest(&self) -> Result<Option<HandoffRecord>, Infallible> {
        Ok(self.newest.clone())
    }

    fn rotated(&self) -> Result<Option<HandoffRecord>, Infallible> {
        Ok(None)
    }

    fn has_company(&self) -> Result<bool, Infallible> {
        Ok(self.has_company)
    }

    fn is_alive(&self, session: &str) -> Result<bool, Infallible> {
        Ok(self.alive == Some(session))
    }
}

#[track_caller]
fn check_for(session: &str, request: HandoffRequest, known: &Known, hour: i64, expect: &str) {
    check_query(session, request, known, hour, &[], expect);
}

#[track_caller]
fn check_query(
    session: &str,
    request: HandoffRequest,
    known: &Known,
    hour: i64,
    unusable: &[HandoffId],
    expect: &str,
) {
    check_choice(&asked(session, request, hour, unusable), known, expect);
}

fn asked<'a>(
    session: &'a str,
    request: HandoffRequest,
    hour: i64,
    unusable: &'a [HandoffId],
) -> HandoffQuery<'a> {
    let (scope, max_age, now_ms) = ("p-1", Timespan::from_hours(48), hour * HOUR_MS);
    HandoffQuery { scope, session, request, is_scripted: false, max_age, now_ms, unusable }
}

#[track_caller]
fn check_choice(query: &HandoffQuery<'_>, known: &Known, expect: &str) {
    let Ok(choice) = choose(query, known);
    let hour = |record: &HandoffRecord| record.created.milliseconds() / HOUR_MS;
    let chosen = match &choice {
        HandoffChoice::Given(record) => format!("given {}", hour(record)),
        HandoffChoice::Again(record) => format!("again {}", hour(record)),
        HandoffChoice::TooOld(record) => format!("too old {}", hour(record)),
        HandoffChoice::Withheld(record) => format!("withheld {}", hour(record)),
        HandoffChoice::Misdated(record) => format!("misdated {}", hour(record)),
        HandoffChoice::NotAddressed(record) => format!("not addressed {}", hour(record)),
        HandoffChoice::Nothing => "nothing".to_owned(),
    };
    assert_eq!(chosen, expect);
}

#[track_caller]
fn check(known: &Known, hour: i64, expect: &str) {
    check_for("s", HandoffRequest::First, known, hour, expect);
}

fn waits(record: HandoffRecord) -> Known {
    Known { waiting: Some(record), ..Known::default() }
}

#[test]
fn a_scripted_session_is_given_what_was_left_for_any() {
    use Audience::{Any, Interactive};
    use HandoffRequest::{Again, First, Since};
    let hour = 10;
    let left = |audience, occasion| HandoffRecord { audience, ..left(hour, occasion) };
    let check = |request, known: &Known, now, expect: &str| {
        let query = HandoffQuery { is_scripted: true, ..asked("s", request, now, &[]) };
        check_choice(&query, known, expect);
    };
    for occasion in [Occasion::Manual, Occasion::Bye, Occasion::End, Occasion::Auto] {
        check(First, &waits(left(Interactive, occasion.clone())), 11, "not addressed 10");
        check(First, &waits(left(Any, occasion.clone())), 11, "given 10");
        check(Since(0), &waits(left(Interactive, occasion.clone())), 11, "not addressed 10");
        check(Since(0), &waits(left(Any, occasion)), 11, "given 10");
    }
    // It neither ends the time of what was left for a person, nor learns that this is over.
    check(First, &waits(left(Interactive, Occasion::Auto)), 1_000, "not addressed 10");
    check(First, &waits(left(Any, Occasion::Auto)), 1_000, "too old 10");
    for (audience, expect) in [(Interactive, "nothing"), (Any, "too old 10")] {
        let expired = HandoffRecord { status: Status::Expired, ..left(audience, Occasion::Auto) };
        let known = Known { newest: Some(expired), ..Known::default() };
        check(First, &known, 1_000, expect);
    }
    // What it had before, it sees again.
    let had = left(Interactive, Occasion::Manual);
    check(Again, &Known { received: vec![had], ..Known::default() }, 11, "again 10");
}

#[test]
fn what_waits_is_given_unless_its_time_is_up() {
    check(&Known::default(), 10, "nothing");
    check(&waits(left(10, Occasion::Manual)), 10_000, "given 10");
    check(&waits(left(10, Occasion::Auto)), 12, "given 10");
    check(&waits(left(10, Occasion::Auto)), 13, "too old 10");
    check(&waits(left(10, Occasion::End)), 10 + 48, "given 10");
    check(&waits(left(10, Occasion::End)), 10 + 49, "too old 10");
    let sticky = HandoffRecord { consume: Consume::Sticky, ..left(10, Occasion::Manual) };
    check(&waits(sticky), 10 + 49, "too old 10");
    check(&waits(left(11, Occasion::Manual)), 10, "misdated 11");
}

#[test]
fn a_session_gets_nothing_of_its_own_and_nothing_twice() {
    let known = waits(left(10, Occasion::Manual));
    check_for("author", HandoffRequest::First, &known, 11, "nothing");
    let known = Known { received: vec![left(10, Occasion::Manual)], ..known };
    check(&known, 11, "again 10");
    check_for("s", HandoffRequest::Since(i64::MIN), &known, 11, "nothing");
}

#[test]
fn after_a_compaction_a_session_gets_what_it_had_and_nothing_new() {
    let known = waits(left(10, Occasion::Manual));
    check_for("s", HandoffRequest::Again, &known, 11, "nothing");
    let known = Known { received: vec![left(9, Occasion::Manual)], ..known };
    check_for("s", HandoffRequest::Again, &known, 11, "again 9");
    check_for("s", HandoffRequest::Since(9 * HOUR_MS), &known, 11, "given 10");
    check_for("s", HandoffRequest::Since(10 * HOUR_MS), &known, 11, "nothing");
}

#[test]
fn a_1_35_after_a_compaction_a_session_gets_what_it_left_before_it() {
    //
    use HandoffRequest::{Again, First, Since};
    let left_by_itself = |record: HandoffRecord| Known {
        own: Some(record),
        received: vec![left(9, Occasion::Manual)],
        ..Known::default()
    };
    let auto = left_by_itself(left(10, Occasion::Auto));
    check_for("author", Again, &auto, 11, "given 10");
    check_for("author", First, &auto, 11, "again 9");
    check_for("author", Since(0), &auto, 11, "nothing");
    check_for("author", Again, &auto, 13, "again 9");
    check_for("author", Again, &auto, 9, "again 9");
    let id = auto.own.as_ref().unwrap().id.clone();
    check_query("author", Again, &auto, 11, &[id], "again 9");
    // One that another took the place of is shown, and what was left on purpose waits on.
    let behind = HandoffRecord { status: Status::Cleared, ..left(10, Occasion::Auto) };
    check_for("author", Again, &left_by_itself(behind), 11, "again 10");
    check_for("author", Again, &left_by_itself(left(10, Occasion::Manual)), 11, "again 10");
}

#[test]
fn work_that_another_live_session_does_is_not_handed_over() {
    for (occasion, expect) in [
        (Occasion::Auto, "withheld 10"),
        (Occasion::Rotation, "withheld 10"),
        (Occasion::Manual, "given 10"),
        (Occasion::End, "given 10"),
    ] {
        let alone = waits(left(10, occasion));
        check(&alone, 11, "given 10");
        check(&Known { has_company: true, ..alone }, 11, expect);
    }
}

#[test]
fn a_session_that_is_about_to_get_its_own_words_back_keeps_them() {
    for (occasion, expect) in [
        (Occasion::Auto, "withheld 10"),
        (Occasion::Manual, "given 10"),
        (Occasion::End, "given 10"),
    ] {
        let alone = waits(left(10, occasion));
        check(&Known { alive: Some("another"), ..alone.clone() }, 11, "given 10");
        check(&Known { alive: Some("author"), ..alone }, 11, expect);
    }
}

#[test]
fn a_start_learns_of_the_last_one_that_nobody_got_in_time() {
    let expired = HandoffRecord { status: Status::Expired, ..left(10, Occasion::Auto) };
    let known = Known { newest: Some(expired), ..Known::default() };
    check(&known, 20, "too old 10");
    check_for("s", HandoffRequest::Since(0), &known, 20, "nothing");
    let consumed = HandoffRecord { status: Status::Consumed, ..left(10, Occasion::Auto) };
    check(&Known { newest: Some(consumed), ..Known::default() }, 20, "nothing");
}

#[test]
fn where_the_waiting_one_is_of_no_use_those_that_it_superseded_are_tried() {
    let (old, middle, new) =
        (left(1, Occasion::Manual), left(2, Occasion::Manual), left(3, Occasion::Manual));
    let behind = |record: &HandoffRecord, newer: &HandoffRecord| HandoffRecord {
        status: Status::Cleared,
        superseded_by: Some(newer.id.clone()),
        ..record.clone()
    };
    let known = Known {
        superseded: vec![behind(&middle, &new), behind(&old, &middle)],
        waiting: Some(new.clone()),
        ..Known::default()
    };
    let first = HandoffRequest::First;
    let (a, b, c) = (old.id, middle.id, new.id);
    check_query("s", first, &known, 5, &[], "given 3");
    check_query("s", first, &known, 5, std::slice::from_ref(&c), "given 2");
    check_query("s", first, &known, 5, &[c.clone(), b.clone()], "given 1");
    check_query("s", first, &known, 5, &[c, b, a], "nothing");
}
