//! The link rules on real notes, against a count made in the simplest way that is right: every link is compared with every note.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use kgctx::check::finding::{Finding, Rule};
use kgctx::check::repository_file::RepositoryFile;
use kgctx::check::rules::find_all;
use kgctx::check::rules::roles::Roles;
use kgctx::check::rules::{CheckedVault, RuleInput};
use kgctx::check::settings::CheckSettings;
use kgctx::core::settings::LinkStyle;
use kgctx::core::time::Timestamp;
use kgctx::core::tokens::encoding::Encoding;

use crate::support::naive_markdown::{normal_form, plain_texts, wiki_links};
use crate::support::{Scratch, shared};

/// How often a rule is broken in each note.
type Count = BTreeMap<String, usize>;

/// A note as simple code sees it.
struct Simple {
    path: String,
    /// Its names: from the best kind to the last.
    names: [Vec<String>; 5],
    wiki_links: Vec<String>,
    targets: Vec<String>,
}

fn files_below(top: &Path, folder: &Path, found: &mut Vec<RepositoryFile>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        // No note lies in a hidden folder.
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        if path.is_dir() {
            files_below(top, &path, found);
            continue;
        }
        found.push(RepositoryFile {
            path: path.strip_prefix(top).unwrap().to_str().unwrap().to_owned(),
            text: Some(fs::read_to_string(path).unwrap()),
            modified: Timestamp(0),
        });
    }
}

fn found(files: &[RepositoryFile], links: LinkStyle) -> Vec<Finding> {
    let vaults = [CheckedVault {
        name: "notes".to_owned(),
        folder: String::new(),
        style: links,
        is_flat: false,
    }];
    let settings = CheckSettings::default();
    let input = RuleInput {
        files,
        unread: &[],
        roles: Roles { settings: &settings, vaults: &vaults },
        links,
        now: Timestamp(0),
        encoding: Encoding::O200kBase,
        max_age_days: 7,
    };
    find_all(&input)
}

fn simple(file: &RepositoryFile, style: LinkStyle) -> Simple {
    let text = file.text.as_deref().unwrap();
    let path = file.path.strip_suffix(".md").unwrap().to_owned();
    let stem = path.rsplit('/').next().unwrap().to_owned();
    let head = text.strip_prefix("---\n").and_then(|rest| rest.split("\n---\n").next());
    let mut title = None;
    let mut aliases = Vec::new();
    let mut in_aliases = false;
    let plain = |text: &str| text.trim().trim_matches(['"', '\'']).replace("''", "'");
    let mut lines = head.unwrap_or_default().lines();
    while let Some(line) = lines.next() {
        if let Some(value) = line.strip_prefix("title:") {
            let mut value = value.trim().to_owned();
            if [">-", "|"].contains(&value.as_str()) {
                let block = lines.clone().take_while(|line| line.starts_with(' '));
                value = block.map(str::trim).collect::<Vec<_>>().join(" ");
            }
            title = Some(plain(&value)).filter(|title| !title.is_empty());
        }
        if let Some(value) = line.strip_prefix("aliases:").or(line.strip_prefix("alias:")) {
            in_aliases = true;
            let inner = value.trim().trim_matches(['[', ']']);
            aliases.extend(inner.split(',').map(plain).filter(|alias| !alias.is_empty()));
        } else if let Some(item) = line.trim_start().strip_prefix("- ").filter(|_| in_aliases) {
            aliases.push(plain(item));
        } else {
            in_aliases = false;
        }
    }
    let texts = plain_texts(text);
    let heading = || {
        let line = texts
            .iter()
            .flat_map(|text| text.lines())
            .find(|line| line.starts_with('#') && line.trim_start_matches('#').starts_with(' '))?;
        Some(line.trim_start_matches('#').trim().trim_end_matches('#').trim().to_owned())
    };
    let title = title.or_else(heading).filter(|title| !title.is_empty());
    let ends: Vec<String> = match style {
        LinkStyle::Maenifold => Vec::new(),
        _ => path.match_indices('/').map(|(at, _)| path[at + 1..].to_owned()).collect(),
    };
    let names = [vec![path], vec![title.unwrap_or(stem.clone())], aliases, vec![stem], ends];
    Simple {
        names: names.map(|names| names.iter().map(|own| name(own, style)).collect()),
        path: file.path.clone(),
        wiki_links: wiki_links(text),
        targets: texts.iter().flat_map(|text| targets(text)).collect(),
    }
}

