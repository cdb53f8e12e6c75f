//! Whatever is broken, slow or gone: a valid text, perhaps a smaller one, in time.

use std::fs;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use rusqlite::Connection;

use crate::support::dead_mount::DeadMount;
use crate::support::{Scratch, stderr};

/// Two seconds for all, and 50 ms over at most.
const IN_TIME: Duration = Duration::from_millis(2_050);

/// A project with a vault of its own and a second one in its home.
fn project() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("zephyr/docs/mast.md", "# Mast\n\nThe [[Mast]] of zephyr carries [[Sail]].\n");
    scratch.write("zephyr/docs/keel.md", "# Keel\n\nThe [[Keel]] holds zephyr upright.\n");
    scratch.write("home/maenifold/memory/far.md", "# Far\n\nNotes on zephyr and [[Harbour]].\n");
    fs::create_dir(scratch.path().join("zephyr/.kgctx")).unwrap();
    // Files that are written at once may have the same time, or not: the order of notes must not depend on it.
    let notes = ["zephyr/docs/mast.md", "zephyr/docs/keel.md", "home/maenifold/memory/far.md"];
    for (note, minutes) in notes.into_iter().zip([3, 2, 1]) {
        let file = fs::File::options().write(true).open(scratch.path().join(note)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(60 * minutes)).unwrap();
    }
    scratch
}

fn command(scratch: &Scratch) -> Command {
    scratch.kgctx(["--dir", "zephyr", "inject", "--session", "s", "--dry-run"])
}

/// Runs to the end and checks what always holds: exit 0, in time, a text that is whole or empty.
fn in_time(mut command: Command) -> (String, String) {
    let started = Instant::now();
    let output = command.output().unwrap();
    let took = started.elapsed();
    assert!(took <= IN_TIME, "took {took:?}: {}", stderr(&output));
    checked(&output)
}

fn checked(output: &Output) -> (String, String) {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    if !text.is_empty() {
        assert!(text.starts_with("## Knowledge Graph Context\n"), "{text}");
        assert!(text.ends_with("go deeper into the graph.*\n"), "{text}");
    }
    (text, stderr(output))
}

fn index_of(scratch: &Scratch) -> std::path::PathBuf {
    let stores = scratch.path().join("kgctx-home/cache/index");
    fs::read_dir(stores).unwrap().next().unwrap().unwrap().path()
}

/// T-2.E.1: Graceful degradation when CLI unavailable.
#[test]
fn t_2_e_1_without_any_source_the_text_is_empty_and_with_one_less_it_is_smaller() {
    let scratch = project();
    // No maenifold is installed here: the notes themselves are enough.
    let mut without_programs = command(&scratch);
    without_programs.env("PATH", "");
    let (text, said) = in_time(without_programs);
    assert!(text.contains("[[mast]]") && text.contains("[[harbour]]"), "{text}");
    assert_eq!(said, "");
    // A vault that was named and is gone.
    scratch.write("kgctx-home/config.toml", "[[vault]]\npath = \"gone\"\n");
    let (text, said) = in_time(command(&scratch));
    assert!(text.contains("[[mast]]") && text.contains("[[harbour]]"), "{text}");
    assert!(said.contains("no such vault") && said.contains("gone"), "{said}");
    // Nothing at all.
    let empty = Scratch::new();
    fs::create_dir_all(empty.path().join("zephyr")).unwrap();
    let (text, said) = in_time(command(&empty));
    assert_eq!(text, "");
    assert!(said.contains("no folder of notes found"), "{said}");
}

/// T-2.E.2: Timeout handling for slow CLI.
#[test]
fn t_2_e_2_a_source_that_does_not_answer_is_not_waited_for() {
    let scratch = project();
    in_time(command(&scratch));
    // Nobody else may read a database that is locked like this.
    let connection = Connection::open(index_of(&scratch).join("index.db")).unwrap();
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE").unwrap();
    connection.execute_batch("BEGIN IMMEDIATE; UPDATE meta SET value = value; COMMIT").unwrap();
    let (text, said) = in_time(command(&scratch));
    assert_eq!(text, "", "nothing else knows anything");
    assert!(said.contains("in time") || said.contains("busy"), "{said}");
    let mut hurried = command(&scratch);
    hurried.env("KGCTX_DEADLINE_MS", "200");
    let started = Instant::now();
    checked(&hurried.output().unwrap());
    assert!(started.elapsed() < Duration::from_millis(700), "{:?}", started.elapsed());
}

