//! `kgctx serve --web`, running in a project that has something of everything to show, and asked over a plain connection.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use kgctx::app::handoff::now;
use serde_json::{Value, json};

use crate::support::handoff_lab::Lab;

/// What would act on a page, if it became markup.
pub(crate) const MARKUP: &str = "<img src=x onerror=alert(1)> & <b>bold</b>";
/// A secret that no answer may hold.
pub(crate) const SECRET: &str = "ghp_x7Kd93hTq0ZmB2vLs8RfYwN4aUeC6pJ1gXoI";

/// A project with notes, two live sessions, and handoffs of every kind.
pub(crate) fn busy_project() -> Lab {
    let lab = Lab::new();
    let notes = [
        (
            "tile-cache",
            "Tile cache",
            "The [[Tile Cache]] keeps what the [[Renderer]] drew; see [[Eviction]].",
        ),
        (
            "renderer",
            "Renderer queue",
            "The [[Renderer]] takes jobs from a [[Queue]], and fills the [[Tile Cache]].",
        ),
        (
            "eviction",
            "Eviction",
            "[[Eviction]] frees the [[Tile Cache]] by age. [[Stale While Revalidate]] helps.",
        ),
        ("rates", "Rate limiting", "A [[Rate Limit]] protects the [[Renderer]] and the [[Queue]]."),
        (
            "zephyr",
            "Zephyr",
            "What zephyr is about: [[Tile Cache]], [[Renderer]], [[Rate Limit]], [[Map Style]].",
        ),
    ];
    for (file, title, text) in notes {
        lab.scratch.write(&format!("zephyr/docs/{file}.md"), format!("# {title}\n\n{text}\n"));
    }
    let hostile = format!(
        "# Hostile {MARKUP}\n\nIt has {MARKUP}, [[Tile Cache]] and \u{202e}[[Odd <i>Name</i>]].\ntoken: {SECRET}\n"
    );
    lab.scratch.write("zephyr/docs/hostile.md", hostile);
    lab.create(&[
        "--session",
        "author",
        "--goal",
        "Finish the cache",
        "--next",
        "Write the test",
        "--body",
        "All of it.",
    ]);
    lab.start("session-one");
    fill(&lab, "session-one", 104_000);
    lab.start("session-two");
    fill(&lab, "session-two", 31_000);
    let goal = format!("Beware of {MARKUP} {SECRET}");
    lab.create(&[
        "--session",
        "session-two",
        "--goal",
        &goal,
        "--next",
        "Look",
        "--body",
        "A body.\n\nWith two paragraphs.",
    ]);
    lab.create(&[
        "--task",
        "--priority",
        "high",
        "--goal",
        "Measure the queue",
        "--next",
        "Run it",
        "--body",
        "How long is it?",
    ]);
    lab
}

/// Makes a session have so many tokens in its context.
pub(crate) fn fill(lab: &Lab, session: &str, tokens: u64) {
    let file = lab.transcript(session);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let before = fs::read_to_string(&file).unwrap_or_default();
    fs::write(file, format!("{before}{}\n", answered(tokens))).unwrap();
}

/// A line of Claude Code's transcript after which a context has so many tokens.
pub(crate) fn answered(tokens: u64) -> Value {
    json!({"type": "assistant", "timestamp": now().to_string(), "requestedModel": "claude-sonnet-4-5", "message":
        {"model": "claude-sonnet-4-5", "content": [], "usage": {"input_tokens": tokens}}})
}

pub(crate) struct WebPage {
    pub(crate) child: Child,
    /// The whole address, with the secret and the final slash.
    pub(crate) address: String,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl WebPage {
    /// Starts it with this command, which has all its arguments.
    #[track_caller]
    pub(crate) fn start(mut command: Command) -> WebPage {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let Some(address) = line.trim().strip_prefix("open ") else {
            let mut said = String::new();
            child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            panic!("{line}{said}");
        };
        WebPage { address: address.to_owned(), child }
    }

    pub(crate) fn authority(&self) -> &str {
        self.address.trim_start_matches("http://").split('/').next().unwrap()
    }

    /// The secret part of the address, between slashes.
    pub(crate) fn root(&self) -> &str {
        &self.address["http://".len() + self.authority().len()..]
    }

    /// Sends the head of a request.
    #[track_caller]
    pub(crate) fn send(&self, head: &str) -> Reply {
        let mut stream = TcpStream::connect(self.authority()).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{text:?}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Reply { status, head: head.to_lowercase(), body: body.to_owned() }
    }

    #[track_caller]
    pub(crate) fn request(&self, method: &str, path: &str, host: &str) -> Reply {
        self.send(&format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"))
    }

    /// Asks for something below the secret.
    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> Reply {
        self.request("GET", &format!("{}{path}", self.root()), self.authority())
    }

    /// Asks a question that has an answer.
    #[track_caller]
    pub(crate) fn json(&self, question: &str) -> Value {
        let reply = self.get(&format!("api/{question}"));
        assert_eq!(reply.status, 200, "{question}: {reply:?}");
        serde_json::from_str(&reply.body).unwrap()
    }
}

impl Drop for WebPage {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The bytes of the state and of all documents.
pub(crate) fn kept(lab: &Lab) -> Vec<(PathBuf, Vec<u8>)> {
    let state = lab.scratch.path().join("kgctx-home/state");
    let mut found = Vec::new();
    let mut folders = vec![state];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match entry.is_dir() {
                true => folders.push(entry),
                // What a reader shares with writers.
                false if entry.to_string_lossy().ends_with("-shm") => {}
                false => found.push((entry.clone(), fs::read(entry).unwrap())),
            }
        }
    }
    // A reader makes the log, too, but writes nothing to it.
    found.retain(|(path, bytes)| !(path.to_string_lossy().ends_with("-wal") && bytes.is_empty()));
    found.sort();
    found
}
