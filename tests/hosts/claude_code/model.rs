//! A stand-in for the model: it speaks what Claude Code was seen to speak with Anthropic's API, and Copilot CLI with
//! OpenAI's, answers everything with one word, and remembers every request. It listens on the loopback alone.
//!
//! `[[bash:CMD]]` in a prompt makes it call the shell, `[[shell:CMD]]` the same in the background, `[[agent:TASK]]` a sub-agent
//! in the background, which takes some seconds; `[[tokens:N]]` lets it have counted so many in its context.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

use serde_json::{Value, json};

/// The model's side of the line.
pub(crate) struct Model {
    port: u16,
    requests: Arc<Mutex<Vec<Value>>>,
    /// When each request came, and when its answer was out.
    times: Arc<Mutex<Vec<(Instant, Instant)>>>,
}

impl Model {
    /// Starts to listen; a thread per connection, as long as the tests run.
    pub(crate) fn start() -> Model {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let model = Model { port, requests: Arc::default(), times: Arc::default() };
        let (requests, times) = (Arc::clone(&model.requests), Arc::clone(&model.times));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (requests, times) = (Arc::clone(&requests), Arc::clone(&times));
                // A caller that hangs up in the middle is the caller's affair.
                thread::spawn(move || drop(serve(stream, &requests, &times)));
            }
        });
        model
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// When each request came until now, and when its answer was out.
    pub(crate) fn times(&self) -> Vec<(Instant, Instant)> {
        self.times.lock().unwrap().clone()
    }

    /// All that the model was told since this was asked last: one text per request.
    pub(crate) fn told(&self) -> Vec<String> {
        let requests = std::mem::take(&mut *self.requests.lock().unwrap());
        requests.iter().map(words).collect()
    }
}

/// Every text in a request.
fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(words).collect::<Vec<_>>().join("\n"),
        Value::Object(members) => members.values().map(words).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}

fn serve(
    mut stream: TcpStream,
    requests: &Mutex<Vec<Value>>,
    times: &Mutex<Vec<(Instant, Instant)>>,
) -> io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        match header.trim_end().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse().unwrap();
            }
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    if first.starts_with("POST /v1/chat/completions ") {
        requests.lock().unwrap().push(serde_json::from_slice(&body).unwrap());
        return stream.write_all(&chat_answer());
    }
    if !first.starts_with("POST /v1/messages?") && !first.starts_with("POST /v1/messages ") {
        return stream.write_all(
            b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
        );
    }
    let request: Value = serde_json::from_slice(&body).unwrap();
    // Claude Code takes answers with one id for one answer, and forgets where each stood.
    static ANSWERS: AtomicUsize = AtomicUsize::new(0);
    let n = ANSWERS.fetch_add(1, Ordering::Relaxed);
    let message = json!({"id": format!("msg_{n}"), "type": "message", "role": "assistant", "content": [],
        "model": request["model"], "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": tokens(&request), "output_tokens": 1}});
    let came = Instant::now();
    let (block, delta, reason) = answer(&request, n);
    requests.lock().unwrap().push(request);
    stream.write_all(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n",
    )?;
    for event in [
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "usage": {"output_tokens": 2},
            "delta": {"stop_reason": reason, "stop_sequence": null}}),
        json!({"type": "message_stop"}),
    ] {
        let name = event["type"].as_str().unwrap();
        stream.write_all(format!("event: {name}\ndata: {event}\n\n").as_bytes())?;
    }
    times.lock().unwrap().push((came, Instant::now()));
    Ok(())
}

/// One word in OpenAI's form.
fn chat_answer() -> Vec<u8> {
    let chunk = |delta: Value, reason: Option<&str>| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
        let usage = json!({"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12});
        let chunk = json!({"id": "m", "object": "chat.completion.chunk", "created": 1,
            "model": "none", "choices": [choice], "usage": usage});
        format!("data: {chunk}\n\n")
    };
    let said = chunk(json!({"role": "assistant", "content": "MOCK-REPLY"}), None);
    let end = chunk(json!({}), Some("stop"));
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    format!("{head}{said}{end}data: [DONE]\n\n").into_bytes()
}

/// What is said to be in the context.
fn tokens(request: &Value) -> u64 {
    let asked = words(&request["messages"]);
    let told = asked.split_once("[[tokens:").and_then(|(_, rest)| rest.split_once("]]"));
    told.map_or(10, |(number, _)| number.parse().unwrap())
}

/// The beginning of the nth answer, all of it, and why it ends there.
fn answer(request: &Value, n: usize) -> (Value, Value, &'static str) {
    let messages = request["messages"].as_array().unwrap();
    // What Claude Code adds by itself stands before and after the prompt. The result of a tool is told without it.
    let answered = messages.iter().rposition(|message| message["role"] == "assistant");
    let asked: String = messages[answered.map_or(0, |at| at + 1)..].iter().map(words).collect();
    let command = |mark| asked.split_once(mark).and_then(|(_, rest)| rest.split_once("]]"));
    let input = |command: &str, is_background: bool| {
        let mut input = json!({"command": command, "description": "probe"});
        if is_background {
            input["run_in_background"] = json!(true);
        }
        input.to_string()
    };
    let bash = |input| ("Bash", input);
    let call = command("[[bash:").map(|(command, _)| bash(input(command, false)));
    let call = call.or_else(|| command("[[shell:").map(|(command, _)| bash(input(command, true))));
    let call = call.or_else(|| {
        let prompt = format!("{} [[bash:sleep 8]]", command("[[agent:")?.0);
        let input = json!({"description": "probe", "prompt": prompt, "subagent_type": "general-purpose",
            "run_in_background": true});
        Some(("Agent", input.to_string()))
    });
    match call {
        Some((name, input)) => (
            json!({"type": "tool_use", "id": format!("toolu_{n}"), "name": name, "input": {}}),
            json!({"type": "input_json_delta", "partial_json": input}),
            "tool_use",
        ),
        None => (
            json!({"type": "text", "text": ""}),
            json!({"type": "text_delta", "text": "MOCK-REPLY"}),
            "end_turn",
        ),
    }
}
