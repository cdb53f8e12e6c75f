//! The repository's own rules: layers, heads, no forgotten test, a ceiling on dependencies.

use std::fs;
use std::path::{Path, PathBuf};

/// Which layer may name which. Nothing points back up.
const LAYERS: &[(&str, &[&str])] = &[
    ("core", &["core"]),
    ("system", &["system", "core"]),
    ("store", &["store", "system", "core"]),
    ("workspace", &["workspace", "store", "system", "core"]),
    ("sources", &["sources", "workspace", "store", "system", "core"]),
    ("hosts", &["hosts", "workspace", "store", "system", "core"]),
    ("app", &["app", "hosts", "sources", "workspace", "store", "system", "core"]),
    ("check", &["check", "app", "hosts", "sources", "workspace", "store", "system", "core"]),
    ("replay", &["replay", "app", "hosts", "sources", "workspace", "store", "system", "core"]),
    ("service", &["service", "app", "hosts", "workspace", "store", "system", "core"]),
    ("cli", &["cli", "service", "check", "replay", "app", "hosts", "sources", "workspace", "core"]),
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    fn collect(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                collect(&path, found);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    let mut found = Vec::new();
    collect(&root().join(folder), &mut found);
    found
}

#[test]
fn no_layer_names_one_above_it() {
    let mut wrong = Vec::new();
    for (path, text) in sources("src") {
        let relative = path.strip_prefix(root().join("src")).unwrap();
        let layer = relative
            .components()
            .next()
            .unwrap()
            .as_os_str()
            .to_str()
            .unwrap()
            .trim_end_matches(".rs");
        let Some((_, allowed)) = LAYERS.iter().find(|(name, _)| *name == layer) else { continue };
        for (n, line) in text.lines().enumerate() {
            for (_, named) in line.match_indices("crate::").map(|(at, _)| line[at..].split_at(7)) {
                let named = named.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap();
                if !allowed.contains(&named) {
                    wrong.push(format!("{}:{}: {layer} names {named}", relative.display(), n + 1));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A second place that claims or settles would be a second way to deliver a context twice.
#[test]
fn contexts_are_claimed_settled_and_released_in_one_place() {
    const STEPS: &[&str] = &[
        ".claim_for(",
        ".is_claimable(",
        ".renew_claim(",
        ".settle_receipt(",
        ".settle_claim(",
        ".release_receipt(",
        ".release_claim(",
        ".remember_session(",
        "Claim::Won",
    ];
    let store = fs::read_to_string(root().join("src/store/state/claims.rs")).unwrap();
    for step in STEPS.iter().filter_map(|step| step.strip_prefix('.')).take(7) {
        assert!(
            store.contains(&format!("pub fn {step}")),
            "the state has no {step}: adapt this test"
        );
    }
    for (path, text) in sources("src") {
        let file = path.strip_prefix(root().join("src")).unwrap().to_str().unwrap();
        let is_allowed = ["app/deliver", "store/state"].iter().any(|room| file.starts_with(room));
        let named = STEPS.iter().find(|step| !is_allowed && text.contains(**step));
        assert_eq!(named, None, "{file}: only app/deliver may name this");
    }
}

#[test]
fn no_room_passes_on_what_belongs_to_another() {
    let mut wrong = Vec::new();
    for (path, text) in sources("src") {
        let relative = path.strip_prefix(root().join("src")).unwrap().to_str().unwrap();
        let room = relative.split(['/', '.']).next().unwrap();
        for (n, line) in text.lines().enumerate() {
            let line = line.trim_start();
            let Some((_, named)) =
                line.split_once("use crate::").filter(|_| line.starts_with("pub"))
            else {
                continue;
            };
            if !named.starts_with(&format!("{room}::")) {
                wrong.push(format!("{relative}:{}: {line}", n + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "name these where they are defined: {wrong:#?}");
}

/// The name of the function that begins in a line.
fn function_name(line: &str) -> Option<&str> {
    let (before, after) = line.trim_start().split_once("fn ")?;
    let is_qualifier = |word: &str| {
        word.starts_with("pub") || word.ends_with(')') || ["async", "const"].contains(&word)
    };
    before.split_whitespace().all(is_qualifier).then(|| after.split(['(', '<']).next())?
}

/// The functions of a file, each with its first line and its length.
fn functions<'a>(lines: &[&'a str]) -> Vec<(&'a str, usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        if let Some(name) = function_name(lines[at]) {
            let indent = lines[at].len() - lines[at].trim_start().len();
            let is_head = |line: &&str| !line.contains('{') && !line.ends_with(';');
            let head = lines[at..].iter().take_while(|line| is_head(line)).count();
            let opening = lines.get(at + head).copied().unwrap_or_default();
            let is_open = opening.contains('{') && !opening.ends_with('}');
            let is_end = |line: &&str| *line == format!("{:indent$}}}", "");
            let body = lines[at..].iter().position(is_end).filter(|_| is_open);
            let length = body.unwrap_or(head) + 1;
            found.push((name, at + 1, length));
            at += length;
        } else {
            at += 1;
        }
    }
    found
}

#[test]
fn functions_and_files_are_short() {
    let (mut lengths, mut wrong, mut n_functions) = (Vec::new(), Vec::new(), 0);
    for (path, text) in sources("src") {
        let path = path.strip_prefix(root()).unwrap().display().to_string();
        if path.ends_with("tests.rs") {
            continue;
        }
        let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        let lines: Vec<&str> = text.lines().collect();
        lengths.push(lines.len());
        if lines.len() > 450 {
            wrong.push(format!("{path} has {} lines", lines.len()));
        }
        for (name, line, length) in functions(&lines) {
            n_functions += 1;
            if length > 70 {
                wrong.push(format!("{path}:{line}: {name} has {length} lines"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    lengths.sort_unstable();
    let median = lengths[lengths.len() / 2];
    assert!(median <= 150, "the median file has {median} lines");
    assert!(n_functions > 1_500, "only {n_functions} functions were found");
}

#[test]
fn every_file_says_what_it_is() {
    for folder in ["src", "tests", "benches", "build"] {
        for (path, text) in sources(folder) {
            assert!(text.starts_with("//! "), "{} has no head", path.display());
        }
    }
}

/// The files that a file of tests or benchmarks declares as its modules.
fn declared_modules(path: &Path, text: &str, is_root: bool) -> Vec<PathBuf> {
    let folder = path.parent().unwrap();
    let modules = if is_root { folder.to_path_buf() } else { path.with_extension("") };
    let mut declared = Vec::new();
    let mut at_path = None;
    for line in text.lines() {
        if let Some(relative) = line.strip_prefix("#[path = \"") {
            at_path = Some(folder.join(relative.trim_end_matches("\"]")));
        } else if let Some((_, name)) = line.split_once("mod ").filter(|_| line.ends_with(';')) {
            let file = format!("{}.rs", name.trim_end_matches(';'));
            declared.push(at_path.take().unwrap_or_else(|| modules.join(file)));
        }
    }
    declared.iter().filter_map(|file| file.canonicalize().ok()).collect()
}

#[test]
fn every_test_module_is_run() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let is_target = |path: &Path| {
        let path = path.strip_prefix(root()).unwrap().display();
        manifest.contains(&format!("path = \"{path}\"")) || path.to_string().starts_with("benches/")
    };
    let tests = sources("tests");
    let declared: Vec<PathBuf> = tests
        .iter()
        .chain(&sources("benches"))
        .flat_map(|(path, text)| {
            declared_modules(path, text, is_target(path) || path.ends_with("lib.rs"))
        })
        .collect();
    for (path, _) in tests {
        let is_run = is_target(&path) || declared.contains(&path.canonicalize().unwrap());
        assert!(is_run, "{} is never run", path.display());
    }
}

/// What the compiler does not check stands in one file, which Unix does not have.
#[test]
fn what_the_compiler_does_not_check_is_of_windows() {
    let naming = |words: &[&str]| {
        let is_naming = |text: &str| words.iter().any(|word| text.contains(word));
        let naming = sources("src").into_iter().filter(|(_, text)| is_naming(text));
        let mut naming: Vec<String> = naming.map(|(path, _)| path.display().to_string()).collect();
        naming.retain(|path| !path.ends_with("src/system/windows.rs"));
        naming
    };
    let unchecked = naming(&["unsafe {", "unsafe impl", "unsafe fn", "expect(unsafe_code"]);
    assert!(unchecked.is_empty(), "{unchecked:?}");
    // The standard library's own gives names on Windows that other programs do not understand.
    let canonical = naming(&["fs::canonicalize", ".canonicalize()"]);
    assert!(canonical.is_empty(), "these want `dunce::canonicalize`: {canonical:?}");
}

#[test]
fn the_change_log_speaks_of_this_version() {
    let log = fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
    assert!(
        log.contains("## [Unreleased]")
            || log.contains(&format!("## [{}]", env!("CARGO_PKG_VERSION")))
    );
}

#[test]
fn dependencies_stay_few() {
    let lock = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let packages = lock.matches("[[package]]").count();
    assert!(packages <= 260, "{packages} packages in Cargo.lock: does the new one earn its place?");
}

/// The ids under which the requirements of handoffs are known: each is the name of a test, or stands in one.
#[test]
fn every_requirement_of_handoffs_has_a_test() {
    let ids = (1..=24)
        .map(|n| format!("H-0.{n}"))
        .chain((1..=46).map(|n| format!("A-1.{n}")))
        .chain((1..=34).map(|n| format!("P-3.{n}")))
        .chain((1..=36).map(|n| format!("R-4.{n}")));
    let texts: Vec<String> = ["src", "tests", "benches"]
        .into_iter()
        .flat_map(sources)
        .filter(|(path, text)| {
            path.file_name().unwrap() != "tidy.rs" && text.contains("#[test]")
                || path.starts_with(root().join("benches"))
        })
        .map(|(_, text)| text)
        .collect();
    let is_named = |text: &String, id: &str| {
        text.match_indices(id)
            .any(|(at, _)| !text[at + id.len()..].starts_with(|c: char| c.is_ascii_digit()))
    };
    let missing: Vec<String> =
        ids.filter(|id| !texts.iter().any(|text| is_named(text, id))).collect();
    assert!(missing.is_empty(), "no test names {missing:?}");
}
