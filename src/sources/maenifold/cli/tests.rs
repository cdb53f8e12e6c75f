//! Tests with small scripts that play maenifold's program, and with notes where it would store them.

#![expect(clippy::disallowed_methods, reason = "a test writes its own notes and scripts")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Command;
use std::time::SystemTime;

use tempfile::TempDir;

use super::*;
use crate::core::context::rank::Ranking;
use crate::system::environment::Environment;

/// The time of the tests, in seconds since 1970.
const NOW: u64 = 1_771_600_000;

/// A maenifold root, with a script that answers in place of maenifold.
struct Lab {
    folder: TempDir,
}

impl Lab {
    /// Each tool prints the file of its name.
    fn new() -> Lab {
        let lab = Lab { folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(lab.path("memory")).unwrap();
        fs::create_dir_all(lab.path("assets")).unwrap();
        fs::write(lab.path("assets/model.onnx"), "").unwrap();
        lab.plays("");
        lab
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Changes what the script does before it answers.
    fn plays(&self, before: &str) {
        let script = format!(
            "#!/bin/sh\nd=$(dirname \"$0\")\necho \"$2 $4\" >> $d/calls\n{before}\ncat $d/$2 2>/dev/null\nexit 0\n"
        );
        fs::write(self.path("script"), script).unwrap();
        fs::set_permissions(self.path("script"), fs::Permissions::from_mode(0o755)).unwrap();
        // A separate process copies the file: a file that one of our processes holds open for writing cannot be
        // executed.
        let _ = fs::remove_file(self.path("maenifold"));
        let mut copy = Command::new("/bin/cp");
        copy.arg("-p").arg(self.path("script")).arg(self.path("maenifold"));
        assert!(copy.status().unwrap().success());
    }

    fn says(&self, tool: Tool, said: &str) {
        fs::write(self.path(tool.name()), said).unwrap();
    }

    fn note(&self, path: &str, text: &str, seconds_ago: u64) {
        let path = self.path("memory").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(NOW - seconds_ago);
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    }

    fn cli(&self) -> Cli {
        self.cli_within(Duration::from_secs(20))
    }

    fn cli_within(&self, timeout: Duration) -> Cli {
        let variable = |name: &str, path: &str| (name.into(), self.path(path).into_os_string());
        let environment: Environment =
            [variable("KGCTX_MAENIFOLD_BIN", "maenifold"), variable("MAENIFOLD_ROOT", "")]
                .into_iter()
                .collect();
        Cli {
            asker: Asker {
                program: Program::find(&environment).unwrap(),
                timeout,
                until: Instant::now() + Duration::from_secs(60),
            },
            places: Places::locate(&environment).unwrap(),
            ranking: Ranking::Frequency,
            max_file_bytes: 1_000_000,
            notes: OnceLock::new(),
            early: Mutex::default(),
        }
    }

    fn calls(&self) -> Vec<String> {
        let calls = fs::read_to_string(self.path("calls")).unwrap_or_default();
        calls.lines().map(str::to_owned).collect()
    }
}

fn now() -> Timestamp {
    Timestamp::from_seconds(NOW as i64)
}

fn concepts(note: &FoundNote) -> String {
    note.concepts.iter().map(Concept::as_str).collect::<Vec<_>>().join(" ")
}

fn found_concept(name: &str) -> FoundConcept {
    FoundConcept { concept: Concept::parse(name).unwrap(), signals: Vec::new() }
}

/// The output of a search with `--json`, from addresses and text scores.
fn search_reply(notes: &[(&str, f64)]) -> String {
    let results: Vec<Value> = notes
        .iter()
        .map(|(path, score)| {
            json!({ "title": "told", "path": format!("memory://{path}"), "fusedScore": 0.03, "textScore": score,
                "semanticScore": 1, "snippet": "cut]] [[shown]] [[cu" })
        })
        .collect();
    let data = json!({ "mode": "Hybrid", "results": results });
    json!({ "success": true, "data": data, "error": null }).to_string()
}

#[test]
fn a_search_asks_for_the_project_and_takes_concepts_from_the_files() {
    let lab = Lab::new();
    lab.note("tech/auth.md", "# Auth\n\nOf [[B]], [[A]] and [[A]]. More.\n", 10);
    lab.note("atlas.md", "---\ntitle: Overview\n---\nThe [[map]].\n", 20);
    lab.note("other.md", "# Atlas\n\n[[password=hunter2xyz9]] [[c]]\n", 30);
    lab.note("akin.md", "[[d]]", 40);
    let found = [("tech/auth", 0.02), ("akin", 0.0), ("atlas", 0.01), ("other", 0.01)];
    lab.says(Tool::SearchMemories, &search_reply(&found));
    let notes = lab.cli().notes_about("Atlas", SEARCHED).unwrap();
    let shown: Vec<_> = notes
        .iter()
        .map(|note| format!("{} {} {:?} {}", note.uri, note.title, note.signal, concepts(note)))
        .collect();
    assert_eq!(
        shown,
        [
            "memory://tech/auth Auth Search { place: 1, matched: Text } a b",
            "memory://atlas Overview Search { place: 2, matched: File } map",
            "memory://other Atlas Search { place: 3, matched: Title } c",
        ]
    );
    assert_eq!(notes[0].excerpt, "Of [[B]], [[A]] and [[A]].");
    assert_eq!(notes[0].modified, Timestamp::from_seconds(NOW as i64 - 10));
    let call = r#"SearchMemories {"mode":"Hybrid","pageSize":50,"query":"Atlas"}"#;
    assert_eq!(lab.calls(), [call]);
    assert_eq!(lab.cli().notes_about(" ", SEARCHED), Ok(Vec::new()));
    assert_eq!(lab.calls().len(), 1);
}

#[test]
fn the_best_five_are_enough() {
    let lab = Lab::new();
    let names: Vec<String> = (0..8).map(|n| format!("n{n}")).collect();
    for name in &names[1..] {
        lab.note(&format!("{name}.md"), "[[a]]", 10);
    }
    let told: Vec<(&str, f64)> = names.iter().map(|name| (name.as_str(), 0.01)).collect();
    lab.says(Tool::SearchMemories, &search_reply(&told));
    let notes = lab.cli().notes_about("x", SEARCHED).unwrap();
    let uris: Vec<&str> = notes.iter().map(|note| note.uri.as_str()).collect();
    // The file of the first note does not exist.
    assert_eq!(uris, ["memory://n1", "memory://n2", "memory://n3", "memory://n4", "memory://n5"]);
}

#[test]
fn no_address_leads_out_of_the_memory() {
    let lab = Lab::new();
    fs::write(lab.path("outside.md"), "[[outside]]").unwrap();
    symlink(lab.path("outside.md"), lab.path("memory/link.md")).unwrap();
    symlink(lab.folder.path(), lab.path("memory/folder")).unwrap();
    lab.note(".hidden/a.md", "[[hidden]]", 10);
    lab.note("huge.md", &"[[huge]] ".repeat(200_000), 10);
    lab.note("in.md", "[[in]]", 10);
    let odd =
        ["../outside", "link", "folder/outside", ".hidden/a", "huge", "/etc/passwd", "", "in"];
    lab.says(Tool::SearchMemories, &search_reply(&odd.map(|path| (path, 0.01))));
    let notes = lab.cli().notes_about("x", SEARCHED).unwrap();
    assert_eq!(notes.iter().map(concepts).collect::<Vec<_>>(), ["in"]);
}

#[test]
fn where_the_files_are_somewhere_else_the_answer_stands() {
    let lab = Lab::new();
    fs::remove_dir(lab.path("memory")).unwrap();
    lab.says(Tool::SearchMemories, &search_reply(&[("a", 0.01)]));
    let notes = lab.cli().notes_about("x", SEARCHED).unwrap();
    assert_eq!((notes[0].title.as_str(), concepts(&notes[0])), ("told", "shown".to_owned()));
}

#[test]
fn an_answer_that_tells_everything_needs_no_file() {
    let lab = Lab::new();
    lab.note("b.md", "# B\n\nIn the file: [[file]].", 10);
    lab.says(
        Tool::SearchMemories,
        r#"{"results":[{"uri":"memory://a","title":"A","score":0.85,"concepts":["One","Two"]},
            {"uri":"memory://b","title":"B","score":0.8,"concepts":["Three"]}]}"#,
    );
    lab.says(
        Tool::RecentActivity,
        r#"{"items":[{"uri":"memory://a","title":"A","modified":"2026-02-20T15:00:00Z","concepts":["One"]},
            {"uri":"memory://gone","title":"Gone","modified":"2026-02-20T15:00:00Z"}]}"#,
    );
    let (searched, recent) = lab.cli().search_and_recent(Some("x"), Some(now()));
    let searched = searched.unwrap();
    assert_eq!(searched.iter().map(concepts).collect::<Vec<_>>(), ["one two", "three"]);
    assert_eq!(searched[1].excerpt, "In the file: [[file]].");
    let recent = recent.unwrap();
    assert_eq!(recent.iter().map(concepts).collect::<Vec<_>>(), ["one"]);
}

