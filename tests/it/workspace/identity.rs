//! Which project a folder belongs to, on real repositories.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::Value;

use crate::support::{Scratch, git};

/// A repository with one commit.
fn repository(path: &Path) {
    fs::create_dir_all(path).unwrap();
    git(path, &["init", "-q"]);
    fs::write(path.join("README.md"), "# x\n").unwrap();
    git(path, &["add", "."]);
    git(path, &["commit", "-qm", "first"]);
}

fn whoami(scratch: &Scratch, dir: impl AsRef<Path>) -> Value {
    scratch.json(["--dir", dir.as_ref().to_str().unwrap(), "whoami", "--json"])
}

#[track_caller]
fn check(
    scratch: &Scratch,
    dir: &str,
    name: &str,
    root: &str,
    branch: Option<&str>,
    because: &str,
) -> String {
    let answer = whoami(scratch, scratch.path().join(dir));
    let said = answer["because"].as_str().unwrap();
    assert_eq!(answer["project"], name, "{answer}");
    assert_eq!(answer["root"], scratch.path().join(root).to_str().unwrap(), "{answer}");
    assert_eq!(answer["branch"].as_str(), branch, "{answer}");
    assert!(said.contains(because), "{said:?} should say {because:?}");
    answer["key"].as_str().unwrap().to_owned()
}

#[test]
fn a_repository_and_its_folders_are_one_project() {
    let scratch = Scratch::new();
    repository(&scratch.path().join("work/app"));
    fs::create_dir_all(scratch.path().join("work/app/src/deep")).unwrap();
    let key = check(&scratch, "work/app", "app", "work/app", Some("main"), "the git repository at");
    assert_eq!(
        key,
        check(
            &scratch,
            "work/app/src/deep",
            "app",
            "work/app",
            Some("main"),
            "the git repository at"
        )
    );
    assert_eq!(
        key,
        check(
            &scratch,
            "work/app/.git/refs",
            "app",
            "work/app",
            Some("main"),
            "the git repository at"
        )
    );
    git(
        &scratch.path().join("work/app"),
        &["checkout", "-q", "-b", "feature/x y".replace(' ', "-").as_str()],
    );
    check(&scratch, "work/app", "app", "work/app", Some("feature/x-y"), "the git repository at");
    git(&scratch.path().join("work/app"), &["checkout", "-q", "--detach"]);
    check(&scratch, "work/app", "app", "work/app", None, "the git repository at");
}

#[test]
fn a_worktree_is_its_main_repository() {
    let scratch = Scratch::new();
    let main = scratch.path().join("app");
    repository(&main);
    git(&main, &["worktree", "add", "-q", "../elsewhere/app-fix", "-b", "fix"]);
    let key = check(&scratch, "app", "app", "app", Some("main"), "the git repository at");
    assert_eq!(
        key,
        check(
            &scratch,
            "elsewhere/app-fix",
            "app",
            "app",
            Some("fix"),
            "is a worktree of the git repository"
        )
    );
}

#[test]
fn a_bare_repository_with_worktrees_is_one_project() {
    let scratch = Scratch::new();
    repository(&scratch.path().join("seed"));
    git(&scratch.path(), &["clone", "-q", "--bare", "seed", "app.git"]);
    git(&scratch.path().join("app.git"), &["worktree", "add", "-q", "../trees/one", "-b", "one"]);
    git(&scratch.path().join("app.git"), &["worktree", "add", "-q", "../trees/two", "-b", "two"]);
    let key = check(
        &scratch,
        "trees/one",
        "app",
        "app.git",
        Some("one"),
        "worktree of the bare git repository",
    );
    assert_eq!(
        key,
        check(
            &scratch,
            "trees/two",
            "app",
            "app.git",
            Some("two"),
            "worktree of the bare git repository"
        )
    );
    assert_eq!(
        key,
        check(&scratch, "app.git", "app", "app.git", Some("main"), "the bare git repository")
    );
    // Only the working tree has files, so the notes are its own: its README and this one.
    scratch.write("trees/one/docs/a.md", "[[one]]");
    assert_eq!(scratch.json(["--dir", "trees/one", "index", "--json"])["notes"], 2);
    // The layout with everything in one folder.
    git(&scratch.path(), &["clone", "-q", "--bare", "seed", "boxed/.bare"]);
    fs::write(scratch.path().join("boxed/.git"), "gitdir: ./.bare\n").unwrap();
    git(&scratch.path().join("boxed"), &["worktree", "add", "-q", "dev", "-b", "dev"]);
    let key = check(
        &scratch,
        "boxed/dev",
        "boxed",
        "boxed",
        Some("dev"),
        "worktree of the bare git repository",
    );
    assert_eq!(
        key,
        check(&scratch, "boxed", "boxed", "boxed", Some("main"), "the bare git repository")
    );
}

