//! Every rule of `kgctx check` on a repository that breaks it once, on one that does not, and switched off.
//!
//! `fixtures/check/<rule>/bad` and `good` are what is committed, `base` what was before, `meanwhile` what somebody writes while `bad` is
//! checked; `expect.txt` says where the rule is broken. ¦ breaks what a scanner would take for a secret: it is not copied.

use std::fs;
use std::path::{Path, PathBuf};

use kgctx::check::finding::{Rule, Severity};
use serde_json::Value;

use crate::support::{Scratch, git, output_meanwhile, stderr};

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
struct Repository {
    scratch: Scratch,
    rule: Rule,
    variant: &'static str,
}

impl Repository {
    fn new(rule: Rule, variant: &'static str) -> Repository {
        let repository = Repository { scratch: Scratch::new(), rule, variant };
        let top = repository.top();
        fs::create_dir(&top).unwrap();
        git(&top, &["init", "--quiet"]);
        for state in ["base", variant].map(|state| repository.fixture(state)) {
            if state.exists() {
                copy(&state, &top);
                git(&top, &["add", "--all"]);
                git(&top, &["commit", "--quiet", "--allow-empty", "--message", "a state"]);
            }
        }
        repository
    }

    fn fixture(&self, part: &str) -> PathBuf {
        fixtures().join(self.rule.id()).join(part)
    }

    fn top(&self) -> PathBuf {
        self.scratch.path().join("repository")
    }

    /// What a check finds, as `path:line:column rule`, and whether it failed.
    #[track_caller]
    fn check(&self) -> (Vec<String>, bool) {
        let mut command = self.scratch.kgctx(["check", "--dir", "repository", "--format", "json"]);
        if self.fixture("base").exists() {
            command.args(["--base", "HEAD~1"]);
        }
        let meanwhile = self.fixture("meanwhile");
        let output = if self.variant == "bad" && meanwhile.exists() {
            copy(&self.fixture("bad"), &self.top());
            output_meanwhile(command, "check:again", || copy(&meanwhile, &self.top()))
        } else {
            command.output().unwrap()
        };
        let report: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{}: {error}: {}", self.rule.id(), stderr(&output)));
        let findings = report["findings"].as_array().unwrap().iter();
        let told = findings.map(|finding| {
            let spot = &finding["spot"];
            let path = spot["path"].as_str().unwrap();
            let rule = finding["rule"].as_str().unwrap();
            format!("{path}:{}:{} {rule}", spot["line"], spot["column"])
        });
        (told.collect(), output.status.code() == Some(1))
    }
}

#[test]
fn every_rule_is_told_at_the_right_place_and_nowhere_else() {
    let mut wrong = Vec::new();
    for rule in Rule::ALL {
        let expect = fs::read_to_string(fixtures().join(rule.id()).join("expect.txt")).unwrap();
        let expect = (vec![expect.trim().to_owned()], rule.default_severity() == Severity::Error);
        let found = Repository::new(rule, "bad").check();
        if found != expect {
            wrong.push(format!("{}: expected {expect:?}, found {found:?}", rule.id()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_repository_that_breaks_no_rule_is_clean() {
    let mut wrong = Vec::new();
    for rule in Rule::ALL {
        let (found, fails) = Repository::new(rule, "good").check();
        if !found.is_empty() || fails {
            wrong.push(format!("{}: {found:?}", rule.id()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_rule_that_is_switched_off_is_silent_and_no_other_is() {
    let mut wrong = Vec::new();
    for rule in Rule::ALL {
        // Another rule is broken beside it, and must still be told.
        let other = if rule == Rule::DanglingLink { Rule::Secret } else { Rule::DanglingLink };
        let repository = Repository::new(rule, "bad");
        let folder = repository.top();
        copy(&fixtures().join(other.id()).join("bad/docs"), &folder.join("docs/other"));
        let (before, _) = repository.check();
        let settings = folder.join("kgctx.toml");
        let text = fs::read_to_string(&settings).unwrap_or_default();
        fs::write(&settings, format!("{text}\n[check.rules]\n{} = \"off\"\n", rule.id())).unwrap();
        let (after, _) = repository.check();
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
    for rule in Rule::ALL {
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
        assert!(Rule::ALL.iter().any(|rule| rule.id() == name), "{name} is no rule");
    }
}
