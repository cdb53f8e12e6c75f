//! What the tests of rotation share: a session of Claude Code that is played by the test, in a window of a tmux that is a
//! script. The script shows a composer, takes keys, and writes down every call.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::OptionalExtension;
use serde_json::{Value, json};

use crate::support::handoff_lab::{Lab, given};
use crate::support::{Scratch, stderr};

/// Draws a window whose composer holds `typed`. Files in its folder change what it does: `gone`, `slow`, `mode`, `hidden`,
/// `clients`, which names the pane that somebody uses; `also` is typed by somebody at the same time; `deaf` shows nothing;
/// `swallow` loses one Enter; `footer` stands below the composer.
const TMUX: &str = r#"#!/bin/sh
cd "${0%/*}/../tmux" || exit 1
shift; [ "$1" = -S ] || exit 2; socket=$2; shift 2
[ -e gone ] && { echo "$socket $*" >> calls; exit 1; }
[ -e slow ] && { echo "$socket $*" >> calls; sleep 4; }
run() {
    command=$1; shift
    printf '%s %s %s\n' "$socket" "$command" "$*" >> calls
    # Without other programs: a worker waits two seconds for an answer, also on a busy machine.
    typed= pid= mode=0
    IFS= read -r typed < typed; read -r pid < pid; [ -e mode ] && read -r mode < mode
    case $command in
    display-message) echo "$pid $mode $((2 + ${#typed})) 2 0" ;;
    capture-pane)
        if [ -e hidden ]; then cat hidden; return; fi
        line=────────────────────────────────────────
        footer=footer; [ -e footer ] && read -r footer < footer
        printf '● Done.\n%s\n❯\302\240%s\n%s\n  %s\n' $line "$typed" $line "$footer" ;;
    list-clients) [ -e clients ] && echo "client $(date +%s) $(cat clients)"; true ;;
    send-keys)
        [ "$1" = -t ] || exit 3
        shift 2
        date +%s%N >> times
        if [ "$1" = -l ]; then
            [ "$2" = -- ] || exit 4
            [ -e deaf ] || printf '%s%s' "$3" "$(cat also 2>/dev/null)" >> typed
        elif [ "$1" = Enter ]; then
            printf '%s\n' "$typed" >> entered
            if [ -e swallow ]; then rm swallow; else : > typed; fi
        else
            exit 5
        fi ;;
    *) exit 6 ;;
    esac
}
# Several commands may be in one call.
case " $* " in
*" ; "*)
    pane=$4
    [ "$*" = "display-message -p -t $pane $5 ; capture-pane -e -p -t $pane ; list-clients -F client #{client_activity} #{pane_id} ; display-message -p -t $pane $5" ] || exit 7
    run display-message -t "$pane"; run capture-pane -t "$pane"; run list-clients; run display-message -t "$pane" ;;
*) run "$@" ;;
esac
"#;

pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Puts a tmux into the folder `bin`, whose window is in the folder `tmux` and belongs to this process.
pub(crate) fn fake_tmux(scratch: &Scratch) {
    let tmux = scratch.write("bin/tmux", TMUX);
    fs::set_permissions(tmux, fs::Permissions::from_mode(0o755)).unwrap();
    scratch.write("tmux/pid", std::process::id().to_string());
    scratch.write("tmux/typed", "");
}

/// A worker that stands still at a point of its way.
pub(crate) struct Held {
    pid: String,
}

impl Held {
    /// Whether the system says so of it: `T` stopped, `Z` and `X` gone.
    fn is(&self, marks: &str) -> bool {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid));
        let stat = stat.unwrap_or(") X ".to_owned());
        marks.chars().any(|mark| stat.contains(&format!(") {mark} ")))
    }

    /// Lets it go on, and waits until it has ended.
    pub(crate) fn end(self, seat: &Seat) {
        assert!(Command::new("kill").args(["-CONT", &self.pid]).status().unwrap().success());
        seat.until("the worker is gone", |_| self.is("XZ"));
    }
}

