//! The index against an independent count of every note's links, made in the simplest way that is right.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use kgctx::app::refresh::Mode;
use kgctx::engine::secrets;
use rusqlite::Connection;

use crate::support::{Scratch, refreshed, shared};
use crate::vault_generator;

/// Links per concept of one note.
type Count = BTreeMap<String, u32>;

/// Counts the links of a markdown text: takes away what is no text, then looks for brackets.
fn count(text: &str) -> Count {
    let mut body = text.replace("\r\n", "\n");
    if let Some(rest) = body.strip_prefix("---\n")
        && let Some(end) = format!("\n{rest}").find("\n---\n")
    {
        body = rest[(end + 4).min(rest.len())..].to_owned();
    }
    let mut count = Count::new();
    for paragraph in paragraphs(&body) {
        let text = without_code_and_html(&paragraph);
        let mut rest = text.as_str();
        while let Some(open) = rest.find("[[") {
            let before = &rest[..open];
            let inner_on = &rest[open + 2..];
            let Some(close) = inner_on.find(['[', ']']) else { break };
            let after = &inner_on[close..];
            let closes = after.starts_with("]]") && !after.starts_with("]]]");
            if close > 0 && closes && !before.ends_with('[') {
                let name = normal_form(&inner_on[..close]);
                // What is a secret is the business of other tests; here it only must not count.
                let is_secret = !secrets::find(&inner_on[..close]).is_empty();
                if !name.is_empty() && !is_secret {
                    *count.entry(name).or_default() += 1;
                }
                rest = &after[2..];
            } else {
                rest = &rest[open + 1..];
            }
        }
    }
    count
}

fn normal_form(name: &str) -> String {
    let lower = name.trim().to_lowercase().replace([' ', '_', '/'], "-");
    let parts: Vec<&str> = lower.split('-').filter(|part| !part.is_empty()).collect();
    parts.join("-")
}

/// The text between blank lines, without fenced and indented code and HTML blocks.
fn paragraphs(body: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    let mut fence: Option<String> = None;
    let mut html_until: Option<&str> = None;
    let mut in_list = false;
    for line in body.lines() {
        let quoted = line.trim_start_matches(['>', ' ']);
        let content = if line.trim_start().starts_with('>') { quoted } else { line };
        let trimmed = content.trim();
        let indent = content.len() - content.trim_start().len();
        if let Some(open) = &fence {
            if trimmed.starts_with(open.as_str()) && trimmed.trim_matches(['`', '~']).is_empty() {
                fence = None;
            }
            continue;
        }
        if let Some(end) = html_until {
            if (end.is_empty() && trimmed.is_empty()) || (!end.is_empty() && trimmed.contains(end))
            {
                html_until = None;
            }
            continue;
        }
        let item = trimmed
            .trim_start_matches(['-', '*', '+'])
            .trim_start_matches(|c: char| c.is_ascii_digit());
        let item = item.trim_start_matches(['.', ')']);
        let after_marker =
            if item.starts_with(' ') && item.len() < trimmed.len() { item.trim() } else { trimmed };
        let mark = after_marker.chars().next().unwrap_or(' ');
        let run: String = after_marker.chars().take_while(|&c| c == mark).collect();
        if matches!(mark, '`' | '~')
            && run.len() >= 3
            && !(mark == '`' && after_marker[run.len()..].contains('`'))
        {
            fence = Some(run);
            paragraphs.push(String::new());
            continue;
        }
        let at_paragraph_start = paragraphs.last().is_some_and(String::is_empty);
        if is_html_block(trimmed) && (at_paragraph_start || trimmed.starts_with("<!--")) {
            let end = if trimmed.starts_with("<!--") { "-->" } else { "" };
            if end.is_empty() || !trimmed.contains(end) {
                html_until = Some(end);
            }
            continue;
        }
        if trimmed.is_empty() {
            paragraphs.push(String::new());
            continue;
        }
        if at_paragraph_start && !in_list && (line.starts_with("    ") || line.starts_with('\t')) {
            continue;
        }
        if item.starts_with(' ') && item.len() < trimmed.len() {
            in_list = true;
            paragraphs.push(String::new());
        } else if indent == 0 && at_paragraph_start {
            in_list = false;
        }
        if trimmed.starts_with('#') {
            paragraphs.push(String::new());
        }
        let paragraph = paragraphs.last_mut().unwrap();
        paragraph.push_str(content);
        paragraph.push('\n');
    }
    paragraphs
}

fn is_html_block(line: &str) -> bool {
    const TAGS: &[&str] =
        &["div", "details", "summary", "table", "p", "iframe", "center", "section", "figure", "ul"];
    line.starts_with("<!--")
        || TAGS.iter().any(|tag| {
            let rest = line.strip_prefix("</").or_else(|| line.strip_prefix('<'));
            rest.and_then(|rest| rest.strip_prefix(tag))
                .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '>', '/']))
        })
}

