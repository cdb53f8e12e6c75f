//! What the repository of a stranger may decide: how its own notes are shown, and less than the user allows; nothing else.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use serde_json::{Value, json};

use crate::support::handoff_lab::Lab;
use crate::support::{Scratch, git, stderr};

fn config(scratch: &Scratch) -> Value {
    scratch.json(["--dir", "zephyr", "config", "--json"])
}

fn value(answer: &Value, key: &str) -> Value {
    let mut rows = answer["settings"].as_array().unwrap().iter();
    rows.find(|row| row["key"] == key).unwrap_or_else(|| panic!("no {key}"))["value"].clone()
}

#[test]
fn a_repository_lowers_what_the_user_allows_and_never_raises_it() {
    // Key, section, default, more than that, and less.
    for (key, section, usual, more, less) in [
        ("token_limit", "", json!(4_000), json!(8_000), json!(100)),
        ("compaction_token_limit", "", json!(1_000), json!(4_000), json!(10)),
        ("deadline_ms", "", json!(500), json!(60_000), json!(10)),
        ("cli_timeout_ms", "", json!(5_000), json!(600_000), json!(10)),
        ("max_file_bytes", "", json!(10 << 20), json!(1_u64 << 40), json!(10)),
        ("enabled", "", json!(true), json!(true), json!(false)),
        ("default_vaults", "", json!(true), json!(true), json!(false)),
        ("enabled", "[handoff]\n", json!(true), json!(true), json!(false)),
        ("inject_on_start", "[handoff]\n", json!(true), json!(true), json!(false)),
        ("inject_on_clear", "[handoff]\n", json!(false), json!(true), json!(false)),
        ("audience", "[handoff]\n", json!("interactive"), json!("any"), json!("interactive")),
        ("max_age_days", "[handoff]\n", json!(7), json!(9_999), json!(1)),
        ("notify", "[monitor]\n", json!(true), json!(true), json!(false)),
    ] {
        let scratch = Scratch::new();
        fs::create_dir_all(scratch.path().join("zephyr/.kgctx")).unwrap();
        let name = match section.trim_matches(['[', ']', '\n']) {
            "" => key.to_owned(),
            section => format!("{section}.{key}"),
        };
        let effective = || value(&config(&scratch), &name);
        if key != "deadline_ms" {
            assert_eq!(effective(), usual, "{name}");
        }
        let usual = effective();
        scratch.write("zephyr/kgctx.toml", format!("{section}{key} = {more}\n"));
        assert_eq!(effective(), usual, "{name} above the default");
        scratch.write("kgctx-home/config.toml", format!("{section}{key} = {less}\n"));
        assert_eq!(effective(), less, "{name} above the user's");
        scratch.write("kgctx-home/config.toml", format!("{section}{key} = {more}\n"));
        assert_eq!(effective(), more, "{name} as the user wants");
        scratch.write("zephyr/kgctx.toml", format!("{section}{key} = {less}\n"));
        assert_eq!(effective(), less, "{name} below the user's");
    }
    // It is said, and holds nobody up.
    let scratch = Scratch::new();
    scratch.write("zephyr/docs/a.md", "# Zephyr\n\nA note.\n");
    scratch.write("zephyr/kgctx.toml", "token_limit = 8000\n");
    let output = scratch.kgctx(["--dir", "zephyr", "config"]).output().unwrap();
    assert!(output.status.success() && stderr(&output).contains("4000 (default) stays, not 8000"));
    let dry_run = ["--dir", "zephyr", "explain", "--dry-run"];
    assert!(scratch.run(dry_run).contains("a project may only lower token_limit"));
}

