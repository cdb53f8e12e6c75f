//! Installing our hooks into Claude Code's settings (A-1.45): nothing else changes, and removing them restores every byte.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use serde_json::{Value, json};

use super::{done, is_root, repository, say, tree};
use crate::support::Scratch;

const FILE: &str = "home/.claude/settings.json";
const BACKUP: &str = "home/.claude/settings.json.kgctx-backup";
const INSTALL: &[&str] = &["install", "claude-code"];
const UNINSTALL: &[&str] = &["uninstall", "claude-code"];
/// The command of our hooks.
const OURS: &str = "kgctx hook claude-code";

fn read(scratch: &Scratch, file: &str) -> String {
    fs::read_to_string(scratch.path().join(file)).unwrap()
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap()
}

/// How often our hook is in the list of an event.
fn count(settings: &Value, event: &str) -> usize {
    let groups = settings["hooks"][event].as_array().unwrap().iter();
    let hooks = groups.flat_map(|group| group["hooks"].as_array().into_iter().flatten());
    hooks.filter(|hook| hook["command"] == OURS).count()
}

#[test]
fn what_changes_is_said_before() {
    let scratch = Scratch::new();
    let before = tree(&scratch.home());
    let dry = done(&scratch, &["install", "claude-code", "--dry-run"]);
    assert!(dry.ends_with("Nothing was changed.\n"), "{dry}");
    assert_eq!(tree(&scratch.home()), before);
    insta::assert_snapshot!(done(&scratch, INSTALL), @"
    make     home/.claude
    write    home/.claude/settings.json  (with only kgctx's hooks)

    Done. From now on, every new Claude Code session gets context before its first prompt.

      kgctx doctor                         checks everything
      kgctx explain --dry-run              shows what a session here would get, and why
      kgctx uninstall claude-code          undoes this
    ");
    insta::assert_snapshot!(read(&scratch, FILE), @r#"
    {
      "hooks": {
        "SessionStart": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "kgctx hook claude-code",
                "timeout": 5
              }
            ]
          }
        ],
        "UserPromptSubmit": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "kgctx hook claude-code",
                "timeout": 5
              }
            ]
          }
        ],
        "PreCompact": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "kgctx hook claude-code",
                "timeout": 5
              }
            ]
          }
        ],
        "SessionEnd": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "kgctx hook claude-code",
                "timeout": 5
              }
            ]
          }
        ]
      }
    }
    "#);
    insta::assert_snapshot!(done(&scratch, INSTALL), @"nothing to do: home/.claude/settings.json has kgctx's hooks");
    insta::assert_snapshot!(done(&scratch, UNINSTALL), @"
    remove   home/.claude/settings.json  (made by install, otherwise empty)
    remove   home/.claude  (made by install, empty)

    Done. New Claude Code sessions run without kgctx.
    ");
    assert_eq!(tree(&scratch.home()), before);
    insta::assert_snapshot!(done(&scratch, UNINSTALL), @"nothing to do: home/.claude/settings.json has no kgctx hooks");

    scratch.write(FILE, "{\"model\": \"opus\"}");
    insta::assert_snapshot!(done(&scratch, INSTALL), @"
    write    home/.claude/settings.json.kgctx-backup  (a copy of the settings)
    edit     home/.claude/settings.json  (kgctx's hooks; the rest is unchanged)

    Done. From now on, every new Claude Code session gets context before its first prompt.

      kgctx doctor                         checks everything
      kgctx explain --dry-run              shows what a session here would get, and why
      kgctx uninstall claude-code          undoes this
    ");
    insta::assert_snapshot!(done(&scratch, UNINSTALL), @"
    restore  home/.claude/settings.json  (as it was before install)
    remove   home/.claude/settings.json.kgctx-backup  (made by install)

    Done. New Claude Code sessions run without kgctx.
    ");
}

/// Settings as people have them, and some that nobody should have.
const SETTINGS: &[(&str, &str)] = &[
    ("nothing", ""),
    ("white space", " \n\t\r\n"),
    ("an empty object", "{}"),
    ("an empty object on its lines", "{\n}\n"),
    ("one line", r#"{"model":"opus"}"#),
    ("one line, spaced", "{ \"model\": \"opus\", \"env\": { } }\n"),
    ("two spaces", "{\n  \"model\": \"opus\"\n}\n"),
    ("no line break at the end", "{\n  \"model\": \"opus\"\n}"),
    ("many line breaks at the end", "{\n  \"model\": \"opus\"\n}\n\n\n"),
    ("tabs", "{\n\t\"model\": \"opus\",\n\t\"env\": {\n\t\t\"A\": \"b\"\n\t}\n}\n"),
    ("CRLF", "{\r\n    \"model\": \"opus\"\r\n}\r\n"),
    ("a byte order mark", "\u{feff}{\n  \"model\": \"opus\"\n}\n"),
    ("unicode", "{\"env\":{\"ü😀\u{2028}\":\"\\u00e9\\ud83d\\ude00\\\"}{\"}}"),
    ("odd numbers", "{\"a\":1e300,\"b\":1.10,\"c\":12345678901234567890123,\"d\":-0.0}"),
    ("a status line", "{\"statusLine\":{\"type\":\"command\",\"command\":\"kgctx-like\"}}"),
    ("a name twice", "{\"hooks\":{\"Stop\":[]},\"model\":\"a\",\"hooks\":{\"SessionEnd\":[]}}"),
    ("an empty list of hooks", "{\n  \"hooks\": {}\n}\n"),
    ("empty lists of hooks", "{\n  \"hooks\": {\"SessionStart\": [], \"SessionEnd\": [ ]}\n}\n"),
    (
        "other hooks of the same events",
        "{\n  \"hooks\": {\n    \"SessionStart\": [\n      {\n        \"matcher\": \"startup\",\n        \"hooks\": [\n          \
         {\"type\": \"command\", \"command\": \"echo hi\"}\n        ]\n      }\n    ],\n    \"PreToolUse\": [{\"matcher\":\"Bash\",\
         \"hooks\":[]}]\n  },\n  \"permissions\": {\"allow\": []}\n}\n",
    ),
    (
        "other hooks in one line",
        r#"{"hooks":{"SessionEnd":[{"hooks":[{"type":"command","command":"x"}]}]},"z":0}"#,
    ),
    ("hooks of another shape", r#"{"hooks":{"SessionStart":[7,{"hooks":null},{"matcher":""}]}}"#),
    ("wrong indentation", "{\n\"model\": \"opus\",\n      \"env\": {}}"),
];

#[test]
fn a_1_45_removing_restores_every_byte() {
    // A-1.45
    for (case, settings) in SETTINGS {
        let scratch = Scratch::new();
        let file = scratch.write(FILE, settings);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        let before = tree(&scratch.home());
        done(&scratch, INSTALL);
        let installed = tree(&scratch.home());
        let text = read(&scratch, FILE);
        let now = parsed(&text);
        assert_eq!((count(&now, "SessionStart"), count(&now, "SessionEnd")), (1, 1), "{case}");
        assert_eq!(installed[&scratch.path().join(BACKUP)], before[&file], "{case}");
        // All else is there as it was.
        let mut rest = now.clone();
        let mut expected = if settings.trim().is_empty() { json!({}) } else { parsed(settings) };
        let others = |settings: &Value, event: &str| -> Vec<Value> {
            let groups = settings["hooks"][event].as_array().cloned().unwrap_or_default();
            groups.into_iter().filter(|group| group["hooks"][0]["command"] != OURS).collect()
        };
        for event in ["SessionStart", "UserPromptSubmit", "PreCompact", "SessionEnd"] {
            assert_eq!(others(&now, event), others(&expected, event), "{case}");
            for settings in [&mut rest, &mut expected] {
                settings["hooks"][event] = Value::Null;
            }
        }
        assert_eq!(rest, expected, "{case}");

        assert!(done(&scratch, INSTALL).starts_with("nothing to do: "), "{case}");
        assert_eq!(tree(&scratch.home()), installed, "{case}: twice is once");
        done(&scratch, UNINSTALL);
        assert_eq!(tree(&scratch.home()), before, "{case}");
        assert!(done(&scratch, UNINSTALL).starts_with("nothing to do: "), "{case}");
    }
}

#[test]
fn a_1_45_with_later_edits_only_our_hooks_go() {
    // A-1.45
    for (case, settings) in SETTINGS {
        let scratch = Scratch::new();
        scratch.write(FILE, settings);
        done(&scratch, INSTALL);
        let installed = read(&scratch, FILE);
        // Somebody adds a setting in front of all others.
        let edit = |text: &str| {
            let joint = if parsed(text) == json!({}) { "" } else { "," };
            text.replacen('{', &format!("{{\"mine\":[1]{joint}"), 1)
        };
        scratch.write(FILE, edit(&installed));
        let said = done(&scratch, UNINSTALL);
        assert!(said.contains("edit     home/.claude/settings.json"), "{case}: {said}");
        let left = read(&scratch, FILE);
        let original = if settings.trim().is_empty() { "{}" } else { settings };
        assert_eq!(parsed(&left), parsed(&edit(original)), "{case}: {left}");
        assert!(!scratch.path().join(BACKUP).exists(), "{case}");
    }
}

#[test]
fn hooks_of_the_users_own_are_restored() {
    let hook = |command: &str| format!("{{\"type\": \"command\", {command}, \"timeout\": 60}}");
    let exec = hook("\"command\": \"/opt/kgctx\", \"args\": [\"hook\", \"claude-code\"]");
    let shell = hook("\"command\": \"kgctx hook claude-code\"");
    let event = |event: &str, hooks: &str| {
        format!("\"{event}\": [{{\"matcher\": \"startup\", \"hooks\": [{hooks}]}}]")
    };
    let all: Vec<_> = ["SessionStart", "UserPromptSubmit", "PreCompact", "SessionEnd"]
        .map(|name| event(name, &shell))
        .into();
    for hooks in [
        event("SessionStart", &exec),
        event("SessionStart", &shell),
        event("Stop", &shell),
        event("SessionEnd", &format!("{shell}, {exec}")),
        all.join(",\n  "),
    ] {
        let settings = format!("{{\"model\": \"opus\", \"hooks\": {{\n  {hooks}\n}}}}\n");
        let scratch = Scratch::new();
        scratch.write(FILE, &settings);
        let before = tree(&scratch.home());
        done(&scratch, INSTALL);
        assert!(done(&scratch, INSTALL).starts_with("nothing to do: "), "{settings}");
        let said = done(&scratch, UNINSTALL);
        assert!(said.contains("This restored kgctx hooks"), "{said}");
        assert_eq!(read(&scratch, FILE), settings);
        assert_eq!(tree(&scratch.home()), before);
        // Whoever asks again means those, too.
        let said = done(&scratch, UNINSTALL);
        assert!(said.ends_with("New Claude Code sessions run without kgctx.\n"), "{said}");
        assert!(!read(&scratch, FILE).contains("claude-code"));

        // With another edit in between.
        scratch.write(FILE, &settings);
        done(&scratch, INSTALL);
        scratch.write(FILE, read(&scratch, FILE).replace("\"opus\"", "\"haiku\""));
        done(&scratch, UNINSTALL);
        let expected = settings.replace("\"opus\"", "\"haiku\"");
        let own = |text: &str| text.replace(' ', "").matches("\"timeout\":60").count();
        let left = read(&scratch, FILE);
        assert_eq!(
            (own(&left), left.matches("claude-code").count()),
            (own(&settings), own(&settings)),
            "{left}"
        );
        if !hooks.contains("}, {") {
            assert_eq!(parsed(&left), parsed(&expected));
        }
    }
}

#[test]
fn edits_before_a_second_install_survive_removing() {
    let scratch = Scratch::new();
    scratch.write(FILE, "{\n  \"model\": \"opus\"\n}\n");
    done(&scratch, INSTALL);
    let moved = read(&scratch, FILE)
        .replace("\"kgctx hook", "\"/old/place/kgctx hook")
        .replace("\"opus\"", "\"haiku\"");
    scratch.write(FILE, moved);
    done(&scratch, INSTALL);
    let now = parsed(&read(&scratch, FILE));
    assert_eq!((count(&now, "SessionStart"), count(&now, "SessionEnd")), (1, 1));
    done(&scratch, UNINSTALL);
    assert_eq!(read(&scratch, FILE), "{\n  \"model\": \"haiku\"\n}\n");
}

#[test]
fn a_file_that_says_nothing_else_goes_only_if_install_made_it() {
    let scratch = Scratch::new();
    scratch.write(FILE, "{}");
    done(&scratch, INSTALL);
    scratch.write(FILE, read(&scratch, FILE) + "\n");
    done(&scratch, UNINSTALL);
    assert_eq!(parsed(&read(&scratch, FILE)), json!({}));

    // Nor if nobody remembers: the backup leads to this file, so it is from the installation.
    done(&scratch, INSTALL);
    fs::remove_dir_all(scratch.path().join("kgctx-home")).unwrap();
    done(&scratch, UNINSTALL);
    assert_eq!(parsed(&read(&scratch, FILE)), json!({}));
    assert!(!scratch.path().join(BACKUP).exists());
}

#[test]
fn hooks_that_others_add_later_survive() {
    let scratch = Scratch::new();
    done(&scratch, INSTALL);
    let other = json!({"hooks": [{"type": "command", "command": "other"}]});
    let mut settings = parsed(&read(&scratch, FILE));
    settings["hooks"]["SessionStart"].as_array_mut().unwrap().insert(0, other.clone());
    scratch.write(FILE, settings.to_string());
    done(&scratch, UNINSTALL);
    assert_eq!(parsed(&read(&scratch, FILE)), json!({"hooks": {"SessionStart": [other]}}));
}

#[test]
fn a_program_that_is_not_on_the_path_is_named_by_its_place() {
    let scratch = Scratch::new();
    let output = scratch.kgctx(INSTALL).env("PATH", "/none").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let named = parsed(&read(&scratch, FILE))["hooks"]["SessionEnd"][0]["hooks"][0].take();
    let this = env!("CARGO_BIN_EXE_kgctx");
    assert_eq!(
        named,
        json!({"type": "command", "command": format!("{this} hook claude-code"), "timeout": 5})
    );
    // From another place the entry is replaced, and not doubled; there was no file before, so there is none after.
    done(&scratch, INSTALL);
    let now = parsed(&read(&scratch, FILE));
    assert_eq!((count(&now, "SessionStart"), count(&now, "SessionEnd")), (1, 1));
    done(&scratch, UNINSTALL);
    assert!(tree(&scratch.home()).is_empty());
}

#[test]
fn a_linked_file_stays_a_link() {
    let scratch = Scratch::new();
    scratch.write("home/dotfiles/claude.json", "{\"model\":\"opus\"}");
    fs::create_dir(scratch.home().join(".claude")).unwrap();
    symlink("../dotfiles/claude.json", scratch.path().join(FILE)).unwrap();
    let before = tree(&scratch.home());
    done(&scratch, INSTALL);
    assert!(fs::symlink_metadata(scratch.path().join(FILE)).unwrap().is_symlink());
    assert_eq!(count(&parsed(&read(&scratch, "home/dotfiles/claude.json")), "SessionStart"), 1);
    done(&scratch, UNINSTALL);
    assert_eq!(tree(&scratch.home()), before);

    fs::remove_file(scratch.home().join("dotfiles/claude.json")).unwrap();
    let before = tree(&scratch.home());
    let (code, said) = say(&scratch, INSTALL);
    assert!(code == 1 && said.contains("a broken link"), "{said}");
    assert_eq!(tree(&scratch.home()), before);
}

#[test]
fn what_cannot_be_understood_is_named_and_left_alone() {
    for (settings, what) in [
        (&b"{\n  \"model\": \"opus\",\n}\n"[..], "trailing comma at line 3 column 1"),
        (b"// mine\n{}", "line 1 column 1"),
        (b"[]", "not a JSON object"),
        (b"{\"hooks\":[]}", "\"hooks\" is not a JSON object"),
        (b"{\"hooks\":{\"SessionStart\":\"x\"}}", "\"SessionStart\" is not a list"),
        (b"{\"a\":\"\xff\"}", "not UTF-8"),
    ] {
        let scratch = Scratch::new();
        scratch.write(FILE, settings);
        let before = tree(&scratch.home());
        for command in [INSTALL, UNINSTALL] {
            let (code, said) = say(&scratch, command);
            assert_eq!(code, 1, "{said}");
            assert!(said.starts_with("kgctx: home/.claude/settings.json "), "{said}");
            assert!(said.contains(what) && said.contains("was not changed"), "{said}");
        }
        assert_eq!(tree(&scratch.home()), before);
        // Nor is anything remembered: what is there then is theirs.
        scratch.write(FILE, "{}");
        assert!(done(&scratch, UNINSTALL).starts_with("nothing to do: "));
    }
}

#[test]
fn what_cannot_be_written_is_undone() {
    let scratch = Scratch::new();
    scratch.write("home/.claude", "a file");
    let before = tree(&scratch.home());
    let (code, said) = say(&scratch, INSTALL);
    assert!(code == 3 && said.contains("home/.claude/settings.json"), "{said}");
    assert_eq!(tree(&scratch.home()), before);

    if is_root() {
        eprintln!("skipped: nothing is forbidden to root");
        return;
    }
    let scratch = Scratch::new();
    scratch.write(FILE, "{}");
    let folder = scratch.home().join(".claude");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o500)).unwrap();
    let before = tree(&scratch.home());
    let (code, said) = say(&scratch, INSTALL);
    assert!(code == 3 && said.contains("check its permissions"), "{said}");
    assert_eq!(tree(&scratch.home()), before);
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn a_project_has_settings_of_its_own() {
    let scratch = Scratch::new();
    let app = repository(&scratch);
    let before = tree(&app);
    let said = done(&scratch, &["--dir", "app/src", "install", "claude-code", "--project"]);
    assert!(said.contains("write    app/.claude/settings.local.json"), "{said}");
    assert!(said.contains("kgctx uninstall claude-code --project"), "{said}");
    assert!(tree(&scratch.home()).is_empty());
    done(&scratch, &["--dir", "app", "uninstall", "claude-code", "--project"]);
    assert_eq!(tree(&app), before);
    let (code, said) = say(&scratch, &["--dir", "home", "install", "claude-code", "--project"]);
    assert!(code == 2 && said.contains("not in a project"), "{said}");
}

#[test]
fn the_file_is_where_claude_code_looks() {
    let scratch = Scratch::new();
    let folder = scratch.path().join("elsewhere");
    let output = scratch.kgctx(INSTALL).env("CLAUDE_CONFIG_DIR", &folder).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(folder.join("settings.json").is_file());
    let output = scratch.kgctx(INSTALL).env_remove("HOME").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("CLAUDE_CONFIG_DIR"), "{output:?}");
}

#[test]
fn what_was_removed_by_hand_is_forgotten() {
    let scratch = Scratch::new();
    scratch.write(FILE, "{\"model\":\"opus\"}");
    done(&scratch, INSTALL);
    scratch.write(FILE, "{\"model\":\"haiku\"}");
    let said = done(&scratch, UNINSTALL);
    assert!(said.starts_with("remove   home/.claude/settings.json.kgctx-backup"), "{said}");
    assert_eq!(read(&scratch, FILE), "{\"model\":\"haiku\"}");

    // Whoever removes what we keep for him, has his own settings nevertheless.
    done(&scratch, INSTALL);
    fs::remove_file(scratch.path().join(BACKUP)).unwrap();
    done(&scratch, UNINSTALL);
    assert_eq!(read(&scratch, FILE), "{\"model\":\"haiku\"}");
    assert!(!Path::new(&scratch.path().join(BACKUP)).exists());
}

#[test]
fn without_its_record_an_installation_is_known_by_its_backup() {
    let own = r#"{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"kgctx hook claude-code"}]}]}}"#;
    for (text, options) in
        [(own, &[][..]), ("{\"model\": \"opus\"}\n", &["--monitor", "--statusline"])]
    {
        let scratch = Scratch::new();
        scratch.write(FILE, text);
        done(&scratch, &[INSTALL, options].concat());
        assert_ne!(read(&scratch, FILE), text);
        fs::remove_dir_all(scratch.path().join("kgctx-home/state")).unwrap();
        done(&scratch, UNINSTALL);
        assert_eq!(read(&scratch, FILE), text);
        assert!(!scratch.path().join(BACKUP).exists());
    }
    // A backup of something else is not ours to use or to remove.
    let scratch = Scratch::new();
    scratch.write(FILE, "{}");
    done(&scratch, INSTALL);
    fs::remove_dir_all(scratch.path().join("kgctx-home/state")).unwrap();
    scratch.write(BACKUP, "{\"model\": \"haiku\"}");
    done(&scratch, UNINSTALL);
    assert_eq!(parsed(&read(&scratch, FILE)), json!({}));
    assert!(scratch.path().join(BACKUP).exists());
}