/// The output of RecentActivity, from stems and titles.
fn recent_reply(notes: &[(&str, &str)]) -> String {
    let blocks = notes.iter().map(|(stem, title)| {
        format!(
            "**{stem}** (memory)\n  Modified: 2026-02-20 14:04\n  Title: {title}\n  Sections: 0\n\n"
        )
    });
    format!("# Recent Activity\n\n{}", blocks.collect::<String>())
}

fn of_the_day(now: Option<Timestamp>) -> RecentQuestion {
    RecentQuestion::of_last_day(now)
}

#[test]
fn recent_notes_are_found_by_their_names() {
    let lab = Lab::new();
    lab.note("a/readme.md", "---\ntitle: First\n---\n[[one]]", 100);
    lab.note("b/readme.md", "---\ntitle: Second\n---\n[[two]]", 50);
    lab.note("c/readme.md", "---\ntitle: Third\n---\n[[three]]", 150);
    lab.note("notes-v1.2.md", "[[dots]]", 10);
    lab.note("thinking/sequential/s.md", "[[thought]]", 5);
    lab.note("old.md", "[[old]]", 86_401);
    lab.note("day.md", "[[day]]", 86_400);
    lab.says(
        Tool::RecentActivity,
        &recent_reply(&[
            ("s", "s"),
            ("readme", "First"),
            ("readme", "Renamed"),
            ("readme", "Renamed"),
            ("readme", "Gone"),
            ("notes-v1", "notes-v1.2"),
            ("gone", "Gone"),
            ("old", "old"),
            ("day", "day"),
        ]),
    );
    let notes = lab.cli().changed_notes(of_the_day(Some(now()))).unwrap();
    assert_eq!(
        notes.iter().map(concepts).collect::<Vec<_>>(),
        ["dots", "two", "one", "three", "day"]
    );
    assert_eq!(notes[1].uri, "memory://b/readme");
    assert_eq!(notes[1].signal, Signal::Recent { place: 2 });
    let call = r#"RecentActivity {"filter":"memory","limit":10,"timespan":"1.00:00:00"}"#;
    assert_eq!(lab.calls(), [call]);
    let earlier = Timestamp::from_seconds(NOW as i64 - 75);
    let then = lab.cli().changed_notes(of_the_day(Some(earlier))).unwrap();
    assert_eq!(then.iter().map(concepts).collect::<Vec<_>>(), ["one", "three", "day", "old"]);
    // By the real clock, all of that was long ago.
    assert_eq!(lab.cli().changed_notes(of_the_day(None)), Ok(Vec::new()));
}