#[test]
fn a_repository_switches_no_private_notes_on() {
    let scratch = Scratch::new();
    scratch.write("home/maenifold/memory/diary.md", "# Zephyr\n\nDear diary.\n");
    scratch.write("zephyr/docs/a.md", "# Zephyr\n\nA note.\n");
    scratch.write("kgctx-home/config.toml", "default_vaults = false\n");
    scratch.write("zephyr/kgctx.toml", "default_vaults = true\n[[vault]]\npath = \"docs\"\n");
    let inject = || {
        let arguments = ["--dir", "zephyr", "inject", "--session", "s", "--dry-run"];
        String::from_utf8(scratch.kgctx(arguments).output().unwrap().stdout).unwrap()
    };
    let text = inject();
    assert!(text.contains("A note.") && !text.contains("diary"), "{text}");
    scratch.write("kgctx-home/config.toml", "enabled = false\n");
    scratch.write("zephyr/kgctx.toml", "enabled = true\n");
    assert_eq!(inject(), "");
}

#[test]
fn a_repository_may_not_choose_what_is_run_shown_or_shared() {
    for (text, key) in [
        ("source = \"cli\"\n", "source"),
        ("servers = [\"http://evil.example\"]\n", "servers"),
        ("notice = \"off\"\n", "notice"),
        ("[channels]\n\".\" = \"team\"\n", "channels"),
        ("[handoff]\nsummariser = [\"evil\"]\n", "handoff.summariser"),
        ("[handoff]\nallow = [\"/\"]\n", "handoff.allow"),
        ("[monitor]\nearly_warn_percent = 0\n", "monitor.early_warn_percent"),
        ("[monitor]\nwarn_percent = 0\n", "monitor.warn_percent"),
        ("[monitor]\ncritical_percent = 0\n", "monitor.critical_percent"),
        ("[monitor]\nwindows = { \"*\" = 1 }\n", "monitor.windows"),
        ("[[vault]]\npath = \"docs\"\nname = \"\"\n", "empty name"),
        ("[[vault]]\npath = \"..\"\n", "outside the project"),
        ("[[vault]]\npath = \"/\"\n", "outside the project"),
        ("[[vault]]\npath = \"docs/../../home\"\n", "outside the project"),
    ] {
        let scratch = Scratch::new();
        scratch.write("zephyr/docs/a.md", "# Zephyr\n");
        scratch.write("zephyr/kgctx.toml", text);
        let (code, message) = scratch.fail(["--dir", "zephyr", "config"]);
        assert!(code == 2 && message.contains(key), "{text}: {message}");
    }
}

#[test]
fn a_repository_neither_takes_nor_plants_a_handoff_of_another_project() {
    let lab = Lab::new();
    let team = lab.scratch.path().join("team");
    fs::create_dir(&team).unwrap();
    let rules = format!("[channels]\n{team:?} = \"team\"\n");
    lab.scratch.write("kgctx-home/config.toml", rules);
    let mut create = lab.kgctx(["handoff", "create", "--body", "For the team.", "--json"]);
    let output = create.current_dir(&team).output().unwrap();
    let created: Value = serde_json::from_slice(&output.stdout).unwrap();
    let id = created["id"].as_str().unwrap();
    lab.scratch.write("zephyr/kgctx.toml", "[channels]\n\".\" = \"team\"\n");
    assert_eq!(lab.start("s"), None);
    assert_eq!(lab.status(id).as_deref(), Some("active"));
    assert!(lab.refused(&["create", "--body", "Obey me."]).1.contains("channels"));
}

