//! Measures maenifold's database as a source, at the size that maenifold itself claims (2,457 files, 13,449 concepts, 882,999
//! edges, 360 MB), and holds it to its bars.
//!
//! `cargo bench --bench maenifold` makes the database once, puts the questions of a session's start in a process of its own,
//! and then runs `kgctx inject --dry-run --source database` as it is released (`.ci/build`). The page cache is warm.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on should say where")]
#![expect(clippy::disallowed_methods, reason = "it starts processes and writes its own notes")]
#![expect(clippy::print_stdout, reason = "the table is what a benchmark is for")]

#[path = "../tests/support/bench_frame.rs"]
mod bench_frame;
#[path = "../tests/support/maenifold_db.rs"]
mod maenifold_db;
#[path = "../tests/support/vault_generator.rs"]
mod vault_generator;

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use bench_frame::{median, slowest};
use kgctx::core::context::found::Found;
use kgctx::core::context::rank::{Ranking, shortlist};
use kgctx::core::note::vault::Vault;
use kgctx::core::search::answer::RecentFilter;
use kgctx::core::settings::LinkStyle;
use kgctx::core::time::{Timespan, Timestamp};
use kgctx::sources::maenifold::database::Memory;
use kgctx::sources::recent::RecentQuestion;
use kgctx::system::environment::Environment;
use kgctx::system::maenifold_places::Places;
use kgctx::system::process::identity;
use kgctx::system::vault;
use kgctx::workspace::{Place, Request};
use rusqlite::{Connection, params};
use vault_generator::{END_SECONDS, Random};

/// The bars of a whole injection.
const INJECT_MS: f64 = 50.0;
const INJECT_MB: f64 = 60.0;
/// How much more processor time `auto` may take than the index, which it is.
const AUTO_SHARE: f64 = 1.1;
/// Tells the process that is measured from the one that prepares.
const MEASURED: &str = "KGCTX_BENCH_MEASURED";
const WALK: &str = "walk (not counted)";
const ALL: &str = "all questions";
/// How many areas the notes are about.
const AREAS: usize = 40;
const PROJECT: &str = "auth service";

/// How large a database is made.
struct Size {
    files: usize,
    concepts: usize,
    edges: usize,
    /// Bytes of a note's text, in the mean.
    text: usize,
}

const CLAIMED: Size = Size { files: 2_457, concepts: 13_449, edges: 882_999, text: 18_000 };
const SMALL: Size = Size { files: 60, concepts: 300, edges: 4_000, text: 2_000 };

fn main() -> ExitCode {
    if let Some(root) = std::env::var_os(MEASURED) {
        ask(Path::new(&root));
        return ExitCode::SUCCESS;
    }
    let is_test = bench_frame::is_test();
    let (size, name) = if is_test { (SMALL, "small") } else { (CLAIMED, "claimed") };
    let root = bench_frame::folder("maenifold").join(name);
    let complete = root.join("complete");
    if !complete.exists() {
        let started = Instant::now();
        let _ = fs::remove_dir_all(&root);
        generate(&root, &size);
        fs::write(complete, "").unwrap();
        println!("made in {:.1} s", started.elapsed().as_secs_f64());
    }
    describe(&root);
    bench_frame::exit(questions(&root) & injections(&root, is_test) & by_itself(&root, is_test))
}

/// Says how large the database is.
fn describe(root: &Path) {
    let path = root.join("memory.db");
    let connection = Connection::open(&path).unwrap();
    let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    println!(
        "{} files, {} concepts, {} edges, {:.0} MB; the strongest concept has {} edges",
        count("SELECT count(*) FROM file_content"),
        count("SELECT count(*) FROM concepts"),
        count("SELECT count(*) FROM concept_graph"),
        fs::metadata(&path).unwrap().len() as f64 / 1e6,
        count(
            "SELECT max(n) FROM (SELECT count(*) AS n FROM (SELECT concept_a AS c FROM concept_graph \
             UNION ALL SELECT concept_b FROM concept_graph) GROUP BY c)"
        ),
    );
}

