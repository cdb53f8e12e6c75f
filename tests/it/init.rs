//! `kgctx init`: what a new user sees, and what is different afterwards.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::terminal::on_terminal;
use crate::support::{Scratch, git, stderr};

const NOTE: &str = "# Mast\n\nThe [[Mast]] carries the [[Sail]].\n";
const SETTING: &str = "[[vault]]\npath = \"kb\"\n";

/// A repository `app` with these files, and these hosts on the PATH.
fn project(files: &[(&str, &str)], hosts: &[&str]) -> Scratch {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path().join("app")).unwrap();
    git(&scratch.path().join("app"), &["init", "-q"]);
    for (file, text) in files {
        scratch.write(&format!("app/{file}"), text);
    }
    for host in hosts {
        let program = scratch.write(&format!("bin/{host}"), "#!/bin/sh\necho 1.18.33\n");
        fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
    }
    scratch
}

fn init(scratch: &Scratch, arguments: &[&str]) -> Command {
    let mut command = scratch.kgctx([&["init"], arguments].concat());
    let bin = scratch.path().join("bin");
    if !bin.join("kgctx").exists() {
        fs::create_dir_all(&bin).unwrap();
        symlink(env!("CARGO_BIN_EXE_kgctx"), bin.join("kgctx")).unwrap();
    }
    command.env("PATH", format!("{}:/usr/bin:/bin", bin.display())).env_remove("KGCTX_RANK");
    command.current_dir(scratch.path().join("app"));
    command
}

/// What it says where it succeeds in silence otherwise.
#[track_caller]
fn said(scratch: &Scratch, arguments: &[&str]) -> String {
    let output = init(scratch, arguments).output().unwrap();
    let said = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""), "{said}");
    said.replace(&format!("{}/", scratch.path().display()), "")
}

/// All files below a folder, without git's.
fn files(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            if entry.file_type().unwrap().is_dir() && entry.file_name() != ".git" {
                folders.push(entry.path());
            } else if entry.file_type().unwrap().is_file() {
                let text = fs::read(entry.path()).unwrap();
                found.insert(entry.path(), String::from_utf8_lossy(&text).into_owned());
            }
        }
    }
    found
}

/// What `init` must not change without being asked: the project and the home folder.
fn others(scratch: &Scratch) -> BTreeMap<PathBuf, String> {
    let mut all = files(&scratch.path().join("app"));
    all.extend(files(&scratch.home()));
    all
}

fn settings(scratch: &Scratch) -> Option<String> {
    fs::read_to_string(scratch.path().join("app/kgctx.toml")).ok()
}

/// Whether a line has all these words.
#[track_caller]
fn has_line(said: &str, words: &[&str]) {
    let is_it = |line: &str| words.iter().all(|word| line.contains(word));
    assert!(said.lines().any(is_it), "no line with {words:?} in\n{said}");
}

#[test]
fn every_mark_is_found_and_one_setting_is_enough() {
    let recommended = r#"{ "recommendations": ["foam.foam-vscode"] }"#;
    for (mark, text, program) in [
        ("kb/.obsidian/app.json", "{}", "Obsidian"),
        ("kb/logseq/config.edn", "{}", "Logseq"),
        ("kb/dendron.yml", "version: 1\n", "Dendron"),
        ("kb/.vscode/extensions.json", recommended, "Foam"),
    ] {
        let scratch = project(&[(mark, text), ("kb/mast.md", NOTE)], &[]);
        let first = said(&scratch, &["--yes"]);
        has_line(&first, &["kb", program, "kgctx.toml"]);
        has_line(&first, &["kb", "1 note", program]);
        has_line(&first, &["Mast", "memory://kb/mast"]);
        assert_eq!(settings(&scratch).as_deref(), Some(SETTING), "{mark}");
        let before = others(&scratch);
        let second = said(&scratch, &["--yes"]);
        has_line(&second, &["The settings name all of this; nothing to add."]);
        assert!(!second.contains("added"), "{second}");
        assert_eq!(others(&scratch), before, "{mark}");
    }
}

#[test]
fn where_the_defaults_find_everything_nothing_is_written() {
    let files = [
        ("docs/a.md", NOTE),
        ("adr/0001.md", NOTE),
        ("memory-bank/b.md", NOTE),
        ("README.md", NOTE),
        ("AGENTS.md", "Use tabs.\n"),
        ("CLAUDE.md", "Use spaces.\n"),
        ("docs/.obsidian/app.json", "{}"),
    ];
    let scratch = project(&files, &[]);
    let before = others(&scratch);
    let said = said(&scratch, &["--yes"]);
    for (place, because) in [
        ("  docs ", "Obsidian, a usual place"),
        ("  adr ", "a usual place"),
        ("  memory-bank ", "a usual place"),
        ("  . ", "notes at the project's top"),
    ] {
        has_line(&said, &[place, "1 note", because]);
    }
    has_line(&said, &["no setting is needed"]);
    has_line(&said, &["AGENTS.md", "OpenCode", "by themselves, so kgctx leaves it out"]);
    has_line(&said, &["CLAUDE.md", "Claude Code reads it by itself"]);
    has_line(&said, &["of 4,000 tokens"]);
    assert_eq!(others(&scratch), before);
}

