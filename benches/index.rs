//! Measures the index on generated vaults, each operation beside its floor, and holds it to the bars of the README.
//!
//! `cargo bench --bench index` runs all sizes and prints the table; `-- 10000` only that size. Every sample of a
//! compared operation is taken right after one of its floor, so that the ratio survives a noisy machine.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on should say where")]
#![expect(clippy::disallowed_methods, reason = "the floors touch files themselves")]
#![expect(clippy::print_stdout, reason = "the table is what a benchmark is for")]

#[path = "../tests/support/bench_frame.rs"]
mod bench_frame;
#[path = "../tests/support/every_file.rs"]
mod every_file;
#[path = "../tests/support/vault_generator.rs"]
mod vault_generator;

use std::cell::RefCell;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use criterion::{Criterion, SamplingMode};
use kgctx::core::search::answer::RecentFilter;
use kgctx::core::time::{Timespan, Timestamp};
use kgctx::sources::context::{self, ContextQuestion};
use kgctx::sources::recent::{self, RecentQuestion};
use kgctx::sources::search;
use kgctx::workspace::refresh::{Mode, Patience, refresh};
use kgctx::workspace::{Request, Workspace};

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
/// The argument under which this program, started by itself, indexes once and tells its peak memory.
const PEAK_OF: &str = "--peak-memory-of";

/// One line of the table.
struct Row {
    notes: usize,
    what: &'static str,
    value: f64,
    unit: &'static str,
    /// Times of the floor, measured in turns.
    floor_ms: Option<f64>,
    bar: Bar,
}

/// What a row must keep.
#[derive(Clone, Copy)]
enum Bar {
    TimesFloor(f64),
    AtMost(f64),
    /// At most so much above the row of the same size with this name.
    Above(&'static str, f64),
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == PEAK_OF) {
        return index_once_and_tell_peak(Path::new(&arguments[at + 1]));
    }
    let base = bench_frame::folder("bench");
    // The benchmark keeps its own index, and reads nobody's configuration.
    let home = base.join("home");
    let mut rows = Vec::new();
    for size in bench_frame::sizes(&SIZES) {
        measure(size, &base, &home, &mut rows);
    }
    print_table(&rows)
}

fn workspace(vault: &Path, home: &Path) -> Workspace {
    let request = Request {
        dir: Some(vault.to_path_buf()),
        vaults: vec![vault.to_path_buf()],
        home: Some(home.into()),
        ..Request::default()
    };
    Workspace::find(&request).expect("the generated vault can be opened").0
}

fn measure(notes: usize, base: &Path, home: &Path, rows: &mut Vec<Row>) {
    let is_test = bench_frame::is_test();
    let vault = bench_frame::vault(base, notes);
    let workspace = workspace(&vault, home);
    let mut criterion = Criterion::default()
        .sample_size(if notes > 10_000 { 10 } else { 20 })
        .warm_up_time(Duration::from_millis(if is_test { 1 } else { 500 }))
        .measurement_time(Duration::from_millis(if is_test { 1 } else { 2_000 }));
    let refresh = |mode| refresh(&workspace, mode, Patience::Wait, &mut |_, _| {}).unwrap().0;

    let mut pair =
        |what, bar, prepare: &dyn Fn(), floor: Option<&dyn Fn()>, operation: &dyn Fn()| {
            rows.push(sample(
                &mut criterion,
                Row { notes, what, value: 0.0, unit: "ms", floor_ms: None, bar },
                prepare,
                floor,
                operation,
            ));
        };
    let nothing = || ();
    pair("full index", Bar::TimesFloor(12.0), &nothing, Some(&|| read_and_hash(&vault)), &|| {
        drop(refresh(Mode::Full))
    });
    // Lets the clock of the file system tick, so that no note is read again for having just been written.
    std::thread::sleep(Duration::from_millis(50));
    refresh(Mode::Incremental);
    pair(
        "refresh, nothing changed",
        Bar::TimesFloor(2.0),
        &nothing,
        Some(&|| stat_all(&vault)),
        &|| {
            drop(refresh(Mode::Incremental));
        },
    );
    let note = vault.join("concepts/auth-service.md");
    let original = fs::read_to_string(&note).unwrap();
    let edits = RefCell::new(0);
    let edit = || {
        *edits.borrow_mut() += 1;
        fs::write(&note, format!("{original}\nEdit {} adds [[auth layer]].\n", edits.borrow()))
            .unwrap();
        std::thread::sleep(Duration::from_millis(30));
    };
    let bar = Bar::Above("refresh, nothing changed", 10.0);
    pair("refresh, one note changed", bar, &edit, Some(&|| stat_all(&vault)), &|| {
        drop(refresh(Mode::Incremental))
    });
    vault_generator::write(
        &vault.join("concepts"),
        "auth-service.md",
        &original,
        vault_generator::END_SECONDS - 86_400,
    );
    std::thread::sleep(Duration::from_millis(50));
    let index = refresh(Mode::Incremental);

    let ask = |query: &str| drop(search::answer(&workspace, &index, query, 5).unwrap());
    pair("search: a title", Bar::AtMost(5.0), &nothing, None, &|| ask("scheduler throughput"));
    pair("search: a rare word", Bar::AtMost(5.0), &nothing, None, &|| ask("v2 decay 997"));
    pair("search: common words", Bar::AtMost(5.0), &nothing, None, &|| {
        ask("the request under load")
    });
    pair("recent", Bar::AtMost(5.0), &nothing, None, &|| {
        let now = Some(Timestamp::from_seconds(vault_generator::END_SECONDS as i64));
        let question =
            RecentQuestion { now, span: Timespan::DAY, limit: 10, filter: RecentFilter::All };
        drop(recent::answer(&workspace, &index, question).unwrap());
    });
    let around = |concept| {
        let question = ContextQuestion { now: None, concept, depth: 1, max_entities: 10 };
        drop(context::answer(&workspace, &index, question).unwrap());
    };
    pair("context: the largest hub", Bar::AtMost(5.0), &nothing, None, &|| around("auth service"));
    pair("context: a small concept", Bar::AtMost(5.0), &nothing, None, &|| {
        around("lease escaping")
    });
    criterion.final_summary();
    if !is_test {
        rows.push(Row {
            notes,
            what: "full index, peak memory",
            value: peak_memory_mb(&vault, home),
            unit: "MB",
            floor_ms: None,
            bar: Bar::AtMost(300.0),
        });
    }
}

