//! The life of a handoff as a pure function: the allowed steps, which handoff supersedes which, and the log line of
//! each step. The store loads the rows, calls [`step`], and writes the result in one transaction.

use crate::core::handoff::record::{HandoffRecord, LogLine};
use crate::core::handoff::{Consume, HandoffId, Head, Kind, Occasion, Status};
use crate::core::time::Timestamp;

/// The reason of a handoff that another one replaced.
pub const SUPERSEDED: &str = "superseded";
/// The reason of a handoff whose document is about to be removed.
pub const CONDEMNED: &str = "being removed";
/// The reason of a handoff that another project is about to copy.
pub const BEING_ADOPTED: &str = "being adopted";
/// The beginning of the log line of a handoff that should have a summary and has none.
pub const NO_SUMMARY: &str = "no summary: ";

/// The cause of a step: a session, if any, and a time.
#[derive(Debug, Clone)]
pub struct Actor {
    pub session: Option<String>,
    pub now_ms: i64,
}

/// The place of a handoff.
#[derive(Debug, Clone)]
pub struct Home<'a> {
    /// A project's key, or `@` and the name of a channel. Folders with the same scope share their handoffs.
    pub scope: &'a str,
    pub channel: &'a str,
}

/// An event in the life of a handoff. The text is the reason for the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandoffEvent<'a> {
    /// Its document is written.
    Written,
    /// Its document could not be written.
    Abandoned,
    /// Its document was found in the archive, without a row. It must not reach a session.
    Recovered,
    /// A session's context will contain it.
    Offered,
    /// The context reached the session. `is_held`: the session's claim holds the handoff. `is_new`: the session
    /// receives it for the first time.
    Delivered { is_held: bool, is_new: bool },
    /// A person or an agent took it explicitly.
    PickedUp,
    /// Its document is written, and only the next context of its own session is to have it.
    KeptForRotation,
    /// Another project is about to copy it.
    Adopting,
    /// The claim ended without a delivery.
    GivenBack(&'a str),
    /// A person or an agent lets another session have it again.
    GivenAgain(&'a str),
    /// It was too old when a session asked for it.
    TooOld,
    /// A person or an agent archived it.
    Archived(&'a str),
    /// Its document is about to be removed.
    Condemned,
    /// Its document was removed.
    Removed(&'a str),
}

/// The inputs of a step besides the handoff.
#[derive(Debug, Clone, Copy)]
pub struct StepFacts<'a> {
    pub actor: &'a Actor,
    /// The process that makes the step.
    pub pid: u32,
    /// The handoff that waits for the next session of the same scope.
    pub waiting: Option<&'a HandoffRecord>,
    /// Whether the session is over that wrote whichever of the two is an `auto` handoff.
    pub is_author_over: bool,
}

/// A handoff after a step, and the step's log line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandoffChange {
    pub record: HandoffRecord,
    /// `None` if only the reason changes.
    pub line: Option<LogLine>,
}

impl HandoffChange {
    pub fn is_removal(&self) -> bool {
        self.line.as_ref().is_some_and(|line| line.to.is_none())
    }

    /// Whether the status stays the same, so that only the log grows.
    pub fn is_note(&self) -> bool {
        self.line.as_ref().is_some_and(|line| line.from == line.to)
    }
}

/// The draft of a handoff whose document does not exist yet.
pub fn draft(
    id: HandoffId,
    home: &Home<'_>,
    head: &Head,
    created: Timestamp,
    reason: Option<&str>,
    facts: &StepFacts<'_>,
) -> HandoffChange {
    let record = HandoffRecord {
        id,
        scope: home.scope.to_owned(),
        channel: home.channel.to_owned(),
        kind: head.kind,
        occasion: head.occasion(),
        consume: head.consume(),
        audience: head.audience.unwrap_or_default(),
        priority: head.priority,
        status: Status::Draft,
        reason: None,
        session: head.session_id.clone(),
        source_id: head.source_id.clone(),
        goal: head.goal.clone(),
        working_dir: head.working_dir.clone(),
        created,
        created_by_pid: facts.pid,
        expires: head.expires_at,
        changed: Timestamp::from_milliseconds(facts.actor.now_ms),
        changed_by_pid: facts.pid,
        changed_by: facts.actor.session.clone(),
        superseded_by: None,
        is_abandoned: false,
    };
    let line = LogLine { from: None, ..facts.line(&record, Some(Status::Draft), reason) };
    HandoffChange { record, line: Some(line) }
}

/// The changes that an event causes, in the order in which they must be stored; empty if the status does not allow
/// the event.
pub fn step(
    handoff: &HandoffRecord,
    event: HandoffEvent<'_>,
    facts: &StepFacts<'_>,
) -> Vec<HandoffChange> {
    let change = |to, reason| vec![facts.change(handoff, to, reason)];
    let log = |to, reason| {
        let line = Some(facts.line(handoff, to, Some(reason)));
        vec![HandoffChange { record: handoff.clone(), line }]
    };
    let is_archived = handoff.is_archived();
    match (event, &handoff.status) {
        (HandoffEvent::Written, Status::Draft) => take_place(handoff, None, facts),
        (HandoffEvent::GivenBack(reason), Status::Claimed) => {
            take_place(handoff, Some(reason), facts)
        }
        // Not if that would only archive it for another reason.
        (HandoffEvent::GivenAgain(reason), Status::Consumed)
            if handoff.reason.as_deref() != Some(CONDEMNED) && !is_behind(handoff, facts) =>
        {
            take_place(handoff, Some(reason), facts)
        }
        (HandoffEvent::Abandoned, Status::Draft) => log(None, "its document could not be written"),
        (HandoffEvent::Recovered, Status::Draft) => change(Status::Cleared, Some("recovered")),
        // A sticky handoff keeps waiting for further sessions.
        (HandoffEvent::Offered, _) if handoff.consume == Consume::Once => {
            change(Status::Claimed, None)
        }
        (HandoffEvent::Delivered { is_held: true, .. }, Status::Claimed) => {
            change(Status::Consumed, None)
        }
        (HandoffEvent::Delivered { is_new: true, .. }, status) => {
            log(Some(status.clone()), "given to a session")
        }
        (HandoffEvent::PickedUp, Status::Active | Status::Expired) => {
            change(Status::Claimed, Some("picked up"))
        }
        (HandoffEvent::KeptForRotation, Status::Draft) => {
            change(Status::Claimed, Some("kept for the rotation of its session"))
        }
        (HandoffEvent::Adopting, Status::Active) => change(Status::Claimed, Some(BEING_ADOPTED)),
        (HandoffEvent::TooOld, Status::Active) => change(Status::Expired, Some("too old")),
        (HandoffEvent::Archived(reason), _) if !is_archived => {
            change(Status::Cleared, Some(reason))
        }
        // An expired handoff could still be picked up, so it is cleared first.
        (HandoffEvent::Condemned, Status::Expired) => change(Status::Cleared, Some(CONDEMNED)),
        (HandoffEvent::Condemned, _) if is_archived => {
            let record = HandoffRecord { reason: Some(CONDEMNED.to_owned()), ..handoff.clone() };
            vec![HandoffChange { record, line: None }]
        }
        (HandoffEvent::Removed(reason), _) if is_archived => log(None, reason),
        _ => Vec::new(),
    }
}

/// Makes the handoff wait. Only one session handoff of a scope can wait: the one with less precedence is superseded.
fn take_place(
    handoff: &HandoffRecord,
    reason: Option<&str>,
    facts: &StepFacts<'_>,
) -> Vec<HandoffChange> {
    let mut changes = Vec::new();
    if let Some(waiting) = facts.waiting.filter(|_| handoff.kind == Kind::Session) {
        if is_behind(handoff, facts) {
            return vec![facts.supersede(handoff, &waiting.id)];
        }
        changes.push(facts.supersede(waiting, &handoff.id));
    }
    changes.push(facts.change(handoff, Status::Active, reason));
    changes
}

/// Whether the handoff that waits for the next session has precedence over this one.
fn is_behind(handoff: &HandoffRecord, facts: &StepFacts<'_>) -> bool {
    let Some(waiting) = facts.waiting.filter(|_| handoff.kind == Kind::Session) else {
        return false;
    };
    // A date in the future says nothing about which of two is older.
    let is_older = (handoff.created, &handoff.id) < (waiting.created, &waiting.id)
        && !waiting.is_misdated(facts.actor.now_ms);
    match handoff.status {
        Status::Draft => is_older || gives_way(handoff, waiting, facts),
        _ => is_older && !gives_way(waiting, handoff, facts),
    }
}

/// Whether a handoff that a hook wrote must leave the other one its place: that was left on purpose, or before a
/// compaction of another session, which goes on with it while it lives.
fn gives_way(handoff: &HandoffRecord, other: &HandoffRecord, facts: &StepFacts<'_>) -> bool {
    let is_hooked = |occasion: &Occasion| matches!(occasion, Occasion::End | Occasion::Auto);
    match (&handoff.occasion, &other.occasion) {
        (Occasion::End, Occasion::Auto) => {
            let is_own = handoff.session.is_some() && handoff.session == other.session;
            let now_ms = facts.actor.now_ms;
            let is_fresh = other.expires.is_none_or(|expires| expires.milliseconds() >= now_ms);
            !is_own && is_fresh && !facts.is_author_over
        }
        (hooked, other) => is_hooked(hooked) && !is_hooked(other),
    }
}

impl StepFacts<'_> {
    fn change(&self, handoff: &HandoffRecord, to: Status, reason: Option<&str>) -> HandoffChange {
        let line = self.line(handoff, Some(to.clone()), reason);
        let record = HandoffRecord {
            status: to,
            reason: reason.map(str::to_owned),
            changed: line.at,
            changed_by_pid: self.pid,
            changed_by: self.actor.session.clone(),
            ..handoff.clone()
        };
        HandoffChange { record, line: Some(line) }
    }

    fn supersede(&self, old: &HandoffRecord, by: &HandoffId) -> HandoffChange {
        let mut change = self.change(old, Status::Cleared, Some(SUPERSEDED));
        change.record.superseded_by = Some(by.clone());
        change
    }

    fn line(&self, handoff: &HandoffRecord, to: Option<Status>, reason: Option<&str>) -> LogLine {
        LogLine {
            at: Timestamp::from_milliseconds(self.actor.now_ms),
            id: handoff.id.to_string(),
            from: Some(handoff.status.clone()),
            to,
            pid: self.pid,
            session: self.actor.session.clone(),
            reason: reason.map(str::to_owned),
        }
    }
}

#[cfg(test)]
mod tests;
