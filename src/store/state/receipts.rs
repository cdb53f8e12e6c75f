//! Receipts in the state: the contexts that sessions got, or would have got.

use rusqlite::{OptionalExtension, ToSql, params};

use crate::core::context::receipt::Receipt;
use crate::core::context::summary::ContextSummary;
use crate::core::handoff::life::Actor;
use crate::core::host::Host;
use crate::core::named::Named;
use crate::core::time::Timestamp;
use crate::store::state::handoffs::Steps;
use crate::store::state::{Result, State, StateError, Token};

/// The number of dry runs to keep: they soon lose their value.
const DRY_RUNS_KEPT: i64 = 200;
/// The number of delivered receipts to keep. The claim still records that a session has its
/// context.
const DELIVERED_KEPT: i64 = 1_000;
/// Old receipts are removed at every 50th context, so that the others do not wait for it.
const SWEEP_EVERY: i64 = 50;

impl State {
    pub fn n_receipts(&self) -> Result<i64> {
        let sql = "SELECT count(*) FROM injections";
        self.read(|connection| connection.query_row(sql, [], |row| row.get(0)))
    }

    /// Stores a receipt, links it to its claim, and returns its id. Removes old receipts from time
    /// to time.
    pub fn record(&mut self, receipt: &Receipt, claim: Option<Token>) -> Result<i64> {
        let json = serde_json::to_string(receipt)
            .map_err(|cause| StateError::Receipt { path: self.path.clone(), cause })?;
        let number = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        self.transaction(|transaction| {
            let moment = receipt.moment.to_string();
            transaction.execute(
                "INSERT INTO injections (session, project, at, delivered, budget, tokens, chars, sha256, receipt, moment) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                params![
                    receipt.session,
                    receipt.project_key,
                    receipt.at.seconds(),
                    receipt.delivered,
                    number(receipt.budget.tokens),
                    number(receipt.used.tokens),
                    number(receipt.used.chars),
                    receipt.sha256,
                    json,
                    moment
                ],
            )?;
            let id = transaction.last_insert_rowid();
            if let Some(Token(token)) = claim {
                let sql = "UPDATE claims SET injection = ?2 WHERE token = ?1 AND settled IS NULL";
                transaction.execute(sql, [token, id])?;
                if receipt.omitted_handoff().is_some() {
                    let session = Some(receipt.session.clone());
                    let actor = Actor { session, now_ms: receipt.at.milliseconds() };
                    let steps = Steps { transaction, actor: &actor, token: None };
                    steps.detach(token, "there was no room for it")?;
                }
            }
            if id % SWEEP_EVERY == 0 {
                // Literal numbers, so that SQLite uses the index of dry runs.
                for (delivered, kept) in [(0, DRY_RUNS_KEPT), (1, DELIVERED_KEPT)] {
                    let sql = format!(
                        "DELETE FROM injections WHERE delivered = {delivered} AND id <= (SELECT id FROM injections \
                         WHERE delivered = {delivered} ORDER BY id DESC LIMIT 1 OFFSET {kept})"
                    );
                    transaction.execute(&sql, [])?;
                }
            }
            Ok(id)
        })
    }

    pub fn receipt(&self, id: i64) -> Result<Option<Receipt>> {
        self.first_receipt("id = ?1", id)
    }

    /// The last receipt of a session, apart from supplements.
    pub fn last_of_session(&self, session: &str) -> Result<Option<Receipt>> {
        let sql = "session = ?1 AND moment <> 'prompt' ORDER BY id DESC";
        self.first_receipt(sql, session)
    }

    /// The last receipt of a project, by the project's key, apart from supplements.
    pub fn last_of_project(&self, project: &str) -> Result<Option<Receipt>> {
        let sql = "project = ?1 AND moment <> 'prompt' ORDER BY id DESC";
        self.first_receipt(sql, project)
    }

    /// The last contexts of the sessions of a project, by the project's key, newest first.
    pub fn contexts_of_project(&self, project: &str, limit: usize) -> Result<Vec<ContextSummary>> {
        let sql = "SELECT session, moment, at, delivered, receipt ->> '$.host', tokens, budget FROM injections \
                   WHERE id IN (SELECT max(id) FROM injections WHERE project = ?1 AND moment <> 'prompt' \
                   GROUP BY session) ORDER BY id DESC LIMIT ?2";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.read(|connection| {
            let mut select = connection.prepare(sql)?;
            let rows = select.query_map(params![project, limit], |row| {
                Ok(ContextSummary {
                    session: row.get(0)?,
                    moment: row.get(1)?,
                    at: Timestamp::from_seconds(row.get(2)?),
                    delivered: row.get(3)?,
                    host: row.get(4)?,
                    tokens: row.get(5)?,
                    budget: row.get(6)?,
                })
            })?;
            rows.collect()
        })
    }

    /// The last receipt of a context that reached a session of a host.
    pub fn last_of_host(&self, host: Host) -> Result<Option<Receipt>> {
        let sql = "delivered = 1 AND receipt ->> '$.host' = ?1 ORDER BY id DESC";
        self.first_receipt(sql, host.name())
    }

    /// The context that a session started with: the delivered one, or else the last dry run.
    pub fn start_of_session(&self, session: &str) -> Result<Option<Receipt>> {
        let sql = "session = ?1 AND moment = 'start' ORDER BY delivered DESC, id DESC";
        self.first_receipt(sql, session)
    }

    /// The supplement to the last context of a session, if there is one.
    pub fn supplement_of_session(&self, session: &str) -> Result<Option<Receipt>> {
        let sql = "session = ?1 AND moment = 'prompt' AND id > (SELECT max(id) FROM injections \
                   WHERE session = ?1 AND moment <> 'prompt') ORDER BY id DESC";
        self.first_receipt(sql, session)
    }

    fn first_receipt(&self, condition: &str, key: impl ToSql) -> Result<Option<Receipt>> {
        let sql = format!("SELECT receipt FROM injections WHERE {condition} LIMIT 1");
        let json: Option<String> =
            self.read(|connection| connection.query_row(&sql, [key], |row| row.get(0)).optional())?;
        json.map(|json| serde_json::from_str(&json))
            .transpose()
            .map_err(|cause| StateError::Receipt { path: self.path.clone(), cause })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::core::session::Moment;
    use crate::store::state::Claim;

    const PATIENCE: Duration = Duration::from_secs(5);

    fn receipt(session: &str, delivered: bool) -> Receipt {
        let json = serde_json::json!({
            "session": session, "project": "p", "projectKey": "p-1", "at": "2026-01-31T12:00:00Z",
            "delivered": delivered, "host": "opencode", "ranking": "frequency",
            "encoding": "o200k_base", "budget": {"tokens": 4_000, "chars": null},
            "used": {"tokens": 10, "chars": 40}, "sha256": "", "parts": [], "found": [],
            "entries": [], "faults": [], "stages": [],
        });
        serde_json::from_value(json).unwrap()
    }

    fn claimed(state: &mut State, session: &str) -> Token {
        match state.claim_for(None, session, &Moment::Start, 0, None).unwrap() {
            Claim::Won(token) => token,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_receipt_that_arrived_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let mut state = State::open(folder.path(), PATIENCE).unwrap();
        let token = claimed(&mut state, "s");
        // A dry run for the same session is unrelated.
        state.record(&receipt("s", false), None).unwrap();
        let id = state.record(&receipt("s", false), Some(token)).unwrap();
        state.record(&receipt("s", false), None).unwrap();
        assert!(state.settle_receipt(id, 5).unwrap());
        assert!(!state.last_of_session("s").unwrap().unwrap().delivered);
        assert!(!state.settle_receipt(id, 6).unwrap(), "once is enough");
        state.release_receipt(id, 0).unwrap();
        assert_eq!(state.claim_for(None, "s", &Moment::Start, 7, None).unwrap(), Claim::Settled);
    }

    #[test]
    fn old_receipts_make_room_and_claims_stay() {
        let folder = tempfile::tempdir().unwrap();
        let mut state = State::open(folder.path(), PATIENCE).unwrap();
        let token = claimed(&mut state, "s0");
        for n in 0..DELIVERED_KEPT + 2 * SWEEP_EVERY {
            let id = state.record(&receipt(&format!("s{n}"), true), Some(token)).unwrap();
            if n == 0 {
                assert!(state.settle_receipt(id, 1).unwrap());
            }
        }
        let sql = "SELECT count(*) FROM injections";
        let n_kept: i64 = state.connection.query_row(sql, [], |row| row.get(0)).unwrap();
        assert!((DELIVERED_KEPT..DELIVERED_KEPT + SWEEP_EVERY).contains(&n_kept), "{n_kept}");
        assert!(state.last_of_session("s0").unwrap().is_none());
        assert_eq!(state.claim_for(None, "s0", &Moment::Start, 2, None).unwrap(), Claim::Settled);
    }
}
