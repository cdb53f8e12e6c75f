//! Worktrees: one project, whose worktrees have their own notes and settings each.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use rusqlite::Connection;
use serde_json::Value;

use crate::support::{Scratch, git};

/// A repository `app` with a note, and a worktree `trees/fix` in which it says something else.
fn with_worktree() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("app/docs/plan.md", "# Plan\n\nThe [[anchor]] of app is old.\n");
    scratch.write("app/kgctx.toml", "token_limit = 900\n");
    let app = scratch.path().join("app");
    git(&app, &["init", "-q"]);
    git(&app, &["add", "."]);
    git(&app, &["commit", "-qm", "first"]);
    git(&app, &["worktree", "add", "-q", "../trees/fix", "-b", "fix"]);
    scratch.write("trees/fix/docs/plan.md", "# Plan\n\nThe [[sail]] of app is new.\n");
    scratch.write(
        "trees/fix/.kgctx/memory/own.md",
        "# Own\n\nOnly the worktree of app has [[this]].\n",
    );
    scratch.write("trees/fix/kgctx.toml", "token_limit = 800\n");
    scratch
}

fn context(scratch: &Scratch, dir: &str) -> Value {
    let arguments =
        ["inject", "--session", "s", "--dry-run", "--format", "json", "--host", "plain"];
    let mut command = scratch.kgctx(["--dir", dir].into_iter().chain(arguments));
    let output = command.env_remove("KGCTX_RANK").output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The folders of all indexes, and the number of changes that each remembers.
fn stores(scratch: &Scratch) -> Vec<(PathBuf, i64)> {
    let cache = scratch.path().join("kgctx-home/cache/index");
    let folders = fs::read_dir(cache).unwrap().map(|entry| entry.unwrap().path());
    let count = |folder: &Path| {
        let index = Connection::open(folder.join("index.db")).unwrap();
        index.query_row("SELECT count(*) FROM changes", [], |row| row.get(0)).unwrap()
    };
    folders.map(|folder| (folder.clone(), count(&folder))).collect()
}

#[test]
fn a_worktree_has_its_own_notes_and_settings() {
    let scratch = with_worktree();
    for (dir, has, has_not, limit) in [
        ("app", "anchor", "sail", 900),
        ("trees/fix", "sail", "anchor", 800),
        ("trees/fix/docs", "sail", "anchor", 800),
    ] {
        let context = context(&scratch, dir);
        let text = context["text"].as_str().unwrap();
        assert!(text.contains(has) && !text.contains(has_not), "{dir}: {text}");
        assert_eq!(text.contains("Only the worktree"), dir != "app", "{dir}: {text}");
        assert_eq!(context["budget"], limit, "{dir}: {context}");
        let found = scratch.json(["--dir", dir, "search", has, "--json"]);
        assert_eq!(found["results"][0]["uri"], "memory://docs/plan", "{dir}");
        let config = scratch.json(["--dir", dir, "config", "--json"]).to_string();
        let top = dir.strip_suffix("/docs").unwrap_or(dir);
        let file = scratch.path().join(top).join("kgctx.toml");
        assert!(config.contains(file.to_str().unwrap()), "{dir}: {config}");
    }
}

#[test]
fn worktrees_share_their_handoffs() {
    let scratch = with_worktree();
    scratch.run(["--dir", "app", "handoff", "create", "--goal", "Mend the mast", "--next", "Look"]);
    let text = context(&scratch, "trees/fix")["text"].as_str().unwrap().to_owned();
    assert!(text.contains("Mend the mast") && text.contains("sail"), "{text}");
}

#[test]
fn a_worktree_inside_of_its_repository_is_no_package_of_it() {
    let scratch = with_worktree();
    git(&scratch.path().join("app"), &["worktree", "add", "-q", "hotfix", "-b", "hotfix"]);
    scratch.write("app/hotfix/docs/plan.md", "# Plan\n\nThe [[rudder]] of app.\n");
    let text = context(&scratch, "app")["text"].as_str().unwrap().to_owned();
    assert!(!text.contains("rudder"), "{text}");
    let text = context(&scratch, "app/hotfix")["text"].as_str().unwrap().to_owned();
    assert!(text.contains("rudder") && !text.contains("anchor"), "{text}");
}

#[test]
fn a_new_worktree_knows_the_history_of_its_repository() {
    let scratch = with_worktree();
    fs::remove_dir_all(scratch.path().join("trees/fix/.kgctx")).unwrap();
    scratch.run(["--dir", "app", "index"]);
    let write = |dir: &str, text: &str, at: u64| {
        let path = format!("{dir}/docs/plan.md");
        let note = scratch.write(&path, format!("# Plan\n\nThe {text} [[anchor]].\n"));
        let file = fs::File::options().write(true).open(note).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_secs(at)).unwrap();
        scratch.run(["--dir", dir, "index"]);
    };
    write("app", "second", 1_700_000_000);
    write("app", "third", 1_710_000_000);
    let main = stores(&scratch);
    assert_eq!(main.len(), 1, "{main:?}");
    assert_eq!(main[0].1, 3, "{main:?}");
    write("trees/fix", "other", 1_720_000_000);
    let of_worktree = |scratch: &Scratch| {
        let stores = stores(scratch).into_iter();
        stores.filter(|(folder, _)| *folder != main[0].0).collect::<Vec<_>>()
    };
    // Three changes from there, and what is different here.
    assert_eq!(of_worktree(&scratch)[0].1, 4);
    // What happens later in one of them is not known in the other.
    write("app", "fourth", 1_730_000_000);
    scratch.run(["--dir", "trees/fix", "index", "--full"]);
    assert_eq!(of_worktree(&scratch)[0].1, 4);
}

