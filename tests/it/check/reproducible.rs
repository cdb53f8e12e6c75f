//! Two machines' worth of difference do not change the bytes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use super::{DAY, Lab, findings};
use crate::support::skips::skipped;
use crate::support::{git, output_meanwhile, stderr};

/// A repository with everything that could depend on a machine.
fn rich() -> Lab {
    let lab = Lab::with_notes();
    lab.write(
        ".kgctx/handoffs/HO-20260528-120000-aaaa.md",
        "---\nid: HO-20260528-120000-aaaa\ntype: manual\ncreated_at: 2026-05-28T12:00:00Z\nfiles: [src/main.rs]\n---\n\n## Goal\n\nMend it.\n",
    );
    lab.write("src/main.rs", "fn main() {}\n");
    lab.write("AGENTS.md", "Be kind. See @docs/map.md\n");
    lab.write("docs/map.md", "# Map\n\nThe [[map]] of [[atlas]], seen on a [[renderer]].\n");
    lab.write("docs/größe.md", "# Größe\n\nÜber [[atlas]] und [[zoom level]].\n");
    lab.write(
        "kgctx.toml",
        "rank = \"frequency\"\ntoken_limt = 1\n\n[check]\nproject = \"atlas\"\n\n[check.budget]\nrecent = 1\n",
    );
    lab.commit("more", 2 * DAY + 60);
    lab.note("renderer", "The [[renderer]] was written anew for [[atlas]].");
    lab.commit("a change", 2 * DAY + 120);
    lab
}

fn bytes(command: &mut Command) -> String {
    let output = command.args(["--format", "json", "--base", "HEAD~1"]).output().unwrap();
    assert_eq!(stderr(&output), "");
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn neither_home_nor_environment_nor_place_changes_a_byte() {
    let lab = rich();
    let here = bytes(&mut lab.kgctx(&[]));

    // Somebody with settings, a memory, an index, a state and habits.
    let home = lab.scratch.path().join("other-home");
    for (path, text) in [
        (".config/kgctx/config.toml", "token_limit = 50\nencoding = \"cl100k_base\"\n"),
        ("kgctx/config.toml", "token_limit = 60\nlinks = \"obsidian\"\n"),
        ("maenifold/memory/atlas.md", "# Atlas\n\nMine alone: [[atlas]] and [[private things]].\n"),
        (".config/git/ignore", "docs/\n*.md\n"),
        (
            ".gitconfig",
            "[core]\n\tquotepath = on\n\tautocrlf = true\n[log]\n\tshowSignature = true\n[diff]\n\tnoprefix = true\n",
        ),
    ] {
        lab.scratch.write(&format!("other-home/{path}"), text);
    }
    let mut command = lab.kgctx(&[]);
    command.env("HOME", &home).env("KGCTX_HOME", home.join("kgctx")).env("TMPDIR", "/var/tmp");
    command.envs([
        ("TZ", "Pacific/Auckland"),
        ("LANG", "de_DE.UTF-8"),
        ("LC_ALL", "tr_TR.UTF-8"),
        ("TOKEN_LIMIT", "70"),
        ("KGCTX_LINKS", "obsidian"),
        ("KGCTX_VAULTS", "/nowhere"),
        ("KGCTX_DEADLINE_MS", "1"),
        ("SESSION_START_ENABLED", "false"),
        ("GIT_DIR", "/nowhere"),
        ("NO_COLOR", "1"),
    ]);
    assert_eq!(bytes(&mut command), here, "another user");

    let elsewhere = lab.scratch.path().join("a place/with another/name");
    fs::create_dir_all(elsewhere.parent().unwrap()).unwrap();
    git(&lab.scratch.path(), &["clone", "-q", "atlas", elsewhere.to_str().unwrap()]);
    assert_eq!(bytes(lab.kgctx(&[]).current_dir(&elsewhere)), here, "another place");

    let worktree = lab.scratch.path().join("worktree");
    git(&lab.top(), &["worktree", "add", "-q", "--detach", worktree.to_str().unwrap()]);
    assert_eq!(bytes(lab.kgctx(&[]).current_dir(&worktree)), here, "a worktree, no branch");

    let shell = "umask 077; exec \"$@\"";
    let mut command = Command::new("/bin/sh");
    let inner = lab.kgctx(&[]);
    command.args(["-c", shell, "sh"]).arg(inner.get_program()).args(inner.get_args());
    command.current_dir(lab.top()).env_clear();
    command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    assert_eq!(bytes(&mut command), here, "another umask");
}

#[test]
fn neither_the_clock_nor_the_order_of_files_changes_a_byte() {
    let lab = rich();
    let here = bytes(&mut lab.kgctx(&[]));
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(lab.top()).output();
    let listed = String::from_utf8(listed.unwrap().stdout).unwrap();
    let mut paths: Vec<&str> = listed.split('\0').filter(|path| !path.is_empty()).collect();
    paths.reverse();
    // All files anew, in another order, with times of another year.
    let texts: Vec<Vec<u8>> =
        paths.iter().map(|path| fs::read(lab.top().join(path)).unwrap()).collect();
    for path in &paths {
        fs::remove_file(lab.top().join(path)).unwrap();
    }
    for (n, (path, text)) in paths.iter().zip(texts).enumerate() {
        let path = lab.top().join(path);
        fs::write(&path, text).unwrap();
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(2_000_000_000 + n as u64 * 7_777);
        fs::File::options().write(true).open(path).unwrap().set_modified(at).unwrap();
    }
    assert_eq!(bytes(&mut lab.kgctx(&[])), here);
    if Command::new("faketime").arg("--version").output().is_err() {
        skipped("no `faketime` to set another clock with");
        return;
    }
    for clock in ["1999-12-31 23:59:59", "2037-06-01 12:00:00"] {
        let inner = lab.kgctx(&[]);
        let mut command = Command::new("faketime");
        command.arg(clock).arg(inner.get_program()).args(inner.get_args());
        command.current_dir(lab.top()).env_clear();
        command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        assert_eq!(bytes(&mut command), here, "{clock}");
    }
}

#[test]
fn a_repository_around_the_temporary_folder_changes_nothing() {
    for has_git in [false, true] {
        let lab = Lab::with_notes();
        if !has_git {
            fs::remove_dir_all(lab.top().join(".git")).unwrap();
        }
        let (_, here) = lab.check(&[]);
        let around = lab.scratch.path().join("around");
        fs::create_dir_all(around.join("tmp")).unwrap();
        git(&around, &["init", "-q"]);
        for (path, text) in [
            (".gitignore", "*.md\n"),
            ("kgctx.toml", "token_limit = 77\n"),
            ("docs/theirs.md", "# Theirs\n\nAbout [[atlas]].\n"),
        ] {
            lab.scratch.write(&format!("around/{path}"), text);
        }
        let mut command = lab.kgctx(&["--format", "json"]);
        let output = command.env("TMPDIR", around.join("tmp")).output().unwrap();
        let there: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(there, here, "{has_git}");
    }
}

#[test]
fn a_clone_has_the_name_of_its_origin() {
    let lab = Lab::with_notes();
    let (_, here) = lab.check(&[]);
    git(&lab.scratch.path(), &["clone", "-q", "atlas", "another-name"]);
    let output = lab
        .kgctx(&["--format", "json"])
        .current_dir(lab.scratch.path().join("another-name"))
        .output()
        .unwrap();
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap(), here);
}

