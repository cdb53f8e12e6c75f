//! Settings: who wins, where they come from, and what is said about wrong ones.

use std::fs;

use serde_json::Value;

use crate::support::{Scratch, stderr, valid};

fn setting(answer: &Value, key: &str) -> (Value, String) {
    let rows = answer["settings"].as_array().unwrap();
    let row = rows
        .iter()
        .find(|row| row["key"] == key)
        .unwrap_or_else(|| panic!("no {key} in {answer:#}"));
    (row["value"].clone(), row["origin"].as_str().unwrap().to_owned())
}

#[test]
fn later_ones_win_and_every_value_says_where_it_comes_from() {
    let scratch = Scratch::new();
    fs::create_dir_all(scratch.path().join("app/.kgctx")).unwrap();
    let config = |variables: &[(&str, &str)]| -> Value {
        let mut command = scratch.kgctx(["--dir", "app", "config", "--json"]);
        command.envs(variables.iter().copied());
        serde_json::from_slice(&command.output().unwrap().stdout).unwrap()
    };
    assert_eq!(setting(&config(&[]), "token_limit"), (4_000.into(), "default".into()));
    assert_eq!(setting(&config(&[]), "links"), ("auto".into(), "default".into()));
    let user =
        scratch.write("kgctx-home/config.toml", "token_limit = 3000\nlinks = \"obsidian\"\n");
    assert_eq!(setting(&config(&[]), "token_limit"), (3_000.into(), user.display().to_string()));
    let project = scratch.write("app/kgctx.toml", "token_limit = 2000\n");
    assert_eq!(setting(&config(&[]), "token_limit"), (2_000.into(), project.display().to_string()));
    assert_eq!(setting(&config(&[]), "links"), ("obsidian".into(), user.display().to_string()));
    let variables = [
        ("TOKEN_LIMIT", "1000"),
        ("SESSION_START_ENABLED", "false"),
        ("CLI_TIMEOUT", "250"),
        ("KGCTX_LINKS", "maenifold"),
    ];
    let answer = config(&variables);
    assert_eq!(setting(&answer, "token_limit"), (1_000.into(), "TOKEN_LIMIT".into()));
    assert_eq!(setting(&answer, "enabled"), (false.into(), "SESSION_START_ENABLED".into()));
    assert_eq!(setting(&answer, "cli_timeout_ms"), (250.into(), "CLI_TIMEOUT".into()));
    assert_eq!(setting(&answer, "links"), ("maenifold".into(), "KGCTX_LINKS".into()));
}

#[test]
fn vaults_are_found_where_people_keep_notes() {
    let scratch = Scratch::new();
    for folder in
        ["home/maenifold/memory", "app/.kgctx/memory", "app/docs", "home/notes", "data/memory"]
    {
        fs::create_dir_all(scratch.path().join(folder)).unwrap();
    }
    let vaults = |arguments: &[&str], variables: &[(&str, &str)]| -> Vec<String> {
        let mut command =
            scratch.kgctx([&["--dir", "app", "config", "--json"][..], arguments].concat());
        let answer: Value = serde_json::from_slice(
            &command.envs(variables.iter().copied()).output().unwrap().stdout,
        )
        .unwrap();
        let rows = answer["settings"].as_array().unwrap().iter();
        let vaults = rows.filter_map(|row| {
            Some((row["key"].as_str()?.strip_prefix("vault ")?, row["value"].as_str()?))
        });
        let root = format!("{}/", scratch.path().display());
        vaults.map(|(name, path)| format!("{name} {}", path.replace(&root, ""))).collect()
    };
    let found = [
        "memory:// home/maenifold/memory",
        "memory://project/ app/.kgctx/memory",
        "memory://docs/ app/docs",
    ];
    assert_eq!(vaults(&[], &[]), found);
    scratch.write("kgctx-home/config.toml", "[[vault]]\npath = \"~/notes\"\n");
    assert_eq!(vaults(&[], &[])[3], "memory://notes/ home/notes");
    let data = scratch.path().join("data");
    assert_eq!(
        vaults(&[], &[("MAENIFOLD_ROOT", data.to_str().unwrap())])[0],
        "memory:// data/memory"
    );
    assert_eq!(
        vaults(&["--vault", "a", "--vault", "x/b"], &[]),
        ["memory:// a", "memory://b/ x/b"]
    );
    assert_eq!(vaults(&[], &[("KGCTX_VAULTS", "/p:/q")]), ["memory:// /p", "memory://q/ /q"]);
    scratch.write(
        "app/kgctx.toml",
        "default_vaults = false\n[[vault]]\npath = \"docs\"\nname = \"handbook\"\n",
    );
    assert_eq!(vaults(&[], &[]), ["memory://notes/ home/notes", "memory://handbook/ app/docs"]);
}

