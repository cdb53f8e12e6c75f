//! A handoff that does not reach the session for which it was claimed is still there for the session after.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{consumed_by, handoff, leave, parts, prompted, states, steps, told_nothing, told_once};
use crate::opencode::found::Version;
use crate::opencode::lab::{Lab, executable};
use crate::opencode::pool::bridge;
use crate::opencode::{on_both_versions, until};

on_both_versions!(
    a_1_15_the_handoff_of_a_server_that_is_killed_waits_for_a_later_session,
    what_does_not_reach_its_session_waits_for_the_next_one,
    what_is_withdrawn_goes_with_the_prompt_and_if_that_fails_to_a_later_session,
);

const KGCTX: &str = env!("CARGO_BIN_EXE_kgctx");
/// A claim that nobody settles is void by then.
const LAPSED: Duration = Duration::from_secs(16);

/// A `kgctx` that has claimed everything and does not answer, as long as there is a file of this name.
fn held_back(lab: Lab) -> (Lab, PathBuf) {
    let (program, hold) = (lab.path().join("bin/held-back"), lab.path().join("hold"));
    let script = format!(
        "#!/bin/sh\nanswer=$('{KGCTX}' \"$@\")\nfor _ in 1 2 3 4 5 6 7 8 9 10; do\n\
         [ -e '{}' ] && sleep 0.1\ndone\nprintf '%s' \"$answer\"\n",
        hold.display()
    );
    executable(&program, &script);
    fs::write(&hold, "").unwrap();
    (lab.env("KGCTX_BIN", program), hold)
}

/// Waits until a handoff is claimed, and says when that was.
fn wait_for_claim(lab: &Lab, id: &str) -> Instant {
    until("the claim", || (handoff(lab, id)["status"] == "claimed").then_some(()));
    Instant::now()
}

fn what_does_not_reach_its_session_waits_for_the_next_one(version: Version) {
    let (lab, hold) = held_back(Lab::new(version).plugin(bridge()));
    let server = lab.serve();
    let id = leave(&lab, "GOAL", &[]);
    let released = |gone: &str, began: Instant| {
        until("the handoff to wait again", || {
            (handoff(&lab, &id)["status"] == "active").then_some(())
        });
        let waited = began.elapsed();
        assert!(waited < Duration::from_secs(13), "it was released, and did not lapse: {waited:?}");
        let record = handoff(&lab, &id);
        assert_eq!(record["reason"], "its context was not delivered", "{record}");
        let claimed = ("claimed".to_string(), Some(gone.to_string()));
        assert!(steps(&lab, &id).contains(&claimed), "{:?}", steps(&lab, &id));
    };

    // A session that is gone before its context is there.
    let began = Instant::now();
    let gone = server.create(&json!({}));
    wait_for_claim(&lab, &id);
    server.delete(&gone);
    fs::remove_file(&hold).unwrap();
    released(&gone, began);
    // A message that OpenCode refuses to store, because nobody knows its agent.
    let began = Instant::now();
    let odd = server.create(&json!({"agent": "nobody"}));
    let claimed = ("claimed".to_string(), Some(odd.clone()));
    until("the claim", || steps(&lab, &id).contains(&claimed).then_some(()));
    released(&odd, began);

    let (next, calls) = prompted(&server, "PROMPT-NEXT");
    assert_eq!(calls.len(), 1);
    told_once(&calls[0], &id, "PROMPT-NEXT");
    consumed_by(&lab, &id, &next);
    let all = ["draft", "active", "claimed", "active", "claimed", "active", "claimed", "consumed"];
    assert_eq!(states(&lab, &id), all);
    told_nothing(&prompted(&server, "PROMPT-LATER").1);
}

fn a_1_15_the_handoff_of_a_server_that_is_killed_waits_for_a_later_session(version: Version) {
    //
    let (lab, hold) = held_back(Lab::new(version).plugin(bridge()));
    let server = lab.serve();
    let id = leave(&lab, "GOAL", &[]);
    let lost = server.create(&json!({}));
    let claimed = wait_for_claim(&lab, &id);
    drop(server);
    fs::remove_file(&hold).unwrap();
    assert_eq!(handoff(&lab, &id)["claimed_by_session"], lost);

    let server = lab.serve();
    // Whoever comes while it may still be on its way is not given it.
    if claimed.elapsed() < Duration::from_secs(10) {
        told_nothing(&prompted(&server, "PROMPT-SOON").1);
    }
    thread::sleep(LAPSED.saturating_sub(claimed.elapsed()));
    let (next, calls) = prompted(&server, "PROMPT-NEXT");
    told_once(&calls[0], &id, "PROMPT-NEXT");
    consumed_by(&lab, &id, &next);
    assert_eq!(states(&lab, &id), ["draft", "active", "claimed", "active", "claimed", "consumed"]);
    told_nothing(&prompted(&server, "PROMPT-LATER").1);
    // The session for which it was claimed has begun without it, and is told nothing any more.
    server.say(&lost, "PROMPT-LOST");
    told_nothing(&server.chats(&lost));
}

fn what_is_withdrawn_goes_with_the_prompt_and_if_that_fails_to_a_later_session(version: Version) {
    // Hooks run in the order of their plugins: this one makes our message late, and the other one a prompt fail.
    let lab = Lab::new(version);
    let (late, fails) = (lab.path().join("late.ts"), lab.path().join("fails.ts"));
    let hook = |body: &str| {
        format!(
            "export const Hook = async () => ({{ \"chat.message\": async (_, {{ parts }}) => {{ {body} }} }})\n"
        )
    };
    let is_late = "if (parts.some((part) => part.metadata?.kgctx)) await new Promise((go) => setTimeout(go, 3000))";
    let is_failing =
        "if (parts.some((part) => part.text?.includes(\"PROMPT-FAILS\"))) throw new Error(\"no\")";
    fs::write(&late, hook(is_late)).unwrap();
    fs::write(&fails, hook(is_failing)).unwrap();
    let lab = lab.plugin(late).plugin(bridge()).plugin(fails);
    let server = lab.serve();
    let id = leave(&lab, "GOAL", &[]);
    let lost = server.create(&json!({}));
    let claimed = wait_for_claim(&lab, &id);
    let body = json!({"parts": [{"type": "text", "text": "PROMPT-FAILS"}]});
    let refused = server.http.call("POST", &format!("/session/{lost}/message"), Some(&body));
    assert_ne!(refused.status, 200);
    assert_eq!(handoff(&lab, &id)["claimed_by_session"], lost);
    assert!(parts(&server, &lost).is_empty());

    thread::sleep(LAPSED.saturating_sub(claimed.elapsed()));
    let next = server.create(&json!({}));
    let given = ("claimed".to_string(), Some(next.clone()));
    until("the claim", || steps(&lab, &id).contains(&given).then_some(()));
    server.say(&next, "PROMPT-NEXT");
    consumed_by(&lab, &id, &next);
    // The message that was withdrawn would be there by then.
    thread::sleep(Duration::from_secs(3));
    let calls = server.chats(&next);
    assert_eq!(calls.len(), 1);
    told_once(&calls[0], &id, "PROMPT-NEXT");
    assert_eq!((parts(&server, &next).len(), server.user_messages(&next).len()), (1, 1));
    assert_eq!(states(&lab, &id), ["draft", "active", "claimed", "active", "claimed", "consumed"]);
}
