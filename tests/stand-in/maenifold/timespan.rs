//! A span of time as .NET's `TimeSpan.TryParse` reads it.

/// Hundred-nanosecond ticks.
const SECOND: i64 = 10_000_000;
const MAX_DAYS: i64 = 10_675_199;

/// The ticks of a text; `None` for one that is no time span. `24:00:00` is one of 24 days: no hour has the number 24, but
/// the days may be parted from the hours by a colon.
pub(crate) fn parse(text: &str) -> Option<i64> {
    let text = text.trim();
    let (text, sign) = text.strip_prefix('-').map_or((text, 1), |rest| (rest, -1));
    let (numbers, marks) = tokens(text)?;
    let number = |at: usize| numbers[at].parse::<i64>().ok();
    let ticks = match marks.as_str() {
        "" => ticks(number(0)?, 0, 0, 0, 0),
        ":" => ticks(0, number(0)?, number(1)?, 0, 0),
        "::" => ticks(0, number(0)?, number(1)?, number(2)?, 0)
            .or_else(|| ticks(number(0)?, number(1)?, number(2)?, 0, 0)),
        ".:" => ticks(number(0)?, number(1)?, number(2)?, 0, 0),
        "::." => ticks(0, number(0)?, number(1)?, number(2)?, fraction(numbers[3])?),
        ".::" | ":::" => ticks(number(0)?, number(1)?, number(2)?, number(3)?, 0),
        ".::." | ":::." => {
            ticks(number(0)?, number(1)?, number(2)?, number(3)?, fraction(numbers[4])?)
        }
        _ => None,
    };
    ticks.map(|ticks| sign * ticks)
}

/// The numbers, and what stands between them.
fn tokens(text: &str) -> Option<(Vec<&str>, String)> {
    let numbers: Vec<&str> = text.split(['.', ':']).collect();
    let is_number = |text: &&str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    let marks = text.chars().filter(|c| matches!(c, '.' | ':')).collect();
    numbers.iter().all(is_number).then_some((numbers, marks))
}

fn fraction(digits: &str) -> Option<i64> {
    (digits.len() <= 7).then(|| format!("{digits:0<7}").parse().ok())?
}

fn ticks(days: i64, hours: i64, minutes: i64, seconds: i64, fraction: i64) -> Option<i64> {
    (days <= MAX_DAYS && hours < 24 && minutes < 60 && seconds < 60).then(|| {
        (((days * 24 + hours) * 60 + minutes) * 60 + seconds)
            .checked_mul(SECOND)?
            .checked_add(fraction)
    })?
}
