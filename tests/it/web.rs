//! `kgctx serve --web`: who is let in, what the page is told, and that it only reads.

use std::process::Command;
use std::time::{Duration, Instant};
use std::{fs, thread};

use serde_json::{Value, json};

use crate::support::handoff_lab::Lab;
use crate::support::web_page::{MARKUP, SECRET, WebPage, busy_project, kept};
use crate::support::{stderr, valid};

fn page(lab: &Lab) -> WebPage {
    WebPage::start(lab.kgctx(["serve", "--web"]))
}

#[test]
fn only_the_printed_address_opens_the_page() {
    let lab = Lab::new();
    let page = page(&lab);
    let token = page.root().trim_matches('/').to_owned();
    assert_eq!(token.len(), 64, "256 bits");
    assert!(page.authority().starts_with("127.0.0.1:"), "{}", page.address);
    let index = page.get("");
    assert_eq!(index.status, 200);
    assert!(index.body.contains("<main"), "{index:?}");
    let here = page.authority().to_owned();
    let other = format!("{}0", &token[..63]).replace("00", "01");
    for path in [
        "/",
        "/favicon.ico",
        "/style.css",
        "/api/monitor",
        &format!("/{other}/"),
        &format!("/{}/", &token[..63]),
    ] {
        let denied = page.request("GET", path, &here);
        assert_eq!(denied.status, 403, "{path}: {denied:?}");
        assert!(denied.body.contains("open the whole address"), "{denied:?}");
    }
    // A site whose name was made to lead to this machine.
    for host in ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost"] {
        let denied = page.request("GET", page.root(), host);
        assert_eq!(denied.status, 403, "{host}: {denied:?}");
    }
    let named = here.replace("127.0.0.1", "localhost");
    assert_eq!(page.request("GET", page.root(), &named).status, 200);
    let nameless = page.send(&format!("GET {} HTTP/1.0\r\n\r\n", page.root()));
    assert_eq!(nameless.status, 403);
    let slashless = page.request("GET", &format!("/{token}"), &here);
    assert_eq!(slashless.status, 308);
    assert!(slashless.head.contains(&format!("location: /{token}/")), "{slashless:?}");
    drop(page);
    let again = WebPage::start(lab.kgctx(["serve", "--web"]));
    assert!(!again.address.contains(&token), "every start has its own secret");
}

#[test]
fn nobody_else_can_connect() {
    let lab = Lab::new();
    let page = page(&lab);
    let port = page.authority().split(':').next_back().unwrap();
    let listening = Command::new("sh").args(["-c", "cat /proc/net/tcp /proc/net/tcp6"]).output();
    let listening = String::from_utf8(listening.unwrap().stdout).unwrap();
    if listening.is_empty() {
        return;
    }
    let port = format!(":{:04X}", port.parse::<u16>().unwrap());
    let of_ours = |line: &&str| {
        line.split_whitespace().nth(1).is_some_and(|at| at.ends_with(&port))
            && line.contains(" 0A ")
    };
    let ours: Vec<&str> = listening.lines().filter(of_ours).collect();
    assert_eq!(ours.len(), 1, "{ours:?}");
    assert!(ours[0].contains("0100007F:"), "{ours:?}");
}

#[test]
fn every_reply_fences_the_browser_in() {
    let lab = Lab::new();
    let page = page(&lab);
    let here = page.authority().to_owned();
    let replies = [
        page.get(""),
        page.get("main.js"),
        page.get("api/monitor"),
        page.get("none/such"),
        page.request("GET", "/", &here),
        page.request("POST", page.root(), &here),
    ];
    assert_eq!(replies.each_ref().map(|reply| reply.status), [200, 200, 200, 404, 403, 405]);
    for reply in replies {
        for line in [
            "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
             img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'; form-action 'none'",
            "referrer-policy: no-referrer",
            "x-content-type-options: nosniff",
            "cache-control: no-store",
            "cross-origin-resource-policy: same-origin",
        ] {
            assert!(reply.head.contains(line), "{line}: {reply:?}");
        }
        assert!(!reply.head.contains("access-control-"), "{reply:?}");
        assert!(!reply.head.contains("set-cookie"), "{reply:?}");
    }
}

