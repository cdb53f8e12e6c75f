//! `kgctx completions` in real shells, and `kgctx man`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::support::Scratch;
use crate::support::skips::skipped;
use crate::support::terminal::on_terminal;

/// Runs a shell; `None`, and said so, where it is not installed.
fn said_by(shell: &str, arguments: &[&str], scratch: &Scratch) -> Option<String> {
    let output = Command::new(shell)
        .args(arguments)
        .current_dir(scratch.path())
        .env("HOME", scratch.path())
        .output()
        .ok();
    if output.is_none() {
        skipped(&format!("there is no {shell}"));
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

/// With real tabs, as one types them: whatever runs then is recorded.
#[test]
fn tab_completes_in_an_interactive_bash() {
    let scratch = Scratch::new();
    completions(&scratch, "bash", "kgctx.bash");
    recorder(&scratch);
    let typed = "PATH=$PWD/bin:$PATH; source kgctx.bash\n\
                 kgctx handoff pick\t\nkgctx inject --dry\t\nkgctx install cl\t\n\
                 kgctx check --format sar\t\nkgctx inject --source data\t\nexit\n";
    let mut bash = Command::new("bash");
    bash.args(["--norc", "--noprofile", "-i"]).current_dir(scratch.path());
    bash.env("HOME", scratch.path()).env("INPUTRC", "/dev/null").env("TERM", "xterm");
    bash.env("PATH", std::env::var_os("PATH").unwrap());
    let Some((_, shown)) = on_terminal(&bash, typed) else { return };
    assert_eq!(recorded(&scratch), COMPLETED, "{shown}");
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

/// The commands as they stand in the page and in the help.
#[test]
fn completions_can_be_installed_into_a_fresh_home() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/install.md")).unwrap();
    let (_, section) = page.split_once("## Completions and manual pages").unwrap();
    let lines: Vec<&str> =
        section.lines().filter(|line| line.contains("kgctx completions ")).collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    let help = Scratch::new().run(["completions", "--help"]);
    let scratch = Scratch::new();
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_kgctx")).parent().unwrap();
    for line in &lines {
        // The help breaks long lines.
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(&help).contains(&words(line)), "{line}: {help}");
        let script = format!("PATH='{}':$PATH; {line}", bin.display());
        said_by("bash", &["--norc", "-ec", &script], &scratch).unwrap();
    }
    for file in [
        ".local/share/bash-completion/completions/kgctx",
        ".zfunc/_kgctx",
        ".config/fish/completions/kgctx.fish",
    ] {
        assert!(scratch.path().join(file).metadata().unwrap().len() > 0, "{file}");
    }
    for text in [section, &help] {
        assert!(text.contains("fpath=(~/.zfunc $fpath)"), "{text}");
    }
}

/// What comes of commands that were typed up to a tab.
const COMPLETED: [&str; 5] = [
    "handoff pickup",
    "inject --dry-run",
    "install claude-code",
    "check --format sarif",
    "inject --source database",
];

/// A program `kgctx` that writes down its arguments.
fn recorder(scratch: &Scratch) {
    let program = scratch.write("bin/kgctx", "#!/bin/sh\necho \"$@\" >> ran\n");
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
}

fn recorded(scratch: &Scratch) -> Vec<String> {
    let ran = fs::read_to_string(scratch.path().join("ran")).unwrap_or_default();
    ran.lines().map(|line| line.trim_end().to_owned()).collect()
}

/// In a terminal of its own, as one types it.
#[test]
fn zsh_completes_commands_flags_and_values() {
    let scratch = Scratch::new();
    completions(&scratch, "zsh", "functions/_kgctx");
    recorder(&scratch);
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
        assert_eq!(recorded(&scratch), COMPLETED);
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let scratch = Scratch::new();
    let whole = scratch.run(["man"]);
    assert!(whole.contains(".TH kgctx 1") && whole.contains("kgctx\\-handoff(1)"), "{whole}");
    let page = scratch.run(["man", "handoff", "create"]);
    let usage = ".SH SYNOPSIS\nkgctx handoff create [OPTIONS] [FILE]\n.SH DESCRIPTION";
    for part in [".TH kgctx-handoff-create 1", "\\-\\-priority", usage] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let inject = scratch.run(["man", "inject"]);
    assert!(inject.contains("\nkgctx inject [OPTIONS] \\-\\-session <ID>\n"), "{inject}");
    let (code, message) = scratch.fail(["man", "handoff", "creat"]);
    assert_eq!(code, 2);
    assert!(message.contains("kgctx handoff has no command \"creat\""), "{message}");
}
