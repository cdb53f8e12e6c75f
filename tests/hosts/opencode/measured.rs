//! How much longer a first prompt takes because of the bridge. A measurement, run by `.ci/first-prompt` on the released binary;
//! it takes minutes, and a machine with nothing else to do.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde_json::json;

use super::found::Version;
use super::lab::Lab;
use super::server::Server;
use super::until;
use crate::support::vault_generator;

const SESSIONS: usize = 40;
const NOTES: usize = 1_000;
const RECENT: usize = 20;
/// The bar, for the median.
const ADDED_MS: f64 = 30.0;
/// How long after its session a first prompt comes: at once, as a script's does, and as long after it as the window's mostly does.
const GAPS_MS: [u64; 3] = [0, 50, 120];

fn lab() -> Lab {
    let lab = Lab::new(Version::Pinned);
    let memory = lab.path().join("home/maenifold/memory");
    vault_generator::generate(&memory, NOTES, 7);
    // Some of them were written today, so that the context is as long as it mostly is.
    let files = Command::new("find").arg(&memory).args(["-name", "*.md"]).output().unwrap();
    for file in String::from_utf8(files.stdout).unwrap().lines().take(RECENT) {
        fs::File::options()
            .append(true)
            .open(file)
            .unwrap()
            .set_modified(SystemTime::now())
            .unwrap();
    }
    match std::env::var("KGCTX_MEASURED") {
        Ok(program) => lab.env("KGCTX_BIN", program),
        Err(_) => lab,
    }
}

/// Milliseconds from sending the first prompt of a new session until the model is asked.
fn first_prompt(server: &Server, gap: Duration) -> f64 {
    let session = server.create(&json!({}));
    thread::sleep(gap);
    let sent = Instant::now();
    server.say(&session, "PROMPT");
    let calls =
        until("the model", || Some(server.chats(&session)).filter(|calls| !calls.is_empty()));
    assert_eq!(calls.len(), 1);
    calls[0].at.duration_since(sent).as_secs_f64() * 1e3
}

fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[(values.len() as f64 * share) as usize]
}

#[test]
#[ignore = "a measurement: see .ci/first-prompt"]
fn what_the_bridge_adds_to_a_first_prompt() {
    let plain = lab();
    let bridged =
        lab().plugin(Path::new(env!("CARGO_MANIFEST_DIR")).join("bridges/opencode/kgctx.ts"));
    let (plain, bridged) = (plain.serve(), bridged.serve());
    eprintln!("| first prompt after | without | with the bridge | added | 90 % without | with |");
    eprintln!("|---:|---:|---:|---:|---:|---:|");
    let mut most: f64 = 0.0;
    for gap in GAPS_MS {
        let (mut without, mut with) = (Vec::new(), Vec::new());
        for n in 0..SESSIONS + 5 {
            let pair = (
                first_prompt(&plain, Duration::from_millis(gap)),
                first_prompt(&bridged, Duration::from_millis(gap)),
            );
            // The first ones warm the servers up.
            if n >= 5 {
                without.push(pair.0);
                with.push(pair.1);
            }
        }
        let (plain, ours) = (quantile(&mut without, 0.5), quantile(&mut with, 0.5));
        most = most.max(ours - plain);
        eprintln!(
            "| {gap} ms | {plain:.1} ms | {ours:.1} ms | {:.1} ms | {:.1} ms | {:.1} ms |",
            ours - plain,
            quantile(&mut without, 0.9),
            quantile(&mut with, 0.9)
        );
    }
    assert!(most <= ADDED_MS, "{most:.1} ms of {ADDED_MS} ms");
}
