//! Every way in which maenifold, or what calls itself so, fails to answer.

use std::fs;
use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

use super::Root;

const SEARCH: &[&str] =
    &["--tool", "SearchMemories", "--payload", r#"{"query":"authentication"}"#, "--json"];
const RECENT: &[&str] = &["--tool", "RecentActivity", "--payload", "{}"];
const CONTEXT: &[&str] =
    &["--tool", "BuildContext", "--payload", r#"{"conceptName":"authentication"}"#, "--json"];
const SIGABRT: i32 = 6;

#[test]
fn what_is_no_call_of_a_tool_prints_the_usage() {
    let root = Root::fresh();
    for arguments in [
        &[][..],
        &["--version"],
        &["--help"],
        &["--tool", "Sync"],
        &["--payload", "{}"],
        &["--tool", "Sync", "--payload"],
    ] {
        let told = root.told(&[], arguments);
        assert!(told.starts_with("maenifold CLI\n\nUsage:\n"), "{arguments:?}: {told}");
        assert!(told.ends_with("[--json]\n\n"));
    }
    assert!(!root.path().join("memory").exists(), "folders are for tools");
    assert!(root.path().join("assets").exists());
}

#[test]
fn errors_end_with_0_and_say_so_in_text_or_in_json() {
    let root = Root::of_the_samples();
    root.sync();
    root.change("UPDATE concept_graph SET source_files = NULL WHERE concept_b = 'kgctx'");
    for (tool, payload, code, message) in [
        ("Nope", "{}", "UNKNOWN_TOOL", "Unknown tool: Nope"),
        (
            "SearchMemories",
            "{}",
            "INVALID_ARGUMENT",
            "Error invoking SearchMemories: Required property 'query' is missing from payload.",
        ),
        (
            "SearchMemories",
            r#"{"query":" "}"#,
            "INVALID_ARGUMENT",
            "Error invoking SearchMemories: Required property 'query' cannot be empty or whitespace.",
        ),
        (
            "SearchMemories",
            r#"{"query":7}"#,
            "INVALID_ARGUMENT",
            "Error invoking SearchMemories: Property 'query' must be a string, but found Number.",
        ),
        (
            "SearchMemories",
            r#"{"query":"x","mode":"best"}"#,
            "INVALID_ARGUMENT",
            "Error invoking SearchMemories: Requested value 'best' was not found.",
        ),
        (
            "BuildContext",
            "nope",
            "INVALID_PAYLOAD",
            "Error invoking BuildContext: 'n' is an invalid start of a value. Path: $ | LineNumber: 0 | BytePositionInLine: 1.",
        ),
        (
            "BuildContext",
            "[]",
            "INTERNAL_ERROR",
            "Error invoking BuildContext: The requested operation requires an element of type 'Object', but the target \
             element has type 'Array'.",
        ),
        (
            "BuildContext",
            r#"{"conceptName":"a","depth":-1}"#,
            "INTERNAL_ERROR",
            "Error invoking BuildContext: depth must be >= 0",
        ),
        (
            "BuildContext",
            r#"{"conceptName":"kgctx"}"#,
            "INVALID_PAYLOAD",
            "Error invoking BuildContext: The input does not contain any JSON tokens. Expected the input to start with a \
             valid JSON token, when isFinalBlock is true. Path: $ | LineNumber: 0 | BytePositionInLine: 0.",
        ),
    ] {
        assert_eq!(root.text(tool, payload), format!("{message}\n"));
        let told = root.json(tool, payload);
        assert_eq!(told.lines().count(), 1);
        let envelope: Value = serde_json::from_str(&told).unwrap();
        assert_eq!(
            envelope,
            serde_json::json!({ "success": false, "data": null, "error": { "code": code, "message": message } })
        );
    }
}

#[test]
fn some_sentences_are_never_json() {
    let root = Root::of_the_samples();
    assert_eq!(
        root.json("SearchMemories", r#"{"query":"x","folder":"nowhere"}"#),
        "No memories found in specified folder\n"
    );
    assert_eq!(
        root.json("SearchMemories", r#"{"query":"This AND that"}"#),
        "ERROR: Query contains no informative keywords. Try adding specific terms (e.g. \"machine learning\", \"NLP\").\n\
         💡 Provide at least one non-stopword keyword Run GetHelp(\"SearchMemories\") for complete documentation.\n"
    );
    assert_eq!(
        root.json("RecentActivity", "{}"),
        "# Recent Activity\n\nNo database found. Run the `Sync` command first to index memory files.\n"
    );
    assert_eq!(
        root.json("RecentActivity", r#"{"timespan":"-01:00:00"}"#),
        "ERROR: timespan parameter must be positive. Example: '24.00:00:00' for 24 hours.\n"
    );
    root.sync();
    assert_eq!(
        root.json("RecentActivity", r#"{"timespan":"00:01:00"}"#),
        "No recent activity found\n"
    );
    assert_eq!(
        root.json("BuildContext", r#"{"conceptName":"Un Known","depth":1}"#),
        "Context for CONCEPT: un-known\n\nDirect relations (0 CONCEPTS):\n\n"
    );
    root.change("UPDATE file_content SET content = NULL");
    assert!(root.json("RecentActivity", "{}").starts_with("ERROR: The data is NULL at ordinal 3."));
}

#[test]
fn answers_are_spoilt_as_asked() {
    let root = Root::of_the_samples();
    root.sync();
    let (search, recent) = (root.told(&[], SEARCH), root.told(&[], RECENT));
    let told = |mischief: &str, arguments| root.output(&[("STAND_IN", mischief)], arguments);
    let text =
        |mischief: &str, arguments| String::from_utf8(told(mischief, arguments).stdout).unwrap();
    assert!(text("usage", SEARCH).starts_with("maenifold CLI\n"));
    assert!(text("unknown-tool", SEARCH).contains(r#""code":"UNKNOWN_TOOL""#));
    assert_eq!(text("unknown-tool", RECENT), "Unknown tool: RecentActivity\n");
    assert!(text("error", CONTEXT).contains(r#""code":"INTERNAL_ERROR""#));
    assert_eq!(
        text("error", RECENT),
        "Error invoking RecentActivity: SQLite Error 5: 'database is locked'.\n"
    );
    assert_eq!(text("empty", SEARCH), "");
    assert!(text("plain", SEARCH).starts_with("🔍 **Hybrid Search**"));
    assert_eq!(text("truncated", SEARCH), search[..search.len() / 2]);
    assert!(text("renamed", SEARCH).starts_with(r#"{"ok":true"#));
    assert!(text("renamed", RECENT).starts_with("== maenifold =="));
    assert_eq!(text("slow:1,exit:0", SEARCH), search);

    for (arguments, right) in
        [(SEARCH, &search), (RECENT, &recent), (CONTEXT, &root.told(&[], CONTEXT))]
    {
        let spoilt = told("bad-utf8", arguments).stdout;
        assert!(String::from_utf8(spoilt.clone()).is_err());
        assert_eq!(String::from_utf8_lossy(&spoilt).replace('\u{fffd}', ""), *right);
    }
    let failing = told("exit:3", SEARCH);
    assert_eq!(failing.status.code(), Some(3));
    assert_eq!(failing.stdout, search.as_bytes());
    let loud = told("stderr", SEARCH);
    assert!(loud.stderr.len() > 1_000_000);
    assert_eq!(loud.stdout, search.as_bytes());
    assert_eq!(told("abort", SEARCH).status.signal(), Some(SIGABRT));
    assert_eq!(told("typing-error", SEARCH).status.code(), Some(64));

    assert_eq!(text("BuildContext=empty", SEARCH), search, "only one tool misbehaves");
    assert_eq!(text("recentactivity=error, SearchMemories=empty", SEARCH), "");
}

#[test]
fn the_shapes_that_were_once_expected_tell_of_real_notes() {
    let root = Root::of_the_samples();
    root.sync();
    let told = |arguments| {
        let told = root.told(&[("STAND_IN", "seed")], arguments);
        serde_json::from_str::<Value>(&told).unwrap()
    };
    let search = told(SEARCH);
    assert_eq!(search["results"][1]["uri"], "memory://tech/auth-note");
    assert_eq!(
        search["results"][1]["concepts"],
        serde_json::json!(["OAuth2", "authentication", "kgctx", "session-management"])
    );
    let recent = told(RECENT);
    assert_eq!(recent["items"][0]["modified"], "2026-02-20T14:04:00.0000000+00:00");
    assert_eq!(recent["items"][0]["concepts"][0], "OAuth2");
    let context = told(CONTEXT);
    assert_eq!(context["concept"], "authentication");
    assert_eq!(
        context["relatedConcepts"][0],
        serde_json::json!({ "name": "graph-rag", "relationship": "co-occurs-with", "files": 1 })
    );
    assert_eq!(
        context["fileReferences"],
        serde_json::json!(["memory://rag-patterns", "memory://tech/auth-note"])
    );
}

#[test]
fn answers_come_late_or_in_drops() {
    let root = Root::of_the_samples();
    let search = root.told(&[], SEARCH);
    for mischief in ["slow:300", "drip:1"] {
        let started = Instant::now();
        assert_eq!(root.told(&[("STAND_IN", mischief)], SEARCH), search);
        assert!(started.elapsed() >= Duration::from_millis(300), "{mischief}");
    }
}

#[test]
fn a_flood_is_of_100_megabytes() {
    let root = Root::of_the_samples();
    let mut child =
        root.command(SEARCH).env("STAND_IN", "flood").stdout(Stdio::piped()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    assert!(io::copy(&mut stdout, &mut io::sink()).unwrap() > 100_000_000);
    assert!(child.wait().unwrap().success());
}

/// Whether some process was started by this one, and has not ended.
fn has_child(parent: u32) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        // The second field is the name, in brackets; then come the state and the parent.
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields);
        fields.split(' ').nth(1) == Some(&parent.to_string())
    })
}

/// Whoever ends the process alone waits for ever: its child holds the pipe.
#[test]
fn whoever_hangs_has_a_child_that_hangs() {
    let root = Root::of_the_samples();
    root.sync();
    let log = root.scratch.path().join("log");
    let mut child = root
        .command(SEARCH)
        .env("STAND_IN", "hang")
        .env("STAND_IN_LOG", &log)
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap();
    let (sender, ended) = mpsc::channel();
    let mut stdout = child.stdout.take().unwrap();
    thread::spawn(move || sender.send(stdout.read_to_end(&mut Vec::new())));
    let started = Instant::now();
    while !has_child(child.id()) {
        assert!(started.elapsed() < Duration::from_secs(30), "no child was started");
        thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let is_held = ended.recv_timeout(Duration::from_millis(400)).is_err();
    let group = Pid::from_raw(child.id().try_into().unwrap()).unwrap();
    kill_process_group(group, Signal::KILL).unwrap();
    assert!(is_held);
    ended.recv_timeout(Duration::from_secs(10)).unwrap().unwrap();
    assert_eq!(
        fs::read_to_string(log).unwrap().lines().count(),
        1,
        "it has started, and not ended"
    );
}

/// Both see that an asset is missing, and the second to copy it finds it there.
#[test]
fn of_two_that_start_in_a_fresh_root_one_may_die() {
    let died = (0..20).any(|_| {
        let root = Root::fresh();
        let mut started = [0, 1].map(|_| {
            root.command(RECENT).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
        });
        let ended = started.each_mut().map(|child| child.wait().unwrap());
        assert!(ended.iter().any(|status| status.success()), "{ended:?}");
        ended.iter().any(|status| status.signal() == Some(SIGABRT))
    });
    assert!(died);
}

#[test]
fn a_root_that_cannot_be_made_ends_it() {
    let root = Root::fresh();
    root.scratch.write("root", "a file");
    assert_eq!(root.output(&[], SEARCH).status.signal(), Some(SIGABRT));
}

#[test]
fn every_call_is_in_the_log() {
    let root = Root::of_the_samples();
    let log = root.scratch.path().join("log");
    let log_name = log.to_str().unwrap();
    root.told(&[("STAND_IN_LOG", log_name)], SEARCH);
    root.told(&[("STAND_IN_LOG", log_name), ("CI", "1")], &["--version"]);
    let lines: Vec<Value> = fs::read_to_string(log)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[0]["tool"], "SearchMemories");
    assert_eq!(lines[0]["payload"]["query"], "authentication");
    assert_eq!(lines[0]["json"], true);
    assert_eq!(lines[0]["ci"], false);
    assert_eq!(lines[0]["argv"][0], "--tool");
    assert_eq!(lines[0]["pid"], lines[1]["pid"]);
    assert!(lines[0]["started_ms"].as_u64() <= lines[1]["ended_ms"].as_u64());
    assert_eq!(lines[2]["tool"], Value::Null);
    assert_eq!(lines[2]["ci"], true);
}
