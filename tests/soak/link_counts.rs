//! The index of large and of real vaults against an independent count of every note's links.

use std::process::Command;

use crate::support::link_counts::check_link_counts;
use crate::support::{Scratch, shared};

#[test]
fn the_shared_generators_vault_is_counted_right() {
    let Some(generator) = shared("tools/gen_vault.py") else {
        eprintln!("skipped: ../shared/tools/gen_vault.py is not beside this checkout");
        return;
    };
    let scratch = Scratch::new();
    let vault = scratch.path().join("vault");
    let output = Command::new("python3")
        .arg(generator)
        .arg(&vault)
        .args(["--notes", "2000", "--code-decoys", "--stats"])
        .output()
        .unwrap();
    let truth: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let (notes, links) = check_link_counts(&vault);
    assert_eq!(Some(notes as u64), truth["notes"].as_u64());
    assert_eq!(Some(u64::from(links)), truth["links"].as_u64());
}

#[test]
fn real_notes_are_counted_right() {
    let Some(unpacker) = shared("tools/last_vault.py") else {
        eprintln!("skipped: ../shared/tools/last_vault.py is not beside this checkout");
        return;
    };
    for name in ["dendron-site", "aarnphm-garden"] {
        let scratch = Scratch::new();
        let vault = scratch.path().join(name);
        let data = shared(&format!("quality/data/{name}.replay.json.xz")).unwrap();
        let status = Command::new("python3").arg(&unpacker).arg(data).arg(&vault).status().unwrap();
        assert!(status.success());
        let (notes, links) = check_link_counts(&vault);
        eprintln!("{name}: {notes} notes, {links} links agree");
    }
}
