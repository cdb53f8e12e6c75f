//! RecentActivity: what the database says of the files that changed last. Always text.

use jiff::SignedDuration;
use rusqlite::{Connection, types::Value};

use crate::Thrown;
use crate::markdown::{Section, sections};
use crate::payload::Payload;
use crate::places::{self, Places};
use crate::timespan;

/// A row of `file_content`.
pub(crate) struct Row {
    pub(crate) uri: String,
    pub(crate) title: String,
    pub(crate) last_indexed: String,
    pub(crate) content: String,
    status: String,
}

pub(crate) fn recent(places: &Places, payload: &Payload) -> Result<String, Thrown> {
    match rows(places, payload)? {
        Err(sentence) => Ok(sentence),
        Ok(rows) if rows.is_empty() => Ok("No recent activity found".into()),
        Ok(rows) => {
            let is_whole = payload.flag("includeContent")?;
            let connection = Connection::open_in_memory()?;
            let mut text = String::from("# Recent Activity\n\n");
            for row in rows {
                text.push_str(&block(
                    &row,
                    &local_minute(&connection, &row.last_indexed)?,
                    is_whole,
                ));
                text.push('\n');
            }
            Ok(text)
        }
    }
}

/// The rows, or the sentence that is told instead of them.
pub(crate) fn rows(places: &Places, payload: &Payload) -> Result<Result<Vec<Row>, String>, Thrown> {
    let limit = payload.whole("limit", 10)?.max(0);
    let filter = payload.text("filter")?.unwrap_or_default();
    let span = payload.text("timespan")?.and_then(|text| timespan::parse(&text));
    if span.is_some_and(|ticks| ticks < 0) {
        return Ok(Err(
            "ERROR: timespan parameter must be positive. Example: '24.00:00:00' for 24 hours."
                .into(),
        ));
    }
    let cutoff = match span.map(|ticks| {
        let back = SignedDuration::from_secs(ticks / 10_000_000)
            + SignedDuration::from_nanos(ticks % 10_000_000 * 100);
        places::now().checked_sub(back)
    }) {
        None => None,
        Some(Ok(cutoff)) => Some(cutoff.strftime("%Y-%m-%d %H:%M:%S").to_string()),
        Some(Err(_)) => {
            return Ok(Err(
                "ERROR: The added or subtracted value results in an un-representable DateTime. (Parameter 'value')"
                    .into(),
            ));
        }
    };
    Ok(match read(places, limit, &filter, cutoff) {
        Ok(Some(rows)) => Ok(rows),
        Ok(None) => Err(
            "# Recent Activity\n\nNo database found. Run the `Sync` command first to index memory files.".into(),
        ),
        Err(thrown) => Err(format!("ERROR: {}", thrown.message)),
    })
}

fn read(
    places: &Places,
    limit: i64,
    filter: &str,
    cutoff: Option<String>,
) -> Result<Option<Vec<Row>>, Thrown> {
    let connection = places.open_to_read()?;
    let is_table =
        "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = 'file_content'";
    if connection.query_row(is_table, [], |row| row.get::<_, i64>(0))? == 0 {
        return Ok(None);
    }
    let mut question = String::from(
        "SELECT file_path, title, last_indexed, content, status FROM file_content WHERE 1=1",
    );
    question.push_str(match filter {
        "thinking" => " AND file_path LIKE 'memory://thinking/%'",
        "assumptions" => " AND file_path LIKE 'memory://chat/%'",
        "memory" => {
            " AND file_path NOT LIKE 'memory://thinking/%' AND file_path NOT LIKE 'memory://chat/%'"
        }
        _ => "",
    });
    if cutoff.is_some() {
        question.push_str(" AND datetime(last_indexed) >= datetime(?2)");
    }
    question.push_str(" ORDER BY last_indexed DESC LIMIT ?1");
    let mut given = vec![Value::Integer(limit)];
    given.extend(cutoff.map(Value::Text));
    let mut statement = connection.prepare(&question)?;
    let mut read = statement.query(rusqlite::params_from_iter(given))?;
    let mut rows = Vec::new();
    while let Some(row) = read.next()? {
        let needed = |at: usize| match row.get::<_, Option<String>>(at) {
            Ok(Some(text)) => Ok(text),
            Ok(None) => Err(Thrown::internal(&format!(
                "The data is NULL at ordinal {at}. This method can't be called on NULL values. Check using IsDBNull \
                 before calling."
            ))),
            Err(error) => Err(error.into()),
        };
        rows.push(Row {
            uri: needed(0)?,
            title: row.get::<_, Option<String>>(1)?.unwrap_or_default(),
            last_indexed: needed(2)?,
            content: needed(3)?,
            status: row.get::<_, Option<String>>(4)?.unwrap_or_else(|| "active".into()),
        });
    }
    Ok(Some(rows))
}

