//! Whom a handoff is for: a scripted session leaves what is for a person to a person, and what a session was given can be
//! given to another.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::handoff_lab::{Lab, context, fire, given, talk, waiting};
use crate::support::valid;

/// How every handoff begins in a context.
const OPENING: &str = "=== HANDOFF LOADED (ID: ";
/// What shows that Claude Code runs without a person.
const SCRIPTED: [(&str, &str); 7] = [
    ("CLAUDE_CODE_ENTRYPOINT", "sdk-cli"),
    ("CLAUDE_CODE_ENTRYPOINT", "sdk-ts"),
    ("CLAUDE_CODE_ENTRYPOINT", "sdk-py"),
    ("CLAUDE_CODE_ENTRYPOINT", "claude-code-github-action"),
    ("CI", "true"),
    ("CI", "1"),
    ("CI", "woodpecker"),
];
/// What shows that it does not, or nothing.
const INTERACTIVE: [(&str, &str); 7] = [
    ("CLAUDE_CODE_ENTRYPOINT", "cli"),
    ("CLAUDE_CODE_ENTRYPOINT", "claude-vscode"),
    ("CLAUDE_CODE_ENTRYPOINT", "later"),
    ("CLAUDE_CODE_ENTRYPOINT", ""),
    ("CI", "false"),
    ("CI", "0"),
    ("CI", ""),
];

fn hook(lab: &Lab, (name, value): (&str, &str)) -> Command {
    let mut hook = lab.hook();
    hook.env(name, value);
    hook
}

/// What a session is told by an event, in an environment.
fn told(lab: &Lab, event: &str, session: &str, sign: (&str, &str)) -> Option<String> {
    context(&given(hook(lab, sign), &lab.event(event, session)))
}

#[test]
fn a_scripted_session_gets_its_notes_and_leaves_the_handoff_to_a_person() {
    let lab = Lab::new();
    lab.scratch.write("zephyr/docs/wind.md", "# Wind\n\nThe [[wind]] turns north.\n");
    let id = lab.leave("Ship it.");
    for (n, sign) in SCRIPTED.into_iter().enumerate() {
        let session = format!("script-{n}");
        let text = told(&lab, "start-startup", &session, sign).unwrap();
        assert!(
            text.contains("wind") && !text.contains(&id) && !text.contains("Ship it."),
            "{text}"
        );
        assert_eq!(lab.status(&id).as_deref(), Some("active"), "{sign:?}");
        let faults = lab.faults(&session);
        assert!(faults.contains(&id) && faults.contains("this one is scripted"), "{faults}");
    }
    // Taken up again, it gets none either.
    talk(&lab, "script-0", 1);
    assert_eq!(told(&lab, "start-resume", "script-0", SCRIPTED[0]), None);
    assert_eq!(lab.status(&id).as_deref(), Some("active"));
    for (n, sign) in INTERACTIVE.into_iter().enumerate() {
        let id = lab.leave("Ship it.");
        let text = told(&lab, "start-startup", &format!("person-{n}"), sign).unwrap();
        assert!(text.contains(&id) && text.contains("Ship it."), "{sign:?}: {text}");
        assert_eq!(lab.status(&id).as_deref(), Some("consumed"), "{sign:?}");
    }
}

#[test]
fn a_scripted_session_gets_what_was_left_for_any() {
    let lab = Lab::new();
    let check = |id: &str, session: &str, is_given: bool| {
        let text = told(&lab, "start-startup", session, SCRIPTED[0]);
        assert_eq!(text.is_some_and(|text| text.contains(id)), is_given, "{session}");
        let expected = if is_given { "consumed" } else { "active" };
        assert_eq!(lab.status(id).as_deref(), Some(expected), "{session}");
    };
    check(&lab.create(&["--for", "any", "--body", "Ship it."]), "any", true);
    check(&lab.create(&["--for", "interactive", "--body", "Ship it."]), "interactive", false);
    check(&lab.create(&["--body", "{\"audience\": \"any\"}\nShip it."]), "header", true);
    // The setting is for what does not say it itself.
    let any = "[handoff]\naudience = \"any\"\n";
    lab.scratch.write("kgctx-home/config.toml", any);
    check(&lab.leave("Ship it."), "user", true);
    let for_people = lab.create(&["--for", "interactive", "--body", "Ship it."]);
    check(&for_people, "user-people", false);
    // A project only narrows it.
    lab.scratch.write("zephyr/kgctx.toml", any.replace("any", "interactive"));
    check(&lab.leave("Ship it."), "narrowed", false);
    lab.scratch.write("kgctx-home/config.toml", "");
    lab.scratch.write("zephyr/kgctx.toml", any);
    check(&lab.leave("Ship it."), "project", false);
    let shown = lab.handoff(&["show"]);
    assert_eq!(
        (&shown["audience"], &shown["document"]["audience"]),
        (&json!("interactive"), &json!("interactive"))
    );
    let (code, message) = lab.refused(&["create", "--for", "nobody", "--body", "x"]);
    assert!(code == 2 && message.contains("interactive, any"), "{message}");
    let (code, message) = lab.refused(&["create", "--body", "{\"audience\": \"nobody\"}\nx"]);
    assert!(code == 2 && message.contains("audience is \"nobody\", which is unknown"), "{message}");
}

