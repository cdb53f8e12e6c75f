//! JSON exactly as OpenCode sends it. What kgctx does not need is passed over, and so is what a newer OpenCode adds.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// The key of a part's metadata under which kgctx keeps its own.
pub(super) const MARK: &str = "kgctx";

/// A session, as `session.created`, `session.updated` and the session routes give it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Session {
    /// `ses_…`, unique among all servers of one user.
    pub id: String,
    /// The session that started this one; only a subagent's session has it, a fork has not.
    #[serde(default, rename = "parentID")]
    pub parent_id: Option<String>,
    /// The folder that the session works in.
    pub directory: String,
    /// `New session - <time>` until OpenCode has made a better one; a fork's ends in `(fork #N)`.
    #[serde(default)]
    pub title: String,
    /// The agent that was chosen; a session made through the API may have none.
    #[serde(default)]
    pub agent: Option<String>,
    /// The model that was chosen; a session made through the API may have none.
    #[serde(default, deserialize_with = "known_or_none")]
    pub model: Option<SessionModel>,
    /// What an undo that is not settled yet would take back. Any message settles it for good.
    #[serde(default)]
    pub revert: Option<Value>,
    /// When it was made and last changed.
    #[serde(default)]
    pub time: SessionTime,
}

impl Session {
    /// Whether it began as a copy of another one, which only its title tells.
    pub fn is_fork(&self) -> bool {
        let number =
            self.title.rsplit_once(" (fork #").and_then(|(_, rest)| rest.strip_suffix(')'));
        number.is_some_and(|number| number.parse::<u32>().is_ok())
    }
}

/// The model of a session. A prompt names the same model differently: see [`MessageModel`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct SessionModel {
    /// The model, as its provider calls it.
    pub id: String,
    /// The provider.
    #[serde(rename = "providerID")]
    pub provider_id: String,
    /// A variant of the model, such as how long it thinks.
    #[serde(default)]
    pub variant: Option<String>,
}

/// When a session was made and last changed, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct SessionTime {
    /// When it was made.
    pub created: u64,
    /// When it was last changed; a stored message changes it.
    pub updated: u64,
}

/// Takes a value of another shape for none: a session is worth more than the name of its model.
fn known_or_none<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    input: D,
) -> Result<Option<T>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(input)?).ok())
}
