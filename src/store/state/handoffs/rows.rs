//! The rows of handoffs and of their log.

use std::borrow::Cow;

use rusqlite::types::Type;
use rusqlite::{Connection, Error, Params, Result, Row, params};

use super::is_owner_gone;
use crate::core::handoff::life::{BEING_ADOPTED, HandoffChange};
use crate::core::handoff::record::HandoffRecord;
use crate::core::handoff::{Audience, Consume, HandoffId, Kind, Occasion, Priority, Status};
use crate::core::named::Named;
use crate::core::time::Timestamp;
use crate::store::state::claims::{self, process};
use crate::system::process::identity::Process;

/// The columns that [`record`] reads, in its order.
const COLUMNS: &str = "id, scope, channel, kind, occasion, consume, priority, status, reason, session, \
    source_id, goal, working_dir, created, created_by_pid, expires, changed, changed_by_pid, changed_by, superseded_by, \
    audience";

/// The last of [`COLUMNS`].
const AUDIENCE: &str = "audience";

/// The tasks that wait, in the order in which they are taken.
pub(super) const TASKS: &str =
    "scope = ?1 AND kind = 'task' AND status = 'active' ORDER BY priority, created, id";

/// The columns to read. A state that is only read can lack the last one: it was left by an older
/// version, for which every handoff waited for a person.
fn columns(connection: &Connection) -> Result<Cow<'static, str>> {
    if connection.column_exists(None, "handoffs", AUDIENCE)? {
        return Ok(COLUMNS.into());
    }
    let without = COLUMNS.trim_end_matches(AUDIENCE);
    Ok(format!("{without}'{}'", Audience::default().name()).into())
}

/// The handoffs that match a condition, which can end with an order.
pub(super) fn select(
    connection: &Connection,
    condition: &str,
    params: impl Params,
) -> Result<Vec<HandoffRecord>> {
    let sql = format!("SELECT {} FROM handoffs WHERE {condition}", columns(connection)?);
    connection.prepare(&sql)?.query_map(params, record)?.collect()
}

pub(super) fn first(
    connection: &Connection,
    condition: &str,
    params: impl Params,
) -> Result<Option<HandoffRecord>> {
    Ok(select(connection, condition, params)?.into_iter().next())
}

/// The handoff that waits for the next session.
pub(super) fn waiting(connection: &Connection, scope: &str) -> Result<Option<HandoffRecord>> {
    first(connection, "scope = ?1 AND kind = 'session' AND status = 'active'", [scope])
}

pub(super) fn find(connection: &Connection, id: &str) -> Result<Option<HandoffRecord>> {
    first(connection, "id = ?1", [id])
}

/// Finds a handoff by its id, or by its id in the tool that it was imported from.
pub(super) fn find_in_scope(
    connection: &Connection,
    scope: &str,
    id: &str,
) -> Result<Option<HandoffRecord>> {
    let condition =
        "scope = ?1 AND (id = ?2 OR source_id = ?2) ORDER BY id = ?2 DESC, created DESC LIMIT 1";
    first(connection, condition, [scope, id])
}

fn record(row: &Row<'_>) -> Result<HandoffRecord> {
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
        audience: Audience::parse(&row.get::<_, String>(20)?).unwrap_or_default(),
        is_abandoned: false,
    })
}

/// Writes a change of a handoff and its log line. A claimed handoff belongs to the session's claim,
/// if there is its token; otherwise, like a draft, it belongs to this process.
pub(super) fn write(
    connection: &Connection,
    change: &HandoffChange,
    token: Option<i64>,
) -> Result<()> {
    let record = &change.record;
    if change.is_removal() {
        connection.execute("DELETE FROM handoffs WHERE id = ?1", [record.id.as_str()])?;
    } else if !change.is_note() {
        let token = token.filter(|_| record.status == Status::Claimed);
        let is_ours = matches!(record.status, Status::Draft | Status::Claimed) && token.is_none();
        let owner = is_ours.then(Process::this);
        // Only a draft is new.
        let otherwise = match record.status {
            Status::Draft => "",
            _ => {
                "ON CONFLICT (id) DO UPDATE SET status = ?8, reason = ?9, changed = ?17, changed_by_pid = ?18, \
                 changed_by = ?19, superseded_by = ?20, token = ?22, owner_pid = ?23, owner_started = ?24"
            }
        };
        let sql = format!(
            "INSERT INTO handoffs ({COLUMNS}, token, owner_pid, owner_started) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, \
             ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24) {otherwise}"
        );
        connection.execute(
            &sql,
            params![
                record.id.as_str(),
                record.scope,
                record.channel,
                record.kind.name(),
                record.occasion.as_str(),
                record.consume.name(),
                record.priority as i64,
                record.status.as_str(),
                record.reason,
                record.session,
                record.source_id,
                record.goal,
                record.working_dir,
                record.created.milliseconds(),
                record.created_by_pid,
                record.expires.map(Timestamp::milliseconds),
                record.changed.milliseconds(),
                record.changed_by_pid,
                record.changed_by,
                record.superseded_by.as_ref().map(HandoffId::as_str),
                record.audience.name(),
                token,
                owner.map(|owner| owner.pid),
                owner.map(|owner| owner.started)
            ],
        )?;
    }
    log(connection, change)
}

fn log(connection: &Connection, change: &HandoffChange) -> Result<()> {
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
    connection.execute(sql, values).map(drop)
}

/// Handoffs whose claim or process is gone, except those that may have been copied already: they
/// would be given twice.
pub(super) fn void_claims(
    connection: &Connection,
    scope: &str,
    now_ms: i64,
) -> Result<Vec<HandoffRecord>> {
    let sql = format!(
        "SELECT {COLUMNS}, token, owner_pid, owner_started FROM handoffs WHERE scope = ?1 AND status = 'claimed' \
         AND (token IS NOT NULL OR owner_pid IS NOT NULL) AND reason IS NOT ?2"
    );
    let mut statement = connection.prepare(&sql)?;
    let claimed = statement.query_map([scope, BEING_ADOPTED], |row| {
        let record = record(row)?;
        let is_void = match row.get(21)? {
            Some(token) => !claims::stands(connection, token, now_ms)?,
            None => is_owner_gone(process(row, 22)?, record.changed.milliseconds(), now_ms),
        };
        Ok(is_void.then_some(record))
    })?;
    claimed.filter_map(Result::transpose).collect()
}
