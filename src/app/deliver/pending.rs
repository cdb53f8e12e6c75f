//! A context on its way into a session, with its claim.

use crate::app::deliver::claim::{ClaimEnd, SessionClaim};
use crate::app::deliver::door::Door;
use crate::app::deliver::refusal::NotDelivered;
use crate::core::context::receipt::Injection;
use crate::system::breakpoint;

/// Dropping it counts as not delivered: the claim is released.
#[derive(Debug)]
pub struct PendingDelivery<T> {
    pub content: T,
    claim: Option<SessionClaim>,
    when_sent: ClaimEnd,
}

impl PendingDelivery<Injection> {
    pub(super) fn of(
        injection: Injection,
        claim: Option<SessionClaim>,
        door: Door,
    ) -> PendingDelivery<Injection> {
        let when_sent = match injection.id {
            _ if door.is_bridge() => ClaimEnd::Leave,
            // The handoff did not fit, and no receipt has put it back: settling would consume it
            // unseen.
            None if injection.receipt.omitted_handoff().is_some() => ClaimEnd::Release,
            receipt => ClaimEnd::Settle { receipt },
        };
        PendingDelivery { content: injection, claim, when_sent }
    }
}

impl<T> PendingDelivery<T> {
    /// A reply that delivers nothing.
    pub fn unclaimed(content: T) -> PendingDelivery<T> {
        PendingDelivery { content, claim: None, when_sent: ClaimEnd::Release }
    }

    /// Converts the content into the host's format.
    pub fn map<U>(self, words: impl FnOnce(T) -> U) -> PendingDelivery<U> {
        let PendingDelivery { content, claim, when_sent } = self;
        PendingDelivery { content: words(content), claim, when_sent }
    }

    /// Extends the claim before the context is sent. From then on, only a definite outcome ends it.
    pub(super) fn renewed(mut self) -> Result<PendingDelivery<T>, NotDelivered> {
        if let Some(claim) = &mut self.claim {
            claim.renew()?;
            claim.end = ClaimEnd::Leave;
        }
        Ok(self)
    }

    /// Records that the context did not reach the session.
    pub(super) fn not_sent(mut self) {
        if let Some(claim) = &mut self.claim {
            claim.end = ClaimEnd::Release;
        }
    }

    /// Records that the context was sent. Returns the content.
    pub fn sent(self) -> T {
        let Some(mut claim) = self.claim else { return self.content };
        breakpoint::reach("load:printed");
        claim.end = self.when_sent;
        drop(claim);
        breakpoint::reach("load:settled");
        self.content
    }
}