#[test]
fn bad_input_is_named_with_the_way_out() {
    let scratch = Scratch::new();
    scratch.write("file.md", "x");
    fs::create_dir_all(scratch.path().join("app/.kgctx")).unwrap();
    #[track_caller]
    fn check(scratch: &Scratch, arguments: &[&str], parts: &[&str]) {
        let (code, message) = scratch.fail(arguments);
        assert_eq!(code, 2, "{message}");
        for part in parts {
            assert!(message.contains(part), "{message:?} should say {part:?}");
        }
    }
    check(
        &scratch,
        &["--vault", "nowhere", "index"],
        &["no such vault: nowhere", "--vault", "create that folder"],
    );
    check(&scratch, &["--vault", "file.md", "search", "x"], &["not a folder: file.md", "--vault"]);
    check(&scratch, &["--vault", "file.md/x", "search", "x"], &["no such vault: file.md/x"]);
    check(&scratch, &["--dir", "nowhere", "whoami"], &["nowhere"]);
    check(&scratch, &["--dir", "file.md", "whoami"], &["file.md", "not a directory"]);
    check(
        &scratch,
        &["--dir", "app", "index"],
        &["no folder of notes found for project app", "kgctx vault add FOLDER", "--vault"],
    );
    check(
        &scratch,
        &["recent", "--timespan", "24:00:00"],
        &["24:00:00", "--timespan", "hours go up to 23", "24h"],
    );
    check(&scratch, &["recent", "--timespan", "-1h"], &["-1h", "negative"]);
    check(&scratch, &["recent", "--now", "soon"], &["soon", "2026-01-31"]);
    check(&scratch, &["recent", "--filter", "chat"], &["chat", "memory", "thinking"]);
    check(&scratch, &["context", "x", "--depth", "9"], &["9", "0..=5"]);
    check(&scratch, &["search"], &["QUERY"]);
    check(&scratch, &["serach", "x"], &["serach", "search"]);
    check(&scratch, &[], &["Usage"]);

    let config = "kgctx-home/config.toml";
    scratch.write(config, "token_limit = 10\ntoken_limt = 20\n");
    check(
        &scratch,
        &["whoami"],
        &["config.toml:2:1:", "there is no setting token_limt; did you mean token_limit?"],
    );
    for (line, at, said) in [
        ("token_limit = \"x\"", 15, "token_limit is \"x\"; write a whole number, such as 4000"),
        ("token_limit = 4.5", 15, "token_limit is 4.5; write a whole number, such as 4000"),
        ("enabled = 3", 11, "enabled is 3; write true or false"),
        ("servers = 3", 11, "servers is 3; write a list, such as [\"a\", \"b\"]"),
        (
            "links = \"foam\"",
            9,
            "links is \"foam\"; write auto, obsidian, logseq, dendron or maenifold",
        ),
        ("zzz = 1", 1, "there is no setting zzz; `kgctx config` lists all"),
    ] {
        scratch.write(config, format!("{line}\n"));
        check(&scratch, &["config"], &[&format!("config.toml:1:{at}: {said}")]);
    }
    scratch.write(config, "links = \"foam\"\n");
    check(&scratch, &["config"], &["config.toml:1:9:", "foam", "maenifold", "obsidian"]);
    scratch.write(config, "[[vault]]\nname = \"x\"\n");
    check(&scratch, &["config"], &["config.toml:1:", "path"]);
    scratch.write(config, "max_file_bytes = -1\n");
    check(&scratch, &["config"], &["config.toml:1:18:", "-1"]);
    scratch.write(config, "a = = b\n");
    check(&scratch, &["config"], &["config.toml:1:5:"]);
    scratch.write(config, "[[vault]]\npath = \"/a/x\"\n[[vault]]\npath = \"/b/x\"\n");
    check(
        &scratch,
        &["config"],
        &["two vaults have the name \"x\"", "/a/x", "/b/x", "another name"],
    );
    scratch.write(config, "[[vault]]\npath = \"/a\"\nname = \"a/b\"\n");
    check(&scratch, &["config"], &["\"a/b\"", "not a valid vault name"]);
    fs::remove_file(scratch.path().join(config)).unwrap();

    scratch.write("app/kgctx.toml", "[[vault]]\npath = \"../../etc\"\n");
    check(
        &scratch,
        &["--dir", "app", "index"],
        &["kgctx.toml", "../../etc", "outside the project", "config.toml"],
    );
    let output = scratch.kgctx(["whoami"]).env("TOKEN_LIMIT", "many").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("TOKEN_LIMIT=\"many\" is not a number of tokens"),
        "{output:?}"
    );
    let output = scratch.kgctx(["whoami"]).env_clear().output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("KGCTX_HOME"), "{output:?}");
}

