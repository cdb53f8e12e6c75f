//! One throw-away machine for OpenCode: a home, a project with notes, a model that is none, and the real `kgctx`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::found::Version;
use super::pool::Slot;
use super::provider::Provider;
use super::until;
use crate::support::{Scratch, atlas, git};

/// A machine on which OpenCode was never run before.
pub(crate) struct Lab {
    pub(crate) version: Version,
    pub(crate) provider: Provider,
    pub(crate) password: Option<String>,
    plugins: Vec<PathBuf>,
    environment: Vec<(String, String)>,
    scratch: Scratch,
    _slot: Slot,
}

/// Writes a program.
pub(crate) fn executable(file: &Path, text: &str) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
}

impl Lab {
    /// A machine with this OpenCode, without plugins and without a password.
    pub(crate) fn new(version: Version) -> Lab {
        let slot = Slot::take();
        let scratch = atlas();
        let lab = Lab {
            version,
            provider: Provider::start(),
            password: None,
            plugins: Vec::new(),
            environment: Vec::new(),
            scratch,
            _slot: slot,
        };
        git(&lab.project(), &["init", "--quiet"]);
        git(&lab.project(), &["add", "."]);
        git(&lab.project(), &["commit", "--quiet", "--message", "The notes"]);
        // With these two OpenCode takes its own plugin package for installed, and does not fetch 63 MB.
        let installed = json!({"lockfileVersion": 3, "packages": {"": {"dependencies":
            {"@opencode-ai/plugin": version.number()}}}});
        fs::create_dir_all(lab.config().join("node_modules")).unwrap();
        fs::write(lab.config().join("package-lock.json"), installed.to_string()).unwrap();
        // Nor does it look for a search program in the world where one is found.
        executable(&lab.path().join("bin/rg"), "#!/bin/sh\nexit 1\n");
        lab
    }

    /// Loads a plugin by its path.
    pub(crate) fn plugin(mut self, file: impl Into<PathBuf>) -> Lab {
        self.plugins.push(file.into());
        self
    }

    /// Sets a variable of OpenCode's environment.
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<Path>) -> Lab {
        let value = value.as_ref().to_str().unwrap().to_string();
        self.environment.push((name.to_string(), value));
        self
    }

    /// Writes down what `kgctx` is asked.
    pub(crate) fn recorded(self) -> Lab {
        // By this name it is a shell, and OpenCode behind it the host.
        let recorder = self.path().join("recorder/sh");
        let kgctx = env!("CARGO_BIN_EXE_kgctx");
        let heard = self.path().join("heard.jsonl");
        executable(
            &recorder,
            &format!("#!/bin/sh\ntee -a '{}' | '{kgctx}' \"$@\"\n", heard.display()),
        );
        self.env("KGCTX_BIN", recorder)
    }

    /// What a recorded `kgctx` was asked until now.
    pub(crate) fn questions(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.path().join("heard.jsonl")).unwrap_or_default();
        serde_json::Deserializer::from_str(&text).into_iter().map_while(Result::ok).collect()
    }

    /// Protects the server with a password.
    pub(crate) fn password(mut self, password: &str) -> Lab {
        self.password = Some(password.to_string());
        self
    }

    /// The folder that holds all of it.
    pub(crate) fn path(&self) -> PathBuf {
        self.scratch.path()
    }

    /// The project.
    pub(crate) fn project(&self) -> PathBuf {
        self.path().join("atlas")
    }

    /// The user's configuration of OpenCode.
    pub(crate) fn config(&self) -> PathBuf {
        self.path().join("config/opencode")
    }

    /// What OpenCode wrote into its log, of all runs on this machine.
    pub(crate) fn log(&self) -> String {
        let folder = self.path().join("data/opencode/log");
        let files = fs::read_dir(folder).into_iter().flatten().flatten();
        files.map(|file| fs::read_to_string(file.path()).unwrap()).collect()
    }

    /// A program, about to run in the project as OpenCode would: with this machine's environment and no other.
    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        self.configure();
        let place = self.path();
        let mut path = place.join("bin").into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let mut command = Command::new(program.as_ref());
        command.current_dir(self.project()).env_clear().stdin(Stdio::null());
        command
            .env("PATH", path)
            .env("LANG", "C.UTF-8")
            .env("HOME", self.scratch.home())
            // OpenCode takes the project from here, not from where it is started.
            .env("PWD", self.project())
            .env("XDG_CONFIG_HOME", place.join("config"))
            .env("XDG_DATA_HOME", place.join("data"))
            .env("XDG_CACHE_HOME", place.join("cache"))
            .env("XDG_STATE_HOME", place.join("state"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("OPENCODE_DISABLE_MODELS_FETCH", "1")
            .env("OPENCODE_DISABLE_AUTOUPDATE", "1")
            .env("KGCTX_HOME", place.join("kgctx-home"))
            .env("KGCTX_BIN", env!("CARGO_BIN_EXE_kgctx"));
        if let Some(password) = &self.password {
            command.env("OPENCODE_SERVER_PASSWORD", password);
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs `opencode run` with a prompt, and returns what it printed.
    pub(crate) fn run(&self, prompt: &str, arguments: &[&str]) -> String {
        let file = self.path().join("run.txt");
        let output = fs::File::create(&file).unwrap();
        let began = Instant::now();
        let mut child = self
            .command(self.version.program())
            .arg("run")
            .args(arguments)
            .arg(prompt)
            .stdout(output.try_clone().unwrap())
            .stderr(output)
            .spawn()
            .unwrap();
        let ended = || {
            // A minute is the patience of `until`; what still runs then is stopped, and the test fails.
            if began.elapsed() > Duration::from_secs(55) {
                child.kill().unwrap();
            }
            child.try_wait().unwrap()
        };
        let status = until("opencode run", ended);
        let output = fs::read_to_string(&file).unwrap();
        assert!(status.success(), "{status}: {output}");
        output
    }

    fn configure(&self) {
        let model =
            |name: &str| json!({"name": name, "limit": {"context": 100_000, "output": 4096}});
        let config = json!({
            "model": "mock/m1", "small_model": "mock/small", "enabled_providers": ["mock"],
            "autoupdate": false, "share": "disabled", "snapshot": false, "plugin": self.plugins,
            "provider": {"mock": {
                "npm": "@ai-sdk/openai-compatible", "name": "Mock",
                "options": {"baseURL": self.provider.url(), "apiKey": "x"},
                "models": {"m1": model("m1"), "m2": model("m2"), "small": model("small")},
            }},
        });
        // Once: OpenCode may be reading it while somebody types into its window.
        let file = self.config().join("opencode.json");
        if !file.exists() {
            fs::write(file, config.to_string()).unwrap();
        }
    }
}