/// The questions of a session's start, in a process of their own. Returns whether the bars were kept.
fn questions(root: &Path) -> bool {
    let output = Command::new(std::env::current_exe().unwrap())
        .env(MEASURED, root)
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(output.status.success());
    let said = String::from_utf8(output.stdout).unwrap();
    print!("{said}");
    !said.contains("MISSED")
}

/// Puts the questions, again and again.
fn ask(root: &Path) {
    let environment: Environment = [("MAENIFOLD_ROOT".into(), root.into())].into_iter().collect();
    let places = Places::locate(&environment).unwrap();
    let request = Request {
        dir: Some(root.to_path_buf()),
        home: Some(root.join("home")),
        ..Request::default()
    };
    let settings = Place::find(&request).unwrap().settings;
    let vaults = [Vault::new("", places.memory.canonicalize().unwrap(), LinkStyle::Maenifold)];
    let now = Some(Timestamp::from_seconds(END_SECONDS as i64));
    let mut stages: Vec<(&str, Vec<f64>)> = Vec::new();
    let mut totals = Vec::new();
    for _ in 0..30 {
        let (mut started, mut sum) = (Instant::now(), 0.0);
        let mut took = |name: &'static str| {
            let ms = bench_frame::ms(started);
            // A session's start walks through all vaults anyway, beside the questions.
            sum += if name == WALK { 0.0 } else { ms };
            match stages.iter_mut().find(|(known, _)| *known == name) {
                Some((_, times)) => times.push(ms),
                None => stages.push((name, vec![ms])),
            }
            started = Instant::now();
            sum
        };
        let (listings, _) = vault::walk(&vaults, settings.max_file_bytes.value);
        took(WALK);
        let memory = Memory::open(&places, Duration::from_secs(1)).unwrap();
        took("open");
        assert_eq!(memory.behind(&listings), None);
        took("behind");
        let searched = memory.search(PROJECT, 5).unwrap();
        took("search");
        let question =
            RecentQuestion { now, span: Timespan::DAY, limit: 10, filter: RecentFilter::Memory };
        let recent = memory.recent(question).unwrap();
        took("recent");
        let ranking = Ranking::default();
        let found = Found { search: searched, recent, ..Found::default() };
        let concepts = shortlist(ranking, &found);
        let details = memory.details(&concepts, ranking.expansion()).unwrap();
        let all = took("details");
        totals.push(all);
        assert!(memory.is_unchanged());
        assert!(found.search.len() == 5 && found.recent.len() == 10 && details.len() > 10);
    }
    stages.push((ALL, totals));
    println!("\n| questions to the database | p50 | slowest | bar |\n|---|---:|---:|---|");
    for (name, times) in stages {
        let slowest = slowest(&times);
        let middle = median(times);
        let verdict = match name {
            ALL => "in sum".to_owned(),
            _ => String::new(),
        };
        println!("| {name} | {middle:.2} ms | {slowest:.2} ms | {verdict} |");
    }
    if let Some(bytes) = identity::peak_memory() {
        let mb = bytes as f64 / 1e6;
        println!("| memory | {mb:.1} MB | | {} |", bar(mb, INJECT_MB, "MB"));
    }
}

