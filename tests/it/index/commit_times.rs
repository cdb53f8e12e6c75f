//! When a note was written: if it is as it was committed, then by its commit, and not by the file that git wrote.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use rusqlite::Connection;
use serde_json::Value;

use crate::support::{Scratch, git, stderr};

/// Days on which notes were committed.
const FIRST: i64 = 1_600_000_000;
const SECOND: i64 = 1_650_000_000;

const SLOW_LOG: &str = "case \"$*\" in *' log -c '*) sleep 3;; esac";

fn commit(top: &Path, at: i64) {
    git(top, &["add", "--all"]);
    let at = format!("{at} +0000");
    let mut command = Command::new("git");
    command.args(["-c", "user.name=Test", "-c", "user.email=test@example.com"]);
    command.args(["-c", "commit.gpgsign=false", "commit", "-q", "-m", "notes"]).current_dir(top);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    command.envs([("GIT_COMMITTER_DATE", &at), ("GIT_AUTHOR_DATE", &at)]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
}

/// A repository `app`: `old` of the first day, `new` of the second, and a branch `other` on which `old` is another one.
fn repository() -> Scratch {
    let scratch = Scratch::new();
    let app = scratch.path().join("app");
    scratch.write("app/docs/old.md", "# Old\n\nAn [[old]] note of app.\n");
    git(&app, &["init", "-q"]);
    commit(&app, FIRST);
    scratch.write("app/docs/new.md", "# New\n\nA [[new]] note of app.\n");
    commit(&app, SECOND);
    git(&app, &["checkout", "-q", "-b", "other"]);
    scratch.write("app/docs/old.md", "# Old\n\nAnother [[old]] note of app.\n");
    commit(&app, SECOND + 100);
    git(&app, &["checkout", "-q", "main"]);
    scratch
}

/// The times of notes in the only index, or in that of a store, by name, in seconds.
fn stored(scratch: &Scratch, table: &str) -> Vec<(String, i64)> {
    let cache = scratch.path().join("kgctx-home/cache/index");
    let mut stores: Vec<PathBuf> =
        fs::read_dir(cache).unwrap().map(|entry| entry.unwrap().path()).collect();
    stores.sort_by_key(|store| fs::metadata(store).unwrap().created().unwrap());
    let index = Connection::open(stores.last().unwrap().join("index.db")).unwrap();
    let sql = match table {
        "notes" => "SELECT name, mtime_ns / 1000000000 FROM notes ORDER BY name",
        _ => "SELECT n.name, c.at FROM changes c JOIN notes n ON n.id = c.note ORDER BY 1, 2",
    };
    let mut statement = index.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

/// The times after an update of the index.
fn times(scratch: &Scratch, dir: &str) -> Vec<(String, i64)> {
    scratch.run(["--dir", dir, "index"]);
    stored(scratch, "notes")
}

fn expected(new: i64, old: i64) -> Vec<(String, i64)> {
    vec![("new.md".to_owned(), new), ("old.md".to_owned(), old)]
}

fn is_now(seconds: i64) -> bool {
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs() as i64;
    (now - 600..=now + 5).contains(&seconds)
}

/// A `git` that first runs some shell, and logs its arguments: the `PATH` with it, and the log.
fn other_git(scratch: &Scratch, shell: &str) -> (String, PathBuf) {
    let path = std::env::var("PATH").unwrap();
    let real =
        std::env::split_paths(&path).map(|folder| folder.join("git")).find(|git| git.is_file());
    let log = scratch.path().join("git.log");
    let (log_path, real) = (log.display(), real.unwrap());
    let real = real.display();
    let script = format!("#!/bin/sh\necho \"$*\" >> {log_path}\n{shell}\nexec {real} \"$@\"\n");
    let file = scratch.write("bin/git", script);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    (format!("{}:{path}", file.parent().unwrap().display()), log)
}

fn context(scratch: &Scratch, dir: &str, path: Option<&str>) -> Value {
    let arguments = ["--dir", dir, "inject", "--session", "s", "--dry-run", "--format", "json"];
    let mut command = scratch.kgctx(arguments);
    command.envs(path.map(|path| ("PATH", path)));
    serde_json::from_slice(&command.output().unwrap().stdout).unwrap()
}

fn recent(scratch: &Scratch, dir: &str) -> usize {
    let output =
        scratch.kgctx(["--dir", dir, "recent", "--timespan", "1d", "--json"]).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    answer["items"].as_array().unwrap().len()
}

#[test]
fn a_clone_shows_nothing_old_as_new() {
    let scratch = repository();
    git(&scratch.path(), &["clone", "-q", "app", "clone/app"]);
    let given = context(&scratch, "clone/app", None);
    let text = given["text"].as_str().unwrap();
    assert!(text.contains("[[old]]") && !text.contains("Recent"), "{text}");
    assert_eq!(given["faults"], serde_json::json!([]));
    assert_eq!(stored(&scratch, "notes"), expected(SECOND, FIRST));
    assert_eq!(stored(&scratch, "changes"), expected(SECOND, FIRST));
    assert_eq!(recent(&scratch, "clone/app"), 0);
}

#[test]
fn a_branch_switch_shows_nothing_old_as_new() {
    let scratch = repository();
    let app = scratch.path().join("app");
    assert_eq!(times(&scratch, "app"), expected(SECOND, FIRST));
    git(&app, &["checkout", "-q", "other"]);
    assert_eq!(times(&scratch, "app"), expected(SECOND, SECOND + 100));
    git(&app, &["checkout", "-q", "main"]);
    assert_eq!(times(&scratch, "app"), expected(SECOND, FIRST));
    assert_eq!(recent(&scratch, "app"), 0);
    // What was seen on the other branch makes nothing younger.
    assert_eq!(stored(&scratch, "changes"), expected(SECOND, FIRST));
    let given = context(&scratch, "app", None);
    let text = given["text"].as_str().unwrap();
    assert!(text.find("A [[new]] note") < text.find("An [[old]] note"), "{text}");
    scratch.run(["--dir", "app", "index", "--full"]);
    assert_eq!(stored(&scratch, "notes"), expected(SECOND, FIRST));
}

#[test]
fn a_copy_and_a_touched_file_are_as_old_as_their_content() {
    let scratch = repository();
    let copy = |from: &str, to: &str| {
        let mut command = Command::new("cp");
        assert!(
            command.args(["-r", from, to]).current_dir(scratch.path()).status().unwrap().success()
        );
    };
    // A new container: git's index knows other times, and no inode.
    copy("app", "copy");
    assert_eq!(times(&scratch, "copy"), expected(SECOND, FIRST));
    for note in ["old", "new"] {
        let text = fs::read(scratch.path().join(format!("copy/docs/{note}.md"))).unwrap();
        scratch.write(&format!("copy/docs/{note}.md"), text);
    }
    assert_eq!(times(&scratch, "copy"), expected(SECOND, FIRST));
}

#[test]
fn what_is_not_committed_is_new() {
    let scratch = repository();
    let app = scratch.path().join("app");
    times(&scratch, "app");
    // As long as before.
    scratch.write("app/docs/old.md", "# Old\n\nMy [[odd]] notes of app.\n");
    assert!(is_now(times(&scratch, "app")[1].1), "edited");
    assert_eq!(recent(&scratch, "app"), 1);
    git(&app, &["add", "--all"]);
    scratch.run(["--dir", "app", "index", "--full"]);
    assert!(is_now(stored(&scratch, "notes")[1].1), "added");
    scratch.write("app/docs/mine.md", "# Mine\n\nNot [[tracked]].\n");
    assert!(is_now(times(&scratch, "app")[0].1), "not tracked");
    // Git has no commit yet.
    let fresh = scratch.path().join("fresh");
    scratch.write("fresh/docs/a.md", "# A\n\nThe [[first]] note.\n");
    git(&fresh, &["init", "-q"]);
    git(&fresh, &["add", "--all"]);
    assert!(is_now(times(&scratch, "fresh")[0].1), "no commit");
}

#[test]
fn notes_that_came_under_git_late_keep_their_times() {
    let scratch = Scratch::new();
    let app = scratch.path().join("app");
    for (name, at) in [("new", SECOND), ("old", FIRST)] {
        let note = scratch.write(&format!("app/docs/{name}.md"), format!("# A [[{name}]] note\n"));
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(at as u64);
        fs::File::options().write(true).open(note).unwrap().set_modified(at).unwrap();
    }
    git(&app, &["init", "-q"]);
    commit(&app, SECOND + 100);
    assert_eq!(times(&scratch, "app"), expected(SECOND, FIRST));
    scratch.run(["--dir", "app", "index", "--full"]);
    assert_eq!(stored(&scratch, "notes"), expected(SECOND, FIRST));
}

#[test]
fn an_unknown_time_is_never_now() {
    let scratch = repository();
    let (nowhere, _) = other_git(&scratch, "exit 1");
    // A file that was just written is read again next time.
    thread::sleep(Duration::from_millis(50));
    let mut command = scratch.kgctx(["--dir", "app", "index"]);
    assert!(command.env("PATH", nowhere).output().unwrap().status.success(), "git fails");
    assert_eq!(stored(&scratch, "notes"), expected(0, 0));
    // It is not asked again and again, but whoever wants may.
    assert_eq!(times(&scratch, "app"), expected(0, 0));
    scratch.run(["--dir", "app", "index", "--full"]);
    assert_eq!(stored(&scratch, "notes"), expected(SECOND, FIRST));
    assert_eq!(stored(&scratch, "changes"), expected(SECOND, FIRST));

    let address = format!("file://{}/app", scratch.path().display());
    git(&scratch.path(), &["clone", "-q", "--depth", "1", &address, "shallow"]);
    assert_eq!(times(&scratch, "shallow"), expected(0, 0), "the rest of the history is elsewhere");
    let read = ["--dir", "shallow", "read", "docs/old.md"];
    let answer = scratch.json([&read[..], &["--json"]].concat());
    crate::support::valid("read", &answer);
    assert_eq!(answer["modified"], Value::Null, "{answer}");
    let recent = scratch.run(["--dir", "shallow", "recent", "--timespan", "1d"]);
    assert!(!recent.contains("days ago") && !recent.contains("1970"), "{recent}");
}

#[test]
fn git_is_not_run_for_what_is_known() {
    let scratch = repository();
    let (path, log) = other_git(&scratch, "");
    let runs = |dir: &str| {
        let _ = fs::remove_file(&log);
        let given = context(&scratch, dir, Some(&path));
        assert_eq!(given["faults"], serde_json::json!([]), "{given}");
        fs::read_to_string(&log).unwrap_or_default()
    };
    assert_eq!(runs("app").matches(" log -c ").count(), 1, "the first time");
    // Git itself writes its index shortly after its files.
    thread::sleep(Duration::from_millis(50));
    assert_eq!(runs("app"), "", "nothing changed");
    scratch.write("app/docs/old.md", "# Old\n\nAn [[old]] note of app, edited.\n");
    assert_eq!(runs("app"), "", "one was edited");
    git(&scratch.path().join("app"), &["checkout", "-q", "--", "."]);
    scratch.write("app/docs/new.md", "# New\n\nA [[new]] note of app.\n");
    assert!(runs("app").matches(" log -c ").count() <= 1, "one was restored");
    assert_eq!(runs("app"), "", "that is known by now");
    let app = scratch.path().join("app");
    git(&app, &["worktree", "add", "-q", "--detach", "../tree", "main"]);
    assert_eq!(runs("tree"), "", "a worktree with the same notes");
    assert_eq!(stored(&scratch, "notes"), expected(SECOND, FIRST));
}

#[test]
fn the_time_of_a_change_is_learnt_later() {
    for full in [&[][..], &["--full"]] {
        let scratch = repository();
        let app = scratch.path().join("app");
        times(&scratch, "app");
        git(&app, &["checkout", "-q", "other"]);
        let (path, _) = other_git(&scratch, SLOW_LOG);
        context(&scratch, "app", Some(&path));
        let old = ("old.md".to_owned(), 0);
        assert!(stored(&scratch, "changes").contains(&old), "{:?}", stored(&scratch, "changes"));
        scratch.run([&["--dir", "app", "index"], full].concat());
        let [new, old] = ["new.md", "old.md"].map(str::to_owned);
        let learnt = [(new, SECOND), (old.clone(), FIRST), (old, SECOND + 100)];
        assert_eq!(stored(&scratch, "changes"), learnt, "{full:?}");
        assert_eq!(stored(&scratch, "notes"), expected(SECOND, SECOND + 100), "{full:?}");
    }
}

#[test]
fn a_session_waits_for_no_command_of_git() {
    for (shell, slow) in [("sleep 5", "all"), ("case \"$*\" in *' diff '*) sleep 5;; esac", "diff")]
    {
        let scratch = repository();
        let (path, _) = other_git(&scratch, shell);
        let started = Instant::now();
        let given = context(&scratch, "app", Some(&path));
        assert!(
            started.elapsed() < Duration::from_millis(1_800),
            "{slow}: {:?}",
            started.elapsed()
        );
        assert!(given["text"].as_str().unwrap().contains("[[old]]"), "{slow}: {given}");
        assert!(given["faults"].to_string().contains("git did not report in time"), "{given}");
    }
}

#[test]
fn nobody_is_without_notes_while_git_answers() {
    let scratch = repository();
    let (path, _) = other_git(&scratch, "case \"$*\" in *' log -c '*) sleep 8;; esac");
    let started = Instant::now();
    let output = scratch.kgctx(["--dir", "app", "search", "old"]).env("PATH", &path).output();
    assert!(String::from_utf8_lossy(&output.unwrap().stdout).contains("docs/old"));
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());

    git(&scratch.path(), &["clone", "-q", "app", "clone/app"]);
    let mut index = scratch.kgctx(["--dir", "clone/app", "index"]);
    let mut index = index.env("PATH", &path).stdout(Stdio::null()).spawn().unwrap();
    // Both want to be the first. The session has more time than usual on a busy machine, and less than git takes.
    let arguments = ["--dir", "clone/app", "inject", "--session", "s", "--dry-run"];
    let mut command = scratch.kgctx([&arguments[..], &["--format", "json"]].concat());
    let output = command.env("PATH", &path).env("KGCTX_DEADLINE_MS", "6000").output().unwrap();
    let given: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(given["text"].as_str().unwrap().contains("[[old]]"), "{given}");
    assert!(index.try_wait().unwrap().is_none(), "git does not answer yet");
    assert!(index.wait().unwrap().success());
    assert_eq!(stored(&scratch, "notes"), expected(SECOND, FIRST));
}

#[test]
fn a_git_that_fails_is_reported() {
    for command in [" diff ", " log -c "] {
        let scratch = repository();
        thread::sleep(Duration::from_millis(50));
        let shell = format!("case \"$*\" in *'{command}'*) echo 'bad object' >&2; exit 128;; esac");
        let (path, _) = other_git(&scratch, &shell);
        let failed = format!("git {} failed: bad object", command.split(' ').nth(1).unwrap());
        let given = context(&scratch, "app", Some(&path));
        assert!(given["faults"].to_string().contains(&failed), "{given}");
        assert_eq!(stored(&scratch, "notes"), expected(0, 0), "{command}");
        let output = scratch.kgctx(["--dir", "app", "index", "--full"]).env("PATH", path).output();
        let said = stderr(&output.unwrap());
        assert!(said.contains(&failed) && said.contains("run `kgctx index --full`"), "{said}");
        let doctor = scratch.kgctx(["--dir", "app", "doctor"]).output().unwrap();
        let said = String::from_utf8_lossy(&doctor.stdout);
        assert!(said.contains("2 of unknown age"), "{said}");
        scratch.run(["--dir", "app", "index", "--full"]);
        assert_eq!(stored(&scratch, "notes"), expected(SECOND, FIRST), "{command}");
        let doctor = scratch.kgctx(["--dir", "app", "doctor"]).output().unwrap();
        let said = String::from_utf8_lossy(&doctor.stdout);
        assert!(!said.contains("count as old"), "{said}");
    }
}

#[test]
fn a_session_leaves_the_index_of_a_huge_repository_to_others() {
    let scratch = repository();
    let file = scratch.path().join("app/.git/index");
    let mut bytes = fs::read(&file).unwrap();
    // An extension that git passes over, and no checksum.
    bytes.truncate(bytes.len() - 20);
    bytes.extend(b"KGCT");
    let n_bytes: u32 = 17 << 20;
    bytes.extend(n_bytes.to_be_bytes());
    bytes.resize(bytes.len() + n_bytes as usize + 20, 0);
    fs::write(&file, bytes).unwrap();
    let given = context(&scratch, "app", None);
    let text = given["text"].as_str().unwrap();
    assert!(text.contains("[[old]]") && !text.contains("Recent"), "{text}");
    assert!(given["faults"].to_string().contains("git did not report in time"), "{given}");
    assert_eq!(times(&scratch, "app"), expected(SECOND, FIRST));
}

#[test]
fn no_process_finishes_an_index_that_cannot_be_written() {
    let scratch = repository();
    let (path, log) = other_git(&scratch, SLOW_LOG);
    // A file where the folder of all indexes should be.
    scratch.write("kgctx-home/cache", "");
    let given = context(&scratch, "app", Some(&path));
    assert!(given["text"].as_str().unwrap().contains("[[old]]"), "{given}");
    let faults = given["faults"].to_string();
    assert!(faults.contains("only in memory") && faults.contains("git did not report"), "{faults}");
    assert!(!faults.contains("a separate process"), "{faults}");
    let n_runs = |log: &Path| fs::read_to_string(log).unwrap().matches(" log -c ").count();
    assert_eq!(n_runs(&log), 1);
}

#[test]
fn a_session_does_not_wait_for_a_long_history() {
    let scratch = repository();
    git(&scratch.path(), &["clone", "-q", "app", "clone/app"]);
    let (path, _) = other_git(&scratch, SLOW_LOG);
    let started = Instant::now();
    let given = context(&scratch, "clone/app", Some(&path));
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
    let text = given["text"].as_str().unwrap();
    assert!(text.contains("[[old]]") && !text.contains("Recent"), "{text}");
    assert!(given["faults"].to_string().contains("git did not report in time"), "{given}");
    // Another process goes on with it.
    let until = Instant::now() + Duration::from_secs(60);
    while stored(&scratch, "notes") != expected(SECOND, FIRST) {
        assert!(Instant::now() < until, "{:?}", stored(&scratch, "notes"));
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(stored(&scratch, "changes"), expected(SECOND, FIRST));
}

/// Programs that a user has git run for every note, as git-crypt and LFS do.
const FILTER: &str = "[filter \"upper\"]\n\tsmudge = tr a-z A-Z\n\tclean = tr A-Z a-z\n";

/// A clone that git makes with a configuration of the user's, after which it has nothing to tell of.
fn cloned_by_user(scratch: &Scratch, configuration: &str) -> PathBuf {
    let file = scratch.write("home/.gitconfig", configuration);
    let clone = scratch.path().join("clone/app");
    for arguments in
        [vec!["clone", "-q", "app", "clone/app"], vec!["-C", "clone/app", "status", "--short"]]
    {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(scratch.path()).env("GIT_CONFIG_GLOBAL", &file);
        let output = command.output().unwrap();
        assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    }
    clone
}

#[test]
fn notes_that_git_writes_as_its_user_wants_them_are_as_old_as_their_commits() {
    for (configuration, attributes, expect) in [
        ("[core]\n\tautocrlf = true\n", "", "note of app.\r\n"),
        (FILTER, "*.md filter=upper\n", "NOTE OF APP.\n"),
    ] {
        let scratch = repository();
        let app = scratch.path().join("app");
        if !attributes.is_empty() {
            // Lower case is what the filter stores.
            for (note, at) in [("old", FIRST), ("new", SECOND)] {
                scratch
                    .write(&format!("app/docs/{note}.md"), format!("# {note}\n\na note of app.\n"));
                commit(&app, at);
            }
            scratch.write("app/.gitattributes", attributes);
            commit(&app, SECOND);
        }
        let clone = cloned_by_user(&scratch, configuration);
        assert!(fs::read_to_string(clone.join("docs/old.md")).unwrap().ends_with(expect));
        assert_eq!(times(&scratch, "clone/app"), expected(SECOND, FIRST), "{configuration}");
        assert_eq!(recent(&scratch, "clone/app"), 0);
        // What is changed is new, whoever filters it.
        fs::write(clone.join("docs/old.md"), "# OLD\n\nA NOTE OF APE.\n").unwrap();
        let changed = times(&scratch, "clone/app");
        assert!(is_now(changed[1].1), "{changed:?}");
    }
    // A touched file is looked into, and its lines may end as its user wants.
    let scratch = repository();
    let clone = cloned_by_user(&scratch, "[core]\n\tautocrlf = true\n");
    let note = fs::File::options().write(true).open(clone.join("docs/old.md")).unwrap();
    note.set_modified(SystemTime::now() + Duration::from_millis(3)).unwrap();
    assert_eq!(times(&scratch, "clone/app"), expected(SECOND, FIRST));
}

#[test]
fn notes_of_a_submodule_are_as_old_as_its_commits() {
    let scratch = repository();
    let outer = scratch.path().join("outer");
    scratch.write("outer/docs/a.md", "# A\n");
    git(&outer, &["init", "-q"]);
    let allowed = ["-c", "protocol.file.allow=always"];
    git(&outer, &[&allowed[..], &["submodule", "--quiet", "add", "../app", "docs/wiki"]].concat());
    commit(&outer, SECOND);
    let clone = ["clone", "-q", "--recurse-submodules", "outer", "clone/outer"];
    git(&scratch.path(), &[&allowed[..], &clone].concat());
    let expect = [("a.md", SECOND), ("new.md", SECOND), ("old.md", FIRST)];
    assert_eq!(times(&scratch, "clone/outer"), expect.map(|(name, at)| (name.to_owned(), at)));
    assert_eq!(recent(&scratch, "clone/outer"), 0);
}
