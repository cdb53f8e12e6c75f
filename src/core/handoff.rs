//! A handoff: what one session leaves for the next. Knows no file and no database.

pub mod choice;
pub mod conversation;
pub mod document;
pub mod ending;
pub mod expiry;
pub mod foreign;
pub mod life;
pub mod pickup;
pub mod record;
pub mod section;

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::core::named::named;
use crate::core::time::{Timespan, Timestamp};

/// So many characters of a session's id are part of a handoff's.
const PREFIX_CHARS: usize = 8;
/// What stands there for a handoff that no session wrote.
const NO_SESSION: &str = "nosess";
/// No id is longer.
const MAX_ID_BYTES: usize = 64;

/// The name of a handoff, fit for a file name: `HO-20260131-120000-c74cc080`, or a foreign one by its time,
/// `2026-01-31_12-00-00`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HandoffId(String);

/// A text that is no handoff's id.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "{0:?} is not the id of a handoff; ids look like HO-20260131-120000-c74cc080: `kgctx handoff list` shows them"
)]
pub struct NoHandoffId(String);

impl HandoffId {
    /// Makes the `nth` id (from 1) of a second and a session.
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

    /// Takes an id as somebody wrote it. Whatever is taken can stand in a path.
    pub fn parse(text: &str) -> Result<HandoffId, NoHandoffId> {
        let fits = |text: &str, pattern: &str| {
            text.len() == pattern.len()
                && text.bytes().zip(pattern.bytes()).all(|(byte, wanted)| match wanted {
                    b'0' => byte.is_ascii_digit(),
                    wanted => byte == wanted,
                })
        };
        const OWN: &str = "HO-00000000-000000-";
        let is_own = text.is_char_boundary(OWN.len())
            && fits(text.get(..OWN.len()).unwrap_or_default(), OWN)
            && text.len() > OWN.len()
            && text.len() <= MAX_ID_BYTES
            && text[OWN.len()..].bytes().all(|byte| byte.is_ascii_alphanumeric());
        if is_own || fits(text, "0000-00-00_00-00-00") {
            Ok(HandoffId(text.to_owned()))
        } else {
            Err(NoHandoffId(text.to_owned()))
        }
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for HandoffId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl From<HandoffId> for String {
    fn from(id: HandoffId) -> String {
        id.0
    }
}

impl TryFrom<String> for HandoffId {
    type Error = NoHandoffId;

    fn try_from(text: String) -> Result<HandoffId, NoHandoffId> {
        HandoffId::parse(&text)
    }
}

/// A name out of a fixed set, as it is written; a foreign one is kept as it is, where that does no harm.
macro_rules! names {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal),+ $(,)? } other $other:ident) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(from = "String", into = "String")]
        pub enum $name {
            $($(#[$doc])* $variant,)+
            /// A name of another version.
            $other(String),
        }

        impl $name {
            /// The name as it is written.
            pub fn as_str(&self) -> &str {
                match self {
                    $($name::$variant => $text,)+
                    $name::$other(name) => name,
                }
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> $name {
                match text.as_str() {
                    $($text => $name::$variant,)+
                    _ => $name::$other(text),
                }
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> String {
                name.as_str().to_owned()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

names! {
    /// How a handoff came about. It decides when it is too old.
    Occasion {
        /// Written by a hook, because the host was about to forget.
        Auto = "auto",
        /// Written on purpose.
        Manual = "manual",
        /// Written on purpose, to say good-bye.
        Bye = "bye",
        /// Written when its session had ended.
        End = "end",
        /// Written so that a fresh session can go on at once.
        Rotation = "rotation",
    } other Other
}

names! {
    /// Where a handoff is in its life.
    Status {
        /// Its document is being written.
        Draft = "draft",
        /// It waits.
        Active = "active",
        /// Somebody is taking it, or works on it.
        Claimed = "claimed",
        /// A session has it.
        Consumed = "consumed",
        /// It was too old when somebody came.
        Expired = "expired",
        /// It was put away.
        Cleared = "cleared",
    } other Other
}

impl Occasion {
    /// How long a handoff of this kind waits; `None` for ever.
    pub fn lifetime(&self) -> Option<Timespan> {
        match self {
            Occasion::Auto | Occasion::Rotation => Some(Timespan::from_hours(2)),
            Occasion::End => Some(Timespan::from_hours(7 * 24)),
            Occasion::Manual | Occasion::Bye | Occasion::Other(_) => None,
        }
    }

    /// What becomes of it when a session has it, unless its document says so.
    pub fn consume(&self) -> Consume {
        match self {
            Occasion::End => Consume::Sticky,
            _ => Consume::Once,
        }
    }
}

/// Whom a handoff is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The next session, which is given it by itself. One at a time waits.
    #[default]
    Session,
    /// Whoever picks it up. Many wait, by their priority.
    Task,
}

/// What becomes of a handoff when a session has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Consume {
    /// It is done with.
    Once,
    /// It is there for further sessions, until there is a newer one or it is too old.
    Sticky,
}

/// How urgent a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    /// First.
    High,
    /// As most.
    #[default]
    Medium,
    /// Last.
    Low,
}

named!(Kind { Session = "session", Task = "task" });
named!(Consume { Once = "once", Sticky = "sticky" });
named!(Priority { High = "high", Medium = "medium", Low = "low" });

/// A handoff's document: a head of facts, and markdown.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Document {
    /// The front matter.
    pub head: Head,
    /// What was left, in the author's words.
    pub body: String,
}

/// The facts at the head of a document.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Head {
    /// `id`
    pub id: Option<String>,
    /// `kind`
    pub kind: Kind,
    /// `type`
    pub occasion: Option<Occasion>,
    /// `channel`
    pub channel: Option<String>,
    /// `session_id` or `agent_session_id`: who wrote it.
    pub session_id: Option<String>,
    /// `created_at` or `timestamp`
    pub created_at: Option<Timestamp>,
    /// `expires_at`
    pub expires_at: Option<Timestamp>,
    /// `consume`
    pub consume: Option<Consume>,
    /// `priority`
    pub priority: Priority,
    /// `goal`
    pub goal: Option<String>,
    /// `next_step`
    pub next_step: Option<String>,
    /// `git_ref` or `branch`
    pub git_ref: Option<String>,
    /// `working_dir` or `working_directory`: advice, never used to find anything.
    pub working_dir: Option<String>,
    /// `source_id`: the id that it had elsewhere.
    pub source_id: Option<String>,
    /// `tags`
    pub tags: Vec<String>,
    /// `specs`: files to be read first.
    pub specs: Vec<String>,
    /// `files`: files to be read then.
    pub files: Vec<String>,
    /// `files_changed`
    pub files_changed: Vec<String>,
    /// Every other key, in its order.
    pub other: Vec<(String, serde_json::Value)>,
}

/// A file that a handoff lists, as it was found just now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedFile {
    /// As it was listed.
    pub path: String,
    /// What was found there.
    #[serde(flatten)]
    pub found: FoundFile,
}

