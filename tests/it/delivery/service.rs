//! The service and those who ask it: the same answers with it and without it, whatever state it is in.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::handoff_lab::Lab;
use crate::support::{Scratch, atlas, stderr, valid};

/// A running service that follows a server which is not there.
struct Service {
    child: Child,
}

impl Service {
    fn start(scratch: &Scratch) -> Service {
        let mut child = scratch
            .kgctx(["serve", "--server", "http://127.0.0.1:1"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("listening on "), "{line}");
        Service { child }
    }

    fn signal(&self, signal: &str) {
        let sent = Command::new("kill").arg(signal).arg(self.child.id().to_string()).status();
        assert!(sent.unwrap().success());
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn hook(scratch: &Scratch, id: &str, variables: &[(&str, &str)]) -> Value {
    let info = json!({"id": id, "directory": scratch.path().join("atlas"), "title": ""});
    let event = json!({"type": "session.created", "properties": {"info": info}});
    let mut child = scratch
        .kgctx(["hook", "opencode"])
        .envs(variables.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let question = json!({"protocol": 1, "event": event}).to_string();
    child.stdin.take().unwrap().write_all(question.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn status(scratch: &Scratch) -> Value {
    let status = scratch.json(["serve", "--status", "--json"]);
    valid("serve-status", &status);
    status
}

#[test]
fn answers_are_the_same_with_a_service_and_without() {
    let scratch = atlas();
    let without = hook(&scratch, "ses_1", &[]);
    let service = Service::start(&scratch);
    for n in 2..6 {
        assert_eq!(hook(&scratch, &format!("ses_{n}"), &[])["text"], without["text"]);
    }
    assert_eq!(status(&scratch)["answered"], 4);
    assert_eq!(status(&scratch)["watched"], 1);
    // The environment that counts is that of who asks.
    let short = hook(&scratch, "ses_6", &[("TOKEN_LIMIT", "200")]);
    assert!(short["metadata"]["tokens"].as_u64().unwrap() <= 200);
    let off = hook(&scratch, "ses_7", &[("SESSION_START_ENABLED", "false")]);
    assert_eq!(off["action"], "none");
    assert_eq!(hook(&scratch, "ses_2", &[])["action"], "ask", "claimed by way of the service");
    drop(service);
    assert_eq!(hook(&scratch, "ses_2", &[])["action"], "ask", "and known without it");
}

#[test]
fn a_note_that_was_just_written_is_in_the_next_answer() {
    let scratch = atlas();
    let _service = Service::start(&scratch);
    hook(&scratch, "ses_0", &[]);
    thread::sleep(Duration::from_millis(500));
    for n in 1..6 {
        let name = format!("atlas/docs/new{n}.md");
        scratch.write(&name, format!("# About atlas {n}\n\nOn the [[Fresh {n}]].\n"));
        // What the system tells of at once, the service knows of at once; and later, when the index is up to date again, it
        // does not take what it had made before.
        for (pause, session) in [(100, format!("ses_{n}")), (700, format!("ses_{n}later"))] {
            thread::sleep(Duration::from_millis(pause));
            let text = hook(&scratch, &session, &[])["text"].to_string();
            assert!(text.contains(&format!("[[fresh-{n}]]")), "{n}: {text}");
        }
    }
}

#[test]
fn a_service_that_hangs_is_not_waited_for() {
    let scratch = atlas();
    let service = Service::start(&scratch);
    assert_eq!(hook(&scratch, "ses_1", &[])["action"], "inject");
    service.signal("-STOP");
    let started = Instant::now();
    assert_eq!(hook(&scratch, "ses_2", &[])["action"], "inject");
    assert!(started.elapsed() < Duration::from_millis(1_200), "{:?}", started.elapsed());
    let (code, message) = scratch.fail(["serve", "--status"]);
    assert_eq!(code, 1);
    assert!(message.contains("does not answer"), "{message}");
    service.signal("-CONT");
}

/// What takes the place of the service and never completes an answer.
#[derive(Debug, Clone, Copy)]
enum Stalling {
    /// Accepts and says nothing.
    Silent,
    /// Says one byte at a time.
    Drips,
    /// Does not even accept, and its queue is full.
    Full,
}

#[test]
fn a_socket_that_never_completes_an_answer_is_not_waited_for() {
    for stalling in [Stalling::Silent, Stalling::Drips, Stalling::Full] {
        let scratch = atlas();
        let folder = scratch.path().join("kgctx-home/state");
        fs::create_dir_all(&folder).unwrap();
        let socket = folder.join("service.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        let mut held = Vec::new();
        match stalling {
            Stalling::Full => {
                // Connecting blocks when the queue is full: this goes on until it does.
                let connected = Arc::new(AtomicUsize::new(0));
                let (count, at) = (Arc::clone(&connected), socket.clone());
                thread::spawn(move || {
                    let mut streams = Vec::new();
                    while let Ok(stream) = UnixStream::connect(&at) {
                        streams.push(stream);
                        count.fetch_add(1, Ordering::Relaxed);
                    }
                });
                let mut before = usize::MAX;
                while connected.load(Ordering::Relaxed) != before {
                    before = connected.load(Ordering::Relaxed);
                    thread::sleep(Duration::from_millis(300));
                }
                held.push(listener);
            }
            Stalling::Silent | Stalling::Drips => {
                thread::spawn(move || {
                    for stream in listener.incoming() {
                        thread::spawn(move || stall(stream.unwrap(), stalling));
                    }
                });
            }
        }
        let started = Instant::now();
        assert_eq!(hook(&scratch, "ses_1", &[])["action"], "inject", "{stalling:?}");
        assert!(
            started.elapsed() < Duration::from_millis(1_200),
            "{stalling:?}: {:?}",
            started.elapsed()
        );
        let started = Instant::now();
        let (code, message) = scratch.fail(["serve", "--status"]);
        assert_eq!(code, 1);
        assert!(message.contains("does not answer"), "{message}");
        assert!(
            started.elapsed() < Duration::from_secs(4),
            "{stalling:?}: {:?}",
            started.elapsed()
        );
    }
}

fn stall(mut stream: UnixStream, stalling: Stalling) {
    let byte: &[u8] = if matches!(stalling, Stalling::Drips) { b" " } else { b"" };
    while stream.write_all(byte).is_ok() {
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_service_of_another_version_or_another_program_is_not_asked() {
    let scratch = atlas();
    let folder = scratch.path().join("kgctx-home/state");
    fs::create_dir_all(&folder).unwrap();
    for reply in [&br#"{"other":"9.9.9"}"#[..], b"", b"nonsense", br#"{"hook":{"action":"dance"}}"#]
    {
        let socket = folder.join("service.sock");
        let _ = fs::remove_file(&socket);
        let listener = UnixListener::bind(&socket).unwrap();
        let other = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.read_to_end(&mut Vec::new()).unwrap();
            stream.write_all(reply).unwrap();
        });
        let answer = hook(&scratch, &format!("ses_{}", reply.len()), &[]);
        assert_eq!(answer["action"], "inject", "{answer}");
        other.join().unwrap();
    }
}

#[test]
fn there_is_one_service_and_only_its_user_can_reach_it() {
    let scratch = atlas();
    let mut service = Service::start(&scratch);
    let socket = scratch.path().join("kgctx-home/state/service.sock");
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&socket), 0o600);
    assert_eq!(mode(socket.parent().unwrap()), 0o700);
    assert_eq!(mode(&scratch.path().join("kgctx-home/state/log/service.log")), 0o600);
    let (code, message) = scratch.fail(["serve", "--server", "http://127.0.0.1:1"]);
    assert_eq!(code, 1);
    assert!(message.contains("already running"), "{message}");
    let text = scratch.run(["serve", "--status"]);
    assert!(text.contains("http://127.0.0.1:1  not connected"), "{text}");
    // It ends in good order, and leaves nothing that the next one could stumble over.
    service.signal("-TERM");
    assert!(service.child.wait().unwrap().success());
    assert!(!socket.exists());
    let log = fs::read_to_string(scratch.path().join("kgctx-home/state/log/service.log")).unwrap();
    assert!(log.contains("the service has ended"), "{log}");
    let (code, message) = scratch.fail(["serve", "--status"]);
    assert_eq!((code, message.contains("not running")), (1, true), "{message}");
    // Neither does one that was killed.
    let service = Service::start(&scratch);
    service.signal("-KILL");
    drop(service);
    assert!(socket.exists());
    let again = Service::start(&scratch);
    assert_eq!(hook(&scratch, "ses_1", &[])["action"], "inject");
    assert_eq!(status(&scratch)["answered"], 1);
    drop(again);
    let output = scratch.kgctx(["serve", "--server", "ftp://x"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}

/// An OpenCode that lets everybody listen and cannot list its sessions. Returns its address and how often it was connected to.
fn half_a_server() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let n_listeners = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&n_listeners);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let counter = Arc::clone(&counter);
            thread::spawn(move || {
                let mut request = [0; 2_048];
                let n = stream.read(&mut request).unwrap_or(0);
                if String::from_utf8_lossy(&request[..n]).starts_with("GET /event ") {
                    counter.fetch_add(1, Ordering::SeqCst);
                }
                let events = String::from_utf8_lossy(&request[..n]).contains("event HTTP");
                let head = if events {
                    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
                } else {
                    "HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n"
                };
                let _ = stream.write_all(head.as_bytes());
                if events {
                    // Until the other end goes away.
                    let _ = stream.read(&mut request);
                }
            });
        }
    });
    (address, n_listeners)
}

#[test]
fn a_server_that_is_not_well_is_given_time() {
    let scratch = atlas();
    let (address, n_listeners) = half_a_server();
    let mut service =
        scratch.kgctx(["serve", "--server", &address]).stdout(Stdio::null()).spawn().unwrap();
    thread::sleep(Duration::from_secs(5));
    service.kill().unwrap();
    service.wait().unwrap();
    // After 0, 0.25, 0.75, 1.75 and 3.75 seconds.
    let n = n_listeners.load(Ordering::SeqCst);
    assert!((2..=5).contains(&n), "{n}");
}

/// An OpenCode with one idle session, `ses_1`, which stores every message. Returns its address.
fn idle_server(folder: &Path) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let session = json!({"id": "ses_1", "directory": folder, "title": "t"});
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let (mut first, mut line, mut n_bytes) = (String::new(), String::new(), 0);
            stream.read_line(&mut first).unwrap();
            while line != "\r\n" {
                line.clear();
                stream.read_line(&mut line).unwrap();
                let length = line.to_lowercase();
                let length = length.strip_prefix("content-length:").map(|n| n.trim().parse());
                n_bytes = length.map_or(n_bytes, |length| length.unwrap());
            }
            stream.read_exact(&mut vec![0; n_bytes]).unwrap();
            let body = match first.split('?').next().unwrap() {
                stored if stored.starts_with("POST /session/ses_1/message") => {
                    json!({"info": {"id": "msg_1", "role": "user"}})
                }
                "GET /session/ses_1/message" => json!([]),
                "GET /session/status" => json!({}),
                _ => session.clone(),
            };
            let body = body.to_string();
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            stream.get_mut().write_all((head + &body).as_bytes()).unwrap();
        }
    });
    address
}

