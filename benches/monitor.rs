//! Measures the monitor (A-1.28, A-1.31): `kgctx hook claude-code` after a tool and at the end of a turn, process start to end, with a
//! transcript of 50 MB, in turns with `/bin/true`; the end of a turn also where a rotation begins (R-4.12). Holds what they take to their bars.
//!
//! `cargo bench --bench monitor` builds the binary as it is released (`.ci/build`). The page cache is warm; the process and
//! everything in it are cold.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on should say where")]
#![expect(clippy::disallowed_methods, reason = "it starts processes and writes its own files")]
#![expect(clippy::print_stdout, reason = "the table is what a benchmark is for")]

#[path = "../tests/support/bench_frame.rs"]
mod bench_frame;
#[path = "../tests/support/vault_generator.rs"]
mod vault_generator;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use bench_frame::{answered, median, ms};

/// The size of the transcript.
const BYTES: usize = 50 * 1024 * 1024;
/// The bars: the medians of all runs after a tool and at the end of a turn.
const TOOL_MS: f64 = 10.0;
const STOP_MS: f64 = 200.0;

fn main() -> ExitCode {
    let base = bench_frame::folder("monitor");
    fs::create_dir_all(&base).unwrap();
    // Its hooks are recognised by this name.
    let kgctx = bench_frame::binary("monitor/kgctx");
    let home = base.join("home");
    let _ = fs::remove_dir_all(&home);
    let project = bench_frame::project(&base);
    let transcript = base.join("transcript.jsonl");
    write_transcript(&transcript);
    let event = |name: &str, more: &str| {
        let (file, folder) = (transcript.display(), project.display());
        format!(
            r#"{{"session_id":"bench","transcript_path":"{file}","cwd":"{folder}","hook_event_name":"{name}",{more}}}"#
        )
    };
    let bin = window(&base, &home);
    let run = |arguments: &[&str], input: &str| {
        let mut command = Command::new(&kgctx);
        command.env_clear().env("HOME", &home).env("KGCTX_HOME", &home).env("CLAUDECODE", "1");
        command.env("PATH", &bin).env("TMUX", "/none,1,0").env("TMUX_PANE", "%1");
        command.env("KGCTX_SESSION_ID", "bench").current_dir(&project);
        answered(command.args(arguments), input)
    };
    let hook = |event: &str| run(&["hook", "claude-code"], event);
    run(&["install", "claude-code", "--rotation"], "");
    hook(&event("SessionStart", r#""source":"startup""#));
    let output = "x".repeat(20_000);
    let tool = event(
        "PostToolUse",
        &format!(
            r#""tool_name":"Bash","tool_input":{{"command":"ls"}},"tool_response":{{"stdout":"{output}"}}"#
        ),
    );
    // The context is half full: the agent is told once, and never again.
    let first = hook(&tool);
    assert!(first.contains("52 % full"), "{first}");
    let rounds = if bench_frame::is_test() { 3 } else { 200 };
    let stop = event("Stop", r#""background_tasks":[],"last_assistant_message":"Done.""#);
    let (mut nothings, mut tools, mut stops) = (Vec::new(), Vec::new(), Vec::new());
    let mut rotating = Vec::new();
    for _ in 0..rounds {
        let started = Instant::now();
        answered(&mut Command::new("/bin/true"), "");
        nothings.push(ms(started));
        let started = Instant::now();
        assert_eq!(hook(&tool), "");
        tools.push(ms(started));
        let started = Instant::now();
        assert_eq!(hook(&stop), "");
        stops.push(ms(started));
        run(&["handoff", "rotate", "--goal", "Measure it"], "");
        let started = Instant::now();
        assert_eq!(hook(&stop), "");
        rotating.push(ms(started));
        let told = run(&["handoff", "rotate", "--status"], "");
        assert!(told.starts_with("reserved"), "{told}");
        run(&["handoff", "rotate", "--cancel"], "");
    }
    let (nothing, tool, stop) = (median(nothings), median(tools), median(stops));
    let rotating = median(rotating);
    let (is_tool_kept, is_stop_kept) = (tool <= TOOL_MS, stop.max(rotating) <= STOP_MS);
    println!("\n| 50 MB | median | bar |");
    println!("|---|---:|---|");
    println!("| /bin/true | {nothing:.2} ms | |");
    println!(
        "| after a tool | {tool:.2} ms | {TOOL_MS} ms: {} |",
        bench_frame::verdict(is_tool_kept)
    );
    println!(
        "| end of a turn | {stop:.2} ms | {STOP_MS} ms: {} |",
        bench_frame::verdict(stop <= STOP_MS)
    );
    println!(
        "| the same, where a rotation begins | {rotating:.2} ms | {STOP_MS} ms: {} |",
        bench_frame::verdict(rotating <= STOP_MS)
    );
    bench_frame::exit(is_tool_kept && is_stop_kept)
}

/// A Claude Code in tmux, which is this process and busy for as long as it runs: no key is ever sent. Returns the folder of its tmux.
fn window(base: &Path, home: &Path) -> PathBuf {
    let bin = base.join("bin");
    let sessions = home.join(".claude/sessions");
    fs::create_dir_all(&bin).unwrap();
    fs::create_dir_all(&sessions).unwrap();
    let pid = std::process::id();
    fs::write(bin.join("tmux"), format!("#!/bin/sh\necho {pid} 0 2 2 0\n")).unwrap();
    fs::set_permissions(bin.join("tmux"), fs::Permissions::from_mode(0o755)).unwrap();
    let status = r#"{"sessionId":"bench","status":"busy"}"#;
    fs::write(sessions.join(format!("{pid}.json")), status).unwrap();
    bin
}

/// A long conversation, with the usage at its end.
fn write_transcript(file: &Path) {
    let result =
        format!("{{\"type\":\"user\",\"message\":{{\"content\":\"{}\"}}}}\n", "y".repeat(30_000));
    let usage = r#""usage":{"input_tokens":4000,"cache_creation_input_tokens":0,"cache_read_input_tokens":100000}"#;
    let answer = format!(
        r#"{{"type":"assistant","timestamp":"2026-11-16T10:00:00Z","requestedModel":"claude-sonnet-4-5","message":{{"model":"claude-sonnet-4-5",{usage}}}}}"#
    );
    let pair = format!("{answer}\n{result}");
    fs::write(file, pair.repeat(BYTES / pair.len() + 1)).unwrap();
}
