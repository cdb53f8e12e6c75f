//! The system's clock.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::core::time::Timestamp;

/// Milliseconds since 1970.
pub fn now_ms() -> i64 {
    now().milliseconds()
}

pub fn now() -> Timestamp {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since_1970.as_nanos()).unwrap_or(i64::MAX))
}

/// Milliseconds since the machine started, the same for all processes. Nobody can set this clock.
#[cfg(unix)]
pub fn tick_ms() -> i64 {
    use rustix::time::{ClockId, clock_gettime};
    let since_start = clock_gettime(ClockId::Monotonic);
    since_start.tv_sec.saturating_mul(1_000).saturating_add(since_start.tv_nsec / 1_000_000)
}

#[cfg(windows)]
pub fn tick_ms() -> i64 {
    i64::try_from(super::windows::tick_ms()).unwrap_or(i64::MAX)
}
