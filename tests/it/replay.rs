//! `kgctx replay`: from a vault's history to figures, with real repositories.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Scratch, git, stderr, valid, vault_generator};

const START: u64 = 1_700_000_000;
const HOUR: u64 = 3_600;
const DAY: u64 = 24 * HOUR;

/// A repository with notes in a folder whose name looks like a pattern.
struct Lab {
    scratch: Scratch,
}

impl Lab {
    fn new() -> Lab {
        let lab = Lab { scratch: Scratch::new() };
        fs::create_dir(lab.top()).unwrap();
        git(&lab.top(), &["init", "-q"]);
        lab
    }

    /// Ten sessions with four notes each.
    fn with_notes() -> Lab {
        let lab = Lab::new();
        for day in 0..10 {
            (0..4).for_each(|n| lab.note(day as usize * 4 + n, "first"));
            lab.commit(day * DAY);
        }
        lab
    }

    /// The same, and four sessions that edit some of the notes.
    fn with_sessions() -> Lab {
        let lab = Lab::with_notes();
        lab.note(39, "again");
        lab.commit(20 * DAY);
        lab.note(0, "again, see [[note 01]] and [[note 39]]");
        lab.write("README.md", "Not a note.");
        lab.commit(21 * DAY);
        git(&lab.top(), &["mv", "notes [1]/note-02.md", "notes [1]/moved.md"]);
        lab.commit(22 * DAY);
        let moved = lab.vault().join("moved.md");
        let text = fs::read_to_string(&moved).unwrap();
        fs::write(&moved, format!("{text}\nMore.")).unwrap();
        lab.commit(22 * DAY + HOUR);
        lab.note(0, "last");
        lab.note(3, "last");
        lab.commit(23 * DAY);
        lab
    }

    fn top(&self) -> PathBuf {
        self.scratch.path().join("atlas")
    }

    fn vault(&self) -> PathBuf {
        self.top().join("notes [1]")
    }

    fn write(&self, path: &str, text: &str) {
        self.scratch.write(&format!("atlas/{path}"), text);
    }

    /// A note whose words are its own.
    fn note(&self, n: usize, text: &str) {
        self.write(&format!("notes [1]/note-{n:02}.md"), &note(n, text));
    }

    fn commit(&self, seconds: u64) {
        git(&self.top(), &["add", "-A"]);
        let date = format!("{} +0000", START + seconds);
        let output = Command::new("git")
            .args(["-c", "user.name=Test", "-c", "user.email=test@example.com"])
            .args(["-c", "commit.gpgsign=false", "commit", "-q", "-m", "work"])
            .current_dir(self.top())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_COMMITTER_DATE", &date)
            .env("GIT_AUTHOR_DATE", &date)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
    }

    fn arguments(&self, others: &[&str]) -> Vec<String> {
        let vault = self.vault().display().to_string();
        let others = others.iter().map(|argument| argument.to_string());
        ["replay".to_owned(), "--vault".to_owned(), vault].into_iter().chain(others).collect()
    }

    fn json(&self, others: &[&str]) -> Value {
        let report = self.scratch.json(self.arguments(&[&["--json"], others].concat()));
        valid("replay", &report);
        report
    }
}

fn note(n: usize, text: &str) -> String {
    let words: Vec<String> = (0..40).map(|word| format!("word{n}x{word}")).collect();
    format!("# Note {n:02}\n\n{}\n\nThis is {text}.\n", words.join(" "))
}

/// The figures of a ranking: recall and recall of cold notes, by budget.
fn figures(of: &Value, ranking: &str) -> Vec<(f64, Option<f64>)> {
    let rows = of.as_array().unwrap().iter().filter(|row| row["ranking"] == ranking);
    rows.map(|row| (row["recall"].as_f64().unwrap(), row["coldRecall"].as_f64())).collect()
}

