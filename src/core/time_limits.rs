//! All time limits in one table, grouped by the waiting party, each with its cause. The tests check that they fit
//! together.

use std::time::Duration;

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

// A host waits at a prompt: `kgctx hook`.

/// The limit for the answer of a hook. The bridge waits a little longer and then continues without an answer.
pub const HOOK: Duration = ms(1_000);
/// How long a command with wrong arguments, or none, waits for what a host would tell a hook.
pub const HOOK_QUESTION: Duration = ms(500);
/// The time to print or send the answer, on a busy machine.
pub const HOOK_REPLY: Duration = ms(50);
/// A service that takes longer hangs or is too busy to help. The rest of the hook's time is usually enough without
/// it.
pub const HOOK_SERVICE: Duration = ms(600);
/// One wait for another process that writes the state.
pub const HOOK_STATE: Duration = ms(200);
/// Kept for a context without a handoff, if the state stays busy.
pub const UNCLAIMED_CONTEXT: Duration = ms(250);
/// How often a prompt checks whether another delivery, for which it waits, is done.
pub const HELD_POLL: Duration = ms(5);
/// A context that was delivered longer ago and is no longer stored was undone, in another process of the host. A more
/// recent one may have been stored after the bridge looked.
pub const UNDONE_AFTER: Duration = seconds(3);
/// All of git's answers before a compaction.
pub const COMPACTION_WORK: Duration = ms(300);
/// How much later than the end of a turn its last words may come into the transcript.
pub const LATE_TRANSCRIPT: Duration = ms(100);
/// That wait and all of git's answers at the end of a turn.
pub const TURN_WORK: Duration = ms(150);
/// The user's own status line, which Claude Code asks for after every answer.
pub const STATUS_LINE: Duration = seconds(5);
/// A compaction that is announced again within this time is the same one.
pub const SAME_COMPACTION: Duration = seconds(5);

// A session waits for its context: `kgctx inject`, and hooks.

/// The default of the setting `deadline_ms`. Also limits the time until the settings have been read.
pub const CONTEXT: Duration = ms(2_000);
/// Reserved for packing, writing the receipt and printing.
pub const CONTEXT_END: Duration = ms(150);
/// Reserved for killing a program that does not answer.
pub const KILL_MARGIN: Duration = ms(100);
/// The wait for another process that writes the state, before a receipt is written.
pub const RECEIPT_STATE: Duration = ms(100);
/// The wait for another process that writes the state, before a handoff is chosen.
pub const HANDOFF_STATE: Duration = ms(100);
/// Reading the files that a handoff lists. They may be on a network drive that does not answer.
pub const HANDOFF_FILES: Duration = ms(150);
/// The wait for maenifold while it writes its database.
pub const MAENIFOLD_DATABASE: Duration = ms(100);
/// maenifold needs longer than this to start. A smaller setting is probably in the wrong unit.
pub const MAENIFOLD_SHORTEST_CALL: Duration = ms(100);
/// All of git's answers to when notes were committed, also for a person who asks about the notes. It reads some 5,000 commits
/// in this time; what it does not say is asked again by a process of its own.
pub const SOON_COMMIT_TIMES: Duration = ms(200);
/// How often a session looks for the first index, which another process is making.
pub const FIRST_INDEX_POLL: Duration = ms(5);
/// A file that changes twice within this time can keep its timestamps.
pub const FILE_TIMES_TICK: Duration = seconds(2);

// A person waits at a terminal.

/// The wait for another process that writes the state.
pub const STATE: Duration = seconds(5);
/// The wait for another process that reads or writes the index.
pub const INDEX: Duration = seconds(5);
/// The same for `kgctx index`, after a clone of a large repository.
pub const COMMIT_TIMES: Duration = seconds(20);
/// All calls of maenifold's program for one question. Each call has its own limit, too.
pub const MAENIFOLD_QUESTION: Duration = seconds(600);
/// How often `kgctx monitor --watch` looks.
pub const MONITOR_POLL: Duration = seconds(1);
/// How often `kgctx inject --wait` checks a busy session.
pub const BUSY_POLL: Duration = ms(200);
/// The doctor reports a vault or a program that takes longer, and continues.
pub const DOCTOR: Duration = seconds(5);
/// The doctor reports a server that takes longer.
pub const DOCTOR_SERVER: Duration = seconds(2);
/// Practically no limit for a context in `kgctx check`.
pub const CHECK: Duration = seconds(3_600);
/// How often to check whether a program that prints its version has ended.
pub const VERSION_POLL: Duration = ms(5);
/// How often to check whether a program with a complete answer has ended.
pub const ANSWER_POLL: Duration = ms(2);

