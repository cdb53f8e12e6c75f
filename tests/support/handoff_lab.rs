//! What the tests of handoffs share: a project without notes, so that whatever a session is told is about handoffs; its
//! hooks, run as Claude Code runs them; its store, looked into; and what holds for every store, whatever was done to it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use rusqlite::{Connection, OptionalExtension};
use serde_json::{Value, json};

use crate::support::{Scratch, git, stderr};

/// Names the point at which a debug build ends itself.
pub(crate) const KILL_AT: &str = "KGCTX_TEST_KILL_AT";

/// A handoff's text that shows whether it is whole.
pub(crate) const TEXT: &str = "Ship it. THE END";

/// A project in a scratch place.
pub(crate) struct Lab {
    pub(crate) scratch: Scratch,
    folder: PathBuf,
}

impl Lab {
    pub(crate) fn new() -> Lab {
        let scratch = Scratch::new();
        let folder = scratch.path().join("zephyr");
        fs::create_dir(&folder).unwrap();
        git(&folder, &["init", "--quiet"]);
        Lab { scratch, folder }
    }

    /// The folder that sessions start in.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The binary, about to run in the project.
    pub(crate) fn kgctx<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = self.scratch.kgctx(arguments);
        command.current_dir(&self.folder);
        command
    }

    /// Runs `kgctx handoff` and reads its answer as JSON.
    #[track_caller]
    pub(crate) fn handoff(&self, arguments: &[&str]) -> Value {
        let output = self.kgctx(["handoff"]).args(arguments).arg("--json").output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Runs `kgctx handoff`, expects it to fail, and returns exit code and message.
    #[track_caller]
    pub(crate) fn refused(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.kgctx(["handoff"]).args(arguments).output().unwrap();
        assert!(!output.status.success(), "{arguments:?}: {output:?}");
        (output.status.code().unwrap(), stderr(&output))
    }

    /// Leaves a handoff and returns its id.
    #[track_caller]
    pub(crate) fn create(&self, arguments: &[&str]) -> String {
        let created = self.handoff(&[&["create"], arguments].concat());
        created["id"].as_str().unwrap().to_owned()
    }

    /// Leaves a handoff of this text in the name of session `author`.
    #[track_caller]
    pub(crate) fn leave(&self, text: &str) -> String {
        self.create(&["--session", "author", "--body", text])
    }

    /// What Claude Code tells a hook, as it was recorded, but of this project and this session.
    pub(crate) fn event(&self, recorded: &str, session: &str) -> Value {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/events/claude-code");
        let names = [format!("session-{recorded}.json"), format!("{recorded}.json")];
        let file = names.map(|name| folder.join(name)).into_iter().find(|file| file.is_file());
        let file = file.unwrap_or_else(|| panic!("{recorded} was never recorded"));
        let mut event: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        event["session_id"] = json!(session);
        event["cwd"] = json!(self.folder);
        event["transcript_path"] = json!(self.transcript(session));
        event
    }

    /// Where Claude Code keeps its record of a session. No other host has such a path.
    pub(crate) fn transcript(&self, session: &str) -> PathBuf {
        self.scratch.path().join("transcripts/projects/zephyr").join(format!("{session}.jsonl"))
    }

    /// The hook, about to run.
    pub(crate) fn hook(&self) -> Command {
        self.kgctx(["hook", "claude-code"])
    }

    /// Starts a session and returns what it is told.
    #[track_caller]
    pub(crate) fn start(&self, session: &str) -> Option<String> {
        self.told("start-startup", session)
    }

    /// Tells the hook of an event, and returns what it answers.
    #[track_caller]
    pub(crate) fn told(&self, recorded: &str, session: &str) -> Option<String> {
        context(&given(self.hook(), &self.event(recorded, session)))
    }

    /// The state, looked into.
    pub(crate) fn state(&self) -> Connection {
        let state =
            Connection::open(self.scratch.path().join("kgctx-home/state/state.db")).unwrap();
        state.busy_timeout(std::time::Duration::from_secs(10)).unwrap();
        state
    }

    /// Changes the state behind the back of the program.
    pub(crate) fn sql(&self, sql: &str) {
        let changed = self.state().execute(sql, []).unwrap();
        assert!(changed > 0, "nothing to change: {sql}");
    }

    /// A handoff's status; `None` where there is none.
    pub(crate) fn status(&self, id: &str) -> Option<String> {
        let sql = "SELECT status FROM handoffs WHERE id = ?1";
        self.state().query_row(sql, [id], |row| row.get(0)).optional().unwrap()
    }

    /// What was wrong when a session's last context was made.
    pub(crate) fn faults(&self, session: &str) -> String {
        let output = self.kgctx(["explain", "--session", session, "--json"]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let explanation: Value = serde_json::from_slice(&output.stdout).unwrap();
        explanation["receipt"]["faults"].to_string()
    }

    /// The file of a handoff.
    pub(crate) fn document(&self, id: &str) -> PathBuf {
        let all = documents(&self.scratch);
        let name = format!("{id}.md");
        all.into_iter().find(|path| path.ends_with(&name)).unwrap_or_else(|| panic!("no {name}"))
    }
}

/// Runs a hook with an event.
pub(crate) fn given(command: Command, event: &Value) -> Output {
    fire(waiting(command), event).wait_with_output().unwrap()
}

/// A hook that runs and has not been told anything yet.
pub(crate) fn waiting(mut command: Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Tells a hook that waits.
pub(crate) fn fire(mut hook: Child, event: &Value) -> Child {
    // One that was killed does not listen.
    let _ = hook.stdin.take().unwrap().write_all(event.to_string().as_bytes());
    hook
}

/// What a hook of Claude Code has answered; it always ends well and says nothing else.
#[track_caller]
pub(crate) fn context(output: &Output) -> Option<String> {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(stderr(output), "");
    if output.stdout.is_empty() {
        return None;
    }
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let specific = &answer["hookSpecificOutput"];
    assert_eq!(specific["hookEventName"], "SessionStart");
    Some(specific["additionalContext"].as_str().unwrap().to_owned())
}

/// Writes down what was said in a session, as Claude Code does.
pub(crate) fn talk(lab: &Lab, session: &str, turns: usize) {
    let mut lines = String::new();
    for n in 0..turns {
        let said = json!({ "role": "user", "content": format!("Please do thing {n}.") });
        let prompt = json!({ "type": "user", "sessionId": session, "message": said });
        let edit = json!({
            "type": "tool_use", "id": format!("t{n}"), "name": "Edit", "input": { "file_path": format!("src/f{n}.rs") },
        });
        let answer = json!({ "type": "text", "text": format!("Thing {n} is done.") });
        let said = json!({ "role": "assistant", "id": format!("m{n}"), "model": "m", "content": [edit, answer] });
        let answer = json!({ "type": "assistant", "sessionId": session, "message": said });
        lines.push_str(&format!("{prompt}\n{answer}\n"));
    }
    let file = lab.transcript(session);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, lines).unwrap();
}

/// All documents in a store.
pub(crate) fn documents(scratch: &Scratch) -> Vec<PathBuf> {
    let store = scratch.path().join("kgctx-home/state/handoffs");
    let mut documents = Vec::new();
    for scope in fs::read_dir(store).into_iter().flatten().flatten() {
        documents.extend(fs::read_dir(scope.path()).unwrap().map(|entry| entry.unwrap().path()));
    }
    documents.sort();
    documents
}

/// Asserts what holds for every store that nobody is writing, once the next command has cleaned up.
#[track_caller]
pub(crate) fn assert_whole(lab: &Lab) {
    lab.handoff(&["list", "--all"]);
    let state = lab.state();
    let check: String = state.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
    let sql = "SELECT count(*) FROM handoffs WHERE kind = 'session' AND status = 'active' \
               GROUP BY scope HAVING count(*) > 1";
    let doubled: Option<i64> = state.query_row(sql, [], |row| row.get(0)).optional().unwrap();
    assert_eq!(doubled, None, "more than one waits");
    // Every handoff has its document, which is whole, and every document its handoff.
    let mut statement = state.prepare("SELECT scope, id, status FROM handoffs").unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    let mut known = BTreeMap::new();
    for row in rows.unwrap() {
        let (scope, id, status): (String, String, String) = row.unwrap();
        assert_ne!(status, "draft", "{id}");
        known.insert(format!("{scope}/{id}.md"), (id, status));
    }
    let store = lab.scratch.path().join("kgctx-home/state/handoffs");
    let found: Vec<String> = documents(&lab.scratch)
        .iter()
        .map(|path| path.strip_prefix(&store).unwrap().to_str().unwrap().to_owned())
        .collect();
    assert_eq!(found, known.keys().cloned().collect::<Vec<_>>());
    for (path, (id, _)) in &known {
        let text = fs::read_to_string(store.join(path)).unwrap();
        assert!(text.starts_with(&format!("---\nid: \"{id}\"\n")), "{path}: {text}");
        assert!(text.trim_end().ends_with("THE END"), "{path}: {text}");
    }
    // Every step begins where the one before it ended, and the last one ended where the handoff is.
    let sql = "SELECT handoff, old, new FROM handoff_events ORDER BY number";
    let mut statement = state.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    let mut last: BTreeMap<String, Option<String>> = BTreeMap::new();
    for row in rows.unwrap() {
        let (id, old, new): (String, Option<String>, Option<String>) = row.unwrap();
        let before = last.insert(id.clone(), new).flatten();
        assert_eq!(before, old, "{id}: the log has a gap");
    }
    let ended: BTreeMap<&String, &String> =
        last.iter().filter_map(|(id, status)| Some((id, status.as_ref()?))).collect();
    assert_eq!(ended, known.values().map(|(id, status)| (id, status)).collect());
}

pub(crate) fn create_in(lab: &Lab, channel: &str) -> String {
    lab.create(&["--channel", channel, "--session", "author", "--body", TEXT])
}

/// A session whose hook was ended at a point on its way.
#[track_caller]
pub(crate) fn killed_start(lab: &Lab, channel: &str, session: &str, point: &str) -> Output {
    let mut hook = lab.hook();
    hook.env("KGCTX_CHANNEL", channel).env(KILL_AT, point);
    let output = given(hook, &lab.event("start-startup", session));
    assert_eq!(output.status.signal(), Some(9), "{point} is not on its way: {output:?}");
    output
}