#[test]
fn sessions_and_what_they_needed_are_found() {
    let lab = Lab::with_sessions();
    let report = lab.json(&[]);
    assert_eq!(report["project"], "atlas");
    assert_eq!(report["commits"], 15);
    assert_eq!((&report["sessionsFound"], &report["sessionsUsable"]), (&json!(14), &json!(4)));
    let sessions = report["sessions"].as_array().unwrap();
    let needed = |n: usize| {
        let session = &sessions[n];
        (&session["number"], &session["edited"], &session["linked"], &session["cold"])
    };
    assert_eq!(needed(0), (&json!(10), &json!(["note-39.md"]), &json!([]), &json!(["note-39.md"])));
    assert_eq!(
        needed(1),
        (
            &json!(11),
            &json!(["note-00.md"]),
            &json!(["note-01.md", "note-39.md"]),
            &json!(["note-00.md", "note-01.md"])
        )
    );
    assert_eq!(needed(2), (&json!(12), &json!(["note-02.md"]), &json!([]), &json!(["note-02.md"])));
    let both = json!(["note-00.md", "note-03.md"]);
    assert_eq!(needed(3), (&json!(13), &both, &json!([]), &json!(["note-03.md"])));
    assert_eq!(sessions[3]["began"], "2023-12-07T21:43:20Z");
    assert_eq!(sessions[3]["notes"], 40);
}

#[test]
fn recall_is_the_share_of_needed_notes_that_a_context_shows() {
    let lab = Lab::with_sessions();
    let report = lab.json(&[]);
    let recency = |n: usize| figures(&report["sessions"][n]["recall"], "recency");
    // Cards of the newest ten and twenty notes fit, then those of all.
    let all = (1.0, Some(1.0));
    assert_eq!(recency(0), [all, all, all]);
    assert_eq!(recency(1), [(1.0 / 3.0, Some(0.0)), (1.0 / 3.0, Some(0.0)), all]);
    assert_eq!(recency(2), [(0.0, Some(0.0)), (0.0, Some(0.0)), all]);
    assert_eq!(recency(3), [(0.5, Some(0.0)), (0.5, Some(0.0)), all]);
    let mean = ((1.0 + 1.0 / 3.0 + 0.5) / 4.0, Some(0.25));
    assert_eq!(figures(&report["rankings"], "recency"), [mean, mean, all]);
}

#[test]
fn contexts_are_those_that_inject_makes() {
    const NEEDED: [usize; 6] = [3, 9, 17, 26, 34, 39];
    let lab = Lab::with_notes();
    NEEDED.iter().for_each(|&n| lab.note(n, "again"));
    lab.commit(20 * DAY);
    let report = lab.json(&[]);
    let session = &report["sessions"][0];
    // The same notes without a history.
    let vault = lab.scratch.path().join("vault");
    fs::create_dir_all(lab.scratch.path().join("elsewhere/atlas")).unwrap();
    fs::create_dir(&vault).unwrap();
    for n in 0..40 {
        let written = START + n as u64 / 4 * DAY;
        vault_generator::write(&vault, &format!("note-{n:02}.md"), &note(n, "first"), written);
    }
    for ranking in ["notes", "frequency"] {
        let shares: Vec<f64> = ["1000", "2000", "4000"]
            .into_iter()
            .map(|budget| {
                let began = session["began"].as_str().unwrap();
                let arguments =
                    ["inject", "--dry-run", "--session", "s", "--dir", "elsewhere/atlas"];
                let limits = ["--vault", "vault", "--now", began, "--budget", budget];
                let mut command = lab.scratch.kgctx([&arguments[..], &limits].concat());
                let output = command.env("KGCTX_RANK", ranking).output().unwrap();
                let context = String::from_utf8(output.stdout).unwrap();
                let is_shown = |n: &&usize| {
                    let words: Vec<String> =
                        (0..14).map(|word| format!("word{n}x{word}")).collect();
                    context.contains(&format!("memory://note-{n:02}"))
                        && context.contains(&words.join(" "))
                };
                NEEDED.iter().filter(is_shown).count() as f64 / NEEDED.len() as f64
            })
            .collect();
        let measured = figures(&session["recall"], ranking);
        assert_eq!(
            measured.into_iter().map(|(all, _)| all).collect::<Vec<_>>(),
            shares,
            "{ranking}"
        );
    }
}

#[test]
fn at_most_so_many_sessions_are_replayed() {
    let lab = Lab::with_sessions();
    let report = lab.json(&["--sessions", "2"]);
    let numbers: Vec<_> =
        report["sessions"].as_array().unwrap().iter().map(|session| &session["number"]).collect();
    assert_eq!(numbers, [10, 12]);
    assert_eq!(report["sessionsUsable"], 4);
}