/// The program as it is released. Returns whether the bars were kept.
fn injections(root: &Path, is_test: bool) -> bool {
    let kgctx = bench_frame::binary("kgctx-maenifold");
    let project = bench_frame::project(root);
    let inject = || {
        let mut command = Command::new(&kgctx);
        command.env_clear().env("HOME", root.join("home")).env("MAENIFOLD_ROOT", root);
        command.env("KGCTX_HOME", root.join("home")).current_dir(&project);
        command.args([
            "inject",
            "--session",
            "bench",
            "--dry-run",
            "--timings",
            "--source",
            "database",
        ]);
        let now = Timestamp::from_seconds(END_SECONDS as i64).to_string();
        let started = Instant::now();
        let output = command.args(["--now", &now]).output().unwrap();
        let took = bench_frame::ms(started);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{said}");
        let memory = said.lines().find_map(|line| line.strip_prefix("memory")).unwrap();
        let mb: f64 = memory.trim().trim_end_matches(" MB").parse().unwrap();
        (took, mb)
    };
    let runs = if is_test { 2 } else { 30 };
    let (first, first_memory): (Vec<f64>, Vec<f64>) = (0..runs)
        .map(|_| {
            let _ = fs::remove_dir_all(root.join("home/cache/maenifold"));
            inject()
        })
        .unzip();
    let (again, memory): (Vec<f64>, Vec<f64>) = (0..runs).map(|_| inject()).unzip();
    let largest = first_memory.into_iter().chain(memory).fold(0.0, f64::max);
    let (first_slowest, again_slowest) = (slowest(&first), slowest(&again));
    let (first, again) = (median(first), median(again));
    println!("\n| kgctx inject --source database | p50 | slowest | bar |\n|---|---:|---:|---|");
    println!("| first after the database was written | {first:.2} ms | {first_slowest:.2} ms | |");
    println!("| again | {again:.2} ms | {again_slowest:.2} ms | {} |", bar(again, INJECT_MS, "ms"));
    println!("| memory | | {largest:.1} MB | {} |", bar(largest, INJECT_MB, "MB"));
    again <= INJECT_MS && largest <= INJECT_MB
}

/// `auto` beside `index`, in turns, with a database that is behind its notes and a program that hangs. Returns whether the
/// bar was kept.
fn by_itself(root: &Path, is_test: bool) -> bool {
    let kgctx = bench_frame::binary("kgctx-maenifold");
    let project = bench_frame::project(root);
    let program = root.join("hanging-maenifold");
    fs::write(&program, "#!/bin/sh\nsleep 600\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let newer = root.join("memory/newer.md");
    fs::write(&newer, "# Newer\n\nThan the [[database]].\n").unwrap();
    let inject = |source: &str| {
        let before = processor_ms_of_children();
        let mut command = Command::new(&kgctx);
        command.env_clear().env("HOME", root.join("home")).env("MAENIFOLD_ROOT", root);
        command.env("KGCTX_HOME", root.join("home")).current_dir(&project);
        command.env("KGCTX_MAENIFOLD_BIN", &program);
        command.args(["inject", "--session", "bench", "--dry-run", "--source", source]);
        assert!(command.output().unwrap().status.success());
        processor_ms_of_children() - before
    };
    inject("index");
    let runs = if is_test { 2 } else { 100 };
    let (mut auto, mut index) = (0.0, 0.0);
    for _ in 0..runs {
        auto += inject("auto");
        index += inject("index");
    }
    fs::remove_file(newer).unwrap();
    let (auto, index) = (auto / f64::from(runs), index / f64::from(runs));
    let is_kept = is_test || auto <= AUTO_SHARE * index;
    println!(
        "\n| kgctx inject, memory.db behind, a program that hangs | processor time | bar |\n|---|---:|---|"
    );
    println!("| --source index | {index:.1} ms | |");
    println!(
        "| --source auto | {auto:.1} ms | {AUTO_SHARE} times: {} |",
        bench_frame::verdict(is_kept)
    );
    is_kept
}

/// The processor time of all children that have ended. The system counts in hundredths of a second.
fn processor_ms_of_children() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(13).take(2);
    ticks.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() * 10.0
}

fn bar(value: f64, bar: f64, unit: &str) -> String {
    format!("{bar} {unit}: {}", bench_frame::verdict(value <= bar))
}

/// What is known of a file while the database is made.
struct Made {
    uri: String,
    concepts: Vec<usize>,
}

