//! What maenifold costs: the processor time that was measured with the real one, of 2,457 notes and on two cores. A start
//! takes 0.2 s, and so does RecentActivity; SearchMemories 0.46 s, for 300 files; BuildContext of a hub 2.4 s, because it
//! reads every file of every relation again.

use std::fs;
use std::hint::black_box;
use std::time::Duration;

use crate::Thrown;
use crate::context;
use crate::payload::Payload;
use crate::places::Places;

/// Every call.
pub(crate) const START: Duration = Duration::from_millis(200);
/// A hub has ten relations of some 200 files each.
const RELATED_FILE: Duration = Duration::from_micros(1_100);
const SEARCHED_FILE: Duration = Duration::from_micros(870);
/// A search looks into six times as many files as a page has notes.
const FILES_PER_NOTE: i64 = 6;

/// What an answer costs beside the start.
pub(crate) fn of(places: &Places, tool: &str, payload: &Payload) -> Result<Duration, Thrown> {
    Ok(match tool {
        "searchmemories" => {
            let most = payload.whole("pageSize", 10)? * FILES_PER_NOTE;
            let n_files =
                Places::notes(&places.memory).len().min(usize::try_from(most).unwrap_or(0));
            SEARCHED_FILE * u32::try_from(n_files).unwrap_or(u32::MAX)
        }
        "buildcontext" => {
            let relations = context::context(places, payload)?.relations;
            let n_files: i64 = relations.iter().map(|relation| relation.count).sum();
            RELATED_FILE * u32::try_from(n_files).unwrap_or(u32::MAX)
        }
        _ => Duration::ZERO,
    })
}

/// Keeps a core busy until this process has had so much more of its time, however many others want it.
pub(crate) fn burn(cost: Duration) {
    let until = processor_time().saturating_add(cost);
    while processor_time() < until {
        black_box((0..20_000u64).fold(0, |sum, n| black_box(sum ^ n)));
    }
}

/// The processor time of this process, as the system tells it. Linux alone does, and where it does not, nothing is burnt.
fn processor_time() -> Duration {
    let told = fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanoseconds = told.split(' ').next().and_then(|time| time.parse().ok());
    nanoseconds.map_or(Duration::MAX, Duration::from_nanos)
}
