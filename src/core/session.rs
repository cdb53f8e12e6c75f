//! A session of a host: at which moments it is given context, and how. Knows no host's JSON.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::core::named::named;

/// A moment of a session at which it is given context: once each.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Moment {
    #[default]
    Start,
    /// After the host replaced the conversation, and our context with it, by a summary. Named by the message that marks it.
    Compaction(String),
    /// When it is taken up again and something was left for it meanwhile. Named by the handoff.
    Handoff(String),
}

const COMPACTION: &str = "compaction:";
const HANDOFF: &str = "handoff:";

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Moment::Start => f.write_str("start"),
            Moment::Compaction(message) => write!(f, "{COMPACTION}{message}"),
            Moment::Handoff(id) => write!(f, "{HANDOFF}{id}"),
        }
    }
}

impl From<Moment> for String {
    fn from(moment: Moment) -> String {
        moment.to_string()
    }
}

impl TryFrom<String> for Moment {
    type Error = String;

    fn try_from(text: String) -> Result<Moment, String> {
        if text == "start" {
            return Ok(Moment::Start);
        }
        if let Some(message) = text.strip_prefix(COMPACTION) {
            return Ok(Moment::Compaction(message.to_owned()));
        }
        match text.strip_prefix(HANDOFF) {
            Some(id) => Ok(Moment::Handoff(id.to_owned())),
            None => Err(format!("{text:?} is no moment of a session")),
        }
    }
}

/// Which way a bridge gives a context to its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Delivery {
    /// An idle session gets a message of its own; a prompt that is there first takes the context along.
    #[default]
    Auto,
    /// Always a message of its own, to which the model does not reply.
    NoReply,
    /// Always a part of the first prompt.
    Part,
}

named!(Delivery { Auto = "auto", NoReply = "noreply", Part = "part" });

/// How a person hears of an injection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Announcement {
    /// By a short message on the screen.
    #[default]
    Toast,
    /// By a line in the host's log.
    Log,
    Off,
}

named!(Announcement { Toast = "toast", Log = "log", Off = "off" });

/// What is stored of a session that concerns us, in the order of its messages.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stored {
    /// How many messages there are, as far as they were looked at.
    pub n_messages: usize,
    /// Whether all of them were looked at.
    pub is_complete: bool,
    /// What was found in them.
    pub marks: Vec<Mark>,
}

/// A message that concerns us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mark {
    /// It carries a context of ours.
    Context,
    Compaction(String),
}

/// Which sessions get a context at their start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Recipients {
    /// Only those without a prompt: others had begun before we came.
    Unprompted,
    /// All that surely have none, prompted or not.
    All,
}

impl Stored {
    /// The moment that this session is at and for which it lacks context; `None` where it has what it needs, is not among
    /// the recipients, or may have it further back than was looked.
    pub fn lacking(&self, to: Recipients) -> Option<Moment> {
        match self.marks.last() {
            Some(Mark::Context) => None,
            Some(Mark::Compaction(message)) => Some(Moment::Compaction(message.clone())),
            None if self.n_messages == 0 => Some(Moment::Start),
            None if to == Recipients::All && self.is_complete => Some(Moment::Start),
            None => None,
        }
    }

    /// Whether the last that concerns us is a context of ours.
    pub fn has_context(&self) -> bool {
        self.marks.last() == Some(&Mark::Context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_survives_being_written_down() {
        let later = Moment::Handoff("HO-1".to_owned());
        for moment in [Moment::Start, Moment::Compaction("msg_1".to_owned()), later] {
            assert_eq!(Moment::try_from(moment.to_string()), Ok(moment));
        }
        assert!(Moment::try_from("later".to_owned()).is_err());
    }

    #[test]
    fn what_a_session_lacks_is_told_by_its_last_mark() {
        let compaction = |n: u32| Mark::Compaction(format!("msg_{n}"));
        let after = |n: u32| Some(Moment::Compaction(format!("msg_{n}")));
        let (unprompted, all) = (Recipients::Unprompted, Recipients::All);
        for (n_messages, marks, to, lacking) in [
            (0, vec![], unprompted, Some(Moment::Start)),
            (4, vec![], unprompted, None),
            (4, vec![], all, Some(Moment::Start)),
            (1, vec![Mark::Context], unprompted, None),
            (4, vec![Mark::Context], all, None),
            (6, vec![Mark::Context, compaction(1)], unprompted, after(1)),
            (6, vec![compaction(1)], unprompted, after(1)),
            (8, vec![Mark::Context, compaction(1), Mark::Context], all, None),
            (9, vec![Mark::Context, compaction(1), Mark::Context, compaction(2)], all, after(2)),
        ] {
            let stored = Stored { n_messages, is_complete: true, marks };
            assert_eq!(stored.lacking(to), lacking, "{stored:?}");
        }
        let unseen = Stored { n_messages: 100, is_complete: false, marks: Vec::new() };
        assert_eq!(unseen.lacking(Recipients::All), None);
    }
}