// A wrapper runs an agent in a terminal: `kgctx wrap`.

/// How often a wrapper looks whether its agent is to be started again.
pub const WRAP_POLL: Duration = ms(250);
/// For so long nobody may have typed. The system tells keys with a precision of eight seconds.
pub const WRAP_UNTOUCHED: Duration = seconds(10);
/// An agent that does not come to rest within this time is left alone. The next end of a turn asks again.
pub const WRAP_REST: Duration = seconds(60);
/// The time to end by itself for an agent that was asked to.
pub const WRAP_GRACE: Duration = seconds(5);
/// How long a wrapper waits for the handoff of a session that has just ended, to tell its user of it.
pub const WRAP_ENDING: Duration = seconds(2);

// A session goes on in a fresh context: `kgctx handoff rotate`.

/// A rotation that nothing has started within this time is over.
pub const ROTATION: Duration = seconds(2 * 60 * 60);
/// The wait for another process that writes the state, at the end of a turn.
pub const STOP_STATE: Duration = ms(50);
/// How long a worker waits for a window that is idle, with nothing in its composer. The next end of a turn tries again.
pub const READY: Duration = seconds(3);
/// For so long a session must be idle before it is cleared or ended: between two prompts in a row it seems to be, for some 100 ms.
pub const IDLE: Duration = ms(500);
/// The same for a session that has just begun: it has no queue.
pub const NEW_IDLE: Duration = ms(200);
/// Somebody who used the window within this time may be about to type.
pub const UNTOUCHED: Duration = seconds(2);
/// Between a text and its Enter, which would else count as a part of pasted text.
pub const SETTLE: Duration = ms(300);
/// How long a window may take to show what was typed.
pub const ECHO: Duration = seconds(2);
/// How long a host may take to clear its context.
pub const CLEAR: Duration = seconds(5);
/// How long the new session may take to show an empty composer.
pub const FIRST_PROMPT: Duration = seconds(10);
/// How long a host may take to tell that a prompt was sent.
pub const TAKEN_UP: Duration = seconds(2);
/// A rotation of which a bridge says nothing for so long came to nothing: its question, or its answer, was lost.
pub const BRIDGE_ROTATION: Duration = seconds(10);
/// How long a window that was not ready is watched, because whoever has left it ends no turn, and how often.
pub const WATCH: Duration = seconds(10 * 60);
pub const WATCH_POLL: Duration = seconds(2);
/// One call of tmux.
pub const TMUX: Duration = seconds(2);
/// How often a worker looks at a window.
pub const WINDOW_POLL: Duration = ms(50);

// No one waits: work in the background.

/// A session without an end is over when nobody has said anything in it for so long.
pub const IDLE_SESSION: Duration = seconds(30 * 60);
/// The summary of an ended session.
pub const SUMMARY: Duration = seconds(120);
/// All of git's answers about what an ended session did.
pub const SESSION_WORK: Duration = seconds(5);
/// A vault that takes longer to open is skipped.
pub const BACKGROUND_VAULT: Duration = seconds(5);
/// The system does not report every change of a vault, so one is assumed at this interval.
pub const WATCH_TRUST: Duration = seconds(60);
/// Changes come in bursts. A burst ends after this time without a change.
pub const BURST_END: Duration = ms(150);
/// A burst that continues is handled after this time.
pub const LONGEST_BURST: Duration = seconds(1);
/// How often to check whether a vault's root was replaced, which the system does not report.
pub const ROOT_POLL: Duration = seconds(1);
/// How long until vaults that cannot be watched are tried again.
pub const WATCH_RETRY: Duration = seconds(60);

// The service, and the servers that it follows.

