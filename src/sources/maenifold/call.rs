//! A call of maenifold's program: one tool, one payload, its output. Does not interpret the output: maenifold exits
//! with success whatever happened.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use serde_json::Value;
use thiserror::Error;

use crate::core::named::{Named, named};
use crate::system::environment::Environment;
use crate::system::process::find;
use crate::system::process::run;
use crate::system::process::run::{Leftovers, Limits, RunError};

/// Names the program if it is in an unusual place. (`MAENIFOLD_ROOT` is the folder of its data.)
const VARIABLE: &str = "KGCTX_MAENIFOLD_BIN";
const NAME: &str = "maenifold";
/// The prefix of all of maenifold's own variables.
const OWN_VARIABLES: &str = "MAENIFOLD_";
/// Variables that name paths. maenifold creates what does not exist there.
const PLACES: [&str; 2] = ["MAENIFOLD_ROOT", "MAENIFOLD_DATABASE_PATH"];
/// With these variables, maenifold switches its database out of the mode in which others can read while it writes.
const UNWELCOME: [&str; 2] = ["CI", "GITHUB_ACTIONS"];
/// maenifold never answers our questions at greater length.
const MAX_ANSWER_BYTES: u64 = 1024 * 1024;

/// The installed program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    file: PathBuf,
    /// Variables that override our own environment.
    variables: Vec<(OsString, OsString)>,
}

/// The tools that kgctx calls. None of them changes a note, or its rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// "Which notes are about this?"
    SearchMemories,
    /// "What changed lately?"
    RecentActivity,
    /// "Which concepts are around this one?"
    BuildContext,
}

named!(Tool {
    SearchMemories = "SearchMemories",
    RecentActivity = "RecentActivity",
    BuildContext = "BuildContext",
});

