//! What is in the repository without being a plain file of the checkout.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::Value;

use super::{DAY, Lab};
use crate::support::git;

fn missing(report: &Value) -> Vec<String> {
    let rules = ["dangling-link", "handoff-missing-file", "stale-note"];
    let findings = report["findings"].as_array().unwrap().iter();
    let findings = findings.filter(|finding| rules.contains(&finding["rule"].as_str().unwrap()));
    findings.map(|finding| finding["message"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn links_lead_to_what_is_behind_them() {
    let lab = Lab::with_notes();
    lab.write("AGENTS.md", "Be kind.\n");
    lab.write("docs/v2/guide.md", "# Guide\n\nOf [[atlas]].\n");
    symlink("AGENTS.md", lab.top().join("CLAUDE.md")).unwrap();
    symlink("v2", lab.top().join("docs/latest")).unwrap();
    lab.write(
        "docs/map.md",
        "# Map\n\nThe [[atlas]]: [a](../CLAUDE.md), [b](latest), [c](latest/guide.md), [d](latest/gone.md), `docs/latest/guide.md`.\n",
    );
    lab.write(
        ".kgctx/handoffs/HO-20260528-120000-aaaa.md",
        "---\nid: HO-20260528-120000-aaaa\ntype: manual\nfiles: [docs/latest/guide.md, CLAUDE.md]\n---\n\n## Goal\n\nMend it.\n",
    );
    for is_committed in [false, true] {
        if is_committed {
            lab.commit("links", 3 * DAY);
        }
        assert_eq!(missing(&lab.check(&[]).1), ["latest/gone.md is not in the repository"]);
    }
    fs::remove_dir_all(lab.top().join(".git")).unwrap();
    assert_eq!(missing(&lab.check(&[]).1), ["latest/gone.md is not in the repository"]);
    fs::remove_file(lab.top().join("docs/latest")).unwrap();
    assert!(missing(&lab.check(&[]).1).len() > 3, "what is deleted is not there");
}

#[test]
fn what_is_in_a_submodule_is_taken_to_be_there() {
    let lab = Lab::with_notes();
    lab.write("docs/map.md", "# Map\n\nThe [[atlas]]: [a](../lib/other), [b](../lib/other/src/x.rs), [c](../lib/gone.rs).\n");
    git(&lab.top(), &["add", "--all"]);
    let commit = "1234567890123456789012345678901234567890";
    git(
        &lab.top(),
        &["update-index", "--add", "--cacheinfo", &format!("160000,{commit},lib/other")],
    );
    for is_checked_out in [false, true] {
        fs::create_dir_all(lab.top().join("lib/other")).unwrap();
        if is_checked_out {
            git(&lab.top().join("lib/other"), &["init", "-q"]);
        }
        assert_eq!(missing(&lab.check(&[]).1), ["../lib/gone.rs is not in the repository"]);
    }
}

#[test]
fn what_is_not_checked_out_is_there() {
    let lab = Lab::with_notes();
    lab.write("src/far/away.rs", "");
    lab.write(
        "docs/map.md",
        "# Map\n\nThe [[atlas]]: [a](../src/far/away.rs), [b](../src/far), `src/far/away.rs`.\n",
    );
    lab.commit("a file", 3 * DAY);
    git(&lab.top(), &["sparse-checkout", "set", "--no-cone", "/*", "!/src/"]);
    assert!(!lab.top().join("src/far/away.rs").exists());
    let (_, report) = lab.check(&[]);
    assert_eq!(missing(&report), [""; 0]);
    assert!(!report["remarks"].to_string().contains("sparse"), "no note is away: {report:#}");
    git(
        &lab.top(),
        &["sparse-checkout", "set", "--no-cone", "/*", "!/src/", "!/.kgctx/memory/atlas.md"],
    );
    let (_, report) = lab.check(&[]);
    assert!(report["remarks"].to_string().contains("does not check 1 file outside"), "{report:#}");
    git(&lab.top(), &["sparse-checkout", "disable"]);
    fs::remove_file(lab.top().join("src/far/away.rs")).unwrap();
    assert_eq!(missing(&lab.check(&[]).1).len(), 2, "deleted, and not only away");
}
