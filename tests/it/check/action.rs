//! The GitHub action, the pre-commit hook and the guide of `kgctx check`.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use kgctx::check::finding::{Rule, Severity};
use kgctx::check::reports::{ReportFormat, render};
use serde_json::Value;

use crate::support::{Scratch, stderr};

fn text(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}

fn yaml(file: &str) -> Value {
    serde_saphyr::from_str(&text(file)).unwrap()
}

fn steps() -> Vec<Value> {
    yaml("action.yml")["runs"]["steps"].as_array().unwrap().clone()
}

#[test]
fn the_actions_scripts_get_everything_through_the_environment() {
    let action = yaml("action.yml");
    assert_eq!(action["runs"]["using"], "composite");
    let mut handed_over = String::new();
    for step in steps() {
        let script = step["run"].as_str().unwrap();
        assert!(!script.contains("${{"), "{script}");
        assert!(script.starts_with("set -euo pipefail\n"), "{script}");
        assert_eq!(step["shell"], "bash");
        for (name, value) in step["env"].as_object().unwrap() {
            assert!(
                script.contains(&format!("${name}"))
                    || script.contains(&format!("${{{name}"))
                    || name == "GH_TOKEN",
                "{name} is not used"
            );
            handed_over.push_str(value.as_str().unwrap());
        }
        handed_over.push_str(step["if"].as_str().unwrap_or_default());
    }
    for (input, about) in action["inputs"].as_object().unwrap() {
        assert!(handed_over.contains(&format!("inputs.{input}")), "{input} is not used");
        assert!(about["description"].is_string() && about["default"].is_string(), "{input}");
    }
    assert_eq!(action["inputs"]["comment"]["default"], "false");
}

/// Runs a step of the action, with stand-ins that write down how they were called.
fn run_step(scratch: &Scratch, name: &str, environment: &[(&str, &str)]) -> (Output, String) {
    let stand_in = "#!/bin/sh\nfor word in \"$(basename \"$0\")\" \"$@\"; do printf '<%s>' \"$word\"; done >> \"$CALLS\"\n\
                    echo >> \"$CALLS\"\n";
    for (program, then) in [
        ("kgctx", "exit \"${KGCTX_EXIT:-0}\"\n"),
        ("cargo", ""),
        ("curl", "[ -n \"${RELEASED:-}\" ] || exit 22\ncp \"$RELEASED\" \"$5\"\n"),
        ("gh", "case \"$*\" in *--paginate*) echo \"${KNOWN_COMMENT:-}\" ;; esac\n"),
    ] {
        let path = scratch.write(&format!("bin/{program}"), format!("{stand_in}{then}"));
        let made = Command::new("chmod").arg("+x").arg(path).status().unwrap();
        assert!(made.success());
    }
    let calls = scratch.write("calls", "");
    scratch.write("a b/file", "");
    let step = steps().into_iter().find(|step| step["name"] == name).unwrap();
    let path = std::env::var("PATH").unwrap();
    let output = Command::new("bash")
        .args(["--noprofile", "--norc", "-e", "-o", "pipefail", "-c"])
        .arg(step["run"].as_str().unwrap())
        .current_dir(scratch.path())
        .env_clear()
        .env("PATH", format!("{}:{path}", scratch.path().join("bin").display()))
        .env("CALLS", &calls)
        .env("RUNNER_TEMP", scratch.path().join("temp"))
        .env("GITHUB_PATH", scratch.path().join("github-path"))
        .env("RUNNER_OS", "Linux")
        .env("RUNNER_ARCH", "X64")
        .env("GITHUB_SERVER_URL", "https://forge.example")
        .env("GITHUB_REPOSITORY", "team/atlas")
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    (output, fs::read_to_string(calls).unwrap())
}

#[test]
fn an_input_of_the_action_is_never_run() {
    let scratch = Scratch::new();
    let evil = "$(touch pwned) `touch pwned`; touch pwned";
    let (output, calls) = run_step(
        &scratch,
        "Check the context",
        &[("ARGS", "--now 2026-01-01 *"), ("BASE", evil), ("FORMAT", evil), ("DIRECTORY", "a b")],
    );
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(
        calls,
        format!("<kgctx><check><--format={evil}><--now><2026-01-01><*><--base={evil}>\n")
    );
    assert!(!scratch.path().join("pwned").exists() && !scratch.path().join("a b/pwned").exists());
}

#[test]
fn the_action_compares_with_the_base_of_the_pull_request_and_fails_as_the_check_does() {
    let scratch = Scratch::new();
    let mut environment =
        vec![("ARGS", ""), ("BASE", ""), ("FORMAT", "github"), ("DIRECTORY", ".")];
    let (_, calls) = run_step(&scratch, "Check the context", &environment);
    assert_eq!(calls, "<kgctx><check><--format=github>\n");
    environment.extend([("GITHUB_BASE_REF", "main"), ("KGCTX_EXIT", "1")]);
    let (output, calls) = run_step(&scratch, "Check the context", &environment);
    assert_eq!(calls, "<kgctx><check><--format=github><--base=origin/main>\n");
    assert_eq!(output.status.code(), Some(1));
    environment[0].1 = "--base v1 --now 2026-01-01";
    let (_, calls) = run_step(&scratch, "Check the context", &environment);
    assert_eq!(calls, "<kgctx><check><--format=github><--base><v1><--now><2026-01-01>\n");
}

