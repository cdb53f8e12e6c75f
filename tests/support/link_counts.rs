//! The index of a vault against an independent count of every note's links, made in the simplest way that is right.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use kgctx::core::secrets;
use kgctx::workspace::refresh::Mode;
use rusqlite::Connection;

use super::naive_markdown::{normal_form, wiki_links};
use super::{Scratch, refreshed};

/// Links per concept of one note.
type Count = BTreeMap<String, u32>;

/// Counts the links of a markdown text.
fn count(text: &str) -> Count {
    let mut count = Count::new();
    for inner in wiki_links(text) {
        let name = normal_form(&inner);
        // What is a secret is the business of other tests; here it only must not count.
        if !name.is_empty() && secrets::find(&inner).is_empty() {
            *count.entry(name).or_default() += 1;
        }
    }
    count
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
pub(crate) fn check_link_counts(vault: &Path) -> (usize, u32) {
    let scratch = Scratch::new();
    // The rules of the count are maenifold's.
    scratch.write("kgctx-home/config.toml", "links = \"maenifold\"\n");
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
