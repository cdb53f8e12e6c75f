//! The id of a handoff.

use std::fmt;

use serde::Serialize;
use thiserror::Error;

use crate::core::time::Timestamp;

/// The number of characters of the session's id in a handoff's id.
const PREFIX_CHARS: usize = 8;
/// Replaces the session's id if no session wrote the handoff.
const NO_SESSION: &str = "nosess";
const MAX_ID_BYTES: usize = 64;

/// The id of a handoff, safe as a file name: `HO-20260131-120000-c74cc080`, or the time-based id of another program,
/// `2026-01-31_12-00-00`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct HandoffId(String);

#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "{0:?} is not the id of a handoff; ids look like HO-20260131-120000-c74cc080: `kgctx handoff list` shows them"
)]
pub struct NoHandoffId(String);

impl HandoffId {
    /// The `nth` id (from 1) for a session within one second.
    pub fn new(created: Timestamp, session: Option<&str>, nth: u32) -> HandoffId {
        let digits: String = created.to_string().chars().filter(char::is_ascii_digit).collect();
        let (date, time) = digits.split_at(digits.len().min(8));
        let session = session.unwrap_or_default().chars();
        let mut prefix: String =
            session.filter(char::is_ascii_alphanumeric).take(PREFIX_CHARS).collect();
        if prefix.is_empty() {
            prefix = NO_SESSION.to_owned();
        }
        let suffix = if nth > 1 { format!("x{nth}") } else { String::new() };
        HandoffId(format!("HO-{date}-{time}-{prefix}{suffix}"))
    }

    /// Parses an id. Every id is safe as part of a path.
    pub fn parse(text: &str) -> Result<HandoffId, NoHandoffId> {
        let fits = |text: &str, pattern: &str| {
            text.len() == pattern.len()
                && text.bytes().zip(pattern.bytes()).all(|(byte, wanted)| match wanted {
                    b'0' => byte.is_ascii_digit(),
                    wanted => byte == wanted,
                })
        };
        const OWN: &str = "HO-00000000-000000-";
        let is_own = text.split_at_checked(OWN.len()).is_some_and(|(time, session)| {
            let is_session = session.bytes().all(|byte| byte.is_ascii_alphanumeric());
            fits(time, OWN) && is_session && !session.is_empty() && text.len() <= MAX_ID_BYTES
        });
        if is_own || fits(text, "0000-00-00_00-00-00") {
            Ok(HandoffId(text.to_owned()))
        } else {
            Err(NoHandoffId(text.to_owned()))
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// An id as it is typed: in any case, and perhaps only its beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypedId(String);

impl TypedId {
    pub fn parse(text: &str) -> Result<TypedId, NoHandoffId> {
        // What any id would need behind this beginning.
        const ENDS: [&str; 2] = ["HO-00000000-000000-0", "0000-00-00_00-00-00"];
        let upper = text.get(..3).map(|start| start.to_ascii_uppercase() + &text[3..]);
        let typed = upper.unwrap_or_else(|| text.to_ascii_uppercase());
        let is_beginning = |whole: &str| {
            let rest = whole.get(typed.len()..).unwrap_or_default();
            HandoffId::parse(&format!("{typed}{rest}")).is_ok()
        };
        match !text.is_empty() && ENDS.into_iter().any(is_beginning) {
            true => Ok(TypedId(text.to_owned())),
            false => Err(NoHandoffId(text.to_owned())),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Those of the ids that are meant: the whole id, else all that begin like this.
    pub fn among<'i>(&self, ids: &'i [HandoffId]) -> Vec<&'i HandoffId> {
        let begins = |id: &&HandoffId| {
            let start = id.0.get(..self.0.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(&self.0))
        };
        let found: Vec<&HandoffId> = ids.iter().filter(begins).collect();
        let is_exact = |id: &&&HandoffId| id.0 == self.0;
        let is_whole = |id: &&&HandoffId| id.0.len() == self.0.len();
        let whole = found.iter().find(is_exact).or_else(|| found.iter().find(is_whole));
        whole.map_or_else(|| found.clone(), |id| vec![*id])
    }
}

impl fmt::Display for HandoffId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_1_1_an_id_has_time_and_session() {
        //
        let at = Timestamp::parse("2026-02-02T08:45:30+02:00").unwrap();
        let id = |session, nth| HandoffId::new(at, session, nth).to_string();
        assert_eq!(id(Some("c74cc080-94b9-4841"), 1), "HO-20260202-064530-c74cc080");
        assert_eq!(id(Some("ses_0a!b"), 1), "HO-20260202-064530-ses0ab");
        assert_eq!(id(Some("–/…"), 1), "HO-20260202-064530-nosess");
        assert_eq!(id(None, 3), "HO-20260202-064530-nosessx3");
        for nth in [1, 2, 50] {
            assert!(HandoffId::parse(&id(Some("c74cc080"), nth)).is_ok());
        }
    }

    #[test]
    fn an_id_is_typed_in_any_case_and_by_its_beginning() {
        let ids = ["HO-20260202-064530-ab", "HO-20260202-064530-abx2", "HO-20260203-000000-cd"];
        let ids = [&ids[..], &["2026-01-13_08-01-05"]].concat();
        let ids: Vec<HandoffId> = ids.iter().map(|id| HandoffId::parse(id).unwrap()).collect();
        for (typed, expect) in [
            ("HO-20260202-064530-ab", &[0][..]),
            ("ho-20260202-064530-AB", &[0]),
            ("ho-20260202-064530-abX", &[1]),
            ("ho-20260203", &[2]),
            ("Ho-20260202", &[0, 1]),
            ("h", &[0, 1, 2]),
            ("2026-01", &[3]),
            ("2026-01-13_08-01-05", &[3]),
            ("HO-2027", &[]),
        ] {
            let found = TypedId::parse(typed).unwrap().among(&ids);
            let expect: Vec<&HandoffId> = expect.iter().map(|&n| &ids[n]).collect();
            assert_eq!(found, expect, "{typed}");
        }
        for wrong in
            ["", "x", "HO_", "HO-2026-", "HO-20260202-064530-a/b", "../HO-2026", "２0", "ß", "hoß"]
        {
            assert!(TypedId::parse(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn p_3_31_nothing_else_is_an_id() {
        // P-3.31
        assert!(HandoffId::parse("2026-01-13_08-01-05").is_ok());
        for wrong in [
            "",
            "HO-",
            "HO-20260202-064530-",
            "HO-20260202-064530-a/b",
            "HO-20260202-064530-a.b",
            "../HO-20260202-064530-a",
            "HO-20260202-064530-\0",
            "HO-2026020x-064530-a",
            "ho-20260202-064530-a",
            "2026-01-13_08-01-05.md",
            "２026-01-13_08-01-05",
            "HO-20260202-06453ß-a",
            &format!("HO-20260202-064530-{}", "a".repeat(4_096)),
        ] {
            assert!(HandoffId::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
