//! Settings that do not say clearly what may be sent: no session gets anything, and its user is told why.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::support::handoff_lab::{Lab, given};
use crate::support::{stderr, valid};

const NOTE: &str = "a private thought about zephyr";

/// A project with a note, and a private one of the user's.
fn lab() -> Lab {
    let lab = Lab::new();
    lab.scratch.write("zephyr/docs/a.md", format!("# Zephyr\n\nThis is {NOTE}.\n"));
    lab.scratch.write("home/maenifold/memory/b.md", format!("# Zephyr\n\nThis, too, is {NOTE}.\n"));
    lab
}

fn opencode(lab: &Lab, variables: &[(&str, &str)]) -> (Output, Value) {
    let info = json!({"id": "ses_1", "directory": lab.folder(), "title": "New session"});
    let event =
        json!({"type": "session.created", "properties": {"sessionID": "ses_1", "info": info}});
    let mut command = lab.kgctx(["hook", "opencode"]);
    command.envs(variables.iter().copied());
    let output = given(command, &json!({"protocol": 1, "event": event}));
    let answer = serde_json::from_slice(&output.stdout).unwrap();
    valid("hook-opencode", &answer);
    (output, answer)
}

fn ended_well(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(stderr(output), "");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Every host's session gets nothing but a line for its user, which says `why`.
#[track_caller]
fn check_closed(lab: &Lab, variables: &[(&str, &str)], why: &str) {
    let kgctx = |arguments: &[&str]| -> Command {
        let mut command = lab.kgctx(arguments);
        command.envs(variables.iter().copied());
        command
    };
    let (output, answer) = opencode(lab, variables);
    assert!(!ended_well(&output).contains(NOTE), "{answer}");
    assert_eq!((&answer["action"], &answer["notice"]["as"]), (&json!("none"), &json!("toast")));
    check_notice(&answer["notice"]["text"], why);

    let output = given(kgctx(&["hook", "claude-code"]), &lab.event("start-startup", "s"));
    let answer: Value = serde_json::from_str(&ended_well(&output)).unwrap();
    // Nothing else: what is in `hookSpecificOutput` goes to the model.
    assert_eq!(answer.as_object().unwrap().keys().collect::<Vec<_>>(), ["systemMessage"]);
    check_notice(&answer["systemMessage"], why);

    let asked = json!({"event": "prompt:submit", "session_id": "s", "cwd": lab.folder()});
    let output = given(kgctx(&["hook", "amplifier"]), &asked);
    let answer: Value = serde_json::from_str(&ended_well(&output)).unwrap();
    assert_eq!(answer["action"], "continue");
    check_notice(&answer["user_message"], why);

    for arguments in [&["explain"][..], &["explain", "--dry-run"]] {
        let output = kgctx(arguments).output().unwrap();
        let said = ended_well(&output);
        assert!(said.contains(why) && said.contains("0 of ") && !said.contains(NOTE), "{said}");
    }
    let output = kgctx(&["doctor", "--json"]).output().unwrap();
    let diagnosis: Value = serde_json::from_slice(&output.stdout).unwrap();
    let checks = diagnosis["checks"].as_array().unwrap();
    let found = |name: &str| checks.iter().find(|check| check["name"] == name).unwrap();
    assert_eq!(found("enabled")["verdict"], "fail", "{diagnosis:#}");
    let of_settings = |check: &&Value| check["name"] == "settings";
    let is_said = |check: &Value| check["found"].to_string().contains(why);
    assert!(checks.iter().filter(of_settings).any(is_said), "{diagnosis:#}");
    // For people it is an error.
    let output = kgctx(&["inject", "--session", "s", "--dry-run"]).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{output:?}");
}

#[track_caller]
fn check_notice(notice: &Value, why: &str) {
    let notice = notice.as_str().unwrap();
    assert!(notice.starts_with("kgctx: no context in this session"), "{notice}");
    assert!(notice.contains(why) && !notice.contains(|c: char| c.is_control()), "{notice:?}");
}

#[track_caller]
fn check_open(lab: &Lab) {
    let (_, answer) = opencode(lab, &[]);
    assert_eq!(answer["action"], "inject", "{answer}");
}

#[test]
fn a_file_that_does_not_say_what_may_be_sent_sends_nothing() {
    for file in ["kgctx-home/config.toml", "zephyr/kgctx.toml"] {
        for (text, why) in [
            ("enabled = false\nlinks = = 1\n", ":2:9"),
            ("enabled = true\n[handoff\n", ":2:"),
            ("enabled = \"false\"\n", ":1:11"),
            (
                "[monitor]\nnotify = false\nenabled = false\n",
                "`enabled` is not a setting of [monitor]",
            ),
            ("[check]\nenabled = false\n", "`enabled` is not a setting of [check]"),
            ("[kgctx]\nenabled = false\n", "`enabled` is not a setting of [kgctx]"),
            (
                "[handoff]\ndefault_vaults = false\n",
                "`default_vaults` is not a setting of [handoff]",
            ),
            (
                "[[check.session]]\ndir = \".\"\n[[check.session]]\nenabled = false\n",
                "`enabled` is not a setting of [check.session]",
            ),
            ("[check.severity]\nenabled = false\n", "not a setting of [check.severity]"),
            ("[monitor.windows]\nenabled = false\n", "not a setting of [monitor.windows]"),
            ("[monitor.windows]\nenabled = 0\n", "not a setting of [monitor.windows]"),
            ("[handoff.more]\nenabled = false\n", "not a setting of [handoff.more]"),
            ("[tool.kgctx]\nenabled = false\n", "not a setting of [tool.kgctx]"),
            ("a.b = [{c = [{Enabled = 0}]}]\n", "`Enabled` is not a setting of [a.b.c]"),
            ("enabled = 0\n", ":1:11"),
            ("enabled = 1\n", ":1:11"),
            ("enabled = []\n", ":1:11"),
            ("token_limit = \"x\"\nenabled = \"no\"\n", ":2:11"),
            ("default_vaults = \"no\"\n", ":1:18"),
            ("default_vaults = false\n[[vault]]\nname = \"x\"\n", "path"),
            ("vault = \"~/notes\"\n", ":1:9"),
            ("Enabled = false\n", "Enabled"),
            ("enabeld = false\n", "enabeld"),
            ("enable = false\n", "enable"),
            ("disabled = true\n", "`disabled` is not a setting"),
            ("session_start_enabled = false\n", "`session_start_enabled` is not a setting"),
            ("default_vault = false\n", "default_vault"),
            ("KGCTX_ENABLED = false\n", "`KGCTX_ENABLED` is not a setting"),
            ("kgctx_enabled = \"false\"\n", "`kgctx_enabled` is not a setting"),
            ("is_enabled = false\n", "`is_enabled` is not a setting"),
            ("active = false\n", "`active` is not a setting"),
            ("off = true\n", "`off` is not a setting"),
            ("[channels]\nenabled = false\n", "`enabled` is not a setting of [channels]"),
            ("[kgctx]\nis_enabled = false\n", "`is_enabled` is not a setting of [kgctx]"),
            ("\u{1b}[31m = 1\n", ":1:"),
        ] {
            let lab = lab();
            check_open(&lab);
            let lab = self::lab();
            lab.scratch.write(file, text);
            check_closed(&lab, &[], why);
        }
    }
}

#[test]
fn a_file_that_cannot_be_read_sends_nothing() {
    type Broken = fn(&Path);
    let kinds: [(&str, Broken); 7] = [
        ("not a regular file", |file| fs::create_dir(file).unwrap()),
        ("not UTF-8", |file| fs::write(file, b"enabled = false # \xff").unwrap()),
        ("more than", |file| fs::write(file, " ".repeat(2 << 20)).unwrap()),
        ("cannot read", |file| symlink("nowhere", file).unwrap()),
        ("cannot read", |file| symlink(file, file).unwrap()),
        ("not a regular file", |file| symlink("/dev/zero", file).unwrap()),
        ("not a regular file", |file| {
            assert!(Command::new("mkfifo").arg(file).status().unwrap().success());
        }),
    ];
    for (why, make) in kinds {
        for file in ["kgctx-home/config.toml", "zephyr/kgctx.toml"] {
            let lab = lab();
            let file = lab.scratch.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            make(&file);
            check_closed(&lab, &[], why);
        }
    }
    // The folder of the settings is on a drive that is not there.
    let lab = lab();
    symlink("/nowhere/kgctx", lab.scratch.path().join("dangling")).unwrap();
    let home = lab.scratch.path().join("dangling");
    let (_, answer) = opencode(&lab, &[("KGCTX_HOME", home.to_str().unwrap())]);
    assert_eq!(answer["action"], "none", "{answer}");
    // Only for people other than root.
    let file = lab.scratch.write("kgctx-home/config.toml", "enabled = false\n");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o0)).unwrap();
    if fs::read(&file).is_err() {
        check_closed(&lab, &[], "cannot read");
    }
}

