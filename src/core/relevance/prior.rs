//! The prior of a note: what its name, size and folder tell before it was ever changed.

use crate::core::quote::thinking::Standing;

/// A note of one day, such as a journal page, is rarely needed again.
const DATED: f64 = -1.0;
/// A note of nothing but front matter is a record, and no text to work on.
const EMPTY: f64 = -1.0;
const SIZE: f64 = 0.15;
const DEPTH: f64 = -0.25;
const DEEPEST: usize = 3;
/// What maenifold's tools wrote is as good as a note of a folder. Its own folders and names are dates, and tell nothing.
const THINKING: f64 = DEPTH;
/// Less than a note that changed ten sessions ago has.
const DROPPED: f64 = -3.0;

/// The prior of a note in a folder (`""` for the vault's root) with a body of so many characters, 0 if it has no words.
pub fn prior(folder: &str, name: &str, body_chars: usize) -> f64 {
    let depth = if folder.is_empty() { 0 } else { folder.split('/').count() };
    let dated = if has_date(name) { DATED } else { 0.0 };
    let empty = if body_chars == 0 { EMPTY } else { 0.0 };
    dated
        + empty
        + SIZE * (1.0 + body_chars as f64 / 1_000.0).ln()
        + DEPTH * depth.min(DEEPEST) as f64
}

/// The prior of a session, a workflow or an assumption of maenifold's that says so many characters.
pub fn prior_of_thinking(standing: &Standing, chars: usize) -> f64 {
    let dropped = if *standing == Standing::Dropped { DROPPED } else { 0.0 };
    dropped + THINKING + SIZE * (1.0 + chars as f64 / 1_000.0).ln()
}

/// Whether a name holds a date: `2026-01-31`, also with `_`, `.` or nothing between its parts.
fn has_date(name: &str) -> bool {
    (0..name.len()).any(|at| starts_with_date(&name.as_bytes()[at..]))
}

fn starts_with_date(bytes: &[u8]) -> bool {
    let is_digits = |from: usize, n: usize| {
        bytes.get(from..from + n).is_some_and(|part| part.iter().all(u8::is_ascii_digit))
    };
    let separator = |at: usize| usize::from(matches!(bytes.get(at), Some(b'-' | b'_' | b'.')));
    if !(bytes.starts_with(b"19") || bytes.starts_with(b"20")) || !is_digits(2, 2) {
        return false;
    }
    let month = 4 + separator(4);
    if !is_digits(month, 2) || bytes[month] > b'1' {
        return false;
    }
    let day = month + 2 + separator(month + 2);
    is_digits(day, 2) && bytes[day] <= b'3'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_found_in_names() {
        for dated in
            ["2026-01-31.md", "log_20260131", "2026_01_31 notes.md", "a.2026.01.31", "日2026-01-31"]
        {
            assert!(has_date(dated), "{dated}");
        }
        for undated in ["2026", "1234-56-78", "2026-21-01", "2026-01-41", "v20.26", "", "20"] {
            assert!(!has_date(undated), "{undated}");
        }
    }

    #[test]
    fn shallow_long_and_undated_notes_come_first() {
        assert!(prior("", "a.md", 0) > prior("x", "a.md", 0));
        assert_eq!(prior("a/b/c", "a.md", 0), prior("a/b/c/d/e", "a.md", 0));
        assert!(prior("", "a.md", 5_000) > prior("", "a.md", 100));
        assert!(prior("", "plan.md", 9) > prior("", "2026-01-31.md", 9));
        assert!(prior("x", "short.md", 1) > prior("", "record.md", 0));
    }
}
