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
        "rank = \"frequency\"\n[check]\ngrowth_tokens = 20\n\n[[check.session]]\nname = \"a\"\nbudget = 400\n",
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
    assert!(
        agents["tokens"].as_u64().unwrap() > agents["tokensBefore"].as_u64().unwrap(),
        "{report:#}"
    );
    insta::assert_snapshot!(findings(&report).join("\n"), @r#".kgctx/memory/tides.md:1:1 budget-growth: in the session a, the context grows by 64 tokens, and the limit is 20; added: atlas, moon, tides, memory://project/tides; pushed out: renderer"#);
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
          "tokens": 267,
          "parts": {
            "concepts": 81,
            "frame": 81,
            "graph": 50,
            "recent": 55
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
              "memory://project/atlas",
              "memory://project/renderer",
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
    assert!(
        findings(&report)[0]
            .starts_with(".kgctx/memory/tides.md:1:1 budget-growth: in the session a, ")
    );
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
    let [found] = &findings(&report)[..] else { panic!("one for all hosts: {report:#}") };
    let begin = ".kgctx/memory/renderer.md:1:1 budget-growth: in the sessions plain, opencode, claude-code and codex, ";
    assert!(found.starts_with(begin), "{found}");
}

#[test]
fn a_baseline_that_is_none_is_refused() {
    let lab = branched();
    lab.write(BASELINE, "{}");
    let (code, said) = lab.refused(&[]);
    assert_eq!(code, 2);
    insta::assert_snapshot!(said, @r#"kgctx: .kgctx/check.json: missing field `version` at line 1 column 2; delete it, and run `kgctx check --update-baseline` to write a new one"#);
    assert_eq!(lab.refused(&["--update-baseline"]).0, 2);
    std::fs::remove_file(lab.top().join(BASELINE)).unwrap();
    assert_eq!(lab.check(&["--update-baseline"]).0, 0);
    assert_eq!(lab.check(&[]).0, 0);
}

#[test]
fn a_note_that_loses_its_place_to_newer_ones_is_pushed_out_and_not_removed() {
    let lab = branched();
    for n in 0..12 {
        lab.note(&format!("old-{n:02}"), &format!("The [[atlas]] has [[page {n:02}]]."));
    }
    lab.commit("old notes", 2 * DAY + 2);
    git(&lab.top(), &["branch", "-f", "main"]);
    for n in 0..12 {
        lab.note(&format!("new-{n:02}"), &format!("The [[atlas]] has [[chapter {n:02}]]."));
    }
    fs::remove_file(lab.top().join(".kgctx/memory/old-11.md")).unwrap();
    lab.commit("new notes", 2 * DAY + 60);
    let (_, report) = lab.check(&["--base", "main"]);
    let growth = &report["sessions"][0]["growth"];
    let removed = names(&growth["removed"], "recent");
    let pushed_out = names(&growth["pushedOut"], "recent");
    assert_eq!(removed, ["memory://project/old-11"], "{report:#}");
    assert!(pushed_out.contains(&"memory://project/old-10".to_owned()), "{report:#}");
    for part in ["concepts", "graph"] {
        for name in names(&growth["removed"], part) {
            assert_eq!(name, "page-11", "{report:#}");
        }
    }
}

#[test]
fn a_typing_error_mended_in_quiet_notes_is_no_growth() {
    let lab = branched();
    for n in 0..8 {
        lab.note(&format!("quiet-{n}"), &format!("This is teh page number {n} of nothing."));
    }
    lab.commit("notes", 2 * DAY + 2);
    lab.check(&["--update-baseline"]);
    lab.commit("what is agreed on", 2 * DAY + 3);
    git(&lab.top(), &["branch", "-f", "main"]);
    for n in 0..8 {
        lab.note(&format!("quiet-{n}"), &format!("This is the page number {n} of nothing."));
    }
    lab.commit("a typing error", 100 * DAY);
    for arguments in [&["--base", "main"][..], &[]] {
        let (code, report) = lab.check(arguments);
        assert_eq!((code, findings(&report)), (0, Vec::new()), "{report:#}");
        let (growth, used) = (&report["sessions"][0]["growth"], &report["sessions"][0]["used"]);
        assert_eq!(
            (&growth["tokensBefore"], &growth["added"]),
            (&used["tokens"], &serde_json::json!([]))
        );
    }
}

#[test]
fn time_alone_changes_no_baseline() {
    let lab = branched();
    lab.check(&["--update-baseline"]);
    lab.commit("what is agreed on", 2 * DAY + 3);
    lab.write("src/main.rs", "fn main() {}\n");
    lab.commit("code", 100 * DAY);
    let (_, report) = lab.check(&["--update-baseline"]);
    assert_eq!(remarks(&report), ["the baseline .kgctx/check.json was up to date"]);
}

#[test]
fn against_a_baseline_growth_is_reported_at_what_is_newer() {
    let lab = branched();
    lab.note("large", &format!("The [[large]] note has {}.", "many words ".repeat(200)));
    lab.commit("a large note", 2 * DAY + 2);
    lab.check(&["--update-baseline"]);
    lab.commit("what is agreed on", 2 * DAY + 3);
    let words: String = (0..20).map(|n| format!("[[long name number {n}]] ")).collect();
    lab.note("small", &format!("About [[atlas]] and {words}."));
    for is_committed in [false, true] {
        if is_committed {
            lab.commit("a small note", 2 * DAY + 60);
        }
        let (code, report) = lab.check(&[]);
        assert_eq!(code, 1, "{report:#}");
        let found = findings(&report);
        assert!(found[0].starts_with(".kgctx/memory/small.md:1:1 budget-growth: "), "{found:?}");
    }
}

#[test]
fn notes_that_reach_nobody_are_remarked_upon() {
    let lab = Lab::new();
    lab.write("kgctx.toml", "rank = \"frequency\"\n");
    lab.note("quiet", "Nothing here.");
    lab.commit("a note", 0);
    lab.write("src/main.rs", "fn main() {}\n");
    lab.commit("code", 100 * DAY);
    let (_, report) = lab.check(&[]);
    assert_eq!(report["sessions"][0]["used"]["tokens"], 0, "{report:#}");
    assert!(remarks(&report)[0].starts_with("no session gets any of the 1 notes: "), "{report:#}");
}

#[test]
fn a_static_file_that_is_gone_is_in_the_table() {
    let lab = branched();
    fs::remove_file(lab.top().join("AGENTS.md")).unwrap();
    lab.commit("no more kindness", 2 * DAY + 60);
    let (_, report) = lab.check(&["--base", "main"]);
    let [agents] = &report["staticFiles"].as_array().unwrap()[..] else { panic!("{report:#}") };
    assert_eq!((&agents["path"], &agents["tokens"]), (&"AGENTS.md".into(), &0.into()));
    assert_eq!((&agents["tokensBefore"], &agents["limit"]), (&3.into(), &().into()));
}

#[test]
fn a_baseline_is_not_renewed_against_a_revision() {
    let lab = branched();
    lab.check(&["--update-baseline"]);
    let agreed = fs::read_to_string(lab.top().join(BASELINE)).unwrap();
    let (code, said) = lab.refused(&["--update-baseline", "--base", "main"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("cannot be used with"), "{said}");
    assert_eq!(fs::read_to_string(lab.top().join(BASELINE)).unwrap(), agreed);
}

#[test]
fn what_is_moved_is_no_growth() {
    let lab = branched();
    for n in 0..8 {
        let text = format!("Page {n} is about [[topic {n}]] and what it has to do with maps.");
        lab.note(&format!("old/page-{n}"), &text);
    }
    lab.commit("pages", 2 * DAY + 2);
    git(&lab.top(), &["branch", "-f", "main"]);
    git(&lab.top(), &["mv", ".kgctx/memory/old", ".kgctx/memory/new"]);
    // One of them is changed a little on the way.
    let text = "Page 0 is about [[topic 0]] and what it has to do with charts.";
    lab.note("new/page-0", text);
    lab.commit("moved", 100 * DAY);
    let (code, report) = lab.check(&["--base", "main"]);
    assert_eq!((code, findings(&report)), (0, Vec::new()), "{report:#}");
    let session = &report["sessions"][0];
    let before = session["growth"]["tokensBefore"].as_i64().unwrap();
    let now = session["used"]["tokens"].as_i64().unwrap();
    assert!(before > 300 && (now - before).abs() <= 2, "{before} {now}");
}

#[test]
fn the_way_out_is_one_that_helps() {
    let lab = branched();
    lab.check(&["--update-baseline"]);
    lab.note("tides", "The [[tides]] and the [[moon]] have much to do with [[atlas]].");
    let hint = |arguments: &[&str]| {
        let (_, report) = lab.check(arguments);
        let findings = report["findings"].as_array().unwrap();
        let growth = findings.iter().find(|finding| finding["rule"] == "budget-growth").unwrap();
        growth["hint"].as_str().unwrap().to_owned()
    };
    assert!(hint(&[]).contains("--update-baseline"));
    assert!(!hint(&["--base", "main"]).contains("--update-baseline"));
}

#[test]
fn a_session_that_was_never_agreed_on_is_remarked_upon() {
    let lab = branched();
    lab.check(&["--update-baseline"]);
    lab.write("kgctx.toml", "rank = \"frequency\"\n\n[[check.session]]\nname = \"a\"\n\n[[check.session]]\nname = \"b\"\n");
    let (_, report) = lab.check(&[]);
    insta::assert_snapshot!(remarks(&report).join("\n"), @"the baseline does not have the session b, so kgctx does not check its growth; `kgctx check --update-baseline` adds it");
    assert_eq!(remarks(&lab.check(&["--base", "main"]).1), [""; 0]);
}

#[test]
fn what_static_files_import_counts_in_both_versions() {
    let lab = branched();
    lab.write("AGENTS.md", "Be kind. Read @style/rules.txt and @style/old.txt.\n");
    lab.write("style/rules.txt", "Short lines. See @more.txt\n");
    lab.write("style/more.txt", "Word after word after word.\n");
    lab.write("style/old.txt", "What was agreed on long ago, in many words.\n");
    lab.commit("style", 2 * DAY + 2);
    let tokens = |report: &serde_json::Value| report["staticFiles"][0]["tokens"].as_u64().unwrap();
    let before = tokens(&lab.check(&[]).1);
    assert!(before > 30, "{before}");
    git(&lab.top(), &["branch", "-f", "main"]);
    lab.write("style/more.txt", "Word after word after word, and then some more of them.\n");
    fs::remove_file(lab.top().join("style/old.txt")).unwrap();
    lab.commit("another style", 2 * DAY + 60);
    let (_, report) = lab.check(&["--base", "main"]);
    let agents = &report["staticFiles"][0];
    assert_eq!(agents["tokensBefore"].as_u64(), Some(before), "{report:#}");
    assert_ne!(tokens(&report), before);
    assert_eq!(tokens(&report), tokens(&lab.check(&[]).1));
}
