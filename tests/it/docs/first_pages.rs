//! What a new user tries first: the commands and the picture of the first pages, and the demonstration.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use super::{read, root};
use crate::support::{Scratch, git};

/// The lines of a page's `sh` blocks that call kgctx, without their comments.
fn commands(page: &str) -> Vec<String> {
    let text = read(&root().join(page));
    let blocks = text.split("```sh\n").skip(1).filter_map(|rest| rest.split_once("```"));
    let lines = blocks.flat_map(|(block, _)| block.lines());
    let lines = lines.map(|line| line.split(" #").next().unwrap().trim().to_owned());
    lines.filter(|line| line.starts_with("kgctx ")).collect()
}

/// A copy of the example project.
fn atlas(scratch: &Scratch) -> PathBuf {
    let project = scratch.path().join("atlas");
    let mut copy = Command::new("cp");
    copy.arg("-R").arg(root().join("fixtures/projects/atlas")).arg(&project);
    assert!(copy.status().unwrap().success());
    project
}

/// The rows of the terminal in a picture.
fn rows(picture: &str) -> Vec<String> {
    let texts = picture.split("<text ").skip(1).filter_map(|text| text.split_once('>'));
    let rows = texts.filter_map(|(_, row)| row.split_once("</text>"));
    rows.map(|(row, _)| row.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
        .collect()
}

#[test]
fn the_picture_of_a_terminal_shows_what_commands_print() {
    let scratch = Scratch::new();
    let project = atlas(&scratch);
    let rows = rows(&read(&root().join("docs/pictures/terminal.svg")));
    let screens = rows.chunk_by(|_, next| !next.starts_with("$ kgctx "));
    let mut n_screens = 0;
    for screen in screens {
        let (command, shown) = screen.split_first().unwrap();
        let arguments = command.strip_prefix("$ kgctx ").unwrap().split(' ');
        let mut kgctx = scratch.kgctx(arguments);
        let output = kgctx.env_remove("KGCTX_RANK").current_dir(&project).output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        // Only the ends of lines differ.
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words(&shown.join(" ")), words(&printed), "run .ci/pictures: {command}");
        n_screens += 1;
    }
    assert_eq!(n_screens, 2);
}

/// A new user copies what stands there. Commands that need a running server are tried elsewhere.
#[test]
fn the_commands_of_the_first_pages_work_as_they_stand() {
    let scratch = Scratch::new();
    let project = atlas(&scratch);
    git(&project, &["init", "-q"]);
    let (bin, path) = (scratch.path().join("bin"), std::env::var("PATH").unwrap());
    fs::create_dir(&bin).unwrap();
    symlink(env!("CARGO_BIN_EXE_kgctx"), bin.join("kgctx")).unwrap();
    let mut n_run = 0;
    for page in ["README.md", "docs/getting-started.md"] {
        for line in commands(page) {
            if line.contains("--server") {
                continue;
            }
            let kgctx = scratch.kgctx(["--version"]);
            let mut shell = Command::new("sh");
            shell.args(["-ec", &line]).current_dir(&project).env_clear();
            shell.envs(kgctx.get_envs().filter_map(|(name, value)| Some((name, value?))));
            shell.env("PATH", format!("{}:{path}", bin.display()));
            let output = shell.output().unwrap();
            assert!(output.status.success(), "{page}: {line}: {output:?}");
            n_run += 1;
        }
    }
    assert!(n_run >= 16, "{n_run} commands");
}

#[test]
fn the_demonstration_shows_a_context() {
    let scratch = Scratch::new();
    let kgctx = scratch.kgctx(["--version"]);
    let mut demo = Command::new("bash");
    demo.arg(root().join(".ci/demo")).arg(kgctx.get_program()).current_dir(scratch.path());
    demo.env("HOME", scratch.home()).env("KGCTX_RANK", "frequency");
    // The user's own settings are none of its business.
    scratch.write("config/kgctx/config.toml", "enabled = false\n");
    demo.env("XDG_CONFIG_HOME", scratch.path().join("config"));
    let output = demo.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let shown = String::from_utf8(output.stdout).unwrap();
    let screens: Vec<&str> = shown.split("\n$ kgctx ").skip(1).collect();
    assert_eq!(screens.len(), 6, "{shown}");
    for (screen, command, part) in [
        (screens[0], "whoami", "atlas"),
        (screens[1], "inject --session demo --dry-run --budget 320", "## Knowledge Graph Context"),
        (screens[2], "explain", "0002-rate-limiting"),
        (screens[3], "search ", "0001-stale-while-revalidate"),
        (screens[4], "recent ", "docs/overview"),
        (screens[5], "context renderer", "tile-cache"),
    ] {
        assert!(screen.starts_with(command) && screen.contains(part), "{part}: {screen}");
    }
    // Neither the user's ranking nor their home.
    assert!(screens[1].contains("most relevant first"), "{shown}");
    assert_eq!(fs::read_dir(scratch.home()).unwrap().count(), 0);
}
