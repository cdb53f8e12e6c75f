//! `kgctx completions` in real shells, and `kgctx man`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::support::Scratch;

/// Runs a shell; `None`, and said so, where it is not installed.
fn said_by(shell: &str, arguments: &[&str], scratch: &Scratch) -> Option<String> {
    let output = Command::new(shell)
        .args(arguments)
        .current_dir(scratch.path())
        .env("HOME", scratch.path())
        .output()
        .ok();
    if output.is_none() {
        eprintln!("skipped: there is no {shell}");
    }
    let output = output?;
    assert!(output.status.success(), "{shell}: {output:?}");
    Some(String::from_utf8(output.stdout).unwrap())
}

/// The completions of a shell, written to a file.
fn completions(scratch: &Scratch, shell: &str, file: &str) {
    scratch.write(file, scratch.run(["completions", shell]));
}

#[test]
fn bash_completes_commands_flags_and_values() {
    let scratch = Scratch::new();
    completions(&scratch, "bash", "kgctx.bash");
    let complete = "source kgctx.bash; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); \
                    _kgctx kgctx \"${@: -1}\" \"${@: -2:1}\"; printf '%s\\n' \"${COMPREPLY[@]}\"";
    for (typed, expected) in [
        (&["kgctx", "hand"][..], "handoff\n"),
        (&["kgctx", "handoff", "pick"], "pickup\n"),
        (&["kgctx", "inject", "--dry"], "--dry-run\n"),
        (&["kgctx", "install", "cl"], "claude-code\n"),
        (&["kgctx", "check", "--format", "sar"], "sarif\n"),
        (&["kgctx", "inject", "--source", "data"], "database\n"),
    ] {
        let arguments = [&["--norc", "-c", complete, "bash"][..], typed].concat();
        let Some(said) = said_by("bash", &arguments, &scratch) else { return };
        assert_eq!(said, expected, "{typed:?}");
    }
}

#[test]
fn fish_completes_commands_flags_and_values() {
    let scratch = Scratch::new();
    completions(&scratch, "fish", "kgctx.fish");
    for (typed, expected) in [
        ("kgctx hand", "handoff"),
        ("kgctx handoff pick", "pickup"),
        ("kgctx inject --dry", "--dry-run"),
        ("kgctx install cl", "claude-code"),
        ("kgctx uninstall op", "opencode"),
        ("kgctx check --format sar", "sarif"),
        ("kgctx inject --source data", "database"),
    ] {
        let complete = format!("source kgctx.fish; complete -C '{typed}'");
        let Some(said) = said_by("fish", &["--no-config", "-c", &complete], &scratch) else {
            return;
        };
        let words: Vec<_> = said.lines().map(|line| line.split('\t').next().unwrap()).collect();
        assert_eq!(words, [expected], "{typed}");
    }
}

/// In a terminal of its own, as one types it: whatever runs then is recorded.
#[test]
fn zsh_completes_commands_flags_and_values() {
    let scratch = Scratch::new();
    completions(&scratch, "zsh", "functions/_kgctx");
    scratch.write("bin/kgctx", "#!/bin/sh\necho \"$@\" >> ran\n");
    let program = scratch.path().join("bin/kgctx");
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
    let typing = r#"
        zmodload zsh/zpty
        zpty terminal zsh -f -i
        zpty -w terminal 'path=($PWD/bin $path) fpath=($PWD/functions $fpath); autoload -Uz compinit; compinit -u -D; touch ready'
        for n in {1..200}; do [[ -e ready ]] && break; sleep 0.05; done
        lines=0
        for typed in 'kgctx handoff pick' 'kgctx inject --dry' 'kgctx install cl' 'kgctx check --format sar' 'kgctx inject --source data'; do
            zpty -w terminal "$typed"$'\t'
            lines=$((lines + 1))
            for n in {1..200}; do [[ -e ran && $(wc -l < ran) -ge $lines ]] && break; sleep 0.05; done
        done
        zpty -d terminal"#;
    if said_by("zsh", &["-f", "-c", typing], &scratch).is_some() {
        let ran = fs::read_to_string(scratch.path().join("ran")).unwrap_or_default();
        let ran: Vec<_> = ran.lines().map(str::trim_end).collect();
        let expected = [
            "handoff pickup",
            "inject --dry-run",
            "install claude-code",
            "check --format sarif",
            "inject --source database",
        ];
        assert_eq!(ran, expected);
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let scratch = Scratch::new();
    let whole = scratch.run(["man"]);
    assert!(whole.contains(".TH kgctx 1") && whole.contains("kgctx\\-handoff(1)"), "{whole}");
    let page = scratch.run(["man", "handoff", "create"]);
    for part in [".TH kgctx-handoff-create 1", "\\-\\-priority"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let (code, message) = scratch.fail(["man", "handoff", "creat"]);
    assert_eq!(code, 2);
    assert!(message.contains("kgctx handoff has no command \"creat\""), "{message}");
}