#[test]
fn a_variable_that_says_neither_yes_nor_no_sends_nothing() {
    for name in [
        "SESSION_START_ENABLED",
        "KGCTX_SESSION_START_ENABLED",
        "KGCTX_ENABLED",
        "KGCTX_DEFAULT_VAULTS",
    ] {
        for value in ["maybe", "falsch", " ", "tru", "2"] {
            check_closed(&lab(), &[(name, value)], name);
        }
    }
    // A later source does not open what an earlier one has closed.
    let lab = lab();
    lab.scratch.write("kgctx-home/config.toml", "default_vaults = \"no\"\n");
    check_closed(&lab, &[("SESSION_START_ENABLED", "true")], "config.toml:1:18");
}

#[test]
fn a_variable_switches_sessions_off_by_its_setting_s_name() {
    let lab = lab();
    let (_, answer) = opencode(&lab, &[("KGCTX_ENABLED", "false")]);
    assert_eq!(answer["action"], "none", "{answer}");
    check_open(&lab);
    let names = ["KGCTX_ENABLED", "KGCTX_SESSION_START_ENABLED", "SESSION_START_ENABLED"];
    for (a, b) in [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)] {
        let variables = [(names[a], "true"), (names[b], "false")];
        let (_, answer) = opencode(&lab, &variables);
        assert_eq!(answer["action"], "none", "{variables:?}: {answer}");
        check_closed(&self::lab(), &[(names[a], "true"), (names[b], "maybe")], names[b]);
    }
    let all = names.map(|name| (name, "true"));
    assert_eq!(opencode(&self::lab(), &all).1["action"], "inject");
}

