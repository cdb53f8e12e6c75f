//! `kgctx handoff prune`: what is done with goes, the oldest first, and nothing else.

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::json;

use crate::support::handoff_project::Project;

#[test]
fn p_3_23_pruning_removes_the_oldest_and_can_be_tried() {
    // P-3.23
    let project = Project::new();
    let ids: Vec<String> = (1..=7).map(|n| project.task(&format!("s{n}"), "low")).collect();
    for id in &ids {
        project.done(["archive", id]);
    }
    let before = (project.statuses(), project.documents());
    insta::assert_snapshot!(
        "handoff_prune_dry",
        project.normal(&project.done(["prune", "--dry-run"]))
    );
    let tried = project.json("handoff-prune", &["prune", "--dry-run", "--json"]);
    assert_eq!(tried, json!({"removed": ids[..2], "kept": 5, "dry_run": true}));
    assert_eq!((project.statuses(), project.documents()), before);
    insta::assert_snapshot!("handoff_prune", project.normal(&project.done(["prune"])));
    let pruned = project.json("handoff-prune", &["prune", "--keep", "1", "--json"]);
    assert_eq!(pruned["removed"], json!(ids[2..6]));
    insta::assert_snapshot!(project.done(["prune"]), @"removed 0 handoffs; kept 1 archived, and all waiting and claimed handoffs");
    assert_eq!(project.documents().len(), 1);
    for wrong in ["0", "-1", "x", ""] {
        project.say(["prune", "--keep", wrong]).refused(2);
    }
}

#[test]
fn p_3_23_whatever_is_in_a_store_pruning_leaves_the_living_alone() {
    // P-3.23
    let config =
        ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() };
    let steps = prop::collection::vec(0..4_u8, 0..9);
    TestRunner::new(config)
        .run(&(steps, 1..6_usize), |(steps, keep)| {
            let project = Project::new();
            for (n, step) in steps.iter().enumerate() {
                let id = project.task(&format!("s{n}"), "medium");
                match step {
                    0 => {}
                    1 => drop(project.done(["pickup", &id])),
                    2 => drop(project.done(["archive", &id])),
                    _ => drop(project.leave(&format!("l{n}"), "text")),
                }
            }
            let is_living =
                |(_, status): &(String, String)| status == "active" || status == "claimed";
            let (living, done): (Vec<_>, Vec<_>) =
                project.statuses().into_iter().partition(is_living);
            let pruned =
                project.json("handoff-prune", &["prune", "--json", "--keep", &keep.to_string()]);
            let removed: Vec<&str> = pruned["removed"]
                .as_array()
                .unwrap()
                .iter()
                .map(|id| id.as_str().unwrap())
                .collect();
            let (still_living, still_done): (Vec<_>, Vec<_>) =
                project.statuses().into_iter().partition(is_living);
            prop_assert_eq!(&still_living, &living);
            prop_assert_eq!(still_done.len(), done.len().min(keep));
            prop_assert_eq!(removed.len() + still_done.len(), done.len());
            prop_assert!(removed.iter().all(|id| done.iter().any(|(known, _)| known == id)));
            prop_assert_eq!(project.documents().len(), living.len() + still_done.len());
            Ok(())
        })
        .unwrap();
}
