//! What our module in Amplifier asks, asked without Amplifier: two steps with a receipt, resumes, clears and ends.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::handoff_project::{Project, Said, fed};

/// Asks as the module does.
fn ask(project: &Project, event: &str, session: &str, more: Value) -> Value {
    answered(project.scratch.kgctx(["hook", "amplifier"]), project, event, session, more)
}

fn answered(
    mut command: Command,
    project: &Project,
    event: &str,
    session: &str,
    more: Value,
) -> Value {
    let mut question = json!({
        "event": event,
        "session_id": session,
        "parent_id": null,
        "working_directory": project.path(),
        "max_chars": null,
        "application_host": "Amplifier CLI",
        "module": env!("CARGO_PKG_VERSION"),
    });
    question.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    command.current_dir(project.scratch.home());
    let Said { code, out, err } = fed(command, question.to_string().as_bytes());
    assert_eq!((code, err.as_str()), (0, ""));
    serde_json::from_str(&out).unwrap()
}

fn start(project: &Project, session: &str) -> Value {
    ask(project, "session:start", session, json!({"source": "startup"}))
}

fn told(project: &Project, event: &str, session: &str, answer: &Value) {
    let said = ask(project, event, session, json!({"receipt": answer["receipt"]}));
    assert_eq!(said, json!({"action": "continue"}));
}

fn text(answer: &Value) -> &str {
    assert_eq!(answer["action"], "inject_context", "{answer}");
    assert_eq!(answer["context_injection_role"], "system");
    answer["context_injection"].as_str().unwrap()
}

#[test]
fn a_handoff_is_consumed_where_its_text_has_arrived_and_not_before() {
    let project = Project::new();
    let id = project.leave("author", "Go on with the tiles\n");
    let first = start(&project, "a");
    assert!(text(&first).contains("Go on with the tiles"));
    assert_eq!(project.status(&id), "claimed");
    // Another session that starts meanwhile has its notes, and not the handoff.
    let second = start(&project, "b");
    assert!(!text(&second).contains("Go on with the tiles") && text(&second).contains("Tiles"));
    told(&project, "kgctx.released", "a", &first);
    assert_eq!(project.status(&id), "active");
    // Who was refused may ask again.
    let again = start(&project, "a");
    assert_eq!(text(&again), text(&first));
    told(&project, "kgctx.delivered", "a", &again);
    assert_eq!(project.status(&id), "consumed");
    // What is told twice, too late or about nothing changes nothing.
    for (event, receipt) in [
        ("kgctx.released", again["receipt"].clone()),
        ("kgctx.delivered", first["receipt"].clone()),
        ("kgctx.delivered", json!(999)),
        ("kgctx.released", Value::Null),
    ] {
        told(&project, event, "a", &json!({"receipt": receipt}));
    }
    assert_eq!(project.status(&id), "consumed");
}

#[test]
fn a_context_is_given_again_where_it_was_lost() {
    let project = Project::new();
    let first = project.leave("author", "The first thing\n");
    let given = start(&project, "a");
    told(&project, "kgctx.delivered", "a", &given);
    let resume = || ask(&project, "session:resume", "a", json!({"source": "resume"}));
    for _ in 0..2 {
        let again = resume();
        assert_eq!(text(&again), text(&given));
        told(&project, "kgctx.delivered", "a", &again);
    }
    let clear = || ask(&project, "prompt:submit", "a", json!({"source": "clear"}));
    let cleared = clear();
    assert!(!text(&cleared).contains("The first thing"));
    told(&project, "kgctx.delivered", "a", &cleared);
    assert_eq!(project.status(&first), "consumed");

    let second = project.leave("author", "The second thing\n");
    let cleared = clear();
    assert!(!text(&cleared).contains("thing"), "whoever clears wants to be rid of what was");
    told(&project, "kgctx.delivered", "a", &cleared);
    assert_eq!(project.status(&second), "active");
    project.scratch.write("kgctx-home/config.toml", "[handoff]\ninject_on_clear = true\n");
    let cleared = clear();
    assert!(text(&cleared).contains("The second thing") && !text(&cleared).contains("The first"));
    told(&project, "kgctx.released", "a", &cleared);
    // So it is still new to a session that is resumed.
    let resumed = resume();
    assert!(text(&resumed).contains("The second thing"));
    // A context has room for one handoff: the newer takes the place of the earlier.
    assert!(!text(&resumed).contains("The first thing"));
    told(&project, "kgctx.delivered", "a", &resumed);
    assert_eq!(text(&resume()), text(&resumed));
    assert_eq!(project.status(&second), "consumed");
}