#[test]
fn a_submodule_is_a_project_of_its_own() {
    let scratch = Scratch::new();
    repository(&scratch.path().join("lib"));
    repository(&scratch.path().join("app"));
    git(&scratch.path().join("app"), &["submodule", "--quiet", "add", "../lib", "vendor/lib"]);
    let module = check(
        &scratch,
        "app/vendor/lib",
        "lib",
        "app/vendor/lib",
        Some("main"),
        "the git submodule at",
    );
    assert_ne!(module, check(&scratch, "app", "app", "app", Some("main"), "the git repository at"));
    assert_ne!(module, check(&scratch, "lib", "lib", "lib", Some("main"), "the git repository at"));
    git(
        &scratch.path().join("app/vendor/lib"),
        &["worktree", "add", "-q", "../../../lib-tree", "-b", "tree"],
    );
    assert_eq!(
        module,
        check(&scratch, "lib-tree", "lib", "app/vendor/lib", Some("tree"), "is a worktree of")
    );
}

#[test]
fn links_spaces_and_letters_do_not_matter() {
    let scratch = Scratch::new();
    repository(&scratch.path().join("Мой проект (новый)"));
    symlink("Мой проект (новый)", scratch.path().join("link")).unwrap();
    let key = check(
        &scratch,
        "link",
        "Мой проект (новый)",
        "Мой проект (новый)",
        Some("main"),
        "the git repository at",
    );
    assert_eq!(
        key,
        check(
            &scratch,
            "Мой проект (новый)",
            "Мой проект (новый)",
            "Мой проект (новый)",
            Some("main"),
            ""
        )
    );
    assert!(key.starts_with("project-"), "{key}");
}

#[test]
fn equal_names_stay_apart_and_a_renamed_clone_is_new() {
    let scratch = Scratch::new();
    repository(&scratch.path().join("a/app"));
    git(&scratch.path(), &["clone", "-q", "a/app", "b/app"]);
    let a = check(&scratch, "a/app", "app", "a/app", Some("main"), "");
    let b = check(&scratch, "b/app", "app", "b/app", Some("main"), "");
    assert_ne!(a, b);
    fs::rename(scratch.path().join("b/app"), scratch.path().join("b/renamed")).unwrap();
    let renamed = check(&scratch, "b/renamed", "renamed", "b/renamed", Some("main"), "");
    assert!(renamed != a && renamed != b);
}

#[test]
fn without_git_the_folder_or_its_mark_is_the_project() {
    let scratch = Scratch::new();
    fs::create_dir_all(scratch.path().join("notes/deep/er")).unwrap();
    check(&scratch, "notes/deep/er", "er", "notes/deep/er", None, "the folder");
    scratch.write("notes/kgctx.toml", "");
    check(&scratch, "notes/deep/er", "notes", "notes", None, "which has kgctx's own files");
}

#[test]
fn home_and_root_are_never_a_project() {
    let scratch = Scratch::new();
    for (dir, because) in
        [(Path::new("/"), "the root of the file system"), (&scratch.home(), "the home folder")]
    {
        let answer = whoami(&scratch, dir);
        assert_eq!((&answer["project"], &answer["root"]), (&Value::Null, &Value::Null));
        assert_eq!(
            (answer["key"].as_str(), answer["channel"].as_str()),
            (Some("global"), Some("global"))
        );
        assert!(answer["because"].as_str().unwrap().contains(because), "{answer}");
    }
    // Not even as a repository.
    repository(&scratch.home());
    assert_eq!(whoami(&scratch, scratch.home())["project"], Value::Null);
    fs::create_dir(scratch.home().join("play")).unwrap();
    check(&scratch, "home/play", "play", "home/play", None, "the home folder");
    fs::create_dir_all(scratch.home().join(".claude/plugins/cache/x")).unwrap();
    assert_eq!(
        whoami(&scratch, scratch.home().join(".claude/plugins/cache/x"))["project"],
        Value::Null
    );
}

#[test]
fn the_channel_is_named_by_rule_or_by_hand() {
    let scratch = Scratch::new();
    repository(&scratch.path().join("srv/proj"));
    fs::create_dir_all(scratch.path().join("srv/project2")).unwrap();
    fs::create_dir_all(scratch.path().join("srv/proj/sub")).unwrap();
    let srv = scratch.path().join("srv");
    let srv = srv.display();
    scratch.write(
        "kgctx-home/config.toml",
        format!("[channels]\n\"{srv}/proj\" = \"team\"\n\"{srv}/proj/sub\" = \"inner\"\n"),
    );
    let channel = |dir: &str| {
        whoami(&scratch, scratch.path().join(dir))["channel"].as_str().unwrap().to_owned()
    };
    assert_eq!(channel("srv/proj"), "team");
    assert_eq!(channel("srv/proj/sub"), "inner");
    assert_eq!(channel("srv/project2"), "project2");
    let output = scratch
        .kgctx(["--dir", "srv/proj", "whoami", "--json"])
        .env("KGCTX_CHANNEL", "../up")
        .output()
        .unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(answer["channel"].as_str().unwrap().starts_with("up-"), "{answer}");
}
