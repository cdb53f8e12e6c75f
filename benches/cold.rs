//! Measures a cold `kgctx inject --dry-run`, process start to end, and holds it to the bars of the README.
//!
//! `cargo bench --bench cold` builds the binary as it is released (`.ci/build`) and runs, in turns, `/bin/true`, a bare
//! parallel stat walk of the vault in a process of its own (the walk alone is timed), and the injection, freshness
//! check and exact recount included. `-- 10000` only that size. With `KGCTX_BASELINE=/path/to/kgctx` that binary takes its
//! turn, too, and the ratio of both medians is printed.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on should say where")]
#![expect(clippy::disallowed_methods, reason = "the floors touch files themselves")]
#![expect(clippy::print_stdout, reason = "the table is what a benchmark is for")]

#[path = "../tests/support/bench_frame.rs"]
mod bench_frame;
#[path = "../tests/support/every_file.rs"]
mod every_file;
#[path = "../tests/support/vault_generator.rs"]
mod vault_generator;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use bench_frame::{median, ms};

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
/// The argument under which this program, started by itself, walks once and tells how long it took.
const WALK: &str = "--walk";
/// The bars: times `/bin/true`, times the walk, growth of the rest, memory.
const TIMES_TRUE: f64 = 5.0;
const TIMES_WALK: f64 = 1.5;
const GROWTH: f64 = 2.0;
const MEMORY_MB: f64 = 25.0;

/// The medians of one size, in milliseconds.
struct Row {
    notes: usize,
    nothing: f64,
    walk: f64,
    inject: f64,
    baseline: Option<f64>,
    /// The part that is not the injection's own stat walk.
    rest: f64,
    memory_mb: f64,
    stages: BTreeMap<String, f64>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == WALK) {
        let started = Instant::now();
        every_file::visit(Path::new(&arguments[at + 1]), |file| {
            std::hint::black_box(file.metadata().unwrap());
        });
        println!("{}", started.elapsed().as_nanos());
        return ExitCode::SUCCESS;
    }
    let kgctx = bench_frame::binary("kgctx-cold");
    let baseline = bench_frame::baseline("kgctx-cold");
    let sizes = bench_frame::sizes(&SIZES).into_iter();
    let rows: Vec<Row> = sizes.map(|size| measure(size, &kgctx, baseline.as_deref())).collect();
    bench_frame::exit(print_table(&rows) == 0)
}

fn measure(notes: usize, kgctx: &Path, baseline: Option<&Path>) -> Row {
    let base = bench_frame::folder("bench");
    let vault = bench_frame::vault(&base, notes);
    let project = bench_frame::project(&base);
    fs::create_dir_all(project.join(".kgctx")).unwrap();
    let mut turns: Vec<(&str, &Path)> = vec![("inject", kgctx)];
    turns.extend(baseline.map(|baseline| ("baseline", baseline)));
    let inject = |(name, binary): (&str, &Path)| {
        let home = base.join(format!("cold-{name}-{notes}"));
        let mut command = Command::new(binary);
        command.args(["inject", "--session", "bench", "--dry-run", "--timings"]);
        command.args(["--now", &vault_generator::END_SECONDS.to_string()]);
        command.arg("--dir").arg(&project).arg("--vault").arg(&vault);
        command.env_clear().env("HOME", &home).env("KGCTX_HOME", &home);
        command.env("KGCTX_DEADLINE_MS", "60000");
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command
    };
    for turn in &turns {
        let made = inject(*turn).output().unwrap();
        assert!(made.status.success(), "the first one makes the index");
    }
    let walk = std::env::current_exe().unwrap();
    let rounds = match (bench_frame::is_test(), notes) {
        (true, _) => 2,
        (false, 100_000) => 25,
        (false, _) => 80,
    };
    let mut samples: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let mut take = |name: &str, value: f64| samples.entry(name.to_owned()).or_default().push(value);
    for _ in 0..rounds {
        take("true", timed(&mut Command::new("/bin/true")).0);
        let told = Command::new(&walk).args([WALK, vault.to_str().unwrap()]).output().unwrap();
        let nanos: f64 = String::from_utf8(told.stdout).unwrap().trim().parse().unwrap();
        take("walk", nanos / 1e6);
        // The second one finds warmer caches, so both take turns in that, too.
        turns.reverse();
        for turn in &turns {
            let (all, said) = timed(inject(*turn).stderr(Stdio::piped()));
            take(turn.0, all);
            if turn.0 == "inject" {
                take_stages(&said, all, &mut take);
            }
        }
    }
    let medians: BTreeMap<String, f64> =
        samples.into_iter().map(|(name, values)| (name, median(values))).collect();
    let stages = medians
        .iter()
        .filter_map(|(name, ms)| Some((name.strip_prefix("stage ")?.to_owned(), *ms)))
        .collect();
    Row {
        notes,
        nothing: medians["true"],
        walk: medians["walk"],
        inject: medians["inject"],
        baseline: medians.get("baseline").copied(),
        rest: medians["rest"],
        memory_mb: medians.get("stage memory").copied().unwrap_or_default(),
        stages,
    }
}

