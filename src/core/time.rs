//! Points and spans of time. Reads no clock: the current time is always an argument.

use std::fmt;

use jiff::civil;
use jiff::tz::TimeZone;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

const NANOS_PER_SECOND: i64 = 1_000_000_000;
const SECONDS_PER_DAY: i64 = 86_400;

/// A point in time, in nanoseconds since 1970 UTC. Prints and serialises as RFC 3339 in UTC, to the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

/// A whole day, counted from 1970-01-01 UTC.
pub type Day = i32;

impl Timestamp {
    /// Marks an unknown time. Older than any note.
    pub const UNKNOWN: Timestamp = Timestamp(0);

    /// From whole seconds since 1970; saturates at the range of 64-bit nanoseconds.
    pub fn from_seconds(seconds: i64) -> Timestamp {
        Timestamp(seconds.saturating_mul(NANOS_PER_SECOND))
    }

    /// From milliseconds since 1970; saturates likewise.
    pub fn from_milliseconds(milliseconds: i64) -> Timestamp {
        Timestamp(milliseconds.saturating_mul(NANOS_PER_SECOND / 1_000))
    }

    /// Parses a date, or a date and time, in the forms that people write in front matter. Without a zone it is UTC.
    ///
    /// UTC instead of local time: the same vault must give the same index on every machine.
    pub fn parse(text: &str) -> Option<Timestamp> {
        let text = text.trim();
        let instant = text.parse::<jiff::Timestamp>().or_else(|_| {
            let naive = text.parse::<civil::DateTime>();
            naive.and_then(|naive| TimeZone::UTC.to_timestamp(naive))
        });
        i64::try_from(instant.ok()?.as_nanosecond()).ok().map(Timestamp)
    }

    /// Whole seconds since 1970, rounded down.
    pub fn seconds(self) -> i64 {
        self.0.div_euclid(NANOS_PER_SECOND)
    }

    /// Whole milliseconds since 1970, rounded down.
    pub fn milliseconds(self) -> i64 {
        self.0.div_euclid(NANOS_PER_SECOND / 1_000)
    }

    /// The UTC day of this time.
    pub fn day(self) -> Day {
        Day::try_from(self.seconds().div_euclid(SECONDS_PER_DAY)).unwrap_or(Day::MAX)
    }

    pub fn before(self, span: Timespan) -> Timestamp {
        Timestamp(self.0.saturating_sub(span.0.saturating_mul(NANOS_PER_SECOND)))
    }

    pub fn after(self, span: Timespan) -> Timestamp {
        Timestamp(self.0.saturating_add(span.0.saturating_mul(NANOS_PER_SECOND)))
    }

    /// The distance to `now`, in the largest unit that fits: `5 min ago`.
    pub fn ago(self, now: Timestamp) -> String {
        let seconds = now.seconds() - self.seconds();
        match seconds {
            _ if self == Timestamp::UNKNOWN => "date unknown".to_owned(),
            ..0 => "in the future".to_owned(),
            0..60 => "just now".to_owned(),
            60..3_600 => format!("{} min ago", seconds / 60),
            3_600..172_800 => format!("{} h ago", seconds / 3_600),
            _ => format!("{} days ago", seconds / SECONDS_PER_DAY),
        }
    }
}

/// Serializes a time that may be unknown: then as null.
pub fn known<S: Serializer>(time: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    Some(time).filter(|time| **time != Timestamp::UNKNOWN).serialize(serializer)
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_second(self.seconds()) {
            Ok(instant) => write!(f, "{instant}"),
            Err(_) => write!(f, "@{}", self.seconds()),
        }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        let text = String::deserialize(deserializer)?;
        Timestamp::parse(&text).ok_or_else(|| serde::de::Error::custom("no moment"))
    }
}

/// A length of time in whole seconds, never negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timespan(i64);

impl Timespan {
    /// Parses `24h`, `7d` and the like, or .NET's `[d.]hh:mm[:ss]`, which maenifold uses.
    ///
    /// Refuses `24:00:00`: .NET reads it as 24 days, other programs as 24 hours.
    pub fn parse(text: &str) -> Result<Timespan, String> {
        let fail = |reason| {
            Err(format!(
                "{text:?} is not a time span: {reason}; write 24h, 90m, 7d or 2w, or [days.]hours:minutes:seconds \
                like 1.00:00:00"
            ))
        };
        let trimmed = text.trim();
        if trimmed.starts_with('-') {
            return fail("it is negative");
        }
        if trimmed.contains(':') {
            return clock_seconds(trimmed).map(Timespan).or_else(fail);
        }
        let digits = trimmed.find(|c: char| !c.is_ascii_digit()).unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(digits);
        let seconds_per_unit = match unit.trim() {
            "s" => 1,
            "m" | "min" => 60,
            "h" => 3_600,
            "d" => SECONDS_PER_DAY,
            "w" => 7 * SECONDS_PER_DAY,
            "" => return fail("it has no unit"),
            _ => return fail("its unit is unknown"),
        };
        match number.parse::<i64>().ok().and_then(|n| n.checked_mul(seconds_per_unit)) {
            Some(seconds) => Ok(Timespan(seconds)),
            None if number.is_empty() => fail("it has no number"),
            None => fail("it is too long"),
        }
    }

