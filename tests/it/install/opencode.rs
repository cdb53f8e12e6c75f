//! Installing the bridge into OpenCode: what is said, what is written, and that removing it restores every byte.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::{done, is_root, repository, say, tree};
use crate::support::{Scratch, git, stderr};

const BRIDGE: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/bridges/opencode/kgctx.ts"));
const FILE: &str = "home/.config/opencode/plugin/kgctx.ts";
const OLDER: &str =
    "// The bridge between OpenCode and kgctx, as it was.\nconst VERSION = \"0.0.9\"\n";

#[test]
fn installing_says_what_it_does_and_what_happens_now() {
    let scratch = Scratch::new();
    insta::assert_snapshot!(done(&scratch, &["install", "opencode"]), @"
    make     home/.config
    make     home/.config/opencode
    make     home/.config/opencode/plugin
    write    home/.config/opencode/plugin/kgctx.ts  (version VERSION)

    Done. From OpenCode's next start on, every new OpenCode session gets context from your notes
    with its first prompt. The first start may take a few seconds longer, because OpenCode
    installs its own plugin package into this folder.

      kgctx doctor                         checks everything
      kgctx explain --dry-run              shows what a session here would get, and why
      kgctx uninstall opencode             undoes this
    ");
    assert_eq!(fs::read_to_string(scratch.path().join(FILE)).unwrap(), BRIDGE);
    insta::assert_snapshot!(done(&scratch, &["install", "opencode"]), @"nothing to do: home/.config/opencode/plugin/kgctx.ts is version VERSION");
    insta::assert_snapshot!(done(&scratch, &["uninstall", "opencode"]), @"
    remove   home/.config/opencode/plugin/kgctx.ts  (version VERSION)
    remove   home/.config/opencode/plugin  (made by install, empty)
    remove   home/.config/opencode  (made by install, empty)
    remove   home/.config  (made by install, empty)

    Done. OpenCode runs without kgctx from its next start.
    ");
    insta::assert_snapshot!(done(&scratch, &["uninstall", "opencode"]), @"nothing to do: kgctx is not installed in home/.config/opencode");
}

#[test]
fn a_dry_run_changes_nothing() {
    let scratch = Scratch::new();
    let before = tree(&scratch.home());
    insta::assert_snapshot!(done(&scratch, &["install", "opencode", "--dry-run"]), @"
    make     home/.config
    make     home/.config/opencode
    make     home/.config/opencode/plugin
    write    home/.config/opencode/plugin/kgctx.ts  (version VERSION)
    Nothing was changed.
    ");
    assert_eq!(tree(&scratch.home()), before);
    assert!(!scratch.path().join("kgctx-home").exists());
}

#[test]
fn what_is_installed_already_is_not_touched() {
    let scratch = Scratch::new();
    done(&scratch, &["install", "opencode"]);
    let file = scratch.path().join(FILE);
    let stamp = || {
        use std::os::unix::fs::MetadataExt;
        let there = fs::metadata(&file).unwrap();
        (there.ino(), there.mtime_nsec(), there.ctime_nsec())
    };
    let before = stamp();
    assert!(done(&scratch, &["install", "opencode"]).starts_with("nothing to do: "));
    assert_eq!(stamp(), before);
}

/// What was there before, installed and removed: every name, byte and mode is as it was.
#[test]
fn removing_restores_every_byte() {
    type Before = fn(&Scratch);
    let cases: &[(&str, Before)] = &[
        ("nothing", |_| {}),
        ("the configuration folder", |s| drop(s.write("home/.config/other/x", "x"))),
        ("an empty folder", |s| {
            fs::create_dir_all(s.path().join("home/.config/opencode")).unwrap();
        }),
        ("a private folder with a configuration", |s| {
            s.write("home/.config/opencode/opencode.json", "{}");
            let folder = s.path().join("home/.config/opencode");
            fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
        }),
        ("other plugins", |s| {
            drop(s.write("home/.config/opencode/plugin/other.ts", "export const Other = 1\n"));
        }),
        ("an empty plugin folder", |s| {
            fs::create_dir_all(s.path().join("home/.config/opencode/plugin")).unwrap();
        }),
        ("other plugins in the other folder", |s| {
            drop(s.write("home/.config/opencode/plugins/other.ts", "export const Other = 1\n"));
        }),
        ("a linked folder", |s| {
            s.write("home/dotfiles/opencode/opencode.json", "{}");
            fs::create_dir(s.path().join("home/.config")).unwrap();
            symlink("../dotfiles/opencode", s.path().join("home/.config/opencode")).unwrap();
        }),
    ];
    for (case, prepare) in cases {
        let scratch = Scratch::new();
        prepare(&scratch);
        let before = tree(&scratch.home());
        done(&scratch, &["install", "opencode"]);
        let installed = tree(&scratch.home());
        assert_ne!(installed, before, "{case}");
        for (path, was) in &before {
            assert_eq!(installed.get(path), Some(was), "{case}: {}", path.display());
        }
        done(&scratch, &["install", "opencode"]);
        done(&scratch, &["uninstall", "opencode"]);
        assert_eq!(tree(&scratch.home()), before, "{case}");
    }
}

#[test]
fn an_older_version_is_replaced_and_removed_with_its_folders() {
    let scratch = Scratch::new();
    let before = tree(&scratch.home());
    done(&scratch, &["install", "opencode"]);
    scratch.write(FILE, OLDER);
    fs::set_permissions(scratch.path().join(FILE), fs::Permissions::from_mode(0o640)).unwrap();
    let said = done(&scratch, &["install", "opencode"]);
    assert!(said.contains("version 0.0.9, with your edits by VERSION"), "{said}");
    assert_eq!(fs::read_to_string(scratch.path().join(FILE)).unwrap(), BRIDGE);
    done(&scratch, &["uninstall", "opencode"]);
    assert_eq!(tree(&scratch.home()), before);

    // One that was copied there by hand is replaced, too; the folders are then not ours.
    scratch.write("home/.config/opencode/plugins/kgctx.ts", OLDER);
    let said = done(&scratch, &["install", "opencode"]);
    assert!(said.contains("plugins/kgctx.ts  (version 0.0.9 by VERSION)"), "{said}");
    done(&scratch, &["uninstall", "opencode"]);
    let left: Vec<PathBuf> = tree(&scratch.home()).into_keys().collect();
    let folder = scratch.home().join(".config/opencode/plugins");
    assert_eq!(
        left,
        [folder.parent().unwrap().parent().unwrap(), folder.parent().unwrap(), &folder]
    );
}

#[test]
fn edits_are_named_and_what_others_put_there_stays() {
    let scratch = Scratch::new();
    done(&scratch, &["install", "opencode"]);
    scratch.write(FILE, format!("{BRIDGE}// mine\n"));
    scratch.write("home/.config/opencode/package.json", "{}");
    insta::assert_snapshot!(done(&scratch, &["uninstall", "opencode"]), @"
    remove   home/.config/opencode/plugin/kgctx.ts  (version VERSION, with your edits)
    remove   home/.config/opencode/plugin  (made by install, empty)
    keep     home/.config/opencode  (now contains other files)

    Done. OpenCode runs without kgctx from its next start.
    ");
    let left: Vec<PathBuf> = tree(&scratch.home()).into_keys().collect();
    let folder = scratch.home().join(".config/opencode");
    assert_eq!(left, [folder.parent().unwrap(), &folder, &folder.join("package.json")]);
}

#[test]
fn a_file_that_is_not_ours_is_left_alone() {
    let scratch = Scratch::new();
    let mine = "// my own\nexport const Mine = 1\n";
    scratch.write(FILE, mine);
    let before = tree(&scratch.home());
    let (code, said) = say(&scratch, &["install", "opencode"]);
    assert_eq!(code, 1, "{said}");
    insta::assert_snapshot!(said, @"kgctx: home/.config/opencode/plugin/kgctx.ts is not from kgctx and was not changed; move it away and try again");
    let said = done(&scratch, &["uninstall", "opencode"]);
    assert!(said.starts_with("nothing to do: "), "{said}");
    assert_eq!(tree(&scratch.home()), before);

    // Nor is what a link leads to, even if it is a bridge.
    let file = scratch.path().join(FILE);
    fs::remove_file(&file).unwrap();
    symlink(scratch.write("checkout/kgctx.ts", OLDER), &file).unwrap();
    let (code, said) = say(&scratch, &["install", "opencode"]);
    assert!(code == 1 && said.contains("a link"), "{said}");
    assert_eq!(fs::read_to_string(&file).unwrap(), OLDER);
}

#[test]
fn a_project_gets_its_own_copy_in_the_working_tree_at_hand() {
    let scratch = Scratch::new();
    let app = repository(&scratch);
    git(&app, &["commit", "-q", "--allow-empty", "-m", "first"]);
    git(&app, &["worktree", "add", "-q", "../feature"]);
    for (dir, top) in [("app/src", "app"), ("feature", "feature")] {
        let folder = scratch.path().join(top);
        let before = tree(&folder);
        let said = done(&scratch, &["--dir", dir, "install", "opencode", "--project"]);
        assert!(said.contains(&format!("write    {top}/.opencode/plugin/kgctx.ts")), "{said}");
        let other = done(&scratch, &["--dir", dir, "install", "opencode", "--dry-run"]);
        assert!(
            other.contains(&format!("also loads another copy here: {top}/.opencode")),
            "{other}"
        );
        let global = done(&scratch, &["--dir", dir, "uninstall", "opencode", "--global"]);
        assert!(global.contains("not installed in home/.config/opencode"), "{global}");
        assert!(global.contains("still loads another copy"), "{global}");
        done(&scratch, &["--dir", dir, "uninstall", "opencode", "--project"]);
        assert_eq!(tree(&folder), before);
    }
    let (code, said) = say(&scratch, &["--dir", "home", "install", "opencode", "--project"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("not in a project: home is") && said.contains("--project"), "{said}");
    let (code, said) = say(&scratch, &["install", "opencode", "--project", "--global"]);
    assert!(code == 2 && said.contains("cannot be used with"), "{said}");
}

#[test]
fn the_folder_is_where_opencode_looks() {
    let scratch = Scratch::new();
    for (variable, file) in [
        ("XDG_CONFIG_HOME", "x/opencode/plugin/kgctx.ts"),
        ("OPENCODE_CONFIG_DIR", "x/plugin/kgctx.ts"),
    ] {
        let mut command = scratch.kgctx(["install", "opencode"]);
        let output = command.env(variable, scratch.path().join("x")).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert_eq!(fs::read_to_string(scratch.path().join(file)).unwrap(), BRIDGE);
    }
}

#[test]
fn a_program_that_opencode_would_not_find_is_named() {
    let scratch = Scratch::new();
    let warned = |name: &str, value: &str| {
        let mut command = scratch.kgctx(["install", "opencode"]);
        stderr(&command.env("PATH", "/none").env(name, value).output().unwrap())
    };
    let this = env!("CARGO_BIN_EXE_kgctx");
    assert!(warned("X", "").contains(&format!("set KGCTX_BIN={this}")), "{}", warned("X", ""));
    assert!(warned("KGCTX_BIN", "/none/kgctx").contains("KGCTX_BIN"));
    assert_eq!(warned("KGCTX_BIN", this), "");
}

#[test]
fn plugins_go_where_plugins_are() {
    let scratch = Scratch::new();
    scratch.write("home/.config/opencode/plugins/other.ts", "");
    let said = done(&scratch, &["install", "opencode", "--dry-run"]);
    assert!(said.contains("write    home/.config/opencode/plugins/kgctx.ts"), "{said}");
    scratch.write("home/.config/opencode/plugin/other.ts", "");
    let said = done(&scratch, &["install", "opencode", "--dry-run"]);
    assert!(said.contains("write    home/.config/opencode/plugin/kgctx.ts"), "{said}");
}

#[test]
fn a_folder_that_cannot_be_made_leaves_nothing_behind() {
    let scratch = Scratch::new();
    let config = scratch.write("home/.config", "a file");
    let before = tree(&scratch.home());
    let (code, said) = say(&scratch, &["install", "opencode"]);
    assert!(code == 3 && said.contains("cannot change") && said.contains("check its"), "{said}");
    assert_eq!(tree(&scratch.home()), before);
    // Nor in the memory: folders that somebody makes later are not ours.
    fs::remove_file(config).unwrap();
    fs::create_dir_all(scratch.path().join("home/.config/opencode/plugin")).unwrap();
    assert!(done(&scratch, &["uninstall", "opencode"]).starts_with("nothing to do: "));
}

#[test]
fn what_cannot_be_written_is_undone() {
    if is_root() {
        eprintln!("skipped: nothing is forbidden to root");
        return;
    }
    let scratch = Scratch::new();
    scratch.write("home/.config/opencode/opencode.json", "{}");
    let folder = scratch.path().join("home/.config/opencode");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o500)).unwrap();
    let before = tree(&scratch.home());
    let (code, said) = say(&scratch, &["install", "opencode"]);
    assert!(code == 3 && said.contains("check its permissions"), "{said}");
    assert_eq!(tree(&scratch.home()), before);
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    assert!(done(&scratch, &["uninstall", "opencode"]).starts_with("nothing to do: "));
}

#[test]
fn state_of_somebody_else_keeps_everything_as_it_is() {
    let scratch = Scratch::new();
    scratch.write(
        "kgctx-home/state/state.db",
        "this is no database, but it is long enough to be one".repeat(9),
    );
    let (code, said) = say(&scratch, &["install", "opencode"]);
    assert!(
        code == 3 && said.contains("state.db") && said.contains("nothing was changed"),
        "{said}"
    );
    assert!(tree(&scratch.home()).is_empty());
}

#[test]
fn what_was_removed_by_hand_is_forgotten() {
    let scratch = Scratch::new();
    done(&scratch, &["install", "opencode"]);
    fs::remove_file(scratch.path().join(FILE)).unwrap();
    // The folders are what somebody wants to have now: they stay.
    let before = tree(&scratch.home());
    done(&scratch, &["install", "opencode"]);
    done(&scratch, &["uninstall", "opencode"]);
    assert_eq!(tree(&scratch.home()), before);

    fs::remove_dir_all(scratch.home().join(".config")).unwrap();
    done(&scratch, &["install", "opencode"]);
    fs::remove_file(scratch.path().join(FILE)).unwrap();
    let said = done(&scratch, &["uninstall", "opencode"]);
    assert!(said.contains("remove   home/.config/opencode/plugin"), "{said}");
    assert!(tree(&scratch.home()).is_empty());
    assert!(done(&scratch, &["uninstall", "opencode"]).starts_with("nothing to do: "));
}

#[test]
fn bridge_package_and_program_have_one_version() {
    let version = env!("CARGO_PKG_VERSION");
    assert!(BRIDGE.contains(&format!("\nconst VERSION = \"{version}\"\n")));
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("bridges/opencode/package.json");
    let package: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(package).unwrap()).unwrap();
    assert_eq!(package["version"], version);
    assert_eq!(package["name"], "opencode-kgctx");
}
