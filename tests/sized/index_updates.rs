//! Whatever happens to a vault, an updated index holds exactly what a new one would.

use std::fs::{self, File, FileTimes};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

use kgctx::workspace::refresh::Mode;
use proptest::prelude::*;

use super::sized;
use crate::ONE_IN;
use crate::support::index_snapshot::{assert_same, history, snapshot};
use crate::support::vault_generator::{self, Random};
use crate::support::{Scratch, refreshed};

const WORDS: &[&str] = &["alpha", "beta", "gamma", "title", "folder"];

/// One thing that people and programs do to notes. Numbers choose among what is there.
#[derive(Debug, Clone)]
enum Step {
    Write { file: usize, content: u64, minutes_ago: u64 },
    Append { file: usize, content: u64 },
    Delete { file: usize },
    Rename { from: usize, to: usize },
    ChangeCase { file: usize },
    Touch { file: usize, minutes_ago: u64 },
    EditAndRestoreTime { file: usize },
    Swap { a: usize, b: usize },
    Binary { file: usize },
    RemoveFolder { folder: usize },
    Ignore { pattern: usize },
    Refresh,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let file = 0..12usize;
    let step = prop_oneof![
        4 => (file.clone(), any::<u64>(), 0..10_000u64).prop_map(|(file, content, minutes_ago)| Step::Write { file, content, minutes_ago }),
        3 => (file.clone(), any::<u64>()).prop_map(|(file, content)| Step::Append { file, content }),
        2 => file.clone().prop_map(|file| Step::Delete { file }),
        2 => (file.clone(), file.clone()).prop_map(|(from, to)| Step::Rename { from, to }),
        1 => file.clone().prop_map(|file| Step::ChangeCase { file }),
        1 => (file.clone(), 0..10_000u64).prop_map(|(file, minutes_ago)| Step::Touch { file, minutes_ago }),
        1 => file.clone().prop_map(|file| Step::EditAndRestoreTime { file }),
        1 => (file.clone(), file.clone()).prop_map(|(a, b)| Step::Swap { a, b }),
        1 => file.prop_map(|file| Step::Binary { file }),
        1 => (0..3usize).prop_map(|folder| Step::RemoveFolder { folder }),
        1 => (0..3usize).prop_map(|pattern| Step::Ignore { pattern }),
        3 => Just(Step::Refresh),
    ];
    prop::collection::vec(step, 1..16)
}

const FOLDERS: [&str; 3] = ["", "folder", "folder/deep one"];

fn path(vault: &Path, file: usize) -> PathBuf {
    vault.join(FOLDERS[file % 3]).join(format!("note {}.md", file / 3))
}

/// A small note with links among a few concepts, so that notes share many of them.
fn content(seed: u64) -> String {
    let mut random = Random(seed);
    let mut text = String::new();
    if random.below(3) > 0 {
        let title = random.below(4);
        text += &format!("---\ntitle: Title {title}\naliases: [Alias {}]\n", random.below(3));
        if random.below(2) == 0 {
            text += &format!("created: 2026-0{}-1{}\n", 1 + random.below(9), random.below(9));
        }
        text += "---\n";
    }
    for _ in 0..random.below(6) {
        text += &format!(
            "{} [[{}]] {}\n",
            random.pick(WORDS),
            random.pick(&["A", "b c", "B_C", "d", "É"]),
            random.pick(WORDS)
        );
    }
    text
}

fn set_time(file: &Path, minutes_ago: u64) {
    let time = UNIX_EPOCH + Duration::from_secs(vault_generator::END_SECONDS - 60 * minutes_ago);
    File::options()
        .write(true)
        .open(file)
        .unwrap()
        .set_times(FileTimes::new().set_modified(time))
        .unwrap();
}

fn apply(vault: &Path, step: &Step) {
    // A step on a file that is not there does nothing, as in life.
    let existing = |file: usize| Some(path(vault, file)).filter(|path| path.exists());
    match step {
        Step::Write { file, content: seed, minutes_ago } => {
            let file = path(vault, *file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, content(*seed)).unwrap();
            set_time(&file, *minutes_ago);
        }
        Step::Append { file, content: seed } => {
            if let Some(file) = existing(*file) {
                let old = fs::read(&file).unwrap();
                fs::write(&file, [old, content(*seed).into_bytes()].concat()).unwrap();
            }
        }
        Step::Delete { file } => {
            let _ = fs::remove_file(path(vault, *file));
        }
        Step::Rename { from, to } => {
            if let Some(from) = existing(*from) {
                let to = path(vault, *to);
                fs::create_dir_all(to.parent().unwrap()).unwrap();
                fs::rename(from, to).unwrap();
            }
        }
        Step::ChangeCase { file } => {
            if let Some(file) = existing(*file) {
                let name = file.file_name().unwrap().to_str().unwrap().replace("note", "NOTE");
                fs::rename(&file, file.with_file_name(name)).unwrap();
            }
        }
        Step::Touch { file, minutes_ago } => {
            if let Some(file) = existing(*file) {
                set_time(&file, *minutes_ago);
            }
        }
        Step::EditAndRestoreTime { file } => {
            if let Some(file) = existing(*file) {
                let before = fs::metadata(&file).unwrap().modified().unwrap();
                let text = fs::read(&file).unwrap();
                let edited: Vec<u8> =
                    text.iter().map(|b| if *b == b'A' { b'Z' } else { *b }).collect();
                fs::write(&file, edited).unwrap();
                let file = File::options().write(true).open(&file).unwrap();
                file.set_times(FileTimes::new().set_modified(before)).unwrap();
            }
        }
        Step::Swap { a, b } => {
            if let (Some(a), Some(b)) = (existing(*a), existing(*b)) {
                let aside = vault.join("aside.tmp");
                fs::rename(&a, &aside).unwrap();
                if b.exists() {
                    fs::rename(&b, &a).unwrap();
                }
                fs::rename(&aside, &b).unwrap();
            }
        }
        Step::Binary { file } => {
            if let Some(file) = existing(*file) {
                fs::write(file, b"\0\x01\x02").unwrap();
            }
        }
        Step::RemoveFolder { folder } => {
            if *folder > 0 {
                let _ = fs::remove_dir_all(vault.join(FOLDERS[*folder]));
            }
        }
        Step::Ignore { pattern } => {
            fs::write(vault.join(".gitignore"), ["", "note 1.md\n", "folder/deep*/\n"][*pattern])
                .unwrap();
        }
        Step::Refresh => {}
    }
}

