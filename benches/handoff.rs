//! Measures every `kgctx handoff` command (P-3.34), process start to end, with 1,000 handoffs in the store, and what a handoff adds to
//! a session's start. Holds both to the bars of the README.
//!
//! `cargo bench --bench handoff` builds the binary as it is released (`.ci/build`). The page cache is warm; the process and
//! everything in it are cold.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on should say where")]
#![expect(clippy::disallowed_methods, reason = "it starts processes and writes its own notes")]
#![expect(clippy::print_stdout, reason = "the table is what a benchmark is for")]

#[path = "../tests/support/bench_frame.rs"]
mod bench_frame;
#[path = "../tests/support/vault_generator.rs"]
mod vault_generator;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Instant;

use bench_frame::median;

const HANDOFFS: usize = 1_000;
/// The bar for every command: the median of all runs.
const COMMAND_MS: f64 = 100.0;
/// The bar for what a handoff adds to a session's start: the difference of the medians.
const ADDED_MS: f64 = 30.0;
/// How many notes the session's start is measured with.
const NOTES: usize = 1_000;

struct Bench {
    kgctx: PathBuf,
    home: PathBuf,
    project: PathBuf,
    vault: PathBuf,
}

fn main() -> ExitCode {
    let is_test = bench_frame::is_test();
    let kgctx = bench_frame::binary("kgctx-handoff");
    let base = bench_frame::folder("handoff");
    let vault = bench_frame::vault(&base, if is_test { 50 } else { NOTES });
    let home = base.join("home");
    let _ = fs::remove_dir_all(&home);
    let project = bench_frame::project(&base);
    fs::write(project.join("notes.md"), "what is known\n".repeat(100)).unwrap();
    let bench = Bench { kgctx, home, project, vault };
    let is_kept = bench.commands(is_test) & bench.starts(is_test);
    bench_frame::exit(is_kept)
}

impl Bench {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.kgctx);
        command.env_clear().env("HOME", &self.home).env("KGCTX_HOME", &self.home);
        command.env("KGCTX_VAULTS", &self.vault).current_dir(&self.project).args(arguments);
        command
    }

    /// Runs a command to its end; returns what it printed and how many milliseconds it took.
    fn run(&self, arguments: &[&str], input: &str) -> (String, f64) {
        let mut command = self.command(arguments);
        let started = Instant::now();
        let printed = bench_frame::answered(&mut command, input);
        (printed, bench_frame::ms(started))
    }

    fn create(&self, n: usize) -> (String, f64) {
        let body = format!("## Log\n\n{}\n", "what was done and why\n".repeat(40));
        let priority = ["high", "medium", "low"][n % 3];
        let goal = format!("goal {n}");
        let arguments = [
            "handoff",
            "create",
            "--task",
            "--goal",
            &goal,
            "--next",
            "go on",
            "--priority",
            priority,
            "--file",
            "notes.md",
            "--body",
            &body,
        ];
        let (said, took) = self.run(&arguments, "");
        let id = said.split("<HANDOFF_ID>").nth(1).unwrap().split('<').next().unwrap();
        (id.to_owned(), took)
    }

    /// Every command, with a store of 1,000. Returns whether all kept the bar.
    fn commands(&self, is_test: bool) -> bool {
        let (n_handoffs, rounds) = if is_test { (12, 2) } else { (HANDOFFS, 15) };
        let ids: Vec<String> = (0..n_handoffs).map(|n| self.create(n).0).collect();
        // A third of them is done with.
        for id in ids.iter().step_by(3) {
            self.run(&["handoff", "archive", id], "");
        }
        let waiting = |n: usize| ids[n * 3 + 1].as_str();
        let mut rows: Vec<(&str, Vec<f64>)> = Vec::new();
        let mut measure =
            |name: &'static str, took: f64| match rows.iter_mut().find(|(known, _)| *known == name)
            {
                Some((_, times)) => times.push(took),
                None => rows.push((name, vec![took])),
            };
        let export = self.home.join("export.md");
        let export = export.to_str().unwrap();
        for n in 0..rounds {
            let id = waiting(n);
            measure("create", self.create(n).1);
            measure("list", self.run(&["handoff", "list"], "").1);
            measure("list --all --json", self.run(&["handoff", "list", "--all", "--json"], "").1);
            measure("show", self.run(&["handoff", "show", id], "").1);
            measure("pickup --auto", self.run(&["handoff", "pickup", "--auto"], "").1);
            measure("release", self.run(&["handoff", "release"], "").1);
            measure("pickup", self.run(&["handoff", "pickup", id], "").1);
            measure("reconcile ID", self.run(&["handoff", "reconcile", id], "").1);
            measure("export", self.run(&["handoff", "export", id, "--to", export], "").1);
            measure("archive", self.run(&["handoff", "archive", id], "").1);
            measure("log", self.run(&["handoff", "log"], "").1);
            measure("clear", self.run(&["handoff", "clear"], "").1);
            measure("prune", self.run(&["handoff", "prune", "--keep", "320"], "").1);
            fs::write(export, format!("---\ntags: []\n---\nimported {n}\n")).unwrap();
            let import = self.home.join(format!("import-{n}.md"));
            fs::copy(export, &import).unwrap();
            measure("import", self.run(&["handoff", "import", import.to_str().unwrap()], "").1);
            measure("reconcile", self.run(&["handoff", "reconcile"], "").1);
        }
        println!("\n| kgctx handoff, {n_handoffs} in the store | p50 | slowest | bar |");
        println!("|---|---:|---:|---|");
        let mut is_kept = true;
        for (name, times) in rows {
            let slowest = bench_frame::slowest(&times);
            let middle = median(times);
            let verdict = bench_frame::verdict(middle <= COMMAND_MS);
            is_kept &= middle <= COMMAND_MS;
            println!(
                "| `{name}` | {middle:.1} ms | {slowest:.1} ms | {COMMAND_MS} ms: {verdict} |"
            );
        }
        is_kept
    }

    /// A session's start with a handoff and without, in turns. Returns whether the bar was kept.
    fn starts(&self, is_test: bool) -> bool {
        let rounds = if is_test { 2 } else { 40 };
        self.run(&["index"], "");
        self.run(&["handoff", "clear"], "");
        let (mut without, mut with) = (Vec::new(), Vec::new());
        for n in 0..rounds {
            without.push(self.start(&format!("without-{n}"), false));
            let arguments =
                ["handoff", "create", "--goal", "g", "--next", "n", "--file", "notes.md"];
            self.run(&arguments, "");
            with.push(self.start(&format!("with-{n}"), true));
        }
        let (without, with) = (median(without), median(with));
        let added = with - without;
        let verdict = bench_frame::verdict(added <= ADDED_MS);
        println!("\n| kgctx hook claude-code | p50 | bar |\n|---|---:|---|");
        println!("| without a handoff | {without:.2} ms | |");
        println!("| with one, and a file that it lists | {with:.2} ms | |");
        println!("| added | {added:.2} ms | {ADDED_MS} ms: {verdict} |");
        added <= ADDED_MS
    }

    fn start(&self, session: &str, has_handoff: bool) -> f64 {
        let event = format!(
            r#"{{"session_id":"{session}","transcript_path":"/none/projects/p/{session}.jsonl","cwd":{:?},"hook_event_name":"SessionStart","source":"startup"}}"#,
            self.project.to_str().unwrap()
        );
        let (said, took) = self.run(&["hook", "claude-code"], &event);
        assert_eq!(said.contains("HANDOFF LOADED"), has_handoff, "{said}");
        took
    }
}
