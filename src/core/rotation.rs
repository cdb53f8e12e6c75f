//! A rotation: a session that goes on in a fresh context, by a handoff that it wrote itself. Its states, and the prompt with
//! which the new context begins.

use std::path::Path;

use serde::Serialize;

use crate::core::named::named;

/// No more rotations happen without a person's prompt in between.
pub const MAX_IN_A_ROW: u32 = 10;
/// So many turns can end without it, because the window was not ready, before that counts as odd.
pub const MANY_POSTPONED: u32 = 3;
/// After so many, nothing more is tried by itself.
pub const MAX_POSTPONED: u32 = 10;
/// The longest text of `--then`. A window takes a long line for pasted text.
pub const MAX_TASK_CHARS: usize = 500;
/// The longest first prompt that is typed: Claude Code shows one of some 1,000 characters as `[Pasted text]`.
pub const MAX_PROMPT_CHARS: usize = 800;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RotationState {
    /// It waits for the end of the turn.
    Scheduled,
    /// A worker waits until the window is idle and its composer empty. No key was sent.
    Reserved,
    /// A key may have been sent.
    Clearing,
    /// The new session has begun, and has the handoff.
    Cleared,
    /// The new session has the handoff, and its first prompt is for a person to type.
    Waiting,
    /// A key may have been sent, and nothing came of it; or too many turns ended without it. Only a person or the host itself
    /// goes on from here.
    Stuck,
    /// The new session works.
    Done,
    Cancelled,
    /// The session is gone.
    Dropped,
    /// It was scheduled too long ago.
    Expired,
    /// The session scheduled another one.
    Superseded,
}

named!(RotationState {
    Scheduled = "scheduled",
    Reserved = "reserved",
    Clearing = "clearing",
    Cleared = "cleared",
    Waiting = "waiting",
    Stuck = "stuck",
    Done = "done",
    Cancelled = "cancelled",
    Dropped = "dropped",
    Expired = "expired",
    Superseded = "superseded",
});

impl RotationState {
    /// Whether the old session is still to be cleared, as far as is known.
    pub fn is_open(self) -> bool {
        use RotationState::{Clearing, Reserved, Scheduled, Stuck};
        matches!(self, Scheduled | Reserved | Clearing | Stuck)
    }
}

/// The first prompt of the new session. `file`: the file that the agent named, if the context does not have all of it.
pub fn prompt(handoff: &str, file: Option<&Path>, task: Option<&str>) -> String {
    let mut prompt = match file {
        Some(file) => format!("Read {} and continue from where you left off.", file.display()),
        None => format!("Continue from where you left off; the handoff {handoff} is above."),
    };
    if let Some(task) = task {
        prompt.push(' ');
        prompt.push_str(task);
    }
    prompt
}

/// The first prompt of a session that was not given the handoff. `file`: the file that the agent named.
pub fn unread_prompt(handoff: &str, file: Option<&Path>, task: Option<&str>) -> String {
    if file.is_some() {
        return prompt(handoff, file, task);
    }
    let then = task.map(|task| format!(" {task}")).unwrap_or_default();
    format!("Run `kgctx handoff show {handoff}` and continue from where you left off.{then}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r_4_18_the_first_prompt_names_the_handoff_or_its_file() {
        //
        let short = prompt("HO-1", None, None);
        assert_eq!(short, "Continue from where you left off; the handoff HO-1 is above.");
        let file = Path::new("/a b/it's $HOME; -x.md");
        let long = prompt("HO-1", Some(file), Some("Then run the tests."));
        let expected =
            "Read /a b/it's $HOME; -x.md and continue from where you left off. Then run the tests.";
        assert_eq!(long, expected);
    }
}
