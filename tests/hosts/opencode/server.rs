//! A running `opencode serve`, and what the tests ask of it.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};

use serde_json::{Value, json};

use super::http::{Events, Http};
use super::lab::Lab;
use super::provider::{Call, Kind, Provider};
use super::until;

/// Starts the rest of its arguments and ends it when its input does: with the test, or with the whole test run,
/// however that ends. Unless it hears a word before, nobody else will remove the folder that it is given.
const KEEPER: &str = r#"
trap : INT TERM HUP
folder=$1; shift
"$@" & child=$!
read -r word; kill -9 "$child"; wait "$child"
[ -n "$word" ] || rm -rf "$folder"
"#;

/// A server of its own process, gone when it is dropped.
pub(crate) struct Server {
    pub(crate) http: Http,
    pub(crate) provider: Provider,
    keeper: Child,
    word: Option<ChildStdin>,
}

impl Lab {
    /// Starts a server in the project and waits until it listens.
    pub(crate) fn serve(&self) -> Server {
        self.serve_on("0")
    }

    /// Starts a server again, where one was before.
    pub(crate) fn serve_at(&self, url: &str) -> Server {
        self.serve_on(url.rsplit(':').next().unwrap())
    }

    fn serve_on(&self, port: &str) -> Server {
        let file = self.path().join("serve.txt");
        let output = fs::File::create(&file).unwrap();
        let mut command = self.command("sh");
        command.arg("-c").arg(KEEPER).arg("sh").arg(self.path()).arg(self.version.program());
        command.args(["serve", "--hostname", "127.0.0.1", "--port", port]);
        command.stdin(Stdio::piped()).stdout(output.try_clone().unwrap()).stderr(output);
        let mut keeper = command.spawn().unwrap();
        let word = keeper.stdin.take();
        // A connection made before this line is accepted and never answered.
        let url = until("the server to listen", || {
            let text = fs::read_to_string(&file).unwrap();
            let (_, rest) = text.split_once("listening on ")?;
            Some(rest.split_once('\n')?.0.trim().to_string())
        });
        let http = Http::new(&url, self.password.clone());
        Server { http, provider: self.provider.clone(), keeper, word }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut word) = self.word.take() {
            drop(word.write_all(b"keep\n"));
        }
        drop(self.keeper.wait());
    }
}

impl Server {
    #[track_caller]
    fn get(&self, path: &str) -> Value {
        self.http.call("GET", path, None).json()
    }

    #[track_caller]
    fn post(&self, path: &str, body: &Value) -> Value {
        self.http.call("POST", path, Some(body)).json()
    }

    /// Creates a session and returns its id.
    #[track_caller]
    pub(crate) fn create(&self, body: &Value) -> String {
        self.post("/session", body)["id"].as_str().unwrap().to_string()
    }

    /// Creates a session in another folder than the server's own.
    #[track_caller]
    pub(crate) fn create_in(&self, folder: &Path) -> String {
        let path = format!("/session?directory={}", folder.display());
        self.post(&path, &json!({}))["id"].as_str().unwrap().to_string()
    }

    /// Sends a prompt to a session in another folder, and waits for its answer.
    #[track_caller]
    pub(crate) fn say_in(&self, folder: &Path, session: &str, text: &str) -> Value {
        let body = json!({"parts": [{"type": "text", "text": text}]});
        let path = format!("/session/{session}/message?directory={}", folder.display());
        self.post(&path, &body)
    }

    /// Runs a command in a session, as a user does who types it there.
    #[track_caller]
    pub(crate) fn shell(&self, session: &str, command: &str) {
        let body = json!({"agent": "build", "command": command});
        self.post(&format!("/session/{session}/shell"), &body);
    }

    /// Deletes a session.
    #[track_caller]
    pub(crate) fn delete(&self, session: &str) {
        self.http.call("DELETE", &format!("/session/{session}"), None).json();
    }

    /// Interrupts the turn of a session.
    #[track_caller]
    pub(crate) fn abort(&self, session: &str) {
        self.post(&format!("/session/{session}/abort"), &json!({}));
    }

    /// Archives a session.
    #[track_caller]
    pub(crate) fn archive(&self, session: &str) {
        let body = json!({"time": {"archived": 1_794_988_925_000_u64}});
        self.http.call("PATCH", &format!("/session/{session}"), Some(&body)).json();
    }

    /// Sends a prompt and waits for its answer.
    #[track_caller]
    pub(crate) fn say(&self, session: &str, text: &str) -> Value {
        self.send(session, text, &json!({}))
    }

    /// Sends a prompt with further fields of its body, and waits for its answer.
    #[track_caller]
    pub(crate) fn send(&self, session: &str, text: &str, fields: &Value) -> Value {
        let mut body = json!({"parts": [{"type": "text", "text": text}]});
        for (name, value) in fields.as_object().unwrap() {
            body[name] = value.clone();
        }
        self.post(&format!("/session/{session}/message"), &body)
    }

    /// Sends a prompt, and waits for nothing.
    pub(crate) fn leave(&self, session: &str, text: &str) {
        let body = json!({"parts": [{"type": "text", "text": text}]});
        self.http.call("POST", &format!("/session/{session}/prompt_async"), Some(&body));
    }

    /// The stored messages, with their parts.
    #[track_caller]
    pub(crate) fn messages(&self, session: &str) -> Vec<Value> {
        let messages = self.get(&format!("/session/{session}/message"));
        messages.as_array().unwrap().clone()
    }

    /// The stored messages of the user. The older OpenCode sometimes leaves an empty one behind where one was undone.
    #[track_caller]
    pub(crate) fn user_messages(&self, session: &str) -> Vec<Value> {
        let mut messages = self.messages(session);
        messages
            .retain(|message| message["info"]["role"] == "user" && message["parts"] != json!([]));
        messages
    }

    /// A session as it is stored.
    #[track_caller]
    pub(crate) fn session(&self, session: &str) -> Value {
        self.get(&format!("/session/{session}"))
    }

    /// Copies a session and returns the id of the copy.
    #[track_caller]
    pub(crate) fn fork(&self, session: &str) -> String {
        let copy = self.post(&format!("/session/{session}/fork"), &json!({}));
        copy["id"].as_str().unwrap().to_string()
    }

    /// Makes OpenCode compact a session.
    #[track_caller]
    pub(crate) fn summarize(&self, session: &str) {
        let model = json!({"providerID": "mock", "modelID": "m1"});
        self.post(&format!("/session/{session}/summarize"), &model);
    }

    /// Undoes a message and what came after it; the next prompt makes that final.
    #[track_caller]
    pub(crate) fn revert(&self, session: &str, message: &Value) {
        let body = json!({"messageID": message["info"]["id"]});
        self.post(&format!("/session/{session}/revert"), &body);
    }

    /// Takes an undo back.
    #[track_caller]
    pub(crate) fn unrevert(&self, session: &str) {
        self.post(&format!("/session/{session}/unrevert"), &json!({}));
    }

    /// Follows the events of the project.
    pub(crate) fn events(&self) -> Events {
        self.http.events("/event")
    }

    /// The turns of a session that the model was asked for.
    pub(crate) fn chats(&self, session: &str) -> Vec<Call> {
        self.provider.of(session, Kind::Chat)
    }

    /// Waits until a session has the title that the model gave it.
    #[track_caller]
    pub(crate) fn wait_for_title(&self, session: &str) {
        until("a title", || (self.session(session)["title"] == "Mock Title").then_some(()));
    }
}
