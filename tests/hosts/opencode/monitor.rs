//! How full the contexts of the real OpenCode are, what its agents are told of it, and what its sessions leave.

use std::fs;
use std::time::{Duration, SystemTime};

use rusqlite::Connection;
use serde_json::{Value, json};

use super::found::Version;
use super::lab::Lab;
use super::pool::bridge;
use super::server::Server;
use super::{on_both_versions, until};

on_both_versions!(
    a_1_29_an_agent_is_told_beside_a_tools_result_once,
    a_session_leaves_a_handoff_when_it_is_deleted_or_archived,
    a_session_that_is_idle_for_long_leaves_a_handoff_once,
);

fn kgctx(lab: &Lab, arguments: &[&str]) -> Value {
    let output = lab.command(env!("CARGO_BIN_EXE_kgctx")).args(arguments).arg("--json").output();
    serde_json::from_slice(&output.unwrap().stdout).unwrap_or_default()
}

/// What the monitor says of a session that has so many tokens.
fn seen(lab: &Lab, session: &str, tokens: u64) -> Value {
    until("the monitor sees it", || {
        let all = kgctx(lab, &["monitor", "--session", session]);
        all["sessions"].get(0).filter(|seen| seen["tokens"] == tokens).cloned()
    })
}

fn a_1_29_an_agent_is_told_beside_a_tools_result_once(version: Version) {
    //
    let lab = Lab::new(version).plugin(bridge());
    let server = lab.serve();
    let session = server.create(&json!({}));
    server.say(&session, "[[tokens:60000]] PROMPT-A");
    let warned = seen(&lab, &session, 60_005);
    let expected = json!({"level": "WARN", "percent": 60, "window": 100_000, "tokensFrom": "messages", "windowFrom": "host"});
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(warned[key], *value, "{key}: {warned}");
    }
    const TOLD: &str = "the context of this session is 60 % full";
    for prompt in ["PROMPT-B", "PROMPT-C"] {
        server.say(&session, &format!("[[bash:echo TOOL-RESULT]] {prompt}"));
        let call = server.chats(&session).pop().unwrap();
        assert_eq!(call.count(TOLD), 1, "{}", call.conversation());
        assert!(call.in_order("TOOL-RESULT", TOLD), "{}", call.conversation());
    }
}

fn end_of(lab: &Lab, session: &str) -> Vec<Value> {
    let list = kgctx(lab, &["handoff", "list", "--all"]);
    let all = list["handoffs"].as_array().cloned().unwrap_or_default();
    all.into_iter().filter(|it| it["type"] == "end" && it["session_id"] == session).collect()
}

fn a_session_leaves_a_handoff_when_it_is_deleted_or_archived(version: Version) {
    let lab = Lab::new(version).plugin(bridge());
    let server = lab.serve();
    for end in [Server::delete, Server::archive] {
        let (short, long) = (server.create(&json!({})), server.create(&json!({})));
        server.say(&short, "ONLY-ONE");
        for prompt in
            ["FIRST-PROMPT", "SECOND-PROMPT [[bash:echo BROKEN-TILES; exit 7]]", "THIRD-PROMPT"]
        {
            server.say(&long, prompt);
        }
        let said = lab.path().join(format!("kgctx-home/state/said/{long}.json"));
        until("what was said is kept", || {
            fs::read_to_string(&said).ok().filter(|said| said.contains("THIRD-PROMPT"))
        });
        end(&server, &short);
        end(&server, &long);
        let left = until("the handoff", || end_of(&lab, &long).pop());
        let shown = kgctx(&lab, &["handoff", "show", left["id"].as_str().unwrap()]);
        let body = shown["body"].as_str().unwrap();
        assert!(body.contains("THIRD-PROMPT"), "{shown}");
        assert!(body.contains("exit 7` ended with exit code 7: BROKEN-TILES"), "{shown}");
        assert_eq!(shown["goal"], "FIRST-PROMPT");
        until("what was said is forgotten", || (!said.exists()).then_some(()));
        assert_eq!((end_of(&lab, &long).len(), end_of(&lab, &short).len()), (1, 0));
    }
}

fn a_session_that_is_idle_for_long_leaves_a_handoff_once(version: Version) {
    let lab = Lab::new(version).plugin(bridge());
    let server = lab.serve();
    let session = server.create(&json!({}));
    for prompt in ["FIRST-PROMPT", "SECOND-PROMPT", "THIRD-PROMPT"] {
        server.say(&session, prompt);
    }
    let home = lab.path().join("kgctx-home/state");
    let said = home.join(format!("said/{session}.json"));
    until("what was said is kept", || {
        fs::read_to_string(&said).ok().filter(|said| said.contains("THIRD-PROMPT"))
    });
    assert_eq!(end_of(&lab, &session).len(), 0, "it may go on");
    // As if half an hour had passed since that was noted; the next session that starts sees to it.
    let state = Connection::open(home.join("state.db")).unwrap();
    let kept = fs::metadata(&said).unwrap().modified().unwrap();
    let kept = kept.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis() as i64;
    let next = server.create(&json!({}));
    let left = until("the handoff", || {
        // A turn's end may be noted once more after this, and be due later again.
        let sql = "UPDATE endings SET due = 1 WHERE due - 30 * 60 * 1000 >= ?1";
        if state.execute(sql, [kept]).ok()? > 0 {
            server.create(&json!({}));
        }
        std::thread::sleep(Duration::from_millis(500));
        end_of(&lab, &session).pop()
    });
    let shown = kgctx(&lab, &["handoff", "show", left["id"].as_str().unwrap()]);
    assert!(shown["body"].as_str().unwrap().contains("THIRD-PROMPT"), "{shown}");
    // Nothing was said since.
    server.delete(&session);
    server.say(&next, "NEXT-PROMPT");
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(end_of(&lab, &session).len(), 1);
}
