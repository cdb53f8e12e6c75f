//! Names of notes that are dates: journal pages, logs, minutes, and what was planned or written on a day. Decisions have
//! numbers and dates for good, and are none.

use crate::core::text::bytes::position;

/// Folders and parts of names of decisions, which are numbered by their dates.
const DECISIONS: [&str; 7] = ["adr", "adrs", "decision", "decisions", "rfc", "rfcs", "proposals"];
/// The beginnings of the names of months and weekdays, in the languages whose journals have been seen.
const MONTHS: [&str; 15] = [
    "jan", "feb", "mar", "mär", "apr", "may", "mai", "jun", "jul", "aug", "sep", "oct", "okt",
    "nov", "dec",
];
const WEEKDAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
/// The most words that may follow a day in folders of its month, such as `afternoon`.
const MOST_WORDS_BEHIND: usize = 1;

/// A run of digits or of letters.
#[derive(Debug, Clone, Copy)]
enum Part<'a> {
    Number { value: u32, digits: usize },
    Word(&'a str),
}

/// Whether the name of a note in a folder is that of a day.
pub(super) fn is_dated(folder: &str, stem: &str) -> bool {
    if !may_be_dated(folder, stem) {
        return false;
    }
    let parts = parts(stem);
    let is_decision = |word: &str| DECISIONS.iter().any(|other| other.eq_ignore_ascii_case(word));
    let of_decisions = || {
        let words = parts
            .iter()
            .filter_map(|part| if let Part::Word(word) = part { Some(*word) } else { None });
        folder.split('/').chain(words).any(is_decision)
    };
    (has_date(&parts) || is_day_of_folders(folder, &parts)) && !of_decisions()
}

/// Whether there is a year at all. All names of a vault are asked whenever the index is written.
fn may_be_dated(folder: &str, stem: &str) -> bool {
    let has_year = |text: &str| {
        let is_year =
            |year: &[u8]| matches!(year[0], b'1' | b'2') && year.iter().all(u8::is_ascii_digit);
        text.as_bytes().windows(4).any(is_year)
    };
    let may_be_day = || position(stem.as_bytes(), |byte| byte.is_ascii_digit()) == Some(0);
    has_year(stem) || may_be_day() && has_year(folder)
}

/// Whether a name begins or ends with a date.
fn has_date(parts: &[Part<'_>]) -> bool {
    (0..parts.len()).any(|at| {
        date_length(&parts[at..])
            .is_some_and(|length| at == 0 || !parts[at + length..].iter().any(is_telling))
    })
}

/// Whether a name is a day in folders of a year and a month: `2026/01/31`.
fn is_day_of_folders(folder: &str, parts: &[Part<'_>]) -> bool {
    let mut folders = folder.rsplit('/').map(|folder| match self::parts(folder)[..] {
        [number @ Part::Number { .. }, ..] => Some(number),
        _ => None,
    });
    let (Some(Some(month)), Some(Some(year))) = (folders.next(), folders.next()) else {
        return false;
    };
    parts.first().is_some_and(|day| is_date(year, month, *day))
        && parts.iter().filter(|part| is_telling(part)).count() <= MOST_WORDS_BEHIND
}

/// How many parts the date has with which these begin.
fn date_length(parts: &[Part<'_>]) -> Option<usize> {
    use Part::{Number, Word};
    match *parts {
        // 20260131
        [Number { value, digits: 8 }, ..] => {
            let part = |value| Number { value, digits: 2 };
            let year = Number { value: value / 10_000, digits: 4 };
            is_date(year, part(value / 100 % 100), part(value % 100)).then_some(1)
        }
        // 2026年1月31日
        [year, Word("年"), month, Word("月"), day, Word("日"), ..] => {
            is_date(year, month, day).then_some(6)
        }
        // 2026-W05
        [year, Word("W" | "w"), Number { value: 1..=53, .. }, ..] => is_year(year).then_some(3),
        // January 31st, 2026, and without the ending of the number
        [Word(month), day, Word(_), year, ..] | [day, Word(_), Word(month), year, ..]
            if is_month(month) && is_day(day) && is_year(year) =>
        {
            Some(4)
        }
        [Word(month), day, year, ..] | [day, Word(month), year, ..]
            if is_month(month) && is_day(day) && is_year(year) =>
        {
            Some(3)
        }
        // 2026-01-31, 31.01.2026, 01-31-2026
        [a, b, c, ..] if is_date(a, b, c) || is_date(c, b, a) || is_date(c, a, b) => Some(3),
        _ => None,
    }
}

fn is_date(year: Part<'_>, month: Part<'_>, day: Part<'_>) -> bool {
    let is_number_of_month = matches!(month, Part::Number { value: 1..=12, digits: 1..=2 });
    is_year(year) && is_number_of_month && is_day(day)
}

fn is_year(part: Part<'_>) -> bool {
    matches!(part, Part::Number { value: 1900..=2099, digits: 4 })
}

fn is_day(part: Part<'_>) -> bool {
    matches!(part, Part::Number { value: 1..=31, digits: 1..=2 })
}

fn is_month(word: &str) -> bool {
    begins_like(word, &MONTHS)
}

/// Whether a part is a word that is not of a calendar.
fn is_telling(part: &Part<'_>) -> bool {
    matches!(part, Part::Word(word) if !begins_like(word, &WEEKDAYS))
}

fn begins_like(word: &str, names: &[&str]) -> bool {
    let word = word.to_lowercase();
    names.iter().any(|name| word.starts_with(name))
}

fn parts(name: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    for word in name.split(|c: char| !c.is_alphanumeric()) {
        let mut rest = word;
        while let Some(first) = rest.chars().next() {
            let is_digit = first.is_ascii_digit();
            let end = rest.find(|c: char| c.is_ascii_digit() != is_digit).unwrap_or(rest.len());
            let part = &rest[..end];
            rest = &rest[end..];
            parts.push(match part.parse() {
                Ok(value) => Part::Number { value, digits: part.len() },
                Err(_) => Part::Word(part),
            });
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_in_many_forms_are_names() {
        for dated in [
            "2026-01-31",
            "log_20260131",
            "2026_01_31 notes",
            "a.2026.01.31",
            "日2026-01-31",
            "2026-1-5",
            "31.01.2026",
            "01-31-2026",
            "2026年1月31日",
            "2026-W05",
            "Jan 5th, 2026",
            "January 5, 2026",
            "5 January 2026",
            "2025-11-27-afternoon",
            "2025-04-14-1",
            "Friday 2026-01-30",
            "2026-01-30 Fri notes",
            "changelog.release.2021-02-15",
            "2026-05-24_opencode-integration-audit",
        ] {
            assert!(is_dated("", dated), "{dated}");
        }
        assert!(is_dated("journal/2026/01", "31") && is_dated("2026/01", "05 Monday"));
        for undated in [
            "2026",
            "1234-56-78",
            "2026-21-01",
            "2026-01-41",
            "v20.26",
            "",
            "20",
            "2026-01",
            "99999999999-1",
            "Chapter 1 2 2026 and more",
            "May 2026",
        ] {
            assert!(!is_dated("", undated), "{undated}");
        }
        assert!(!is_dated("docs/adr", "2026-01-31") && !is_dated("", "rfc-2026-01-31"));
        assert!(!is_dated("guide/01", "31") && !is_dated("2026/13", "31"));
    }
}