#[test]
fn over_http_a_session_in_ci_leaves_the_handoff_to_a_person() {
    let lab = Lab::new();
    lab.scratch.write("zephyr/docs/wind.md", "# Wind\n\nThe [[wind]] turns north.\n");
    let id = lab.leave("For a person.");
    let server = idle_server(lab.folder());
    for (ci, status) in [("true", "active"), ("false", "consumed")] {
        let mut inject = lab.kgctx(["inject", "--session", "ses_1", "--server", &server]);
        let fed = inject.env("CI", ci).output().unwrap();
        assert!(fed.status.success(), "{}", stderr(&fed));
        assert_eq!(lab.status(&id).as_deref(), Some(status), "{ci}");
        // The server forgets; so does the state, for the next round.
        lab.sql("DELETE FROM claims");
    }
}

#[test]
fn a_session_that_the_service_fed_counts_as_live() {
    let lab = Lab::new();
    lab.leave("For the first one.");
    let server = idle_server(lab.folder());
    let service = Service::start(&lab.scratch);
    let fed = lab.kgctx(["inject", "--session", "ses_1", "--server", &server]).output().unwrap();
    assert!(fed.status.success(), "{}", stderr(&fed));
    let id = lab.create(&["--type", "auto", "--session", "ses_1", "--body", "Go on."]);
    let text = lab.start("next").unwrap();
    assert!(text.contains("PARALLEL SESSION") && text.contains(&id), "{text}");
    // Without the service, no process vouches for the session.
    drop(service);
    assert!(lab.start("later").unwrap().contains("Go on."));
}