/// A session in a window.
pub(crate) struct Seat {
    pub(crate) lab: Lab,
}

impl Seat {
    /// A session `old` that has started, whose host tells of the end of its turns.
    pub(crate) fn new() -> Seat {
        let seat = Seat { lab: Lab::new() };
        let scratch = &seat.lab.scratch;
        fake_tmux(scratch);
        let installed = seat.kgctx(&["install", "claude-code", "--rotation"]).output().unwrap();
        assert!(installed.status.success(), "{installed:?}");
        seat.begin("start-startup", "old");
        seat.is("old", "idle");
        seat
    }

    /// The binary, about to run in the window.
    pub(crate) fn kgctx(&self, arguments: &[&str]) -> Command {
        let mut command = self.lab.kgctx(arguments);
        let bin = self.lab.scratch.path().join("bin");
        command.env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
        command.env("TMUX", "/run/a,b/socket,7,0").env("TMUX_PANE", "%3");
        command.env("CLAUDECODE", "1").env("CLAUDE_CODE_ENTRYPOINT", "cli");
        command
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.lab.scratch.path().join("tmux").join(name)
    }

    pub(crate) fn set(&self, name: &str, text: &str) {
        fs::write(self.file(name), text).unwrap();
    }

    pub(crate) fn unset(&self, name: &str) {
        fs::remove_file(self.file(name)).unwrap();
    }

