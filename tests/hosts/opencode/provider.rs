//! A stand-in for a model: it speaks what OpenCode was seen to speak with an OpenAI-compatible provider, answers with
//! canned text, and remembers every call. It understands no prompt.
//!
//! Directives in the last user text: `[[slow:MS]]` waits before the first byte, `[[tokens:N]]` reports so many prompt
//! tokens (99,000 make OpenCode compact), `[[task]]` calls the tool that starts a child session, `[[bash:CMD]]` the shell.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::http::headers;

/// What a call is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A turn of a conversation.
    Chat,
    /// A name for a session.
    Title,
    /// A summary that replaces a long conversation.
    Compaction,
}

/// One call of the model.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) kind: Kind,
    /// The session that it is made for: OpenCode sends it as a header.
    pub(crate) session: String,
    pub(crate) body: Value,
    pub(crate) at: Instant,
}

impl Call {
    /// Role and text of every message, in order.
    pub(crate) fn messages(&self) -> Vec<(String, String)> {
        let messages = self.body["messages"].as_array().unwrap();
        messages.iter().map(|one| (role(one).to_string(), text(one))).collect()
    }

    /// The text of everything but the system's.
    pub(crate) fn conversation(&self) -> String {
        let spoken = self.messages().into_iter().filter(|(role, _)| role != "system");
        spoken.map(|(_, text)| text).collect::<Vec<_>>().join("\n")
    }

    /// The text of the last message of the user.
    pub(crate) fn asked(&self) -> String {
        last_user(&self.body)
    }

    /// How often a text is in the conversation.
    pub(crate) fn count(&self, of: &str) -> usize {
        self.conversation().matches(of).count()
    }

    /// Whether the conversation has one text, and the other after it.
    pub(crate) fn in_order(&self, first: &str, second: &str) -> bool {
        let text = self.conversation();
        text.find(first).is_some_and(|at| text[at..].contains(second))
    }
}

/// The model's side of the line.
#[derive(Debug, Clone)]
pub(crate) struct Provider {
    port: u16,
    calls: Arc<Mutex<Vec<Call>>>,
}

impl Provider {
    /// Starts to listen; a thread per connection, as long as the tests run.
    pub(crate) fn start() -> Provider {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let provider = Provider { port, calls: Arc::default() };
        let calls = Arc::clone(&provider.calls);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let calls = Arc::clone(&calls);
                // A caller that hangs up in the middle is the caller's affair.
                thread::spawn(move || drop(serve(stream, &calls)));
            }
        });
        provider
    }

    /// The address for OpenCode's configuration.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// Every call until now.
    pub(crate) fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap().clone()
    }

    /// The calls of one kind for one session.
    pub(crate) fn of(&self, session: &str, kind: Kind) -> Vec<Call> {
        let calls = self.calls().into_iter();
        calls.filter(|call| call.session == session && call.kind == kind).collect()
    }

    /// The turns that answer this prompt, whatever the session.
    pub(crate) fn turns(&self, prompt: &str) -> Vec<Call> {
        let calls = self.calls().into_iter();
        calls.filter(|call| call.kind == Kind::Chat && call.asked().contains(prompt)).collect()
    }
}

fn serve(stream: TcpStream, calls: &Mutex<Vec<Call>>) -> io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let headers = headers(&mut reader);
    let header = |name: &str| {
        headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.as_str())
    };
    let mut body = vec![0; header("content-length").parse().unwrap_or(0)];
    reader.read_exact(&mut body)?;
    let mut stream = stream;
    if !first.starts_with("POST /v1/chat/completions ") {
        return stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
    }
    let body: Value = serde_json::from_slice(&body).unwrap();
    let call = Call {
        kind: kind(&body),
        session: header("x-session-affinity").to_string(),
        body,
        at: Instant::now(),
    };
    let number = {
        let mut calls = calls.lock().unwrap();
        calls.push(call.clone());
        calls.len()
    };
    let asked = call.asked();
    if let (Kind::Chat, Some(wait)) = (call.kind, directive(&asked, "slow")) {
        thread::sleep(Duration::from_millis(wait.parse().unwrap()));
    }
    stream.write_all(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n",
    )?;
    for chunk in answer(&call, &asked, number) {
        stream.write_all(format!("data: {chunk}\n\n").as_bytes())?;
    }
    stream.write_all(b"data: [DONE]\n\n")
}

fn answer(call: &Call, asked: &str, number: usize) -> [Value; 2] {
    let tokens = match call.kind {
        Kind::Chat => directive(asked, "tokens").map_or(100, |tokens| tokens.parse().unwrap()),
        Kind::Title | Kind::Compaction => 50,
    };
    let usage =
        json!({"prompt_tokens": tokens, "completion_tokens": 5, "total_tokens": tokens + 5});
    let chunk = |delta: Value, finish: Value| {
        json!({
            "id": format!("mock-{number}"), "object": "chat.completion.chunk", "created": 1,
            "model": call.body["model"],
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        })
    };
    let say = |text: &str| (json!({"role": "assistant", "content": text}), "stop");
    let tool = |name: &str, arguments: Value| {
        let function = json!({"name": name, "arguments": arguments.to_string()});
        let call = json!({"index": 0, "id": format!("call_{number}"), "type": "function", "function": function});
        (json!({"role": "assistant", "tool_calls": [call]}), "tool_calls")
    };
    // After a tool's result the last message is the tool's: then the turn is over.
    let fresh = call.messages().last().is_some_and(|(role, _)| role == "user");
    let (delta, finish) = match call.kind {
        Kind::Title => say("Mock Title"),
        Kind::Compaction => say("MOCK-SUMMARY"),
        Kind::Chat if fresh && asked.contains("[[task]]") => tool(
            "task",
            json!({"description": "probe child", "prompt": "child prompt", "subagent_type": "general"}),
        ),
        Kind::Chat => match directive(asked, "bash").filter(|_| fresh) {
            Some(command) => tool("bash", json!({"command": command, "description": "probe"})),
            None => say(&format!("MOCK-REPLY-{number}")),
        },
    };
    let mut last = chunk(json!({}), json!(finish));
    last["usage"] = usage;
    [chunk(delta, Value::Null), last]
}

fn kind(body: &Value) -> Kind {
    let messages = body["messages"].as_array().unwrap();
    let titled = |one: &Value| text(one).contains("Generate a title for this conversation");
    let summarizes = |one: &Value| role(one) == "system" && text(one).contains("summar");
    if messages.iter().any(titled) {
        Kind::Title
    } else if body["tools"].as_array().is_none_or(Vec::is_empty) && messages.iter().any(summarizes)
    {
        Kind::Compaction
    } else {
        Kind::Chat
    }
}

/// A directive of the user's. A handoff quotes earlier ones, which count no more.
fn directive<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let is_quoted = |line: &&str| ["> ", "- ", "Goal: "].iter().any(|mark| line.starts_with(mark));
    text.lines().filter(|line| !is_quoted(line)).find_map(|line| {
        let start = line.find(&format!("[[{name}:"))? + name.len() + 3;
        Some(&line[start..start + line[start..].find("]]")?])
    })
}

fn last_user(body: &Value) -> String {
    let messages = body["messages"].as_array().unwrap();
    messages.iter().rfind(|one| role(one) == "user").map(text).unwrap_or_default()
}

fn role(message: &Value) -> &str {
    message["role"].as_str().unwrap_or_default()
}

fn text(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<_> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}
