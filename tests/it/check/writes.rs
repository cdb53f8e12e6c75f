//! What is written, and what never is: a repository of somebody else's must not decide what is lost.

use std::fs;
use std::os::unix::fs::symlink;

use super::{DAY, Lab, remarks};

#[test]
fn settings_that_are_there_and_not_the_repositorys_are_not_replaced() {
    let mine = "token_limit = 1234\n";
    let lab = Lab::with_notes();
    lab.write(".gitignore", "kgctx.toml\n");
    lab.write("kgctx.toml", mine);
    let (code, said) = lab.refused(&["--init"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.starts_with("kgctx: kgctx did not write kgctx.toml: it exists"), "{said}");
    assert_eq!(fs::read_to_string(lab.top().join("kgctx.toml")).unwrap(), mine);
    assert!(!lab.top().join(".kgctx/check.json").exists());
    let (_, report) = lab.check(&[]);
    assert!(remarks(&report)[0].contains("ignored by git"), "{report:#}");

    let lab = Lab::with_notes();
    lab.scratch.write("elsewhere.toml", mine);
    symlink(lab.scratch.path().join("elsewhere.toml"), lab.top().join("kgctx.toml")).unwrap();
    for is_committed in [false, true] {
        if is_committed {
            lab.commit("a link", 3 * DAY);
        }
        let (code, said) = lab.refused(&["--init"]);
        assert_eq!(code, 2, "{said}");
        assert_eq!(fs::read_to_string(lab.scratch.path().join("elsewhere.toml")).unwrap(), mine);
    }
    // One that leads nowhere would be made there.
    fs::remove_file(lab.scratch.path().join("elsewhere.toml")).unwrap();
    assert_eq!(lab.refused(&["--init"]).0, 2);
    assert!(!lab.scratch.path().join("elsewhere.toml").exists());
}

#[test]
fn settings_in_another_encoding_are_refused_and_kept() {
    let lab = Lab::with_notes();
    let bytes = b"# a\n# gr\xfcn\n";
    fs::write(lab.top().join("kgctx.toml"), bytes).unwrap();
    for arguments in [&["--init"][..], &[], &["--update-baseline"]] {
        let (code, said) = lab.refused(arguments);
        assert_eq!(code, 2);
        assert!(said.starts_with("kgctx: kgctx.toml:2: this is not UTF-8"), "{said}");
    }
    assert_eq!(fs::read(lab.top().join("kgctx.toml")).unwrap(), bytes);
}

#[test]
fn a_baseline_is_not_written_through_a_link() {
    let lab = Lab::with_notes();
    lab.scratch.write("elsewhere.json", "{}\n");
    symlink(lab.scratch.path().join("elsewhere.json"), lab.top().join(".kgctx/check.json"))
        .unwrap();
    for argument in ["--update-baseline", "--init"] {
        let (code, said) = lab.refused(&[argument]);
        assert_eq!(code, 2, "{said}");
        assert!(said.contains("a symbolic link is in its path"), "{said}");
    }
    assert_eq!(fs::read_to_string(lab.scratch.path().join("elsewhere.json")).unwrap(), "{}\n");
    assert!(!lab.top().join("kgctx.toml").exists(), "both files or none");

    let lab = Lab::with_notes();
    lab.scratch.write("outside/memory/a.md", "# A\n");
    fs::remove_dir_all(lab.top().join(".kgctx")).unwrap();
    symlink(lab.scratch.path().join("outside"), lab.top().join(".kgctx")).unwrap();
    lab.write("docs/map.md", "# Map\n");
    let (code, said) = lab.refused(&["--update-baseline"]);
    assert_eq!(code, 2, "{said}");
    assert!(!lab.scratch.path().join("outside/check.json").exists());
}

#[test]
fn only_a_baseline_is_replaced_by_one() {
    let lab = Lab::with_notes();
    for (baseline, expected) in [
        ("kgctx.toml", "the existing file is not a baseline"),
        (".kgctx/memory/atlas.md", "the existing file is not a baseline"),
        (".kgctx/memory", "it is not a regular file"),
        (".git/hooks/x", "this is not a path inside the repository"),
        (".kgctx/.GIT/x", "this is not a path inside the repository"),
    ] {
        let settings = format!("[check]\nbaseline = \"{baseline}\"\n");
        lab.write("kgctx.toml", &settings);
        let (code, said) = lab.refused(&["--update-baseline"]);
        assert_eq!(code, 2, "{baseline}: {said}");
        assert!(said.contains(expected), "{baseline}: {said}");
        assert_eq!(fs::read_to_string(lab.top().join("kgctx.toml")).unwrap(), settings);
    }
    assert!(!lab.top().join(".git/hooks/x").exists());
    lab.write("kgctx.toml", "");
    // An older form is one of ours.
    lab.write(".kgctx/check.json", "{\"version\": 0, \"sessions\": {}}\n");
    assert_eq!(lab.check(&["--update-baseline"]).0, 0);
    assert_eq!(lab.check(&["--update-baseline"]).0, 0);
}