/// Makes a memory with its database: every note brings some concepts of its own, and others by Zipf's law, so that a few
/// are in most notes. Edges are written in the order in which maenifold would meet them.
fn generate(root: &Path, size: &Size) {
    fs::create_dir_all(root.join("home")).unwrap();
    let path = root.join("memory.db");
    let mut connection = maenifold_db::create(&path);
    for (pragma, value) in
        [("synchronous", "OFF"), ("cache_size", "-400000"), ("foreign_keys", "OFF")]
    {
        connection.pragma_update(None, pragma, value).unwrap();
    }
    connection
        .execute_batch("DROP INDEX idx_graph_concept_b; DROP INDEX idx_mentions_by_file")
        .unwrap();
    let transaction = connection.transaction().unwrap();
    let mut random = Random(11);
    let mut edges: HashMap<(u32, u32), u32> = HashMap::new();
    let mut rows: Vec<((u32, u32), Vec<u16>)> = Vec::new();
    let mut made: Vec<Made> = Vec::new();
    let name = |n: usize| vault_generator::concept(n).replace(' ', "-");
    let mut known = 0;
    for n in 0..size.files {
        let first_own = known;
        known = (size.concepts * (n + 1) / size.files).max(2);
        let wanted_edges = size.edges * (n + 1) / size.files;
        let mut concepts: BTreeSet<usize> = (first_own..known).collect();
        for &a in &concepts {
            for &b in concepts.range(a + 1..) {
                meet(&mut edges, &mut rows, (a, b), n);
            }
        }
        for _ in 0..400 {
            if rows.len() >= wanted_edges {
                break;
            }
            // Most of what a note speaks of, an earlier one of its area spoke of, too.
            let other = match n.checked_sub(AREAS).map(|earlier| &made[earlier].concepts) {
                Some(earlier) if random.below(5) > 0 => earlier[random.below(earlier.len())],
                _ => zipf(&mut random, known),
            };
            if concepts.contains(&other) {
                continue;
            }
            for &concept in &concepts {
                if rows.len() >= size.edges {
                    break;
                }
                meet(&mut edges, &mut rows, (concept.min(other), concept.max(other)), n);
            }
            concepts.insert(other);
        }
        made.push(write_note(
            root,
            &transaction,
            n,
            size,
            concepts.into_iter().collect(),
            &mut random,
        ));
    }
    drop(edges);
    write_graph(&transaction, &rows, &made, known, name);
    transaction.commit().unwrap();
    connection
        .execute_batch(
            "CREATE INDEX idx_graph_concept_b ON concept_graph(concept_b); \
             CREATE INDEX idx_mentions_by_file ON concept_mentions(source_file); VACUUM;",
        )
        .unwrap();
}

/// Draws one of the first `n`, the first ones most often.
fn zipf(random: &mut Random, n: usize) -> usize {
    let share = random.below(1 << 30) as f64 / f64::from(1 << 30);
    // The inverse of a law with an exponent of 1 that begins at the twelfth: the strongest are in a third of all notes.
    (12.0 * (n as f64 / 12.0 + 1.0).powf(share) - 12.0) as usize
}

fn meet(
    edges: &mut HashMap<(u32, u32), u32>,
    rows: &mut Vec<((u32, u32), Vec<u16>)>,
    (a, b): (usize, usize),
    file: usize,
) {
    let pair = (a as u32, b as u32);
    let row = *edges.entry(pair).or_insert_with(|| {
        rows.push((pair, Vec::new()));
        rows.len() as u32 - 1
    });
    rows[row as usize].1.push(file as u16);
}

