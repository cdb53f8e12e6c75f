//! A session of a host: when it receives context, and how. Independent of any host's JSON.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::core::named::named;

/// A moment at which a session receives context, once per moment.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Moment {
    #[default]
    Start,
    /// After the host replaced the conversation, including our context, by a summary. Identified by the message that
    /// marks it.
    Compaction(String),
    /// When a session is resumed and a handoff was left for it meanwhile. Identified by the handoff.
    Handoff(String),
    /// At the first prompt, if the context went out before it: the session then receives a supplement.
    Prompt,
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Moment::Start => f.write_str("start"),
            Moment::Compaction(message) => write!(f, "compaction:{message}"),
            Moment::Handoff(id) => write!(f, "handoff:{id}"),
            Moment::Prompt => f.write_str("prompt"),
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
        match text.split_once(':') {
            None if text == "start" => Ok(Moment::Start),
            None if text == "prompt" => Ok(Moment::Prompt),
            Some(("compaction", message)) => Ok(Moment::Compaction(message.to_owned())),
            Some(("handoff", id)) => Ok(Moment::Handoff(id.to_owned())),
            _ => Err(format!("{text:?} is not a moment of a session")),
        }
    }
}

/// How a bridge adds a context to its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Delivery {
    /// As its own message if the session is idle; as part of the prompt if a prompt comes first.
    #[default]
    Auto,
    /// Always as its own message, to which the model does not reply.
    NoReply,
    /// Always as part of the first prompt.
    Part,
}

named!(Delivery { Auto = "auto", NoReply = "noreply", Part = "part" });

/// How a person is notified of an injection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Announcement {
    /// A short message on the screen.
    #[default]
    Toast,
    /// A line in the host's log.
    Log,
    Off,
}

named!(Announcement { Toast = "toast", Log = "log", Off = "off" });

/// The stored messages of a session, as far as they concern us, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stored {
    /// The number of messages that were examined.
    pub n_messages: usize,
    /// Whether all messages were examined.
    pub is_complete: bool,
    pub marks: Vec<Mark>,
}

/// A message that concerns us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mark {
    /// It carries a context of ours.
    Context,
    Compaction(String),
}

/// Which sessions receive a context at their start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Recipients {
    /// Only sessions without a prompt: the others began before kgctx was present.
    Unprompted,
    /// All sessions that certainly have no context, prompted or not.
    All,
}

impl Stored {
    /// The moment for which this session lacks context; `None` if it has the context, is not a recipient, or may have
    /// the context among the messages that were not examined.
    pub fn lacking(&self, to: Recipients) -> Option<Moment> {
        match self.marks.last() {
            Some(Mark::Context) => None,
            Some(Mark::Compaction(message)) => Some(Moment::Compaction(message.clone())),
            None if self.n_messages == 0 => Some(Moment::Start),
            None if to == Recipients::All && self.is_complete => Some(Moment::Start),
            None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_survives_being_written_down() {
        let later = Moment::Handoff("HO-1".to_owned());
        for moment in [Moment::Start, Moment::Compaction("msg_1".to_owned()), later, Moment::Prompt]
        {
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