#[test]
fn a_missing_or_damaged_index_is_made_anew() {
    let scratch = project();
    let (whole, _) = in_time(command(&scratch));
    fs::remove_dir_all(scratch.path().join("kgctx-home/cache")).unwrap();
    assert_eq!(in_time(command(&scratch)), (whole.clone(), String::new()));
    for damage in ["overwritten", "cut", "text", "empty"] {
        let index = fs::canonicalize(index_of(&scratch).join("index.db")).unwrap();
        let mut bytes = fs::read(&index).unwrap();
        match damage {
            "overwritten" => bytes[8_192..].fill(0x5a),
            "cut" => bytes.truncate(9_000),
            "text" => bytes = b"not a database".to_vec(),
            _ => bytes.clear(),
        }
        fs::write(&index, bytes).unwrap();
        let (text, said) = in_time(command(&scratch));
        assert_eq!(text, whole, "{damage}");
        assert!(said.contains("rebuilt"), "{damage}: {said}");
    }
}

#[test]
fn while_another_process_writes_the_last_index_answers() {
    let scratch = project();
    let (before, _) = in_time(command(&scratch));
    let lock = fs::File::open(index_of(&scratch).join("lock")).unwrap();
    lock.lock().unwrap();
    scratch.write("zephyr/docs/new.md", "# New\n\nA [[Rudder]] for zephyr.\n");
    let (text, said) = in_time(command(&scratch));
    assert_eq!(text, before);
    assert!(said.contains("another process is writing it"), "{said}");
    lock.unlock().unwrap();
    assert!(in_time(command(&scratch)).0.contains("[[rudder]]"));
    // No index at all, and no right to make one.
    let lock = fs::File::open(index_of(&scratch).join("lock")).unwrap();
    lock.lock().unwrap();
    fs::remove_file(index_of(&scratch).join("index.db")).unwrap();
    let (text, said) = in_time(command(&scratch));
    assert_eq!(text, "");
    assert!(said.contains("it was not ready in time, and there was no earlier one"), "{said}");
}

#[test]
fn the_first_index_answers_while_its_writer_goes_on() {
    let scratch = project();
    let (whole, _) = in_time(command(&scratch));
    let (index, aside) = (index_of(&scratch).join("index.db"), index_of(&scratch).join("aside"));
    let lock = fs::File::open(index_of(&scratch).join("lock")).unwrap();
    lock.lock().unwrap();
    fs::rename(&index, &aside).unwrap();
    let mut waiting = command(&scratch);
    let waiting = waiting.env("KGCTX_DEADLINE_MS", "20000").stdout(Stdio::piped()).spawn().unwrap();
    thread::sleep(Duration::from_millis(500));
    fs::rename(&aside, &index).unwrap();
    let output = waiting.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), whole);
}

#[test]
fn the_receipt_is_never_in_the_way() {
    let scratch = project();
    let (whole, said) = in_time(command(&scratch));
    assert_eq!(said, "");
    let state = scratch.path().join("kgctx-home/state/state.db");
    let check = |damage: &str| {
        let (text, said) = in_time(command(&scratch));
        assert_eq!(text, whole, "{damage}");
        assert!(said.starts_with("kgctx: receipt: "), "{damage}: {said}");
    };
    {
        let connection = Connection::open(&state).unwrap();
        connection.execute_batch("BEGIN EXCLUSIVE").unwrap();
        check("locked");
    }
    fs::write(&state, "not a database, but long enough to be looked at as one").unwrap();
    check("text");
    fs::remove_file(&state).unwrap();
    Connection::open(&state).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
    check("somebody else's");
    Connection::open(&state).unwrap().pragma_update(None, "user_version", 1).unwrap();
    check("somebody else's, of our version");
    fs::remove_file(&state).unwrap();
    let newer = Connection::open(&state).unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
    drop(newer);
    check("from the future");
    fs::remove_file(&state).unwrap();
    fs::create_dir(&state).unwrap();
    check("a folder");
    fs::remove_dir_all(scratch.path().join("kgctx-home/state")).unwrap();
    fs::write(scratch.path().join("kgctx-home/state"), "").unwrap();
    check("a file in the place of the folder");
}

