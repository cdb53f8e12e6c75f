//! Chooses the handoff that a session receives automatically.

use crate::core::handoff::record::HandoffRecord;
use crate::core::handoff::{Audience, HandoffId, Occasion, Status};
use crate::core::time::{Timespan, Timestamp};

/// The kind of request.
#[derive(Debug, Clone, Copy)]
pub enum HandoffRequest {
    /// At the start: the handoff that waits for the session.
    First,
    /// After a compaction: the handoff that the session left before it, else the one that it already had.
    Again,
    /// After a person cleared the session: none, only word of the tasks that wait.
    Tasks,
    /// During the session: a handoff that another session left after this time, in milliseconds since 1970.
    Since(i64),
    /// At the start of a session that goes on with the work of another one: what that wrote for it.
    Rotated,
}

#[derive(Debug, Clone, Copy)]
pub struct HandoffQuery<'a> {
    pub scope: &'a str,
    pub session: &'a str,
    pub request: HandoffRequest,
    /// Whether no person takes part in the session.
    pub is_scripted: bool,
    /// The maximum age of a sticky handoff.
    pub max_age: Timespan,
    pub now_ms: i64,
    /// Handoffs whose documents turned out to be unusable.
    pub unusable: &'a [HandoffId],
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandoffChoice {
    Given(Box<HandoffRecord>),
    /// The session had this one before.
    Again(Box<HandoffRecord>),
    /// No handoff, because this one waits for an interactive session, and the session is scripted.
    NotAddressed(Box<HandoffRecord>),
    /// No handoff, because this one is too old.
    TooOld(Box<HandoffRecord>),
    /// No handoff, because this one continues work that another live session is still doing.
    Withheld(Box<HandoffRecord>),
    /// No handoff, because the date of this one is wrong.
    Misdated(Box<HandoffRecord>),
    Nothing,
}

impl HandoffQuery<'_> {
    /// Whether a handoff was left for sessions like this one.
    fn is_addressed_by(&self, handoff: &HandoffRecord) -> bool {
        !self.is_scripted || handoff.audience == Audience::Any
    }
}

/// The facts behind the choice. Each one is queried only if it decides, because a session waits for the answer.
pub trait ChoiceFacts {
    type Error;
    /// The handoff that the session received last.
    fn last_received(&self) -> Result<Option<HandoffRecord>, Self::Error>;
    /// The newest handoff that the session left for itself before a compaction, or on purpose, and has not received. The
    /// former may be behind another one that waits.
    fn left_by_itself(&self) -> Result<Option<HandoffRecord>, Self::Error>;
    fn has_received(&self, id: &HandoffId) -> Result<bool, Self::Error>;
    /// The handoff that waits for the next session.
    fn waiting(&self) -> Result<Option<HandoffRecord>, Self::Error>;
    /// Superseded handoffs, newest first.
    fn superseded(&self) -> Result<Vec<HandoffRecord>, Self::Error>;
    /// The newest session handoff that was not cleared.
    fn newest(&self) -> Result<Option<HandoffRecord>, Self::Error>;
    /// The handoff of the rotation by which the session began, unless another session has it.
    fn rotated(&self) -> Result<Option<HandoffRecord>, Self::Error>;
    /// Whether another session of the scope is alive in another process.
    fn has_company(&self) -> Result<bool, Self::Error>;
    /// Whether a session of the scope is alive, in whatever process.
    fn is_alive(&self, session: &str) -> Result<bool, Self::Error>;
}