#[test]
fn a_variable_that_nothing_reads_is_told_of() {
    let lab = lab();
    let with = |name: &str, arguments: &[&str]| {
        let output = lab.kgctx(arguments).env(name, "false").output().unwrap();
        let [printed, said] =
            [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap());
        format!("{printed}{said}")
    };
    for arguments in [&["config"][..], &["doctor"], &["explain", "--dry-run"]] {
        let said = with("KGCTX_ENABELD", arguments);
        assert!(said.contains("KGCTX_ENABELD has no effect"), "{arguments:?}: {said}");
        for known in ["KGCTX_TEST_X", "KGCTX_MONITOR_NOTIFY", "KGCTX_SESSION_ID"] {
            assert!(!with(known, arguments).contains("has no effect"), "{known}");
        }
    }
}

#[test]
fn a_fault_in_any_other_setting_costs_nothing() {
    for file in ["kgctx-home/config.toml", "zephyr/kgctx.toml"] {
        for text in [
            "token_limit = \"many\"\n",
            "links = 7\nfoo = 1\n",
            "[handoff]\nmax_age = 3\n",
            "[channels]\nx = 1\n",
            "[channels]\nenabled = \"team\"\n",
            "[[vault]]\npath = \"docs\"\nname = \"a/b\"\n",
            "enabled = true\nnotes = \"many\"\n",
            "",
        ] {
            let lab = lab();
            lab.scratch.write(file, text);
            check_open(&lab);
        }
    }
}

#[test]
fn handoffs_need_a_permission_that_can_be_read() {
    for (text, is_given) in [
        ("", true),
        ("[handoff]\nmax_age_days = \"x\"\n", true),
        ("[handoff]\nenabled = \"false\"\n", false),
        ("[handoff]\nenabled = 0\nmax_age_days = 3\n", false),
        ("[handoff]\nEnabled = false\n", false),
        ("[handoff]\ndisabled = true\n", false),
        ("[handoff]\nenabled = false\nmax_age_days = \"x\"\n", false),
        ("[handoff]\ninject_on_start = \"no\"\n", false),
        ("handoff = false\n", false),
        ("[handoff]\nenabled = true\n[handoff\n", false),
    ] {
        let lab = Lab::new();
        let id = lab.leave("Ship it.");
        lab.scratch.write("kgctx-home/config.toml", text);
        let output = given(lab.hook(), &lab.event("start-startup", "s"));
        assert_eq!(ended_well(&output).contains("Ship it."), is_given, "{text}");
        let status = if is_given { "consumed" } else { "active" };
        assert_eq!(lab.status(&id).as_deref(), Some(status), "{text}");
    }
    let lab = Lab::new();
    lab.leave("Ship it.");
    let mut hook = lab.hook();
    hook.env("KGCTX_HANDOFFS", "nope");
    let output = given(hook, &lab.event("start-startup", "s"));
    assert_eq!(ended_well(&output), "");
}

#[test]
fn a_relative_folder_for_kgctx_is_told_to_the_user() {
    let lab = lab();
    let why = "KGCTX_HOME is a relative path";
    let (output, answer) = opencode(&lab, &[("KGCTX_HOME", "here")]);
    assert!(!ended_well(&output).contains(NOTE), "{answer}");
    check_notice(&answer["notice"]["text"], why);
    let mut hook = lab.hook();
    hook.env("KGCTX_HOME", "here");
    let output = given(hook, &lab.event("start-startup", "s"));
    let answer: Value = serde_json::from_str(&ended_well(&output)).unwrap();
    assert_eq!(answer.as_object().unwrap().keys().collect::<Vec<_>>(), ["systemMessage"]);
    check_notice(&answer["systemMessage"], why);
}

#[test]
fn a_relative_home_is_told_to_the_user() {
    let lab = lab();
    let mut hook = lab.hook();
    hook.env_remove("KGCTX_HOME").env("HOME", "here");
    let output = given(hook, &lab.event("start-startup", "s"));
    let answer: Value = serde_json::from_str(&ended_well(&output)).unwrap();
    assert_eq!(answer.as_object().unwrap().keys().collect::<Vec<_>>(), ["systemMessage"]);
    check_notice(&answer["systemMessage"], "HOME is a relative path");
    assert!(!lab.scratch.path().join("zephyr/here").exists());
}
