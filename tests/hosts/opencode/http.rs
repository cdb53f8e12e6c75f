//! A minimal HTTP client for the tests: one connection per call, and every call ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::thread;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::until;

/// A server on loopback.
#[derive(Debug, Clone)]
pub(crate) struct Http {
    address: String,
    password: Option<String>,
}

/// What a server answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) content_type: String,
    pub(crate) body: String,
}

impl Answer {
    /// The body of an answer that must be a success in JSON; an unknown route answers 200 with a web page.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert!(self.status == 200 && self.content_type.contains("json"), "{self:?}");
        serde_json::from_str(&self.body).unwrap()
    }
}

impl Http {
    /// A server at `http://host:port`, and OpenCode's password if it has one.
    pub(crate) fn new(url: &str, password: Option<String>) -> Http {
        let address = url.trim_start_matches("http://").trim_end_matches('/').to_string();
        Http { address, password }
    }

    /// Where it is.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The same server, asked by somebody without the password.
    pub(crate) fn stranger(&self) -> Http {
        Http { password: None, ..self.clone() }
    }

    /// Asks, and reads the whole answer.
    #[track_caller]
    pub(crate) fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Answer {
        let mut reader = self.ask(method, path, body);
        let head = Head::read(&mut reader);
        let mut content = Vec::new();
        if head.chunked {
            while let Some(chunk) = next_chunk(&mut reader) {
                content.extend(chunk);
            }
        } else if let Some(length) = head.length {
            content.resize(length, 0);
            reader.read_exact(&mut content).unwrap();
        } else {
            reader.read_to_end(&mut content).unwrap();
        }
        Answer {
            status: head.status,
            content_type: head.content_type,
            body: String::from_utf8(content).unwrap(),
        }
    }

    /// Follows a stream of events until the server is gone.
    pub(crate) fn events(&self, path: &str) -> Events {
        let mut reader = self.ask("GET", path, None);
        let head = Head::read(&mut reader);
        assert_eq!((head.status, head.chunked), (200, true), "{path} is no stream");
        let seen = Arc::new(Mutex::new(Vec::new()));
        let writer = Arc::clone(&seen);
        thread::spawn(move || {
            let mut bytes = Vec::new();
            while let Some(chunk) = next_chunk(&mut reader) {
                bytes.extend(chunk);
                while let Some(end) = memchr::memmem::find(&bytes, b"\n\n") {
                    let event: Vec<u8> = bytes.drain(..end + 2).collect();
                    let data = event.strip_prefix(b"data:").unwrap();
                    writer.lock().unwrap().push(serde_json::from_slice(data).unwrap());
                }
            }
        });
        let events = Events { seen };
        // Where the events of all folders are told, each is wrapped.
        let connected = |event: &Value| event["type"] == "server.connected";
        events.first(|event| connected(event) || connected(&event["payload"]));
        events
    }

    #[track_caller]
    fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(super::PATIENCE)).unwrap();
        let mut head =
            format!("{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n", self.address);
        if let Some(password) = &self.password {
            let secret = STANDARD.encode(format!("opencode:{password}"));
            head.push_str(&format!("authorization: Basic {secret}\r\n"));
        }
        let body = body.map(Value::to_string).unwrap_or_default();
        if !body.is_empty() {
            head.push_str(&format!(
                "content-type: application/json\r\ncontent-length: {}\r\n",
                body.len()
            ));
        } else if method != "GET" {
            head.push_str("content-length: 0\r\n");
        }
        stream.write_all(format!("{head}\r\n{body}").as_bytes()).unwrap();
        BufReader::new(stream)
    }
}

/// The events of a server since somebody listens.
#[derive(Debug)]
pub(crate) struct Events {
    seen: Arc<Mutex<Vec<Value>>>,
}

impl Events {
    /// All of them until now.
    pub(crate) fn all(&self) -> Vec<Value> {
        self.seen.lock().unwrap().clone()
    }

    /// The first that is meant, waited for.
    #[track_caller]
    pub(crate) fn first(&self, meant: impl Fn(&Value) -> bool) -> Value {
        until("an event", || self.all().into_iter().find(|event| meant(event)))
    }
}

struct Head {
    status: u16,
    content_type: String,
    chunked: bool,
    length: Option<usize>,
}

impl Head {
    #[track_caller]
    fn read(reader: &mut impl BufRead) -> Head {
        let mut first = String::new();
        reader.read_line(&mut first).unwrap();
        let status = first.split(' ').nth(1).and_then(|status| status.parse().ok());
        let mut head = Head {
            status: status.unwrap_or_else(|| panic!("no HTTP: {first:?}")),
            content_type: String::new(),
            chunked: false,
            length: None,
        };
        for (name, value) in headers(reader) {
            match name.as_str() {
                "content-type" => head.content_type = value,
                "transfer-encoding" => head.chunked = value == "chunked",
                "content-length" => head.length = value.parse().ok(),
                _ => {}
            }
        }
        head
    }
}

/// Reads headers up to the empty line, names in lower case.
pub(crate) fn headers(reader: &mut impl BufRead) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
        if let Some((name, value)) = line.split_once(':') {
            found.push((name.to_ascii_lowercase(), value.trim().to_string()));
        }
        line.clear();
    }
    found
}

fn next_chunk(reader: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut size = String::new();
    reader.read_line(&mut size).ok()?;
    let size = usize::from_str_radix(size.trim(), 16).ok().filter(|size| *size > 0)?;
    let mut chunk = vec![0; size + 2];
    reader.read_exact(&mut chunk).ok()?;
    chunk.truncate(size);
    Some(chunk)
}
