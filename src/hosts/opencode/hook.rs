//! The bridge's requests and the replies to them; `schema/json/hook-opencode.schema.json` describes
//! the replies.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::core::context::receipt::Receipt;
use crate::core::handoff::conversation::{Conversation, Message, Role};
use crate::core::named::Named;
use crate::core::secrets;
use crate::core::session::{Announcement, Delivery, Mark, Moment, Stored};
use crate::hosts::opencode::tools;
use crate::hosts::opencode::wire::{MARK, Session, is_of_context};

/// The version of this protocol. A bridge with another version gets an error. What is only added does not raise it: a bridge
/// asks for what it can do, kgctx answers what it does not know with `none`, and both skip fields that they do not know.
const PROTOCOL: u32 = 1;

// The name in the error is that of earlier versions.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "type", expecting = "internally tagged enum RawEvent")]
pub enum BridgeQuestion {
    /// A session was created: does it get context?
    #[serde(rename = "session.created")]
    Created {
        #[serde(rename = "properties", deserialize_with = "info")]
        session: Session,
    },
    /// A prompt waits in a session that the bridge does not know, or for which the reply was `Ask`.
    #[serde(rename = "chat.message")]
    Prompted {
        #[serde(rename = "info")]
        session: Session,
        /// Whether the bridge saw the session's creation.
        #[serde(default, rename = "created")]
        is_new: bool,
        /// Whether the bridge saw the removal of the message that carried the context, or cannot show the context to
        /// a model.
        #[serde(default, rename = "removed")]
        is_undone: bool,
        #[serde(deserialize_with = "stored")]
        stored: Stored,
        /// What the user asks.
        #[serde(default)]
        prompt: Option<String>,
    },
    /// The first prompt waits, in a session that has the context of this receipt: does a supplement go with it?
    #[serde(rename = "kgctx.prompt")]
    FirstPrompt {
        #[serde(rename = "sessionID")]
        session: String,
        receipt: Option<i64>,
        prompt: String,
    },
    /// A summary is about to replace the conversation of a session.
    #[serde(rename = "session.compacting")]
    Compacting {
        #[serde(rename = "info")]
        session: Session,
        #[serde(rename = "messages", deserialize_with = "said")]
        conversation: Conversation,
        /// The calls of tools; bridges of earlier versions tell none.
        #[serde(default)]
        tools: Vec<Value>,
    },
    /// The model has answered, with so many tokens in its context; `None` right after a compaction.
    #[serde(rename = "kgctx.usage")]
    Used {
        #[serde(rename = "sessionID")]
        session: String,
        #[serde(default)]
        tokens: Option<u64>,
        #[serde(default)]
        model: Option<String>,
        /// The tokens that fit into the context, and those that OpenCode keeps free of them.
        #[serde(default)]
        window: Option<u64>,
        #[serde(default)]
        output: Option<u64>,
        /// Times in milliseconds since 1970: of the answer, and of the last compaction.
        #[serde(default)]
        at: Option<i64>,
        #[serde(default)]
        compacted: Option<i64>,
    },
    /// A session is at rest, after these messages.
    #[serde(rename = "kgctx.rest")]
    Rests {
        #[serde(rename = "info")]
        session: Session,
        #[serde(rename = "messages", deserialize_with = "said")]
        conversation: Conversation,
        /// The calls of tools; bridges of earlier versions tell none.
        #[serde(default)]
        tools: Vec<Value>,
    },
    /// A session that was at rest is over: it was deleted or archived, or nobody has said anything for long.
    #[serde(rename = "kgctx.over")]
    Over {
        #[serde(rename = "sessionID")]
        session: String,
        /// Whether it may still go on.
        #[serde(default, rename = "idle")]
        is_idle: bool,
    },
    /// A session has nothing to do any more.
    #[serde(rename = "session.idle")]
    Idle {
        #[serde(rename = "sessionID")]
        session: String,
    },
    /// The bridge has made the new session of a rotation: which context does it get?
    #[serde(rename = "kgctx.rotated")]
    Rotated {
        token: String,
        #[serde(rename = "properties", deserialize_with = "info")]
        session: Session,
    },
    /// The first prompt of the new session was sent, or there was an error before.
    #[serde(rename = "kgctx.rotation")]
    RotationEnded {
        token: String,
        #[serde(default)]
        error: Option<String>,
    },
    /// A person has typed into a session that began by a rotation.
    #[serde(rename = "kgctx.prompted")]
    PromptedAgain {
        #[serde(rename = "sessionID")]
        session: String,
    },
    /// The context of this receipt is in the session.
    #[serde(rename = "kgctx.delivered")]
    Delivered { receipt: Option<i64> },
    /// The context of this receipt was not used.
    #[serde(rename = "kgctx.released")]
    Released { receipt: Option<i64> },
    /// An event that needs no action.
    #[serde(other)]
    Other,
}

