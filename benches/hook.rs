//! Measures `kgctx hook opencode`, process start to end, alone and through a warm service, and holds the latter to the bar of
//! the README.
//!
//! `cargo bench --bench hook` builds the binary as it is released (`.ci/build`) and runs, in turns, `/bin/true`, the hook by
//! itself, and the hook with `kgctx serve` running; each for a session of its own, claim and receipt included. With
//! `KGCTX_BASELINE=/path/to/kgctx` that binary takes its turn, too, and the ratios of both medians are printed.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on should say where")]
#![expect(clippy::disallowed_methods, reason = "it starts processes and writes its own notes")]
#![expect(clippy::print_stdout, reason = "the table is what a benchmark is for")]

#[path = "../tests/support/bench_frame.rs"]
mod bench_frame;
#[path = "../tests/support/vault_generator.rs"]
mod vault_generator;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
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
    /// Alone and warm, of the baseline.
    baseline: Option<(f64, f64)>,
}

fn main() -> ExitCode {
    let kgctx = bench_frame::binary("kgctx-hook");
    let baseline = bench_frame::baseline("kgctx-hook");
    let sizes = bench_frame::sizes(&SIZES).into_iter();
    let rows: Vec<Row> = sizes.map(|notes| measure(notes, &kgctx, baseline.as_deref())).collect();
    println!("\n| notes | /bin/true | hook alone | hook, warm service | bar |");
    println!("|---:|---:|---:|---:|---|");
    let mut is_missed = false;
    for Row { notes, nothing, alone, warm, .. } in &rows {
        let verdict = bench_frame::verdict(*warm <= WARM_MS);
        is_missed |= *warm > WARM_MS;
        println!(
            "| {notes} | {nothing:.2} ms | {alone:.2} ms | {warm:.2} ms | {WARM_MS} ms: {verdict} |"
        );
    }
    for Row { notes, alone, warm, baseline, .. } in &rows {
        if let Some((old_alone, old_warm)) = baseline {
            let what = format!("{notes} notes, alone");
            println!("{}", bench_frame::ratio(&what, *old_alone, *alone));
            let what = format!("{notes} notes, warm service");
            println!("{}", bench_frame::ratio(&what, *old_warm, *warm));
        }
    }
    bench_frame::exit(!is_missed)
}

fn measure(notes: usize, kgctx: &Path, baseline: Option<&Path>) -> Row {
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
    let candidate = |kgctx: &Path, name: &str| {
        Candidate::prepare(kgctx, &base.join(format!("{name}-{notes}")), &vault, &project)
    };
    let mut candidates = vec![candidate(kgctx, "measured")];
    candidates.extend(baseline.map(|baseline| candidate(baseline, "baseline")));
    thread::sleep(Duration::from_secs(1));
    let rounds = if bench_frame::is_test() { 3 } else { 80 };
    let mut nothings = Vec::new();
    for n in 2..rounds + 2 {
        let started = Instant::now();
        answered(&mut Command::new("/bin/true"), "");
        nothings.push(ms(started));
        // The second one finds warmer caches, so both take turns in that, too.
        if n % 2 == 0 {
            candidates.iter_mut().for_each(|candidate| candidate.take(n));
        } else {
            candidates.iter_mut().rev().for_each(|candidate| candidate.take(n));
        }
    }
    let mut medians = candidates.into_iter().map(Candidate::medians);
    let (alone, warm) = medians.next().unwrap();
    Row { notes, nothing: median(nothings), alone, warm, baseline: medians.next() }
}

/// A binary with two homes, one of which has a service, and its times so far.
struct Candidate {
    kgctx: PathBuf,
    vault: PathBuf,
    project: PathBuf,
    alone: PathBuf,
    warm: PathBuf,
    alones: Vec<f64>,
    warms: Vec<f64>,
    service: Option<Service>,
}

impl Candidate {
    fn prepare(kgctx: &Path, home: &Path, vault: &Path, project: &Path) -> Candidate {
        let _ = fs::remove_dir_all(home);
        let mut candidate = Candidate {
            kgctx: kgctx.to_owned(),
            vault: vault.to_owned(),
            project: project.to_owned(),
            alone: home.join("alone"),
            warm: home.join("warm"),
            alones: Vec::new(),
            warms: Vec::new(),
            service: None,
        };
        // The first makes the index, if need be with a process of its own.
        for home in [&candidate.alone, &candidate.warm] {
            let mut index = candidate.command(home);
            let index = index.args(["index", "--dir"]).arg(project).stdout(Stdio::null());
            assert!(index.status().unwrap().success());
        }
        candidate.service = Some(Service::start(candidate.command(&candidate.warm)));
        candidate.hook(&candidate.warm, 0);
        candidate
    }

    fn command(&self, home: &Path) -> Command {
        let mut command = Command::new(&self.kgctx);
        command.env_clear().env("HOME", home).env("KGCTX_HOME", home);
        command.env("KGCTX_VAULTS", &self.vault);
        command
    }

    fn hook(&self, home: &Path, n: usize) -> f64 {
        let question = format!(
            r#"{{"protocol":1,"event":{{"type":"session.created","properties":{{"info":{{"id":"ses_{n}","directory":{:?}}}}}}}}}"#,
            self.project.to_str().unwrap()
        );
        let mut command = self.command(home);
        command.args(["hook", "opencode"]);
        let started = Instant::now();
        let answer = answered(&mut command, &question);
        let took = ms(started);
        // Before there is an index, the first ones may get nothing.
        assert!(n < 2 || answer.contains(r#""action":"inject""#), "{answer}");
        took
    }

    fn take(&mut self, n: usize) {
        self.alones.push(self.hook(&self.alone, n));
        self.warms.push(self.hook(&self.warm, n));
    }

    /// Alone and warm.
    fn medians(self) -> (f64, f64) {
        drop(self.service);
        (median(self.alones), median(self.warms))
    }
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