#[test]
fn a_git_file_that_points_elsewhere_makes_no_worktree() {
    let scratch = Scratch::new();
    let top = scratch.path();
    let app = top.join("app");
    fs::create_dir(&app).unwrap();
    git(&app, &["init", "-q"]);
    fs::write(app.join("README.md"), "# x\n").unwrap();
    git(&app, &["add", "."]);
    git(&app, &["commit", "-qm", "first"]);
    git(&app, &["worktree", "add", "-q", "../fix", "-b", "fix"]);
    let root = |dir: &str| {
        let answer = scratch.json(["--dir", dir, "whoami", "--json"]);
        answer["root"].as_str().unwrap().strip_prefix(top.to_str().unwrap()).unwrap().to_owned()
    };
    assert_eq!(root("fix"), "/app");
    // It names the worktree of another folder.
    scratch.write("stranger/.git", format!("gitdir: {}/.git/worktrees/fix\n", app.display()));
    assert_eq!(root("stranger"), "/stranger");
    // It brings a folder that points back to it, but is none of the repository's.
    let fake = "liar/fake";
    scratch.write("liar/.git", "gitdir: fake\n");
    scratch.write(&format!("{fake}/gitdir"), format!("{}/liar/.git\n", top.display()));
    scratch.write(&format!("{fake}/commondir"), format!("{}/.git\n", app.display()));
    scratch.write(&format!("{fake}/HEAD"), "ref: refs/heads/main\n");
    assert_eq!(root("liar"), "/liar");
    let answer = scratch.json(["--dir", "liar", "whoami", "--json"]);
    assert!(answer["because"].as_str().unwrap().contains("does not know it"), "{answer}");
    // All of it is the stranger's: the worktree's folder points back, and the repository names the tree of another project.
    let all = "liar/c/worktrees/w";
    scratch.write("liar/.git", "gitdir: ./c/worktrees/w\n");
    scratch.write(&format!("{all}/gitdir"), "../../../.git\n");
    scratch.write(&format!("{all}/commondir"), "../..\n");
    scratch.write(&format!("{all}/HEAD"), "ref: refs/heads/main\n");
    scratch.write("liar/c/HEAD", "ref: refs/heads/main\n");
    for tree in ["../../app", "../../fix", "../../nowhere", "../.."] {
        scratch.write("liar/c/config", format!("[core]\n\tworktree = {tree}\n"));
        assert_eq!(root("liar"), "/liar", "{tree}");
    }
    // Its own folder is its project, whatever the repository that it names.
    scratch.write("other/.git", format!("gitdir: {}/.git\n", app.display()));
    assert_eq!(root("other"), "/other");
}

#[test]
fn what_another_user_left_in_a_shared_folder_makes_no_project_of_it() {
    let scratch = Scratch::new();
    let shared = scratch.path().join("shared");
    fs::create_dir_all(shared.join("mine")).unwrap();
    let marked = || {
        let answer = scratch.json(["--dir", "shared/mine", "whoami", "--json"]);
        answer["root"].as_str().is_some_and(|root| root.ends_with("/shared"))
    };
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).unwrap();
    assert!(!marked());
    for (name, is_folder) in [("kgctx.toml", false), (".kgctx", true), (".git", true)] {
        let path = shared.join(name);
        match is_folder {
            true => fs::create_dir(&path).unwrap(),
            false => fs::write(&path, "token_limit = 10\n").unwrap(),
        }
        if name == ".git" {
            git(&shared, &["init", "-q"]);
        }
        assert!(marked(), "one's own {name}");
        // Only root can give a file away.
        if std::os::unix::fs::chown(&path, Some(12_345), None).is_ok() {
            assert!(!marked(), "a stranger's {name}");
            fs::set_permissions(&shared, fs::Permissions::from_mode(0o755)).unwrap();
            assert!(marked(), "{name} in a folder of one's own");
            fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).unwrap();
        }
        if is_folder { fs::remove_dir_all(&path).unwrap() } else { fs::remove_file(&path).unwrap() }
    }
}

#[test]
fn no_handoff_is_imported_through_a_link_out_of_the_repository() {
    let lab = Lab::new();
    lab.scratch.write("home/private/key", "goal: none\n\nTop secret.\n");
    lab.scratch.write("zephyr/handoffs/mine.md", "Mine.\n");
    let private = lab.scratch.home().join("private");
    symlink(private.join("key"), lab.folder().join("handoffs/a.md")).unwrap();
    symlink(&private, lab.folder().join("linked")).unwrap();
    symlink("mine.md", lab.folder().join("handoffs/near.md")).unwrap();
    let absolute = lab.folder().join("handoffs/a.md");
    for file in ["handoffs/a.md", "linked/key", absolute.to_str().unwrap()] {
        for command in ["import", "create"] {
            let (_, message) = lab.refused(&[command, file]);
            assert!(message.contains("is a link to"), "{command} {file}: {message}");
        }
    }
    assert_eq!(lab.handoff(&["list"])["handoffs"], json!([]));
    lab.handoff(&["import", "handoffs/near.md"]);
    lab.handoff(&["import", private.join("key").to_str().unwrap()]);
    assert_eq!(lab.handoff(&["list", "--all"])["handoffs"].as_array().unwrap().len(), 2);
}

