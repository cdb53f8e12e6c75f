//! Our bridge with a `kgctx` that is broken in every way we know: the prompt goes through, in time, and one line says why.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;

use super::found::Version;
use super::lab::{Lab, executable};
use super::pool::bridge;
use super::server::Server;
use super::{on_both_versions, until};

on_both_versions!(a_kgctx_that_does_not_work_costs_a_prompt_at_most_its_hold);

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
