//! Which handoff a session gets by itself.

use crate::core::handoff::record::HandoffRecord;
use crate::core::handoff::{HandoffId, Occasion, Status};
use crate::core::time::{Timespan, Timestamp};

/// What a session asks for.
#[derive(Debug, Clone, Copy)]
pub enum HandoffRequest {
    /// What was left for it, at its start.
    First,
    /// What it had before its host forgot it.
    Again,
    /// What others left since this time, in milliseconds since 1970.
    Since(i64),
}

#[derive(Debug, Clone, Copy)]
pub struct HandoffQuery<'a> {
    pub scope: &'a str,
    pub session: &'a str,
    pub request: HandoffRequest,
    /// How long a sticky handoff stays.
    pub max_age: Timespan,
    /// In milliseconds since 1970.
    pub now_ms: i64,
    /// Handoffs whose documents turned out to be of no use.
    pub unusable: &'a [HandoffId],
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandoffChoice {
    Given(Box<HandoffRecord>),
    /// The session had this one before.
    Again(Box<HandoffRecord>),
    /// None, because this one is too old.
    TooOld(Box<HandoffRecord>),
    /// None, because this one continues work that another live session is still doing.
    Withheld(Box<HandoffRecord>),
    /// None, because the date of this one is wrong.
    Misdated(Box<HandoffRecord>),
    Nothing,
}

/// What the choice depends on. Each fact is asked for only where it decides, because a session waits for the answer.
pub trait ChoiceFacts {
    type Error;
    /// The handoff that the session received last.
    fn last_received(&self) -> Result<Option<HandoffRecord>, Self::Error>;
    fn has_received(&self, id: &HandoffId) -> Result<bool, Self::Error>;
    /// The handoff that waits for the next session.
    fn waiting(&self) -> Result<Option<HandoffRecord>, Self::Error>;
    /// Handoffs that were superseded, the newest first.
    fn superseded(&self) -> Result<Vec<HandoffRecord>, Self::Error>;
    /// The newest handoff for sessions that was not put away.
    fn newest(&self) -> Result<Option<HandoffRecord>, Self::Error>;
    /// Whether another session of the scope lives in another process.
    fn has_company(&self) -> Result<bool, Self::Error>;
}

/// Chooses the handoff for a session.
pub fn choose<F: ChoiceFacts>(
    query: &HandoffQuery<'_>,
    facts: &F,
) -> Result<HandoffChoice, F::Error> {
    let had = facts.last_received()?.filter(|had| !query.unusable.contains(&had.id));
    let since = match (query.request, had) {
        (HandoffRequest::First | HandoffRequest::Again, Some(had)) => {
            return Ok(HandoffChoice::Again(Box::new(had)));
        }
        (HandoffRequest::Again, None) => return Ok(HandoffChoice::Nothing),
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
        return Ok(if candidate.is_misdated(query.now_ms) {
            HandoffChoice::Misdated(candidate)
        } else if candidate.is_too_old(query.max_age, now) {
            HandoffChoice::TooOld(candidate)
        } else if continues_work(&candidate) && facts.has_company()? {
            HandoffChoice::Withheld(candidate)
        } else {
            HandoffChoice::Given(candidate)
        });
    }
    // A session that starts learns of the last handoff that was too old before anybody got it.
    Ok(match query.request {
        HandoffRequest::First => match facts.newest()? {
            Some(last) if last.status == Status::Expired => HandoffChoice::TooOld(Box::new(last)),
            _ => HandoffChoice::Nothing,
        },
        _ => HandoffChoice::Nothing,
    })
}

/// The one that waits; where that is of no use, the one that it superseded, and so on. Older ones have had their time.
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

/// Whether a handoff was written so that the very same work goes on, rather than for whichever session comes next.
fn continues_work(handoff: &HandoffRecord) -> bool {
    matches!(handoff.occasion, Occasion::Auto | Occasion::Rotation)
}

#[cfg(test)]
mod tests;