#[derive(Debug, Error)]
pub enum QuestionError {
    #[error("the plugin's question cannot be read: {0}")]
    Broken(#[from] serde_json::Error),
    #[error(
        "the plugin speaks protocol {0}, this kgctx speaks {PROTOCOL}; run `kgctx install opencode` again"
    )]
    Protocol(u32),
}

fn info<'de, D: Deserializer<'de>>(input: D) -> Result<Session, D::Error> {
    #[derive(Deserialize)]
    struct CreatedProperties {
        info: Session,
    }
    Ok(CreatedProperties::deserialize(input)?.info)
}

fn stored<'de, D: Deserializer<'de>>(input: D) -> Result<Stored, D::Error> {
    #[derive(Deserialize)]
    struct RawStored {
        messages: usize,
        complete: bool,
        #[serde(default)]
        marks: Vec<Map<String, Value>>,
    }
    let mark = |mark: &Map<String, Value>| match mark.get(MARK) {
        Some(ours) => is_of_context(ours).then_some(Mark::Context),
        None => Some(Mark::Compaction(mark.get("compaction")?.as_str()?.to_owned())),
    };
    let RawStored { messages, complete, marks } = RawStored::deserialize(input)?;
    let marks = marks.iter().filter_map(mark).collect();
    Ok(Stored { n_messages: messages, is_complete: complete, marks })
}

/// The bridge cuts longer texts there, in UTF-16 units.
const MAX_TEXT_UNITS: usize = 16_000;

/// What was said in a session, as far as the bridge knows it.
fn said<'de, D: Deserializer<'de>>(input: D) -> Result<Conversation, D::Error> {
    #[derive(Deserialize)]
    struct RawSaid {
        role: String,
        text: String,
        /// In milliseconds since 1970.
        at: Option<i64>,
    }
    let mut conversation = Conversation::default();
    for RawSaid { role, mut text, at } in Vec::<RawSaid>::deserialize(input)? {
        let Some(role) = Role::parse(&role) else { continue };
        conversation.began_ms = conversation.began_ms.or(at);
        conversation.last_ms = at.or(conversation.last_ms);
        if text.encode_utf16().count() >= MAX_TEXT_UNITS {
            // The last word may be half a secret, which nobody would know.
            text.truncate(text.rfind(char::is_whitespace).unwrap_or_default());
        }
        secrets::mask_in(&mut text);
        if role == Role::User {
            conversation.turns += 1;
            conversation.opening.get_or_insert_with(|| text.clone());
        }
        if !text.trim().is_empty() {
            conversation.messages.push(Message { role, text });
        }
    }
    Ok(conversation)
}

impl BridgeQuestion {
    pub fn parse(json: &[u8]) -> Result<BridgeQuestion, QuestionError> {
        #[derive(Deserialize)]
        struct Envelope {
            protocol: u32,
            event: BridgeQuestion,
        }
        let Envelope { protocol, mut event } = serde_json::from_slice(json)?;
        if protocol != PROTOCOL {
            return Err(QuestionError::Protocol(protocol));
        }
        if let BridgeQuestion::Compacting { conversation, tools, .. }
        | BridgeQuestion::Rests { conversation, tools, .. } = &mut event
        {
            tools::tell(conversation, &std::mem::take(tools));
        }
        Ok(event)
    }
}