#[test]
fn only_get_is_answered() {
    let lab = Lab::new();
    let page = page(&lab);
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"] {
        let path = format!("{}api/monitor", page.root());
        let reply = page.request(method, &path, page.authority());
        assert_eq!(reply.status, 405, "{method}: {reply:?}");
        assert!(reply.head.contains("allow: get"), "{reply:?}");
    }
}

/// What a command prints with `--json`.
#[track_caller]
fn printed(lab: &Lab, arguments: &[&str]) -> Value {
    let output = lab.kgctx(arguments).arg("--json").output().unwrap();
    assert_eq!(stderr(&output), "", "{arguments:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What changes with every look.
fn timeless(mut answer: Value) -> Value {
    for session in answer["sessions"].as_array_mut().into_iter().flatten() {
        session["now"] = Value::Null;
    }
    answer
}

#[test]
fn the_page_is_told_what_the_commands_print() {
    let lab = busy_project();
    let page = page(&lab);
    let cases: &[(&str, &str, &[&str])] = &[
        ("whoami", "whoami", &["whoami"]),
        ("monitor", "monitor", &["monitor"]),
        ("contexts", "explain-list", &["explain", "--list"]),
        ("explain?session=session-two", "explain", &["explain", "session-two"]),
        ("handoffs", "handoff-list", &["handoff", "list"]),
        ("handoffs?which=all", "handoff-list", &["handoff", "list", "--all"]),
        ("handoffs?which=everywhere", "handoff-list", &["handoff", "list", "--everywhere"]),
        ("search?q=tile%20cache", "search", &["search", "tile cache", "--limit", "20"]),
        (
            "context?concept=Tile%20Cache",
            "context",
            &["context", "Tile Cache", "--max-entities", "16"],
        ),
        ("context?concept=nothing", "context", &["context", "nothing", "--max-entities", "16"]),
    ];
    for (question, schema, command) in cases {
        let answer = page.json(question);
        valid(schema, &answer);
        assert_eq!(timeless(answer), timeless(printed(&lab, command)), "{question}");
    }
    assert_eq!(page.json("monitor")["sessions"].as_array().unwrap().len(), 2);
    let contexts = page.json("contexts");
    assert_eq!(contexts["contexts"][0]["session"], "session-two");
    assert_eq!(contexts["contexts"][1]["delivered"], true);
    let all = page.json("handoffs?which=all");
    let id = all["handoffs"][0]["id"].as_str().unwrap();
    let shown = page.json(&format!("handoff?id={id}"));
    valid("handoff-show", &shown);
    assert_eq!(shown, printed(&lab, &["handoff", "show", id]));
    let log = page.get(&format!("api/log?id={id}"));
    let output = lab.kgctx(["handoff", "log", id, "--json"]).output().unwrap();
    assert_eq!(log.body, String::from_utf8(output.stdout).unwrap());
    for step in log.body.lines() {
        valid("handoff-log", &serde_json::from_str(step).unwrap());
    }
    let whole = page.get("api/log");
    assert!(whole.body.lines().count() > log.body.lines().count());
}

#[test]
fn no_answer_holds_a_secret() {
    let lab = busy_project();
    let page = page(&lab);
    let all = page.json("handoffs?which=all");
    let ids =
        all["handoffs"].as_array().unwrap().iter().map(|handoff| handoff["id"].as_str().unwrap());
    let mut questions: Vec<String> = ids.map(|id| format!("handoff?id={id}")).collect();
    questions.extend(
        [
            "handoffs",
            "handoffs?which=all",
            "handoffs?which=everywhere",
            "log",
            "search?q=hostile",
            "explain?session=session-two",
        ]
        .map(str::to_owned),
    );
    let mut has_markup = false;
    for question in questions {
        let reply = page.get(&format!("api/{question}"));
        assert_eq!(reply.status, 200, "{question}: {reply:?}");
        assert!(!reply.body.contains(SECRET), "{question}: {reply:?}");
        has_markup |= reply.body.contains(MARKUP);
    }
    assert!(has_markup, "the hostile texts are there");
}

#[test]
fn looking_changes_nothing() {
    let lab = busy_project();
    // Commands finish this removal, which a process left undone.
    lab.sql("UPDATE handoffs SET status = 'cleared', reason = 'being removed' WHERE status = 'consumed'");
    let page = page(&lab);
    // The first search brings the index up to date, as every command does that reads it.
    page.json("search?q=cache");
    let before = kept(&lab);
    assert!(before.len() > 3, "{}", before.len());
    for question in [
        "whoami",
        "monitor",
        "contexts",
        "explain?session=session-one",
        "handoffs",
        "handoffs?which=everywhere",
        "search?q=cache",
        "context?concept=renderer",
    ] {
        page.json(question);
        assert_eq!(page.get("api/log").status, 200);
    }
    let after = kept(&lab);
    let names = |files: &[(std::path::PathBuf, Vec<u8>)]| {
        files.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&before), names(&after));
    assert!(before == after, "a file was changed");
}

#[test]
fn a_page_in_a_fresh_home_has_nothing_to_show_and_makes_nothing() {
    let lab = Lab::new();
    let page = page(&lab);
    assert_eq!(page.json("monitor"), json!({"sessions": []}));
    assert_eq!(page.json("contexts"), json!({"project": "zephyr", "contexts": []}));
    assert_eq!(page.json("handoffs"), json!({"channel": "zephyr", "handoffs": []}));
    assert_eq!(page.get("api/log").body, "");
    assert!(!lab.scratch.path().join("kgctx-home/state/state.db").exists());
}

#[test]
fn what_cannot_be_answered_is_told_in_words() {
    let lab = busy_project();
    let page = page(&lab);
    for (question, status, words) in [
        ("explain?session=none", 404, "no context has been made for session \\\"none\\\" yet"),
        ("explain", 400, "?session="),
        ("explain?session=%20", 400, "?session="),
        ("search?q=", 400, "?q="),
        ("handoff?id=HO-20200101-000000-x", 404, "no handoff"),
        ("handoff?id=..%2F..%2Fetc", 400, ""),
        ("log?id=HO-20200101-000000-x", 404, "no handoff"),
        ("handoffs?which=mine", 400, "not a list of handoffs"),
        ("none", 404, "does not know"),
    ] {
        let reply = page.get(&format!("api/{question}"));
        assert_eq!(reply.status, status, "{question}: {reply:?}");
        let answer: Value = serde_json::from_str(&reply.body).unwrap();
        assert!(answer["error"].is_string(), "{question}: {answer}");
        assert!(reply.body.contains(words), "{question}: {answer}");
    }
}

#[test]
fn a_page_lives_beside_the_service_and_beside_other_pages() {
    let lab = Lab::new();
    let mut service = lab.kgctx(["serve", "--server", "http://127.0.0.1:1"]).spawn().unwrap();
    let (one, other) = (page(&lab), page(&lab));
    assert_eq!([one.get("").status, other.get("").status], [200, 200]);
    let port = one.authority().split(':').next_back().unwrap().to_owned();
    let output = lab.kgctx(["serve", "--web", "--port", &port]).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let said = stderr(&output);
    assert!(said.contains(&format!("cannot listen on 127.0.0.1:{port}")), "{said}");
    assert!(said.contains("give another --port"), "{said}");
    let output = lab.kgctx(["serve", "--web", "--json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let output = lab.kgctx(["serve", "--port", "4097"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "a port is that of a page");
    service.kill().unwrap();
    service.wait().unwrap();
}

#[test]
fn a_page_ends_with_a_signal() {
    for signal in ["-TERM", "-INT"] {
        let lab = Lab::new();
        let mut page = page(&lab);
        // A connection that says nothing does not keep it.
        let _idle = std::net::TcpStream::connect(page.authority()).unwrap();
        assert_eq!(page.get("").status, 200);
        let sent = Command::new("kill").arg(signal).arg(page.child.id().to_string()).status();
        assert!(sent.unwrap().success());
        let until = Instant::now() + Duration::from_secs(5);
        let status = loop {
            if let Some(status) = page.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < until, "{signal}: it goes on");
            thread::sleep(Duration::from_millis(20));
        };
        assert_eq!(status.code(), Some(0), "{signal}");
    }
}

#[test]
fn wrong_settings_are_told_before_the_page_begins() {
    let lab = Lab::new();
    fs::write(lab.folder().join("kgctx.toml"), "enabled = \"perhaps\"\n").unwrap();
    let output = lab.kgctx(["serve", "--web"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(stderr(&output).contains("kgctx.toml:1:11"), "{output:?}");
}