/// The answer without a vault that cannot be opened, and what is said about it.
#[track_caller]
fn rest(scratch: &Scratch, arguments: &[&str]) -> (Value, String) {
    let output = scratch.kgctx(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    (serde_json::from_slice(&output.stdout).unwrap(), stderr(&output))
}

#[test]
fn of_two_vaults_with_one_name_the_first_is_used() {
    let scratch = Scratch::new();
    scratch.write("one/x/a.md", "# A\n\nThe [[tile]] of [[atlas]].");
    scratch.write("two/x/b.md", "# B\n\nThe [[tile]] of [[atlas]].");
    let vault = |folder: &str| format!("[[vault]]\npath = {:?}\n", scratch.path().join(folder));
    scratch.write("kgctx-home/config.toml", vault("one/x") + &vault("two/x"));
    for command in [
        &["search", "tile"][..],
        &["recent", "--timespan", "9999d"],
        &["context", "tile"],
        &["index"],
        &["read", "A"],
    ] {
        let (_, said) = rest(&scratch, &[command, &["--json"]].concat());
        assert!(said.starts_with("kgctx: two vaults have the name \"x\""), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    let arguments = ["inject", "--session", "s", "--dry-run"];
    let output = scratch.kgctx(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(stderr(&output).contains("two vaults have the name \"x\""), "{output:?}");
}

#[test]
fn a_vault_that_cannot_be_opened_costs_no_other() {
    let scratch = Scratch::new();
    scratch.write("app/docs/a.md", "# A\n\nThe [[tile]] of [[atlas]].");
    scratch.write("app/docs/inner/b.md", "# B\n\nThe [[tile]] of [[atlas]].");
    let vault = |path: &str| format!("[[vault]]\npath = \"{path}\"\n");
    let vaults = [&vault("docs"), "name = \"handbook\"\n", &vault("docs/inner"), &vault("gone")];
    scratch.write("app/kgctx.toml", vaults.concat());
    for command in [
        &["search", "tile"][..],
        &["recent", "--timespan", "9999d"],
        &["context", "tile"],
        &["index"],
        &["read", "A"],
    ] {
        let arguments = [&["--dir", "app"], command, &["--json"]].concat();
        let (answer, said) = rest(&scratch, &arguments);
        assert!(
            answer.to_string().contains("memory://handbook/a") || command == ["index"],
            "{answer}"
        );
        let said: Vec<&str> = said.lines().collect();
        let is_gone = said[0].starts_with("kgctx: no such vault: ") && said[0].contains("gone");
        assert!(is_gone, "{said:?}");
        assert!(said[1].contains("inner is inside the vault"), "{said:?}");
        assert_eq!(said.len(), 2, "{said:?}");
        valid(command[0], &answer);
    }
    // What is named as typed is all there is.
    let (code, message) = scratch.fail(["--vault", "app/gone", "search", "tile"]);
    assert!(code == 2 && message.contains("no such vault"), "{message}");
}

#[test]
fn a_usual_place_may_be_named_in_the_settings() {
    for (folder, name) in [("docs", ""), ("./docs", ""), ("docs", "manual"), (".kgctx/memory", "")]
    {
        let scratch = Scratch::new();
        scratch.write("zephyr/docs/a.md", "# Zephyr\n");
        scratch.write("zephyr/.kgctx/memory/b.md", "# Zephyr\n");
        let named = if name.is_empty() { String::new() } else { format!("name = {name:?}\n") };
        scratch.write("zephyr/kgctx.toml", format!("[[vault]]\npath = {folder:?}\n{named}"));
        let (answer, remarks) = rest(&scratch, &["--dir", "zephyr", "search", "zephyr", "--json"]);
        assert_eq!(remarks, "", "{folder}");
        assert_eq!(answer["results"].as_array().unwrap().len(), 2, "{folder}: {answer}");
    }
}

#[test]
fn a_variable_of_ours_counts_before_one_of_maenifolds() {
    let scratch = Scratch::new();
    fs::create_dir_all(scratch.path().join("app/.kgctx")).unwrap();
    let variables = ["TOKEN_LIMIT", "CLI_TIMEOUT"];
    let keys = ["token_limit", "cli_timeout_ms"];
    for (variable, key) in variables.into_iter().zip(keys) {
        let own = format!("KGCTX_{variable}");
        let mut command = scratch.kgctx(["--dir", "app", "config", "--json"]);
        let output = command.env(&own, "1").env(variable, "0").output().unwrap();
        let answer = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(setting(&answer, key), (1.into(), own.clone()));
        let output = scratch.kgctx(["whoami"]).env(&own, "many").output().unwrap();
        assert!(stderr(&output).contains(&format!("{own}=\"many\" is not ")), "{output:?}");
    }
}

#[test]
fn a_relative_home_is_refused() {
    let scratch = Scratch::new();
    let output = scratch.kgctx(["whoami"]).env("KGCTX_HOME", "kgctx-home").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("KGCTX_HOME is a relative path"), "{output:?}");
}

#[test]
fn every_note_has_one_address() {
    let scratch = Scratch::new();
    scratch.write("app/.kgctx/memory/b.md", "[[b]]");
    scratch.write("app/docs/a.md", "[[a]]");
    scratch.write("home/maenifold/memory/docs/a.md", "[[c]]");
    // The default steps aside.
    let answer = scratch.json(["--dir", "app", "search", "a", "--json"]);
    assert_eq!(answer["results"][0]["uri"], "memory://project-docs/a");
    // A folder that is named again has its later name, and counts once.
    scratch.write("app/kgctx.toml", "[[vault]]\npath = \"docs\"\nname = \"handbook\"\n");
    let answer = scratch.json(["--dir", "app", "search", "a", "--limit", "50", "--json"]);
    assert_eq!(
        answer["results"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|hit| hit["uri"] == "memory://handbook/a")
            .count(),
        1
    );
    assert_eq!(scratch.json(["--dir", "app", "index", "--json"])["notes"], 3);
    scratch.write("app/kgctx.toml", "[[vault]]\npath = \"docs\"\nname = \"docs\"\n");
    let (answer, message) = rest(&scratch, &["--dir", "app", "index", "--json"]);
    assert_eq!(answer["notes"], 2);
    assert!(message.contains("another name than \"docs\""), "{message}");
    fs::create_dir_all(scratch.path().join("other/docs")).unwrap();
    let twice = scratch.json([
        "--vault",
        "home",
        "--vault",
        "app/docs",
        "--vault",
        "other/docs",
        "config",
        "--json",
    ]);
    let names: Vec<&str> = twice["settings"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|row| row["key"].as_str()?.strip_prefix("vault "))
        .collect();
    assert_eq!(names, ["memory://", "memory://docs/", "memory://docs2/"]);
}

#[test]
fn paths_that_are_no_text_are_shown_as_well_as_possible() {
    use std::os::unix::ffi::OsStrExt;
    let scratch = Scratch::new();
    let odd = scratch.path().join(std::ffi::OsStr::from_bytes(b"bad\xff"));
    fs::create_dir_all(odd.join("docs")).unwrap();
    fs::write(odd.join("docs/a.md"), "[[a]]").unwrap();
    let dir = std::ffi::OsStr::new("--dir");
    for command in ["whoami", "config", "index"] {
        for json in [&["--json"][..], &[]] {
            let mut arguments = vec![dir, odd.as_os_str(), command.as_ref()];
            arguments.extend(json.iter().map(std::ffi::OsStr::new));
            assert!(!scratch.run(arguments).is_empty());
        }
    }
}

#[test]
fn a_project_cannot_reach_out_of_itself() {
    let scratch = Scratch::new();
    scratch.write("private/diary.md", "[[secret]]");
    fs::create_dir_all(scratch.path().join("app/.kgctx")).unwrap();
    std::os::unix::fs::symlink("../private", scratch.path().join("app/docs")).unwrap();
    let (code, message) = scratch.fail(["--dir", "app", "index"]);
    assert!(code == 2 && message.contains("no folder of notes found"), "{message}");
    scratch.write("app/kgctx.toml", "[[vault]]\npath = \"docs\"\n");
    let (code, message) = scratch.fail(["--dir", "app", "index"]);
    assert!(code == 2 && message.contains("outside the project"), "{message}");
}

#[test]
fn help_and_version_are_answers() {
    let scratch = Scratch::new();
    assert_eq!(scratch.run(["--version"]), format!("kgctx {}\n", env!("CARGO_PKG_VERSION")));
    let help = scratch.run(["--help"]);
    for command in ["index", "search", "recent", "context", "whoami", "config"] {
        assert!(help.contains(&format!("\n  {command} ")), "{help}");
    }
    assert!(
        scratch
            .run(["search", "--help"])
            .contains("A note with the query as its title comes first")
    );
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let scratch = Scratch::new();
    scratch.write("vault/a.md", "[[x]]");
    let script = format!("{} --vault vault search x --json | true", env!("CARGO_BIN_EXE_kgctx"));
    let output = std::process::Command::new("bash")
        .args(["-o", "pipefail", "-c", &script])
        .current_dir(scratch.path())
        .env("KGCTX_HOME", scratch.path().join("kgctx-home"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}