#[test]
fn details_are_asked_for_the_best_five_side_by_side() {
    let lab = Lab::new();
    lab.note("deep/Machine Learning.md", "# ML\n\nAbout machines. More.", 100);
    lab.note("machine-learning.md", "# Old\n\nOlder.", 200);
    lab.note("c6.md", "# Six\n\nThe sixth.", 10);
    lab.says(
        Tool::BuildContext,
        "Context for CONCEPT: x\n\nDirect relations (5 CONCEPTS):\n  • b (co-occurs in 1 files)\n  \
         • machine-learning (co-occurs in 9 files)\n  • z (co-occurs in 3 files)\n  • a (co-occurs in 1 files)\n  \
         • (co-occurs in 1 files)\n",
    );
    lab.plays("sleep 0.3");
    let names = ["machine-learning", "c2", "c3", "c4", "c5", "c6"];
    let ranked: Vec<FoundConcept> = names.into_iter().map(found_concept).collect();
    let cli = lab.cli();
    let started = Instant::now();
    let details = cli.around(&ranked, Ranking::Frequency.expansion()).unwrap();
    let took = started.elapsed();
    assert!(took < Duration::from_millis(1_300), "{took:?}");
    let shown = |name: &str| {
        let detail = &details[&Concept::parse(name).unwrap()];
        let links = detail.neighbours.iter().map(|link| format!("{}×{}", link.concept, link.notes));
        (detail.note.clone(), links.collect::<Vec<_>>().join(" "), detail.notes)
    };
    let own = ("memory://deep/Machine Learning".to_owned(), "About machines.".to_owned());
    assert_eq!(shown("machine-learning"), (Some(own), "z×3 a×1 b×1".to_owned(), 0));
    assert_eq!(shown("c2"), (None, "machine-learning×9 z×3 a×1 b×1".to_owned(), 0));
    let own = ("memory://c6".to_owned(), "The sixth.".to_owned());
    assert_eq!(shown("c6"), (Some(own), String::new(), 0));
    let mut calls = lab.calls();
    calls.sort();
    assert_eq!(calls.len(), 5);
    assert_eq!(
        calls[0],
        r#"BuildContext {"conceptName":"c2","depth":1,"includeContent":false,"maxEntities":10}"#
    );
}