/// Where the links and definitions of a paragraph lead.
fn targets(paragraph: &str) -> Vec<String> {
    let mut targets = Vec::new();
    let mut rest = paragraph;
    while let Some(at) = rest.find("](") {
        let is_formula = rest[..at].matches('$').count() % 2 == 1 || paragraph.contains("$$");
        let inside = &rest[at + 2..];
        let mut depth = 0;
        let end = inside.find(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth < 0 || c == ' ' || c == '\n'
        });
        if let Some(end) = end.filter(|_| !is_formula) {
            let behind = inside[end..].trim_start();
            // Behind the target stands a title, or nothing.
            if inside[end..].starts_with(')') || behind.starts_with(['"', '\'', ')']) {
                targets.push(inside[..end].to_owned());
            }
        }
        rest = inside;
    }
    for line in paragraph.lines().filter(|line| line.starts_with('[')) {
        let definition = line.split_once("]: ").filter(|_| !line[1..].starts_with(['[', '^']));
        if let Some((_, target)) = definition.filter(|(_, target)| !target.trim().contains(' ')) {
            targets.push(target.trim().to_owned());
        }
    }
    targets
}

fn name(text: &str, style: LinkStyle) -> String {
    match style {
        LinkStyle::Maenifold => normal_form(text),
        _ => {
            let text = text.trim().trim_start_matches('/');
            text.strip_suffix(".md").unwrap_or(text).to_lowercase()
        }
    }
}

/// The notes that a `[[link]]` means.
fn meant(inner: &str, notes: &[Simple], style: LinkStyle) -> Vec<usize> {
    let wanted = name(inner, style);
    for kind in 0..5 {
        let has = |note: &Simple| note.names[kind].contains(&wanted);
        let fitting: Vec<usize> = (0..notes.len()).filter(|&n| has(&notes[n])).collect();
        if !fitting.is_empty() {
            return fitting;
        }
    }
    Vec::new()
}

/// The path of a target seen from a folder; `None` where it leaves the vault.
fn seen_from(folder: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." {
            parts.pop()?;
        } else {
            parts.push(part);
        }
    }
    Some(parts.join("/"))
}

/// The note at a path: `Some(None)` for a folder.
fn note_at(path: &str, notes: &BTreeMap<&str, usize>) -> Option<Option<usize>> {
    for ending in ["", ".md", "/index.md", "/README.md", "/_index.md"] {
        if let Some(&number) = notes.get(format!("{path}{ending}").as_str()) {
            return Some(Some(number));
        }
    }
    let below = format!("{path}/");
    let next = notes.range(below.as_str()..).next();
    next.is_some_and(|(path, _)| path.starts_with(&below)).then_some(None)
}

