//! What a change adds and pushes out, against a revision and against what was agreed on.

use std::fs;

use super::{DAY, Lab, findings, names, remarks};
use crate::support::git;

const BASELINE: &str = ".kgctx/check.json";

/// A repository in which a branch adds notes.
fn branched() -> Lab {
    let lab = Lab::with_notes();
    lab.write("AGENTS.md", "Be kind.\n");
    lab.write(
        "kgctx.toml",
        "[check]\ngrowth_tokens = 20\n\n[[check.session]]\nname = \"a\"\nbudget = 400\n",
    );
    lab.commit("settings", 2 * DAY + 1);
    git(&lab.top(), &["switch", "-q", "-c", "change"]);
    lab
}

#[test]
fn what_a_branch_adds_is_compared_with_where_it_left_the_base() {
    let lab = branched();
    let (code, report) = lab.check(&["--base", "main"]);
    assert_eq!((code, &report["base"]), (0, &"main".into()));
    let growth = &report["sessions"][0]["growth"];
    assert_eq!(growth["tokensBefore"], report["sessions"][0]["used"]["tokens"]);
    for what in ["added", "removed", "pushedOut"] {
        assert_eq!(growth[what], serde_json::json!([]), "{what}");
    }
    lab.note("tides", "The [[tides]] and the [[moon]] have much to do with [[atlas]].");
    lab.write("AGENTS.md", "Be kind, and be brief.\n");
    fs::remove_file(lab.top().join(".kgctx/memory/renderer.md")).unwrap();
    lab.commit("tides", 2 * DAY + 60);
    // What happens on the base meanwhile is no matter of the change's.
    git(&lab.top(), &["switch", "-q", "main"]);
    lab.note("elsewhere", "Somebody else wrote about [[atlas]] and [[elsewhere]].");
    lab.commit("elsewhere", 2 * DAY + 90);
    git(&lab.top(), &["switch", "-q", "change"]);
    let (code, report) = lab.check(&["--base", "main"]);
    let session = &report["sessions"][0];
    let growth = &session["growth"];
    assert_eq!(code, 1, "{report:#}");
    assert!(names(&growth["added"], "recent").contains(&"memory://project/tides".to_owned()));
    assert!(
        !names(&growth["removed"], "recent").contains(&"memory://project/elsewhere".to_owned())
    );
    assert!(
        names(&growth["removed"], "concepts").contains(&"vector-data".to_owned()),
        "{report:#}"
    );
    let statics = report["staticFiles"].as_array().unwrap();
    let agents = statics.iter().find(|file| file["path"] == "AGENTS.md").unwrap();
    assert!(agents["tokens"].as_u64() > agents["tokens_before"].as_u64(), "{report:#}");
    insta::assert_snapshot!(findings(&report).join("\n"), @r#"kgctx.toml:2:1 budget-growth: in the session a, the context grows by 64 tokens, and 20 are agreed on; added: atlas, moon, tides, memory://project/tides"#);
}

#[test]
fn entries_for_which_there_is_no_room_any_more_are_pushed_out() {
    let lab = branched();
    let (_, before) = lab.check(&[]);
    let shown = names(&before["sessions"][0]["shown"], "concepts");
    let mut links = String::new();
    for n in 0..30 {
        links += &format!("[[something new {n}]] ");
    }
    for name in ["one", "two", "three"] {
        lab.note(name, &format!("About [[atlas]] there is {links}."));
    }
    lab.commit("much", 2 * DAY + 60);
    let (_, report) = lab.check(&["--base", "main"]);
    let session = &report["sessions"][0];
    let pushed_out = names(&session["growth"]["pushedOut"], "concepts");
    assert!(!pushed_out.is_empty(), "{report:#}");
    for name in &pushed_out {
        assert!(shown.contains(name), "{name} was there");
        assert!(names(&session["omitted"], "concepts").contains(name), "{name} is a candidate");
    }
    assert!(session["wanted"].as_u64() > session["used"]["tokens"].as_u64());
}

#[test]
fn the_base_is_checked_as_a_fresh_checkout_of_it_would_be() {
    let lab = branched();
    let (_, alone) = lab.check(&["--now", "2026-06-01"]);
    lab.note("tides", "The [[tides]] and the [[moon]] have to do with [[atlas]].");
    lab.note("renderer", "The [[renderer]] of atlas is another one.");
    fs::remove_file(lab.top().join(".kgctx/memory/tile-cache.md")).unwrap();
    lab.commit("changes", 2 * DAY + 60);
    // What is not committed belongs to the change.
    lab.note("fresh", "About [[atlas]].");
    let (_, report) = lab.check(&["--now", "2026-06-01", "--base", "HEAD~1"]);
    let growth = &report["sessions"][0]["growth"];
    assert_eq!(growth["tokensBefore"], alone["sessions"][0]["used"]["tokens"]);
    assert_eq!(growth["partsBefore"], alone["sessions"][0]["parts"]);
}

#[test]
fn without_a_base_the_committed_baseline_counts() {
    let lab = branched();
    let (_, report) = lab.check(&[]);
    assert_eq!((&report["base"], &report["sessions"][0]["growth"]), (&().into(), &().into()));
    let (_, report) = lab.check(&["--update-baseline"]);
    assert_eq!(remarks(&report), ["the baseline .kgctx/check.json is written"]);
    let written = fs::read_to_string(lab.top().join(BASELINE)).unwrap();
    insta::assert_snapshot!(written, @r#"
    {
      "version": 1,
      "sessions": {
        "a": {
          "tokens": 233,
          "parts": {
            "concepts": 81,
            "frame": 81,
            "graph": 50,
            "recent": 21
          },
          "shown": {
            "concepts": [
              "renderer",
              "tile-cache",
              "vector-data",
              "zoom-level"
            ],
            "graph": [
              "renderer",
              "tile-cache",
              "vector-data",
              "zoom-level"
            ],
            "recent": [
              "memory://project/tile-cache"
            ]
          }
        }
      },
      "staticFiles": {
        "AGENTS.md": 3
      }
    }
    "#);
    let (_, report) = lab.check(&["--update-baseline"]);
    assert_eq!(remarks(&report), ["the baseline .kgctx/check.json was up to date"]);
    assert_eq!(fs::read_to_string(lab.top().join(BASELINE)).unwrap(), written);
    let (code, report) = lab.check(&[]);
    assert_eq!((code, &report["base"]), (0, &BASELINE.into()));
    assert_eq!(report["sessions"][0]["growth"]["added"], serde_json::json!([]));
    lab.note("tides", "The [[tides]] and the [[moon]] have much to do with [[atlas]].");
    let (code, report) = lab.check(&[]);
    assert_eq!(code, 1);
    assert_eq!(findings(&report).len(), 1, "{report:#}");
    assert!(findings(&report)[0].starts_with("kgctx.toml:2:1 budget-growth: in the session a, "));
    lab.check(&["--update-baseline"]);
    assert_eq!(lab.check(&[]).0, 0, "what is agreed on is fine");
}

#[test]
fn growth_without_settings_is_reported_at_the_file_that_grew_most() {
    let lab = Lab::with_notes();
    lab.check(&["--update-baseline"]);
    let words: String = (0..60).map(|n| format!("[[quite a long name number {n}]] ")).collect();
    lab.note("renderer", &format!("The [[renderer]] of atlas and {words}."));
    let (code, report) = lab.check(&[]);
    assert_eq!(code, 1);
    let found = findings(&report);
    assert_eq!(found.len(), 4, "one per host");
    for finding in found {
        assert!(finding.starts_with(".kgctx/memory/renderer.md:1:1 budget-growth: "), "{finding}");
    }
}

#[test]
fn a_baseline_that_is_none_is_refused() {
    let lab = branched();
    lab.write(BASELINE, "{}");
    let (code, said) = lab.refused(&[]);
    assert_eq!(code, 2);
    insta::assert_snapshot!(said, @r#"kgctx: .kgctx/check.json: missing field `version` at line 1 column 2; delete it, and `kgctx check --update-baseline` writes it anew"#);
    assert_eq!(lab.refused(&["--update-baseline"]).0, 2);
    std::fs::remove_file(lab.top().join(BASELINE)).unwrap();
    assert_eq!(lab.check(&["--update-baseline"]).0, 0);
    assert_eq!(lab.check(&[]).0, 0);
}