/// Updates the index, and compares it with one that is made from nothing in another place.
#[track_caller]
fn check(vault: &Path, updated: &Scratch, when: &str) {
    // Past the tick of the file system's clock, so that both indexes find the files at rest.
    std::thread::sleep(Duration::from_millis(25));
    let rebuilt = copied(updated);
    let workspace = updated.workspace(vault);
    refreshed(&workspace, Mode::Incremental);
    let found = snapshot(&workspace.index_path(), WORDS);
    let remembered = history(&workspace.index_path());
    let new = Scratch::new();
    let workspace = new.workspace(vault);
    refreshed(&workspace, Mode::Full);
    assert_same(&found, &snapshot(&workspace.index_path(), WORDS), when);
    // An index that is made from nothing has no history. One that replaces another takes it over.
    let workspace = rebuilt.workspace(vault);
    refreshed(&workspace, Mode::Full);
    let when = format!("{when}, history");
    assert_same(&remembered, &history(&workspace.index_path()), &when);
}

/// A scratch folder with the same indexes.
fn copied(from: &Scratch) -> Scratch {
    let to = Scratch::new();
    let home = from.path().join("kgctx-home");
    if home.exists() {
        let copy = Command::new("cp").arg("-a").arg(&home).arg(to.path()).status().unwrap();
        assert!(copy.success());
    }
    to
}

proptest! {
    #![proptest_config(ProptestConfig { cases: sized(60) as u32, max_shrink_iters: 60, ..ProptestConfig::default() })]
    #[test]
    fn an_updated_index_equals_a_new_one(first in steps(), then in steps()) {
        let scratch = Scratch::new();
        let vault = scratch.path().join("vault");
        fs::create_dir(&vault).unwrap();
        for (n, step) in first.iter().chain([&Step::Refresh]).chain(&then).chain([&Step::Refresh]).enumerate() {
            apply(&vault, step);
            if matches!(step, Step::Refresh) {
                check(&vault, &scratch, &format!("after step {n}"));
            }
        }
    }
}

#[test]
fn many_notes_with_old_times_find_their_place() {
    let scratch = Scratch::new();
    let vault = scratch.path().join("vault");
    vault_generator::generate(&vault, 400, 3);
    check(&vault, &scratch, "at first");
    // More than fit between two neighbours, all older than the rest.
    for n in 0..150 {
        let written = vault_generator::END_SECONDS - 80 * 86_400 - n;
        vault_generator::write(
            &vault.join("restored"),
            &format!("old {n}.md"),
            &content(n),
            written,
        );
        if n % (15 * ONE_IN as u64) == 0 {
            check(&vault, &scratch, &format!("after old note {n}"));
        }
    }
    check(&vault, &scratch, "at the end");
}

#[test]
fn only_changed_files_are_read_again() {
    let scratch = Scratch::new();
    let vault = scratch.path().join("vault");
    vault_generator::generate(&vault, 50, 5);
    std::thread::sleep(Duration::from_millis(25));
    let workspace = scratch.workspace(&vault);
    assert_eq!(refreshed(&workspace, Mode::Incremental).outcome.changed, 50);
    let note = vault.join("concepts/auth-service.md");
    let aside = scratch.path().join("aside.md");
    let times = fs::metadata(&note).unwrap().modified().unwrap();
    assert_eq!(refreshed(&workspace, Mode::Incremental).outcome, Default::default());
    fs::write(vault.join("concepts/session-service.md"), "[[new link]]").unwrap();
    let outcome = refreshed(&workspace, Mode::Incremental).outcome;
    assert_eq!((outcome.changed, outcome.removed, outcome.read), (1, 0, 1));
    std::thread::sleep(Duration::from_millis(25));
    // If it was read just after it was written, it is read once more, and then at rest.
    assert!(refreshed(&workspace, Mode::Incremental).outcome.read <= 1);
    assert_eq!(refreshed(&workspace, Mode::Incremental).outcome.read, 0);
    // Touched without a change: re-filed by its new time, but not counted as changed.
    File::options()
        .write(true)
        .open(&note)
        .unwrap()
        .set_times(FileTimes::new().set_modified(times + Duration::from_secs(60)))
        .unwrap();
    assert_eq!(refreshed(&workspace, Mode::Incremental).outcome.changed, 0);
    fs::rename(&note, &aside).unwrap();
    let outcome = refreshed(&workspace, Mode::Incremental).outcome;
    assert_eq!((outcome.changed, outcome.removed), (0, 1));
    assert!(outcome.read <= 1, "{outcome:?}");
}
