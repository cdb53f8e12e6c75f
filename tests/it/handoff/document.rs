//! The document of a handoff, held against its schema.

use kgctx::core::handoff::Document;
use kgctx::core::handoff::document::input;
use kgctx::core::handoff::document::read;
use kgctx::core::handoff::document::to_json;
use kgctx::core::handoff::document::write;
use serde_json::{Value, json};

use crate::support::valid;

/// The written head of a document, as any reader of YAML has it.
fn written(document: &Document) -> Value {
    let text = write(document);
    let yaml = text.strip_prefix("---\n").and_then(|text| text.split_once("\n---\n")).unwrap().0;
    serde_saphyr::from_str(yaml).unwrap()
}

#[test]
fn p_3_2_every_head_that_is_written_has_the_form_of_the_schema() {
    // P-3.2, P-3.3
    for text in [
        "",
        "# Only text\n",
        "---\ngoal: [malformed\n---\n",
        "---\nkind: task\npriority: low\ngoal: g\nnext_step: n\nspecs: [a]\nfiles: [b]\nextra: {a: [1, ~]}\n---\nx",
        "---\nsession_id: s\ntimestamp: 2026-02-27T10:11:12.123456+02:00\nproject: p\nfiles_changed:\n  []\n---\nx",
        "<!-- HANDOFF-ID: HO-20260202-064530-c74cc080 -->\n<!-- CREATED: 2026-02-02T06:45:30Z -->\nx",
        "---\nid: 7\nkind: x\nconsume: x\npriority: x\ntags: x\nexpires_at: x\ntype: later\n---\n",
    ] {
        let document = read(text.as_bytes()).unwrap().document;
        valid("handoff", &written(&document));
        let json = to_json(&document.head);
        valid("handoff", &json);
        for list in ["tags", "specs", "files", "files_changed"] {
            assert!(json[list].is_array(), "{text}");
        }
    }
}

#[test]
fn p_3_25_every_head_that_is_taken_has_the_form_of_the_schema() {
    // P-3.25
    let taken =
        input("{\"kind\":\"task\",\"consume\":\"once\",\"x\":{\"y\":[1]},\"id\":\"mine\"}\nbody")
            .unwrap();
    let head = written(&taken.document);
    valid("handoff", &head);
    assert_eq!(
        head,
        json!({"kind": "task", "consume": "once", "priority": "medium", "x": {"y": [1]}})
    );
}
