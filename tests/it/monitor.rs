//! The context monitor: what agents are told after a tool, what people see, and what a status line leaves.

use std::fs;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use kgctx::app::handoff::now;
use kgctx::core::time::Timestamp;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::support::handoff_lab::{Lab, fire, given, waiting};
use crate::support::{Scratch, stderr, valid};

/// An answer with so many tokens in its context, as the transcript has it; so many seconds from now.
fn answer(tokens: u64, seconds: i64) -> Value {
    let at = Timestamp::from_milliseconds(now().milliseconds() + seconds * 1_000).to_string();
    json!({"type": "assistant", "timestamp": at, "requestedModel": "claude-sonnet-4-5", "message":
        {"model": "claude-sonnet-4-5", "content": [], "usage": {"input_tokens": tokens}}})
}

/// Makes a session have so many tokens in its context.
fn fill(lab: &Lab, session: &str, tokens: u64, seconds: i64) {
    let file = lab.transcript(session);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let before = fs::read_to_string(&file).unwrap_or_default();
    fs::write(file, format!("{before}{}\n", answer(tokens, seconds))).unwrap();
}

/// What the model is told after a tool. Whatever happens, the hook ends well and says nothing else.
#[track_caller]
fn told(output: &Output) -> Option<String> {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(stderr(output), "");
    if output.stdout.is_empty() {
        return None;
    }
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["hookSpecificOutput"]["hookEventName"], "PostToolUse");
    Some(answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned())
}

#[track_caller]
fn after_tool(lab: &Lab, session: &str) -> Option<String> {
    told(&given(lab.hook(), &lab.event("post-tool-use", session)))
}