#[test]
fn the_index_of_a_removed_worktree_goes_with_the_next_one() {
    let scratch = with_worktree();
    let app = scratch.path().join("app");
    for dir in ["app", "trees/fix"] {
        scratch.run(["--dir", dir, "index"]);
    }
    git(&app, &["worktree", "remove", "--force", "../trees/fix"]);
    git(&app, &["worktree", "add", "-q", "../trees/next", "-b", "next"]);
    assert_eq!(stores(&scratch).len(), 2);
    scratch.run(["--dir", "trees/next", "index"]);
    assert_eq!(stores(&scratch).len(), 2, "that of the repository, and the new one");
    assert_eq!(
        scratch.json(["--dir", "app", "search", "anchor", "--json"])["results"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn an_untracked_no_of_the_main_tree_counts_in_its_worktrees() {
    let scratch = with_worktree();
    let app = scratch.path().join("app");
    // Settings that cannot be read are an error for people.
    let is_on = || {
        let arguments = ["--dir", "trees/fix", "inject", "--session", "s", "--dry-run"];
        let output = scratch.kgctx(arguments).output().unwrap();
        String::from_utf8_lossy(&output.stdout).contains("sail")
    };
    fs::remove_file(scratch.path().join("trees/fix/kgctx.toml")).unwrap();
    // A tracked file is another branch's.
    scratch.write("app/kgctx.toml", "enabled = false\n");
    assert!(is_on());
    git(&app, &["rm", "-q", "--cached", "kgctx.toml"]);
    assert!(!is_on());
    let config = scratch.json(["--dir", "trees/fix", "config", "--json"]).to_string();
    assert!(config.contains(app.join("kgctx.toml").to_str().unwrap()), "{config}");
    scratch.write("app/kgctx.toml", "enabled = \"false\"\n");
    assert!(!is_on());
    // Nothing else of it counts.
    scratch.write("app/kgctx.toml", "token_limit = 1\nlinks = 3\n");
    assert!(is_on());
    scratch.write("app/kgctx.toml", "enabled = false\n");
    scratch.write("trees/fix/kgctx.toml", "");
    assert!(is_on());
}