    /// What a file of the window holds.
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).unwrap_or_default()
    }

    /// The lines that were sent.
    pub(crate) fn entered(&self) -> Vec<String> {
        self.read("entered").lines().map(str::to_owned).collect()
    }

    /// The keys that were sent.
    pub(crate) fn keys(&self) -> Vec<String> {
        let calls = self.read("calls");
        calls.lines().filter(|call| call.contains(" send-keys ")).map(str::to_owned).collect()
    }

    /// The milliseconds between each of these and the one before it.
    pub(crate) fn between_keys(&self) -> Vec<i64> {
        let times: Vec<i64> =
            self.read("times").lines().map(|time| time.parse().unwrap()).collect();
        times.windows(2).map(|pair| (pair[1] - pair[0]) / 1_000_000).collect()
    }

    /// What the host says about its session.
    pub(crate) fn is(&self, session: &str, status: &str) {
        let said = json!({"sessionId": session, "status": status}).to_string();
        let file = format!("home/.claude/sessions/{}.json", std::process::id());
        self.lab.scratch.write(&file, said);
    }

    /// Tells the hook of an event.
    #[track_caller]
    pub(crate) fn tell(&self, event: &Value) -> Output {
        self.tell_by(self.kgctx(&["hook", "claude-code"]), event)
    }

    #[track_caller]
    pub(crate) fn tell_by(&self, hook: Command, event: &Value) -> Output {
        let output = given(hook, event);
        assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""), "{output:?}");
        output
    }

    #[track_caller]
    pub(crate) fn begin(&self, recorded: &str, session: &str) -> String {
        let output = self.tell(&self.lab.event(recorded, session));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The turn of a session ends. The hook says nothing.
    #[track_caller]
    pub(crate) fn stop(&self, session: &str) {
        self.stop_with(&json!({}), session);
    }

    #[track_caller]
    pub(crate) fn stop_with(&self, more: &Value, session: &str) {
        let mut event = self.lab.event("stop", session);
        for (name, value) in more.as_object().unwrap() {
            event[name] = value.clone();
        }
        assert_eq!(self.tell(&event).stdout, b"");
    }

    /// Ends the turn with a worker that stops at a point of its way, and waits for that.
    #[track_caller]
    pub(crate) fn stop_with_hold(&self, point: &str) -> Held {
        let mut hook = self.kgctx(&["hook", "claude-code"]);
        hook.env("KGCTX_TEST_HOLD_AT", point);
        self.tell_by(hook, &self.lab.event("stop", "old"));
        let worker = || Held { pid: self.column("owner_pid").unwrap_or_default() };
        self.until("the worker is held", |_| worker().is("T"));
        worker()
    }

    /// Ends the turn, and waits until the worker has stepped back without a key. Returns why.
    #[track_caller]
    pub(crate) fn steps_back(&self) -> String {
        self.stop("old");
        self.until("it steps back", |seat| {
            seat.state() == "scheduled" && seat.column("reason").is_some()
        });
        self.untouched();
        self.column("reason").unwrap()
    }

    pub(crate) fn prompt(&self, session: &str, text: &str) {
        let mut event = self.lab.event("user-prompt-submit", session);
        event["prompt"] = json!(text);
        self.tell(&event);
    }

    /// Runs `kgctx handoff rotate` in the session `old`.
    pub(crate) fn rotate_as(&self, session: &str, arguments: &[&str]) -> Output {
        let mut command = self.kgctx(&["handoff", "rotate"]);
        command.env("KGCTX_SESSION_ID", session).args(arguments).output().unwrap()
    }

    /// Schedules a rotation, and returns the id of its handoff.
    #[track_caller]
    pub(crate) fn rotate(&self, arguments: &[&str]) -> String {
        let output = self.rotate_as("old", &[&["--json"], arguments].concat());
        assert!(output.status.success(), "{output:?}");
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        answer["handoff"].as_str().unwrap().to_owned()
    }

    /// Schedules a rotation by a goal.
    #[track_caller]
    pub(crate) fn schedule(&self) -> String {
        self.rotate(&["--goal", "GOAL", "--next", "NEXT-STEP"])
    }

    /// Runs the command, expects it to fail, and returns exit code and message.
    #[track_caller]
    pub(crate) fn refused(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.rotate_as("old", arguments);
        assert!(!output.status.success(), "{output:?}");
        (output.status.code().unwrap(), stderr(&output))
    }

    /// A column of the last rotation.
    pub(crate) fn column(&self, name: &str) -> Option<String> {
        let sql = format!("SELECT CAST({name} AS TEXT) FROM rotations ORDER BY id DESC LIMIT 1");
        self.lab.state().query_row(&sql, [], |row| row.get(0)).optional().unwrap().flatten()
    }

    pub(crate) fn state(&self) -> String {
        self.column("state").unwrap_or_default()
    }

    #[track_caller]
    pub(crate) fn until(&self, what: &str, is_so: impl Fn(&Seat) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !is_so(self) {
            let (state, reason) = (self.state(), self.column("reason"));
            assert!(
                Instant::now() < end,
                "{what}: {state} {reason:?}\n{}\n{}",
                self.read("typed"),
                self.read("calls")
            );
            thread::sleep(Duration::from_millis(20));
        }
    }

    #[track_caller]
    pub(crate) fn until_state(&self, state: &str) {
        self.until(state, |seat| seat.state() == state);
    }

    /// Waits until `/clear` is sent, and does what Claude Code does then. Returns what the new session is told.
    #[track_caller]
    pub(crate) fn clear(&self) -> String {
        self.until("/clear is sent", |seat| seat.entered().contains(&"/clear".to_owned()));
        self.clear_now()
    }

    #[track_caller]
    pub(crate) fn clear_now(&self) -> String {
        self.is("new", "idle");
        self.begin("end-clear", "old");
        self.begin("start-clear", "new")
    }

    /// Waits until the first prompt is sent, and takes it up.
    #[track_caller]
    pub(crate) fn take_up(&self) -> String {
        self.until("the first prompt is sent", |seat| seat.entered().len() > 1);
        let prompt = self.entered().pop().unwrap();
        self.prompt("new", &prompt);
        prompt
    }

    /// Asserts that no key was sent, and that the intent is still there.
    #[track_caller]
    pub(crate) fn untouched(&self) {
        assert_eq!(self.keys(), [""; 0]);
        assert_eq!(self.state(), "scheduled");
    }
}
