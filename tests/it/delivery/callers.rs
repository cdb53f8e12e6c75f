//! Who calls a hook: the argument names the host, a mark of another one wins, and only the named one is given a handoff.
//! The event and the variables of Copilot CLI were recorded with 1.0.102.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::handoff_lab::{Lab, context, given};
use crate::support::handoff_project::{Said, fed};

/// How Copilot CLI marks its hooks.
const COPILOT: [(&str, &str); 2] = [("COPILOT_CLI", "1"), ("CLAUDE_PROJECT_DIR", "/p")];

/// A project with a note and a handoff that waits.
fn lab() -> (Lab, String) {
    let lab = Lab::new();
    lab.scratch
        .write("zephyr/docs/sails.md", "# Sails\n\nCANARY The [[Mast]] holds the [[Sail]].\n");
    let id = lab.leave("Go on with the sails. THE END");
    (lab, id)
}

/// An event as Copilot CLI tells it.
fn told_by_copilot(lab: &Lab, name: &str, session: &str) -> Value {
    let mut event = json!({"hook_event_name": name, "session_id": session, "cwd": lab.folder(),
        "timestamp": "2026-11-18T02:22:41.597Z"});
    match name {
        "SessionStart" => event["source"] = json!("new"),
        "SessionEnd" => event["reason"] = json!("complete"),
        _ => event["prompt"] = json!("What about the mast?"),
    }
    event
}

/// What a hook prints that is told this.
fn answer(mut hook: Command, variables: &[(&str, &str)], event: &Value) -> String {
    hook.envs(variables.iter().copied());
    let Said { code, out, err } = fed(hook, event.to_string().as_bytes());
    assert_eq!((code, err.as_str()), (0, ""));
    out
}

#[test]
fn copilot_gets_its_notes_and_claude_code_the_handoff() {
    let (lab, id) = lab();
    for variables in [&COPILOT[..], &[]] {
        let session = format!("copilot-{}", variables.len());
        let event = told_by_copilot(&lab, "SessionStart", &session);
        let out = answer(lab.hook(), variables, &event);
        let said: Value = serde_json::from_str(&out).unwrap();
        let text = said["additionalContext"].as_str().unwrap();
        assert!(text.contains("CANARY") && !text.contains("HANDOFF"), "{text}");
        assert_eq!(said.as_object().unwrap().len(), 1, "{out}");
        for name in ["SessionStart", "UserPromptSubmit", "SessionEnd"] {
            let event = told_by_copilot(&lab, name, &session);
            assert_eq!(answer(lab.hook(), variables, &event), "", "{name}");
        }
    }
    assert_eq!(lab.status(&id).as_deref(), Some("active"));
    let text = lab.start("claude").unwrap();
    assert!(text.contains("CANARY") && text.contains(&id), "{text}");
    assert_eq!(lab.status(&id).as_deref(), Some("consumed"));
}