#[test]
fn a_full_disk_costs_no_note() {
    let scratch = project();
    let (before, _) = in_time(command(&scratch));
    scratch.write("zephyr/docs/new.md", "# New\n\nA [[Rudder]] for zephyr.\n");
    // No process of this shell may write to any file; its pipes are none.
    let limited = |scratch: &Scratch| {
        let kgctx = command(scratch);
        let mut shell = Command::new("bash");
        shell.args(["-c", "ulimit -f 0; trap '' XFSZ; exec \"$@\"", "bash"]);
        shell.arg(kgctx.get_program()).args(kgctx.get_args()).env_clear();
        shell.envs(kgctx.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell.current_dir(kgctx.get_current_dir().unwrap());
        shell
    };
    let (text, said) = in_time(limited(&scratch));
    assert!(text.contains("[[rudder]]") && text.len() > before.len(), "{text}");
    assert!(said.contains("index: it is only in memory"), "{said}");
    assert!(said.contains("receipt: "), "{said}");
    let empty = project();
    let (text, said) = in_time(limited(&empty));
    assert_eq!(text, before);
    assert!(said.contains("index: it is only in memory"), "{said}");
}

#[test]
fn where_nothing_can_be_written_the_index_is_in_memory() {
    let scratch = project();
    let (whole, _) = in_time(command(&scratch));
    // What is no folder holds no files, not even for those who may write everywhere.
    let home = scratch.write("home-that-is-a-file", "");
    let at = |arguments: &[&str]| {
        let mut command = scratch.kgctx([&["--dir", "zephyr"], arguments].concat());
        command.env("KGCTX_HOME", &home);
        command
    };
    for ranking in ["notes", "frequency"] {
        let mut normal = command(&scratch);
        let mut inject = at(&["inject", "--session", "s", "--dry-run"]);
        for command in [&mut normal, &mut inject] {
            command.env("KGCTX_RANK", ranking);
        }
        let started = Instant::now();
        let output = inject.output().unwrap();
        assert!(started.elapsed() <= IN_TIME, "{:?}", started.elapsed());
        assert_eq!(output.stdout, normal.output().unwrap().stdout, "{ranking}");
        let said = stderr(&output);
        assert!(said.contains("index: it is only in memory and rebuilt every time: "), "{said}");
    }
    let output = at(&["hook", "claude-code"]);
    let event = serde_json::json!({
        "hook_event_name": "SessionStart", "session_id": "s", "source": "startup",
        "cwd": scratch.path().join("zephyr"), "transcript_path": "/none",
    });
    let started = Instant::now();
    let output = crate::support::handoff_lab::given(output, &event);
    assert!(started.elapsed() < Duration::from_millis(1_500), "{:?}", started.elapsed());
    let text = crate::support::handoff_lab::context(&output).unwrap();
    assert!(text.contains("[[mast]]"), "{text}");
    assert!(!whole.is_empty());
    // Questions are answered, too; who asks for the index itself is refused.
    let output = at(&["search", "mast"]).output().unwrap();
    assert!(output.status.success() && stderr(&output).contains("only in memory"), "{output:?}");
    assert_eq!(at(&["index"]).output().unwrap().status.code(), Some(3));
    let doctor = at(&["doctor", "--json"]).output().unwrap();
    let doctor: serde_json::Value = serde_json::from_slice(&doctor.stdout).unwrap();
    for name in ["index", "state"] {
        let checks = doctor["checks"].as_array().unwrap();
        let check = checks.iter().find(|check| check["name"] == name).unwrap();
        assert_eq!(check["verdict"], "warn", "{check}");
        assert!(check["found"].as_str().unwrap().contains("cannot be written"), "{check}");
        assert!(check["wayOut"].as_str().unwrap().contains("KGCTX_HOME"), "{check}");
    }
}

#[test]
fn a_clock_that_was_set_back_changes_nothing() {
    let scratch = project();
    let (before, _) = in_time(command(&scratch));
    // The notes, the index and the receipt above are then from the future.
    let ahead = std::time::SystemTime::now() + Duration::from_secs(400 * 86_400);
    for note in ["mast.md", "keel.md"] {
        let file =
            fs::File::options().write(true).open(scratch.path().join("zephyr/docs").join(note));
        file.unwrap().set_modified(ahead).unwrap();
    }
    let (text, said) = in_time(command(&scratch));
    assert!(text.contains("[[mast]]") && text.contains("- Keel (memory"), "{text}");
    assert_eq!((said.as_str(), text.len()), ("", before.len()));
    let last = scratch.json(["--dir", "zephyr", "explain", "--json"]);
    let sha256 = last["receipt"]["sha256"].as_str().unwrap().to_owned();
    in_time(command(&scratch));
    assert_eq!(scratch.json(["--dir", "zephyr", "explain", "--json"])["receipt"]["sha256"], sha256);
}

#[test]
fn a_vault_on_a_mount_that_hangs_is_left_out() {
    let scratch = project();
    let memory = scratch.path().join("home/maenifold/memory");
    let Some(_dead) = DeadMount::at(&memory) else {
        eprintln!("skipped: this user may not mount a file system");
        return;
    };
    scratch.write("kgctx-home/config.toml", "default_vaults = false\n[[vault]]\npath = \"../home/maenifold/memory\"\n[[vault]]\npath = \"../zephyr/docs\"\n");
    let (text, said) = in_time(command(&scratch));
    assert!(text.contains("[[mast]]") && !text.contains("[[harbour]]"), "{text}");
    assert!(said.contains("does not respond"), "{said}");
}

#[test]
fn a_folder_that_hangs_inside_of_a_vault_leaves_the_last_index() {
    let scratch = project();
    let (before, _) = in_time(command(&scratch));
    let stuck = scratch.path().join("zephyr/docs/stuck");
    fs::create_dir(&stuck).unwrap();
    let Some(_dead) = DeadMount::at(&stuck) else {
        eprintln!("skipped: this user may not mount a file system");
        return;
    };
    let (text, said) = in_time(command(&scratch));
    assert_eq!(text, before);
    assert!(said.contains("this is from the last index"), "{said}");
    // The folder of the project itself.
    let _dead = DeadMount::at(&scratch.path().join("zephyr")).unwrap();
    let (text, said) = in_time(command(&scratch));
    assert_eq!(text, "");
    assert!(said.contains("project: it did not answer in time"), "{said}");
}

/// A project with so many notes that no index over them is made in a hurry.
fn large_project() -> Scratch {
    let scratch = Scratch::new();
    for n in 0..6_000 {
        scratch.write(
            &format!("zephyr/docs/n{n}.md"),
            format!("# N{n}\n\nOf zephyr, [[c{}]].\n", n % 50),
        );
    }
    fs::create_dir(scratch.path().join("zephyr/.kgctx")).unwrap();
    scratch
}

/// Starts sessions in a hurry until one is given something.
fn until_there_is_a_text(scratch: &Scratch) -> String {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let mut hurried = command(scratch);
        hurried.env("KGCTX_DEADLINE_MS", "400");
        let (text, said) = checked(&hurried.output().unwrap());
        if !text.is_empty() {
            return text;
        }
        assert!(Instant::now() < until, "nobody finished the index: {said}");
        thread::sleep(Duration::from_millis(300));
    }
}

