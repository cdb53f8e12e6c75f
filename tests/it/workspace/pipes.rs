//! Pipes and devices where a file should be: nothing waits for them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::handoff_project::Project;
use crate::support::{Scratch, git, stderr};

fn pipe(path: &Path) -> PathBuf {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    path.to_path_buf()
}

/// What a command says, which must not wait for anybody.
#[track_caller]
fn soon(command: &mut Command) -> Output {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(5);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > until {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("it waits: {command:?}");
        }
        thread::sleep(Duration::from_millis(10));
    }
    child.wait_with_output().unwrap()
}

#[test]
fn no_command_waits_for_a_pipe_or_reads_a_device() {
    let project = Project::new();
    let named = pipe(&project.path().join("pipe"));
    let linked = project.path().join("link");
    std::os::unix::fs::symlink("pipe", &linked).unwrap();
    for path in ["pipe", "./link", named.to_str().unwrap(), "/dev/zero", "/dev/tty", "docs"] {
        let kgctx = |arguments: &[&str]| {
            let mut command = project.scratch.kgctx(arguments);
            command.current_dir(project.path());
            command
        };
        for (arguments, code) in [
            (&["handoff", "create", path][..], 2),
            (&["handoff", "import", path], 1),
            (&["inject", "--session", "s", "--dry-run", "--prompt-file", path], 2),
        ] {
            let output = soon(&mut kgctx(arguments));
            let said = stderr(&output);
            assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
            assert!(said.contains("is not a regular file; name one"), "{arguments:?}: {said}");
        }
    }
}

#[test]
fn what_the_shell_has_opened_is_read() {
    let project = Project::new();
    let kgctx = env!("CARGO_BIN_EXE_kgctx");
    for script in [
        "\"$0\" handoff create <(echo Ship it.)",
        "echo Ship it. | \"$0\" handoff create /dev/stdin",
        "echo Ship it. | \"$0\" handoff create -",
        "echo Ship it. | \"$0\" handoff create",
    ] {
        let like = project.command(["list"]);
        let mut shell = Command::new("bash");
        shell.args(["-c", script, kgctx]).current_dir(project.path());
        shell.envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = soon(&mut shell);
        assert!(output.status.success(), "{script}: {output:?}");
    }
    assert_eq!(project.documents().len(), 4);
}

#[test]
fn a_session_does_not_wait_for_a_pipe_beside_its_notes() {
    let scratch = Scratch::new();
    scratch.write("zephyr/docs/mast.md", "# Mast\n\nThe [[Mast]] of zephyr.\n");
    std::fs::create_dir(scratch.path().join("zephyr/.kgctx")).unwrap();
    let inject = || scratch.kgctx(["--dir", "zephyr", "inject", "--session", "s", "--dry-run"]);
    let whole = soon(&mut inject()).stdout;
    for path in [
        "zephyr/docs/pipe.md",
        "zephyr/docs/.gitignore",
        "zephyr/docs/.obsidian/app.json",
        "zephyr/docs/dendron.yml",
        "zephyr/docs/logseq/config.edn",
    ] {
        let made = pipe(&scratch.path().join(path));
        let started = Instant::now();
        let output = soon(&mut inject());
        assert!(output.status.success(), "{path}: {output:?}");
        assert!(started.elapsed() < Duration::from_millis(1_500), "{path}");
        assert!(!output.stdout.is_empty(), "{path}: {output:?}");
        std::fs::remove_file(made).unwrap();
    }
    assert!(!whole.is_empty());
    pipe(&scratch.path().join("kgctx-home/channels.json"));
    let output = soon(&mut inject());
    assert!(stderr(&output).contains("channels.json: it is not a regular file"), "{output:?}");
}

#[test]
fn a_session_does_not_wait_for_a_pipe_or_a_device_among_the_files_of_git() {
    for made_by in ["pipe", "link"] {
        for name in ["index", "shallow", "logs/HEAD", "config", "HEAD", "commondir"] {
            let scratch = Scratch::new();
            scratch.write("zephyr/docs/mast.md", "# Mast\n\nThe [[Mast]] of zephyr.\n");
            let top = scratch.path().join("zephyr");
            git(&top, &["init", "-q"]);
            git(&top, &["add", "--all"]);
            git(&top, &["commit", "-q", "-m", "notes"]);
            let file = top.join(".git").join(name);
            let _ = std::fs::remove_file(&file);
            match made_by {
                "pipe" => drop(pipe(&file)),
                _ => std::os::unix::fs::symlink("/dev/zero", &file).unwrap(),
            }
            let arguments = ["--dir", "zephyr", "inject", "--session", "s", "--dry-run"];
            let mut inject = scratch.kgctx(arguments);
            inject.env("KGCTX_UNCOMMITTED_FILES", "on");
            let started = Instant::now();
            let output = soon(&mut inject);
            assert!(started.elapsed() < Duration::from_millis(1_500), "{made_by} {name}");
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(said.contains("[[Mast]]"), "{made_by} {name}: {output:?}");
        }
    }
}

#[test]
fn no_command_waits_for_a_pipe_among_the_files_of_hosts() {
    for (path, host) in [
        (".claude/settings.json", "claude-code"),
        (".claude/settings.json.kgctx-backup", "claude-code"),
        (".claude.json", "claude-code"),
        (".config/opencode/opencode.json", "opencode"),
        (".config/opencode/plugin/kgctx.ts", "opencode"),
        (".config/opencode/plugins/kgctx.ts", "opencode"),
        (".amplifier/settings.yaml", "amplifier"),
    ] {
        let scratch = Scratch::new();
        scratch.write("zephyr/docs/mast.md", "# Mast\n\nThe [[Mast]] of zephyr.\n");
        pipe(&scratch.home().join(path));
        for arguments in [
            &["doctor"][..],
            &["install", host],
            &["install", host, "--dry-run"],
            &["uninstall", host],
            &["init", "--yes"],
        ] {
            soon(scratch.kgctx(["--dir", "zephyr"]).args(arguments));
        }
    }
}

#[test]
fn a_pipe_in_place_of_the_index_is_no_index() {
    let scratch = Scratch::new();
    scratch.write("zephyr/docs/mast.md", "# Mast\n\nThe [[Mast]] of zephyr.\n");
    let kgctx = |arguments: &[&str]| {
        let mut command = scratch.kgctx(["--dir", "zephyr"]);
        command.args(arguments);
        command
    };
    assert!(soon(&mut kgctx(&["index"])).status.success());
    let stores = scratch.path().join("kgctx-home/cache/index");
    let stores = std::fs::read_dir(stores).unwrap().map(|store| store.unwrap().path());
    let index: Vec<PathBuf> = stores.map(|store| store.join("index.db")).collect();
    for arguments in [
        &["search", "mast"][..],
        &["recent"],
        &["index"],
        &["inject", "--session", "s", "--dry-run"],
    ] {
        for file in &index {
            std::fs::remove_file(file).unwrap();
            pipe(file);
        }
        let output = soon(&mut kgctx(arguments));
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        assert!(!output.stdout.is_empty(), "{arguments:?}: {output:?}");
    }
}
