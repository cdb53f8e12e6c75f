//! Measures the monitor (A-1.28, A-1.31): `kgctx hook claude-code` after a tool and at the end of a turn, process start to end, with a
//! transcript of 50 MB, in turns with `/bin/true`; after a tool also where the usage stands far from the end, and at the end of a turn
//! where a rotation begins, a prompt waits in the queue, another process writes the state, or a wrapper's session is full (R-4.12).
//! Holds what they take to their bars.
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
use std::time::{Duration, Instant};

use bench_frame::{answered, median, ms};
use kgctx::store::state::State;
use rusqlite::Connection;

/// The size of the transcripts. A build for tests is not fast enough for that.
const BYTES: usize = 50 * 1024 * 1024;
const TEST_BYTES: usize = 2 * 1024 * 1024;
/// The bars: the medians of all runs after a tool and at the end of a turn.
const TOOL_MS: f64 = 10.0;
const STOP_MS: f64 = 200.0;
/// Names the wrapper to its agent.
const WRAPPER: &str = "bench-wrapper";

/// A case: its name, the bar, and what measures it in the nth round.
type Case<'a> = (&'static str, f64, Box<dyn Fn(usize) -> f64 + 'a>);

fn main() -> ExitCode {
    let lab = Lab::new();
    let nothing = Box::new(|_| timed(|| answered(&mut Command::new("/bin/true"), "")).0);
    let cases: [Case<'_>; 8] = [
        ("/bin/true", f64::INFINITY, nothing),
        ("after a tool", TOOL_MS, Box::new(|_| lab.after_tool("bench"))),
        ("the same, far from the last usage", TOOL_MS, Box::new(|_| lab.after_tool("far"))),
        ("end of a turn", STOP_MS, Box::new(|_| lab.silent("bench", &stop()))),
        ("a rotation begins", STOP_MS, Box::new(|_| lab.rotating("bench", "reserved"))),
        ("a prompt waits in the queue", STOP_MS, Box::new(|_| lab.rotating("queued", "reserved"))),
        ("another process writes the state", STOP_MS, Box::new(|_| lab.while_busy("bench"))),
        ("a wrapper's session is full", STOP_MS, Box::new(|n| lab.full(n))),
    ];
    let rounds = if bench_frame::is_test() { 3 } else { 200 };
    let mut times = cases.each_ref().map(|_| Vec::new());
    for n in 0..rounds {
        for ((.., measure), times) in cases.iter().zip(&mut times) {
            times.push(measure(n));
        }
    }
    println!("\n| 50 MB | median | bar |");
    println!("|---|---:|---|");
    let mut is_kept = true;
    for ((name, bar, _), times) in cases.iter().zip(times) {
        let took = median(times);
        is_kept &= took <= *bar;
        let verdict = match bar.is_finite() {
            true => format!("{bar} ms: {}", bench_frame::verdict(took <= *bar)),
            false => String::new(),
        };
        println!("| {name} | {took:.2} ms | {verdict} |");
    }
    bench_frame::exit(is_kept)
}

fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let started = Instant::now();
    let done = work();
    (ms(started), done)
}

fn stop() -> String {
    r#""hook_event_name":"Stop","background_tasks":[],"last_assistant_message":"Done.""#.to_owned()
}

/// Sessions of a Claude Code in tmux, which is this process, and busy for as long as it runs: no key is ever sent.
struct Lab {
    kgctx: PathBuf,
    home: PathBuf,
    project: PathBuf,
    base: PathBuf,
    bin: PathBuf,
}