/// The reply to the bridge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "lowercase")]
pub enum BridgeReply {
    None {
        reason: String,
        /// What the user must know.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        notice: Option<BridgeNotice>,
    },
    /// Ask again, at the first prompt at the latest.
    Ask {
        reason: String,
        /// Whether a second question may find more even before the prompt.
        #[serde(default)]
        soon: bool,
    },
    /// Inject this context.
    Inject(Box<BridgeContext>),
    /// Tell the summariser to keep this.
    Keep { text: String },
    /// Tell the model this, beside the result of its next tool.
    Tell { text: String },
    /// Go on in a new session.
    Rotate(BridgeRotation),
}

/// A session that goes on in a new one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BridgeRotation {
    /// With which the bridge tells how far it is.
    pub token: String,
    pub title: String,
    pub prompt: String,
    /// The first prompt if the new session's context never arrives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<String>,
}

impl BridgeReply {
    pub fn none(reason: impl ToString) -> BridgeReply {
        BridgeReply::None { reason: reason.to_string(), notice: None }
    }

    /// Ask again at the first prompt.
    pub fn ask(reason: impl ToString) -> BridgeReply {
        BridgeReply::Ask { reason: reason.to_string(), soon: false }
    }

    /// Ask again soon.
    pub fn ask_soon(reason: impl ToString) -> BridgeReply {
        BridgeReply::Ask { reason: reason.to_string(), soon: true }
    }

    /// Formats the reply as one line of JSON.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        #[derive(Serialize)]
        struct Enveloped<'a> {
            protocol: u32,
            #[serde(flatten)]
            answer: &'a BridgeReply,
        }
        serde_json::to_string(&Enveloped { protocol: PROTOCOL, answer: self })
    }
}

/// A context on its way into a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BridgeContext {
    /// The receipt's id, with which the bridge confirms the delivery; `None` if no receipt could be
    /// written.
    pub receipt: Option<i64>,
    /// The exact text.
    pub text: String,
    pub delivery: Delivery,
    /// Stored beside the text to recognise it later.
    pub metadata: Metadata,
    /// The notice for the user.
    pub notice: Option<BridgeNotice>,
    /// The first prompt of a rotation, if it is another one than that which was told before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
}

/// The metadata of a context, stored under the key `kgctx`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metadata {
    /// The version of this metadata.
    pub v: u32,
    /// The moment of the session that the context is for.
    pub moment: Moment,
    pub receipt: Option<i64>,
    pub tokens: usize,
    pub sha256: String,
}

impl Metadata {
    pub fn of(id: Option<i64>, receipt: &Receipt) -> Metadata {
        Metadata {
            v: 1,
            moment: receipt.moment.clone(),
            receipt: id,
            tokens: receipt.used.tokens,
            sha256: receipt.sha256.clone(),
        }
    }
}