    /// The span in .NET's format, with days: .NET would read `24:00:00` as 24 days.
    pub fn dot_net(self) -> String {
        let (days, rest) = (self.0 / SECONDS_PER_DAY, self.0 % SECONDS_PER_DAY);
        format!("{days}.{:02}:{:02}:{:02}", rest / 3_600, rest / 60 % 60, rest % 60)
    }

    pub const DAY: Timespan = Timespan(SECONDS_PER_DAY);

    pub const fn from_hours(hours: u32) -> Timespan {
        Timespan(hours as i64 * 3_600)
    }
}

/// Parses `[d.]hh:mm[:ss[.fraction]]`; drops fractions of a second.
fn clock_seconds(text: &str) -> Result<i64, &'static str> {
    let (head, rest) = text.split_once(':').ok_or("it has no hours")?;
    let (days, hours) = head.split_once('.').unwrap_or(("0", head));
    let (minutes, seconds) = rest.split_once(':').unwrap_or((rest, "0"));
    let seconds = seconds.split_once('.').map_or(seconds, |(whole, _)| whole);
    let number =
        |part: &str| part.parse::<u32>().map(i64::from).map_err(|_| "a part is not a number");
    let (days, hours) = (number(days)?, number(hours)?);
    let (minutes, seconds) = (number(minutes)?, number(seconds)?);
    if hours > 23 {
        return Err("hours go up to 23; write days before a dot");
    }
    if minutes > 59 || seconds > 59 {
        return Err("minutes and seconds go up to 59");
    }
    Ok(days * SECONDS_PER_DAY + hours * 3_600 + minutes * 60 + seconds)
}

impl fmt::Display for Timespan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0;
        match seconds {
            _ if seconds > SECONDS_PER_DAY && seconds % SECONDS_PER_DAY == 0 => {
                write!(f, "{} days", seconds / SECONDS_PER_DAY)
            }
            _ if seconds % 3_600 == 0 => write!(f, "{} h", seconds / 3_600),
            _ if seconds % 60 == 0 => write!(f, "{} min", seconds / 60),
            _ => write!(f, "{seconds} s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_in_both_notations() {
        #[track_caller]
        fn check(text: &str, seconds: i64) {
            assert_eq!(Timespan::parse(text), Ok(Timespan(seconds)), "{text}");
            let dot_net = Timespan(seconds).dot_net();
            assert_eq!(Timespan::parse(&dot_net), Ok(Timespan(seconds)), "{dot_net}");
        }
        assert_eq!(Timespan::DAY.dot_net(), "1.00:00:00");
        check("24h", 86_400);
        check("7d", 604_800);
        check("2w", 1_209_600);
        check("90m", 5_400);
        check("30 min", 1_800);
        check("45s", 45);
        check("1.00:00:00", 86_400);
        check("00:30", 1_800);
        check("23:59:59", 86_399);
        check("2.03:04:05.678", 2 * 86_400 + 3 * 3_600 + 4 * 60 + 5);
    }

    #[test]
    fn a_bad_span_is_named_with_the_way_out() {
        for (text, reason) in [
            ("24:00:00", "hours go up to 23"),
            ("-1h", "negative"),
            ("yesterday", "unit is unknown"),
            ("7", "no unit"),
            ("h", "no number"),
            ("", "no unit"),
            ("1:2:3:4", "not a number"),
            ("99999999999999999999d", "too long"),
            ("1.00:61:00", "go up to 59"),
        ] {
            let error = Timespan::parse(text).expect_err(text);
            assert!(error.contains(&format!("{text:?}")), "{error}");
            assert!(error.contains(reason), "{error} should say {reason:?}");
            assert!(error.contains("1.00:00:00"), "{error}");
        }
    }

    #[test]
    fn moments_are_read_as_people_write_them() {
        #[track_caller]
        fn check(text: &str, expect: &str) {
            assert_eq!(Timestamp::parse(text).map(|t| t.to_string()).as_deref(), Some(expect));
        }
        check("2026-01-05", "2026-01-05T00:00:00Z");
        check("2026-01-05T10:20:30", "2026-01-05T10:20:30Z");
        check("2026-01-05 10:20", "2026-01-05T10:20:00Z");
        check("2026-01-27T21:36:01-08:00", "2026-01-28T05:36:01Z");
        check("2026-02-20T14:04:00.1234567+00:00", "2026-02-20T14:04:00Z");
        for bad in ["", "soon", "2026-13-01", "20 Feb 2026"] {
            assert_eq!(Timestamp::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_day_begins_at_midnight_utc() {
        let midnight = Timestamp::parse("2026-01-05").unwrap();
        assert_eq!(Timestamp(midnight.0 - 1).day() + 1, midnight.day());
        assert_eq!(Timestamp::parse("1969-12-31").unwrap().day(), -1);
    }
}