#[test]
fn a_context_keeps_to_the_sessions_limit() {
    let project = Project::new();
    let id = project.leave("author", &"A long line about tiles.\n".repeat(40));
    for (n, limit) in [0, 1, 60, 200, 400, 1_000, 100_000].into_iter().enumerate() {
        let session = format!("s-{n}");
        let answer = ask(&project, "session:start", &session, json!({"max_chars": limit}));
        if answer["action"] == "continue" {
            assert!(limit < 1_000, "{limit}");
            continue;
        }
        assert!(text(&answer).chars().count() <= limit, "{limit}");
        let is_given = text(&answer).contains("HANDOFF LOADED");
        assert_eq!(project.status(&id), if is_given { "claimed" } else { "active" }, "{limit}");
        told(&project, "kgctx.released", &session, &answer);
        assert_eq!(project.status(&id), "active");
    }
}

#[test]
fn helpers_and_strangers_take_nothing() {
    let project = Project::new();
    let id = project.leave("author", "text");
    let go_on = json!({"action": "continue"});
    assert_eq!(ask(&project, "session:start", "h", json!({"parent_id": "a"})), go_on);
    for event in ["session:start", "session:resume", "session:end"] {
        // Whoever does not say that it is our module would lose the text.
        assert_eq!(ask(&project, event, "s", json!({"module": null})), go_on);
    }
    assert_eq!(ask(&project, "prompt:submit", "s", json!({})), go_on, "nothing is missing");
    assert_eq!(project.status(&id), "active");
}

/// The handoffs of ends, waited for until there are as many.
#[track_caller]
fn ends(project: &Project, n: usize) -> Vec<Value> {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let list = project.json("handoff-list", &["list", "--all", "--json"]);
        let mut ends = list["handoffs"].as_array().unwrap().clone();
        ends.retain(|handoff| handoff["type"] == "end");
        if ends.len() == n || Instant::now() > until {
            assert_eq!(ends.len(), n, "{ends:#?}");
            return ends;
        }
        thread::sleep(Duration::from_millis(50));
    }
}

fn save(project: &Project, session: &str) {
    let slug = project.path().to_string_lossy().replace('/', "-");
    let file = format!("home/.amplifier/projects/{slug}/sessions/{session}/transcript.jsonl");
    let lines = ["Serve old tiles", "Measure the cache"].map(|prompt| {
        let answer = json!({"role": "assistant", "content": "Done."});
        format!("{}\n{answer}\n", json!({"role": "user", "content": prompt}))
    });
    project.scratch.write(&file, lines.concat());
}

#[test]
fn a_session_leaves_what_its_transcript_says() {
    let project = Project::new();
    start(&project, "a");
    save(&project, "a");
    assert_eq!(ask(&project, "session:end", "a", json!({})), json!({"action": "continue"}));
    let [end] = ends(&project, 1).try_into().unwrap();
    assert_eq!((&end["session_id"], &end["goal"]), (&json!("a"), &json!("Serve old tiles")));
    // Without a transcript nothing is left.
    start(&project, "b");
    ask(&project, "session:end", "b", json!({}));
    thread::sleep(Duration::from_secs(1));
    ends(&project, 1);
}

#[test]
fn a_session_whose_process_is_gone_is_finished_by_the_next_one() {
    let project = Project::new();
    // The host's process is the one that has started kgctx: here one that ends with it.
    let mut short_lived = Command::new("timeout");
    let kgctx = project.scratch.kgctx([] as [&str; 0]);
    let variables: Vec<_> = kgctx.get_envs().filter_map(|(k, v)| Some((k, v?))).collect();
    short_lived.env_clear().envs(variables);
    short_lived.args(["10", env!("CARGO_BIN_EXE_kgctx"), "hook", "amplifier"]);
    answered(short_lived, &project, "session:start", "lost", json!({}));
    start(&project, "alive");
    for session in ["lost", "alive"] {
        save(&project, session);
    }
    ends(&project, 0);
    start(&project, "next");
    let [end] = ends(&project, 1).try_into().unwrap();
    assert_eq!(end["session_id"], "lost");
    start(&project, "after");
    thread::sleep(Duration::from_secs(1));
    ends(&project, 1);
}
