//! The rows of handoffs and of their log.

use rusqlite::types::Type;
use rusqlite::{Connection, Error, OptionalExtension, Params, Row, Transaction, params};

use super::is_owner_gone;
use crate::core::handoff::life::HandoffChange;
use crate::core::handoff::record::HandoffRecord;
use crate::core::handoff::{Consume, HandoffId, Kind, Occasion, Priority, Status};
use crate::core::named::Named;
use crate::core::time::Timestamp;
use crate::store::state::claims::{self, process};
use crate::system::process::identity::Process;

/// The columns that [`record`] reads, in its order.
const COLUMNS: &str = "id, scope, channel, kind, occasion, consume, priority, status, reason, session, \
    source_id, goal, working_dir, created, created_by_pid, expires, changed, changed_by_pid, changed_by, superseded_by";

/// The owner of a claimed handoff: the handoff is released when its owner is gone.
#[derive(Debug, Clone, Copy)]
pub(super) enum Hold {
    Free,
    /// The claim of a session, by its token.
    Claim(i64),
    Process,
}

/// The handoffs that match a condition, which can end with an order.
pub(super) fn select(
    connection: &Connection,
    condition: &str,
    params: impl Params,
) -> Result<Vec<HandoffRecord>, Error> {
    let sql = format!("SELECT {COLUMNS} FROM handoffs WHERE {condition}");
    connection.prepare(&sql)?.query_map(params, record)?.collect()
}

pub(super) fn first(
    connection: &Connection,
    condition: &str,
    params: impl Params,
) -> Result<Option<HandoffRecord>, Error> {
    let sql = format!("SELECT {COLUMNS} FROM handoffs WHERE {condition}");
    connection.query_row(&sql, params, record).optional()
}

/// The handoff that waits for the next session.
pub(super) fn waiting(
    connection: &Connection,
    scope: &str,
) -> Result<Option<HandoffRecord>, Error> {
    first(connection, "scope = ?1 AND kind = 'session' AND status = 'active'", [scope])
}

pub(super) fn find(
    connection: &Connection,
    id: &HandoffId,
) -> Result<Option<HandoffRecord>, Error> {
    first(connection, "id = ?1", [id.as_str()])
}

/// Finds a handoff by its id, or by its id in the tool that it was imported from.
pub(super) fn find_in_scope(
    connection: &Connection,
    scope: &str,
    id: &HandoffId,
) -> Result<Option<HandoffRecord>, Error> {
    let condition =
        "scope = ?1 AND (id = ?2 OR source_id = ?2) ORDER BY id = ?2 DESC, created DESC LIMIT 1";
    first(connection, condition, params![scope, id.as_str()])
}

fn record(row: &Row<'_>) -> Result<HandoffRecord, Error> {
    let id = |column: usize, text: String| {
        HandoffId::parse(&text)
            .map_err(|cause| Error::FromSqlConversionFailure(column, Type::Text, Box::new(cause)))
    };
    let time = Timestamp::from_milliseconds;
    let superseded_by: Option<String> = row.get(19)?;
    Ok(HandoffRecord {
        id: id(0, row.get(0)?)?,
        scope: row.get(1)?,
        channel: row.get(2)?,
        kind: Kind::parse(&row.get::<_, String>(3)?).unwrap_or_default(),
        occasion: Occasion::from(row.get::<_, String>(4)?),
        consume: Consume::parse(&row.get::<_, String>(5)?).unwrap_or(Consume::Once),
        priority: match row.get(6)? {
            0 => Priority::High,
            2 => Priority::Low,
            _ => Priority::Medium,
        },
        status: Status::from(row.get::<_, String>(7)?),
        reason: row.get(8)?,
        session: row.get(9)?,
        source_id: row.get(10)?,
        goal: row.get(11)?,
        working_dir: row.get(12)?,
        created: time(row.get(13)?),
        created_by_pid: row.get(14)?,
        expires: row.get::<_, Option<i64>>(15)?.map(time),
        changed: time(row.get(16)?),
        changed_by_pid: row.get(17)?,
        changed_by: row.get(18)?,
        superseded_by: superseded_by.map(|text| id(19, text)).transpose()?,
    })
}

