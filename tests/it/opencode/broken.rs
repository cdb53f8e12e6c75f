//! Our bridge with a `kgctx` that is broken in every way we know: the prompt goes through, in time, and one line says why.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::found::Version;
use super::lab::{Lab, executable};
use super::pool::bridge;
use super::server::Server;
use super::{on_both_versions, until};

on_both_versions!(
    a_kgctx_that_does_not_work_costs_a_prompt_at_most_its_hold,
    t_2_1_1_event_hook_receives_session_created,
);

/// What a prompt may wait for us at most.
const HOLD: Duration = Duration::from_millis(1_500);

/// Behaves as the title of the session says that it is asked about.
const BROKEN: &str = r#"#!/bin/sh
input=$(cat)
case $input in
*kgctx=hang*) exec sleep 20 ;;
*kgctx=slow*) sleep 10; echo '{"protocol":1,"action":"none","reason":"late"}' ;;
*kgctx=crash*) kill -SEGV $$ ;;
*kgctx=status*) exit 3 ;;
*kgctx=silent*) exit 0 ;;
*kgctx=garbage*) echo 'thread main panicked' ;;
*kgctx=stranger*) echo '{"protocol":99,"action":"inject","text":"KGCTX-MARK"}' ;;
*kgctx=flood*) exec yes KGCTX-MARK ;;
*) echo '{"protocol":1,"action":"none","reason":"nothing to say"}' ;;
esac
"#;

/// The shortest time that a first prompt takes: the machine may be busy with something else now and then.
fn first_prompt(server: &Server, title: &str) -> Duration {
    let one = |number: usize| {
        let session = server.create(&json!({"title": title}));
        let began = Instant::now();
        server.say(&session, &format!("PROMPT-{number}"));
        let took = began.elapsed();
        let chats = server.chats(&session);
        assert_eq!(chats.len(), 1, "{title}");
        assert_eq!(chats[0].asked(), format!("PROMPT-{number}"), "{title}");
        took
    };
    (0..3).map(one).min().unwrap()
}

fn a_kgctx_that_does_not_work_costs_a_prompt_at_most_its_hold(version: Version) {
    let lab = Lab::new(version).plugin(bridge());
    let fake = lab.path().join("bin/broken-kgctx");
    executable(&fake, BROKEN);
    let lab = lab.env("KGCTX_BIN", &fake);
    let server = lab.serve();
    let lines = || lab.log().lines().filter(|line| line.contains("kgctx: ")).count();
    let normal = first_prompt(&server, "kgctx=fine");
    assert_eq!(lines(), 0, "{}", lab.log());
    let ways =
        ["hang", "slow", "crash", "status", "silent", "garbage", "stranger", "flood", "missing"];
    for (number, way) in ways.iter().enumerate() {
        if *way == "missing" {
            fs::remove_file(&fake).unwrap();
        }
        let took = first_prompt(&server, &format!("kgctx={way}"));
        assert!(
            took < HOLD + normal * 2 + Duration::from_millis(200),
            "{way}: {took:?}, normal {normal:?}"
        );
        // Three sessions, one line for each.
        until(way, || (lines() == 3 * (number + 1)).then_some(()));
    }
}

fn t_2_1_1_event_hook_receives_session_created(version: Version) {
    let lab = Lab::new(version).plugin(bridge());
    let heard = lab.path().join("heard.jsonl");
    let kgctx = env!("CARGO_BIN_EXE_kgctx");
    let text = format!(
        "#!/bin/sh\n[ \"$*\" = 'hook opencode' ] || exit 9\ntee -a {} | exec {kgctx} \"$@\"\n",
        heard.display()
    );
    let recorder = lab.path().join("bin/recorder");
    executable(&recorder, &text);
    let lab = lab.env("KGCTX_BIN", recorder);
    let server = lab.serve();
    let sent = server.events();
    let session = server.create(&json!({"title": "A session"}));
    let events = || -> Vec<Value> {
        let text = fs::read_to_string(&heard).unwrap_or_default();
        serde_json::Deserializer::from_str(&text).into_iter().map_while(Result::ok).collect()
    };
    until("the delivery", || {
        events().into_iter().find(|heard| heard["event"]["type"] == "kgctx.delivered")
    });
    let events = events();
    let first = &events[0];
    assert_eq!(first["protocol"], 1);
    assert_eq!(first["directory"], lab.project().to_str().unwrap());
    assert_eq!(first["event"]["type"], "session.created");
    let sent = sent.first(|event| event["type"] == "session.created");
    assert_eq!(sent["properties"]["sessionID"], session.as_str());
    assert_eq!(first["event"]["properties"], sent["properties"], "as OpenCode sent it");
    let created = events.iter().filter(|heard| heard["event"]["type"] == "session.created");
    assert_eq!(created.count(), 1);
    assert_eq!(events[1]["event"]["how"], "noreply");
    assert_eq!(events[1]["event"]["sessionID"], session.as_str());
}
