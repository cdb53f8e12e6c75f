//! The wrapper, without a terminal: which ends of an agent are followed by a new session, and what that is told. The agent is
//! a script that tells the hooks what Claude Code tells them. Its terminal is a matter of the tests on real hosts.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::support::handoff_lab::{KILL_AT, Lab};
use crate::support::rotation_lab::fake_tmux;
use crate::support::stderr;

/// Follows a plan, one line of shell per start.
const AGENT: &str = r#"#!/bin/sh
n=$(($(cat "$LAB/starts" 2>/dev/null || echo 0) + 1))
echo $n > "$LAB/starts"
for argument; do printf '%s\n' "$argument"; done > "$LAB/arguments-$n"
pwd > "$LAB/folder-$n"
session=s$n
transcript="$LAB/$session.jsonl"
status() { printf '{"sessionId":"%s","status":"%s"}' "$session" "$1" > "$HOME/.claude/sessions/$$.json"; }
tell() {
    printf '{"hook_event_name":"%s","session_id":"%s","cwd":"%s","transcript_path":"%s"%s}' \
        "$1" "$session" "$PWD" "$transcript" "$2" | CLAUDECODE=1 "$KGCTX" hook claude-code
}
said() {
    printf '{"type":"%s","timestamp":"%s","requestedModel":"claude-sonnet-4-5","message":{"role":"%s","model":"claude-sonnet-4-5","content":[{"type":"text","text":"%s"}],"usage":{"input_tokens":%s}}}\n' \
        "$1" "$(date -u +%Y-%m-%dT%H:%M:%S.000Z)" "$1" "$2" "$3" >> "$transcript"
}
turn() { said user "Sort the tiles." 0; said assistant "Tiles of $session are sorted." "$1"; status idle; tell Stop "$2"; }
late_turn() { said assistant "An earlier answer." "$1"; status idle; tell Stop ',"last_assistant_message":"The tiles are sorted at last."'; }
rest() { while :; do sleep 0.05; done; }
trap 'tell SessionEnd ",\"reason\":\"other\""; exit 143' TERM
status busy
tell SessionStart ',"source":"startup"' > "$LAB/told-$n"
touch "$LAB/begun-$n"
eval "$(sed -n "${n}p" "$LAB/plan")"
"#;

/// More than a window of 200,000 tokens should hold.
const FULL: &str = "turn 140000; rest";

struct Wrapper {
    lab: Lab,
}

impl Wrapper {
    fn new(plan: &[&str]) -> Wrapper {
        let lab = Lab::new();
        let agent = lab.scratch.write("bin/claude", AGENT);
        fs::set_permissions(agent, fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir_all(lab.scratch.home().join(".claude/sessions")).unwrap();
        lab.scratch.write("plan", plan.join("\n"));
        Wrapper { lab }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.lab.scratch.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).unwrap_or_default()
    }

    fn starts(&self) -> usize {
        self.read("starts").trim().parse().unwrap_or(0)
    }