#[test]
fn a_scripted_session_does_not_make_a_handoff_old() {
    let lab = Lab::new();
    let id = lab.create(&["--type", "auto", "--session", "author", "--body", "Go on."]);
    lab.sql("UPDATE handoffs SET created = created - 9000000, expires = expires - 9000000");
    assert_eq!(told(&lab, "start-startup", "script", SCRIPTED[0]), None);
    assert_eq!(lab.status(&id).as_deref(), Some("active"));
    assert!(lab.start("person").unwrap().contains("is older than 2 hours"));
    assert_eq!(told(&lab, "start-startup", "again", SCRIPTED[0]), None, "it is not told either");
}

#[test]
fn the_end_of_a_scripted_session_takes_nobodys_place() {
    let lab = Lab::new();
    let end = |session: &str, sign| {
        talk(&lab, session, 3);
        assert_eq!(told(&lab, "end-other", session, sign), None);
        let sql = "SELECT count(*) FROM endings";
        while lab.state().query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap() > 0 {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let listed = lab.handoff(&["list"]);
        let waits = listed["handoffs"].as_array().unwrap().first().cloned();
        waits.map(|handoff| handoff["session_id"].as_str().unwrap().to_owned())
    };
    assert_eq!(end("person", INTERACTIVE[0]).as_deref(), Some("person"));
    assert_eq!(end("script", SCRIPTED[0]).as_deref(), Some("person"));
    lab.scratch.write("kgctx-home/config.toml", "[handoff]\naudience = \"any\"\n");
    assert_eq!(end("another", SCRIPTED[0]).as_deref(), Some("another"));
}

#[test]
fn what_opencode_runs_without_a_person_leaves_the_handoff_to_one() {
    let lab = Lab::new();
    let asked = |session: &str, permission: Value, sign: (&str, &str)| -> Value {
        let info = json!({
            "id": session, "directory": lab.folder(), "title": "New session", "permission": permission,
        });
        let event =
            json!({"type": "session.created", "properties": {"sessionID": session, "info": info}});
        let question = json!({"protocol": 1, "bridge": "0.1.0", "directory": "/", "event": event});
        let mut command = lab.kgctx(["hook", "opencode"]);
        command.env(sign.0, sign.1);
        let output = fire(waiting(command), &question).wait_with_output().unwrap();
        let answer = serde_json::from_slice(&output.stdout).unwrap();
        valid("hook-opencode", &answer);
        answer
    };
    let rule =
        |name: &str, action: &str| json!({"permission": name, "pattern": "*", "action": action});
    // As `opencode run` of 1.15.13 and 1.18.33 makes its sessions.
    let scripted =
        json!([rule("question", "deny"), rule("plan_enter", "deny"), rule("plan_exit", "deny")]);
    let id = lab.leave("Ship it.");
    assert_eq!(asked("run", scripted.clone(), ("CI", ""))["action"], "none");
    assert_eq!(asked("ci", json!(null), ("CI", "true"))["action"], "none");
    assert_eq!(lab.status(&id).as_deref(), Some("active"));
    for (n, permission) in [
        json!(null),
        json!([]),
        json!("odd"),
        json!([rule("question", "ask"), rule("edit", "deny"), 7]),
    ]
    .into_iter()
    .enumerate()
    {
        let id = lab.leave("Ship it.");
        let answer = asked(&format!("person-{n}"), permission, ("CI", ""));
        assert!(answer["text"].as_str().unwrap().contains(&id), "{answer}");
    }
    let id = lab.create(&["--for", "any", "--body", "Ship it."]);
    assert!(asked("any", scripted, ("CI", ""))["text"].as_str().unwrap().contains(&id));
}

#[test]
fn what_a_session_was_given_can_be_given_to_another() {
    let lab = Lab::new();
    let id = lab.leave("Ship it.");
    assert!(lab.start("eager").unwrap().contains(&id));
    assert_eq!(lab.start("next"), None);
    lab.create(&["--task", "--goal", "g", "--next", "n"]);
    let output = lab.kgctx(["handoff", "list"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let expected = format!(
        "{id} was delivered to eager (just now); `kgctx handoff release {id}` makes it wait for another session.\n"
    );
    assert!(text.ends_with(&expected), "{text}");
    let released = lab.handoff(&["release", &id]);
    valid("handoff-step", &released);
    assert_eq!(released, json!({"id": id, "done": "released"}));
    assert_eq!(lab.status(&id).as_deref(), Some("active"));
    // Never twice to the same one, also where its conversation was summed up meanwhile.
    assert!(lab.told("start-compact", "eager").unwrap().contains(&id));
    assert_eq!(lab.status(&id).as_deref(), Some("active"));
    let text = lab.start("third").unwrap();
    assert!(text.contains(OPENING) && text.contains(&id), "{text}");
    assert_eq!(lab.status(&id).as_deref(), Some("consumed"));
    // While a newer one waits, it stays as it is.
    let newer = lab.leave("Newer.");
    let (code, message) = lab.refused(&["release", &id]);
    assert!(
        code == 1 && message.contains(&format!("cannot wait again while the newer {newer} waits")),
        "{message}"
    );
    assert_eq!(lab.status(&id).as_deref(), Some("consumed"));
    lab.handoff(&["archive", &newer]);
    lab.handoff(&["release", &id]);
    assert!(lab.start("fourth").unwrap().contains(&id));
}

#[test]
fn a_claim_of_a_session_that_is_over_is_shown_and_can_be_taken_back() {
    let lab = Lab::new();
    let task = || lab.create(&["--task", "--goal", "Ship", "--next", "Test"]);
    let [ended, killed, alive, unknown] = [task(), task(), task(), task()];
    let sessions =
        [(&ended, "ended"), (&killed, "killed"), (&alive, "alive"), (&unknown, "unknown")];
    for (id, session) in sessions {
        if session != "unknown" {
            lab.start(session);
        }
        lab.handoff(&["pickup", id, "--session", session]);
    }
    assert_eq!(lab.told("end-other", "ended"), None);
    lab.sql("UPDATE sessions SET pid = 999999999 WHERE session = 'killed'");
    // However long ago that was.
    lab.sql("UPDATE sessions SET at = 0, seen = 0, ended = min(ended, 1) WHERE session <> 'alive'");
    lab.leave("Tidies up.");
    let listed = lab.handoff(&["list"]);
    valid("handoff-list", &listed);
    for handoff in listed["handoffs"].as_array().unwrap() {
        let is_over = [&ended, &killed].iter().any(|id| handoff["id"] == id.as_str());
        assert_eq!(handoff.get("abandoned").is_some(), is_over, "{handoff}");
    }
    let output = lab.kgctx(["handoff", "list"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.ends_with("has ended; `kgctx handoff release ID` takes it back.\n"), "{text}");
    for (id, session) in [(&ended, "ended"), (&killed, "killed")] {
        assert!(text.contains(&format!("by {session}, which has ended)")), "{text}");
        let (code, message) = lab.refused(&["pickup", id]);
        assert!(
            code == 1 && message.contains("which has ended; `kgctx handoff release"),
            "{message}"
        );
        lab.handoff(&["release", id]);
        assert_eq!(lab.handoff(&["pickup", id, "--session", "alive"])["id"], id.as_str());
    }
}

#[test]
fn a_state_from_before_audiences_is_read_as_it_is() {
    let older = || {
        let lab = Lab::new();
        let id = lab.leave("Ship it.");
        let state = lab.state();
        let version: i64 =
            state.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        assert_eq!(version, 9, "later versions have to be taken back here, too");
        let older = "ALTER TABLE handoffs DROP COLUMN audience; DROP TABLE contexts; DROP TABLE rotations; DROP TABLE wraps; \
                     ALTER TABLE endings DROP COLUMN due; PRAGMA user_version = 4";
        state.execute_batch(older).unwrap();
        (lab, id)
    };
    let (lab, id) = older();
    let output = lab.kgctx(["doctor", "--json"]).output().unwrap();
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut checks = said["checks"].as_array().unwrap().iter();
    let check = checks.find(|check| check["name"] == "handoffs").unwrap();
    assert_eq!(check["verdict"], "ok", "{check}");
    assert!(check["found"].as_str().unwrap().starts_with(&id), "{check}");
    assert!(lab.start("s").unwrap().contains("Ship it."));
    let (lab, _) = older();
    let output = lab.kgctx(["inject", "--session", "u", "--dry-run"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("Ship it."), "{text}");
}
