//! A handoff: what one session leaves for the next. Uses no file and no database.

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
pub mod tool;
pub mod work;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use crate::core::handoff::id::{HandoffId, NoHandoffId, TypedId};
use crate::core::named::named;
use crate::core::time::{Timespan, Timestamp};

/// An enum of fixed names, as they are written in documents. A name of another version is kept verbatim.
macro_rules! names {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal),+ $(,)? } other $other:ident) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(from = "String", into = "String")]
        pub enum $name {
            $($(#[$doc])* $variant,)+
            /// A name from another version, kept verbatim.
            $other(String),
        }

        impl $name {
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
    /// Why a handoff was written. It decides the lifetime.
    Occasion {
        /// By a hook, because the host was about to drop its context.
        Auto = "auto",
        /// On purpose.
        Manual = "manual",
        /// On purpose, at the end of the work.
        Bye = "bye",
        /// After its session had ended.
        End = "end",
        /// So that a fresh session can continue at once.
        Rotation = "rotation",
    } other Other
}

names! {
    /// The state of a handoff.
    Status {
        /// Its document is being written.
        Draft = "draft",
        /// It waits for a session.
        Active = "active",
        /// A session is picking it up or working on it.
        Claimed = "claimed",
        /// A session has received it.
        Consumed = "consumed",
        /// It was too old when a session asked for it.
        Expired = "expired",
        /// It was removed from the queue.
        Cleared = "cleared",
    } other Other
}

impl Occasion {
    /// How long a handoff of this kind waits; `None` for no limit.
    pub fn lifetime(&self) -> Option<Timespan> {
        match self {
            Occasion::Auto | Occasion::Rotation => Some(Timespan::from_hours(2)),
            Occasion::End => Some(Timespan::from_hours(7 * 24)),
            Occasion::Manual | Occasion::Bye | Occasion::Other(_) => None,
        }
    }

    /// The default of `consume` if the document does not set it.
    pub fn consume(&self) -> Consume {
        match self {
            Occasion::End => Consume::Sticky,
            _ => Consume::Once,
        }
    }
}

/// The intended recipient of a handoff.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The next session, which receives it automatically. Only one waits at a time.
    #[default]
    Session,
    /// Any session that picks it up. Several can wait, ordered by priority.
    Task,
}

/// What happens to a handoff after a session has received it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Consume {
    /// No further session receives it.
    Once,
    /// Further sessions receive it, until a newer one exists or it is too old.
    Sticky,
}

/// The sessions that receive a handoff automatically. Any session can pick it up. The larger one includes the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Audience {
    /// Only sessions in which a person takes part.
    #[default]
    Interactive,
    /// Scripted sessions, too.
    Any,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    High,
    #[default]
    Medium,
    Low,
}

named!(Kind { Session = "session", Task = "task" });
named!(Consume { Once = "once", Sticky = "sticky" });
named!(Audience { Interactive = "interactive", Any = "any" });
named!(Priority { High = "high", Medium = "medium", Low = "low" });

/// A handoff's document: front matter and a markdown body.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Document {
    pub head: Head,
    /// The author's text, unchanged.
    pub body: String,
}

/// The front matter of a document. Each field names its key, and its aliases.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Head {
    /// `id`
    pub id: Option<String>,
    /// `kind`
    pub kind: Kind,
    /// `type`
    #[serde(rename = "type")]
    pub occasion: Option<Occasion>,
    /// `channel`
    pub channel: Option<String>,
    /// `session_id` or `agent_session_id`: the author.
    pub session_id: Option<String>,
    /// `created_at` or `timestamp`
    #[serde(serialize_with = "document::exactly")]
    pub created_at: Option<Timestamp>,
    /// `expires_at`
    #[serde(serialize_with = "document::exactly")]
    pub expires_at: Option<Timestamp>,
    /// `consume`
    pub consume: Option<Consume>,
    /// `audience`
    pub audience: Option<Audience>,
    /// `priority`
    pub priority: Priority,
    /// `goal`
    pub goal: Option<String>,
    /// `next_step`
    pub next_step: Option<String>,
    /// `git_ref` or `branch`
    pub git_ref: Option<String>,
    /// `working_dir` or `working_directory`: informative, never used to resolve a path.
    pub working_dir: Option<String>,
    /// `source_id`: the id in another system.
    pub source_id: Option<String>,
    /// `tags`
    pub tags: Vec<String>,
    /// `specs`: files to read first.
    pub specs: Vec<String>,
    /// `files`: files to read next.
    pub files: Vec<String>,
    /// `files_changed`
    pub files_changed: Vec<String>,
    /// All other keys, in document order.
    #[serde(skip)]
    pub other: Vec<(String, serde_json::Value)>,
}

/// A file that a handoff lists, with its current content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedFile {
    /// The path as listed.
    pub path: String,
    #[serde(flatten)]
    pub found: FoundFile,
}

/// The result of reading a listed file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "found")]
pub enum FoundFile {
    /// A text file, or the beginning of one.
    Text {
        /// The text read so far, cut at a character boundary.
        text: String,
        /// The size of the file in bytes.
        total: u64,
    },
    Missing,
    /// A file that cannot be shown.
    Unreadable {
        why: String,
    },
    /// A text file that did not fit.
    NoRoom {
        /// The size of the file in bytes.
        total: u64,
    },
}

impl ListedFile {
    /// Changes the text that was read. A whole text stays whole.
    pub fn map_text(mut self, change: impl FnOnce(&str) -> String) -> ListedFile {
        if let FoundFile::Text { text, total } = &mut self.found {
            let is_whole = text.len() as u64 >= *total;
            *text = change(text);
            *total = if is_whole { text.len() as u64 } else { *total };
        }
        self
    }
}

/// The handoff part of a context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HandoffSection {
    /// The handoff that the session receives.
    Handoff(Box<Handoff>),
    /// Why the session receives no handoff although one exists.
    Remark(String),
}

/// A handoff in a context, with all text sanitized for a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handoff {
    /// The id in the store.
    pub id: String,
    /// The lines between the banner and the body.
    pub facts: Vec<String>,
    /// Markdown, in sections.
    pub body: String,
    /// What happens to the handoff now.
    pub remark: String,
    /// The line about the tasks that wait, which gives way to the handoff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<String>,
    /// The listed files, with their current content.
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