/// What is broken by the simplest code: dangling, ambiguous, orphan.
fn simple_counts(files: &[RepositoryFile], style: LinkStyle) -> [Count; 3] {
    let notes: Vec<Simple> = files.iter().map(|file| simple(file, style)).collect();
    let by_path: BTreeMap<&str, usize> =
        notes.iter().enumerate().map(|(number, note)| (note.path.as_str(), number)).collect();
    let [mut dangling, mut ambiguous, mut orphans] = [Count::new(), Count::new(), Count::new()];
    let mut tied: BTreeSet<usize> = BTreeSet::new();
    let mut concepts: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    let mut known: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut ends: BTreeMap<String, usize> = BTreeMap::new();
    for (path, number) in &by_path {
        let small = path.to_lowercase();
        for at in small.match_indices('/').map(|(at, _)| at + 1).chain([0]) {
            ends.entry(small[at..].to_owned()).or_insert(*number);
        }
    }
    for (number, note) in notes.iter().enumerate() {
        let folder = note.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut tie = |to: usize| {
            if to != number {
                tied.extend([number, to]);
            }
        };
        for inner in &note.wiki_links {
            let target = match style {
                LinkStyle::Maenifold => inner.as_str(),
                _ => inner.split(['|', '#', '^']).next().unwrap().trim_end_matches('\\').trim(),
            };
            let concept = match style {
                LinkStyle::Maenifold => normal_form(inner),
                _ => {
                    let name = inner.split(['|', '#', '^']).next().unwrap().trim_end_matches('\\');
                    let below =
                        name.strip_prefix("dendron://").and_then(|rest| rest.split_once('/'));
                    normal_form(below.map_or(name, |(_, note)| note))
                }
            };
            if !concept.is_empty() {
                concepts.entry(concept).or_default().insert(number);
            }
            if target.is_empty() {
                continue;
            }
            let mut means = |target: &str| -> Vec<usize> {
                let wanted = name(target, style);
                known.entry(wanted).or_insert_with(|| meant(target, &notes, style)).clone()
            };
            let mut meaning = means(target);
            // In a Dendron vault the note is behind the bar, by its name or with its vault.
            let behind = inner.rsplit('|').next().unwrap().split(['#', '^']).next().unwrap().trim();
            let is_address = behind.contains("://");
            if style == LinkStyle::Obsidian && meaning.len() != 1 && inner.contains('|') {
                let named = if is_address { behind.rsplit('/').next().unwrap() } else { behind };
                let other = means(named);
                if other.len() == 1 || is_address {
                    meaning = other;
                }
            }
            meaning.iter().for_each(|&to| tie(to));
            if meaning.len() > 1 {
                *ambiguous.entry(note.path.clone()).or_default() += 1;
            }
            let means = meaning;
            let is_open = target.contains(['{', '$'])
                || target.contains("://")
                || target.contains('*')
                || target == "..."
                || inner.contains("|#")
                || is_address;
            if !means.is_empty() || style == LinkStyle::Maenifold || is_open {
                continue;
            }
            let paths = [folder, ""].into_iter().filter_map(|folder| seen_from(folder, target));
            let small = target.trim_start_matches(['.', '/']).to_lowercase();
            match paths.into_iter().find_map(|path| note_at(&path, &by_path)) {
                Some(to) => to.into_iter().for_each(&mut tie),
                None if target == "/" => {}
                None if ends.contains_key(&small) => tie(ends[&small]),
                None => *dangling.entry(note.path.clone()).or_default() += 1,
            }
        }
        for target in &note.targets {
            let file = target.split(['#', '?']).next().unwrap();
            let file = file.trim_matches(['<', '>']).replace("%20", " ");
            let first = file.split('/').next().unwrap();
            let has_scheme = first.contains(':') && !first.starts_with('(');
            let is_open =
                file.starts_with("//") || file.starts_with("[[") || file.contains(['{', '$']);
            if file.is_empty() || has_scheme || is_open {
                continue;
            }
            let from = if file.starts_with('/') { "" } else { folder };
            let mut paths =
                [from, ""].into_iter().filter_map(|from| seen_from(from, &file)).peekable();
            let is_inside = paths.peek().is_some();
            let small = file.trim_start_matches(['.', '/']).to_lowercase();
            let by_end = ends.get(&small).or_else(|| ends.get(&format!("{small}.md")));
            let by_end = by_end.filter(|_| style == LinkStyle::Obsidian);
            // A line's number may follow: `a.md:6`.
            let is_note =
                file.trim_end_matches(|c: char| c.is_ascii_digit() || c == ':').ends_with(".md");
            let has_ending = file.rsplit('/').next().unwrap().contains('.');
            // Files below a top folder that is not there are those of another repository.
            let top = file.strip_prefix('/').and_then(|path| Some(path.split_once('/')?.0));
            let is_elsewhere = top.is_some_and(|top| note_at(top, &by_path).is_none());
            let is_route = file.starts_with('/') && !is_note && (!has_ending || is_elsewhere);
            match paths.find_map(|path| note_at(&path, &by_path)) {
                Some(to) => to.into_iter().for_each(&mut tie),
                None if is_route || !is_inside => {}
                None if by_end.is_some() => by_end.copied().into_iter().for_each(&mut tie),
                None if ["url", "link", "path", "TODO", "example.com"].contains(&file.as_str()) => {
                }
                None => *dangling.entry(note.path.clone()).or_default() += 1,
            }
        }
    }
    // A template is a sample to fill in.
    let is_template = |path: &String| {
        let name = path.rsplit('/').next().unwrap().to_lowercase();
        let stem = name.strip_suffix(".md").unwrap_or(&name);
        let mut words = stem.split(|c: char| !c.is_ascii_alphanumeric());
        let first = words.next();
        first == Some("template") || words.next_back() == Some("template")
    };
    dangling.retain(|path, _| !is_template(path));
    tied.extend(concepts.values().filter(|notes| notes.len() > 1).flatten());
    for (number, note) in notes.iter().enumerate() {
        let stem = note.path.rsplit('/').next().unwrap().to_lowercase();
        let is_index = ["readme.md", "index.md", "agents.md", "claude.md", "_index.md"]
            .contains(&stem.as_str());
        if !tied.contains(&number) && !is_index && !is_template(&note.path) {
            orphans.insert(note.path.clone(), 1);
        }
    }
    [dangling, ambiguous, orphans]
}

