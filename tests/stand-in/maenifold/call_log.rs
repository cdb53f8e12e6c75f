//! The log of calls, for tests that count them: one line when a call starts, one when it ends.

use std::env;
use std::fs::OpenOptions;
use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::Arguments;
use crate::places;

/// A call that has started.
pub(crate) struct Logged(Option<String>);

impl Logged {
    pub(crate) fn start(arguments: &Arguments) -> Logged {
        let log = Logged(places::text("STAND_IN_LOG"));
        let is_ci = ["CI", "GITHUB_ACTIONS"].iter().any(|variable| env::var_os(variable).is_some());
        let payload =
            arguments.payload.as_deref().and_then(|payload| serde_json::from_str(payload).ok());
        log.append(&json!({
            "pid": std::process::id(),
            "tool": arguments.tool,
            "payload": payload.unwrap_or(Value::Null),
            "json": arguments.is_json,
            "argv": arguments.all,
            "ci": is_ci,
            "started_ms": milliseconds(),
        }));
        log
    }

    pub(crate) fn end(&self) {
        self.append(&json!({ "pid": std::process::id(), "ended_ms": milliseconds() }));
    }

    /// One write per line: calls at the same time do not mix.
    fn append(&self, line: &Value) {
        let Some(path) = &self.0 else { return };
        let written = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
        if let Err(cause) = written {
            let _ = writeln!(std::io::stderr(), "the call is not in {path}: {cause}");
        }
    }
}

fn milliseconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
