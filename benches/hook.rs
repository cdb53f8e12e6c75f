//! Measures `kgctx hook opencode`, process start to end, alone and through a warm service, and holds the latter to the bar of
//! the README.
//!
//! `cargo bench --bench hook` builds the binary as it is released (`.ci/build`) and runs, in turns, `/bin/true`, the hook by
//! itself, and the hook with `kgctx serve` running; each for a session of its own, claim and receipt included.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on should say where")]
#![expect(clippy::disallowed_methods, reason = "it starts processes and writes its own notes")]
#![expect(clippy::print_stdout, reason = "the table is what a benchmark is for")]

#[path = "../tests/support/ground.rs"]
mod ground;
#[path = "../tests/support/vault_generator.rs"]
mod vault_generator;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const SIZES: [usize; 2] = [1_000, 10_000];
/// How many notes are of today.
const RECENT: usize = 20;
/// The bar, for every size.
const WARM_MS: f64 = 5.0;

/// The medians of one size, in milliseconds.
struct Row {
    notes: usize,
    nothing: f64,
    alone: f64,
    warm: f64,
}

fn main() -> ExitCode {
    // `cargo test --benches` asks every benchmark to show that it still runs.
    let is_test = !std::env::args().any(|argument| argument == "--bench");
    let kgctx = if is_test {
        PathBuf::from(env!("CARGO_BIN_EXE_kgctx"))
    } else {
        ground::released_binary("kgctx-hook")
    };
    let sizes = if is_test { &SIZES[..1] } else { &SIZES };
    let rows: Vec<Row> = sizes.iter().map(|&notes| measure(notes, &kgctx, is_test)).collect();
    println!("\n| notes | /bin/true | hook alone | hook, warm service | bar |");
    println!("|---:|---:|---:|---:|---|");
    let mut is_missed = false;
    for Row { notes, nothing, alone, warm } in rows {
        let verdict = if warm <= WARM_MS { "kept" } else { "MISSED" };
        is_missed |= warm > WARM_MS;
        println!(
            "| {notes} | {nothing:.2} ms | {alone:.2} ms | {warm:.2} ms | {WARM_MS} ms: {verdict} |"
        );
    }
    if is_missed && !is_test { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn measure(notes: usize, kgctx: &Path, is_test: bool) -> Row {
    let base = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("hook");
    let vault = ground::vault(&base, notes);
    // Some notes are of today, so that the context is as long as it mostly is.
    for name in 0..RECENT {
        let text = format!("# Today {name}\n\nOn [[Today {name}]] and the [[auth-service]].\n");
        fs::write(vault.join(format!("today-{name}.md")), text).unwrap();
    }
    // A project that many notes speak of.
    let project = base.join("auth-service");
    fs::create_dir_all(project.join(".kgctx")).unwrap();
    let home = |name: &str| {
        let home = base.join(format!("{name}-{notes}"));
        let _ = fs::remove_dir_all(&home);
        home
    };
    let (alone, warm) = (home("alone"), home("warm"));
    let command = |home: &Path| {
        let mut command = Command::new(kgctx);
        command.env_clear().env("HOME", home).env("KGCTX_HOME", home);
        command.env("KGCTX_VAULTS", &vault);
        command
    };
    let hook = |home: &Path, n: usize| {
        let question = format!(
            r#"{{"protocol":1,"event":{{"type":"session.created","properties":{{"info":{{"id":"ses_{n}","directory":{:?}}}}}}}}}"#,
            project.to_str().unwrap()
        );
        let mut command = command(home);
        command.args(["hook", "opencode"]);
        let started = Instant::now();
        let answer = answered(&mut command, &question);
        let took = ms(started);
        // Before there is an index, the first ones may get nothing.
        assert!(n < 2 || answer.contains(r#""action":"inject""#), "{answer}");
        took
    };
    // The first makes the index, if need be with a process of its own.
    for home in [&alone, &warm] {
        let mut index = command(home);
        let index = index.args(["index", "--dir"]).arg(&project).stdout(Stdio::null());
        assert!(index.status().unwrap().success());
    }
    let _service = Service::start(command(&warm));
    hook(&warm, 0);
    thread::sleep(Duration::from_secs(1));
    let rounds = if is_test { 3 } else { 80 };
    let (mut nothings, mut alones, mut warms) = (Vec::new(), Vec::new(), Vec::new());
    for n in 2..rounds + 2 {
        let started = Instant::now();
        answered(&mut Command::new("/bin/true"), "");
        nothings.push(ms(started));
        alones.push(hook(&alone, n));
        warms.push(hook(&warm, n));
    }
    Row { notes, nothing: median(nothings), alone: median(alones), warm: median(warms) }
}

/// Runs a program to its end; returns what it printed.
fn answered(command: &mut Command, input: &str) -> String {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

fn ms(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// A service that follows nobody, ended when it is dropped.
struct Service(Child);

impl Service {
    fn start(mut command: Command) -> Service {
        command.args(["serve", "--server", "http://127.0.0.1:1"]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("listening"), "{line}");
        Service(child)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
