//! Installing our bundle for Amplifier: one line in its settings, and removing it restores every byte.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{done, repository, say, tree};
use crate::support::Scratch;
use crate::support::handoff_project::fed;

const FILE: &str = "home/.amplifier/settings.yaml";
const BACKUP: &str = "home/.amplifier/settings.yaml.kgctx-backup";
const OWN: &str = "kgctx-home/state/amplifier/kgctx";
const MODULE: &str = "modules/hooks-kgctx/amplifier_module_hooks_kgctx/__init__.py";
const INSTALL: &[&str] = &["install", "amplifier"];
const UNINSTALL: &[&str] = &["uninstall", "amplifier"];

fn read(scratch: &Scratch, file: &str) -> String {
    fs::read_to_string(scratch.path().join(file)).unwrap()
}

fn item(scratch: &Scratch) -> String {
    format!("file://{}", scratch.path().join(OWN).display())
}

#[test]
fn the_module_has_the_version_of_the_program() {
    let file = "bridges/amplifier/amplifier_module_hooks_kgctx/__init__.py";
    let module = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
    let version = format!("VERSION = \"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(module.lines().any(|line| line == version), "{file} has another VERSION");
}

#[test]
fn what_changes_is_said_before() {
    let scratch = Scratch::new();
    let before = tree(&scratch.path());
    let dry = done(&scratch, &["install", "amplifier", "--dry-run"]);
    assert!(dry.ends_with("Nothing was changed.\n"), "{dry}");
    assert_eq!(tree(&scratch.home()), Default::default());
    assert_eq!(before.keys().filter(|path| path.ends_with("amplifier")).count(), 0);
    insta::assert_snapshot!(done(&scratch, INSTALL), @"
    write    kgctx-home/state/amplifier/kgctx/modules/hooks-kgctx/amplifier_module_hooks_kgctx/__init__.py  (version VERSION)
    write    kgctx-home/state/amplifier/kgctx/bundle.yaml  (version VERSION)
    make     home/.amplifier
    write    home/.amplifier/settings.yaml  (with only kgctx's bundle)

    Done. From now on, every new Amplifier session gets context before its first prompt.

      kgctx doctor                         checks everything
      kgctx explain --dry-run              shows what a session here would get, and why
      kgctx uninstall amplifier            undoes this
    ");
    assert_eq!(read(&scratch, FILE), format!("bundle:\n  app:\n  - {}\n", item(&scratch)));
    let command = scratch.path().join("bin/kgctx");
    let bundle = read(&scratch, &format!("{OWN}/bundle.yaml"));
    let expected = format!("command: [\"{}\",\"hook\",\"amplifier\"]\n", command.display());
    assert!(bundle.contains(&expected), "{bundle}");
    assert!(!scratch.path().join(OWN).join("modules/hooks-kgctx/pyproject.toml").exists());
    assert_eq!(
        done(&scratch, INSTALL),
        "nothing to do: home/.amplifier/settings.yaml has kgctx's bundle\n"
    );
    insta::assert_snapshot!(done(&scratch, UNINSTALL), @"
    remove   home/.amplifier/settings.yaml  (made by install, otherwise empty)
    remove   home/.amplifier  (made by install, empty)
    remove   kgctx-home/state/amplifier/kgctx  (kgctx's own)

    Done. New Amplifier sessions run without kgctx.
    ");
    assert_eq!(tree(&scratch.home()), Default::default());
    assert!(!scratch.path().join("kgctx-home/state/amplifier").exists());
    assert_eq!(
        done(&scratch, UNINSTALL),
        "nothing to do: home/.amplifier/settings.yaml has no kgctx bundle\n"
    );
}

#[test]
fn removing_restores_every_byte() {
    for settings in [
        "",
        "\n\n",
        "# only a comment",
        "# mine\nconfig:   {a: [1, 2]}  # flow\n\nbundle:\n    # which\n    active: anchors\n",
        "bundle:\n",
        "bundle: {}\n",
        "bundle:\n  app: []  # none yet\n",
        "bundle:\n  app:\n  - file:///one\n  # two\n  - 'file:///two'\n\n\nz: 1",
        "bundle:\r\n  app:\r\n    - file:///one\r\n",
        "---\nupdates:\n  last_check: 2026-11-18\n",
    ] {
        let scratch = Scratch::new();
        let file = scratch.write(FILE, settings);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        let before = tree(&scratch.home());
        done(&scratch, INSTALL);
        assert!(read(&scratch, FILE).contains(&item(&scratch)), "{settings:?}");
        assert_eq!(read(&scratch, BACKUP), settings);
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        // Python leaves its own files beside the module.
        scratch.write(&format!("{OWN}/modules/hooks-kgctx/x/__pycache__/a.pyc"), "");
        done(&scratch, INSTALL);
        done(&scratch, UNINSTALL);
        assert_eq!(tree(&scratch.home()), before, "{settings:?}");
        assert!(!scratch.path().join(OWN).exists());
    }
}

#[test]
fn with_later_edits_only_our_line_goes() {
    let scratch = Scratch::new();
    scratch.write(FILE, "# mine\nbundle:\n  active: x\n");
    done(&scratch, INSTALL);
    let edited = read(&scratch, FILE).replace("active: x", "active: y # mine, too");
    scratch.write(FILE, edited);
    // A second install keeps the edit in its backup.
    done(&scratch, INSTALL);
    done(&scratch, UNINSTALL);
    assert_eq!(read(&scratch, FILE), "# mine\nbundle:\n  active: y # mine, too\n");
    assert!(!scratch.path().join(BACKUP).exists());
}

#[test]
fn what_cannot_be_edited_is_named_with_the_line_to_add() {
    for (settings, why) in [
        ("bundle: {app: [x]}\n", "the list app under bundle has a style that kgctx does not edit"),
        (
            "bundle: {active: x}\n",
            "it has no list app under bundle, and a style that kgctx does not edit",
        ),
        ("bundle:\n\tapp: []\n", "changed: "),
        ("bundle:\n  app: &a\n  - x\n", "the list app under bundle has a style"),
        ("a: 1\n---\nb: 1\n", "changed: it has more than one document"),
        ("a: 1\nb: 2\na: 3\n", "changed: it has the key a twice (line 3)"),
        ("a: [\n", "changed: it cannot be parsed"),
        ("- list\n", "changed: it has no keys at the top level"),
    ] {
        let scratch = Scratch::new();
        scratch.write(FILE, settings);
        let before = tree(&scratch.home());
        let (code, said) = say(&scratch, INSTALL);
        assert_eq!(code, 1, "{said}");
        let line = "add to it by hand, below `bundle:` and `app:`, and run this again: - \
                    file://kgctx-home/state/amplifier/kgctx";
        assert!(said.contains("home/.amplifier/settings.yaml was not changed: "), "{said}");
        assert!(said.contains(line) && said.contains(why), "{said}");
        assert!(!said.contains("from_str") && !said.contains("from_multiple"), "{said}");
        // Where nothing was installed, nothing is to be done.
        let said = done(&scratch, UNINSTALL);
        assert!(
            said.contains("nothing to do: home/.amplifier/settings.yaml has no kgctx"),
            "{said}"
        );
        assert_eq!(tree(&scratch.home()), before);
        assert!(!scratch.path().join(OWN).exists());
    }
    // What cannot be read and names the bundle is left to its user.
    let scratch = Scratch::new();
    scratch.write(FILE, format!("a: [\n# {}\n", item(&scratch)));
    let (code, said) = say(&scratch, UNINSTALL);
    assert!(code == 1 && said.contains("remove from it by hand"), "{said}");
}

#[test]
fn whoever_added_the_line_by_hand_is_not_left_with_one_that_names_nothing() {
    let scratch = Scratch::new();
    let flow = format!("bundle: {{app: [\"{}\"]}}\n", item(&scratch));
    scratch.write(FILE, &flow);
    done(&scratch, INSTALL);
    assert_eq!(read(&scratch, FILE), flow);
    let module = scratch.path().join(OWN).join(MODULE);
    assert!(module.is_file());
    let (code, said) = say(&scratch, UNINSTALL);
    assert_eq!((code, read(&scratch, FILE)), (1, flow), "{said}");
    let line =
        "remove from it by hand, and run this again: - file://kgctx-home/state/amplifier/kgctx";
    assert!(said.contains(line), "{said}");
    assert!(module.is_file(), "Amplifier starts as long as the line is there");
    scratch.write(FILE, "bundle: {app: []}\n");
    done(&scratch, UNINSTALL);
    assert_eq!(read(&scratch, FILE), "bundle: {app: []}\n");
    assert!(!scratch.path().join(OWN).exists() && !scratch.path().join(BACKUP).exists());

    // A line that can be edited goes, and the rest stays.
    let scratch = Scratch::new();
    let own = format!("# mine\nbundle:\n  app:\n  - file:///x\n  - {}\n", item(&scratch));
    scratch.write(FILE, own);
    done(&scratch, INSTALL);
    done(&scratch, UNINSTALL);
    assert_eq!(read(&scratch, FILE), "# mine\nbundle:\n  app:\n  - file:///x\n");
    assert!(!scratch.path().join(OWN).exists());
}

#[test]
fn a_linked_file_stays_a_link() {
    let scratch = Scratch::new();
    let real = scratch.write("home/dotfiles/amplifier.yaml", "a: 1\n");
    fs::create_dir(scratch.home().join(".amplifier")).unwrap();
    symlink(&real, scratch.path().join(FILE)).unwrap();
    let before = tree(&scratch.home());
    done(&scratch, INSTALL);
    assert!(fs::read_to_string(&real).unwrap().contains("kgctx"));
    done(&scratch, UNINSTALL);
    assert_eq!(tree(&scratch.home()), before);
}

#[test]
fn a_project_has_settings_of_its_own_and_hides_nothing() {
    let scratch = Scratch::new();
    let app = repository(&scratch);
    let project = ["--dir", "app", "install", "amplifier", "--project"];
    scratch.write(FILE, "bundle:\n  app:\n  - file:///others\n");
    let (code, said) = say(&scratch, &project);
    assert_eq!(code, 1);
    assert!(
        said.contains("would hide file:///others, which is in home/.amplifier/settings.yaml"),
        "{said}"
    );
    fs::remove_file(scratch.path().join(FILE)).unwrap();

    done(&scratch, &project);
    let local = app.join(".amplifier/settings.local.yaml");
    assert!(fs::read_to_string(&local).unwrap().contains(&item(&scratch)));
    done(&scratch, INSTALL);
    let said = done(&scratch, UNINSTALL);
    assert!(said.contains("keep     kgctx-home/state/amplifier/kgctx"), "{said}");
    assert!(scratch.path().join(OWN).join(MODULE).is_file(), "the project still names it");
    done(&scratch, &["--dir", "app", "uninstall", "amplifier", "--project"]);
    assert!(!local.exists() && !app.join(".amplifier").exists());
    assert!(!scratch.path().join(OWN).exists());
}

#[test]
fn what_cannot_be_written_is_undone() {
    let scratch = Scratch::new();
    scratch.write("home/.amplifier", "no folder");
    let before = tree(&scratch.home());
    let (code, said) = say(&scratch, INSTALL);
    assert_eq!(code, 3, "{said}");
    assert_eq!(tree(&scratch.home()), before);
    assert!(!scratch.path().join(OWN).exists());
}

/// The doctor's words about Amplifier: names, verdicts, what was found and the way out.
fn doctor(scratch: &Scratch) -> Vec<[String; 4]> {
    let path = format!("{}:/usr/bin:/bin", scratch.path().join("bin").display());
    let mut command = scratch.kgctx(["--dir", "app", "doctor", "--json"]);
    let output = command.env("PATH", path).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let shorten = |value: &Value| {
        let text = value.as_str().unwrap_or_default();
        text.replace(&format!("{}/", scratch.path().display()), "")
    };
    let checks = answer["checks"].as_array().unwrap().iter();
    checks
        .filter(|check| {
            ["amplifier", "bundle", "program"].iter().any(|name| check["name"] == *name)
        })
        .map(|check| ["name", "verdict", "found", "wayOut"].map(|key| shorten(&check[key])))
        .collect()
}

/// A machine with a program called `amplifier`, whose Python says that it has a version of the kernel.
fn machine(kernel: &str) -> (Scratch, PathBuf) {
    let scratch = Scratch::new();
    let app = repository(&scratch);
    let python = scratch.write("py/bin/python3", format!("#!/bin/sh\necho {kernel}\n"));
    let amplifier = scratch.write("bin/amplifier", format!("#!{}\n", python.display()));
    for program in [&python, &amplifier] {
        fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
    }
    symlink(env!("CARGO_BIN_EXE_kgctx"), scratch.path().join("bin/kgctx")).unwrap();
    done(&scratch, INSTALL);
    (scratch, app)
}

#[track_caller]
fn found(checks: &[[String; 4]], name: &str, verdict: &str, parts: &[&str]) {
    let is_it = |check: &&[String; 4]| {
        let all = check.join("\n");
        check[0] == name && check[1] == verdict && parts.iter().all(|part| all.contains(part))
    };
    assert!(checks.iter().any(|check| is_it(&check)), "{name} {verdict} {parts:?}: {checks:#?}");
}

#[test]
fn the_doctor_looks_at_kernel_settings_files_and_program() {
    let (scratch, app) = machine("1.6.1");
    let checks = doctor(&scratch);
    assert_eq!(checks.len(), 4, "{checks:#?}");
    found(&checks, "amplifier", "ok", &["amplifier-core 1.6.1, bin/amplifier"]);
    found(&checks, "amplifier", "ok", &["home/.amplifier/settings.yaml names kgctx's bundle"]);
    found(&checks, "bundle", "ok", &[env!("CARGO_PKG_VERSION"), "kgctx/bundle.yaml"]);
    found(&checks, "program", "ok", &["Amplifier starts bin/kgctx"]);

    // The list of a project replaces the user's.
    fs::create_dir(app.join(".amplifier")).unwrap();
    fs::write(app.join(".amplifier/settings.yaml"), "bundle:\n  app: [file:///x]\n").unwrap();
    let parts = ["the list in", "app/.amplifier/settings.yaml hides the bundle", "- file://"];
    found(&doctor(&scratch), "amplifier", "warn", &parts);
    fs::remove_dir_all(app.join(".amplifier")).unwrap();

    let module = scratch.path().join(OWN).join(MODULE);
    let text = fs::read_to_string(&module).unwrap();
    fs::write(&module, format!("{text}\n# edited\n")).unwrap();
    found(
        &doctor(&scratch),
        "bundle",
        "warn",
        &["__init__.py belongs to another version", "kgctx install"],
    );
    // Without the module no session starts at all.
    fs::remove_dir_all(scratch.path().join(OWN).join("modules")).unwrap();
    let parts = [
        "__init__.py is missing: no Amplifier session starts",
        "run `kgctx install amplifier`, or start Amplifier with AMPLIFIER_ALLOW_PARTIAL_BUNDLE=1",
    ];
    found(&doctor(&scratch), "bundle", "fail", &parts);
    done(&scratch, INSTALL);
    found(&doctor(&scratch), "bundle", "ok", &[]);
    fs::remove_file(scratch.path().join(OWN).join("bundle.yaml")).unwrap();
    found(&doctor(&scratch), "bundle", "fail", &["bundle.yaml is missing: sessions start without"]);
    done(&scratch, INSTALL);

    fs::remove_file(scratch.path().join("bin/kgctx")).unwrap();
    found(&doctor(&scratch), "program", "fail", &["Amplifier starts bin/kgctx, but"]);
    scratch.write(FILE, "bundle:\n  app: []\n");
    found(&doctor(&scratch), "amplifier", "fail", &["no kgctx bundle here", "kgctx install"]);
}

#[test]
fn the_doctor_says_when_a_session_got_its_context() {
    let (scratch, app) = machine("1.6.1");
    scratch.write("app/docs/tiles.md", "# Tiles\n\nThe [[tiles]] are old.\n");
    let ask = |event: &str, receipt: Value| {
        let question = json!({"event": event, "session_id": "s-1", "working_directory": app,
            "module": env!("CARGO_PKG_VERSION"), "receipt": receipt});
        let said = fed(scratch.kgctx(["hook", "amplifier"]), question.to_string().as_bytes());
        serde_json::from_str::<Value>(&said.out).unwrap()
    };
    let answer = ask("session:start", Value::Null);
    assert_eq!(doctor(&scratch).len(), 4, "it may not have arrived");
    ask("kgctx.delivered", answer["receipt"].clone());
    found(&doctor(&scratch), "amplifier", "ok", &["session s-1 got its context, 2"]);
}

#[test]
fn the_doctor_warns_of_old_kernels_and_of_none() {
    for (kernel, part) in [
        ("1.0.0", "amplifier-core 1.0.0, bin/amplifier: older than"),
        ("1.5.9", "update Amplifier: it needs amplifier-core 1.6.0"),
        ("nonsense", "does not report its version of amplifier-core"),
    ] {
        let (scratch, _) = machine(kernel);
        found(&doctor(&scratch), "amplifier", "warn", &[part]);
    }
    let (scratch, _) = machine("1.7.0");
    found(&doctor(&scratch), "amplifier", "ok", &["amplifier-core 1.7.0"]);
    fs::remove_file(scratch.path().join("bin/amplifier")).unwrap();
    found(&doctor(&scratch), "amplifier", "warn", &["amplifier is not found", "install Amplifier"]);
}