    fn command(&self, options: &[&str], arguments: &[&str]) -> Command {
        let mut command = self.lab.kgctx(["wrap"]);
        command.args(options).arg("--").arg(self.file("bin/claude")).args(arguments);
        command.env("LAB", self.lab.scratch.path()).env("KGCTX", env!("CARGO_BIN_EXE_kgctx"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, options: &[&str], arguments: &[&str]) -> Output {
        self.command(options, arguments).output().unwrap()
    }

    fn rows(&self) -> i64 {
        self.lab.state().query_row("SELECT count(*) FROM wraps", [], |row| row.get(0)).unwrap()
    }

    /// The handoff that waits.
    fn waiting(&self) -> Option<String> {
        let sql = "SELECT id FROM handoffs WHERE status = 'active'";
        self.lab.state().query_row(sql, [], |row| row.get(0)).ok()
    }
}

#[track_caller]
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(20);
    while !is_so() {
        assert!(Instant::now() < until, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_1_36_only_an_agent_that_the_wrapper_ended_is_started_again() {
    // A-1.36: whatever the agent's own end looks like.
    for (plan, code) in [
        ("exit 0", 0),
        ("exit 7", 7),
        ("exit 130", 130),
        ("exit 143", 143),
        ("kill -9 $$", 137),
        ("turn 140000; exit 130", 130),
        ("turn 140000; exit 143", 143),
        ("turn 100; sleep 1.5; exit 3", 3),
        // A signal to the wrapper is the agent's.
        ("turn 100; kill -TERM $PPID; rest", 143),
    ] {
        let wrapper = Wrapper::new(&[plan, "exit 99"]);
        let output = wrapper.run(&["--auto-restart"], &[]);
        assert_eq!(output.status.code(), Some(code), "{plan}: {output:?}");
        assert_eq!((wrapper.starts(), wrapper.rows()), (1, 0), "{plan}");
    }
    let wrapper = Wrapper::new(&["turn 140000; sleep 2; exit 3", "exit 99"]);
    let output = wrapper.run(&[], &[]);
    assert_eq!(output.status.code(), Some(3), "nobody asked for restarts");
    assert_eq!(stderr(&output), "");
    assert_eq!((wrapper.starts(), wrapper.waiting()), (1, None));
}

#[test]
fn a_1_39_a_full_session_is_followed_by_one_that_goes_on_with_its_handoff() {
    // A-1.39, A-1.42, A-1.29
    let wrapper = Wrapper::new(&[FULL, "exit 5"]);
    let output = wrapper.run(&["--auto-restart"], &["--model", "opus", "-c", "Sort the tiles."]);
    assert_eq!((output.status.code(), wrapper.starts()), (Some(5), 2), "{output:?}");
    assert_eq!(wrapper.read("arguments-1"), "--model\nopus\n-c\nSort the tiles.\n");
    let again = wrapper.read("arguments-2");
    let (prompt, rest) = again.split_once('\n').unwrap();
    assert_eq!(rest, "--model\nopus\n");
    let sql = "SELECT id FROM handoffs WHERE occasion = 'auto' AND session = 's1'";
    let id: String = wrapper.lab.state().query_row(sql, [], |row| row.get(0)).unwrap();
    assert!(prompt.contains(&id) && prompt.starts_with("Continue from"), "{prompt}");
    let told = wrapper.read("told-2");
    assert!(told.contains(&id) && told.contains("Tiles of s1 are sorted."), "{told}");
    assert_eq!(wrapper.lab.status(&id).as_deref(), Some("consumed"));
    let said = stderr(&output);
    assert!(said.starts_with("kgctx: outside tmux, kgctx cannot see"), "{said}");
    let expected = format!("a new session continues with handoff {id} (restart 1 of 10)\n");
    assert!(said.contains(&expected), "{said}");
    assert_eq!(wrapper.read("folder-2"), wrapper.read("folder-1"));
    // The end of the first session left nothing besides.
    let sql = "SELECT count(*) FROM handoffs WHERE session = 's1'";
    let left: i64 = wrapper.lab.state().query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(left, 1);
}

#[test]
fn a_1_39_an_agent_that_does_not_end_is_killed_and_its_folder_may_be_gone() {
    // A-1.39
    let plan = "trap '' TERM; mkdir sub; cd sub; session=t; tell SessionStart ',\"source\":\"clear\"'; \
                turn 140000; cd ..; rm -r sub; rest";
    let wrapper = Wrapper::new(&[plan, "exit 5"]);
    let began = Instant::now();
    let output = wrapper.run(&["--auto-restart"], &[]);
    assert_eq!((output.status.code(), wrapper.starts()), (Some(5), 2), "{output:?}");
    assert!(began.elapsed() > Duration::from_secs(5));
    assert_eq!(wrapper.read("folder-2"), wrapper.read("folder-1"));
}

#[test]
fn a_1_34_the_last_answer_is_in_the_handoff_before_it_is_in_the_transcript() {
    // A-1.34
    let wrapper = Wrapper::new(&["late_turn 140000; rest", "exit 5"]);
    let output = wrapper.run(&["--auto-restart"], &[]);
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    let told = wrapper.read("told-2");
    assert!(told.contains("The tiles are sorted at last."), "{told}");
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "it needs GNU's date")]
fn a_turn_ends_in_time_where_git_is_slow() {
    // The best of some: the machine may be busy.
    let took = |n: u32| {
        let plan = "said user 'Sort the tiles.' 0; said assistant 'They are sorted.' 140000; status idle; \
                    a=$(date +%s%N); tell None; b=$(date +%s%N); tell Stop ',\"last_assistant_message\":\"Not written yet.\"'; \
                    c=$(date +%s%N); echo $(((c - b - b + a) / 1000000)) > \"$LAB/took\"; rest";
        let wrapper = Wrapper::new(&[plan, "exit 5"]);
        let git = wrapper.lab.scratch.write("bin/git", "#!/bin/sh\nsleep 3\n");
        fs::set_permissions(&git, fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = wrapper.command(&["--auto-restart"], &[]);
        command.env("PATH", format!("{}:/usr/bin:/bin", git.parent().unwrap().display()));
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(5), "{n}: {output:?}");
        assert!(wrapper.read("told-2").contains("Not written yet."), "{n}");
        wrapper.read("took").trim().parse::<i64>().unwrap()
    };
    let best = (0..3).map(took).min().unwrap();
    assert!(best < 200, "{best} ms");
}

#[test]
fn a_1_38_too_many_restarts_end_it() {
    // A-1.38
    let wrapper = Wrapper::new(&[FULL; 4]);
    let output = wrapper.run(&["--auto-restart", "--max-restarts", "2"], &[]);
    assert_eq!((output.status.code(), wrapper.starts()), (Some(1), 3), "{output:?}");
    let (said, id) = (stderr(&output), wrapper.waiting().unwrap());
    assert!(said.contains("Max restarts reached"), "{said}");
    assert!(said.contains(&format!("Handoff available: {id}\n")), "{said}");
    let help = wrapper.lab.kgctx(["wrap", "--help"]).output().unwrap();
    assert!(String::from_utf8(help.stdout).unwrap().contains("[default: 10]"));
}

#[test]
fn a_1_37_an_agent_is_left_alone_if_its_session_is_another_or_not_at_rest() {
    // A-1.37
    for (what, plan) in [
        ("an agent inside of the agent", "sh -c 'exec \"$0\"' \"$0\"; sleep 2; exit 4"),
        ("a turn goes on", "turn 140000; status busy; sleep 2; exit 4"),
        ("a dialog is open", "turn 140000; status waiting; sleep 2; exit 4"),
        (
            "a prompt waits",
            "turn 140000; echo '{\"type\":\"queue-operation\",\"operation\":\"enqueue\"}' >> \"$transcript\"; sleep 2; exit 4",
        ),
        (
            "a version that does not tell",
            "turn 140000; rm \"$HOME/.claude/sessions/$$.json\"; sleep 2; exit 4",
        ),
        (
            "work in the background",
            "turn 140000 ',\"background_tasks\":[{\"id\":\"b1\"}]'; sleep 2; exit 4",
        ),
        ("a sub-agent's stop", "turn 140000 ',\"agent_id\":\"a1\"'; sleep 2; exit 4"),
        ("no transcript", "transcript=/none/such; status idle; tell Stop; sleep 2; exit 4"),
        (
            "no handoff is wanted",
            "printf '[handoff]\\nenabled = false\\n' > \"$KGCTX_HOME/config.toml\"; turn 140000; sleep 2; exit 4",
        ),
    ] {
        let wrapper = Wrapper::new(&[plan, "turn 140000; exit 0"]);
        let output = wrapper.run(&["--auto-restart"], &[]);
        assert_eq!(output.status.code(), Some(4), "{what}: {output:?}");
        let starts = if what.contains("inside") { 2 } else { 1 };
        assert_eq!(wrapper.starts(), starts, "{what}: {output:?}");
    }
    // Somebody has cleared the session before it was ended.
    let plan = "turn 140000; session=other; tell SessionStart ',\"source\":\"clear\"'; status idle; sleep 2; exit 4";
    let wrapper = Wrapper::new(&[plan, "exit 99"]);
    let output = wrapper.run(&["--auto-restart"], &[]);
    assert_eq!((output.status.code(), wrapper.starts()), (Some(4), 1), "{output:?}");
    let said = stderr(&output);
    assert!(said.contains("session s1 ended before kgctx could restart it"), "{said}");
}

#[test]
fn what_is_typed_in_a_window_of_tmux_keeps_the_agent_from_being_ended() {
    // A draft, copy mode, and a tmux that does not answer; then the composer is empty.
    for (name, text) in [("typed", "half a thought"), ("mode", "1"), ("gone", "")] {
        let plan = "turn 140000; sleep 3; : > \"$LAB/looked\"; rest";
        let wrapper = Wrapper::new(&[plan, "exit 5"]);
        fake_tmux(&wrapper.lab.scratch);
        let file = wrapper.file("tmux").join(name);
        fs::write(&file, text).unwrap();
        let mut command = wrapper.command(&["--auto-restart"], &[]);
        let bin = wrapper.file("bin").display().to_string();
        command.env("PATH", format!("{bin}:/usr/bin:/bin"));
        command.env("TMUX", "/run/socket,7,0").env("TMUX_PANE", "%3");
        let mut child = command.spawn().unwrap();
        wait_until("some seconds are over", || wrapper.file("looked").exists());
        assert_eq!((wrapper.starts(), child.try_wait().unwrap()), (1, None), "{name}");
        match name {
            "typed" => fs::write(file, "").unwrap(),
            _ => fs::remove_file(file).unwrap(),
        }
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), wrapper.starts()), (Some(5), 2), "{name}: {output:?}");
    }
}

