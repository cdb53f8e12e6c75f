//! Tests of the check's settings.

use proptest::prelude::*;

use super::*;
use crate::check::finding::{Rule, Severity};
use crate::check::settings::toml_text::quoted;
use crate::core::context::candidate::Part;
use crate::core::host::Host;

fn good(text: &str) -> CheckFile {
    read("kgctx.toml", text).unwrap()
}

#[track_caller]
fn wrong(text: &str, expected: &str) {
    let error = read("kgctx.toml", text).unwrap_err().to_string();
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn every_key_is_read() {
    let file = good(
        r#"
token_limit = 3000

[check]
project = "atlas"
baseline = "ci/context.json"
handoffs = ["./left/", "more"]
growth_tokens = 50
giant_percent = 40

[check.rules]
dangling-link = "warn"
secret = "off"

[check.budget]
total = 3000
recent = 500

[check.budget.claude-code]
total = 2000

[check.static]
"docs/*.md" = 10
"**/AGENTS.md" = 99

[[check.session]]
name = "web"
dir = "packages/web"
host = "claude-code"
budget = 1500
now = "2026-02-03"
branch = "main"

[[check.session]]
"#,
    );
    let settings = &file.settings;
    assert_eq!(settings.project.as_deref(), Some("atlas"));
    assert_eq!(settings.baseline, "ci/context.json");
    assert_eq!(settings.handoffs, ["left", "more"]);
    assert_eq!((settings.growth_tokens, settings.giant_percent), (50, 40));
    assert_eq!(settings.severity(Rule::DanglingLink), Severity::Warn);
    assert_eq!(settings.severity(Rule::Secret), Severity::Off);
    assert_eq!(settings.severity(Rule::GiantNote), Severity::Warn);
    let (plain, claude_code) =
        (settings.limits_in(Host::Plain), settings.limits_in(Host::ClaudeCode));
    assert_eq!((plain.total, claude_code.total), (Some(3000), Some(2000)));
    assert_eq!(claude_code.parts.get(&Part::Recent), Some(&500));
    assert_eq!(plain.parts.get(&Part::Graph), None);
    let n_defaults = CheckSettings::default().static_limits.len();
    let own = &settings.static_limits[n_defaults..];
    assert_eq!(own, [("docs/*.md".to_owned(), 10), ("**/AGENTS.md".to_owned(), 99)]);
    let [web, second] = &settings.sessions[..] else { panic!("{settings:?}") };
    assert_eq!((web.name.as_str(), web.dir.as_str()), ("web", "packages/web"));
    assert_eq!((web.host, web.budget), (Host::ClaudeCode, Some(1500)));
    assert_eq!(web.now.unwrap().to_string(), "2026-02-03T00:00:00Z");
    assert_eq!((second.name.as_str(), second.dir.as_str()), ("session 2", ""));
    let line = |key: &str| file.places[key].line;
    assert_eq!((line("check.budget.total"), line("check.budget.claude-code.total")), (16, 20));
    assert_eq!((line("check.session.0"), line("check.session.1")), (26, 34));
    assert!(file.has_check && file.unknown.is_empty());
    assert_eq!(file.without_unknown, "\"token_limit\" = 3000\n");
}

#[test]
fn a_wrong_value_is_an_error_at_its_place() {
    wrong(
        "[check]\ngrowth_tokens = \"x\"",
        "kgctx.toml:2:17: growth_tokens is \"x\"; write a whole number",
    );
    wrong("token_limit = -1", "kgctx.toml:1:15: token_limit is -1; write a whole number");
    wrong("[check]\nproject = \"a/b\"", "kgctx.toml:2:11: a project's name");
    wrong("[check]\nbaseline = \"../x\"", "kgctx.toml:2:12: this is not a path inside");
    wrong("[check]\nhandoffs = [\"a\", \"/b\"]", "kgctx.toml:2:18: this is not a path inside");
    wrong("[check]\ngiant_percent = 0", "kgctx.toml:2:17: this is not a percentage");
    wrong(
        "[check.rules]\nsecret = \"loud\"",
        "kgctx.toml:2:10: secret is \"loud\"; write off, warn or error",
    );
    wrong("[[check.session]]\nhost = \"vim\"", "kgctx.toml:2:8: host is \"vim\"; write ");
    wrong("[[check.session]]\nnow = \"soon\"", "kgctx.toml:2:7: this is not a time");
    wrong("[[check.session]]\nnow = 7", "kgctx.toml:2:7: this is not a time");
    wrong("[check\n", "kgctx.toml:1:");
    wrong("vault = 1", "kgctx.toml:1:9: ");
}

#[test]
fn an_unknown_key_is_told_of_and_passed_over() {
    let file = good(
        "tokenlimit = 3\nlinks = \"obsidian\"\n\n[check]\ngrowth = 2\ngrowth_tokens = 7\n\n\
         [check.rules]\ndangling-links = \"off\"\n\n[[check.session]]\nname = \"a\"\nhots = 1\n\n\
         [handoff]\nmax_age = 3\nmin_turns = 4\n\n[[vault]]\npath = \"notes\"\nnmae = \"x\"\n\n[other]\nx = 1\n",
    );
    let told: Vec<_> = file
        .unknown
        .iter()
        .map(|unknown| (unknown.key.as_str(), unknown.spot.line, unknown.nearest.as_deref()))
        .collect();
    assert_eq!(
        told,
        [
            ("tokenlimit", 1, Some("token_limit")),
            ("growth", 5, Some("growth_tokens")),
            ("dangling-links", 9, Some("dangling-link")),
            ("hots", 13, Some("host")),
            ("max_age", 16, Some("max_age_days")),
            ("nmae", 21, Some("name")),
            ("other", 23, None),
        ]
    );
    let first = &file.unknown[0].spot;
    assert_eq!((first.column, first.length), (1, 10));
    assert_eq!(file.settings.growth_tokens, 7);
    let again: SettingsFile = toml::from_str(&file.without_unknown).unwrap();
    assert_eq!(again.handoff.min_turns, Some(4));
    assert_eq!(again.vaults[0].path, "notes");
}

#[test]
fn the_schema_knows_the_same_keys() {
    let schema = include_str!("../../../../schema/json/kgctx.toml.schema.json");
    let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
    let check = "/properties/check/properties";
    for (text, place) in [
        ("nobody = 1", String::new()),
        ("[handoff]\nnobody = 1", "/properties/handoff".to_owned()),
        ("[check]\nnobody = 1", "/properties/check".to_owned()),
        ("[check.rules]\nnobody = \"off\"", format!("{check}/rules")),
        ("[check.budget]\nnobody = 1", format!("{check}/budget")),
        ("[check.budget.codex]\nnobody = 1", format!("{check}/budget/properties/codex")),
        ("[[check.session]]\nnobody = 1", format!("{check}/session/items")),
    ] {
        let mut known = good(text).unknown.remove(0).known;
        known.sort();
        let keys = schema.pointer(&format!("{place}/properties")).unwrap().as_object().unwrap();
        let mut keys: Vec<&String> = keys.keys().collect();
        keys.sort();
        assert_eq!(known.iter().collect::<Vec<_>>(), keys, "{text}");
    }
    for rule in Rule::ALL {
        let place = format!("{check}/rules/properties/{}/default", rule.id());
        let severity = serde_json::to_value(rule.default_severity()).unwrap();
        assert_eq!(schema.pointer(&place), Some(&severity), "{}", rule.id());
    }
}

proptest! {
    #[test]
    fn no_text_is_too_odd(text in "(?s)(\\[?\\[?[a-z.\"=\\]\n 0-9'{},#]{0,8}|check|rules|session|vault|\\PC){0,24}") {
        let _ = read("kgctx.toml", &text);
    }

    #[test]
    fn texts_survive_being_written_anew(name in "\\PC*|[\\x00-\\x7f]*") {
        let written = format!("[[vault]]\npath = {}", quoted(&name));
        let file = good(&written);
        let again: SettingsFile = toml::from_str(&file.without_unknown).unwrap();
        prop_assert_eq!(&again.vaults[0].path, &name);
    }
}

#[test]
fn a_moment_may_be_written_as_toml_does() {
    for written in
        ["2026-02-03T00:00:00Z", "2026-02-03", "\"2026-02-03\"", "2026-02-03T01:00:00+01:00"]
    {
        let file = read("kgctx.toml", &format!("[[check.session]]\nnow = {written}\n")).unwrap();
        let now = file.settings.sessions[0].now.unwrap().to_string();
        assert_eq!(now, "2026-02-03T00:00:00Z", "{written}");
    }
}

#[test]
fn a_budget_has_keys_for_parts_and_for_hosts_with_limits() {
    let file =
        good("[check.budget]\ntotals = 1\ncodex = { total = 2, codex = 3 }\namplifier = {}\n");
    assert_eq!(file.settings.limits_in(Host::Codex).total, Some(2));
    let told: Vec<_> = file.unknown.iter().map(|key| (key.key.as_str(), key.spot.line)).collect();
    assert_eq!(told, [("totals", 2), ("codex", 3), ("amplifier", 4)]);
    let known = "total handoff notes concepts recent graph files plain opencode claude-code codex";
    assert_eq!(file.unknown[0].known.join(" "), known);
    wrong("[check.budget]\ncodex = 7", "kgctx.toml:2:9: codex is 7; write a table");
    wrong("[check.budget]\ntotal = \"x\"", "kgctx.toml:2:9: total is \"x\"; write a whole number");
    wrong("check = { budget = 3 }", "kgctx.toml:1:20: budget is 3; write a table");
}
