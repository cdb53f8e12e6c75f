//! The documentation: pages that can be read in one go, links that lead somewhere, and a reference of every command and setting.
//! `KGCTX_WRITE_DOCS=1 cargo test --test it docs` writes the references anew.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Scratch, valid};

const LONGEST_PAGE: usize = 300;
const LONGEST_README: usize = 140;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All pages that people read, with their paths.
fn pages() -> Vec<PathBuf> {
    let markdown = |folder: PathBuf| {
        let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        files.filter(|path| path.extension().is_some_and(|end| end == "md")).collect::<Vec<_>>()
    };
    let folders = [root(), root().join("docs"), root().join("docs/design")];
    let bridges = ["opencode", "amplifier"].map(|name| root().join("bridges").join(name));
    folders.into_iter().chain(bridges).flat_map(markdown).collect()
}

/// A page without its code.
fn prose(text: &str) -> String {
    let mut fence: Option<&str> = None;
    let mut prose = String::new();
    for line in text.lines() {
        let ticks = &line[..line.len() - line.trim_start_matches('`').len()];
        match fence {
            None if ticks.len() >= 3 => fence = Some(ticks),
            Some(open) if line.trim_end() == open => fence = None,
            None => {
                prose.extend(line.split('`').step_by(2));
                prose.push('\n');
            }
            Some(_) => {}
        }
    }
    prose
}

/// The targets of the markdown links of a page.
fn targets(text: &str) -> Vec<String> {
    let prose = prose(text);
    let after = prose.split("](").skip(1);
    after.filter_map(|rest| rest.split_once(')')).map(|(target, _)| target.to_owned()).collect()
}

/// The anchors of a page's headings, as forges make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let anchor = |heading: &str| {
        let kept = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        kept.chars().filter(|c| c.is_alphanumeric() || *c == '-' || *c == '_').collect()
    };
    // Comments in code blocks would only be anchors too many.
    text.lines().filter(|line| line.starts_with('#')).map(anchor).collect()
}

#[test]
fn pages_can_be_read_in_one_go() {
    for page in pages().iter().filter(|page| page.starts_with(root().join("docs"))) {
        let lines = read(page).lines().count();
        assert!(lines <= LONGEST_PAGE, "{} has {lines} lines: split it", page.display());
    }
    let lines = read(&root().join("README.md")).lines().count();
    assert!(lines <= LONGEST_README, "README.md has {lines} lines: move some to docs/");
}

