//! A host that is a program in Python: which Python runs it, and which packages that has.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use crate::system::plain_file;
use crate::system::process::find;

/// More than the head of any start script.
const MAX_HEAD: u64 = 4 * 1024;

/// The version of a package where a program is installed, as its Python tells it.
pub fn package_version(program: &Path, package: &str, patience: Duration) -> Option<String> {
    let code = format!("import importlib.metadata as m; print(m.version({package:?}))");
    find::first_line(&interpreter(program)?, &["-c", &code], &[], patience).ok()
}

/// The Python that runs a program: the one that its first lines name.
fn interpreter(program: &Path) -> Option<PathBuf> {
    let head = BufReader::new(plain_file::open(program).ok()?.take(MAX_HEAD));
    let lines: Vec<String> = head.lines().take(3).map_while(Result::ok).collect();
    if !lines.first()?.starts_with("#!") {
        return None;
    }
    // A long path is behind `exec`, in the second line.
    let words = lines.iter().flat_map(|line| line.trim_start_matches("#!").split(['"', '\'', ' ']));
    let is_python = |word: &&str| {
        let path = Path::new(word);
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        path.is_absolute() && name.starts_with("python")
    };
    words.map(str::trim).find(is_python).map(PathBuf::from)
}

/// The program that a hook in a bundle starts with these arguments.
pub fn command_in(index: &Path, arguments: &[&str]) -> Option<PathBuf> {
    #[derive(Deserialize)]
    struct RawBundle {
        hooks: Vec<RawHook>,
    }
    #[derive(Deserialize)]
    struct RawHook {
        config: RawConfig,
    }
    #[derive(Deserialize)]
    struct RawConfig {
        command: Vec<String>,
    }
    let text = String::from_utf8(plain_file::read(index).ok()?).ok()?;
    let bundle: RawBundle = serde_saphyr::from_str(&text).ok()?;
    let commands = bundle.hooks.into_iter().map(|hook| hook.config.command);
    let ours = commands.filter(|command| command.get(1..).is_some_and(|rest| rest == arguments));
    ours.flatten().next().map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[cfg(unix)]
    #[test]
    fn the_python_of_a_program_is_named_in_its_head() {
        let folder = tempfile::tempdir().unwrap();
        let check = |head: &str, expected: Option<&str>| {
            let file = folder.path().join("amplifier");
            fs::write(&file, head).unwrap();
            assert_eq!(interpreter(&file), expected.map(PathBuf::from), "{head}");
        };
        check("#!/opt/a/bin/python\nimport sys\n", Some("/opt/a/bin/python"));
        check("#!/opt/a/bin/python3.11 -I\n", Some("/opt/a/bin/python3.11"));
        let long = "#!/bin/sh\n'''exec' \"/opt/long/bin/python3\" \"$0\" \"$@\"\n' '''\n";
        check(long, Some("/opt/long/bin/python3"));
        for other in ["#!/bin/sh\necho\n", "\x7fELF", "", "#!/usr/bin/env node\n"] {
            check(other, None);
        }
        assert_eq!(interpreter(&folder.path().join("none")), None);
    }

    #[test]
    fn the_program_of_a_bundle_is_read_from_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("bundle.yaml");
        let text = "hooks:\n  - module: m\n    config:\n      command: [\"/a b/kgctx\", hook, amplifier]\n";
        fs::write(&file, text).unwrap();
        assert_eq!(command_in(&file, &["hook", "amplifier"]), Some("/a b/kgctx".into()));
        assert_eq!(command_in(&file, &["hook", "other"]), None);
        fs::write(&file, "hooks: 7\n").unwrap();
        assert_eq!(command_in(&file, &["hook", "amplifier"]), None);
    }
}