#[test]
fn the_action_builds_the_version_that_is_asked_for_where_no_release_has_it() {
    let scratch = Scratch::new();
    let mut environment = vec![
        ("VERSION", ""),
        ("ACTION_PATH", "/action"),
        ("ACTION_REF", "v1"),
        ("ACTION_REPOSITORY", "team/kgctx"),
    ];
    let (output, calls) = run_step(&scratch, "Install kgctx", &environment);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(calls.contains("<https://forge.example/team/kgctx/releases/download/v1/kgctx-x86_64-unknown-linux-gnu.tar.gz>"), "{calls}");
    assert!(calls.contains("<--path></action>"), "{calls}");
    environment[0].1 = "v0.1.0";
    let (_, calls) = run_step(&scratch, "Install kgctx", &environment);
    assert!(calls.contains("<--git><https://forge.example/team/kgctx><--tag><v0.1.0>"), "{calls}");
    let path = fs::read_to_string(scratch.path().join("github-path")).unwrap();
    assert!(path.lines().all(|line| line.ends_with("/temp/kgctx/bin")), "{path}");
}

/// The archive has one folder, as `.ci/archive` makes it.
#[test]
fn the_action_takes_the_program_from_the_archive_of_a_release() {
    let scratch = Scratch::new();
    scratch.write("kgctx-x86_64-unknown-linux-gnu/kgctx", "the program");
    scratch.write("kgctx-x86_64-unknown-linux-gnu/man/man1/kgctx.1", "a page");
    let packed = Command::new("tar")
        .args(["-czf", "released.tar.gz", "kgctx-x86_64-unknown-linux-gnu"])
        .current_dir(scratch.path())
        .status();
    assert!(packed.unwrap().success());
    let released = scratch.path().join("released.tar.gz");
    let environment = [
        ("VERSION", "v1"),
        ("ACTION_PATH", "/action"),
        ("ACTION_REF", ""),
        ("ACTION_REPOSITORY", "team/kgctx"),
        ("RELEASED", released.to_str().unwrap()),
    ];
    let (output, calls) = run_step(&scratch, "Install kgctx", &environment);
    assert!(output.status.success() && !calls.contains("<cargo>"), "{}: {calls}", stderr(&output));
    let bin = scratch.path().join("temp/kgctx/bin");
    assert_eq!(fs::read_to_string(bin.join("kgctx")).unwrap(), "the program");
    assert_eq!(fs::read_dir(bin).unwrap().count(), 1);
}

#[test]
fn a_comment_takes_the_place_of_the_one_before() {
    let scratch = Scratch::new();
    scratch.write("temp/.keep", "");
    let mut environment = vec![
        ("ARGS", ""),
        ("BASE", ""),
        ("DIRECTORY", "."),
        ("PULL_REQUEST", "7"),
        ("GITHUB_BASE_REF", "main"),
        ("KGCTX_EXIT", "1"),
        ("HEAD_REPOSITORY", "team/atlas"),
    ];
    let (output, calls) = run_step(&scratch, "Comment on the pull request", &environment);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(calls.contains("<POST><repos/team/atlas/issues/7/comments>"), "{calls}");
    environment.push(("KNOWN_COMMENT", "41"));
    let (_, calls) = run_step(&scratch, "Comment on the pull request", &environment);
    assert!(calls.contains("<PATCH><repos/team/atlas/issues/comments/41>"), "{calls}");
    environment[5].1 = "2";
    let (output, calls) = run_step(&scratch, "Comment on the pull request", &environment);
    assert!(!output.status.success() && !calls.contains("<gh>"), "{calls}");
    // A fork's token may not write, and its deleted repository has no name.
    for fork in ["somebody/atlas", ""] {
        environment[6].1 = fork;
        let (output, calls) = run_step(&scratch, "Comment on the pull request", &environment);
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(calls, "");
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.starts_with("::notice title=kgctx check::No comment"), "{said}");
    }
    // The comment is known by what the report begins with.
    let report = super::reports::nothing();
    let marker = render(&report, ReportFormat::Markdown, &|_, text| text.to_owned())
        .lines()
        .next()
        .unwrap()
        .to_owned();
    assert!(text("action.yml").contains(&format!("startswith(\"{marker}\")")));
}

#[test]
fn the_hook_runs_a_command_that_there_is() {
    let hooks = yaml(".pre-commit-hooks.yaml");
    let hook = &hooks[0];
    assert_eq!(hook["id"], "kgctx-check");
    assert_eq!(hook["pass_filenames"], false);
    assert_eq!(hook["language"], "rust");
    let mut words = hook["entry"].as_str().unwrap().split(' ');
    assert_eq!(words.next(), Some("kgctx"));
    let command: Vec<&str> = words.chain(["--help"]).collect();
    let scratch = Scratch::new();
    let help = scratch.run(&command);
    for option in ["--format", "--base"] {
        assert!(help.contains(option), "action.yml uses {option}");
    }
}

#[test]
fn every_rule_has_a_section_in_the_guide() {
    let guide = text("docs/check-rules.md");
    for rule in Rule::ALL {
        let section = guide.split_once(&format!("\n## {}\n", rule.id()));
        let section =
            section.unwrap_or_else(|| panic!("docs/check-rules.md has no {}", rule.id())).1;
        let section = section.split("\n## ").next().unwrap();
        let severity = match rule.default_severity() {
            Severity::Error => "error",
            Severity::Warn => "warn",
            Severity::Off => "off",
        };
        for part in ["**Why**", "**Example**", "**Fix**", "**Set**"] {
            assert!(section.contains(part), "{} has no {part}", rule.id());
        }
        let default = format!("Default: `{severity}`.");
        assert!(section.contains(&default), "{}: {default}", rule.id());
    }
    assert_eq!(guide.matches("\n## ").count(), Rule::ALL.len());
}
