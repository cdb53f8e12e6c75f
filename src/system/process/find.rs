//! Finds other programs and their versions.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::core::time_limits;
use crate::system::environment::Environment;
use crate::system::permissions;
use crate::system::process::run::RunError;
use crate::system::within;

/// The endings of programs' files on Windows, where `PATHEXT` does not tell.
const USUAL_ENDINGS: &str = ".com;.exe;.bat;.cmd";
/// More than any version needs.
const MAX_ANSWER: u64 = 4 * 1024;

/// Finds a program like the system: a plain name on the PATH, a path with a slash as it is.
pub fn find(name: &OsStr, environment: &Environment) -> Option<PathBuf> {
    let path = Path::new(name);
    let find = |path: PathBuf| files(path, environment).into_iter().find(|file| is_program(file));
    if path.components().count() > 1 {
        return find(path.to_path_buf());
    }
    std::env::split_paths(environment.get("PATH")?).find_map(|folder| find(folder.join(path)))
}

pub fn this() -> Option<PathBuf> {
    std::env::current_exe().ok()
}

/// Runs a program with `--version` and returns its first line. Kills it when the time is over.
pub fn version(
    program: &Path,
    variables: &[(&str, &str)],
    patience: Duration,
) -> Result<String, RunError> {
    first_line(program, &["--version"], variables, patience)
}

/// Runs a program and returns the first line that it prints. Kills it when the time is over.
pub fn first_line(
    program: &Path,
    arguments: &[&str],
    variables: &[(&str, &str)],
    patience: Duration,
) -> Result<String, RunError> {
    let until = Instant::now() + patience;
    let mut command = Command::new(program);
    command.args(arguments).envs(variables.iter().copied());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(RunError::Start)?;
    let stdout = child.stdout.take();
    let line = within::start(move || {
        let mut line = Vec::new();
        let _ = BufReader::new(stdout?.take(MAX_ANSWER)).read_until(b'\n', &mut line);
        Some(String::from_utf8_lossy(&line).trim().to_owned())
    });
    let status = loop {
        match child.try_wait().map_err(RunError::Start)? {
            Some(status) => break status,
            None if Instant::now() >= until => {
                // It may have just ended.
                let _ = child.kill();
                let _ = child.wait();
                return Err(RunError::Late(patience));
            }
            None => thread::sleep(time_limits::VERSION_POLL),
        }
    };
    if !status.success() {
        return Err(RunError::Failed(status));
    }
    line.by(until).flatten().ok_or(RunError::Late(patience))
}

fn is_program(file: &Path) -> bool {
    file.metadata().is_ok_and(|there| permissions::is_executable(&there))
}

/// The files of a program with this path, as the system tries them.
fn files(path: PathBuf, environment: &Environment) -> Vec<PathBuf> {
    if cfg!(not(windows)) || path.extension().is_some() {
        return vec![path];
    }
    let endings =
        environment.get("PATHEXT").map_or(USUAL_ENDINGS.into(), |all| all.to_string_lossy());
    let with = |ending: &str| {
        let mut file = path.clone().into_os_string();
        file.push(ending.to_ascii_lowercase());
        PathBuf::from(file)
    };
    endings.split(';').filter(|ending| ending.starts_with('.')).map(with).collect()
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    fn script(folder: &Path, name: &str, text: &str) -> PathBuf {
        let file = folder.join(name);
        fs::write(&file, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        file
    }

    #[test]
    fn programs_are_found_as_the_system_finds_them() {
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(first.path().join("tool"), "no program").unwrap();
        let tool = script(second.path(), "tool", "");
        let path = std::env::join_paths([first.path(), second.path()]).unwrap();
        let environment: Environment = [("PATH".into(), path)].into_iter().collect();
        assert_eq!(find("tool".as_ref(), &environment), Some(tool.clone()));
        assert_eq!(find(tool.as_os_str(), &Environment::default()), Some(tool));
        assert_eq!(find("missing".as_ref(), &environment), None);
        assert_eq!(find(first.path().join("tool").as_os_str(), &environment), None);
    }

    #[test]
    fn a_version_is_said_in_time_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let say = |text| {
            let tool = script(folder.path(), "tool", text);
            version(&tool, &[("WHO", "tool")], Duration::from_secs(1))
        };
        assert_eq!(say("echo \"$WHO 1.2.3 $1\"; echo noise >&2").unwrap(), "tool 1.2.3 --version");
        assert!(matches!(say("exit 3"), Err(RunError::Failed(_))));
        let started = Instant::now();
        assert!(matches!(say("exec sleep 9"), Err(RunError::Late(_))));
        // A child of the program can hold the pipe for longer.
        assert_eq!(say("sleep 5 & echo 1").unwrap(), "1");
        assert!(started.elapsed() < Duration::from_secs(4));
        let missing = version(Path::new("/none/tool"), &[], Duration::from_secs(1));
        assert!(matches!(missing, Err(RunError::Start(_))));
    }
}