impl Lab {
    fn new() -> Lab {
        let base = bench_frame::folder("monitor");
        fs::create_dir_all(&base).unwrap();
        // Its hooks are recognised by this name.
        let kgctx = bench_frame::binary("monitor/kgctx");
        let home = base.join("home");
        let _ = fs::remove_dir_all(&home);
        let project = bench_frame::project(&base);
        let bin = window(&base, &home);
        let lab = Lab { kgctx, home, project, base, bin };
        lab.run("bench", &["install", "claude-code", "--rotation"], "");
        for session in ["bench", "far", "queued"] {
            write_transcript(&lab.transcript(session), session);
            lab.hook(session, r#""hook_event_name":"SessionStart","source":"startup""#);
            // The context is half full: the agent is told once, and never again.
            let told = lab.hook(session, &tool());
            assert!(told.contains("52 % full"), "{session}: {told}");
        }
        lab.state().begin_wrap(WRAPPER, true).unwrap();
        lab
    }

    fn state(&self) -> State {
        State::open(&self.home.join("state"), Duration::from_secs(5)).unwrap()
    }

    fn transcript(&self, session: &str) -> PathBuf {
        self.base.join(format!("{session}.jsonl"))
    }

    fn run(&self, session: &str, arguments: &[&str], input: &str) -> String {
        let mut command = Command::new(&self.kgctx);
        command.env_clear().env("HOME", &self.home).env("KGCTX_HOME", &self.home);
        command.env("CLAUDECODE", "1").env("KGCTX_SESSION_ID", session);
        command.env("PATH", &self.bin).env("TMUX", "/none,1,0");
        command.env("TMUX_PANE", format!("%{}", session.len())).current_dir(&self.project);
        if session.starts_with("full") {
            // With git, as in a real one.
            command.env("KGCTX_WRAP", WRAPPER).env("PATH", "/usr/bin:/bin");
        }
        answered(command.args(arguments), input)
    }

    fn hook(&self, session: &str, more: &str) -> String {
        let file = if session.starts_with("full") { "full" } else { session };
        let (file, folder) = (self.transcript(file), &self.project);
        let (file, folder) = (file.display(), folder.display());
        let event = format!(
            r#"{{"session_id":"{session}","transcript_path":"{file}","cwd":"{folder}",{more}}}"#
        );
        self.run(session, &["hook", "claude-code"], &event)
    }

    /// How long a hook takes that says nothing.
    fn silent(&self, session: &str, more: &str) -> f64 {
        let (took, said) = timed(|| self.hook(session, more));
        assert_eq!(said, "");
        took
    }

    fn after_tool(&self, session: &str) -> f64 {
        self.silent(session, &tool())
    }

    /// How long the end of a turn takes that begins a rotation, or leaves that to another process.
    fn rotating(&self, session: &str, expected: &str) -> f64 {
        self.scheduled(session);
        let took = self.silent(session, &stop());
        let told = self.run(session, &["handoff", "rotate", "--status"], "");
        assert!(told.starts_with(expected), "{told}");
        self.run(session, &["handoff", "rotate", "--cancel"], "");
        took
    }

    fn scheduled(&self, session: &str) {
        self.says(session);
        self.run(session, &["handoff", "rotate", "--goal", "Measure it"], "");
    }

    /// The host says of its process that it has this session, and a turn is under way.
    fn says(&self, session: &str) {
        let status = format!(r#"{{"sessionId":"{session}","status":"busy"}}"#);
        let file = format!(".claude/sessions/{}.json", std::process::id());
        fs::write(self.home.join(file), status).unwrap();
    }

    fn while_busy(&self, session: &str) -> f64 {
        self.scheduled(session);
        let other = Connection::open(self.home.join("state/state.db")).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let took = self.silent(session, &stop());
        other.execute_batch("ROLLBACK").unwrap();
        // The process that goes on from here has it.
        while !self.run(session, &["handoff", "rotate", "--status"], "").starts_with("reserved") {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.run(session, &["handoff", "rotate", "--cancel"], "");
        took
    }

    /// How long the end of a turn takes that writes a handoff, and asks the wrapper for a new session.
    fn full(&self, n: usize) -> f64 {
        if n == 0 {
            write_transcript(&self.transcript("full"), "full");
        }
        let session = format!("full-{n}");
        self.hook(&session, r#""hook_event_name":"SessionStart","source":"startup""#);
        let took = self.silent(&session, &stop());
        let wrap = self.state().wrap(WRAPPER).unwrap().unwrap();
        assert_eq!(wrap.restart_for, Some(session));
        self.state().drop_restart(WRAPPER).unwrap();
        took
    }
}

fn tool() -> String {
    let output = "x".repeat(20_000);
    format!(
        r#""hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{{"command":"ls"}},"tool_response":{{"stdout":"{output}"}}"#
    )
}

/// Puts a tmux into a folder that shows nothing but whose process runs in its pane. Returns the folder.
fn window(base: &Path, home: &Path) -> PathBuf {
    let bin = base.join("bin");
    fs::create_dir_all(&bin).unwrap();
    fs::create_dir_all(home.join(".claude/sessions")).unwrap();
    let pid = std::process::id();
    fs::write(bin.join("tmux"), format!("#!/bin/sh\necho {pid} 0 2 2 0\n")).unwrap();
    fs::set_permissions(bin.join("tmux"), fs::Permissions::from_mode(0o755)).unwrap();
    bin
}

/// A long conversation, with the usage at its end.
fn write_transcript(file: &Path, session: &str) {
    let result =
        format!("{{\"type\":\"user\",\"message\":{{\"content\":\"{}\"}}}}\n", "y".repeat(30_000));
    let cached = if session == "full" { 140_000 } else { 100_000 };
    let usage = format!(
        r#""usage":{{"input_tokens":4000,"cache_creation_input_tokens":0,"cache_read_input_tokens":{cached}}}"#
    );
    let content = r#""role":"assistant","content":[{"type":"text","text":"Done."}]"#;
    let answer = format!(
        r#"{{"type":"assistant","timestamp":"2026-11-16T10:00:00Z","requestedModel":"claude-sonnet-4-5","message":{{"model":"claude-sonnet-4-5",{content},{usage}}}}}"#
    );
    let pair = format!("{answer}\n{result}");
    let bytes = if bench_frame::is_test() { TEST_BYTES } else { BYTES };
    let mut text = pair.repeat(bytes / pair.len() + 1);
    match session {
        // Almost as far as is looked back while somebody waits.
        "far" => text.push_str(&result.repeat(900 * 1024 / result.len())),
        "queued" => text.push_str("{\"type\":\"queue-operation\",\"operation\":\"enqueue\"}\n"),
        _ => {}
    }
    fs::write(file, text).unwrap();
}