#[test]
fn a_whole_repository_that_is_a_vault_leaves_no_note_out_and_none_twice() {
    let files = [
        (".obsidian/app.json", "{}"),
        ("README.md", NOTE),
        ("docs/a.md", NOTE),
        ("adr/b.md", NOTE),
        ("deep/er/c.md", NOTE),
        (".kgctx/memory/d.md", NOTE),
        (".notes/e.md", NOTE),
    ];
    let scratch = project(&files, &[]);
    let first = said(&scratch, &["--yes"]);
    assert_eq!(settings(&scratch), None);
    has_line(&first, &["  . ", "4 notes", "Obsidian"]);
    has_line(&first, &["  .kgctx/memory ", "1 note "]);
    has_line(&first, &["  .notes ", "1 note "]);
    assert!(!first.contains("  docs "), "{first}");
    let index = scratch.json(["--dir", "app", "index", "--json"]);
    assert_eq!(index["notes"], 6);
}

#[test]
fn nothing_found_is_told_with_the_way_out() {
    let scratch = project(&[("src/main.rs", "fn main() {}\n")], &[]);
    let before = others(&scratch);
    let said = said(&scratch, &["--yes"]);
    has_line(&said, &["There are no notes yet"]);
    has_line(&said, &["kgctx vault add FOLDER"]);
    has_line(&said, &["OpenCode, Claude Code and Amplifier are not on the PATH"]);
    assert_eq!(others(&scratch), before);
}

#[test]
fn the_first_context_is_that_of_the_first_host() {
    let notes: Vec<(String, String)> = (0..60)
        .map(|n| (format!("docs/{n}.md"), format!("# Mast {n}\n\n{}\n", "Word ".repeat(90))))
        .collect();
    let notes: Vec<(&str, &str)> =
        notes.iter().map(|(file, text)| (file.as_str(), text.as_str())).collect();
    let scratch = project(&notes, &["claude"]);
    let shown = said(&scratch, &[]);
    has_line(&shown, &["First context, as Claude Code gets it"]);
    // It is made within the limit of that host, which is smaller than the setting.
    assert!(!shown.contains("of 4,000 tokens"), "{shown}");
    let nowhere = project(&notes, &[]);
    let shown = said(&nowhere, &[]);
    has_line(&shown, &["First context, as `kgctx inject` prints it"]);
    has_line(&shown, &["of 4,000 tokens"]);
}

#[test]
fn without_a_terminal_it_asks_nothing_and_changes_nothing() {
    let scratch =
        project(&[("kb/.obsidian/app.json", "{}"), ("docs/a.md", NOTE)], &["opencode", "claude"]);
    let before = others(&scratch);
    let said = said(&scratch, &[]);
    for command in
        ["kgctx init --yes", "kgctx vault add --project app/kb", "kgctx install opencode"]
    {
        has_line(&said, &[command]);
    }
    has_line(&said, &["kgctx install claude-code"]);
    has_line(&said, &["docs", "1 note"]);
    assert!(!said.contains("[Y/n]"), "{said}");
    assert_eq!(others(&scratch), before);
}

#[test]
fn yes_installs_into_every_host_once() {
    let scratch = project(&[("docs/a.md", NOTE)], &["opencode", "claude", "amplifier"]);
    let first = said(&scratch, &["--yes"]);
    has_line(&first, &["write", "plugin/kgctx.ts"]);
    let home = scratch.home();
    for (file, part) in [
        (".config/opencode/plugin/kgctx.ts", "The bridge between OpenCode and kgctx"),
        (".claude/settings.json", "SessionStart"),
        (".amplifier/settings.yaml", "kgctx"),
    ] {
        let text = fs::read_to_string(home.join(file)).unwrap();
        assert!(text.contains(part), "{file}: {text}");
    }
    let before = others(&scratch);
    let second = said(&scratch, &["--yes"]);
    for host in ["OpenCode", "Claude Code", "Amplifier"] {
        has_line(&second, &[host, "is set up there already"]);
    }
    assert_eq!(others(&scratch), before);
}