#[test]
fn the_table_is_for_people() {
    let lab = Lab::with_sessions();
    let table = lab.scratch.run(lab.arguments(&[]));
    let table = table.replace(&lab.scratch.path().display().to_string(), "");
    // Only the figures of recency never change.
    let is_ranking = |line: &&str| line.starts_with("notes") || line.starts_with("frequency");
    let (rankings, rest): (Vec<&str>, Vec<&str>) = table.lines().partition(is_ranking);
    insta::assert_snapshot!(rest.join("\n"));
    let widths: Vec<usize> = rankings.iter().map(|line| line.len()).collect();
    assert_eq!(widths, [55, 55], "{table}");
}

#[test]
fn nothing_of_the_users_is_touched_or_left() {
    let lab = Lab::with_sessions();
    let temporary = lab.scratch.path().join("tmp");
    fs::create_dir(&temporary).unwrap();
    let output = lab.scratch.kgctx(lab.arguments(&[])).env("TMPDIR", &temporary).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(stderr(&output), "");
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
    assert!(!lab.scratch.path().join("kgctx-home").exists());
    assert_eq!(fs::read_dir(lab.scratch.home()).unwrap().count(), 0);
    let status =
        Command::new("git").args(["status", "--porcelain"]).current_dir(lab.top()).output();
    assert_eq!(String::from_utf8(status.unwrap().stdout).unwrap(), "");
}

#[test]
fn a_partial_clone_lacks_what_a_replay_needs() {
    let lab = Lab::with_sessions();
    let url = format!("file://{}", lab.top().display());
    git(&lab.top(), &["config", "uploadpack.allowFilter", "true"]);
    git(&lab.scratch.path(), &["clone", "-q", "--filter=blob:none", &url, "part"]);
    let (code, message) = lab.scratch.fail(["replay", "--vault", "part/notes [1]"]);
    assert_eq!(code, 2);
    insta::assert_snapshot!(message, @"kgctx: this clone is partial, and lacks earlier versions of notes; clone it again without --filter");
}

#[test]
fn what_cannot_be_replayed_is_said_with_the_way_out() {
    let lab = Lab::new();
    let plain = lab.scratch.path().display().to_string();
    let fail = |arguments: Vec<String>| {
        let (code, message) = lab.scratch.fail(arguments);
        assert_eq!(code, 2, "{message}");
        message.replace(&plain, "")
    };
    lab.scratch.write("loose/a.md", "text");
    let loose = ["replay", "--vault", "loose"].map(str::to_owned).to_vec();
    insta::assert_snapshot!(fail(loose), @"kgctx: /loose is not in a git repository: a replay needs the history of the notes; pass a vault that is in git with --vault");
    fs::create_dir(lab.vault()).unwrap();
    insta::assert_snapshot!(fail(lab.arguments(&[])), @"kgctx: cannot replay /atlas/notes [1]: its repository has no commit yet; commit the notes as you work on them");
    lab.write("README.md", "text");
    lab.commit(0);
    insta::assert_snapshot!(fail(lab.arguments(&[])), @"kgctx: cannot replay /atlas/notes [1]: no commit has a note (*.md) in it; commit the notes as you work on them");
    lab.note(1, "first");
    lab.commit(DAY);
    insta::assert_snapshot!(fail(lab.arguments(&[])), @"kgctx: the history of /atlas/notes [1] has 1 session, but none to replay: a session is a run of commits at most 4 hours apart, and counts from the 11th on, if there were 30 notes or more and it edited 1 to 20 of them; try again with more history, or pass another vault with --vault");
    let url = format!("file://{}", lab.top().display());
    git(&lab.scratch.path(), &["clone", "-q", "--depth", "1", &url, "shallow"]);
    let shallow = ["replay", "--vault", "shallow"].map(str::to_owned).to_vec();
    insta::assert_snapshot!(fail(shallow), @"kgctx: cannot replay /shallow: the clone is shallow; run `git fetch --unshallow` there");
    let nowhere = ["replay", "--vault", "nowhere"].map(str::to_owned).to_vec();
    insta::assert_snapshot!(fail(nowhere), @"kgctx: no such vault: nowhere (from --vault); create that folder or name another one");
    lab.write("docs/a.md", "text");
    lab.write(".kgctx/memory/b.md", "text");
    let two = ["replay", "--dir", "atlas"].map(str::to_owned).to_vec();
    insta::assert_snapshot!(fail(two), @"kgctx: there is more than one vault here: /atlas/.kgctx/memory, /atlas/docs; choose one with --vault");
    let none = lab.arguments(&["--sessions", "0"]);
    assert_eq!(lab.scratch.fail(none).0, 2);
}
