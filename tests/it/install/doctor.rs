//! `kgctx doctor`: every part of a set-up, broken on purpose, is named with the way out.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Scratch, git, stderr, valid};

const BRIDGE: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/bridges/opencode/kgctx.ts"));
const VERSION: &str = env!("CARGO_PKG_VERSION");
const FILE: &str = "home/.config/opencode/plugin/kgctx.ts";

/// A set-up in which all is well.
struct Setup {
    scratch: Scratch,
}

impl Setup {
    fn new() -> Setup {
        let setup = Setup { scratch: Scratch::new() };
        let scratch = &setup.scratch;
        scratch.write("app/docs/a.md", "# App\n\nThe app has a [[Mast]] and a [[Sail]].\n");
        git(&scratch.path().join("app"), &["init", "-q"]);
        setup.program("opencode", "echo 1.18.33");
        symlink(env!("CARGO_BIN_EXE_kgctx"), scratch.path().join("bin/kgctx")).unwrap();
        scratch.write(FILE, BRIDGE);
        setup
    }

    fn program(&self, name: &str, script: &str) {
        let file = self.scratch.write(&format!("bin/{name}"), format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn command(&self, more: &[&str]) -> Command {
        let mut command = self.scratch.kgctx([&["--dir", "app", "doctor"], more].concat());
        let bin = self.scratch.path().join("bin");
        command.env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
        command
    }

    /// Exit code and answer, which is what its schema says.
    fn with(&self, variables: &[(&str, &str)]) -> (i32, Value) {
        let output = self.command(&["--json"]).envs(variables.iter().copied()).output().unwrap();
        let answer = serde_json::from_slice(&output.stdout).unwrap();
        valid("doctor", &answer);
        let code = output.status.code().unwrap();
        assert_eq!(answer["ok"], code == 0, "{answer:#}");
        (code, answer)
    }

    /// The one check of that name that is not ok, if `verdict` is not.
    #[track_caller]
    fn check(&self, variables: &[(&str, &str)], name: &str, verdict: &str, parts: &[&str]) {
        let (code, answer) = self.with(variables);
        let checks = answer["checks"].as_array().unwrap();
        let found = checks.iter().find(|check| {
            let text = format!("{} {}", check["found"], check["wayOut"]);
            check["name"] == name
                && check["verdict"] == verdict
                && parts.iter().all(|part| text.contains(part))
        });
        assert!(found.is_some(), "no {verdict} {name} with {parts:?} in {answer:#}");
        if verdict == "fail" {
            assert_eq!(code, 1);
        }
        for check in checks {
            assert_eq!(check["wayOut"].is_null(), check["verdict"] == "ok", "{check:#}");
        }
    }
}

/// Hides what differs from run to run.
fn short(scratch: &Scratch, text: &str) -> String {
    let text = text.replace(env!("CARGO_BIN_EXE_kgctx"), "target/kgctx");
    let text = text.replace(VERSION, "VERSION");
    let text = text.replace(&format!("{}/", scratch.path().display()), "");
    let time = |line: &str| match line.split_once(" tokens in ") {
        Some((before, after)) => {
            let after = after.trim_start_matches(|c: char| c.is_ascii_digit());
            format!("{before} tokens in N{after}\n")
        }
        None => format!("{line}\n"),
    };
    text.lines().map(time).collect()
}

#[test]
fn a_good_set_up_is_all_well() {
    let setup = Setup::new();
    let output = setup.command(&[]).output().unwrap();
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
    let said = short(&setup.scratch, &String::from_utf8(output.stdout).unwrap());
    insta::assert_snapshot!(said, @"
    ok    kgctx      VERSION, target/kgctx
    ok    program    OpenCode starts bin/kgctx, from PATH
    ok    settings   readable, project app, 4,000 tokens
    ok    enabled    sessions get context
    ok    vaults     1 folder: app/docs (a usual place)
    ok    index      none yet; the first context creates it
    ok    state      none yet; the first context creates it
    ok    context    163 of 4,000 tokens in N ms
    ok    opencode   1.18.33, bin/opencode
    ok    plugin     VERSION, home/.config/opencode/plugin/kgctx.ts
    ok    plugins    OpenCode may load them
    ok    claude     not installed, not set up
    ok    amplifier  not installed, not set up
    ok    service    not running; only OpenCode servers without the plugin need it

    Everything works.
    ");
    let (code, answer) = setup.with(&[]);
    assert_eq!(code, 0);
    assert!(answer["checks"].as_array().unwrap().iter().all(|check| check["verdict"] == "ok"));
}

#[test]
fn a_new_users_set_up_says_what_to_do() {
    let scratch = Scratch::new();
    fs::create_dir_all(scratch.path().join("app/.kgctx")).unwrap();
    let mut command = scratch.kgctx(["--dir", "app", "doctor"]);
    let output = command.env("PATH", "/none").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stdout.clone()).unwrap() + &stderr(&output);
    insta::assert_snapshot!(short(&scratch, &said), @"
    ok    kgctx      VERSION, target/kgctx
    ok    settings   readable, project app, 4,000 tokens
    ok    enabled    sessions get context
    FAIL  vaults     no folder of notes found for project app: neither ~/maenifold/memory, nor docs, adr or another usual place in the project
                     write markdown into docs, or name a folder with `kgctx vault add FOLDER` or --vault
    ok    state      none yet; the first context creates it
    warn  hosts      no host is set up, so sessions get no context automatically
                     run `kgctx install opencode` or `kgctx install claude-code` or `kgctx install amplifier`
    ok    opencode   not installed, not set up
    ok    claude     not installed, not set up
    ok    amplifier  not installed, not set up
    ok    service    not running; only OpenCode servers without the plugin need it

    Fix what failed, and run `kgctx doctor` again.
    kgctx: 1 of 10 checks failed
    ");
}

#[test]
fn nothing_is_written_but_the_index() {
    let setup = Setup::new();
    setup.with(&[]);
    let kept: Vec<_> = fs::read_dir(setup.scratch.path().join("kgctx-home"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(kept, ["cache"]);
    setup.check(&[], "state", "ok", &["none yet"]);
    setup.scratch.run(["--dir", "app", "inject", "--session", "s", "--dry-run"]);
    setup.check(&[], "state", "ok", &["1 receipt"]);
    setup.check(&[], "state", "ok", &["1 receipt"]);
}

#[test]
fn the_program_that_opencode_starts_is_looked_at() {
    let setup = Setup::new();
    let this = env!("CARGO_BIN_EXE_kgctx");
    setup.check(&[("KGCTX_BIN", this)], "program", "ok", &["from KGCTX_BIN"]);
    setup.check(&[("KGCTX_BIN", "/none")], "program", "fail", &["/none", "KGCTX_BIN="]);
    let bin = setup.scratch.path().join("bin/kgctx");
    fs::remove_file(&bin).unwrap();
    setup.check(&[], "program", "fail", &["PATH", this]);
    setup.program("kgctx", "echo kgctx 0.0.1");
    setup.check(&[], "program", "warn", &["bin/kgctx", "0.0.1", "update it"]);
    setup.program("kgctx", "exit 7");
    setup.check(&[], "program", "fail", &["bin/kgctx", "it ended with code 7"]);
    setup.program("kgctx", "exec sleep 20");
    let started = Instant::now();
    setup.check(&[], "program", "fail", &["did not answer within 5 s"]);
    assert!(started.elapsed() < Duration::from_secs(15));
}

#[test]
fn every_wrong_setting_is_named_and_the_rest_is_still_checked() {
    let setup = Setup::new();
    setup.scratch.write("kgctx-home/config.toml", "token_limit = \"x\"\n");
    setup.scratch.write("app/kgctx.toml", "links = 7\n");
    let wrong = [("TOKEN_LIMIT", "many"), ("CLI_TIMEOUT", "soon")];
    for part in ["config.toml:1:15", "kgctx.toml:1:9", "TOKEN_LIMIT=", "CLI_TIMEOUT="] {
        setup.check(&wrong, "settings", "fail", &[part]);
    }
    // Sessions get context nevertheless, as if the wrong ones were not there.
    setup.check(&wrong, "context", "ok", &["of 4,000 tokens"]);
    setup.check(&wrong, "plugin", "ok", &[VERSION]);
    setup.check(&wrong, "opencode", "ok", &["1.18.33"]);
}

#[test]
fn what_is_switched_off_is_named() {
    let setup = Setup::new();
    setup.check(&[("SESSION_START_ENABLED", "0")], "enabled", "warn", &["SESSION_START_ENABLED"]);
    setup.scratch.write("app/kgctx.toml", "enabled = false\n");
    setup.check(&[], "enabled", "warn", &["app/kgctx.toml"]);
    let (_, answer) = setup.with(&[]);
    assert!(!answer.to_string().contains("\"context\""), "{answer:#}");
    setup.check(&[("OPENCODE_PURE", "1")], "plugins", "warn", &["OPENCODE_PURE=1", "unset"]);
    setup.check(&[("OPENCODE_PURE", "0")], "plugins", "ok", &[]);
}

#[test]
fn vaults_index_and_state_are_looked_at() {
    let setup = Setup::new();
    let scratch = &setup.scratch;
    setup.check(&[], "index", "ok", &["none yet"]);
    // A note that is read within the clock's tick of its change is read again.
    let settle = || thread::sleep(Duration::from_millis(50));
    settle();
    scratch.run(["--dir", "app", "index"]);
    setup.check(&[], "index", "ok", &["1 note, up to date"]);
    scratch.write("app/docs/b.md", "# B\n");
    settle();
    setup.check(&[], "index", "ok", &["1 note, out of date"]);
    scratch.run(["--dir", "app", "index"]);
    setup.check(&[], "index", "ok", &["2 notes, up to date"]);

    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n";
    scratch.write("app/docs/large.md", pointer);
    settle();
    scratch.run(["--dir", "app", "index"]);
    setup.check(&[], "index", "ok", &["3 notes, up to date"]);
    setup.check(&[], "index", "warn", &["1 Git LFS pointer in place", "`git lfs pull`"]);

    scratch.write("kgctx-home/config.toml", "[[vault]]\npath = \"/none/notes\"\n");
    setup.check(&[], "vaults", "ok", &["1 folder"]);
    setup.check(&[], "vaults", "warn", &["no such vault: /none/notes", "create that folder"]);
    setup.check(&[("KGCTX_VAULTS", "/none/x")], "vaults", "fail", &["/none/x"]);
    fs::remove_file(scratch.path().join("kgctx-home/config.toml")).unwrap();

    let stores = scratch.path().join("kgctx-home/cache/index");
    for store in fs::read_dir(stores).unwrap().flatten() {
        fs::write(store.path().join("index.db"), "no database at all".repeat(99)).unwrap();
    }
    setup.check(&[], "index", "warn", &["not an index of kgctx", "kgctx index --full"]);
    scratch.write("kgctx-home/state/state.db", "no database at all".repeat(99));
    setup.check(&[], "state", "warn", &["state.db"]);

    scratch.write("empty/docs/a.md", "");
    let empty = scratch.path().join("empty/docs");
    let variables = [("KGCTX_VAULTS", empty.to_str().unwrap())];
    setup.check(&variables, "vaults", "ok", &["empty/docs"]);
}

#[test]
fn opencodes_version_is_judged() {
    let setup = Setup::new();
    let says = |script: &str, verdict: &str, parts: &[&str]| {
        setup.program("opencode", script);
        setup.check(&[], "opencode", verdict, parts);
    };
    says("echo 1.15.13", "ok", &["1.15.13"]);
    says("echo 1.15.12", "warn", &["older", "1.15.13 to 1.18.33"]);
    says("echo 1.2.27", "warn", &["older"]);
    says("echo 1.18.34", "ok", &["newer than the tested versions"]);
    says("echo 2.0.0", "warn", &["may not work as in OpenCode 1"]);
    says("echo hello", "warn", &["not a version"]);
    says("exit 1", "warn", &["it ended with code 1"]);
    says("echo \"1.16.$OPENCODE_DISABLE_AUTOUPDATE\"", "ok", &["1.16.1"]);
    fs::remove_file(setup.scratch.path().join("bin/opencode")).unwrap();
    setup.check(&[], "opencode", "warn", &["opencode is not found", "OPENCODE_BIN"]);
    setup.program("oc", "echo 1.18.0");
    let named = setup.scratch.path().join("bin/oc");
    setup.check(
        &[("OPENCODE_BIN", named.to_str().unwrap())],
        "opencode",
        "ok",
        &["1.18.0", "bin/oc"],
    );
}

#[test]
fn the_plugin_is_there_once_and_of_this_version() {
    let setup = Setup::new();
    let scratch = &setup.scratch;
    scratch.write(FILE, format!("{BRIDGE}\n// mine\n"));
    setup.check(&[], "plugin", "warn", &[": edited", "kgctx install opencode"]);
    scratch.write(FILE, BRIDGE.replace(VERSION, "0.0.9"));
    setup.check(&[], "plugin", "warn", &["0.0.9", &format!("this is kgctx {VERSION}")]);
    scratch.write(FILE, "export const Mine = 1\n");
    setup.check(&[], "plugin", "warn", &["not from kgctx"]);
    setup.check(&[], "plugin", "fail", &["no kgctx plugin", "run `kgctx install opencode`"]);
    fs::remove_file(scratch.path().join(FILE)).unwrap();
    setup.check(&[], "plugin", "fail", &["no kgctx plugin", "run `kgctx install opencode`"]);

    // Wherever OpenCode looks, we do.
    let elsewhere = scratch.path().join("elsewhere");
    let variables = [("OPENCODE_CONFIG_DIR", elsewhere.to_str().unwrap())];
    for place in [
        "home/.config/opencode/plugins/kgctx.ts",
        "home/.opencode/plugin/kgctx.ts",
        "app/.opencode/plugin/kgctx.ts",
        "app/.opencode/plugins/kgctx.ts",
        "elsewhere/plugin/kgctx.ts",
    ] {
        let file = scratch.write(place, BRIDGE);
        setup.check(&variables, "plugin", "ok", &[VERSION, place]);
        fs::remove_file(file).unwrap();
    }
    // Not above the working tree.
    scratch.write(".opencode/plugin/kgctx.ts", BRIDGE);
    setup.check(&[], "plugin", "fail", &["no kgctx plugin"]);

    scratch.write(FILE, BRIDGE);
    scratch.write("app/.opencode/plugin/kgctx.ts", BRIDGE);
    setup.check(&[], "plugin", "warn", &["2 times", "--project"]);
}

#[test]
fn plugins_that_a_configuration_names_are_found() {
    let setup = Setup::new();
    let scratch = &setup.scratch;
    fs::remove_file(scratch.path().join(FILE)).unwrap();
    let commented = "{ // mine\n \"plugin\": [\"other\", [\"opencode-kgctx@0.1.0\", {}],], }";
    for place in [
        "app/opencode.jsonc",
        "app/.opencode/opencode.json",
        "home/.config/opencode/opencode.jsonc",
    ] {
        let file = scratch.write(place, commented);
        setup.check(&[], "plugin", "ok", &["opencode-kgctx@0.1.0", place]);
        fs::remove_file(file).unwrap();
    }
    scratch.write("tools/kgctx.ts", BRIDGE);
    let named = scratch.write("app/opencode.json", "{\"plugin\": [\"../tools/kgctx.ts\"]}");
    setup.check(&[], "plugin", "ok", &["tools/kgctx.ts"]);
    // The same file, found twice, is one.
    scratch.write("app/.opencode/plugin/kgctx.ts", BRIDGE);
    scratch.write("app/opencode.json", "{\"plugin\": [\"./.opencode/plugin/kgctx.ts\"]}");
    let (_, answer) = setup.with(&[]);
    assert!(!answer.to_string().contains("times"), "{answer:#}");
    scratch.write("app/opencode.json", "{\"plugin\": [\"./gone/kgctx.ts\"]}");
    setup.check(&[], "plugin", "warn", &["gone/kgctx.ts"]);
    for broken in ["{ \"plugin\": oops }", "", "// nothing\n"] {
        fs::write(&named, broken).unwrap();
        let parts = ["cannot parse", "app/opencode.json", "fix it"];
        setup.check(&[], "plugin", "warn", &parts);
    }
}

/// A server that answers every request so, and keeps what it was asked.
fn server(answer: &'static str) -> (String, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, asked) = mpsc::channel();
    thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let mut request = [0; 4096];
            let n = connection.read(&mut request).unwrap();
            let _ = sender.send(String::from_utf8_lossy(&request[..n]).into_owned());
            if answer.is_empty() {
                thread::sleep(Duration::from_secs(20));
            }
            let _ = connection.write_all(answer.as_bytes());
        }
    });
    (url, asked)
}

#[test]
fn a_server_is_asked_only_where_one_is_named() {
    let setup = Setup::new();
    let (_, answer) = setup.with(&[]);
    assert!(!answer.to_string().contains("\"server\""), "{answer:#}");
    let well = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n\
                {\"healthy\":true,\"version\":\"1.18.33\"}";
    let (url, asked) = server(well);
    let secret = [("KGCTX_SERVERS", url.as_str()), ("OPENCODE_SERVER_PASSWORD", "pw")];
    setup.check(&secret, "server", "ok", &["OpenCode 1.18.33", &url]);
    let request = asked.recv().unwrap();
    assert!(request.starts_with("GET /global/health HTTP/1.1\r\n"), "{request}");
    assert!(request.contains("Basic b3BlbmNvZGU6cHc="), "{request}");

    // The flag goes before the settings.
    let output = setup.command(&["--json", "--server", "http://me:s3cret@127.0.0.1:1"]);
    let output = { output }.env("KGCTX_SERVERS", &url).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("no OpenCode server at http://127.0.0.1:1") && !said.contains("s3cret"));
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn what_is_wrong_with_a_server_is_told_with_the_way_out() {
    let setup = Setup::new();
    for (answer, parts) in [
        (
            "HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n",
            &["password", "OPENCODE_SERVER_PASSWORD"][..],
        ),
        (
            "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 6\r\n\r\n<html>",
            &["text/html instead of OpenCode's API", "check host, port"],
        ),
        (
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n\
             {\"healthy\":false}",
            &["unhealthy", "restart it"],
        ),
        ("", &["did not answer within 2s", "try again"]),
    ] {
        let (url, _asked) = server(answer);
        setup.check(&[("KGCTX_SERVERS", &url)], "server", "fail", parts);
    }
    setup.check(&[("KGCTX_SERVERS", "https://h")], "server", "fail", &["plain http", "tunnel"]);
    setup.check(&[("KGCTX_SERVERS", "h")], "server", "fail", &["http://127.0.0.1:4096"]);
}

#[test]
fn a_service_is_asked_how_it_is() {
    let setup = Setup::new();
    let mut service = setup.scratch.kgctx(["serve", "--server", "http://127.0.0.1:1"]);
    let mut service = service.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(service.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("listening on "), "{line}");
    setup.check(&[], "service", "warn", &["it runs, but no OpenCode server at", "service.log"]);
    service.kill().unwrap();
    service.wait().unwrap();
    setup.check(&[], "service", "ok", &["not running"]);
}

/// A machine on which Claude Code is the only host.
fn with_claude_code() -> Setup {
    let setup = Setup::new();
    fs::remove_file(setup.scratch.path().join(FILE)).unwrap();
    fs::remove_file(setup.scratch.path().join("bin/opencode")).unwrap();
    setup.program("claude", "echo '2.1.325 (Claude Code)'");
    setup
}

fn install_claude_code(setup: &Setup, more: &[&str]) {
    let install = [&["--dir", "app", "install", "claude-code"], more].concat();
    let mut install = setup.scratch.kgctx(install);
    let output = install.env("PATH", setup.scratch.path().join("bin")).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// The checks of that name.
fn named(answer: &Value, name: &str) -> Vec<Value> {
    let checks = answer["checks"].as_array().unwrap().iter();
    checks.filter(|check| check["name"] == name).cloned().collect()
}

#[test]
fn claude_codes_settings_are_looked_at() {
    let setup = with_claude_code();
    let file = "home/.claude/settings.json";
    setup.scratch.write(file, "{}");
    install_claude_code(&setup, &[]);
    setup.check(&[], "claude", "ok", &["home/.claude/settings.json runs kgctx"]);
    setup.check(&[], "claude", "ok", &["2.1.325 (Claude Code)", "bin/claude"]);

    let installed = fs::read_to_string(setup.scratch.path().join(file)).unwrap();
    setup.scratch.write(file, installed.replace("\"kgctx hook", "\"/none/kgctx hook"));
    setup.check(&[], "claude", "fail", &["runs /none/kgctx", "run `kgctx install claude-code`"]);
    setup.scratch.write(file, installed.replace("SessionEnd", "Stop"));
    setup.check(&[], "claude", "warn", &["no hook for SessionEnd"]);
    setup.scratch.write(file, "{}");
    setup.check(&[], "claude", "warn", &["has lost kgctx's hooks"]);
    setup.scratch.write(file, "{\n,}");
    setup.check(&[], "claude", "fail", &["line 2 column 1", "fix it"]);
}

#[test]
fn only_hosts_that_are_used_are_judged() {
    let setup = with_claude_code();
    fs::remove_file(setup.scratch.path().join("bin/claude")).unwrap();
    setup.check(&[], "hosts", "warn", &["no host is set up", "`kgctx install claude-code`"]);
    assert_eq!(setup.with(&[]).0, 0);

    // Installed, and no host is set up: the way out is to set it up.
    let setup = with_claude_code();
    setup.check(&[], "claude", "fail", &["no kgctx hooks", "run `kgctx install claude-code`"]);
    setup.scratch.write("home/.claude/settings.json", "{ not ours, and not our business");
    setup.check(&[], "claude", "fail", &["no kgctx hooks"]);
    fs::remove_file(setup.scratch.path().join("home/.claude/settings.json")).unwrap();

    // Set up: nothing else is asked for.
    install_claude_code(&setup, &[]);
    let (code, answer) = setup.with(&[]);
    assert_eq!(code, 0, "{answer:#}");
    assert!(!answer.to_string().contains("warn"), "{answer:#}");
    for name in ["program", "plugin", "plugins", "hosts"] {
        assert_eq!(named(&answer, name), Vec::<Value>::new());
    }
    let quiet = named(&answer, "opencode");
    assert_eq!((quiet.len(), &quiet[0]["found"]), (1, &"not installed, not set up".into()));

    // Another host that is merely installed is no problem either.
    setup.program("opencode", "echo 1.18.33");
    setup.check(&[], "opencode", "ok", &["bin/opencode, not set up", "kgctx install opencode"]);
    assert_eq!(setup.with(&[]).0, 0);
    // One that was set up and has lost its plugin is.
    let mut install = setup.scratch.kgctx(["--dir", "app", "install", "opencode"]);
    let output = install.env("PATH", setup.scratch.path().join("bin")).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    setup.check(&[], "plugin", "ok", &[VERSION]);
    fs::remove_file(setup.scratch.path().join(FILE)).unwrap();
    setup.check(&[], "plugin", "fail", &["no kgctx plugin"]);
}

#[test]
fn what_keeps_claude_code_from_running_hooks_is_a_failure() {
    let setup = with_claude_code();
    let scratch = &setup.scratch;
    install_claude_code(&setup, &[]);
    let (user, project, local) = (
        "home/.claude/settings.json",
        "app/.claude/settings.json",
        "app/.claude/settings.local.json",
    );
    let installed = fs::read_to_string(scratch.path().join(user)).unwrap();
    let switched = |switch: &str| installed.replacen('{', &format!("{{{switch},"), 1);

    // Whose switch counts was seen in Claude Code 2.1.138 and 2.1.325.
    let (on, off) = ("\"disableAllHooks\":true", "\"disableAllHooks\":false");
    let invalid = "\"disableAllHooks\":\"true\"";
    for (files, expected) in [
        (&[(user, switched(on))][..], Some(user)),
        (&[(project, format!("{{{on}}}"))], Some(project)),
        (&[(local, format!("{{{on}}}"))], Some(local)),
        (&[(user, switched(off)), (project, format!("{{{on}}}"))], Some(project)),
        (&[(user, switched(on)), (local, format!("{{{off}}}"))], None),
        // Claude Code ignores such a file.
        (&[(project, format!("{{{invalid}}}"))], None),
        (&[(user, switched(on)), (local, format!("{{{invalid}}}"))], Some(user)),
        (&[(user, switched("\"disableAllHooks\":null"))], None),
    ] {
        for (file, text) in files {
            scratch.write(file, text);
        }
        match expected {
            Some(file) => {
                setup.check(&[], "claude", "fail", &[file, "has disableAllHooks", "remove"])
            }
            None => assert_eq!(setup.with(&[]).0, 0, "{files:?}"),
        }
        scratch.write(user, &installed);
        for file in [project, local] {
            let _ = fs::remove_file(scratch.path().join(file));
        }
    }

    for switch in [invalid, "\"disableAllHooks\":1", "\"allowManagedHooksOnly\":[]"] {
        scratch.write(user, switched(switch));
        let name = switch.split('"').nth(1).unwrap();
        let says = [user, "neither true nor false", name, "ignores the file", "remove"];
        setup.check(&[], "claude", "fail", &says);
    }
    scratch.write(user, &installed);

    // Trust, for the folder or one around it.
    let app = scratch.path().join("app").canonicalize().unwrap();
    let trust = |folder: &std::path::Path, accepted: bool| {
        let projects =
            serde_json::json!({folder.to_str().unwrap(): {"hasTrustDialogAccepted": accepted}});
        scratch.write("home/.claude.json", serde_json::json!({"projects": projects}).to_string());
    };
    for (folder, accepted) in [(app.as_path(), true), (app.parent().unwrap(), true)] {
        trust(folder, accepted);
        assert_eq!(setup.with(&[]).0, 0, "{folder:?}");
    }
    for (folder, accepted) in [(app.join("docs").as_path(), true), (&app, false)] {
        trust(folder, accepted);
        setup.check(&[], "claude", "fail", &["does not trust", "app yet", "run `claude` there"]);
    }
    fs::remove_file(scratch.path().join("home/.claude.json")).unwrap();

    // Separate arguments, which older versions do not read.
    let exec = installed
        .replace("kgctx hook claude-code\"", "kgctx\",\"args\":[\"hook\",\"claude-code\"]");
    for (settings, version, is_understood) in [
        (&exec, "2.1.138", false),
        (&exec, "2.1.139", true),
        (&exec, "2.2.0", true),
        (&installed, "2.1.138", true),
    ] {
        scratch.write(user, settings);
        setup.program("claude", &format!("echo '{version} (Claude Code)'"));
        if is_understood {
            assert_eq!(setup.with(&[]).0, 0, "{version}");
        } else {
            let parts = [version, "form of the hooks", "run `kgctx install claude-code`"];
            setup.check(&[], "claude", "fail", &parts);
        }
    }
    // The way out works.
    scratch.write(user, &exec);
    setup.program("claude", "echo '2.1.138 (Claude Code)'");
    install_claude_code(&setup, &[]);
    assert_eq!(setup.with(&[]).0, 0);
}

#[test]
fn an_empty_context_is_not_blamed_on_notes_that_are_there() {
    let setup = Setup::new();
    let scratch = &setup.scratch;
    let old = scratch.path().join("app/docs/a.md");
    let day = Duration::from_secs(24 * 60 * 60);
    let long_ago = std::time::SystemTime::now() - 30 * day;
    fs::File::options().write(true).open(&old).unwrap().set_modified(long_ago).unwrap();
    let tiny = [("TOKEN_LIMIT", "20")];
    setup.check(&tiny, "context", "warn", &["empty, although the index has 1 note", "token_limit"]);
    assert!(!setup.with(&tiny).1.to_string().contains("no note"));
    fs::write(&old, "").unwrap();
    fs::remove_file(&old).unwrap();
    setup.check(
        &[],
        "context",
        "warn",
        &["there is no note in these folders", "kgctx vault add FOLDER"],
    );
}