/// A moment in UTC as minutes of local time; one without a zone stays as it is. SQLite knows the zone from `TZ`.
fn local_minute(connection: &Connection, moment: &str) -> Result<String, Thrown> {
    let second = moment.get(..19).unwrap_or(moment);
    let zone = if moment.ends_with('Z') { "localtime" } else { "+0 days" };
    let told: Option<String> = connection.query_row(
        "SELECT strftime('%Y-%m-%d %H:%M', ?1, ?2)",
        [second, zone],
        |row| row.get(0),
    )?;
    told.ok_or_else(|| {
        Thrown::internal(&format!("String '{moment}' was not recognized as a valid DateTime."))
    })
}

fn block(row: &Row, modified: &str, is_whole: bool) -> String {
    let stem = row.uri.rsplit('/').next().unwrap_or_default();
    let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
    let sections = sections(&row.content);
    let is_thinking = row.uri.contains("memory://thinking/");
    let is_sequential = is_thinking && row.uri.contains("/sequential/");
    let is_workflow = is_thinking && !is_sequential && row.uri.contains("/workflow/");
    let n_thoughts =
        sections.iter().filter(|section| section.heading.starts_with("Thought")).count();
    if !is_sequential && !is_workflow {
        let head = format!(
            "**{stem}** (memory)\n  Modified: {modified}\n  Title: {}\n  Sections: {}\n",
            row.title,
            sections.len()
        );
        return head + &ends(&sections.iter().collect::<Vec<_>>(), is_whole, "Last");
    }
    let meaningful: Vec<&Section> = sections
        .iter()
        .filter(|section| !matches!(section.heading.as_str(), "Completion" | "Cancellation"))
        .collect();
    let (kind, counted, last) = if is_sequential || n_thoughts > 0 {
        ("sequential", format!("Thoughts: {n_thoughts}"), "Last")
    } else {
        let is_step = |section: &&Section| {
            section.heading.contains("Step") || section.heading.contains("Response")
        };
        ("workflow", format!("Steps: {}", sections.iter().filter(is_step).count()), "Current")
    };
    format!("**{stem}** ({kind})\n  Modified: {modified}\n  {counted}\n  Status: {}\n", row.status)
        + &ends(&meaningful, is_whole, last)
}

/// The first section and the last.
fn ends(sections: &[&Section], is_whole: bool, last_name: &str) -> String {
    let Some(first) = sections.first() else { return String::new() };
    let last = sections.last().filter(|_| sections.len() > 1);
    if is_whole {
        let whole = |name: &str, section: &Section| {
            format!("  {name} H2: {}\n  {name} H2 Content: {}\n", section.heading, section.content)
        };
        return whole("First", first) + &last.map_or_else(String::new, |last| whole("Last", last));
    }
    let shown = snippet(&first.content);
    let mut text = format!("  First: \"{shown}\"\n");
    if let Some(last) = last.map(|last| snippet(&last.content)).filter(|last| *last != shown) {
        text.push_str(&format!("  {last_name}: \"{last}\"\n"));
    }
    text
}

/// A section in one line, without the lines that begin with a star, unless there are no others.
fn snippet(content: &str) -> String {
    let longest = usize::try_from(places::number("MAENIFOLD_SNIPPET_LENGTH", 1000)).unwrap_or(0);
    let lines: Vec<&str> = content.split('\n').filter(|line| !line.is_empty()).collect();
    let unstarred: Vec<&str> =
        lines.iter().copied().filter(|line| !line.trim_start().starts_with('*')).collect();
    let kept = if unstarred.is_empty() { lines } else { unstarred };
    let snippet = kept.join(" ").trim().to_owned();
    let units: Vec<u16> = snippet.encode_utf16().collect();
    if units.len() <= longest {
        return snippet;
    }
    String::from_utf16_lossy(&units[..longest.saturating_sub(3)]) + "..."
}
