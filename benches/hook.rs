//! Measures `kgctx hook opencode`, process start to end, alone and through a warm service, and holds the latter to the bar of
//! the README.
//!
//! `cargo bench --bench hook` builds the binary as it is released (`.ci/build`) and runs, in turns, `/bin/true`, the hook by
//! itself, and the hook with `kgctx serve` running; each for a session of its own, claim and receipt included.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on should say where")]
#![expect(clippy::disallowed_methods, reason = "it starts processes and writes its own notes")]
#![expect(clippy::print_stdout, reason = "the table is what a benchmark is for")]

#[path = "../tests/support/bench_frame.rs"]
mod bench_frame;
#[path = "../tests/support/vault_generator.rs"]
mod vault_generator;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use bench_frame::{answered, median, ms};

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
    let kgctx = bench_frame::binary("kgctx-hook");
    let rows: Vec<Row> =
        bench_frame::sizes(&SIZES).into_iter().map(|notes| measure(notes, &kgctx)).collect();
    println!("\n| notes | /bin/true | hook alone | hook, warm service | bar |");
    println!("|---:|---:|---:|---:|---|");
    let mut is_missed = false;
    for Row { notes, nothing, alone, warm } in rows {
        let verdict = bench_frame::verdict(warm <= WARM_MS);
        is_missed |= warm > WARM_MS;
        println!(
            "| {notes} | {nothing:.2} ms | {alone:.2} ms | {warm:.2} ms | {WARM_MS} ms: {verdict} |"
        );
    }
    bench_frame::exit(!is_missed)
}

fn measure(notes: usize, kgctx: &Path) -> Row {
    let base = bench_frame::folder("hook");
    let vault = bench_frame::vault(&base, notes);
    // Some notes are of today, so that the context is as long as it mostly is.
    for name in 0..RECENT {
        let text = format!("# Today {name}\n\nOn [[Today {name}]] and the [[auth-service]].\n");
        fs::write(vault.join(format!("today-{name}.md")), text).unwrap();
    }
    // A project that many notes mention.
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
    let rounds = if bench_frame::is_test() { 3 } else { 80 };
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