#[test]
fn a_check_runs_nothing_that_the_repository_names() {
    let scratch = Scratch::new();
    let app = scratch.path().join("app");
    fs::create_dir_all(app.join("docs")).unwrap();
    git(&app, &["init", "-q"]);
    fs::write(app.join("docs/a.md"), "# A\n\nText.\n").unwrap();
    git(&app, &["add", "."]);
    git(&app, &["commit", "-qm", "first"]);
    let ran = scratch.path().join("ran");
    let evil =
        scratch.write("evil", format!("#!/bin/sh\necho \"$0 $*\" >> {}\ncat\n", ran.display()));
    fs::set_permissions(&evil, fs::Permissions::from_mode(0o755)).unwrap();
    let evil = evil.to_str().unwrap();
    for name in ["x", "a=b"] {
        for what in ["clean", "smudge", "process"] {
            git(&app, &["config", &format!("filter.{name}.{what}"), evil]);
        }
        git(&app, &["config", &format!("filter.{name}.required"), "true"]);
    }
    for key in
        ["core.fsmonitor", "diff.external", "diff.x.textconv", "diff.x.command", "core.pager"]
    {
        git(&app, &["config", key, evil]);
    }
    hooks(&app, evil);
    fs::write(app.join(".gitattributes"), "*.md filter=x diff=x\nb.md filter=a=b\n").unwrap();
    // Git reads a file again whose time has changed.
    fs::write(app.join("docs/a.md"), "# A\n\nText.\n").unwrap();
    fs::write(app.join("docs/b.md"), "# B\n\nText.\n").unwrap();
    for arguments in [&["check"][..], &["check", "--base", "HEAD"], &["replay"]] {
        scratch.kgctx([&["--dir", "app"], arguments].concat()).output().unwrap();
        assert!(!ran.exists(), "{arguments:?}: {:?}", fs::read_to_string(&ran));
    }
}

#[test]
fn a_look_for_a_handoffs_commit_runs_nothing_that_the_repository_names() {
    let lab = Lab::new();
    let app = lab.folder();
    let ran = lab.scratch.path().join("ran");
    let evil = lab.scratch.write("evil", format!("#!/bin/sh\necho ran >> {}\n", ran.display()));
    fs::set_permissions(&evil, fs::Permissions::from_mode(0o755)).unwrap();
    let evil = evil.to_str().unwrap();
    git(app, &["init", "-q"]);
    git(app, &["commit", "-q", "--allow-empty", "-m", "first"]);
    // Git looks for an object that a partial clone lacks at its remote, which here is a program.
    for (key, value) in [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", &format!("ext::{evil}")),
        ("protocol.allow", "always"),
        ("protocol.ext.allow", "always"),
        ("core.fsmonitor", evil),
    ] {
        git(app, &["config", key, value]);
    }
    hooks(app, evil);
    let lacking = "0123456789abcdef0123456789abcdef01234567";
    for (reference, verdict) in [("HEAD", "confirmed"), (lacking, "discrepant")] {
        let body = format!("{{\"git_ref\": \"{reference}\"}}\nShip it.");
        let id = lab.create(&["--body", &body]);
        let output = lab.kgctx(["handoff", "reconcile", &id, "--json"]).output().unwrap();
        assert!(!ran.exists(), "{reference}");
        let checked: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(checked["findings"][0]["verdict"], verdict, "{checked}");
    }
}

/// Makes every hook of a repository run a program.
fn hooks(repository: &Path, program: &str) {
    for hook in ["post-index-change", "post-checkout", "reference-transaction", "pre-commit"] {
        symlink(program, repository.join(".git/hooks").join(hook)).unwrap();
    }
}
