//! Handoffs as JSON, without secrets: agents and pages read it. Changes nothing.

use serde_json::{Map, Value, json};

use crate::app::handoff::{Handoffs, Result};
use crate::core::handoff::HandoffId;
use crate::core::handoff::document;
use crate::core::handoff::record::{HandoffRecord, LogLine};
use crate::core::secrets;
use crate::core::time_limits;
use crate::store::state::State;
use crate::system::folders;
use crate::workspace::{Place, Request};

/// Which handoffs a list has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listed {
    /// What is claimed and what waits.
    Open,
    /// Also what is done with.
    All,
    /// What is claimed and what waits in all projects, with their folders.
    Everywhere,
}

impl Handoffs {
    /// The handoffs of a place as they are. Unlike [`Handoffs::open`], leaves what ended processes left undone; `None` if
    /// there is no state yet.
    pub fn look(request: &Request) -> Result<Option<Handoffs>> {
        let standing = folders::settled(request.dir.clone().unwrap_or_else(|| ".".into()));
        let place = Place::find(request)?;
        let Some(state) = State::look(&place.directories.state, time_limits::STATE)? else {
            return Ok(None);
        };
        let (scope, channel) = (place.project.scope.clone(), place.project.channel.clone());
        Ok(Some(Handoffs { place, scope, channel, session: None, standing, state }))
    }

    /// What `kgctx handoff list --json` prints.
    pub fn list_json(&self, listed: Listed) -> Result<Value> {
        let flat: Vec<Map<String, Value>> = match listed {
            Listed::Open => self.list(false)?.iter().map(masked).collect(),
            Listed::All => self.list(true)?.iter().map(masked).collect(),
            Listed::Everywhere => {
                let projects = self.everywhere()?;
                projects.iter().flat_map(|project| project.records.iter().map(elsewhere)).collect()
            }
        };
        Ok(json!({ "channel": self.channel, "handoffs": flat }))
    }

    /// What `kgctx handoff show --json` prints.
    pub fn show_json(&self, record: &HandoffRecord) -> Result<Value> {
        let read = self.document(record)?;
        let mut shown = record.to_json();
        shown.insert("working_dir".to_owned(), json!(record.working_dir));
        shown.insert("path".to_owned(), json!(self.path(record).to_string_lossy()));
        shown.insert("document".to_owned(), document::to_json(&read.document.head));
        shown.insert("body".to_owned(), json!(read.document.body));
        Ok(secrets::mask_json(Value::Object(shown)))
    }

    /// The last steps of a handoff, or of all, newest first, as `kgctx handoff log` prints them.
    pub fn masked_log(&self, id: Option<&HandoffId>, limit: usize) -> Result<Vec<LogLine>> {
        let masked = |text: Option<String>| text.map(|text| secrets::mask(&text).into_owned());
        let lines = self.log(id, limit)?.into_iter();
        Ok(lines
            .map(|line| LogLine {
                session: masked(line.session),
                reason: masked(line.reason),
                ..line
            })
            .collect())
    }
}

/// A record as JSON, without secrets.
pub fn masked(record: &HandoffRecord) -> Map<String, Value> {
    let mut flat = record.to_json();
    // What people and hosts have written; the rest is ours. A list may be long.
    for name in
        ["goal", "reason", "session_id", "source_id", "claimed_by_session", "consumed_by_session"]
    {
        if let Some(Value::String(text)) = flat.get_mut(name) {
            secrets::mask_in(text);
        }
    }
    flat
}

/// A record as JSON with the folder in which it was left.
fn elsewhere(record: &HandoffRecord) -> Map<String, Value> {
    let mut flat = masked(record);
    if let Some(folder) = &record.working_dir {
        flat.insert("working_dir".to_owned(), json!(secrets::mask(folder)));
    }
    flat
}