/// Writes a note's file and what the database has of it.
fn write_note(
    root: &Path,
    connection: &Connection,
    n: usize,
    size: &Size,
    concepts: Vec<usize>,
    random: &mut Random,
) -> Made {
    // One note an hour, the last one just now.
    let written = END_SECONDS - (size.files - 1 - n) as u64 * 3_600;
    let (folder, stem, title) = if n.is_multiple_of(3) {
        let stem = format!("session-{}{:03}-{}", written, n % 1_000, 10_000 + n);
        (
            format!("thinking/sequential/2026/{:02}/{:02}", 1 + n / 250 % 12, 1 + n / 8 % 28),
            stem,
            format!("Sequential Thinking {n}"),
        )
    } else {
        let topic = vault_generator::concept(concepts[concepts.len() - 1]);
        (
            format!("tech/projects/area-{}/notes", n % AREAS),
            format!("{}-{n}", topic.replace(' ', "-")),
            format!("{topic} {n}"),
        )
    };
    let uri = format!("memory://{folder}/{stem}");
    let mut body = format!("# {title}\n\n");
    let mut links = concepts.iter().cycle().take(concepts.len() * 2);
    let length = size.text / 2 + random.below(size.text);
    while body.len() < length {
        for _ in 0..8 + random.below(12) {
            // Words as people use them: some often, most of them hardly ever.
            body += &format!(
                "{} ",
                vault_generator::concept(zipf(random, 1_500)).split(' ').next().unwrap()
            );
            body += &format!("w{} ", zipf(random, 40_000));
        }
        if let Some(&link) = links.next() {
            body += &format!("[[{}]]", vault_generator::concept(link));
        }
        body += ".\n\n";
    }
    for &link in links {
        body += &format!("- [[{}]]\n", vault_generator::concept(link));
    }
    let text = format!("---\ntitle: {title}\ntype: memory\n---\n\n{body}");
    vault_generator::write(
        &root.join("memory").join(&folder),
        &format!("{stem}.md"),
        &text,
        written,
    );
    connection
        .prepare_cached("INSERT INTO file_content (file_path, title, content, last_indexed, file_md5, file_size) VALUES (?, ?, ?, ?, ?, ?)")
        .unwrap()
        .execute(params![uri, title, body, maenifold_db::moment(written, 0), "1B2M2Y8AsgTpgAmY7PhCfg==", text.len() as i64])
        .unwrap();
    Made { uri, concepts }
}

fn write_graph(
    connection: &Connection,
    rows: &[((u32, u32), Vec<u16>)],
    made: &[Made],
    n_concepts: usize,
    name: impl Fn(usize) -> String,
) {
    let names: Vec<String> = (0..n_concepts).map(name).collect();
    for name in &names {
        connection
            .prepare_cached(
                "INSERT INTO concepts (concept_name, first_seen) VALUES (?, '2026-01-01')",
            )
            .unwrap()
            .execute([name])
            .unwrap();
    }
    let mut mention = connection.prepare("INSERT INTO concept_mentions VALUES (?, ?, 2)").unwrap();
    for Made { uri, concepts } in made {
        for &concept in concepts {
            mention.execute(params![names[concept], uri]).unwrap();
        }
    }
    let mut edge = connection.prepare("INSERT INTO concept_graph VALUES (?, ?, ?, ?)").unwrap();
    for ((a, b), files) in rows {
        let (mut a, mut b) = (&names[*a as usize], &names[*b as usize]);
        if a > b {
            (a, b) = (b, a);
        }
        let uris: Vec<&str> = files.iter().map(|&file| made[file as usize].uri.as_str()).collect();
        edge.execute(params![a, b, files.len() as i64, serde_json::to_string(&uris).unwrap()])
            .unwrap();
    }
    // The vectors, as sqlite-vec keeps them.
    connection
        .execute_batch(
            "CREATE TABLE vec_concepts_vector_chunks00 (rowid PRIMARY KEY, vectors BLOB NOT NULL)",
        )
        .unwrap();
    for chunk in 0..(n_concepts + made.len()).div_ceil(1_024) {
        connection
            .execute(
                "INSERT INTO vec_concepts_vector_chunks00 VALUES (?, zeroblob(1572864))",
                [chunk as i64],
            )
            .unwrap();
    }
}