/// Connecting to a server, even across a network.
pub const CONNECT: Duration = seconds(3);
/// One answer of a server. The first message after its start takes seconds.
pub const SERVER_ANSWER: Duration = seconds(10);
/// A fork is complete when no further message arrives within this time.
pub const FORK_POLL: Duration = ms(500);
/// How often OpenCode sends an event if nothing happens.
pub const HEARTBEAT: Duration = seconds(10);
/// A connection without events for this time is lost.
pub const LONGEST_SILENCE: Duration = HEARTBEAT.saturating_mul(3);
/// The wait for another process that writes the state, in a delivery over HTTP.
pub const DELIVERY_STATE: Duration = seconds(2);
/// A delivery by the service; longer than the slowest answers of a server.
pub const SERVICE_DELIVERY: Duration = seconds(60);
/// The request for the status of the service.
pub const SERVICE_STATUS: Duration = seconds(2);
/// The service disconnects a caller that sends nothing for this time.
pub const SERVICE_CALL: Duration = seconds(5);
/// The time for unfinished work when the service stops.
pub const SERVICE_STOP: Duration = seconds(3);
/// A service that was just stopped or killed needs a moment to release its lock.
pub const SERVICE_LOCK: Duration = seconds(1);
pub const SERVICE_LOCK_POLL: Duration = ms(20);
/// The first pause before a lost server is tried again. Each further pause doubles, up to [`LONGEST_PAUSE`].
pub const FIRST_PAUSE: Duration = ms(250);
pub const LONGEST_PAUSE: Duration = seconds(10);
/// OpenCode reports a connection a moment before it sends all events. A second look finds what happened in between.
pub const SECOND_LOOK: Duration = seconds(2);
/// Older sessions without a prompt receive no context: their users have abandoned them.
pub const OLDEST_SESSION: Duration = seconds(24 * 60 * 60);
/// How often the service checks whether a session is due.
pub const DUE_POLL: Duration = ms(100);
/// The head start of a bridge, which reliably delivers before the prompt.
pub const BRIDGE_FIRST: Duration = seconds(5);
/// A busy session reports when it becomes idle. This pause covers a missed report.
pub const BUSY_PAUSE: Duration = seconds(5);
/// How long until a claim of another process is checked again.
pub const CLAIMED_PAUSE: Duration = seconds(1);

/// How long a connection to the page may be silent.
pub const WEB_SILENCE: Duration = seconds(30);

#[cfg(test)]
mod tests {
    use super::*;

    /// Starting and ending the process.
    const PROCESS: Duration = ms(200);

    /// The value of a constant in the bridge's source, in milliseconds.
    fn in_bridge(name: &str) -> Duration {
        let source = include_str!("../../bridges/opencode/kgctx.ts");
        let (_, behind) = source.split_once(&format!("const {name} = ")).unwrap();
        let digits = behind.chars().take_while(|c| c.is_ascii_digit() || *c == '_');
        ms(digits.filter(char::is_ascii_digit).collect::<String>().parse().unwrap())
    }

    #[test]
    fn a_bridge_waits_longer_than_a_hook_takes() {
        let promised = HOOK + PROCESS;
        assert!(promised < in_bridge("KILL_MS"));
        assert!(in_bridge("KILL_MS") < in_bridge("HOLD_MS"));
        let promise = format!("{:.1} seconds", promised.as_secs_f64());
        for text in [include_str!("../../ARCHITECTURE.md"), include_str!("../cli/hook.rs")] {
            assert!(text.contains(&promise), "{promise}");
        }
    }

    #[test]
    fn a_hook_has_time_for_a_context_when_the_service_hangs() {
        let left = HOOK - HOOK_REPLY - HOOK_SERVICE;
        assert!(CONTEXT_END + KILL_MARGIN < left);
        assert!(HANDOFF_STATE + HANDOFF_FILES < left);
        assert!(HOOK_STATE < left);
        assert!(CONTEXT_END < UNCLAIMED_CONTEXT);
        assert!(HELD_POLL < HOOK_STATE);
    }

    #[test]
    fn the_steps_of_a_context_fit_into_its_time() {
        assert!(RECEIPT_STATE < CONTEXT_END);
        let steps = HANDOFF_STATE + HANDOFF_FILES + MAENIFOLD_DATABASE + CONTEXT_END + KILL_MARGIN;
        assert!(steps < CONTEXT);
        assert!(steps < HOOK - HOOK_REPLY);
    }

    #[test]
    fn a_delivery_outlasts_its_server() {
        assert!(CONNECT < SERVER_ANSWER);
        assert!(DELIVERY_STATE + CONNECT + 3 * SERVER_ANSWER + 20 * FORK_POLL < SERVICE_DELIVERY);
        assert!(HEARTBEAT < LONGEST_SILENCE);
        assert!(SERVICE_STATUS < DOCTOR && DOCTOR_SERVER < DOCTOR);
        assert!(SERVICE_LOCK_POLL < SERVICE_LOCK);
        assert!(FIRST_PAUSE < LONGEST_PAUSE);
    }

    #[test]
    fn a_burst_ends_before_it_is_too_long() {
        assert!(BURST_END < LONGEST_BURST);
        assert!(LONGEST_BURST + ROOT_POLL < WATCH_TRUST);
    }
}