#[test]
fn links_between_pages_lead_somewhere() {
    let mut broken = Vec::new();
    for page in pages() {
        for target in targets(&read(&page)) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let path = match file {
                "" => page.clone(),
                file => page.parent().unwrap().join(file),
            };
            let is_there =
                path.exists() && (anchor.is_empty() || anchors(&read(&path)).contains(anchor));
            if !is_there {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn every_page_can_be_found_from_the_readme() {
    let mut found = BTreeSet::from([root().join("README.md")]);
    let mut next: Vec<PathBuf> = found.iter().cloned().collect();
    while let Some(page) = next.pop() {
        for target in targets(&read(&page)) {
            let file = target.split('#').next().unwrap();
            let Ok(path) = page.parent().unwrap().join(file).canonicalize() else { continue };
            if path.extension().is_some_and(|end| end == "md") && found.insert(path.clone()) {
                next.push(path);
            }
        }
    }
    let pages = pages().into_iter().filter(|page| page.starts_with(root().join("docs")));
    let lost: Vec<PathBuf> = pages.filter(|page| !found.contains(page)).collect();
    assert!(lost.is_empty(), "no page links to {lost:?}");
}

/// Compares a generated part of a page with what stands there, or writes it.
fn check_generated(page: &str, head: &str, generated: &str) {
    let path = root().join("docs").join(page);
    let expected = format!("{head}{generated}");
    if std::env::var_os("KGCTX_WRITE_DOCS").is_some() {
        fs::write(&path, &expected).unwrap();
    }
    let text = read(&path);
    let differing = text.lines().zip(expected.lines()).find(|(is, should)| is != should);
    assert!(
        text == expected,
        "docs/{page} is out of date at {differing:?}; KGCTX_WRITE_DOCS=1 cargo test --test it docs writes it"
    );
}

#[test]
fn every_command_is_documented() {
    let scratch = Scratch::new();
    let commands = scratch.run(["man", "--markdown"]);
    let is_handoff = |section: &&str| section.starts_with("kgctx handoff");
    let sections: Vec<&str> = commands.trim_start_matches("## ").split("\n## ").collect();
    let page = |keep: &dyn Fn(&&str) -> bool| {
        let kept = sections.iter().filter(|section| keep(section));
        kept.map(|section| format!("\n## {}\n", section.trim_end())).collect::<String>()
    };
    let made = "Generated from `--help`, which has more details; `kgctx man COMMAND` prints a manual page.";
    let others = format!(
        "# Commands\n\n{made}\nMost commands take `--json`; its format is in [schema/json](../schema/json). \
         Commands about handoffs have [their own page](commands-handoff.md).\n"
    );
    check_generated("commands.md", &others, &page(&|section| !is_handoff(section)));
    let handoffs = format!(
        "# Commands about handoffs\n\n{made} [Handoffs](handoffs.md) explains how to use them.\n"
    );
    check_generated("commands-handoff.md", &handoffs, &page(&is_handoff));
}

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

/// The lines of a page's `sh` blocks that call kgctx, without their comments.
fn commands(page: &str) -> Vec<String> {
    let text = read(&root().join(page));
    let blocks = text.split("```sh\n").skip(1).filter_map(|rest| rest.split_once("```"));
    let lines = blocks.flat_map(|(block, _)| block.lines());
    let lines = lines.map(|line| line.split(" #").next().unwrap().trim().to_owned());
    lines.filter(|line| line.starts_with("kgctx ")).collect()
}

/// A copy of the example project.
fn atlas(scratch: &Scratch) -> PathBuf {
    let project = scratch.path().join("atlas");
    let mut copy = std::process::Command::new("cp");
    copy.arg("-R").arg(root().join("fixtures/projects/atlas")).arg(&project);
    assert!(copy.status().unwrap().success());
    project
}

/// The rows of the terminal in a picture.
fn rows(picture: &str) -> Vec<String> {
    let texts = picture.split("<text ").skip(1).filter_map(|text| text.split_once('>'));
    let rows = texts.filter_map(|(_, row)| row.split_once("</text>"));
    rows.map(|(row, _)| row.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
        .collect()
}

#[test]
fn the_picture_of_a_terminal_shows_what_commands_print() {
    let scratch = Scratch::new();
    let project = atlas(&scratch);
    let rows = rows(&read(&root().join("docs/pictures/terminal.svg")));
    let screens = rows.chunk_by(|_, next| !next.starts_with("$ kgctx "));
    let mut n_screens = 0;
    for screen in screens {
        let (command, shown) = screen.split_first().unwrap();
        let arguments = command.strip_prefix("$ kgctx ").unwrap().split(' ');
        let mut kgctx = scratch.kgctx(arguments);
        let output = kgctx.env_remove("KGCTX_RANK").current_dir(&project).output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        // Only the ends of lines differ.
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words(&shown.join(" ")), words(&printed), "run .ci/pictures: {command}");
        n_screens += 1;
    }
    assert_eq!(n_screens, 2);
}

/// A new user copies what stands there. Commands that need a running server, or a history, are tried elsewhere.
#[test]
fn the_commands_of_the_first_pages_work_as_they_stand() {
    let scratch = Scratch::new();
    let project = atlas(&scratch);
    let mut n_run = 0;
    for page in ["README.md", "docs/getting-started.md"] {
        for line in commands(page) {
            let is_elsewhere = ["--server", "kgctx check", "kgctx search", "kgctx doctor"];
            if is_elsewhere.iter().any(|part| line.contains(part)) {
                continue;
            }
            let kgctx = scratch.kgctx(["--version"]);
            let mut shell = std::process::Command::new("sh");
            let program =
                format!("kgctx() {{ '{}' \"$@\"; }}; {line}", kgctx.get_program().display());
            shell.args(["-ec", &program]).current_dir(&project).env_clear();
            shell.envs(kgctx.get_envs().filter_map(|(name, value)| Some((name, value?))));
            let output = shell.output().unwrap();
            assert!(output.status.success(), "{page}: {line}: {output:?}");
            n_run += 1;
        }
    }
    assert!(n_run >= 6, "{n_run} commands");
}