#[test]
fn a_1_40_a_wrapper_leaves_nothing_and_asks_nobody_elses_agent() {
    // A-1.40
    let wrapper = Wrapper::new(&["rest", "exit 0"]);
    let mut first = wrapper.command(&["--auto-restart"], &[]).spawn().unwrap();
    wait_until("the agent runs", || wrapper.file("begun-1").exists());
    let other = wrapper.run(&["--auto-restart"], &[]);
    assert_eq!(other.status.code(), Some(0), "{other:?}");
    assert_eq!(wrapper.rows(), 1, "the other's row stays");
    end(&mut first);
    // One that was killed is forgotten by the next.
    assert_eq!(wrapper.rows(), 1);
    wrapper.run(&[], &[]);
    assert_eq!(wrapper.rows(), 0);
}

/// Kills a wrapper, and then its agent.
fn end(wrapper: &mut Child) {
    let agent = format!("/proc/{0}/task/{0}/children", wrapper.id());
    let agent = fs::read_to_string(agent).unwrap();
    wrapper.kill().unwrap();
    wrapper.wait().unwrap();
    assert!(Command::new("kill").args(["-9", agent.trim()]).status().unwrap().success());
}

#[test]
fn a_1_40_the_agent_of_a_wrapper_that_is_gone_asks_for_nothing() {
    let plan =
        "while [ ! -e \"$LAB/go\" ]; do sleep 0.05; done; turn 140000; touch \"$LAB/done\"; exit 0";
    let wrapper = Wrapper::new(&[plan]);
    let mut killed = wrapper.command(&["--auto-restart"], &[]).spawn().unwrap();
    wait_until("the agent runs", || wrapper.file("begun-1").exists());
    killed.kill().unwrap();
    killed.wait().unwrap();
    fs::write(wrapper.file("go"), "").unwrap();
    wait_until("the turn is over", || wrapper.file("done").exists());
    let sql = "SELECT count(*) FROM wraps WHERE restart_for IS NULL";
    let rows: i64 = wrapper.lab.state().query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!((rows, wrapper.waiting()), (1, None));
}

