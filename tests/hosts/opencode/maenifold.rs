//! What maenifold's program says, in sessions of the real OpenCode.

use std::fs;
use std::os::unix::fs::symlink;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::found::Version;
use super::lab::Lab;
use super::pool::bridge;
use super::server::Server;
use super::service::inject;
use super::{on_both_versions, until};
use crate::support::maenifold;

on_both_versions!(
    t_2_5_1_what_maenifold_says_is_injected_with_no_reply_true,
    t_2_5_1_by_command_too,
);

/// The same machine with maenifold, which knows a note about the project.
fn with_maenifold(lab: Lab) -> Lab {
    let lab = lab.env("KGCTX_SOURCE", "cli");
    let log = lab.path().join("calls.log");
    let lab = lab.env("STAND_IN_LOG", log);
    let memory = lab.path().join("home/maenifold/memory");
    fs::create_dir_all(&memory).unwrap();
    fs::write(memory.join("sextant.md"), "# Sextant\n\nOn atlas we trust the [[Sextant]].\n")
        .unwrap();
    symlink(maenifold(), lab.path().join("bin/maenifold")).unwrap();
    let synced = lab.command(maenifold()).args(["--tool", "Sync", "--payload", "{}"]).output();
    assert!(synced.unwrap().status.success());
    lab
}

/// Who answered about maenifold's notes for a session.
fn source(lab: &Lab, session: &str) -> String {
    let mut command = lab.command(env!("CARGO_BIN_EXE_kgctx"));
    let output = command.args(["explain", "--session", session, "--json"]).output().unwrap();
    let explained: Value = serde_json::from_slice(&output.stdout).unwrap();
    explained["receipt"]["source"]["source"].as_str().unwrap().to_owned()
}

/// One message that nobody replied to, with what maenifold's note says.
#[track_caller]
fn check(server: &Server, session: &str) {
    // A reply would have been asked for by now.
    thread::sleep(Duration::from_millis(500));
    let messages = server.messages(session);
    assert_eq!(messages.len(), 1);
    assert_eq!(messages[0]["info"]["role"], "user");
    assert_eq!(messages[0]["parts"][0]["synthetic"], true);
    let text = messages[0]["parts"][0]["text"].as_str().unwrap();
    assert!(text.contains("On atlas we trust the"), "{text}");
    assert!(server.provider.calls().iter().all(|call| call.session != session));
}

fn t_2_5_1_what_maenifold_says_is_injected_with_no_reply_true(version: Version) {
    let lab = with_maenifold(Lab::new(version).plugin(bridge()));
    let server = lab.serve();
    // A hook has little time, and the machine may be busy: then the index answers. Not always.
    let by_program = (0..10).find(|_| {
        let session = server.create(&json!({}));
        // The message is there before its text is.
        let is_whole = |message: &Value| message["parts"][0]["synthetic"] == true;
        until("the context", || server.messages(&session).pop().filter(is_whole));
        check(&server, &session);
        source(&lab, &session) == "cli"
    });
    assert!(by_program.is_some());
    let calls = fs::read_to_string(lab.path().join("calls.log")).unwrap();
    assert!(calls.contains(r#""query":"atlas""#), "{calls}");
}

fn t_2_5_1_by_command_too(version: Version) {
    let lab = with_maenifold(Lab::new(version).env("KGCTX_DEADLINE_MS", "20000"));
    let server = lab.serve();
    let session = server.create(&json!({}));
    let output = inject(&lab, &server, &session, &["--source", "cli"]);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    check(&server, &session);
    assert_eq!(source(&lab, &session), "cli");
}