/// Why a call has no output.
#[derive(Debug, Error)]
pub enum CallError {
    /// A relative path: maenifold would create folders in the current folder.
    #[error("{0} is {path}, which is not an absolute path; kgctx did not start maenifold", path = .1.display())]
    Root(&'static str, PathBuf),
    #[error("{}", explained(.0))]
    Run(#[from] RunError),
}

fn explained(error: &RunError) -> String {
    match error {
        RunError::Start(cause) => format!("maenifold cannot be started: {cause}"),
        RunError::Late(waited) => {
            format!("maenifold did not answer within {:.0} ms", waited.as_secs_f64() * 1e3)
        }
        RunError::TooLong => {
            format!("maenifold's answer is longer than {} KiB", MAX_ANSWER_BYTES / 1024)
        }
        // A crash: maenifold reports errors that it handles with success.
        RunError::Failed(status) => format!("maenifold crashed with {status}"),
        RunError::Read(cause) => format!("maenifold's answer cannot be read: {cause}"),
    }
}

impl Program {
    /// Finds the program: the one in `KGCTX_MAENIFOLD_BIN`, otherwise the first on the PATH, otherwise the one that
    /// maenifold's own hooks use.
    pub fn find(environment: &Environment) -> Result<Program, String> {
        let file = match environment.get(VARIABLE) {
            Some(named) => find::find(named, environment).ok_or_else(|| {
                format!("{VARIABLE} is {}, which is not a program", Path::new(named).display())
            })?,
            None => find::find(OsStr::new(NAME), environment)
                .or_else(|| {
                    let usual = environment.home()?.join("maenifold/bin").join(NAME);
                    find::find(usual.as_os_str(), environment)
                })
                .ok_or("no maenifold on the PATH, and none in ~/maenifold/bin")?,
        };
        // `Command` would search the PATH again for a bare name, which an empty part of the PATH yields.
        let file = std::path::absolute(&file).unwrap_or(file);
        let own = environment.beginning_with(OWN_VARIABLES);
        let own = own.map(|(name, value)| (name.clone(), value.clone()));
        // maenifold's data is below the home folder by default.
        let home = environment.get("HOME").map(|home| ("HOME".into(), home.clone()));
        Ok(Program { variables: own.chain(home).collect(), file })
    }

    /// Calls a tool and returns its output. At the time limit, kills the program and all processes that it started.
    pub fn call(&self, tool: Tool, payload: &Value, until: Instant) -> Result<Vec<u8>, CallError> {
        for place in PLACES {
            let value = self.variables.iter().find(|(name, _)| name == place);
            if let Some(path) = value.map(|(_, value)| Path::new(value))
                && !path.as_os_str().is_empty()
                && !path.is_absolute()
            {
                return Err(CallError::Root(place, path.to_path_buf()));
            }
        }
        let mut command = Command::new(&self.file);
        command.args(["--tool", tool.name(), "--payload", &payload.to_string(), "--json"]);
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(OWN_VARIABLES.as_bytes())
                || UNWELCOME.iter().any(|unwelcome| name == *unwelcome)
            {
                command.env_remove(name);
            }
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        let limits = Limits { until, max_bytes: MAX_ANSWER_BYTES, leftovers: Leftovers::Kill };
        Ok(run::run(command, None, limits)?)
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::thread;
    use std::time::Duration;
    use tempfile::TempDir;

    /// A folder with a script that plays maenifold.
    fn folder(script: &str) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        install(&folder.path().join(NAME), script);
        folder
    }

    fn install(file: &Path, script: &str) {
        let text = file.with_extension("text");
        fs::write(&text, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&text, fs::Permissions::from_mode(0o755)).unwrap();
        // A separate process copies the file: a process that a parallel test starts could inherit our open file, and
        // a file that is open for writing cannot be executed.
        assert!(Command::new("/bin/cp").arg("-p").arg(&text).arg(file).status().unwrap().success());
    }

    fn environment(variables: &[(&str, &str)]) -> Environment {
        variables.iter().map(|&(name, value)| (name.into(), value.into())).collect()
    }

    fn program(folder: &TempDir, variables: &[(&str, &str)]) -> Program {
        let environment =
            environment(variables).with(VARIABLE, folder.path().join(NAME).to_str().unwrap());
        Program::find(&environment).unwrap()
    }

    fn soon(milliseconds: u64) -> Instant {
        Instant::now() + Duration::from_millis(milliseconds)
    }

    fn said(script: &str) -> Result<Vec<u8>, CallError> {
        program(&folder(script), &[]).call(Tool::RecentActivity, &json!({}), soon(5_000))
    }

    /// Whether a process with this id exists, dead or alive.
    fn is_there(pid: &str) -> bool {
        Command::new("/bin/sh")
            .args(["-c", &format!("kill -0 {pid} 2>/dev/null")])
            .status()
            .unwrap()
            .success()
    }

    #[test]
    fn the_program_is_where_it_is_said_to_be_or_where_it_usually_is() {
        let (named, on_path, home) = (folder(""), folder(""), tempfile::tempdir().unwrap());
        fs::create_dir_all(home.path().join("maenifold/bin")).unwrap();
        install(&home.path().join("maenifold/bin").join(NAME), "");
        let name = named.path().join(NAME);
        let path = on_path.path().to_str().unwrap();
        let home = home.path().to_str().unwrap();
        let all = environment(&[("PATH", path), ("HOME", home)]);
        let file =
            |environment: &Environment| Program::find(environment).map(|program| program.file);
        let with_name = all.clone().with(VARIABLE, name.to_str().unwrap());
        assert_eq!(file(&with_name), Ok(name));
        assert_eq!(file(&all), Ok(on_path.path().join(NAME)));
        let at_home = environment(&[("PATH", "/none"), ("HOME", home)]);
        assert_eq!(file(&at_home), Ok(Path::new(home).join("maenifold/bin").join(NAME)));
        let nowhere = "no maenifold on the PATH, and none in ~/maenifold/bin".to_owned();
        assert_eq!(file(&environment(&[("PATH", "/none")])), Err(nowhere));
        // A named program that does not exist is an error, even if there are others.
        let missing = file(&all.with(VARIABLE, "/none/maenifold")).unwrap_err();
        assert_eq!(missing, "KGCTX_MAENIFOLD_BIN is /none/maenifold, which is not a program");
    }

    #[test]
    fn the_program_is_given_its_arguments_to_the_letter() {
        let folder = folder("printf '%s\\0' \"$@\"");
        let query = "a'b\"c\nd $(touch x) `y` \\ é 🦀 --mcp";
        let payload = json!({ "query": query });
        let said = program(&folder, &[]).call(Tool::SearchMemories, &payload, soon(5_000)).unwrap();
        let said = String::from_utf8(said).unwrap();
        let arguments: Vec<&str> = said.split_terminator('\0').collect();
        assert_eq!(arguments[..3], ["--tool", "SearchMemories", "--payload"]);
        assert_eq!(serde_json::from_str::<Value>(arguments[3]).unwrap(), payload);
        assert_eq!(arguments[4..], ["--json"]);
    }

    #[test]
    fn the_environment_is_ours_but_for_maenifolds_own_variables() {
        const AGAIN: &str = "KGCTX_TEST_OF_ENVIRONMENT";
        if std::env::var_os(AGAIN).is_none() {
            // The environment of a process with threads must not change, so this test runs again in another process.
            let module = module_path!().trim_start_matches("kgctx::");
            let name = "the_environment_is_ours_but_for_maenifolds_own_variables";
            let test = format!("{module}::{name}");
            let mut again = Command::new(std::env::current_exe().unwrap());
            again.args([test.as_str(), "--exact"]).env(AGAIN, "1");
            again.envs([("CI", "true"), ("GITHUB_ACTIONS", "true"), ("MAENIFOLD_OLD", "1")]);
            let output = again.output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && said.contains("1 passed"), "{said}");
            return;
        }
        let folder = folder("env");
        let variables = [("MAENIFOLD_ROOT", "/data"), ("HOME", "/home/ada"), ("OTHER", "x")];
        let program = program(&folder, &variables);
        let said = program.call(Tool::BuildContext, &json!({}), soon(5_000)).unwrap();
        let said = String::from_utf8(said).unwrap();
        let has = |start: &str| said.lines().any(|line| line.starts_with(start));
        assert!(has("MAENIFOLD_ROOT=/data") && has("HOME=/home/ada"), "{said}");
        assert!(has("KGCTX_TEST_OF_ENVIRONMENT=1") && has("PATH="), "{said}");
        for gone in ["CI=", "GITHUB_ACTIONS=", "MAENIFOLD_OLD=", "OTHER="] {
            assert!(!has(gone), "{gone}: {said}");
        }
    }

    #[test]
    fn a_place_that_depends_on_where_we_stand_is_refused() {
        let folder = folder("touch \"$(dirname \"$0\")/started\"");
        for name in PLACES {
            let program = program(&folder, &[(name, "~/maenifold")]);
            let refused =
                program.call(Tool::BuildContext, &json!({}), soon(5_000)).unwrap_err().to_string();
            assert!(refused.starts_with(&format!("{name} is ~/maenifold, which")), "{refused}");
        }
        assert!(!folder.path().join("started").exists());
    }

    #[test]
    fn what_goes_wrong_is_a_value() {
        assert_eq!(said("echo found").unwrap(), b"found\n");
        assert_eq!(
            said("exit 134").unwrap_err().to_string(),
            "maenifold crashed with exit status: 134"
        );
        assert!(matches!(said("kill -ABRT $$"), Err(CallError::Run(RunError::Failed(_)))));
        let folder = folder("");
        let program = program(&folder, &[]);
        fs::remove_file(&program.file).unwrap();
        let gone = program.call(Tool::BuildContext, &json!({}), soon(5_000));
        assert!(matches!(gone, Err(CallError::Run(RunError::Start(_)))));
    }

    #[test]
    fn much_on_standard_error_does_not_block() {
        assert_eq!(said("head -c 3000000 /dev/zero >&2; echo done").unwrap(), b"done\n");
    }

    #[test]
    fn an_answer_of_a_hundred_megabytes_is_not_waited_for() {
        let folder = folder("echo $$ > \"$(dirname \"$0\")/pid\"; cat /dev/zero");
        let started = Instant::now();
        let long =
            program(&folder, &[]).call(Tool::SearchMemories, &json!({}), soon(30_000)).unwrap_err();
        assert_eq!(long.to_string(), "maenifold's answer is longer than 1024 KiB");
        assert!(started.elapsed() < Duration::from_secs(10));
        let pid = fs::read_to_string(folder.path().join("pid")).unwrap();
        assert!(!is_there(pid.trim()));
        let just = said("head -c 1048576 /dev/zero").unwrap();
        assert_eq!(just.len() as u64, MAX_ANSWER_BYTES);
    }

    #[test]
    fn when_time_is_up_nobody_is_left() {
        let pids = "d=$(dirname \"$0\"); echo $$ > $d/self";
        for (name, script) in [
            ("it hangs", "exec sleep 60"),
            ("it drips", "while :; do echo x; sleep 0.02; done"),
            ("its child holds the pipe", "sleep 60 & echo $! > $d/child; wait"),
            ("it leaves a child that holds the pipe", "sleep 60 & echo $! > $d/child; exit 0"),
            ("it will not be asked to end", "trap '' TERM INT HUP; sleep 60 & wait; sleep 60"),
        ] {
            let folder = folder(&format!("{pids}; {script}"));
            let program = program(&folder, &[]);
            let started = Instant::now();
            let late = program.call(Tool::RecentActivity, &json!({}), soon(300)).unwrap_err();
            assert!(matches!(late, CallError::Run(RunError::Late(_))), "{name}: {late}");
            assert!(started.elapsed() < Duration::from_secs(5), "{name}");
            // init may need a moment to reap orphans.
            thread::sleep(Duration::from_millis(200));
            let own = fs::read_to_string(folder.path().join("self")).unwrap();
            assert!(!is_there(own.trim()), "{name}: it is still there");
            if let Ok(child) = fs::read_to_string(folder.path().join("child")) {
                assert!(!is_running(child.trim()), "{name}: its child is still there");
            }
        }
    }

    /// Whether a process that is not our child runs: if orphans are not reaped, a dead one stays listed.
    fn is_running(pid: &str) -> bool {
        let status = fs::read_to_string(format!("/proc/{pid}/stat"));
        status.map_or_else(|_| is_there(pid), |stat| !stat.contains(") Z "))
    }

    #[test]
    fn a_fast_program_is_not_slowed() {
        let folder = folder("echo fast");
        let program = program(&folder, &[]);
        let best = (0..5)
            .map(|_| {
                let started = Instant::now();
                program.call(Tool::RecentActivity, &json!({}), soon(5_000)).unwrap();
                started.elapsed()
            })
            .min();
        assert!(best.unwrap() < Duration::from_millis(100), "{best:?}");
    }
}