#[test]
fn whoever_is_not_known_gets_context_and_never_a_handoff() {
    let (lab, id) = lab();
    let event = |session: &str| lab.event("start-startup", session);
    let camel = |session: &str| {
        json!({"hookEventName": "SessionStart", "sessionId": session, "cwd": lab.folder(), "source": "new",
            "timestamp": "2026-11-18T02:22:41.597Z", "transcript_path": "/t.json"})
    };
    let with_transcript = |session: &str, transcript: Value| {
        let mut event = event(session);
        event["transcript_path"] = transcript;
        event
    };
    let mut without = event("without");
    without.as_object_mut().unwrap().remove("transcript_path");
    let mut codex = with_transcript("codex", Value::Null);
    codex["model"] = json!("m");
    for (n, (variable, event)) in [
        ("QWEN_CODE_SESSION_ID", event("qwen")),
        ("GEMINI_SESSION_ID", event("gemini")),
        ("GEMINI_CLI", event("gemini-shell")),
        ("DROID_PROJECT_DIR", event("droid")),
        ("FACTORY_PROJECT_DIR", event("factory")),
        ("CRUSH", event("crush")),
        ("VSCODE_PID", camel("vscode")),
        ("TERM", without),
        ("TERM", with_transcript("continue", json!("/h/.continue/sessions/continue.json"))),
        ("TERM", codex),
    ]
    .into_iter()
    .enumerate()
    {
        let out = answer(lab.hook(), &[(variable, "1")], &event);
        let said: Value = serde_json::from_str(&out).unwrap();
        let text = said["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
        assert!(text.contains("CANARY") && !text.contains("HANDOFF"), "{n}: {text}");
    }
    let own = json!({"conversation_id": "own", "hook_event_name": "sessionStart", "cursor_version": "3.1",
        "workspace_roots": [lab.folder()], "transcript_path": null});
    for (variable, event) in [
        ("CURSOR_VERSION", event("cursor")),
        ("CURSOR_PROJECT_DIR", event("cursor-project")),
        ("TERM", own),
    ] {
        let said = answer(lab.hook(), &[(variable, "3.1")], &event);
        let said: Value = serde_json::from_str(&said).unwrap();
        let text = said["additional_context"].as_str().unwrap();
        assert!(text.contains("CANARY") && !text.contains("HANDOFF"), "{text}");
    }
    let mut event_of_copilot = event("copilot-project");
    event_of_copilot["source"] = json!("new");
    let said = answer(lab.hook(), &[("COPILOT_PROJECT_DIR", "/p")], &event_of_copilot);
    assert!(!said.contains("HANDOFF") && said.contains("CANARY"), "{said}");
    assert_eq!(lab.status(&id).as_deref(), Some("active"));

    // What is resumed still has what it had, and an end leaves nothing.
    let resumed = lab.event("start-resume", "qwen");
    assert_eq!(answer(lab.hook(), &[("QWEN_CODE_SESSION_ID", "1")], &resumed), "");
    let ended = lab.event("end-other", "qwen");
    assert_eq!(answer(lab.hook(), &[("QWEN_CODE_SESSION_ID", "1")], &ended), "");
    let endings: i64 =
        lab.state().query_row("SELECT count(*) FROM endings", [], |row| row.get(0)).unwrap();
    assert_eq!(endings, 0);

    // Claude Code in the shell of another agent says who it is.
    let mut hook = lab.hook();
    hook.envs(COPILOT).env("CLAUDE_CODE_SESSION_ID", "claude");
    let text = context(&given(hook, &event("claude"))).unwrap();
    assert!(text.contains(&id), "{text}");
}

#[test]
fn the_name_alone_says_in_five_lines_what_it_is_for() {
    let lab = Lab::new();
    let bare = || lab.kgctx::<&str>([]);
    let said = fed(bare(), b"");
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    assert_eq!(said.err.lines().count(), 5);
    insta::assert_snapshot!("introduction", said.err);
    // Options alone ask for nothing, either.
    let optioned = fed(lab.kgctx(["--dir", "/"]), b"");
    assert_eq!((optioned.code, optioned.err), (2, said.err));
    for other in ["not json", "{}", "[]", "{\"goal\": \"x\"}\nText"] {
        assert_eq!(fed(bare(), other.as_bytes()).code, 2, "{other}");
    }
    // Whoever says nothing and does not hang up is not waited for.
    let mut silent = bare();
    silent.stdin(std::process::Stdio::piped()).stderr(std::process::Stdio::null());
    let started = Instant::now();
    let mut child = silent.spawn().unwrap();
    let open = child.stdin.take();
    assert_eq!(child.wait().unwrap().code(), Some(2));
    assert!(started.elapsed() < Duration::from_secs(10));
    drop(open);
}

#[test]
fn no_host_ever_sees_how_kgctx_is_used() {
    let (lab, id) = lab();
    let event = told_by_copilot(&lab, "SessionStart", "s").to_string();
    let camel = r#"{"hookEventName":"SessionStart","sessionId":"s"}"#;
    for arguments in
        [&[][..], &["hook"], &["hook", "claude"], &["hook", "claude-code", "--verbose"]]
    {
        for event in [event.as_str(), camel] {
            let Said { code, out, err } = fed(lab.kgctx(arguments), event.as_bytes());
            assert_eq!((code, out.as_str(), err.as_str()), (0, "", ""), "{arguments:?}");
        }
        assert_eq!(fed(lab.kgctx(arguments), b"").code, 2, "{arguments:?}: people are told");
    }
    assert_eq!(lab.status(&id).as_deref(), Some("active"));
}