/// Takes samples of an operation, each with one of its floor before it.
fn sample(
    criterion: &mut Criterion,
    mut row: Row,
    prepare: &dyn Fn(),
    floor: Option<&dyn Fn()>,
    operation: &dyn Fn(),
) -> Row {
    let times: RefCell<Vec<Duration>> = RefCell::default();
    let floor_times: RefCell<Vec<Duration>> = RefCell::default();
    let mut group = criterion.benchmark_group(format!("{} notes", row.notes));
    group.sampling_mode(SamplingMode::Flat);
    group.bench_function(row.what, |bencher| {
        bencher.iter_custom(|iterations| {
            let mut total = Duration::ZERO;
            for _ in 0..iterations {
                prepare();
                if let Some(floor) = floor {
                    floor_times.borrow_mut().push(time(floor));
                }
                let taken = time(operation);
                times.borrow_mut().push(taken);
                total += taken;
            }
            total
        });
    });
    group.finish();
    row.value = median_ms(&mut times.borrow_mut()).unwrap_or_default();
    row.floor_ms = median_ms(&mut floor_times.borrow_mut());
    row
}

fn time(operation: &dyn Fn()) -> Duration {
    let started = Instant::now();
    operation();
    started.elapsed()
}

fn median_ms(times: &mut [Duration]) -> Option<f64> {
    times.sort();
    times.get(times.len() / 2).map(|time| time.as_secs_f64() * 1e3)
}

/// The floor of a refresh: the stamps of all files, by as many threads as a refresh uses.
fn stat_all(root: &Path) {
    every_file::visit(root, |file| {
        std::hint::black_box(file.metadata().unwrap());
    });
}

/// The floor of a full index: finding, reading and hashing all files, by as many threads.
fn read_and_hash(root: &Path) {
    every_file::visit(root, |file| {
        std::hint::black_box(blake3::hash(&fs::read(file.path()).unwrap()));
    });
}

fn peak_memory_mb(vault: &Path, home: &Path) -> f64 {
    let output = Command::new(std::env::current_exe().unwrap())
        .args([PEAK_OF, &vault.display().to_string(), &home.display().to_string()])
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).trim().parse().expect("the child tells its peak memory")
}

fn index_once_and_tell_peak(vault: &Path) -> ExitCode {
    let home = std::env::args().next_back().unwrap_or_default();
    refresh(&workspace(vault, Path::new(&home)), Mode::Full, Patience::Wait, &mut |_, _| {})
        .unwrap();
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak_kb = status.lines().find_map(|line| {
        line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse::<u64>().ok()
    });
    println!("{}", peak_kb.unwrap_or_default() / 1024);
    ExitCode::SUCCESS
}

fn print_table(rows: &[Row]) -> ExitCode {
    let mut missed = 0;
    println!(
        "\n| notes | operation | median | floor | ratio | bar | |\n|---:|---|---:|---:|---:|---|---|"
    );
    for row in rows {
        let ratio = row.floor_ms.map(|floor| row.value / floor);
        let (bar, is_kept) = match row.bar {
            Bar::TimesFloor(times) => {
                (format!("≤ {times} × floor"), ratio.is_some_and(|ratio| ratio <= times))
            }
            Bar::AtMost(most) => (format!("≤ {most} {}", row.unit), row.value <= most),
            Bar::Above(what, ms) => {
                let base = rows.iter().find(|other| other.notes == row.notes && other.what == what);
                (
                    format!("≤ {what} + {ms} ms"),
                    base.is_some_and(|base| row.value <= base.value + ms),
                )
            }
        };
        // Bars are set for ten thousand notes, memory's for the largest vault; the other rows show how it grows.
        let counts = row.notes == if row.unit == "MB" { 100_000 } else { 10_000 };
        missed += usize::from(counts && !is_kept);
        let verdict = if counts { bench_frame::verdict(is_kept) } else { "" };
        let cell = |value: Option<f64>| {
            value.map_or(String::new(), |value| {
                if value < 100.0 {
                    format!("{value:.2} {}", row.unit)
                } else {
                    format!("{value:.0} {}", row.unit)
                }
            })
        };
        let ratio = ratio.map_or(String::new(), |ratio| format!("{ratio:.1} ×"));
        println!(
            "| {} | {} | {} | {} | {ratio} | {} | {verdict} |",
            row.notes,
            row.what,
            cell(Some(row.value)),
            cell(row.floor_ms),
            if counts { bar } else { String::new() }
        );
    }
    for row in
        rows.iter().filter(|row| row.notes == 100_000 && row.floor_ms.is_none() && row.unit == "ms")
    {
        let small = rows.iter().find(|other| other.notes == 10_000 && other.what == row.what);
        if let Some(small) = small {
            let growth = row.value / small.value;
            missed += usize::from(growth > 3.0);
            let verdict = bench_frame::verdict(growth <= 3.0);
            println!(
                "growth of `{}` from 10,000 to 100,000 notes: {growth:.1} × (bar 3 ×: {verdict})",
                row.what
            );
        }
    }
    if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