/// Writes a new draft, which belongs to this process until its document exists.
pub(super) fn insert(transaction: &Transaction<'_>, draft: &HandoffChange) -> Result<(), Error> {
    let record = &draft.record;
    transaction.execute(
        "INSERT INTO handoffs (id, scope, channel, kind, occasion, consume, priority, status, session, source_id, \
         goal, working_dir, created, created_by_pid, expires, changed, changed_by_pid, changed_by, owner_pid, \
         owner_started) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?14, ?17, \
         ?14, ?18)",
        params![
            record.id.as_str(),
            record.scope,
            record.channel,
            record.kind.name(),
            record.occasion.as_str(),
            record.consume.name(),
            record.priority as i64,
            record.status.as_str(),
            record.session,
            record.source_id,
            record.goal,
            record.working_dir,
            record.created.milliseconds(),
            record.created_by_pid,
            record.expires.map(Timestamp::milliseconds),
            record.changed.milliseconds(),
            record.changed_by,
            Process::this().started
        ],
    )?;
    log(transaction, draft)
}

/// Writes a change of a handoff and its log line.
pub(super) fn write(
    transaction: &Transaction<'_>,
    change: &HandoffChange,
    hold: Hold,
) -> Result<(), Error> {
    let record = &change.record;
    if change.is_removal() {
        transaction.execute("DELETE FROM handoffs WHERE id = ?1", [record.id.as_str()])?;
    } else if !change.is_note() {
        let (token, owner) = match hold {
            Hold::Free => (None, None),
            Hold::Claim(token) => (Some(token), None),
            Hold::Process => (None, Some(Process::this())),
        };
        transaction.execute(
            "UPDATE handoffs SET status = ?2, reason = ?3, changed = ?4, changed_by_pid = ?5, changed_by = ?6, \
             superseded_by = ?7, token = ?8, owner_pid = ?9, owner_started = ?10 WHERE id = ?1",
            params![
                record.id.as_str(),
                record.status.as_str(),
                record.reason,
                record.changed.milliseconds(),
                record.changed_by_pid,
                record.changed_by,
                record.superseded_by.as_ref().map(HandoffId::as_str),
                token,
                owner.map(|owner| owner.pid),
                owner.map(|owner| owner.started)
            ],
        )?;
    }
    log(transaction, change)
}

fn log(transaction: &Transaction<'_>, change: &HandoffChange) -> Result<(), Error> {
    let Some(line) = &change.line else { return Ok(()) };
    let sql = "INSERT INTO handoff_events (at, scope, handoff, old, new, pid, session, reason) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let values = params![
        line.at.milliseconds(),
        change.record.scope,
        line.id,
        line.from.as_ref().map(Status::as_str),
        line.to.as_ref().map(Status::as_str),
        line.pid,
        line.session,
        line.reason
    ];
    transaction.execute(sql, values).map(drop)
}

/// Handoffs whose claim or process is gone.
pub(super) fn void_claims(
    connection: &Connection,
    scope: &str,
    now_ms: i64,
) -> Result<Vec<HandoffRecord>, Error> {
    let sql = format!(
        "SELECT {COLUMNS}, token, owner_pid, owner_started FROM handoffs \
         WHERE scope = ?1 AND status = 'claimed' AND (token IS NOT NULL OR owner_pid IS NOT NULL)"
    );
    let mut statement = connection.prepare(&sql)?;
    let rows = statement.query_map([scope], |row| {
        let owner = process(row.get(21)?, row.get(22)?);
        Ok((record(row)?, row.get::<_, Option<i64>>(20)?, owner))
    })?;
    let mut void = Vec::new();
    for row in rows {
        let (claimed, token, owner) = row?;
        let is_void = match token {
            Some(token) => !claims::stands(connection, token, now_ms)?,
            None => is_owner_gone(owner, claimed.changed.milliseconds(), now_ms),
        };
        if is_void {
            void.push(claimed);
        }
    }
    Ok(void)
}