#[test]
fn a_host_that_cannot_be_set_up_is_named_and_the_others_are() {
    let scratch = project(&[("docs/a.md", NOTE)], &["opencode", "claude"]);
    scratch.write("home/.claude/settings.json", "{ broken");
    let output = init(&scratch, &["--yes"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let complaint = stderr(&output);
    assert!(
        complaint.contains("Claude Code: ") && complaint.contains("settings.json"),
        "{complaint}"
    );
    assert!(scratch.home().join(".config/opencode/plugin/kgctx.ts").exists());
}

#[test]
fn advice_about_missing_notes_follows_the_list_of_notes() {
    let said = said(&project(&[("AGENTS.md", "# Agents\n")], &[]), &[]);
    let at = |part: &str| said.find(part).unwrap_or_else(|| panic!("{part}: {said}"));
    assert!(at("There are no notes yet") < at("Also here"), "{said}");
}

#[test]
fn comments_and_order_of_an_existing_file_stay() {
    let old = "# Ours.\ntoken_limit = 3000 # enough\n\n[handoff]\nmin_turns = 1\n# The end.\n";
    let files = [("kgctx.toml", old), ("kb/.obsidian/app.json", "{}"), ("kb/a.md", NOTE)];
    let scratch = project(&files, &[]);
    has_line(&said(&scratch, &["--yes"]), &["of 3,000 tokens"]);
    assert_eq!(settings(&scratch).unwrap(), format!("{old}\n{SETTING}"));
}

#[test]
fn what_the_user_said_about_vaults_is_not_gone_against() {
    let files = [("kb/.obsidian/app.json", "{}"), ("kb/a.md", NOTE), ("docs/b.md", NOTE)];
    let scratch = project(&files, &[]);
    let mut command = init(&scratch, &["--yes"]);
    let output = command.env("KGCTX_VAULTS", scratch.path().join("app/docs")).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    has_line(&said, &["kb", "left out because KGCTX_VAULTS replaces all vaults"]);
    let output = init(&scratch, &["--yes"]).env("KGCTX_DEFAULT_VAULTS", "false").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    has_line(&said, &["kb", "default_vaults is false (KGCTX_DEFAULT_VAULTS)"]);
    assert_eq!(settings(&scratch), None);
}

#[test]
fn a_strangers_link_does_not_lead_the_pen_elsewhere() {
    let scratch = project(&[("kb/.obsidian/app.json", "{}"), ("kb/a.md", NOTE)], &[]);
    let victim = scratch.write("victim.toml", "# mine\n");
    symlink(&victim, scratch.path().join("app/kgctx.toml")).unwrap();
    let output = init(&scratch, &["--yes"]).output().unwrap();
    assert!(stderr(&output).contains("leads out of the project"), "{output:?}");
    assert_eq!(fs::read_to_string(&victim).unwrap(), "# mine\n");
}

#[test]
fn memories_and_queues_of_others_are_mentioned() {
    let spx =
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/spx/2026-11-17_07-52-34.md"));
    let scratch = project(&[(".spx/sessions/todo/2026-11-17_07-52-34.md", spx)], &[]);
    scratch.write("home/maenifold/memory/a.md", NOTE);
    let said = said(&scratch, &[]);
    has_line(&said, &["home/maenifold/memory", "1 note        maenifold's memory"]);
    has_line(&said, &["spx", "1 handoff", ".spx/sessions"]);
    has_line(&said, &["kgctx handoff import --from spx"]);
}

#[test]
fn on_a_terminal_every_change_is_asked_for() {
    let files = [("kb/.obsidian/app.json", "{}"), ("docs/a.md", NOTE)];
    for (typed, is_written, is_installed) in
        [("n\nn\n", false, false), ("y\nno\n", true, false), ("\n\n", true, true)]
    {
        let scratch = project(&files, &["opencode"]);
        let Some((code, shown)) = on_terminal(&init(&scratch, &[]), typed) else { return };
        assert_eq!(code, 0, "{shown}");
        assert_eq!(shown.matches("[Y/n]").count(), 2, "{shown}");
        assert_eq!(settings(&scratch).is_some(), is_written, "{typed:?}: {shown}");
        let plugin = scratch.home().join(".config/opencode/plugin/kgctx.ts");
        assert_eq!(plugin.exists(), is_installed, "{typed:?}: {shown}");
        assert_eq!(shown.contains("adds it later"), !is_written, "{shown}");
        assert_eq!(shown.contains("installs it later"), !is_installed, "{shown}");
    }
}

#[test]
fn long_names_share_a_column_with_short_ones() {
    let long = "documentation-of-all-our-programs";
    let settings = format!("[[vault]]\npath = \"{long}\"\n");
    let note = format!("{long}/a.md");
    let scratch = project(&[("kgctx.toml", &settings), (&note, NOTE), ("adr/b.md", NOTE)], &[]);
    let said = said(&scratch, &[]);
    let column = |name: &str| {
        let row = said.lines().find(|line| line.starts_with(&format!("  {name} "))).unwrap();
        row.find("1 note").unwrap()
    };
    assert_eq!(column(long), column("adr"), "{said}");
    has_line(&said, &["The settings name what the defaults do not find; nothing to add."]);
}

#[test]
fn a_folder_without_git_is_named_without_nested_parentheses() {
    let scratch = project(&[("docs/a.md", NOTE)], &[]);
    fs::remove_dir_all(scratch.path().join("app/.git")).unwrap();
    let said = said(&scratch, &[]);
    has_line(&said, &["app  (the folder ", "app itself, without a git repository around it)"]);
}

#[test]
fn outside_of_a_project_it_says_so() {
    let scratch = project(&[], &[]);
    let mut command = init(&scratch, &["--yes"]);
    let output = command.current_dir(scratch.home()).output().unwrap();
    let said = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(output.status.success(), "{output:?}");
    has_line(&said, &["no project", "is the home folder"]);
    has_line(&said, &["cd PROJECT"]);
}