#[test]
fn a_wrapper_that_is_killed_before_a_restart_loses_no_handoff_and_ends_no_other_agent() {
    // Before it asks the agent to end, and before it starts the next one.
    for point in ["wrap:due", "wrap:ended"] {
        let wrapper = Wrapper::new(&[&format!("echo $$ > \"$LAB/pid\"; {FULL}"), "exit 5"]);
        let mut killed = wrapper.command(&["--auto-restart"], &[]);
        let status = killed.env(KILL_AT, point).stderr(Stdio::null()).spawn().unwrap().wait();
        assert_eq!(status.unwrap().signal(), Some(9), "{point}");
        assert_eq!(wrapper.starts(), 1, "{point}");
        let id = wrapper.waiting().unwrap();
        let pid = wrapper.read("pid");
        let is_alive = Command::new("kill").args(["-0", pid.trim()]).output().unwrap();
        assert_eq!(is_alive.status.success(), point == "wrap:due", "{point}");
        if is_alive.status.success() {
            Command::new("kill").args(["-9", pid.trim()]).status().unwrap();
        }
        let output = wrapper.run(&["--auto-restart", "--handoff"], &[]);
        assert_eq!((output.status.code(), wrapper.starts()), (Some(5), 2), "{point}: {output:?}");
        assert!(wrapper.read("told-2").contains(&id), "{point}");
    }
}

