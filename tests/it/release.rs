//! What a release consists of: one version, one repository, the same platforms everywhere, and workflows that can be read.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

const WORKFLOWS: [&str; 2] = [".github/workflows/ci.yml", ".github/workflows/release.yml"];

/// What Cargo.toml says until there is a public repository.
const PLACEHOLDER: &str = "example.invalid/kgctx";

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn text(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn yaml(file: &str) -> Value {
    serde_saphyr::from_str(&text(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The files of the repository that are text.
fn files() -> Vec<(PathBuf, String)> {
    let is_ours = |entry: &ignore::DirEntry| entry.file_name() != ".git";
    let files = ignore::WalkBuilder::new(root()).hidden(false).filter_entry(is_ours).build();
    let files = files.map(|entry| entry.unwrap().into_path());
    files.filter_map(|path| fs::read_to_string(&path).ok().map(|text| (path, text))).collect()
}

#[test]
fn only_cargo_toml_says_where_the_repository_is() {
    let repository = env!("CARGO_PKG_REPOSITORY");
    assert!(repository.starts_with("https://") && !repository.ends_with('/'), "{repository}");
    let is_named = |text: &str| {
        let forges = ["github.com/", "gitlab.com/", "codeberg.org/"].iter();
        let found = forges.flat_map(|forge| text.match_indices(forge).map(|(at, _)| &text[at..]));
        let ends = |c: char| c.is_whitespace() || "\"')>`#]".contains(c);
        let mut addresses = found.map(|rest| rest.split(ends).next().unwrap());
        let is_ours = |address: &str| address.split(['/', '.', ':']).nth(3) == Some("kgctx");
        text.contains(repository) || text.contains(PLACEHOLDER) || addresses.any(is_ours)
    };
    // Otherwise the test would see nothing.
    for named in ["see https://github.com/somebody/kgctx.git", "git@gitlab.com/x/kgctx", repository]
    {
        assert!(is_named(named), "{named}");
    }
    assert!(!is_named("https://github.com/somebody/else/kgctx and https://github.com/a/b"));
    let files = files();
    assert!(files.len() > 500, "{} files", files.len());
    let name = |path: &Path| path.strip_prefix(root()).unwrap().display().to_string();
    let others = files.iter().filter(|(path, _)| !path.ends_with(file!()));
    let naming: Vec<String> =
        others.filter(|(_, text)| is_named(text)).map(|(path, _)| name(path)).collect();
    assert_eq!(naming, ["Cargo.toml"], "these read it from Cargo.toml, or do without");
}

#[test]
fn workflows_run_scripts_that_there_are_and_give_them_values_through_the_environment() {
    let mut run = BTreeSet::new();
    for workflow in WORKFLOWS {
        let jobs = yaml(workflow)["jobs"].clone();
        for (name, job) in jobs.as_object().unwrap() {
            assert!(job["timeout-minutes"].is_u64(), "{workflow}: {name} could hang for hours");
            for step in job["steps"].as_array().unwrap() {
                let Some(script) = step["run"].as_str() else { continue };
                assert!(!script.contains("${{"), "{workflow}: {script}");
                let words = script.split_whitespace().filter(|word| word.starts_with(".ci/"));
                run.extend(words.map(str::to_owned));
            }
        }
    }
    assert!(run.contains(".ci/run") && run.contains(".ci/archive"), "{run:?}");
    for script in run {
        assert!(root().join(&script).is_file(), "there is no {script}");
    }
}

/// A platform that one of them forgot would be built and not be found, or be asked for and not be there.
#[test]
fn a_release_has_the_platforms_that_are_asked_for() {
    let release = yaml(".github/workflows/release.yml");
    let matrix = release["jobs"]["archive"]["strategy"]["matrix"]["include"].as_array().unwrap();
    let built: BTreeSet<&str> =
        matrix.iter().map(|entry| entry["target"].as_str().unwrap()).collect();
    // The one for Windows is a .zip, which only the release itself has.
    let zipped = |target: &&str| target.contains("-windows-");
    assert_eq!(built.iter().filter(|target| zipped(target)).count(), 1);
    let of_windows = text(".ci/release.py");
    assert!(built.iter().filter(|target| zipped(target)).all(|it| of_windows.contains(it)));
    assert!(built.iter().filter(|target| zipped(target)).all(|it| text("deny.toml").contains(it)));
    let built: BTreeSet<&str> = built.into_iter().filter(|target| !zipped(target)).collect();
    assert_eq!(built.len(), 4);
    let triples = |file: &str| {
        let text = text(file);
        let is_name = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
        let words = text.split(|c: char| !is_name(c)).map(str::to_owned);
        let is_triple = |word: &String| {
            ["-unknown-linux-", "-apple-darwin"].iter().any(|part| word.contains(part))
        };
        words
            .filter(|word| !word.starts_with('-'))
            .filter(is_triple)
            .map(|word| word.trim_start_matches("kgctx-").to_owned())
            .collect::<BTreeSet<String>>()
    };
    let built: BTreeSet<String> = built.into_iter().map(str::to_owned).collect();
    for file in [".ci/release.py", "action.yml", "deny.toml", "packaging/homebrew/kgctx.rb.in"] {
        assert_eq!(triples(file), built, "{file}");
    }
    let linux: BTreeSet<String> = built.into_iter().filter(|name| name.contains("linux")).collect();
    assert!(triples("packaging/aur/PKGBUILD.in").is_superset(&linux));
}