#[track_caller]
fn monitored(lab: &Lab, arguments: &[&str]) -> Value {
    let output = lab.kgctx(["monitor", "--json"]).args(arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let answer = serde_json::from_slice(&output.stdout).unwrap();
    valid("monitor", &answer);
    answer
}

#[test]
fn a_1_29_an_agent_is_told_once_at_each_level_and_again_after_a_compaction() {
    //
    let lab = Lab::new();
    lab.start("s");
    for tokens in [10_000, 80_000, 99_999] {
        fill(&lab, "s", tokens, -60);
        assert_eq!(after_tool(&lab, "s"), None, "{tokens}");
    }
    fill(&lab, "s", 104_000, 1);
    let warned = after_tool(&lab, "s").unwrap();
    assert!(warned.contains("52 % full") && warned.contains("kgctx handoff create"), "{warned}");
    assert_eq!(after_tool(&lab, "s"), None);
    // A lower reading arms nothing.
    fill(&lab, "s", 90_000, 1);
    assert_eq!(after_tool(&lab, "s"), None);
    fill(&lab, "s", 110_000, 1);
    assert_eq!(after_tool(&lab, "s"), None);
    fill(&lab, "s", 140_000, 1);
    assert!(after_tool(&lab, "s").unwrap().contains("70 % full"));
    assert_eq!(after_tool(&lab, "s"), None);
    // PreCompact alone arms nothing either: it may come to nothing.
    given(lab.hook(), &lab.event("pre-compact-manual", "s"));
    assert_eq!(after_tool(&lab, "s"), None);
    lab.told("start-compact", "s");
    fill(&lab, "s", 141_000, -30);
    assert_eq!(after_tool(&lab, "s"), None, "it was measured before the compaction");
    fill(&lab, "s", 142_000, 5);
    assert!(after_tool(&lab, "s").unwrap().contains("71 % full"));
    assert_eq!(after_tool(&lab, "s"), None);
    // another session has its own record.
    fill(&lab, "t", 143_000, 0);
    assert!(after_tool(&lab, "t").is_some());
}

#[test]
fn a_1_29_a_compaction_that_no_hook_told_of_lets_the_agent_be_told_again() {
    // the transcript tells it.
    let lab = Lab::new();
    lab.start("s");
    fill(&lab, "s", 140_000, -60);
    assert!(after_tool(&lab, "s").is_some());
    assert_eq!(after_tool(&lab, "s"), None);
    let at = |seconds: i64| {
        Timestamp::from_milliseconds(now().milliseconds() + seconds * 1_000).to_string()
    };
    let boundary = json!({"type": "system", "subtype": "compact_boundary", "timestamp": at(1),
        "compactMetadata": {"trigger": "auto", "preTokens": 167_000, "postTokens": 20_000}});
    let file = lab.transcript("s");
    let before = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{before}{boundary}\n")).unwrap();
    assert_eq!(after_tool(&lab, "s"), None, "there is room again");
    fill(&lab, "s", 145_000, 2);
    assert!(after_tool(&lab, "s").is_some());
    assert_eq!(after_tool(&lab, "s"), None);
}

#[test]
fn r_4_33_where_a_session_can_rotate_its_agent_is_asked_to() {
    //
    for (is_installed, is_in_tmux, command) in [
        (true, true, "kgctx handoff rotate"),
        (true, false, "kgctx handoff create"),
        (false, true, "kgctx handoff create"),
    ] {
        let lab = Lab::new();
        if is_installed {
            let output = lab.kgctx(["install", "claude-code", "--rotation"]).output().unwrap();
            assert!(output.status.success(), "{output:?}");
        }
        lab.start("s");
        fill(&lab, "s", 140_000, 0);
        let mut hook = lab.hook();
        if is_in_tmux {
            hook.env("TMUX", "/run/socket,7,0").env("TMUX_PANE", "%3");
        }
        let told = told(&given(hook, &lab.event("post-tool-use", "s"))).unwrap();
        assert!(told.contains(command), "{is_installed} {is_in_tmux}: {told}");
    }
}

#[test]
fn a_1_29_of_many_hooks_at_once_one_tells() {
    let lab = Lab::new();
    lab.start("s");
    fill(&lab, "s", 140_000, 0);
    let event = lab.event("post-tool-use", "s");
    let hooks: Vec<_> = (0..12).map(|_| waiting(lab.hook())).collect();
    let hooks: Vec<_> = hooks.into_iter().map(|hook| fire(hook, &event)).collect();
    let outputs = hooks.into_iter().map(|hook| hook.wait_with_output().unwrap());
    assert_eq!(outputs.filter_map(|output| told(&output)).count(), 1);
}

#[test]
fn a_1_31_the_monitor_is_silent_whatever_is_wrong() {
    //
    let lab = Lab::new();
    lab.start("s");
    fill(&lab, "s", 140_000, 0);
    let mut event = lab.event("post-tool-use", "s");
    event["agent_id"] = json!("a1");
    assert_eq!(told(&given(lab.hook(), &event)), None, "a sub-agent");
    let hook = || {
        let mut hook = lab.hook();
        hook.env("CLAUDECODE", "1");
        hook
    };
    let mut event = lab.event("post-tool-use", "s");
    for path in [
        json!(null),
        json!(""),
        json!("/none/such"),
        json!("/dev/zero"),
        json!(lab.folder()),
        json!(7),
    ] {
        event["transcript_path"] = path.clone();
        assert_eq!(told(&given(hook(), &event)), None, "{path}");
    }
    let pipe = lab.scratch.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    event["transcript_path"] = json!(pipe);
    assert_eq!(told(&given(hook(), &event)), None);
    for settings in ["[monitor]\nnotify = false\n", "enabled = false\n"] {
        lab.scratch.write("kgctx-home/config.toml", settings);
        assert_eq!(after_tool(&lab, "s"), None, "{settings}");
    }
    lab.scratch.write("kgctx-home/config.toml", "");
    // Somebody writes the state all the time: the next tool tells.
    let state = lab.state();
    state.execute_batch("BEGIN IMMEDIATE").unwrap();
    let started = Instant::now();
    assert_eq!(after_tool(&lab, "s"), None);
    assert!(started.elapsed() < Duration::from_millis(1_200));
    state.execute_batch("ROLLBACK").unwrap();
    drop(state);
    assert!(after_tool(&lab, "s").is_some());
    // A state that is none.
    fs::write(lab.scratch.path().join("kgctx-home/state/state.db"), "no database").unwrap();
    assert_eq!(after_tool(&lab, "s"), None);
}

#[test]
fn a_1_26_people_see_every_live_session_with_its_sources() {
    //
    let lab = Lab::new();
    assert_eq!(monitored(&lab, &[]), json!({"sessions": []}));
    for (session, tokens) in [("one", 104_000), ("two", 20_000), ("ended", 1)] {
        fill(&lab, session, tokens, -5);
        lab.start(session);
    }
    lab.told("end-clear", "ended");
    fs::write(lab.transcript("bare"), "x".repeat(1_600 * 1_024)).unwrap();
    lab.start("bare");
    let sessions = monitored(&lab, &[])["sessions"].as_array().unwrap().clone();
    let seen = |session: &str| sessions.iter().find(|seen| seen["session"] == session).cloned();
    assert_eq!((sessions.len(), seen("ended")), (3, None));
    let one = seen("one").unwrap();
    let expected = json!({"level": "WARN", "tokens": 104_000, "tokensFrom": "transcript", "window": 200_000,
        "windowFrom": "model", "percent": 52, "status": "WARN:0KB", "channel": "zephyr"});
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(one[key], *value, "{key}: {one}");
    }
    assert_eq!(seen("two").unwrap()["level"], "OK");
    let bare = seen("bare").unwrap();
    assert_eq!((&bare["tokens"], &bare["status"]), (&json!(null), &json!("WARN:1.6MB")));
    assert_eq!(monitored(&lab, &["--session", "two"])["sessions"].as_array().unwrap().len(), 1);
    let output = lab.kgctx(["monitor"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("WARN        104,000 of 200,000 tokens, 52 %  WARN:0KB  one  zephyr\n"),
        "{text}"
    );
    assert!(text.contains("tokens: transcript, just now; window: model\n"), "{text}");
    assert!(text.contains("tokens unknown, window 200,000  WARN:1.6MB  bare"), "{text}");
    // The user's word on windows.
    lab.scratch.write(
        "kgctx-home/config.toml",
        "[monitor]\nwarn_percent = 60\nwindows = { \"*\" = 150000 }\n",
    );
    let one = &monitored(&lab, &["--session", "one"])["sessions"][0];
    assert_eq!((&one["percent"], &one["windowFrom"]), (&json!(69), &json!("setting")));
    let output = lab.kgctx(["monitor", "--session", "none"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("there is no live session none; `kgctx monitor` lists"));
}

/// Asks as the bridge in OpenCode does.
#[track_caller]
pub(crate) fn bridge(lab: &Lab, event: Value) -> Value {
    let question =
        json!({"protocol": 1, "bridge": "0.1.0", "directory": lab.folder(), "event": event});
    let output = given(lab.kgctx(["hook", "opencode"]), &question);
    assert!(output.status.success(), "{output:?}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    valid("hook-opencode", &answer);
    answer
}

/// What OpenCode says of a session.
pub(crate) fn info(lab: &Lab, session: &str) -> Value {
    json!({"id": session, "directory": lab.folder(), "title": "t"})
}

#[test]
fn a_1_27_sessions_of_opencode_are_seen_and_told_by_its_own_numbers() {
    //
    let lab = Lab::new();
    let used = |session: &str, tokens: Value, more: Value| {
        let mut event = json!({"type": "kgctx.usage", "sessionID": session, "tokens": tokens, "model": "m",
            "window": 100_000, "output": 4_096});
        for (key, value) in more.as_object().unwrap() {
            event[key] = value.clone();
        }
        bridge(&lab, event)
    };
    let at = |seconds: i64| now().milliseconds() + seconds * 1_000;
    // A session that was given no context, as a child, is not ours.
    assert_eq!(used("ses_child", json!(90_000), json!({}))["action"], "none");
    assert_eq!(monitored(&lab, &[]), json!({"sessions": []}));
    bridge(&lab, json!({"type": "session.created", "properties": {"info": info(&lab, "ses_a")}}));
    assert_eq!(used("ses_a", json!(45_000), json!({}))["action"], "none");
    let seen = &monitored(&lab, &[])["sessions"][0];
    let expected = json!({"session": "ses_a", "level": "EARLY_WARN", "tokens": 45_000, "tokensFrom": "messages",
        "window": 100_000, "windowFrom": "host", "percent": 45});
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(seen[key], *value, "{key}: {seen}");
    }
    let told = used("ses_a", json!(52_000), json!({"at": at(0)}));
    assert_eq!(told["action"], "tell", "{told}");
    let text = told["text"].as_str().unwrap();
    assert!(text.contains("52 % full") && text.contains("kgctx handoff rotate"), "{told}");
    assert_eq!(used("ses_a", json!(53_000), json!({}))["action"], "none", "once");
    assert_eq!(used("ses_a", json!(66_000), json!({}))["action"], "tell");
    assert_eq!(used("ses_a", json!(67_000), json!({}))["action"], "none", "once");
    // Right after a compaction nothing is known; then it may be told again.
    std::thread::sleep(Duration::from_millis(5));
    let compacted = at(0);
    assert_eq!(used("ses_a", json!(null), json!({"compacted": compacted}))["action"], "none");
    assert_eq!(monitored(&lab, &[])["sessions"][0]["tokens"], json!(null));
    let again = json!({"at": at(1), "compacted": compacted});
    assert_eq!(used("ses_a", json!(70_000), again.clone())["action"], "tell");
    assert_eq!(used("ses_a", json!(71_000), again)["action"], "none");
    // OpenCode compacts when its own reserve is reached.
    bridge(&lab, json!({"type": "session.created", "properties": {"info": info(&lab, "ses_b")}}));
    let large = json!({"window": 200_000, "output": 150_000});
    used("ses_b", json!(31_000), large);
    let seen = &monitored(&lab, &["--session", "ses_b"])["sessions"][0];
    assert_eq!(seen["level"], "CRITICAL", "{seen}");
    lab.scratch.write("kgctx-home/config.toml", "[monitor]\nnotify = false\n");
    bridge(&lab, json!({"type": "session.created", "properties": {"info": info(&lab, "ses_c")}}));
    assert_eq!(used("ses_c", json!(90_000), json!({}))["action"], "none");
}

/// Watches a session with 10,000 tokens, which then has 150,000. Returns what is printed until that shows.
fn watched(lab: &Lab, arguments: &[&str], begin: &str, end: &str) -> String {
    fs::remove_file(lab.transcript("s")).unwrap();
    fill(lab, "s", 10_000, 0);
    let mut command = lab.kgctx(["monitor", "--watch", "--session", "s"]);
    let out = lab.scratch.write("watched", "");
    command.args(arguments).stdout(fs::File::create(&out).unwrap()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    let wait_for = |wanted: &str| {
        while !fs::read_to_string(&out).unwrap().contains(wanted) {
            assert!(Instant::now() < until, "{wanted} never came");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    wait_for(begin);
    // Time alone is no news.
    std::thread::sleep(Duration::from_millis(2_500));
    fill(lab, "s", 150_000, 0);
    wait_for(end);
    child.kill().unwrap();
    child.wait().unwrap();
    fs::read_to_string(&out).unwrap()
}

#[test]
fn watching_goes_on_and_tells_what_changes() {
    let lab = Lab::new();
    fill(&lab, "s", 10_000, 0);
    lab.start("s");
    let text = watched(&lab, &[], "10,000 of 200,000", "CRITICAL    150,000 of 200,000");
    assert_eq!(text.lines().count(), 4, "{text}");
    // For programs, one document in each line.
    let text = watched(&lab, &["--json"], "\"tokens\":10000", "\"tokens\":150000");
    let levels: Vec<Value> = text
        .lines()
        .map(|line| {
            let answer: Value = serde_json::from_str(line).unwrap();
            valid("monitor", &answer);
            answer["sessions"][0]["level"].clone()
        })
        .collect();
    assert_eq!(levels, ["OK", "CRITICAL"], "{text}");
}

/// What Claude Code 2.1.325 was seen to tell a status line, shortened.
fn status(session: &str, used: Value) -> String {
    json!({"session_id": session, "transcript_path": "", "model": {"id": "claude-x", "display_name": "X"},
        "context_window": {"total_input_tokens": used, "context_window_size": 1_000_000, "used_percentage": 40}})
    .to_string()
}

fn status_line(lab: &Lab, input: &str, command: &[&str]) -> String {
    let mut line = lab.kgctx(["monitor", "statusline"]);
    if !command.is_empty() {
        line.arg("--").args(command);
    }
    let mut child = waiting(line);
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_1_27_a_status_line_tells_the_window_and_shows_what_the_users_own_shows() {
    //
    let lab = Lab::new();
    fill(&lab, "s", 104_000, 0);
    lab.start("s");
    assert_eq!(status_line(&lab, &status("s", json!(400_000)), &[]), "EARLY_WARN 400k/1000k 40%\n");
    let own = ["sh", "-c", "printf '\\033[31m%s' \"$(wc -c)\"; printf more >&2"];
    let input = status("s", json!(null));
    let shown = status_line(&lab, &input, &own);
    assert_eq!(shown.trim().replace(' ', ""), format!("\u{1b}[31m{}", input.len()));
    let seen = &monitored(&lab, &["--session", "s"])["sessions"][0];
    assert_eq!((&seen["window"], &seen["windowFrom"]), (&json!(1_000_000), &json!("status-line")));
    assert_eq!((&seen["percent"], &seen["level"]), (&json!(10), &json!("OK")));
    // Whatever goes wrong costs nothing.
    for input in ["", "{", "[]", "{\"session_id\":7}", "{\"context_window\":null}"] {
        assert_eq!(status_line(&lab, input, &[]), "", "{input}");
        assert_eq!(status_line(&lab, input, &["echo", "mine"]), "mine\n", "{input}");
    }
    assert_eq!(status_line(&lab, &status("s", json!(1)), &["/none/such"]), "");
}

#[test]
fn a_1_45_monitor_and_status_line_are_installed_on_request_and_leave_no_trace() {
    //
    let own = "{\n  \"statusLine\": {\"type\": \"command\", \"command\": \"~/.claude/line.sh \\\"$HOME\\\"\", \"padding\": 0},\n  \
               \"hooks\": {\"PostToolUse\": [{\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]}]}\n}";
    for before in ["{}", own] {
        let scratch = Scratch::new();
        let file = scratch.write("home/.claude/settings.json", before);
        let run = |arguments: &[&str]| {
            let output = scratch.kgctx(arguments).output().unwrap();
            assert!(output.status.success(), "{arguments:?}: {output:?}");
            fs::read_to_string(&file).unwrap()
        };
        let plain = run(&["install", "claude-code"]);
        assert!(!plain.contains("monitor statusline"), "{plain}");
        let with = run(&["install", "claude-code", "--monitor", "--statusline"]);
        let json: Value = serde_json::from_str(&with).unwrap();
        let hooks = json["hooks"]["PostToolUse"].as_array().unwrap();
        assert!(
            hooks.last().unwrap()["hooks"][0]["command"]
                .as_str()
                .unwrap()
                .ends_with("kgctx hook claude-code")
        );
        assert!(
            json["statusLine"]["command"].as_str().unwrap().contains("kgctx monitor statusline"),
            "{with}"
        );
        // An update keeps what was asked for once.
        assert_eq!(run(&["install", "claude-code"]), with);
        let output = scratch.kgctx(["doctor"]).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.contains("with monitor, rotation and status line"), "{said}");
        // Every part is proven: a hook that is missing, and a status line whose program is.
        let doctor = |settings: String| {
            fs::write(&file, settings).unwrap();
            let output = scratch.kgctx(["doctor"]).output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        let said = doctor(with.replace("\"Stop\"", "\"StopFailure\""));
        assert!(said.contains("has no hook for Stop"), "{said}");
        let said = doctor(with.replace("kgctx monitor", "lost/kgctx monitor"));
        assert!(said.contains("lost/kgctx, which does not exist"), "{said}");
        fs::write(&file, &with).unwrap();
        assert_eq!(run(&["uninstall", "claude-code"]), before);
        // Also if somebody has edited the file meanwhile.
        let with = run(&["install", "claude-code", "--monitor", "--statusline"]);
        fs::write(&file, with.replacen('{', "{\"mine\": 2, ", 1)).unwrap();
        let after: Value = serde_json::from_str(&run(&["uninstall", "claude-code"])).unwrap();
        let mut expected: Value = serde_json::from_str(before).unwrap();
        expected["mine"] = json!(2);
        assert_eq!(after, expected);
    }
    // Each part alone leaves no trace either.
    for part in ["--monitor", "--rotation", "--statusline"] {
        for before in [None, Some("{}"), Some("{ }\n"), Some(own)] {
            let scratch = Scratch::new();
            let file = scratch.path().join("home/.claude/settings.json");
            if let Some(text) = before {
                scratch.write("home/.claude/settings.json", text);
            }
            for command in ["install", "uninstall"] {
                let arguments = [command, "claude-code", part];
                let n = if command == "install" { 3 } else { 2 };
                let output = scratch.kgctx(&arguments[..n]).output().unwrap();
                assert!(output.status.success(), "{output:?}");
            }
            assert_eq!(fs::read_to_string(file).ok().as_deref(), before, "{part}");
        }
    }
    let scratch = Scratch::new();
    let output = scratch.kgctx(["install", "opencode", "--monitor"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("--monitor, --rotation and --statusline are only for Claude Code"),
        "{output:?}"
    );
}

#[test]
fn a_state_from_before_the_monitor_is_brought_up_to_date() {
    let lab = Lab::new();
    lab.start("s");
    fill(&lab, "s", 140_000, 0);
    let state: Connection = lab.state();
    state.execute_batch("DROP TABLE contexts; DROP TABLE rotations; DROP TABLE wraps; ALTER TABLE endings DROP COLUMN due; PRAGMA user_version = 5").unwrap();
    assert_eq!(monitored(&lab, &[]), json!({"sessions": []}));
    assert!(after_tool(&lab, "s").is_some());
    assert_eq!(monitored(&lab, &[])["sessions"].as_array().unwrap().len(), 1);
}

#[test]
fn a_1_27_the_window_that_a_session_lets_its_host_fill_is_its_own() {
    // not that of whoever asks.
    let lab = Lab::new();
    fill(&lab, "s", 60_000, -5);
    let mut hook = lab.hook();
    hook.env("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "100k");
    given(hook, &lab.event("start-startup", "s"));
    assert_eq!(monitored(&lab, &[])["sessions"][0]["level"], "CRITICAL");
    lab.start("t");
    fill(&lab, "t", 60_000, -5);
    let mut command = lab.kgctx(["monitor", "--json", "--session", "t"]);
    let output = command.env("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "100k").output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["sessions"][0]["level"], "OK", "{answer}");
}

#[test]
fn a_1_26_the_status_line_knows_the_settings_of_its_folder() {
    //
    let lab = Lab::new();
    lab.scratch.write(
        "kgctx-home/config.toml",
        "[monitor]\nwindows = { \"*\" = 300000 }\nearly_warn_percent = 30\n",
    );
    let said = |session: &str| {
        let told = json!({"session_id": session, "cwd": lab.folder(), "model": {"id": "m"},
            "context_window": {"total_input_tokens": 104_000}});
        let output = given(lab.kgctx(["monitor", "statusline"]), &told);
        String::from_utf8(output.stdout).unwrap()
    };
    lab.start("s");
    for session in ["s", "unknown"] {
        assert_eq!(said(session), "EARLY_WARN 104k/300k 34%\n", "{session}");
    }
}
