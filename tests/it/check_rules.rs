//! Every rule of `kgctx check` on a repository that breaks it once, on one that does not, and switched off.
//!
//! `fixtures/check/<rule>/bad` and `good` are what is committed, `base` what was before; `expect.txt` says where the rule is broken. ¦ breaks
//! what a scanner would take for a secret: it is not copied. `unstable-output` has no folder: no files can break it.

use std::fs;
use std::path::{Path, PathBuf};

use kgctx::domain::check::{Rule, Severity};
use serde_json::Value;

use crate::support::{Scratch, git, stderr};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/check")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            let text = fs::read_to_string(entry.path()).unwrap();
            fs::write(to, text.replace('¦', "")).unwrap();
        }
    }
}

/// A repository with a fixture as its last commit, and with `base` as the one before, if there is one.
fn repository(rule: Rule, variant: &str) -> Scratch {
    let scratch = Scratch::new();
    let folder = scratch.path().join("repository");
    let of_rule = fixtures().join(rule.id());
    fs::create_dir(&folder).unwrap();
    git(&folder, &["init", "--quiet"]);
    for state in ["base", variant] {
        if state == "base" && !of_rule.join("base").exists() {
            continue;
        }
        copy(&of_rule.join(state), &folder);
        git(&folder, &["add", "--all"]);
        git(&folder, &["commit", "--quiet", "--allow-empty", "--message", state]);
    }
    scratch
}

/// What a check of the repository finds, as `path:line:column rule`, and whether it failed.
#[track_caller]
fn check(scratch: &Scratch, rule: Rule) -> (Vec<String>, bool) {
    let mut arguments = vec!["check", "--dir", "repository", "--format", "json"];
    if fixtures().join(rule.id()).join("base").exists() {
        arguments.extend(["--base", "HEAD~1"]);
    }
    let output = scratch.kgctx(arguments).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{}: {error}: {}", rule.id(), stderr(&output)));
    let findings = report["findings"].as_array().unwrap().iter();
    let told = findings.map(|finding| {
        let spot = &finding["spot"];
        let path = spot["path"].as_str().unwrap();
        let rule = finding["rule"].as_str().unwrap();
        format!("{path}:{}:{} {rule}", spot["line"], spot["column"])
    });
    (told.collect(), output.status.code() == Some(1))
}

fn rules() -> impl Iterator<Item = Rule> {
    Rule::ALL.into_iter().filter(|rule| *rule != Rule::UnstableOutput)
}

#[test]
fn every_rule_is_told_at_the_right_place_and_nowhere_else() {
    let mut wrong = Vec::new();
    for rule in rules() {
        let expect = fs::read_to_string(fixtures().join(rule.id()).join("expect.txt")).unwrap();
        let expect = (vec![expect.trim().to_owned()], rule.default_severity() == Severity::Error);
        let found = check(&repository(rule, "bad"), rule);
        if found != expect {
            wrong.push(format!("{}: expected {expect:?}, found {found:?}", rule.id()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_repository_that_breaks_no_rule_is_clean() {
    let mut wrong = Vec::new();
    for rule in rules() {
        let (found, fails) = check(&repository(rule, "good"), rule);
        if !found.is_empty() || fails {
            wrong.push(format!("{}: {found:?}", rule.id()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_rule_that_is_switched_off_is_silent_and_no_other_is() {
    let mut wrong = Vec::new();
    for rule in rules() {
        // Another rule is broken beside it, and must still be told.
        let other = if rule == Rule::DanglingLink { Rule::Secret } else { Rule::DanglingLink };
        let scratch = repository(rule, "bad");
        let folder = scratch.path().join("repository");
        copy(&fixtures().join(other.id()).join("bad/docs"), &folder.join("docs/other"));
        let (before, _) = check(&scratch, rule);
        let settings = folder.join("kgctx.toml");
        let text = fs::read_to_string(&settings).unwrap_or_default();
        fs::write(&settings, format!("{text}\n[check.rules]\n{} = \"off\"\n", rule.id())).unwrap();
        let (after, _) = check(&scratch, rule);
        let ending = format!(" {}", rule.id());
        let others: Vec<String> =
            before.iter().filter(|told| !told.ends_with(&ending)).cloned().collect();
        if before.len() == others.len() || after != others || others.is_empty() {
            wrong.push(format!("{}: {before:?} became {after:?}", rule.id()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_rule_has_its_fixtures() {
    for rule in rules() {
        let of_rule = fixtures().join(rule.id());
        for part in ["bad", "good", "expect.txt"] {
            assert!(of_rule.join(part).exists(), "{}/{part}", rule.id());
        }
        let expect = fs::read_to_string(of_rule.join("expect.txt")).unwrap();
        let (place, id) = expect.trim().split_once(' ').unwrap();
        assert_eq!(id, rule.id());
        let path = place.split(':').next().unwrap();
        assert!(of_rule.join("bad").join(path).exists(), "{expect}");
    }
    for entry in fs::read_dir(fixtures()).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        assert!(Rule::parse(&name).is_some(), "{name} is no rule");
    }
}
