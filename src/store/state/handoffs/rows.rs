//! Rows of the table of handoffs, written, found and read.

use rusqlite::types::Type;
use rusqlite::{Connection, Error, OptionalExtension, Row, Transaction, params};

use super::steps::is_gone;
use super::{Actor, Home};
use crate::core::handoff::record::HandoffRecord;
use crate::core::handoff::{Consume, HandoffId, Head, Kind, Occasion, Priority, Status};
use crate::core::time::Timestamp;
use crate::store::state::claims::{self, process};
use crate::system::process::identity::Process;

/// What [`record`] reads, in its order.
pub(super) const COLUMNS: &str = "id, scope, channel, kind, occasion, consume, priority, status, reason, session, \
    source_id, goal, working_dir, created, created_by_pid, expires, changed, changed_by_pid, changed_by, superseded_by";

pub(super) fn record(row: &Row<'_>) -> Result<HandoffRecord, Error> {
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

/// Writes a handoff down whose document is not there yet.
pub(super) fn insert(
    transaction: &Transaction<'_>,
    id: &HandoffId,
    home: &Home<'_>,
    head: &Head,
    created: Timestamp,
    actor: &Actor,
) -> Result<(), Error> {
    let occasion = head.occasion.clone().unwrap_or(Occasion::Manual);
    let consume = head.consume.unwrap_or_else(|| occasion.consume());
    let Process { pid, started } = Process::this();
    transaction
        .execute(
            "INSERT INTO handoffs (id, scope, channel, kind, occasion, consume, priority, status, session, source_id, \
             goal, working_dir, created, created_by_pid, expires, changed, changed_by_pid, changed_by, owner_pid, \
             owner_started) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'draft', ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?13, ?16, \
             ?13, ?17)",
            params![
                id.as_str(),
                home.scope,
                home.channel,
                head.kind.as_str(),
                occasion.as_str(),
                consume.as_str(),
                rank(head.priority),
                head.session_id,
                head.source_id,
                head.goal,
                head.working_dir,
                created.milliseconds(),
                pid,
                head.expires_at.map(Timestamp::milliseconds),
                actor.now_ms,
                actor.session,
                started
            ],
        )
        .map(drop)
}

/// What is claimed by processes and for sessions that are gone.
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
            None => is_gone(owner, claimed.changed.milliseconds(), now_ms),
        };
        if is_void {
            void.push(claimed);
        }
    }
    Ok(void)
}

pub(super) fn current(
    connection: &Connection,
    scope: &str,
) -> Result<Option<HandoffRecord>, Error> {
    let sql = format!(
        "SELECT {COLUMNS} FROM handoffs WHERE scope = ?1 AND kind = 'session' AND status = 'active'"
    );
    connection.query_row(&sql, [scope], record).optional()
}

pub(super) fn find(
    connection: &Connection,
    id: &HandoffId,
) -> Result<Option<HandoffRecord>, Error> {
    let sql = format!("SELECT {COLUMNS} FROM handoffs WHERE id = ?1");
    connection.query_row(&sql, [id.as_str()], record).optional()
}

pub(super) fn found_in(
    connection: &Connection,
    scope: &str,
    id: &HandoffId,
) -> Result<Option<HandoffRecord>, Error> {
    let sql = format!(
        "SELECT {COLUMNS} FROM handoffs WHERE scope = ?1 AND (id = ?2 OR source_id = ?2) \
         ORDER BY id = ?2 DESC, created DESC LIMIT 1"
    );
    connection.query_row(&sql, params![scope, id.as_str()], record).optional()
}

/// The number by which priorities are ordered.
fn rank(priority: Priority) -> i64 {
    match priority {
        Priority::High => 0,
        Priority::Medium => 1,
        Priority::Low => 2,
    }
}