/// What was found where a handoff lists a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "found")]
pub enum FoundFile {
    /// A text, or the first of it.
    Text {
        /// What was read, ending at a character's border.
        text: String,
        /// How many bytes the file has.
        total: u64,
    },
    /// Nothing.
    Missing,
    /// Something that cannot be shown.
    Unreadable {
        /// Why not.
        why: String,
    },
    /// A text for which there was no room left.
    NoRoom {
        /// How many bytes the file has.
        total: u64,
    },
}

/// What a context says about handoffs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HandoffSection {
    /// The one that the session is given.
    Handoff(Box<Handoff>),
    /// Why it is given none that is there.
    Remark(String),
}

/// A handoff as it goes into a context: nothing in it can harm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handoff {
    /// Its name in the store.
    pub id: String,
    /// What stands between the banner and the body, a line each.
    pub facts: Vec<String>,
    /// Markdown, in sections.
    pub body: String,
    /// What becomes of it now.
    pub remark: String,
    /// The files that it lists, as they are now.
    pub files: Vec<ListedFile>,
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

    #[test]
    fn a_1_4_names_of_other_versions_are_kept() {
        //
        for name in ["active", "claimed", "consumed", "expired", "cleared", "draft", "later"] {
            let status = Status::from(name.to_owned());
            assert_eq!(status.as_str(), name);
            assert_eq!(matches!(status, Status::Other(_)), name == "later");
        }
        for name in ["auto", "manual", "bye", "end", "rotation", "else"] {
            assert_eq!(Occasion::from(name.to_owned()).as_str(), name);
        }
    }
}
