//! A handoff: what one session leaves for the next. Knows no file and no database.

pub mod choice;
pub mod conversation;
pub mod document;
pub mod ending;
pub mod expiry;
pub mod foreign;
mod id;
pub mod life;
pub mod pickup;
pub mod record;
pub mod section;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use crate::core::handoff::id::{HandoffId, NoHandoffId};
use crate::core::named::named;
use crate::core::time::{Timespan, Timestamp};

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
