//! What was imported, by the first line of its log: that outlives the handoff, so that nothing is imported twice.

use rusqlite::Connection;

use crate::core::handoff::life::{Actor, Home};
use crate::core::handoff::{HandoffId, Head};
use crate::store::state::{Result, State};

impl State {
    /// Whether a handoff of this origin was ever imported.
    pub fn is_imported(&self, scope: &str, origin: &str) -> Result<bool> {
        self.read(|connection| is_imported(connection, scope, origin))
    }

    /// Reserves an id for a document that is about to be imported; `None` if it was imported before.
    pub fn draft_import(
        &mut self,
        home: &Home<'_>,
        head: &Head,
        origin: &str,
        is_free: impl Fn(&HandoffId) -> bool,
        actor: &Actor,
    ) -> Result<Option<HandoffId>> {
        self.handoffs(actor, |steps| {
            if is_imported(steps.transaction, home.scope, origin)? {
                return Ok(None);
            }
            steps.draft(home, head, is_free, Some(origin)).map(Some)
        })
    }
}

fn is_imported(connection: &Connection, scope: &str, origin: &str) -> rusqlite::Result<bool> {
    // Not those of which no document was ever written.
    let sql = "SELECT 1 FROM handoff_events AS first \
               WHERE first.scope = ?1 AND first.old IS NULL AND first.reason = ?2 AND NOT EXISTS \
               (SELECT 1 FROM handoff_events AS later \
                WHERE later.handoff = first.handoff AND later.old = 'draft' AND later.new IS NULL)";
    connection.prepare_cached(sql)?.exists([scope, origin])
}
