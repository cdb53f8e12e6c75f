//! How much a file still weighs at its age.

use jiff::{Timestamp, civil, tz::TimeZone};
use rusqlite::{Connection, OptionalExtension};

use crate::markdown::Markdown;
use crate::places::{self, Places};

const NANOSECONDS_OF_A_DAY: i128 = 86_400_000_000_000;

/// The weight of a file; 1 for one that cannot be read.
pub(crate) fn weight(places: &Places, connection: Option<&Connection>, uri: &str) -> f64 {
    let Some((path, note)) =
        places.note(uri).and_then(|path| Markdown::read(&path).ok().map(|note| (path, note)))
    else {
        return 1.0;
    };
    let now = places::now();
    let accessed = connection.and_then(|connection| {
        let question = "SELECT last_accessed FROM file_content WHERE file_path = ?1";
        let told = connection.query_row(question, [uri], |row| row.get::<_, Option<String>>(0));
        told.optional().ok().flatten().flatten().as_deref().and_then(moment)
    });
    let reference =
        accessed.or_else(|| note.front.get("created").and_then(|text| moment(text))).unwrap_or(now);
    let age = (now.as_nanosecond() - reference.as_nanosecond()) / NANOSECONDS_OF_A_DAY;
    at_age(age as i64, grace(&path.to_string_lossy().to_lowercase()))
}

/// A moment in one of the forms that notes use; without a zone it is in UTC.
fn moment(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(moment) = text.parse() {
        return Some(moment);
    }
    let local = text.parse::<civil::DateTime>().ok()?;
    local.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

fn grace(path: &str) -> i64 {
    if path.contains("thinking/sequential") || path.contains("/sequential/") {
        places::number("MAENIFOLD_DECAY_GRACE_DAYS_SEQUENTIAL", 7)
    } else if path.contains("thinking/workflows") || path.contains("/workflows/") {
        places::number("MAENIFOLD_DECAY_GRACE_DAYS_WORKFLOWS", 14)
    } else {
        places::number("MAENIFOLD_DECAY_GRACE_DAYS_DEFAULT", 28)
    }
}

fn at_age(age: i64, grace: i64) -> f64 {
    let function = places::text("MAENIFOLD_DECAY_FUNCTION").unwrap_or_else(|| "power-law".into());
    if function.eq_ignore_ascii_case("power-law") {
        return if age <= grace { 1.0 } else { ((age - grace) as f64).powf(-0.5).min(1.0) };
    }
    let half_life = places::number("MAENIFOLD_DECAY_HALF_LIFE_DAYS", 30);
    match age - grace.max(0) {
        late if age < 0 || late <= 0 => 1.0,
        _ if half_life <= 0 => 0.0,
        late => 0.5_f64.powf(late as f64 / half_life as f64),
    }
}
