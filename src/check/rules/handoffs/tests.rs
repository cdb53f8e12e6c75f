//! Tests of `handoffs`.

use crate::check::finding::Rule::{HandoffExpired, HandoffInvalid, HandoffMissingFile};
use crate::check::rules::tests::TestRepository;

fn handoff(head: &str) -> TestRepository {
    let text = format!("---\n{head}\n---\nWhat was done.\n");
    TestRepository::new().with(".kgctx/handoffs/h.md", &text).with_file("src/main.rs")
}

#[test]
fn a_head_as_it_should_be_is_fine() {
    for head in [
        "goal: x",
        "kind: task\ngoal: x\nnext_step: y\npriority: high\ntags: [a]",
        "id: HO-20260131-120000-c74cc080\ntype: end\nconsume: sticky\ncreated_at: 2026-02-28T12:00:00Z",
        "other: {a: [1, 2]}",
    ] {
        handoff(head).check(HandoffInvalid, &[]);
    }
    for text in ["Only text.", "{\"goal\": \"x\"}\nText.", "\u{feff}---\ngoal: x\n---\nText."] {
        TestRepository::new().with(".kgctx/handoffs/h.md", text).check(HandoffInvalid, &[]);
    }
    TestRepository::new()
        .with(".kgctx/handoffs/README.md", "---\nkind: x\n---\n")
        .check(HandoffInvalid, &[]);
    TestRepository::new()
        .with(".kgctx/other/h.md", "---\nkind: x\n---\n")
        .check(HandoffInvalid, &[]);
}

#[test]
fn a_wrong_head_is_told_at_the_wrong_key() {
    for (head, expect) in [
        ("goal: x\nkind: chore", ":3:1+4"),
        ("goal: x\ntype: whenever", ":3:1+4"),
        ("priority: 1", ":2:1+8"),
        ("goal: x\n\"consume\": never", ":3:2+7"),
        ("goal: [a]", ":2:1+4"),
        ("created_at: yesterday", ":2:1+10"),
        ("goal: x\ntimestamp: soon", ":3:1+9"),
        ("files: src/main.rs", ":2:1+5"),
        ("files: [1]", ":2:1+5"),
        ("specs: ['']", ":2:1+5"),
        ("id: mine", ":2:1+2"),
        ("goal: x\nkind: task", ":3:1+4"),
        ("goal: x\ngoal: y", ":2:1+4"),
        ("goal: x\nnext_step: 'open", ":3:1+0"),
        ("goal: x\nbad: [", ":3:1+0"),
    ] {
        handoff(head).check(HandoffInvalid, &[&format!(".kgctx/handoffs/h.md{expect}")]);
    }
    for text in
        ["", "---\ngoal: x\n", "{\"goal\": }\nText.", "---\ngoal: x\n---\n", "{\"kind\": 1}\nx"]
    {
        TestRepository::new()
            .with(".kgctx/handoffs/h.md", text)
            .check(HandoffInvalid, &[".kgctx/handoffs/h.md:1:1+0"]);
    }
    TestRepository::new()
        .with(".kgctx/handoffs/HO-20260131-120000-a.md", "---\nid: HO-20260131-120000-b\n---\nx")
        .check(HandoffInvalid, &[".kgctx/handoffs/HO-20260131-120000-a.md:2:1+2"]);
}

#[test]
fn an_id_is_there_once() {
    let text = "---\nid: HO-20260131-120000-c74cc080\n---\nx";
    TestRepository::new()
        .with(".kgctx/handoffs/a.md", text)
        .with(".kgctx/handoffs/b.md", text)
        .check(HandoffInvalid, &[".kgctx/handoffs/b.md:2:1+2"]);
}

#[test]
fn what_is_wrong_is_said_with_the_way_out() {
    let finding = &handoff("kind: chore").of(HandoffInvalid)[0];
    assert_eq!(finding.message, "kind is \"chore\", which is unknown");
    assert_eq!(finding.hint, "write session or task");
}

#[test]
fn a_listed_file_that_is_gone_is_told_where_it_is_listed() {
    handoff("files: [src/main.rs]\nspecs:\n  - src/main.rs").check(HandoffMissingFile, &[]);
    handoff("files_changed: [src/gone.rs]").check(HandoffMissingFile, &[]);
    handoff("files:\n  - src/main.rs\n  - \"src/gone.rs\"")
        .check(HandoffMissingFile, &[".kgctx/handoffs/h.md:4:6+11"]);
    handoff("specs: [a/x.md, x.md]")
        .check(HandoffMissingFile, &[".kgctx/handoffs/h.md:2:9+6", ".kgctx/handoffs/h.md:2:17+4"]);
    handoff("files: [/src/main.rs]").check(HandoffMissingFile, &[".kgctx/handoffs/h.md:2:9+12"]);
    let mut repository = TestRepository::new()
        .with("p/.kgctx/handoffs/h.md", "---\nfiles: [a.rs]\n---\nx")
        .with_file("p/a.rs");
    repository.settings.handoffs.push("p/.kgctx/handoffs/".to_owned());
    repository.check(HandoffMissingFile, &[]);
}

#[test]
fn a_handoff_is_too_old_by_its_type() {
    for head in [
        "created_at: 2020-01-01T00:00:00Z",
        "type: manual\ncreated_at: 2020-01-01T00:00:00Z",
        "type: auto\ncreated_at: 2026-03-01T10:00:00Z",
        "type: end\ncreated_at: 2026-02-22T12:00:01Z",
        "kind: task\ngoal: x\nnext_step: y\ntype: auto\ncreated_at: 2020-01-01T00:00:00Z",
        "expires_at: 2026-03-01T12:00:00Z",
    ] {
        handoff(head).check(HandoffExpired, &[]);
    }
    for (head, expect) in [
        ("type: auto\ncreated_at: 2026-03-01T09:59:59Z", ":3:1+10"),
        ("type: rotation\ntimestamp: 2026-03-01T09:59:59Z", ":3:1+9"),
        ("type: end\ncreated_at: 2026-02-22T11:59:59Z", ":3:1+10"),
        ("consume: sticky\ncreated_at: 2026-02-22T11:59:59Z", ":3:1+10"),
        ("expires_at: 2026-03-01T11:59:59Z", ":2:1+10"),
        // The file was changed a month ago.
        ("type: end", ":1:1+0"),
    ] {
        handoff(head).check(HandoffExpired, &[&format!(".kgctx/handoffs/h.md{expect}")]);
    }
}