#[test]
fn a_1_41_a_waiting_handoff_is_told_after_a_clean_end_and_begun_with_on_request() {
    // A-1.41
    let wrapper = Wrapper::new(&["exit 0", "exit 0", "exit 1", "exit 0"]);
    let output = wrapper.run(&["--handoff"], &[]);
    assert_eq!((output.status.code(), wrapper.starts()), (Some(1), 0), "{output:?}");
    assert!(stderr(&output).contains("no handoff waits for zephyr; leave out --handoff"));
    let id = wrapper.lab.leave("Ship it.");
    let output = wrapper.run(&["--handoff"], &["--allowedTools", "Bash"]);
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
    let arguments = wrapper.read("arguments-1");
    assert!(arguments.starts_with("Continue from") && arguments.contains(&id), "{arguments}");
    assert!(arguments.ends_with("\n--allowedTools\nBash\n"), "{arguments}");
    assert!(wrapper.read("told-1").contains("Ship it."));
    // Left while the agent ran, so it has not seen it.
    wrapper.lab.scratch.write(
        "plan",
        "\n\"$KGCTX\" handoff create --body 'And then?' --json > \"$LAB/left\"\nexit 1\n",
    );
    let output = wrapper.run(&[], &[]);
    let left: serde_json::Value = serde_json::from_str(&wrapper.read("left")).unwrap();
    let id = left["id"].as_str().unwrap();
    assert_eq!(stderr(&output), format!("Handoff available: {id}\n"), "{output:?}");
    // It goes to the next session, which fails, and nothing is left.
    let output = wrapper.run(&[], &[]);
    assert_eq!((output.status.code(), stderr(&output)), (Some(1), String::new()), "{output:?}");
}

#[test]
fn a_1_42_the_first_start_has_its_arguments_unchanged() {
    // A-1.42
    let wrapper = Wrapper::new(&["env > \"$LAB/environment\"; exit 0"]);
    let odd = ["-h", "--resume", "", " a b ", "--", "-x", "$HOME", "ü\u{1}", "--auto-restart"];
    let mut command = wrapper.command(&["--auto-restart"], &odd);
    command.env("MINE", "kept");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(wrapper.read("arguments-1"), odd.map(|word| format!("{word}\n")).concat());
    let environment = wrapper.read("environment");
    assert!(environment.contains("MINE=kept\n") && environment.contains("KGCTX_WRAP="));
    // What skips permissions is nowhere added.
    let code = ["src/app/wrap.rs", "src/app/restart.rs", "src/core/wrap.rs"];
    for file in code {
        let text = fs::read_to_string(file).unwrap();
        assert!(!text.contains("permission"), "{file}");
    }
}

