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
