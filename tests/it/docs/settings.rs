//! What pages say about settings and variables.

use std::collections::BTreeSet;
use std::fs;

use kgctx::workspace::settings::OTHER_VARIABLES;
use serde_json::Value;

use super::{check_generated, pages, read, root};
use crate::support::{Scratch, git, valid};

#[test]
fn every_setting_is_documented() {
    let scratch = Scratch::new();
    let output = scratch.kgctx(["config", "--json"]).env_remove("KGCTX_RANK").output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    valid("config", &answer);
    let mut table =
        "| setting | default | what it does | variable | project |\n|---|---|---|---|---|\n"
            .to_owned();
    for setting in answer["settings"].as_array().unwrap() {
        let text = |name: &str| setting[name].as_str().unwrap().to_owned();
        let key = text("key");
        if key == "channel" || key.starts_with("vault ") || key.starts_with("channels.") {
            continue;
        }
        assert_eq!(text("origin"), "default", "{key}");
        let variables = setting["variables"].as_array().unwrap().iter();
        let variables: Vec<String> =
            variables.map(|name| format!("`{}`", name.as_str().unwrap())).collect();
        let project = match text("project").as_str() {
            "set" => "yes",
            "lower" => "lower",
            _ => "no",
        };
        let about = text("about");
        table.push_str(&format!(
            "| `{key}` | `{}` | {about} | {} | {project} |\n",
            setting["value"],
            variables.join(", else ")
        ));
    }
    let page = read(&root().join("docs/configuration.md"));
    let head = page.split_once("| setting |").map_or(page.as_str(), |(head, _)| head);
    check_generated("configuration.md", head, &table);
}

#[test]
fn what_a_repository_may_do_to_every_setting_is_documented() {
    let answer = Scratch::new().json(["config", "--json"]);
    let page = read(&root().join("docs/security.md"));
    let table = page.split_once("| key | in `kgctx.toml` |").unwrap().1;
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let rows: Vec<Vec<&str>> = rows.map(|row| row.split('|').map(str::trim).collect()).collect();
    let documented = |key: &str| {
        let quoted = format!("`{key}`");
        let mut rows = rows.iter().filter(|row| row[1].split(", ").any(|name| name == quoted));
        let row = rows.next().unwrap_or_else(|| panic!("no row for {key}"));
        assert_eq!(rows.next(), None, "{key}");
        match row[2] {
            "yes" => "set",
            "no" => "nothing",
            what if what.starts_with("up to yours") || what.starts_with("only `false`") => "lower",
            what => panic!("{key}: {what}"),
        }
    };
    let settings = answer["settings"].as_array().unwrap().iter();
    let settings = settings.filter(|setting| {
        let key = setting["key"].as_str().unwrap();
        key != "channel" && !key.starts_with("vault ") && !key.starts_with("channels.")
    });
    for setting in settings {
        let key = setting["key"].as_str().unwrap();
        assert_eq!(documented(key), setting["project"], "{key}");
    }
    assert_eq!(documented("[channels]"), "nothing");
}

/// A setting in the schema of settings files.
fn in_schema<'a>(schema: &'a Value, key: &str) -> &'a Value {
    key.split('.').fold(schema, |at, name| &at["properties"][name])
}

/// The paths of all properties below a schema without a description.
fn undescribed(schema: &Value, path: &str, found: &mut Vec<String>) {
    let below = schema["properties"].as_object().into_iter().flatten();
    for (name, property) in below {
        let path = format!("{path}.{name}");
        if property["description"].as_str().is_none_or(str::is_empty) {
            found.push(path.clone());
        }
        undescribed(property, &path, found);
        undescribed(&property["items"], &path, found);
    }
}

#[test]
fn the_schema_of_settings_files_says_what_kgctx_config_says() {
    let text = read(&root().join("schema/json/kgctx.toml.schema.json"));
    let schema: Value = serde_json::from_str(&text).unwrap();
    let mut found = Vec::new();
    undescribed(&schema, "", &mut found);
    assert!(found.is_empty(), "no description: {found:#?}");
    let scratch = Scratch::new();
    let output = scratch.kgctx(["config", "--json"]).env_remove("KGCTX_RANK").output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    for setting in answer["settings"].as_array().unwrap() {
        let key = setting["key"].as_str().unwrap();
        if key == "channel" || key.starts_with("vault ") || key.starts_with("channels.") {
            continue;
        }
        let declared = in_schema(&schema, key);
        assert_eq!(declared["default"], setting["value"], "{key}");
        let about = setting["about"].as_str().unwrap();
        let description = declared["description"].as_str().unwrap();
        assert!(!about.is_empty() && description.starts_with(about), "{key}: {about}");
        let is_mine = setting["project"] == "nothing";
        assert_eq!(description.contains("In config.toml only."), is_mine, "{key}");
    }
}