#[test]
fn what_cannot_be_wrapped_is_said_in_one_line() {
    let wrapper = Wrapper::new(&["exit 0"]);
    let check = |arguments: &[&str], code, expected: &str| {
        let output = wrapper.lab.kgctx(["wrap"]).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        assert!(stderr(&output).contains(expected), "{output:?}");
    };
    check(&["--", "/none/such"], 3, "cannot start /none/such: No such file");
    check(
        &["--auto-restart", "--", "sh"],
        2,
        "--auto-restart works only for Claude Code, and sh is not Claude Code",
    );
    check(&["--auto-restart"], 2, "required");
    check(&["--", "sh", "-c", "exit 0"], 0, "");
    let state = wrapper.lab.state();
    state.execute_batch("BEGIN IMMEDIATE").unwrap();
    check(&["--", "sh", "-c", "exit 0"], 0, "another process is writing kgctx's state");
    state.execute_batch("ROLLBACK").unwrap();
}

#[test]
fn a_1_39_an_agent_behind_assignments_is_started_again_and_one_that_is_gone_is_told_with_its_handoff()
 {
    // A-1.39, A-1.42
    let wrapper = Wrapper::new(&[FULL, "exit 0"]);
    let agent = wrapper.file("bin/claude");
    let folder = wrapper.lab.scratch.home().join(".claude");
    let behind = |wrapper: &Wrapper| {
        let mut command = wrapper.lab.kgctx(["wrap", "--auto-restart", "--", "env"]);
        command.arg(format!("CLAUDE_CONFIG_DIR={}", folder.display())).arg(&agent);
        command.env("LAB", wrapper.lab.scratch.path()).env("KGCTX", env!("CARGO_BIN_EXE_kgctx"));
        command.stdin(Stdio::null()).output().unwrap()
    };
    let output = behind(&wrapper);
    assert_eq!((output.status.code(), wrapper.starts()), (Some(0), 2), "{output:?}");
    assert!(wrapper.read("arguments-2").starts_with("Continue from where you left off."));

    let wrapper = Wrapper::new(&[&format!("mv \"$0\" \"$0.gone\"; {FULL}")]);
    let output = wrapper.run(&["--auto-restart"], &[]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let waiting = wrapper.waiting().unwrap();
    let said = stderr(&output);
    assert!(said.contains(&format!("the handoff {waiting} waits for the next session")), "{said}");
}

#[test]
fn an_agent_runs_whatever_its_state_is_like() {
    for (state, code) in [("no database", 0), ("a later version", 7)] {
        let lab = Lab::new();
        let file = lab.scratch.path().join("kgctx-home/state/state.db");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        match state {
            "no database" => fs::write(&file, "no database".repeat(500)).unwrap(),
            _ => {
                let database = rusqlite::Connection::open(&file).unwrap();
                database.execute_batch("CREATE TABLE t (a); PRAGMA user_version = 900").unwrap();
            }
        }
        for options in [&[][..], &["--auto-restart"]] {
            let mut command = lab.kgctx(["wrap"]);
            let script = format!("echo RAN; exit {code}");
            let agent = lab.scratch.write("bin/claude", format!("#!/bin/sh\n{script}\n"));
            fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();
            let output = command.args(options).arg("--").arg(agent).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&output.stdout), "RAN\n", "{state}: {output:?}");
            assert_eq!(output.status.code(), Some(code), "{state}: {output:?}");
            let said = stderr(&output);
            assert!(said.starts_with("kgctx: this session is not restarted: "), "{said}");
            assert_eq!(said.lines().count(), 1, "{said}");
        }
    }
}
