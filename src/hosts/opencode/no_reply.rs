//! A message that the model reads but does not answer.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::Value;

use super::wire::{MARK, Session, SessionModel};

/// A message to store in a session: hidden from the user; the model reads it with the next prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct NoReply {
    pub text: String,
    /// The session's agent. Without it, OpenCode switches the session to the default agent.
    pub agent: Option<String>,
    /// The session's model and variant. OpenCode stores any model, even one that it does not have;
    /// the next prompt would then fail.
    pub model: Option<SessionModel>,
    /// Stored beside the text; `wire::Part::mark` reads it.
    pub mark: Value,
}

impl NoReply {
    /// Keeps the session's agent and model.
    pub fn echoing(session: &Session, text: String, mark: Value) -> NoReply {
        NoReply { text, agent: session.agent.clone(), model: session.model.clone(), mark }
    }
}

/// The body of `POST /session/{id}/message`.
impl Serialize for NoReply {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut prompt = serializer.serialize_map(None)?;
        prompt.serialize_entry("noReply", &true)?;
        if let Some(agent) = &self.agent {
            prompt.serialize_entry("agent", agent)?;
        }
        if let Some(SessionModel { id, provider_id, variant }) = &self.model {
            let model = serde_json::json!({"providerID": provider_id, "modelID": id});
            prompt.serialize_entry("model", &model)?;
            if let Some(variant) = variant {
                prompt.serialize_entry("variant", variant)?;
            }
        }
        let part = serde_json::json!({
            "type": "text",
            "text": self.text,
            "synthetic": true,
            "metadata": {MARK: self.mark},
        });
        prompt.serialize_entry("parts", &[part])?;
        prompt.end()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn agent_model_and_variant_go_back_as_they_came() {
        let session = json!({"id": "ses_1", "directory": "/p", "agent": "plan",
                             "model": {"id": "m2", "providerID": "mock", "variant": "high"}});
        let session: Session = serde_json::from_value(session).unwrap();
        let message = NoReply::echoing(&session, "X".into(), json!({"v": 1}));
        let part = json!({"type": "text", "text": "X", "synthetic": true, "metadata": {"kgctx": {"v": 1}}});
        assert_eq!(
            serde_json::to_value(&message).unwrap(),
            json!({"noReply": true, "agent": "plan", "model": {"providerID": "mock", "modelID": "m2"},
                   "variant": "high", "parts": [part]})
        );
        let bare = NoReply { agent: None, model: None, ..message };
        assert_eq!(serde_json::to_value(&bare).unwrap(), json!({"noReply": true, "parts": [part]}));
    }
}
