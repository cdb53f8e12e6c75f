//! A hook whose arguments name the folder or the notes of its sessions.

use serde_json::{Value, json};

use crate::support::handoff_lab::{Lab, context, given};

fn lab() -> Lab {
    let lab = Lab::new();
    lab.scratch.write("zephyr/docs/a.md", "# Mast\n\nThe mast of zephyr is hollow.\n");
    lab.scratch.write("home/maenifold/memory/b.md", "# Zephyr\n\nA private thought about it.\n");
    lab.scratch.write("given/c.md", "# Keel\n\nThe keel of zephyr is long.\n");
    lab.scratch.write("other/docs/d.md", "# Rudder\n\nThe rudder of other is small.\n");
    lab
}

/// What a session of each host is told by a hook with these arguments.
fn told(lab: &Lab, arguments: &[&str]) -> [String; 3] {
    let claude = lab.kgctx([&["hook", "claude-code"], arguments].concat());
    let claude = context(&given(claude, &lab.event("start-startup", "s"))).unwrap_or_default();

    let amplifier = lab.kgctx([&["hook", "amplifier"], arguments].concat());
    let asked = json!({"event": "prompt:submit", "session_id": "s2", "cwd": lab.folder()});
    let amplifier = String::from_utf8(given(amplifier, &asked).stdout).unwrap();

    let opencode = lab.kgctx([&["hook", "opencode"], arguments].concat());
    let info = json!({"id": "ses_1", "directory": lab.folder(), "title": "New session"});
    let event =
        json!({"type": "session.created", "properties": {"sessionID": "ses_1", "info": info}});
    let answer = given(opencode, &json!({"protocol": 1, "event": event}));
    let answer: Value = serde_json::from_slice(&answer.stdout).unwrap();
    [claude, amplifier, answer["text"].as_str().unwrap_or_default().to_owned()]
}

#[test]
fn a_hook_with_a_vault_sends_only_its_notes() {
    let lab = lab();
    let given = lab.scratch.path().join("given");
    for text in told(&lab, &["--vault", given.to_str().unwrap()]) {
        assert!(text.contains("keel of zephyr"), "{text}");
        assert!(!text.contains("mast") && !text.contains("private"), "{text}");
    }
}

#[test]
fn a_hook_with_a_folder_tells_of_that() {
    let lab = lab();
    let other = lab.scratch.path().join("other");
    for text in told(&lab, &["--dir", other.to_str().unwrap()]) {
        assert!(text.contains("rudder of other"), "{text}");
        assert!(!text.contains("mast"), "{text}");
    }
}