#[test]
fn an_index_that_takes_too_long_is_finished_by_a_process_of_its_own() {
    // How long the index takes depends on the machine, and on what else it does: some deadline falls into that time.
    let scratch = [30, 60, 120, 240, 480]
        .into_iter()
        .find_map(|deadline_ms: u32| {
            let scratch = large_project();
            let mut hurried = command(&scratch);
            hurried.env("KGCTX_DEADLINE_MS", deadline_ms.to_string());
            let (_, said) = checked(&hurried.output().unwrap());
            said.contains("a separate process continues with it").then_some(scratch)
        })
        .unwrap();
    assert!(until_there_is_a_text(&scratch).contains("[[c"));
    // Damage inside of the tables, which no look at the folders tells.
    let index = fs::canonicalize(index_of(&scratch).join("index.db")).unwrap();
    let mut bytes = fs::read(&index).unwrap();
    let pages = bytes.len() / 8_192;
    for page in (4..pages).filter(|page| page % 3 == 0) {
        bytes[page * 8_192..page * 8_192 + 4_000].fill(0x5a);
    }
    fs::write(&index, bytes).unwrap();
    assert!(until_there_is_a_text(&scratch).contains("[[c"));
}

#[test]
fn a_vault_that_is_gone_does_not_keep_the_index_unfinished() {
    let scratch = large_project();
    scratch.write("kgctx-home/config.toml", "[[vault]]\npath = \"gone\"\n");
    assert!(until_there_is_a_text(&scratch).contains("[[c"));
}

#[test]
fn a_title_of_megabytes_takes_no_time() {
    let scratch = project();
    for n in 0..10 {
        scratch
            .write(&format!("zephyr/docs/t{n}.md"), format!("# {}\n", "word ".repeat(1_500_000)));
    }
    scratch.run(["--dir", "zephyr", "index"]);
    let mut hurried = command(&scratch);
    let started = Instant::now();
    let (text, _) = checked(&hurried.env("KGCTX_DEADLINE_MS", "400").output().unwrap());
    assert!(started.elapsed() < Duration::from_millis(900), "{:?}", started.elapsed());
    assert!(text.contains("- word word word"), "{text}");
}
