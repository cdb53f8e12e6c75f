//! Any number of readers while one writes; two writers wait or skip.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use kgctx::workspace::refresh::{Mode, Notice, Patience, refresh};

use crate::support::index_snapshot::{assert_same, snapshot};
use crate::support::vault_generator;
use crate::support::{Scratch, refreshed, stderr};

#[test]
fn readers_see_a_whole_index_while_others_write() {
    let scratch = Scratch::new();
    let vault = scratch.path().join("vault");
    vault_generator::generate(&vault, 200, 29);
    let vault_flag = vault.to_str().unwrap();
    scratch.run(["--vault", vault_flag, "index"]);
    let spawn = |arguments: &[&str]| -> Child {
        let all = [&["--vault", vault_flag][..], arguments].concat();
        scratch.kgctx(all).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let started = Instant::now();
    let mut rounds = 0;
    while started.elapsed() < Duration::from_secs(6) {
        let n = rounds % 40;
        vault_generator::write(
            &vault.join("new"),
            &format!("n{n}.md"),
            &format!("[[auth service]] {rounds}"),
            1_700_000_000 + rounds,
        );
        let writers = [spawn(&["index", "--full"]), spawn(&["index"]), spawn(&["index", "--full"])];
        for _ in 0..3 {
            let answer = scratch
                .kgctx(["--vault", vault_flag, "context", "auth service", "--json"])
                .output()
                .unwrap();
            assert!(answer.status.success(), "{answer:?}");
            let said = stderr(&answer);
            assert!(said.is_empty() || said.contains("another process is writing"), "{said}");
            let answer: serde_json::Value = serde_json::from_slice(&answer.stdout).unwrap();
            assert_eq!(answer["known"], true);
            assert_eq!(answer["relatedConcepts"].as_array().unwrap().len(), 10);
        }
        for writer in writers {
            let output = writer.wait_with_output().unwrap();
            assert!(output.status.success(), "{output:?}");
        }
        rounds += 1;
    }
    assert!(rounds >= 2);
    std::thread::sleep(Duration::from_millis(25));
    let workspace = scratch.workspace(&vault);
    refreshed(&workspace, Mode::Incremental);
    let other = Scratch::new();
    let new = other.workspace(&vault);
    refreshed(&new, Mode::Full);
    assert_same(
        &snapshot(&workspace.index_path(), &["auth"]),
        &snapshot(&new.index_path(), &["auth"]),
        "in the end",
    );
}

#[test]
fn a_reader_that_will_not_wait_answers_from_the_index_as_it_is() {
    let scratch = Scratch::new();
    scratch.write("vault/a.md", "[[one]]");
    let workspace = scratch.workspace(&scratch.path().join("vault"));
    refreshed(&workspace, Mode::Incremental);
    scratch.write("vault/b.md", "[[two]]");
    let lock = std::fs::File::open(workspace.index_path().with_file_name("lock")).unwrap();
    lock.lock().unwrap();
    let (index, report) =
        refresh(&workspace, Mode::Incremental, Patience::Skip, &mut |_, _| {}).unwrap();
    assert_eq!(report.notice, Some(Notice::Busy));
    assert_eq!(index.totals().unwrap().notes, 1);
    drop(lock);
    let (index, report) =
        refresh(&workspace, Mode::Incremental, Patience::Skip, &mut |_, _| {}).unwrap();
    assert_eq!(report.notice, None);
    assert_eq!(index.totals().unwrap().notes, 2);
}

#[test]
fn an_answer_is_of_one_state_of_the_index() {
    let scratch = Scratch::new();
    let note = |n: usize, round: usize| {
        let text = format!(
            "# Note {n}\n\ncommon words of round {round} [[hub]] [[round {round}]] [[n{n}]]\n"
        );
        scratch.write(&format!("vault/n{n}.md"), text)
    };
    (0..120).for_each(|n| drop(note(n, 0)));
    scratch.run(["--vault", "vault", "index"]);
    let mut children = Vec::new();
    for round in 1..25 {
        (0..50).for_each(|n| drop(note((n * 7 + round) % 120, round)));
        children.push(
            scratch
                .kgctx(["--vault", "vault", "index"])
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap(),
        );
        for question in [
            &["search", "common", "--limit", "50"][..],
            &["context", "hub", "--max-entities", "60"],
        ] {
            let output =
                scratch.kgctx([&["--vault", "vault"][..], question].concat()).output().unwrap();
            let said = stderr(&output);
            assert!(output.status.success(), "{output:?}");
            assert!(said.is_empty() || said.contains("another process is writing"), "{said}");
        }
    }
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    }
}

#[test]
fn a_writer_that_waited_lists_the_vault_again() {
    let scratch = Scratch::new();
    scratch.write("vault/a.md", "[[one]]");
    let workspace = scratch.workspace(&scratch.path().join("vault"));
    refreshed(&workspace, Mode::Incremental);
    let lock = std::fs::File::open(workspace.index_path().with_file_name("lock")).unwrap();
    lock.lock().unwrap();
    let vault = scratch.path().join("vault");
    let waiting = scratch
        .kgctx(["--vault", vault.to_str().unwrap(), "index", "--full", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(300));
    scratch.write("vault/b.md", "[[two]]");
    drop(lock);
    let output = waiting.wait_with_output().unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["notes"], 2);
}
