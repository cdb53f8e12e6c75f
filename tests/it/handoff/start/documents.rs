//! Documents that are not what they should be: told of, passed over, and never in the way of a session.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::age;
use crate::support::handoff_lab::Lab;

#[test]
fn h_0_5_an_empty_document_is_told_of_and_the_one_before_it_is_given() {
    // H-0.5, H-0.6: a head without a body is as empty, H-0.7: what cannot be read.
    type Bytes = fn(&str) -> Vec<u8>;
    let empty: [(&str, Bytes); 4] = [
        ("empty", |_| Vec::new()),
        ("white space", |_| b" \n\t\n".to_vec()),
        ("a head alone", |id| {
            format!("---\nid: \"{id}\"\ncreated_at: \"2026-01-01T00:00:00Z\"\n---\n\n").into_bytes()
        }),
        ("not UTF-8", |id| {
            [format!("---\nid: \"{id}\"\n---\n").as_bytes(), b"\xff\xfe\xfd"].concat()
        }),
    ];
    for (what, bytes) in empty {
        let lab = Lab::new();
        let before = lab.leave("The one before.");
        let newest = lab.leave("The newest.");
        fs::write(lab.document(&newest), bytes(&newest)).unwrap();
        let text = lab.start("s").unwrap();
        assert!(text.contains(&before) && text.contains("The one before."), "{what}: {text}");
        assert!(lab.faults("s").contains(&newest), "{what}");
        assert_eq!(lab.status(&before).as_deref(), Some("consumed"), "{what}");
        assert_eq!(lab.start("t"), None, "{what}: none is left");
        assert!(lab.faults("t").contains(&newest), "{what}");
    }
}

#[test]
fn h_0_6_a_head_that_cannot_be_understood_is_given_as_it_is() {
    // H-0.6
    let lab = Lab::new();
    let id = lab.leave("Text.");
    let broken = "---\nid: [\"unclosed\n\tgoal: x\n---\nThe body all the same.\n";
    fs::write(lab.document(&id), broken).unwrap();
    let text = lab.start("s").unwrap();
    assert!(text.contains(&id) && text.contains("The body all the same."), "{text}");
    assert!(lab.faults("s").contains(&id), "it is told of");
}

#[cfg(unix)]
#[test]
fn h_0_7_a_document_that_cannot_be_read_costs_nothing_but_itself() {
    // H-0.7: gone, a folder, a link, a pipe, too long.
    type Spoil = fn(&Path);
    let spoil: [(&str, Spoil); 5] = [
        ("gone", |_| {}),
        ("a folder", |path| fs::create_dir(path).unwrap()),
        ("a link", |path| std::os::unix::fs::symlink("/etc/passwd", path).unwrap()),
        ("a pipe", |path| {
            assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
        }),
        ("too long", |path| fs::write(path, "x".repeat(2 * 1024 * 1024)).unwrap()),
    ];
    for (what, spoil) in spoil {
        let lab = Lab::new();
        let before = lab.leave("The one before.");
        let newest = lab.leave("The newest.");
        let path = lab.document(&newest);
        fs::remove_file(&path).unwrap();
        spoil(&path);
        let text = lab.start("s").unwrap();
        assert!(text.contains(&before), "{what}: {text}");
        assert!(lab.faults("s").contains(&newest), "{what}");
        assert_eq!(lab.start("t"), None, "{what}");
    }
}

#[test]
fn a_1_10_a_document_with_another_id_is_not_given_and_nothing_changes() {
    //
    let lab = Lab::new();
    lab.leave("The one before.");
    let id = lab.leave("Ship it.");
    let path = lab.document(&id);
    let whole = fs::read_to_string(&path).unwrap();
    let other = "HO-20200101-000000-other";
    fs::write(&path, whole.replace(&id, other)).unwrap();
    assert_eq!(lab.start("s"), None);
    let faults = lab.faults("s");
    assert!(faults.contains(&id) && faults.contains(other), "{faults}");
    assert_eq!(lab.status(&id).as_deref(), Some("active"));
    let (code, said) = lab.refused(&["reconcile"]);
    assert_eq!(code, 1, "{said}");
    let output = lab.kgctx(["handoff", "reconcile"]).output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains(&id) && told.contains(other), "{told}");
    // Once it is repaired, the next one gets it.
    fs::write(&path, whole).unwrap();
    assert!(lab.start("t").unwrap().contains(&id));
}

#[test]
fn a_1_12_a_date_that_cannot_be_is_said_and_does_not_make_anything_old() {
    //
    let spoilt = |line: &str, with: &str| {
        let lab = Lab::new();
        let id = lab.create(&["--type", "auto", "--session", "author", "--body", "Go on."]);
        let path = lab.document(&id);
        let text = fs::read_to_string(&path).unwrap();
        let old = text.lines().find(|old| old.starts_with(line)).unwrap();
        fs::write(&path, text.replace(old, with)).unwrap();
        (lab.start("s"), lab.faults("s"), lab.status(&id).unwrap(), id)
    };
    for date in ["", "created_at: \"yesterday\"", "created_at: \"2099-01-01T00:00:00Z\""] {
        let (text, faults, status, id) = spoilt("created_at", date);
        assert_eq!(status, "active", "{date}");
        let said = format!(
            "[Handoff {id} is dated in the future (2099-01-01T00:00:00Z) and was not loaded; "
        );
        let is_said = text.as_ref().is_some_and(|text| text.contains(&said));
        assert_eq!(
            (text.is_some(), is_said),
            (date.contains("2099"), date.contains("2099")),
            "{text:?}"
        );
        assert!(faults.contains(&id) && faults.contains("date"), "{date}: {faults}");
    }
    for date in ["2026-01-01T00:00:00Z", "2026-01-01T02:00:00+02:00", "2025-12-31T19:00:00-05:00"] {
        let (text, ..) = spoilt("created_at", &format!("created_at: \"{date}\""));
        assert!(text.is_some(), "{date}");
    }
    // In the record, too; five minutes are within what clocks differ.
    let lab = Lab::new();
    let id = lab.create(&["--type", "auto", "--session", "author", "--body", "Go on."]);
    age(&lab, -310);
    let text = lab.start("s").unwrap();
    assert!(text.contains(&format!("[Handoff {id} is dated in the future (")), "{text}");
    assert!(!text.contains("Go on."), "{text}");
    assert_eq!(lab.status(&id).as_deref(), Some("active"));
    let output = lab.kgctx(["doctor", "--json"]).output().unwrap();
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let checks = said["checks"].as_array().unwrap();
    let doctor = checks.iter().find(|check| check["name"] == "handoffs").unwrap();
    assert_eq!(doctor["verdict"], "warn", "{doctor}");
    let said = format!("{id} is dated in the future (");
    assert!(doctor["found"].as_str().unwrap().starts_with(&said), "{doctor}");
    age(&lab, 20);
    assert!(lab.start("t").unwrap().contains(&id));
}