#[test]
fn one_context_that_fails_takes_nothing_from_the_others() {
    let lab = Lab::new();
    lab.says(
        Tool::BuildContext,
        "Context for CONCEPT: x\n\nDirect relations (1 CONCEPTS):\n  • n (co-occurs in 1 files)\n",
    );
    lab.plays("case \"$4\" in *bad*) echo 'ERROR: no luck'; exit 0;; *worse*) exit 134;; esac");
    let ranked = ["good", "bad", "bad-too", "worse"].map(found_concept);
    let error = lab.cli().around(&ranked, Ranking::Frequency.expansion()).unwrap_err();
    assert_eq!(error.partial.keys().map(Concept::as_str).collect::<Vec<_>>(), ["good"]);
    // The first failure in the order of the concepts is reported.
    let fault = error.reason;
    assert!(fault.starts_with("BuildContext: maenifold "), "{fault}");
    assert!(fault.ends_with(" concepts)"), "{fault}");
}

#[test]
fn both_are_asked_side_by_side_but_where_the_root_is_fresh() {
    let lab = Lab::new();
    lab.says(Tool::SearchMemories, "No memories found in specified folder\n");
    lab.says(Tool::RecentActivity, "No recent activity found\n");
    lab.says(Tool::BuildContext, "Context for CONCEPT: x\n");
    // Each call records its begin and its end.
    lab.plays("echo begin >> $d/order; sleep 0.3; echo end >> $d/order");
    let order = || fs::read_to_string(lab.path("order")).unwrap().replace('\n', " ");
    assert_eq!(lab.cli().search_and_recent(Some("x"), None), (Ok(Vec::new()), Ok(Vec::new())));
    assert!(order().starts_with("begin begin "), "{}", order());
    fs::remove_file(lab.path("order")).unwrap();
    fs::remove_dir_all(lab.path("assets")).unwrap();
    assert_eq!(lab.cli().search_and_recent(Some("x"), None), (Ok(Vec::new()), Ok(Vec::new())));
    assert_eq!(order(), "begin end begin end ");
    fs::remove_file(lab.path("calls")).unwrap();
    assert_eq!(lab.cli().search_and_recent(None, None).0, Ok(Vec::new()));
    assert_eq!(lab.calls().len(), 1);
}

#[test]
fn a_slow_or_broken_program_is_a_fault_in_one_line() {
    let lab = Lab::new();
    lab.plays("exec sleep 30");
    let started = Instant::now();
    let (searched, recent) =
        lab.cli_within(Duration::from_millis(300)).search_and_recent(Some("x"), None);
    assert!(started.elapsed() < Duration::from_secs(5));
    let searched = searched.unwrap_err().reason;
    assert!(
        searched.starts_with("SearchMemories: maenifold did not answer within 3"),
        "{searched}"
    );
    assert!(
        recent.unwrap_err().reason.starts_with("RecentActivity: maenifold did not answer within 3")
    );
    lab.plays("echo maenifold CLI");
    let usage = lab.cli().notes_about("x", SEARCHED).unwrap_err();
    assert_eq!(usage, "SearchMemories: maenifold rejected the call and printed its usage");
}
