//! A context on its way into a session, with its claim.

use std::time::{Duration, Instant};

use crate::app::deliver::claim::SessionClaim;
use crate::app::deliver::door::Door;
use crate::app::deliver::refusal::NotDelivered;
use crate::core::context::receipt::Injection;
use crate::system::breakpoint;

/// Dropping it counts as not delivered: the claim is released.
#[derive(Debug)]
pub struct PendingDelivery<T> {
    pub content: T,
    claim: Option<SessionClaim>,
    when_sent: WhenSent,
    until: Option<Instant>,
}

/// What happens to the claim after the context was sent.
#[derive(Debug)]
enum WhenSent {
    Settle {
        receipt: Option<i64>,
    },
    /// The bridge settles or releases it by the receipt's id.
    LeaveToBridge,
    /// The handoff did not fit, and no receipt has put it back: settling would consume it unseen.
    Release,
}

impl PendingDelivery<Injection> {
    pub(super) fn of(
        injection: Injection,
        claim: Option<SessionClaim>,
        door: Door,
        until: Option<Instant>,
    ) -> PendingDelivery<Injection> {
        let when_sent = match injection.id {
            _ if door.is_bridge() => WhenSent::LeaveToBridge,
            None if injection.receipt.omitted_handoff().is_some() => WhenSent::Release,
            receipt => WhenSent::Settle { receipt },
        };
        PendingDelivery { content: injection, claim, when_sent, until }
    }
}

impl<T> PendingDelivery<T> {
    /// A reply that delivers nothing.
    pub fn unclaimed(content: T) -> PendingDelivery<T> {
        PendingDelivery { content, claim: None, when_sent: WhenSent::Release, until: None }
    }

    /// Converts the content into the host's format.
    pub fn map<U>(self, words: impl FnOnce(T) -> U) -> PendingDelivery<U> {
        let PendingDelivery { content, claim, when_sent, until } = self;
        PendingDelivery { content: words(content), claim, when_sent, until }
    }

    /// Extends the claim before the context is sent. From then on, only a definite outcome ends it.
    pub(super) fn renewed(mut self) -> Result<PendingDelivery<T>, NotDelivered> {
        if let Some(claim) = &mut self.claim {
            claim.renew()?;
            claim.hold_open();
        }
        Ok(self)
    }

    /// Records that the context did not reach the session.
    pub(super) fn not_sent(self) {
        if let Some(claim) = self.claim {
            claim.release();
        }
    }

    /// Records that the context was sent. Returns the content.
    pub fn sent(self) -> T {
        let Some(mut claim) = self.claim else { return self.content };
        breakpoint::reach("load:printed");
        let left = |until: Instant| until.saturating_duration_since(Instant::now());
        match self.when_sent {
            WhenSent::LeaveToBridge => claim.hold_open(),
            WhenSent::Release => claim.release(),
            WhenSent::Settle { receipt } => {
                claim.settle(receipt, self.until.map_or(Duration::ZERO, left));
            }
        }
        breakpoint::reach("load:settled");
        self.content
    }
}
