//! The way of a new user: the README's own commands, on a machine where nothing was ever set up, to a context in a real session.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

use super::bridge::HEADING;
use super::found::Version;
use super::lab::Lab;

const MOST_COMMANDS: usize = 10;
/// With the program installed.
const PATIENCE: Duration = Duration::from_secs(60);

/// The README's part about installing and removing.
fn part() -> String {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = fs::read_to_string(readme).unwrap();
    let (_, part) = readme.split_once("\n## Install\n").unwrap();
    part.split_once("\n## ").unwrap().0.to_owned()
}

/// Its commands, without their comments.
fn commands() -> Vec<String> {
    let part = part();
    let (_, block) = part.split_once("```sh\n").unwrap();
    let (block, _) = block.split_once("```").unwrap();
    block.lines().map(|line| line.split(" #").next().unwrap().trim().to_owned()).collect()
}

#[test]
fn the_commands_of_the_readme_lead_to_a_context_in_a_session() {
    let lab = Lab::new(Version::Pinned);
    let programs = lab.path().join("bin");
    symlink(env!("CARGO_BIN_EXE_kgctx"), programs.join("kgctx")).unwrap();
    symlink(Version::Pinned.program(), programs.join("opencode")).unwrap();
    let commands = commands();
    // The session itself is one more.
    assert!(commands.len() < MOST_COMMANDS, "{commands:#?}");
    let began = Instant::now();
    for line in commands.iter().filter(|line| !line.starts_with("cargo install")) {
        let output = lab.command("sh").args(["-ec", line]).output().unwrap();
        assert!(output.status.success(), "{line}: {output:?}");
    }
    lab.run("PROMPT-NEW", &[]);
    let took = began.elapsed();
    let [call] = &lab.provider.turns("PROMPT-NEW")[..] else { panic!("more than one call") };
    assert_eq!(call.count(HEADING), 1, "{}", call.conversation());
    assert!(took < PATIENCE, "{took:?}");
    remove(&lab);
}

/// Removes it as the README says: then the next session has no context.
fn remove(lab: &Lab) {
    assert!(part().contains("**To remove it**, run `kgctx uninstall HOST`"));
    assert!(lab.config().join("plugin/kgctx.ts").exists());
    let output = lab.command("kgctx").args(["uninstall", "opencode"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(!lab.config().join("plugin").exists());
    lab.run("PROMPT-GONE", &[]);
    let [call] = &lab.provider.turns("PROMPT-GONE")[..] else { panic!("more than one call") };
    assert_eq!(call.count(HEADING), 0, "{}", call.conversation());
}
