//! What is said where something is missing: one helpful word each.

use std::fs;
use std::process::{Command, Stdio};

use super::{DAY, Lab, commit, remarks};
use crate::support::skips::skipped;
use crate::support::{Scratch, git, stderr};

#[test]
fn without_git_the_folder_alone_is_checked() {
    let lab = Lab::with_notes();
    fs::remove_dir_all(lab.top().join(".git")).unwrap();
    let (code, report) = lab.check(&[]);
    assert_eq!(
        (code, &report["notes"], &report["now"]),
        (0, &3.into(), &"1970-01-01T00:00:00Z".into())
    );
    insta::assert_snapshot!(remarks(&report).join("\n"), @r#"
    this folder is not in a git repository: no note counts as recent, and there is no base to compare with
    there is no kgctx.toml at the top: kgctx uses the defaults; `kgctx check --init` writes one
    "#);
    assert!(!report.to_string().contains("\"recent\""), "{report:#}");
    let (_, report) = lab.check(&["--now", "2026-01-01"]);
    assert!(!report.to_string().contains("\"recent\""), "{report:#}");
    let (code, said) = lab.refused(&["--base", "main"]);
    assert_eq!(code, 2);
    insta::assert_snapshot!(said, @r#"kgctx: --base needs a git repository with at least one commit, and this folder is not in one"#);
}

#[test]
fn without_the_program_git_the_folder_alone_is_checked() {
    let lab = Lab::with_notes();
    let output = lab.kgctx(&["--format", "json"]).env("PATH", "/nowhere").output().unwrap();
    assert_eq!(stderr(&output), "");
    let report = serde_json::from_slice(&output.stdout).unwrap();
    insta::assert_snapshot!(remarks(&report).join("\n"), @r#"
    git is not installed: no note counts as recent, and there is no base to compare with
    there is no kgctx.toml at the top: kgctx uses the defaults; `kgctx check --init` writes one
    "#);
}

#[test]
fn a_repository_without_a_commit_is_checked() {
    let lab = Lab::new();
    lab.note("atlas", "About [[atlas]].");
    lab.write("kgctx.toml", "");
    let (code, report) = lab.check(&[]);
    assert_eq!((code, &report["notes"]), (0, &1.into()));
    insta::assert_snapshot!(remarks(&report).join("\n"), @r#"there is no commit yet: no note counts as recent; commit the notes to see what sessions will get"#);
    let (code, said) = lab.refused(&["--base", "main"]);
    assert_eq!(code, 2);
    insta::assert_snapshot!(said, @r#"kgctx: --base needs a git repository with at least one commit, and there is no commit yet"#);
}

#[test]
fn a_repository_without_anything_is_checked() {
    let lab = Lab::new();
    let (code, report) = lab.check(&[]);
    assert_eq!((code, &report["notes"]), (0, &0.into()));
    insta::assert_snapshot!(remarks(&report).join("\n"), @r#"
    there is no commit yet: no note counts as recent; commit the notes to see what sessions will get
    there is no kgctx.toml at the top: kgctx uses the defaults; `kgctx check --init` writes one
    there are no notes: put markdown into .kgctx/memory or docs, or add a folder with [[vault]] in kgctx.toml
    "#);
    lab.commit("nothing", 0);
    let (_, report) = lab.check(&["--base", "HEAD"]);
    insta::assert_snapshot!(remarks(&report).join("\n"), @r#"
    there is no kgctx.toml at the top: kgctx uses the defaults; `kgctx check --init` writes one
    there are no notes: put markdown into .kgctx/memory or docs, or add a folder with [[vault]] in kgctx.toml
    "#);
}

#[test]
fn a_vault_that_cannot_be_used_is_named() {
    let lab = Lab::with_notes();
    lab.write("docs/adr/one.md", "# One\n");
    lab.write("kgctx.toml", "[[vault]]\npath = \"notes\"\n\n[[vault]]\npath = \"docs/adr\"\n");
    let (code, report) = lab.check(&[]);
    assert_eq!((code, &report["notes"]), (0, &4.into()));
    insta::assert_snapshot!(remarks(&report).join("\n"), @r#"
    no such vault: notes (from kgctx.toml); create that folder or name another one
    the vault docs/adr is inside the vault docs; keep only one of them
    "#);
}

#[test]
fn a_shallow_clone_is_checked_and_told_how_to_be_whole() {
    let lab = Lab::with_notes();
    let url = format!("file://{}", lab.top().display());
    git(&lab.scratch.path(), &["clone", "-q", "--depth", "1", &url, "shallow/atlas"]);
    let check = |arguments: &[&str]| {
        let mut command = lab.kgctx(arguments);
        command.current_dir(lab.scratch.path().join("shallow/atlas")).output().unwrap()
    };
    let output = check(&["--format", "json"]);
    assert!(output.status.success(), "{output:?}");
    let report = serde_json::from_slice(&output.stdout).unwrap();
    insta::assert_snapshot!(remarks(&report)[0], @r#"this clone is shallow: notes without a change since its oldest commit count as changed then; fetch the whole history, in GitHub's checkout with `fetch-depth: 0`"#);
    let output = check(&["--base", "HEAD~1"]);
    assert_eq!(output.status.code(), Some(2));
    insta::assert_snapshot!(stderr(&output), @r#"kgctx: this clone has no commit "HEAD~1"; the clone is shallow: fetch the revision, in GitHub's checkout with `fetch-depth: 0`"#);
}

#[test]
fn a_revision_that_nobody_knows_is_refused() {
    let lab = Lab::with_notes();
    for revision in ["nobody", "--output=x", "-1", "main:.kgctx", ""] {
        let (code, said) = lab.refused(&["--base", revision]);
        assert_eq!(code, 2, "{revision}: {said}");
        assert!(
            said.starts_with(&format!("kgctx: this clone has no commit {revision:?}")),
            "{said}"
        );
        assert_eq!(said.lines().count(), 1);
    }
    assert!(!lab.top().join("x").exists());
    insta::assert_snapshot!(lab.refused(&["--base", "nobody"]).1, @r#"kgctx: this clone has no commit "nobody"; fetch it, or name a branch, a tag or a commit that `git log` shows"#);
}

#[test]
fn branches_without_a_common_commit_are_compared_as_they_are() {
    let lab = Lab::with_notes();
    git(&lab.top(), &["switch", "-q", "--orphan", "other"]);
    lab.note("atlas", "Another [[atlas]].");
    lab.commit("another beginning", 3 * DAY);
    let (_, report) = lab.check(&["--base", "main"]);
    let growth = &report["sessions"][0]["growth"];
    assert!(growth["removed"].to_string().contains("tile-cache"), "{report:#}");
    insta::assert_snapshot!(remarks(&report)[0], @r#"main and HEAD have no common commit: the change is every difference between them"#);
}

#[test]
fn a_shallow_clone_without_the_merge_base_is_refused() {
    let lab = Lab::with_notes();
    git(&lab.top(), &["switch", "-q", "-c", "change"]);
    lab.note("change", "A change of [[atlas]].");
    lab.commit("a change", 3 * DAY);
    git(&lab.top(), &["switch", "-q", "main"]);
    lab.note("other", "Another [[atlas]].");
    lab.commit("meanwhile", 3 * DAY);
    let url = format!("file://{}", lab.top().display());
    let clone =
        ["clone", "-q", "--depth", "1", "--no-single-branch", "--branch", "change", &url, "few"];
    git(&lab.scratch.path(), &clone);
    let mut command = lab.kgctx(&["--base", "origin/main"]);
    let output = command.current_dir(lab.scratch.path().join("few")).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    insta::assert_snapshot!(stderr(&output), @r#"kgctx: this clone is shallow and lacks the merge base of "origin/main" and HEAD; fetch the whole history: `git fetch --unshallow`, in GitHub's checkout `fetch-depth: 0`, in GitLab `GIT_DEPTH: "0"`"#);
}

#[test]
fn a_partial_clone_is_told_how_to_get_what_it_lacks() {
    let lab = Lab::with_notes();
    lab.note("renderer", "The [[renderer]] of [[atlas]], written anew.");
    lab.commit("a change", 3 * DAY);
    git(&lab.top(), &["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", lab.top().display());
    git(&lab.scratch.path(), &["clone", "-q", "--filter=blob:none", &url, "part/atlas"]);
    let top = lab.scratch.path().join("part/atlas");
    let check = || lab.kgctx(&["--base", "HEAD~1"]).current_dir(&top).output().unwrap();
    let output = check();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    insta::assert_snapshot!(stderr(&output), @r#"kgctx: this clone is partial and lacks files of the revision to compare with; run `git diff REV...HEAD > /dev/null` with that revision to fetch them"#);
    git(&top, &["diff", "HEAD~1...HEAD"]);
    let output = check();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn wrong_settings_are_one_error_at_their_place() {
    let lab = Lab::with_notes();
    for (text, expected) in [
        (
            "[check]\ngrowth_tokens = \"many\"\n",
            "kgctx: kgctx.toml:2:17: growth_tokens is \"many\"; write a whole number",
        ),
        (
            "token_limit = \"x\"\n",
            "kgctx: kgctx.toml:1:15: token_limit is \"x\"; write a whole number",
        ),
        ("[check\n", "kgctx: kgctx.toml:1:7: "),
        ("source = \"cli\"\n", "kgctx: kgctx.toml: a project may not set source"),
        (
            "[[vault]]\npath = \"../elsewhere\"\n",
            "kgctx: kgctx.toml: the vault ../elsewhere is outside",
        ),
    ] {
        lab.write("kgctx.toml", text);
        let (code, said) = lab.refused(&[]);
        assert_eq!(code, 2, "{said}");
        assert!(said.starts_with(expected), "{said}");
        assert!(!said.contains("/kgctx-check-"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

#[test]
fn the_first_step_writes_a_section_and_a_baseline_and_then_all_is_well() {
    for old in [None, Some("token_limit = 3000"), Some("[[vault]]\npath = \"notes\"\n")] {
        let lab = Lab::with_notes();
        lab.write("notes/map.md", "# Map\n\nThe [[map]] of atlas.\n");
        if let Some(old) = old {
            lab.write("kgctx.toml", old);
        }
        let output = lab.kgctx(&["--init"]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert_eq!(stderr(&output), "");
        let said = String::from_utf8(output.stdout).unwrap();
        if old.is_none() {
            let written = said.lines().take(2).collect::<Vec<_>>().join("\n");
            insta::assert_snapshot!(written, @r#"
            wrote kgctx.toml with a [check] section: it sets the project's name, and the rest are comments that show the defaults
            wrote .kgctx/check.json: it accepts the current contexts
            "#);
        }
        assert!(said.contains("next: commit both files"), "{said}");
        let text = fs::read_to_string(lab.top().join("kgctx.toml")).unwrap();
        assert!(text.starts_with(old.unwrap_or_default()), "{text}");
        assert!(text.contains("\nproject = \"atlas\" "), "{text}");
        lab.commit("check", 3 * DAY);
        let (code, report) = lab.check(&[]);
        assert_eq!((code, &report["base"]), (0, &".kgctx/check.json".into()));
        let again = lab.refused(&["--init"]);
        assert_eq!(again.0, 2);
        assert!(again.1.contains("already has a [check] section"), "{}", again.1);
        assert_eq!(fs::read_to_string(lab.top().join("kgctx.toml")).unwrap(), text);
    }
}

#[test]
fn nothing_is_left_behind_and_nothing_is_written() {
    let lab = Lab::with_notes();
    let temporary = lab.scratch.path().join("tmp");
    fs::create_dir(&temporary).unwrap();
    for arguments in [&[][..], &["--base", "HEAD~1"], &["--base", "nobody"]] {
        lab.kgctx(arguments).env("TMPDIR", &temporary).output().unwrap();
        assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0, "{arguments:?}");
    }
    let status =
        Command::new("git").args(["status", "--porcelain"]).current_dir(lab.top()).output();
    assert_eq!(String::from_utf8(status.unwrap().stdout).unwrap(), "");
    assert_eq!(fs::read_dir(lab.scratch.home()).unwrap().count(), 0);
    assert!(!lab.scratch.path().join("kgctx-home").exists());
}

#[test]
fn what_others_left_behind_is_swept() {
    let lab = Lab::with_notes();
    let temporary = lab.scratch.path().join("tmp");
    let mut gone = Command::new("true").spawn().unwrap();
    gone.wait().unwrap();
    let left = |pid: u32, number: u32| {
        let folder = temporary.join(format!("kgctx-check-{pid}-{number}"));
        fs::create_dir_all(folder.join("atlas")).unwrap();
        fs::write(folder.join("atlas/note.md"), "").unwrap();
        (fs::File::create(folder.join("lock")).unwrap(), folder)
    };
    let (_, dead) = left(gone.id(), 0);
    // Its process may be one of another container's.
    let (lock, locked) = left(gone.id(), 1);
    lock.lock().unwrap();
    let (_, alive) = left(std::process::id(), 0);
    let other = temporary.join("kgctx-check-notes");
    fs::create_dir(&other).unwrap();
    std::os::unix::fs::symlink(&other, temporary.join(format!("kgctx-check-{}-2", gone.id())))
        .unwrap();
    let output = lab.kgctx(&[]).env("TMPDIR", &temporary).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(!dead.exists());
    assert!(locked.exists() && alive.exists() && other.exists());
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 4);
}

#[test]
fn a_folder_inside_of_the_repository_stands_for_all_of_it() {
    let lab = Lab::with_notes();
    lab.write("src/deep/main.rs", "");
    let output =
        lab.kgctx(&["--format", "json"]).current_dir(lab.top().join("src/deep")).output().unwrap();
    let (_, report) = lab.check(&[]);
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap(), report);
    let (code, said) = lab.refused(&["--dir", "nowhere"]);
    assert_eq!(code, 2);
    assert!(said.starts_with("kgctx: cannot use the folder nowhere"), "{said}");
    let (code, said) = lab.refused(&["--vault", "docs"]);
    assert_eq!(code, 2);
    assert!(said.contains("set the vault in kgctx.toml"), "{said}");
}

#[test]
fn links_out_of_the_repository_are_not_followed() {
    let outside = Scratch::new();
    outside.write("secret.md", "# Secret\n\nNobody knows of [[atlas]] what is here.\n");
    let lab = Lab::with_notes();
    let notes = lab.top().join(".kgctx/memory");
    std::os::unix::fs::symlink(outside.path().join("secret.md"), notes.join("linked.md")).unwrap();
    std::os::unix::fs::symlink(outside.path(), notes.join("folder")).unwrap();
    commit(&lab.top(), "links", 3 * DAY);
    let (_, report) = lab.check(&["--base", "HEAD~1"]);
    assert_eq!(report["notes"], 3, "{report:#}");
}

#[test]
fn a_note_that_is_too_large_to_be_read_is_told_of() {
    let lab = Lab::with_notes();
    lab.write("kgctx.toml", "max_file_bytes = 2000\n");
    lab.note("large", &"word ".repeat(500));
    let (_, report) = lab.check(&[]);
    let findings = report["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["rule"] == "giant-note").unwrap();
    assert_eq!(found["spot"]["path"], ".kgctx/memory/large.md");
    insta::assert_snapshot!(found["message"].as_str().unwrap(), @"kgctx skips this file: it has 2510 bytes, and `max_file_bytes` is 2000");
}

#[test]
fn names_that_are_secrets_are_masked() {
    let lab = Lab::with_notes();
    let key = ["AKIA", "Q3EGRXZ5T7PLMN2W"].concat();
    lab.write(
        "kgctx.toml",
        &format!("[check.budget]\ntotal = 5\n\n[[check.session]]\nname = \"{key}\"\n"),
    );
    lab.note(&key, "About [[atlas]] and [this](gone.md).");
    for format in ["text", "json", "github", "sarif", "junit", "markdown"] {
        let output = lab.kgctx(&["--format", format]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(!said.contains(&key), "{format}: {said}");
        assert!(said.contains("gone.md"), "{format}: {said}");
    }
}

#[test]
fn people_are_told_in_their_own_words() {
    let lab = Lab::with_notes();
    lab.write("kgctx.toml", "check = 1\n");
    let (code, said) = lab.refused(&[]);
    assert_eq!(code, 2);
    assert!(said.contains("check is 1; write a table") && !said.contains("struct"), "{said}");
    std::fs::remove_file(lab.top().join("kgctx.toml")).unwrap();
    lab.note("renderer", "The [[renderer]] of [[atlas]] and [this](gone.md).");
    let output = lab.kgctx(&["--init"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("found 1 error and 0 warnings: "), "{said}");
}

#[test]
fn colours_are_for_terminals() {
    if Command::new("script").arg("--version").output().is_err() {
        skipped("no `script` to make a terminal with");
        return;
    }
    let lab = Lab::with_notes();
    lab.note("renderer", "The [[renderer]] of [[atlas]] and [this](gone.md).");
    let plain = String::from_utf8(lab.kgctx(&[]).output().unwrap().stdout).unwrap();
    assert!(plain.starts_with("error[dangling-link]: gone.md"), "{plain}");
    assert!(!plain.contains('\u{1b}'), "{plain}");
    let on_terminal = |no_color: &str| {
        let inner = lab.kgctx(&[]);
        let line = format!("'{}' check", inner.get_program().to_str().unwrap());
        let mut command = Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).current_dir(lab.top()).env_clear();
        command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env("SHELL", "/bin/sh").env("NO_COLOR", no_color).stdin(Stdio::null());
        String::from_utf8(command.output().unwrap().stdout).unwrap().replace("\r\n", "\n")
    };
    assert_eq!(on_terminal("1"), plain);
    let colourful = on_terminal("");
    assert!(colourful.starts_with("\u{1b}[1;31merror[dangling-link]:\u{1b}[0m"), "{colourful}");
    let mut pieces = colourful.split('\u{1b}');
    let mut bare = pieces.next().unwrap().to_owned();
    bare.extend(pieces.map(|piece| piece.split_once('m').unwrap().1));
    assert_eq!(bare, plain);
}

#[test]
fn a_zero_byte_hides_nothing() {
    let lab = Lab::with_notes();
    let text = "Be kind, see [this](gone.md).\n";
    for (path, zero) in [("AGENTS.md", "\0"), (".kgctx/memory/odd.md", "\0"), ("CLAUDE.md", "")] {
        lab.write(path, &format!("{text}{zero}"));
    }
    let (code, report) = lab.check(&[]);
    assert_eq!(code, 1);
    let found = report["findings"].as_array().unwrap().iter();
    let found = found.map(|finding| {
        let (spot, rule) = (&finding["spot"], &finding["rule"]);
        format!("{}:{} {}", spot["path"].as_str().unwrap(), spot["line"], rule.as_str().unwrap())
    });
    let found: Vec<String> = found.filter(|found| !found.contains("orphan")).collect();
    let expect = [
        ".kgctx/memory/odd.md:1 dangling-link",
        ".kgctx/memory/odd.md:2 unsafe-text",
        "AGENTS.md:1 dangling-link",
        "AGENTS.md:2 unsafe-text",
        "CLAUDE.md:1 dangling-link",
    ];
    assert_eq!(found, expect);
    let statics = report["staticFiles"].as_array().unwrap();
    assert_eq!(statics.len(), 2, "{report:#}");
}

#[test]
fn nothing_in_a_repository_commands_whoever_prints_the_report() {
    let lab = Lab::with_notes();
    let words =
        "aaaaaaaa bbbbbbbbb cccccccccc dddddddddd eeeeeeeee fffffffff ggggggggg hhhhhhhhh iiiiiiii";
    lab.note("evil", &format!("[x](<{words} ::stop-commands::pwn ::error::fake ##[add-mask]y ##vso[z]>)\n\n::error::[x](gone.md)\n"));
    for format in ["text", "github", "sarif", "junit", "markdown"] {
        let output = lab.kgctx(&["--format", format]).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.contains("stop-commands") && said.contains("gone.md"), "{format}: {said}");
        assert!(!said.contains("##[") && !said.contains("##vso["), "{format}: {said}");
        for line in said.lines().filter(|line| line.trim_start().starts_with("::")) {
            let is_ours = ["::error file=", "::warning file=", "::notice title="]
                .iter()
                .any(|start| line.starts_with(start));
            assert!(is_ours && format == "github", "{format}: {line}");
        }
    }
    lab.write("kgctx.toml", "[[check.session]]\nhost = \"y\\n::error::pwn\\u001b[31m\"\n");
    let (code, said) = lab.refused(&[]);
    assert_eq!((code, said.lines().count()), (2, 1), "{said}");
    assert!(!said.contains('\u{1b}'), "{said:?}");
}

#[test]
fn a_report_that_cannot_be_written_is_no_answer() {
    let lab = Lab::with_notes();
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = lab.kgctx(&[]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("cannot write the answer"), "{}", stderr(&output));
}
