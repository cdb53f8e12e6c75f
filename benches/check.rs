//! Measures `kgctx check --base` with 10,000 notes against one full index of them in the same run, and holds time and memory
//! to their bars.
//!
//! `cargo bench --bench check` builds the binary as it is released (`.ci/build`). A change touches a hundred notes.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on should say where")]
#![expect(clippy::disallowed_methods, reason = "it starts processes and writes its own notes")]
#![expect(clippy::print_stdout, reason = "the table is what a benchmark is for")]

#[path = "../tests/support/bench_frame.rs"]
mod bench_frame;
#[path = "../tests/support/vault_generator.rs"]
mod vault_generator;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use bench_frame::{median, ms, verdict};

const NOTES: usize = 10_000;
const CHANGED: usize = 100;
/// The bars: times one full index, and memory.
const TIMES_INDEX: f64 = 3.0;
const MEMORY_MB: f64 = 200.0;
/// How often a process is asked how much memory it has had.
const GLANCE: Duration = Duration::from_millis(2);

fn main() -> ExitCode {
    let kgctx = bench_frame::binary("kgctx-check");
    let base = bench_frame::folder("check");
    let (notes, changed, rounds) =
        if bench_frame::is_test() { (200, 5, 1) } else { (NOTES, CHANGED, 7) };
    let repository = repository(&base.join(format!("atlas-{notes}")), notes, changed);
    let home = base.join("home");
    let (mut indexed, mut checked, mut memory) = (Vec::new(), Vec::new(), 0.0_f64);
    for _ in 0..rounds {
        let _ = fs::remove_dir_all(&home);
        let (ms, _) = timed(&kgctx, &home, &repository, &["index", "--full", "--json"]);
        indexed.push(ms);
        let arguments = ["check", "--base", "HEAD~1", "--format", "json"];
        let (ms, peak_mb) = timed(&kgctx, &home, &repository, &arguments);
        checked.push(ms);
        memory = memory.max(peak_mb);
    }
    let (indexed, checked) = (median(indexed), median(checked));
    let ratio = checked / indexed;
    println!("\n| notes | full index | check --base | ratio | bar | | memory | bar | |");
    println!("|---:|---:|---:|---:|---:|---|---:|---:|---|");
    println!(
        "| {notes} | {indexed:.0} ms | {checked:.0} ms | {ratio:.2} × | {TIMES_INDEX} × | {} | {memory:.0} MB | {MEMORY_MB} MB | {} |",
        verdict(ratio <= TIMES_INDEX),
        verdict(memory <= MEMORY_MB)
    );
    bench_frame::exit(ratio <= TIMES_INDEX && memory <= MEMORY_MB)
}

/// A repository of notes, of which some are new or changed in the last commit.
fn repository(top: &Path, notes: usize, changed: usize) -> PathBuf {
    let complete = top.with_extension("complete");
    if complete.exists() {
        return top.to_path_buf();
    }
    let _ = fs::remove_dir_all(top);
    let vault = bench_frame::vault(&top.join("notes"), notes);
    fs::write(top.join("kgctx.toml"), "[[vault]]\npath = \"notes\"\n").unwrap();
    git(top, &["init", "-q"]);
    git(top, &["add", "--all"]);
    git(top, &["commit", "-q", "-m", "notes"]);
    let mut files = Vec::new();
    collect(&vault, &mut files);
    files.sort();
    for (n, file) in files.iter().step_by(notes / changed).enumerate() {
        if n % 2 == 0 {
            let text = fs::read_to_string(file).unwrap();
            fs::write(file, format!("{text}\nMore about [[auth service]] number {n}.\n")).unwrap();
        } else {
            fs::write(file.with_extension("new.md"), format!("# New {n}\n\n[[auth service]]\n"))
                .unwrap();
        }
    }
    git(top, &["add", "--all"]);
    git(top, &["commit", "-q", "-m", "a change"]);
    fs::write(complete, "").unwrap();
    top.to_path_buf()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            files.push(path);
        }
    }
}

fn git(top: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=Bench", "-c", "user.email=bench@example.com"]);
    command.args(["-c", "commit.gpgsign=false", "-c", "gc.auto=0"]).args(arguments);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").current_dir(top);
    assert!(command.status().unwrap().success());
}

/// Runs the program to its end; returns milliseconds, and how many megabytes it had at most.
fn timed(kgctx: &Path, home: &Path, repository: &Path, arguments: &[&str]) -> (f64, f64) {
    let mut command = Command::new(kgctx);
    command.args(arguments).arg("--dir").arg(repository).env_clear();
    command.env("HOME", home).env("KGCTX_HOME", home);
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let started = Instant::now();
    let mut child = command.spawn().unwrap();
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    let mut peak_mb = 0.0_f64;
    let code = loop {
        peak_mb = peak_mb.max(peak(&status).unwrap_or_default());
        match child.try_wait().unwrap() {
            Some(code) => break code,
            None => thread::sleep(GLANCE),
        }
    };
    let took = ms(started);
    // A check may well find something.
    assert!(matches!(code.code(), Some(0 | 1)), "{code}");
    (took, peak_mb)
}

/// How many megabytes a process has had at most, where the system tells.
fn peak(status: &Path) -> Option<f64> {
    let text = fs::read_to_string(status).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<f64>().ok()? / 1e3)
}