#[test]
fn a_note_that_is_written_while_it_is_checked_is_named() {
    let lab = Lab::with_notes();
    let written = || lab.note("tile-cache", "The [[tile cache]] of atlas keeps tiles for ever.");
    let output = output_meanwhile(lab.kgctx(&["--format", "json"]), "check:again", written);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let report = serde_json::from_slice(&output.stdout).unwrap();
    insta::assert_snapshot!(findings(&report).join("\n"), @".kgctx/memory/tile-cache.md:3:1 unstable-output: in the sessions plain, opencode, claude-code and codex, this file changed during the check, and two contexts differ from line 6 on");
    let hint = "check again while nothing writes to the repository";
    assert_eq!(report["findings"][0]["hint"], hint);
}

/// Spoils the index of a check that is held, as a fault of ours would.
fn spoil_index(temporary: &Path) {
    let only = |folder: PathBuf| fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let of_vaults = only(only(temporary.to_path_buf()).join("home/cache/index"));
    let index = rusqlite::Connection::open(of_vaults.join("index.db")).unwrap();
    assert!(
        index.execute("UPDATE quotes SET card = 'Spoiled.', passage = '[false,[]]'", []).unwrap()
            > 0
    );
}

#[test]
fn a_context_that_changes_without_its_notes_is_our_fault() {
    let lab = Lab::with_notes();
    let temporary = lab.scratch.path().join("tmp");
    fs::create_dir(&temporary).unwrap();
    let check = || {
        let mut command = lab.kgctx(&["--base", "HEAD~1", "--format", "json"]);
        command.env("TMPDIR", &temporary);
        output_meanwhile(command, "check:again", || spoil_index(&temporary))
    };
    let output = check();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let report = serde_json::from_slice(&output.stdout).unwrap();
    insta::assert_snapshot!(findings(&report).join("\n"), @".kgctx/memory/tile-cache.md:1:1 unstable-output: in the sessions plain, opencode, claude-code and codex, two contexts of the same notes differ from line 7 on");
    assert!(report["findings"].to_string().contains("this is a bug in kgctx"), "{report:#}");
    // Who does not look twice does not see it.
    lab.write("kgctx.toml", "[check.rules]\nunstable-output = \"off\"\n");
    let output = check();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
}
