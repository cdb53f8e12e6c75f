//! How often a wrapper starts its agent again, and what the new session is told first.

use std::time::Duration;

/// Restarts that are this far apart belong to no loop, and are counted anew.
const COUNTED: Duration = Duration::from_secs(30 * 60);

/// The restarts of a wrapper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restarts {
    pub max: u32,
    /// Since the last long pause.
    pub count: u32,
    last_ms: Option<u64>,
}

impl Restarts {
    pub fn at_most(max: u32) -> Restarts {
        Restarts { max, count: 0, last_ms: None }
    }

    /// Counts one more; `false` if there were as many as there may be. `now_ms` is of a clock that nobody sets.
    pub fn one_more(&mut self, now_ms: u64) -> bool {
        let pause = self.last_ms.map(|last| Duration::from_millis(now_ms.saturating_sub(last)));
        if pause.is_some_and(|pause| pause >= COUNTED) {
            self.count = 0;
        }
        if self.count >= self.max {
            return false;
        }
        self.count += 1;
        self.last_ms = Some(now_ms);
        true
    }
}

/// The first prompt of a session that goes on with a handoff, or with none that is left.
pub fn prompt(handoff: Option<&str>) -> String {
    match handoff {
        Some(id) => format!(
            "Continue from where you left off. The handoff {id} is above; `kgctx handoff show {id}` prints it again."
        ),
        None => "Continue from where you left off.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_1_38_the_eleventh_restart_is_refused_and_a_pause_counts_anew() {
        //
        let mut restarts = Restarts::at_most(10);
        for n in 1..=10 {
            assert!(restarts.one_more(n * 1_000), "{n}");
        }
        assert!(!restarts.one_more(11_000) && !restarts.one_more(10_000 + 30 * 60_000 - 1));
        assert_eq!(restarts.count, 10);
        assert!(restarts.one_more(10_000 + 30 * 60_000));
        assert_eq!(restarts.count, 1);
        assert!(!Restarts::at_most(0).one_more(0));
    }

    #[test]
    fn a_1_39_the_new_session_is_told_its_handoff() {
        //
        assert!(prompt(Some("20260131-120000-ab12")).contains("handoff 20260131-120000-ab12"));
        assert_eq!(prompt(None), "Continue from where you left off.");
    }
}
