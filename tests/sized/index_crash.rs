//! An index that a reader accepts is right, whatever happened to its writers.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use kgctx::workspace::refresh::Mode;

use super::sized;
use crate::support::index_snapshot::{assert_same, snapshot};
use crate::support::vault_generator::{self, Random};
use crate::support::{Scratch, refreshed, stderr};

const RUNS: usize = sized(100);
const WORDS: &[&str] = &["load", "service", "edited"];

/// What a new index of the vault holds.
fn expected(vault: &Path) -> String {
    let scratch = Scratch::new();
    let workspace = scratch.workspace(vault);
    refreshed(&workspace, Mode::Full);
    snapshot(&workspace.index_path(), WORDS)
}

/// Changes, adds or removes notes with many links, so that writing them takes a while.
fn edit(vault: &Path, random: &mut Random) {
    for _ in 0..60 {
        let n = random.below(150);
        let name = format!("note {n}.md");
        if random.below(4) == 0 {
            let _ = fs::remove_file(vault.join("edited").join(name));
            continue;
        }
        let mut text = format!("# Edited {n}\n\n");
        for _ in 0..12 {
            text += &format!("[[{}]] ", vault_generator::concept(random.below(300)));
        }
        let written = vault_generator::END_SECONDS - random.next() % 9_000_000;
        vault_generator::write(&vault.join("edited"), &name, &text, written);
    }
    std::thread::sleep(Duration::from_millis(25));
}

/// Checks that what a reader finds is the vault before or after the last edits, and nothing in between.
#[track_caller]
fn check(scratch: &Scratch, vault: &Path, before: &mut String, when: &str) -> bool {
    let workspace = scratch.workspace(vault);
    let accepted = workspace.last_index().is_ok();
    if accepted {
        let found = snapshot(&workspace.index_path(), WORDS);
        if found != *before {
            assert_same(&found, &expected(vault), when);
            *before = found;
        }
    }
    accepted
}

#[test]
fn killed_runs_leave_no_wrong_index() {
    let scratch = Scratch::new();
    let vault = scratch.path().join("vault");
    vault_generator::generate(&vault, 500, 17);
    let mut random = Random(99);
    edit(&vault, &mut random);
    let arguments = |full: bool| {
        let vault = vault.to_str().unwrap();
        if full {
            vec!["--vault", vault, "index", "--full"]
        } else {
            vec!["--vault", vault, "index"]
        }
    };
    // How long a run of each kind takes, so that the kills fall where the work is.
    let mut timed = |full: bool| {
        let longest = (0..3).map(|_| {
            edit(&vault, &mut random);
            let started = Instant::now();
            scratch.run(arguments(full));
            started.elapsed()
        });
        longest.min().unwrap()
    };
    let usual = [timed(true), timed(false)];
    let mut before = expected(&vault);
    let (mut killed, mut finished, mut old) = (0, 0, 0);
    for run in 0..RUNS {
        edit(&vault, &mut random);
        let full = run % 2 == 0;
        let mut child = scratch
            .kgctx(arguments(full))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let share = 0.2 + 0.9 * random.below(1_000) as f64 / 1_000.0;
        std::thread::sleep(usual[usize::from(!full)].mul_f64(share));
        // SIGKILL.
        child.kill().unwrap();
        if child.wait().unwrap().success() {
            finished += 1
        } else {
            killed += 1
        }
        let was = before.clone();
        assert!(
            check(&scratch, &vault, &mut before, &format!("after run {run}")),
            "the index of run {run} is gone"
        );
        old += usize::from(before == was);
    }
    eprintln!("{killed} killed, {finished} finished, {old} left the index as it was");
    assert!(
        killed * 10 >= 3 * RUNS && old * 10 >= 2 * RUNS,
        "{killed} killed, {old} in time: the delays miss the point"
    );
    // And the next run puts everything right, and cleans up.
    scratch.run(arguments(true));
    let workspace = scratch.workspace(&vault);
    assert_same(&snapshot(&workspace.index_path(), WORDS), &expected(&vault), "in the end");
    let databases = fs::read_dir(workspace.index_path().parent().unwrap()).unwrap().flatten();
    let databases =
        databases.filter(|entry| entry.file_name().to_string_lossy().ends_with(".db")).count();
    assert!(databases <= 3, "{databases} files are left: the link, the index and the one before");
}

#[test]
fn a_full_disk_leaves_no_wrong_index() {
    let scratch = Scratch::new();
    let vault = scratch.path().join("vault");
    vault_generator::generate(&vault, 250, 23);
    std::thread::sleep(Duration::from_millis(25));
    let mut before = String::new();
    let mut random = Random(5);
    let mut failed = 0;
    // From no room at all to enough; `ulimit -f` counts blocks of 512 bytes or a kilobyte.
    for (run, blocks) in
        [0, 1, 8, 40, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1_000, 1_500, 100_000]
            .into_iter()
            .enumerate()
    {
        if run > 0 {
            edit(&vault, &mut random);
        }
        let output = Command::new("sh")
            // The signal is ignored, so that the program meets the error that a full disk gives.
            .args(["-c", &format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"")])
            .arg(env!("CARGO_BIN_EXE_kgctx"))
            .args(["--vault", vault.to_str().unwrap(), "index"])
            .args(if run % 2 == 0 { &["--full"][..] } else { &[] })
            .env("KGCTX_HOME", scratch.path().join("kgctx-home"))
            .env("HOME", scratch.home())
            .output()
            .unwrap();
        if !output.status.success() {
            failed += 1;
            assert_eq!(output.status.code(), Some(3), "{output:?}");
            assert!(stderr(&output).starts_with("kgctx: "), "{output:?}");
        }
        check(&scratch, &vault, &mut before, &format!("with {blocks} blocks"));
    }
    assert!(failed >= 5, "only {failed} runs ran out of room");
    assert_same(&before, &expected(&vault), "with enough room");
}