/// Compares the rules with the simplest code, note by note; returns the numbers of both.
#[track_caller]
fn compare(files: &[RepositoryFile], style: LinkStyle) -> [usize; 3] {
    let found = found(files, style);
    let rules = [Rule::DanglingLink, Rule::AmbiguousLink, Rule::OrphanNote];
    let expected = simple_counts(files, style);
    let mut differences = Vec::new();
    for (rule, expect) in rules.into_iter().zip(&expected) {
        let mut count = Count::new();
        for finding in found.iter().filter(|finding| finding.rule == rule) {
            *count.entry(finding.spot.path.clone()).or_default() += 1;
        }
        let paths: BTreeSet<&String> = count.keys().chain(expect.keys()).collect();
        for path in paths.into_iter().filter(|path| count.get(*path) != expect.get(*path)) {
            let [count, expect] = [&count, expect].map(|count| count.get(path).copied());
            differences.push(format!("{} {path}: {count:?}, counted {expect:?}", rule.id()));
        }
    }
    assert!(differences.is_empty(), "{style}: {} differ: {differences:#?}", differences.len());
    expected.map(|count| count.values().sum())
}

#[test]
fn real_notes_are_judged_right() {
    let Some(unpacker) = shared("tools/last_vault.py") else {
        eprintln!("skipped: ../shared/tools/last_vault.py is not beside this checkout");
        return;
    };
    for name in ["dendron-site", "aarnphm-garden", "skill-memory-bank", "space-cadet-mb"] {
        let scratch = Scratch::new();
        let vault = scratch.path().join(name);
        let data = shared(&format!("quality/data/{name}.replay.json.xz")).unwrap();
        let status = Command::new("python3").arg(&unpacker).arg(data).arg(&vault).status().unwrap();
        assert!(status.success());
        let mut files = Vec::new();
        files_below(&vault, &vault, &mut files);
        for style in [LinkStyle::Maenifold, LinkStyle::Obsidian] {
            let [dangling, ambiguous, orphans] = compare(&files, style);
            eprintln!(
                "{name}, {} notes, {style}: {dangling} dangling and {ambiguous} ambiguous links, {orphans} orphans agree",
                files.len()
            );
        }
    }
}