pub fn choose<F: ChoiceFacts>(
    query: &HandoffQuery<'_>,
    facts: &F,
) -> Result<HandoffChoice, F::Error> {
    if let HandoffRequest::Again = query.request
        && let Some(own) = facts.left_by_itself()?.filter(|own| is_usable(own, query))
    {
        // What it left on purpose is for the next session, too.
        let is_for_itself = own.occasion == Occasion::Auto && own.status == Status::Active;
        let own = Box::new(own);
        return Ok(if is_for_itself {
            HandoffChoice::Given(own)
        } else {
            HandoffChoice::Again(own)
        });
    }
    if let HandoffRequest::Tasks = query.request {
        return Ok(HandoffChoice::Nothing);
    }
    if let HandoffRequest::Rotated = query.request {
        // It was written a moment ago, whatever the clock says.
        let own = facts.rotated()?.filter(|own| !query.unusable.contains(&own.id));
        return Ok(own.map_or(HandoffChoice::Nothing, |own| HandoffChoice::Given(Box::new(own))));
    }
    let had = facts.last_received()?.filter(|had| !query.unusable.contains(&had.id));
    let since = match (query.request, had) {
        (HandoffRequest::First | HandoffRequest::Again, Some(had)) => {
            return Ok(HandoffChoice::Again(Box::new(had)));
        }
        (HandoffRequest::Again | HandoffRequest::Rotated | HandoffRequest::Tasks, _) => {
            return Ok(HandoffChoice::Nothing);
        }
        (HandoffRequest::First, None) => i64::MIN,
        (HandoffRequest::Since(since), _) => since,
    };
    for candidate in candidates(query, facts)? {
        let is_own = candidate.session.as_deref() == Some(query.session);
        let is_known = candidate.created.milliseconds() <= since;
        if is_own || is_known || facts.has_received(&candidate.id)? {
            continue;
        }
        let now = Timestamp::from_milliseconds(query.now_ms);
        let candidate = Box::new(candidate);
        return Ok(if !query.is_addressed_by(&candidate) {
            HandoffChoice::NotAddressed(candidate)
        } else if candidate.is_misdated(query.now_ms) {
            HandoffChoice::Misdated(candidate)
        } else if candidate.is_too_old(query.max_age, now) {
            HandoffChoice::TooOld(candidate)
        } else if awaits_author(&candidate, facts)?
            || (continues_work(&candidate) && facts.has_company()?)
        {
            HandoffChoice::Withheld(candidate)
        } else {
            HandoffChoice::Given(candidate)
        });
    }
    // At its start, a session learns about the last handoff that expired before a session received it.
    if let HandoffRequest::First = query.request
        && let Some(last) = facts.newest()?.filter(|last| last.status == Status::Expired)
        && query.is_addressed_by(&last)
    {
        return Ok(HandoffChoice::TooOld(Box::new(last)));
    }
    Ok(HandoffChoice::Nothing)
}

fn is_usable(own: &HandoffRecord, query: &HandoffQuery<'_>) -> bool {
    let now = Timestamp::from_milliseconds(query.now_ms);
    !query.unusable.contains(&own.id)
        && !own.is_misdated(query.now_ms)
        && !own.is_too_old(query.max_age, now)
}

/// The waiting handoff; if it is unusable, the one that it superseded, and so on. Older ones are never candidates.
fn candidates<F: ChoiceFacts>(
    query: &HandoffQuery<'_>,
    facts: &F,
) -> Result<Vec<HandoffRecord>, F::Error> {
    let mut candidates = Vec::from_iter(facts.waiting()?);
    if !query.unusable.is_empty() {
        candidates.extend(facts.superseded()?);
    }
    candidates.retain(|candidate| {
        let newer = candidate.superseded_by.as_ref();
        !query.unusable.contains(&candidate.id)
            && newer.is_none_or(|newer| query.unusable.contains(newer))
    });
    Ok(candidates)
}

/// Whether the handoff continues one piece of work, instead of addressing any next session.
fn continues_work(handoff: &HandoffRecord) -> bool {
    matches!(handoff.occasion, Occasion::Auto | Occasion::Rotation)
}

/// Whether a handoff was written before a compaction whose session is about to get it back.
fn awaits_author<F: ChoiceFacts>(handoff: &HandoffRecord, facts: &F) -> Result<bool, F::Error> {
    match handoff.session.as_deref().filter(|_| handoff.occasion == Occasion::Auto) {
        Some(author) => facts.is_alive(author),
        None => Ok(false),
    }
}

#[cfg(test)]
mod tests;