#[test]
fn the_page_about_checks_names_every_key_of_its_settings() {
    let text = read(&root().join("schema/json/kgctx.toml.schema.json"));
    let schema: Value = serde_json::from_str(&text).unwrap();
    let names = |section: &Value| -> Vec<String> {
        section["properties"].as_object().unwrap().keys().cloned().collect()
    };
    let check = &schema["properties"]["check"];
    let budget = &check["properties"]["budget"];
    let session = &check["properties"]["session"]["items"];
    let page = read(&root().join("docs/check.md"));
    let (_, settings) = page.split_once("## Settings").unwrap();
    let (settings, _) = settings.split_once("### Sessions").unwrap();
    for name in [names(check), names(budget), names(session)].concat() {
        let is_named = settings.split(|c: char| !c.is_alphanumeric() && !"_-".contains(c));
        assert!(is_named.into_iter().any(|word| word == name), "docs/check.md lacks {name}");
    }
    let rules = read(&root().join("docs/check-rules.md"));
    for rule in names(&check["properties"]["rules"]) {
        assert!(rules.contains(&format!("\n## {rule}\n")), "docs/check-rules.md lacks {rule}");
    }
    let (_, part) = rules.split_once("## budget-part").unwrap();
    for name in names(budget).into_iter().filter(|name| name != "total") {
        let is_part = budget["properties"][&name]["type"] == "integer";
        assert!(!is_part || part.contains(&format!("`{name}`")), "budget-part lacks {name}");
    }
}

/// The TOML blocks of all pages, each with its page.
fn toml_blocks() -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    for page in pages() {
        let text = read(&page);
        let parts = text.split("```toml\n").skip(1).filter_map(|rest| rest.split_once("```"));
        blocks.extend(parts.map(|(block, _)| (page.display().to_string(), block.to_owned())));
    }
    blocks
}

#[test]
fn the_settings_of_every_page_are_read_as_they_stand() {
    let blocks = toml_blocks();
    assert!(blocks.len() >= 5, "{blocks:#?}");
    for (page, block) in blocks {
        let scratch = Scratch::new();
        // Only this section has a reader of its own.
        if block.contains("[check") {
            scratch.write("app/kgctx.toml", &block);
            scratch.write("app/packages/viewer/README.md", "# Viewer\n");
            git(&scratch.path().join("app"), &["init", "-q"]);
            let output = scratch.kgctx(["--dir", "app", "check"]).output().unwrap();
            assert!(output.status.success(), "{page}: {output:?}");
            continue;
        }
        fs::create_dir(scratch.path().join("app")).unwrap();
        scratch.write("kgctx-home/config.toml", &block);
        let said = scratch.run(["--dir", "app", "config"]);
        assert!(said.contains("config.toml"), "{page}: {said}");
    }
}

/// What a page says that a project may set, a project can set.
#[test]
fn a_project_can_lower_what_the_pages_say() {
    for (page, section, allowed, refused) in [
        ("docs/monitor.md", "[monitor]", "notify = false", "early_warn_percent = 40"),
        ("docs/handoffs.md", "[handoff]", "min_turns = 3", "allow = [\"~/specs\"]"),
    ] {
        let text = read(&root().join(page));
        let line = text.lines().find(|line| line.starts_with(section)).unwrap();
        let name = allowed.split(' ').next().unwrap();
        assert!(line.contains("kgctx.toml") && line.contains(name), "{page}: {line}");
        let scratch = Scratch::new();
        scratch.write("app/kgctx.toml", format!("{section}\n{allowed}\n"));
        scratch.run(["--dir", "app", "config"]);
        scratch.write("app/kgctx.toml", format!("{section}\n{refused}\n"));
        let output = scratch.kgctx(["--dir", "app", "config"]).output().unwrap();
        assert!(
            String::from_utf8_lossy(&output.stderr).contains("a project may not set"),
            "{page}"
        );
    }
}

#[test]
fn every_variable_that_is_no_setting_is_documented() {
    let page = read(&root().join("docs/configuration.md"));
    let (_, table) = page.split_once("| variable | what it does |\n|---|---|\n").unwrap();
    let rows = table.lines().take_while(|line| line.starts_with('|'));
    let documented: BTreeSet<&str> = rows.map(|row| row.split('`').nth(1).unwrap()).collect();
    assert_eq!(documented, OTHER_VARIABLES.iter().copied().collect());
}