/// Blanks code spans, comments and tags.
fn without_code_and_html(paragraph: &str) -> String {
    let mut text = String::new();
    let mut rest = paragraph;
    while let Some(at) = rest.find(['`', '<', '\\']) {
        text.push_str(&rest[..at]);
        let from = &rest[at..];
        let end = if let Some(after) = from.strip_prefix('\\') {
            // An escaped mark begins nothing.
            let escaped = usize::from(after.starts_with(['`', '<', '\\']));
            text.push_str(&from[..=escaped]);
            Some(1 + escaped)
        } else if from.starts_with('`') {
            let run = from.len() - from.trim_start_matches('`').len();
            let mut search = run;
            let mut end = None;
            while let Some(found) = from[search..].find('`') {
                let start = search + found;
                let length = from[start..].len() - from[start..].trim_start_matches('`').len();
                if length == run {
                    end = Some(start + length);
                    break;
                }
                search = start + length;
            }
            if end.is_none() {
                text.push_str(&from[..run]);
            }
            end.or(Some(run))
        } else if from.starts_with("<!--") {
            from.find("-->").map(|end| end + 3)
        } else if from[1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '/') {
            from.find('>').map(|end| end + 1)
        } else {
            None
        };
        rest = &from[end.unwrap_or(1)..];
        match end {
            None => text.push('<'),
            Some(_) if from.starts_with('\\') => {}
            Some(_) => text.push(' '),
        }
    }
    text.push_str(rest);
    text
}

/// What the index says, read from its tables.
fn indexed(index: &Path) -> BTreeMap<String, Count> {
    let connection = Connection::open(index).unwrap();
    let sql =
        "SELECT f.path, n.name, c.name, m.links FROM notes n JOIN folders f ON f.id = n.folder
               LEFT JOIN mentions m ON m.note = n.id LEFT JOIN concepts c ON c.id = m.concept";
    let mut statement = connection.prepare(sql).unwrap();
    let mut rows = statement.query([]).unwrap();
    let mut notes: BTreeMap<String, Count> = BTreeMap::new();
    while let Some(row) = rows.next().unwrap() {
        let folder: String = row.get(0).unwrap();
        let name: String = row.get(1).unwrap();
        let note = notes.entry(Path::new(&folder).join(name).display().to_string()).or_default();
        if let Some(concept) = row.get::<_, Option<String>>(2).unwrap() {
            note.insert(concept, row.get(3).unwrap());
        }
    }
    notes
}

fn markdown_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            markdown_files(&entry.path(), found);
        } else if name.ends_with(".md") {
            found.push(entry.path());
        }
    }
}

/// Compares the index of a vault with the independent count, note by note; returns the numbers of both.
#[track_caller]
fn check(vault: &Path) -> (usize, u32) {
    let scratch = Scratch::new();
    let workspace = scratch.workspace(vault);
    refreshed(&workspace, Mode::Incremental);
    let indexed = indexed(&workspace.index_path());
    let mut files = Vec::new();
    markdown_files(vault, &mut files);
    let mut differences = Vec::new();
    let mut links = 0;
    for file in &files {
        let path = file.strip_prefix(vault).unwrap().display().to_string();
        let expect = count(&String::from_utf8_lossy(&fs::read(file).unwrap()));
        links += expect.values().sum::<u32>();
        if indexed.get(&path) != Some(&expect) {
            let found = indexed.get(&path).cloned().unwrap_or_default();
            let only = |a: &Count, b: &Count| -> Vec<String> {
                a.iter()
                    .filter(|(name, n)| b.get(*name) != Some(n))
                    .map(|(name, n)| format!("{name} {n}"))
                    .collect()
            };
            differences.push(format!(
                "{path}: index {:?}, count {:?}",
                only(&found, &expect),
                only(&expect, &found)
            ));
        }
    }
    let shown: Vec<&String> = differences.iter().take(40).collect();
    assert!(
        differences.is_empty(),
        "{} of {} notes differ:\n{shown:#?}",
        differences.len(),
        files.len()
    );
    assert_eq!(indexed.len(), files.len());
    (files.len(), links)
}

#[test]
fn a_generated_vault_is_counted_right() {
    let scratch = Scratch::new();
    let vault = scratch.path().join("vault");
    vault_generator::generate(&vault, 600, 11);
    let (notes, links) = check(&vault);
    assert_eq!(notes, 600);
    assert!(links > 3_000, "{links}");
}

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
    let (notes, links) = check(&vault);
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
        let (notes, links) = check(&vault);
        eprintln!("{name}: {notes} notes, {links} links agree");
    }
}
