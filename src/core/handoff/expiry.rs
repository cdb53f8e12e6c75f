//! Decides when a handoff is too old for a session, and when its date must be wrong.

use crate::core::handoff::record::HandoffRecord;
use crate::core::handoff::{Consume, Head, Occasion};
use crate::core::settings::HandoffSettings;
use crate::core::time::{Timespan, Timestamp};

/// The tolerated difference between clocks: a handoff from further in the future has a wrong date.
pub const CLOCKS_DIFFER_MS: i64 = 5 * 60_000;

/// When a handoff becomes too old; `None` for never. A sticky handoff also ends after `max_age`.
pub fn too_old_at(
    created: Timestamp,
    expires: Option<Timestamp>,
    consume: Consume,
    max_age: Timespan,
) -> Option<Timestamp> {
    let stays_until = (consume == Consume::Sticky).then(|| created.after(max_age));
    [expires, stays_until].into_iter().flatten().min()
}

impl HandoffRecord {
    pub fn is_too_old(&self, max_age: Timespan, now: Timestamp) -> bool {
        too_old_at(self.created, self.expires, self.consume, max_age).is_some_and(|at| at < now)
    }

    /// Whether the clock was wrong when the handoff was written, or is wrong now.
    pub fn is_misdated(&self, now_ms: i64) -> bool {
        is_in_future(self.created, now_ms)
    }
}

/// Whether a time is further in the future than a difference between clocks explains.
pub fn is_in_future(time: Timestamp, now_ms: i64) -> bool {
    time.milliseconds() > now_ms.saturating_add(CLOCKS_DIFFER_MS)
}

impl HandoffSettings {
    /// The maximum age of a sticky handoff.
    pub fn max_age(&self) -> Timespan {
        Timespan::from_hours(self.max_age_days.value.saturating_mul(24))
    }
}

impl Head {
    /// The occasion; [`Occasion::Manual`] if the document names none.
    pub fn occasion(&self) -> Occasion {
        self.occasion.clone().unwrap_or(Occasion::Manual)
    }

    /// The document's own value, or the default of its occasion.
    pub fn consume(&self) -> Consume {
        self.consume.unwrap_or_else(|| self.occasion().consume())
    }

    /// When the lifetime of the occasion ends; `None` for no limit.
    pub fn end_of_lifetime(&self, created: Timestamp) -> Option<Timestamp> {
        self.occasion().lifetime().map(|lifetime| created.after(lifetime))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earlier_of_both_limits_counts() {
        let at = Timestamp::from_seconds;
        let day = 86_400;
        for (expires, consume, expect) in [
            (None, Consume::Once, None),
            (Some(at(5)), Consume::Once, Some(at(5))),
            (None, Consume::Sticky, Some(at(1_000 + day))),
            (Some(at(5)), Consume::Sticky, Some(at(5))),
            (Some(at(9_000 + day)), Consume::Sticky, Some(at(1_000 + day))),
        ] {
            assert_eq!(too_old_at(at(1_000), expires, consume, Timespan::DAY), expect);
        }
    }

    #[test]
    fn the_occasion_decides_what_the_document_leaves_open() {
        let created = Timestamp::from_seconds(0);
        let hours = |hours: i64| Some(Timestamp::from_seconds(hours * 3_600));
        for (occasion, consume, end) in [
            (None, Consume::Once, None),
            (Some(Occasion::Bye), Consume::Once, None),
            (Some(Occasion::Auto), Consume::Once, hours(2)),
            (Some(Occasion::Rotation), Consume::Once, hours(2)),
            (Some(Occasion::End), Consume::Sticky, hours(7 * 24)),
        ] {
            let mut head = Head { occasion, ..Head::default() };
            assert_eq!((head.consume(), head.end_of_lifetime(created)), (consume, end));
            head.consume = Some(Consume::Once);
            assert_eq!(head.consume(), Consume::Once);
        }
    }

    #[test]
    fn clocks_may_differ_by_five_minutes() {
        let time = Timestamp::from_milliseconds(CLOCKS_DIFFER_MS);
        assert!(!is_in_future(time, 0));
        assert!(is_in_future(time, -1));
    }
}