/// What the user sees of an injection, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BridgeNotice {
    #[serde(rename = "as")]
    pub how: Announcement,
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(event: &str) -> BridgeQuestion {
        let json = format!(
            r#"{{"protocol":1,"bridge":"0.1.0","directory":"/p","event":{event},"more":true}}"#
        );
        BridgeQuestion::parse(json.as_bytes()).unwrap()
    }

    #[test]
    fn questions_are_read_as_the_bridge_sends_them() {
        let session = r#"{"id":"ses_1","directory":"/p","title":"t"}"#;
        let created = parse(&format!(
            r#"{{"type":"session.created","properties":{{"sessionID":"ses_1","info":{session}}}}}"#
        ));
        let BridgeQuestion::Created { session: created } = created else { panic!("{created:?}") };
        assert_eq!(created.directory, "/p");
        let asked = parse(&format!(
            r#"{{"type":"chat.message","sessionID":"ses_1","created":true,"info":{session},"prompt":"Why?","stored":{{"messages":7,
               "complete":false,"marks":[{{"kgctx":{{"v":9}}}},{{"kgctx":{{"v":9,"moment":"prompt"}}}},{{"compaction":"msg_2"}},{{"else":1}}]}}}}"#
        ));
        let marks = vec![Mark::Context, Mark::Compaction("msg_2".to_owned())];
        let stored = Stored { n_messages: 7, is_complete: false, marks };
        let session = created;
        let (is_new, is_undone, prompt) = (true, false, Some("Why?".to_owned()));
        assert_eq!(asked, BridgeQuestion::Prompted { session, is_new, is_undone, stored, prompt });
        let first = r#"{"type":"kgctx.prompt","sessionID":"ses_1","receipt":7,"prompt":"Why?"}"#;
        let (receipt, prompt) = (Some(7), "Why?".to_owned());
        let expected = BridgeQuestion::FirstPrompt { session: "ses_1".to_owned(), receipt, prompt };
        assert_eq!(parse(first), expected);
        let settled = r#"{"type":"kgctx.delivered","sessionID":"s","receipt":7,"how":"part"}"#;
        assert_eq!(parse(settled), BridgeQuestion::Delivered { receipt: Some(7) });
        for unwritten in
            [r#"{"type":"kgctx.released","receipt":null}"#, r#"{"type":"kgctx.released"}"#]
        {
            assert_eq!(parse(unwritten), BridgeQuestion::Released { receipt: None });
        }
        assert_eq!(parse(r#"{"type":"message.updated","properties":{}}"#), BridgeQuestion::Other);
    }

    #[test]
    fn what_was_said_before_a_compaction_is_read_as_the_bridge_sends_it() {
        let long = format!("{} ghp_half", "x".repeat(MAX_TEXT_UNITS - 9));
        let event = serde_json::json!({"type": "session.compacting", "info": {"id": "ses_1", "directory": "/p"},
            "messages": [{"role": "user", "text": "Why?", "at": 5}, {"role": "assistant", "text": long, "at": 7},
                {"role": "user", "text": ""}, {"role": "moon", "text": "x"}]});
        let BridgeQuestion::Compacting { session, conversation, .. } = parse(&event.to_string())
        else {
            panic!()
        };
        assert_eq!((session.id.as_str(), conversation.turns), ("ses_1", 2));
        assert_eq!((conversation.began_ms, conversation.last_ms), (Some(5), Some(7)));
        assert_eq!(conversation.opening.as_deref(), Some("Why?"));
        let [_, answer] = conversation.messages.as_slice() else { panic!("{conversation:?}") };
        assert!(
            answer.text.ends_with("xx") && !answer.text.contains("ghp"),
            "{}",
            answer.text.len()
        );
    }

    #[test]
    fn a_bridge_that_is_older_or_newer_within_the_protocol_is_understood() {
        // One from before rotations tells fewer fields and events.
        let session = r#"{"id":"ses_1","directory":"/p"}"#;
        let rest = format!(r#"{{"type":"kgctx.rest","info":{session},"messages":[]}}"#);
        assert!(matches!(parse(&rest), BridgeQuestion::Rests { .. }));
        let used = r#"{"type":"kgctx.usage","sessionID":"ses_1"}"#;
        assert!(matches!(parse(used), BridgeQuestion::Used { tokens: None, window: None, .. }));
        // One from the future tells more of both.
        assert_eq!(parse(r#"{"type":"kgctx.moon","sessionID":7}"#), BridgeQuestion::Other);
        let idle = r#"{"type":"session.idle","sessionID":"ses_1","moon":{"full":true}}"#;
        assert_eq!(parse(idle), BridgeQuestion::Idle { session: "ses_1".to_owned() });
    }

    #[test]
    fn a_bridge_of_another_version_is_told_what_to_do() {
        let error = BridgeQuestion::parse(br#"{"protocol":2,"event":{"type":"x"}}"#).unwrap_err();
        assert!(error.to_string().contains("kgctx install opencode"), "{error}");
        for broken in ["", "[]", "{}", "{\"protocol\":1}", "\u{0}"] {
            assert!(BridgeQuestion::parse(broken.as_bytes()).is_err(), "{broken:?}");
        }
    }

    #[test]
    fn answers_name_their_protocol() {
        let json = BridgeReply::none("why").to_json().unwrap();
        assert_eq!(json, r#"{"protocol":1,"action":"none","reason":"why"}"#);
    }
}