/// Takes what `--timings` said of each stage.
fn take_stages(said: &str, all: f64, take: &mut impl FnMut(&str, f64)) {
    for line in said.lines() {
        let mut words = line.split_whitespace();
        if let (Some(name), Some(Ok(value))) = (words.next(), words.next().map(str::parse)) {
            take(&format!("stage {name}"), value);
            if name == "list" {
                take("rest", all - value);
            }
        }
    }
}

/// Runs a program to its end; returns milliseconds and what it said.
fn timed(command: &mut Command) -> (f64, String) {
    let started = Instant::now();
    let output = command.output().unwrap();
    let took = ms(started);
    assert!(output.status.success(), "{output:?}");
    (took, String::from_utf8(output.stderr).unwrap())
}

/// Prints what was measured and returns how many bars were missed.
fn print_table(rows: &[Row]) -> usize {
    let mut missed = 0;
    let mut verdict = |kept: bool| {
        missed += usize::from(!kept);
        bench_frame::verdict(kept)
    };
    println!("\n| notes | /bin/true | stat walk | inject | bar | | without its walk | memory |");
    println!("|---:|---:|---:|---:|---:|---|---:|---:|");
    for row in rows {
        let bar = TIMES_TRUE * row.nothing + TIMES_WALK * row.walk;
        println!(
            "| {} | {:.2} ms | {:.2} ms | {:.2} ms | {bar:.2} ms | {} | {:.2} ms | {:.1} MB |",
            row.notes,
            row.nothing,
            row.walk,
            row.inject,
            verdict(row.inject <= bar),
            row.rest,
            row.memory_mb
        );
    }
    let of = |notes: usize| rows.iter().find(|row| row.notes == notes);
    if let (Some(small), Some(large)) = (of(SIZES[0]), of(SIZES[2])) {
        let growth = large.rest / small.rest;
        println!(
            "\nFrom 1,000 to 100,000 notes the part that is not the walk grows {growth:.2} × (bar {GROWTH} ×: {}).",
            verdict(growth <= GROWTH)
        );
    }
    if let Some(row) = of(SIZES[1]) {
        let memory = row.memory_mb;
        println!(
            "Peak memory at 10,000 notes: {memory:.1} MB (bar {MEMORY_MB} MB: {}).",
            verdict(memory <= MEMORY_MB)
        );
    }
    for row in rows {
        let stages: Vec<String> =
            row.stages.iter().map(|(name, ms)| format!("{name} {ms:.2}")).collect();
        println!("{} notes, medians by stage: {}", row.notes, stages.join(", "));
        if let Some(baseline) = row.baseline {
            let what = format!("{} notes, inject", row.notes);
            println!("{}", bench_frame::ratio(&what, baseline, row.inject));
        }
    }
    missed
}
