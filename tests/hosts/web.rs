//! The page of `kgctx serve --web` in a real browser, driven by Playwright and judged by axe.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::browser::{BROWSERS, browser};
use crate::support::skips::skipped;
use crate::support::web_page::{WebPage, answered, busy_project};

const PLAYWRIGHT: &str = "1.65.1";
const AXE: &str = "4.14.0";

/// The folder with Playwright and axe, where they can be had.
fn tools() -> Option<PathBuf> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(".ci/browser-tools");
    let output = Command::new("bash").arg(script).args([PLAYWRIGHT, AXE]).output().unwrap();
    let folder = String::from_utf8(output.stdout).unwrap();
    output.status.success().then(|| folder.trim().into())
}

/// What the script saw; `None` where it cannot run. Pictures of all views go to the folder that `KGCTX_PICTURES` names.
fn seen() -> Option<Value> {
    let Some(browser) = browser() else {
        let names = BROWSERS.join(", ");
        skipped(&format!("no browser is installed ({names}), nor named by KGCTX_BROWSER"));
        return None;
    };
    let is_node_there = Command::new("node").arg("--version").stdout(Stdio::null()).status();
    let Some(tools) = tools().filter(|_| is_node_there.is_ok_and(|status| status.success())) else {
        skipped("Playwright and axe cannot be had from npm, or there is no Node.js");
        return None;
    };
    let lab = busy_project();
    let page = WebPage::start(lab.kgctx(["serve", "--web"]));
    let told = json!({
        "tools": tools,
        "browser": browser,
        "profile": lab.scratch.path().join("browser"),
        "address": page.address,
        "session": "session-one",
        "transcript": lab.transcript("session-one"),
        "grown": format!("{}\n", answered(170_000)),
        "pid": page.child.id(),
        "pictures": std::env::var("KGCTX_PICTURES").unwrap_or_default(),
    });
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hosts/web/drive.mjs");
    let output = Command::new("node")
        .arg(script)
        .arg(told.to_string())
        .env("HOME", lab.scratch.home())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn a_person_finds_their_way_on_the_page() {
    let Some(seen) = seen() else { return };
    let list = |name: &str| -> Vec<&str> {
        seen[name].as_array().unwrap().iter().map(|item| item.as_str().unwrap()).collect()
    };
    assert_eq!(list("errors"), [""; 0], "the browser complains");
    assert_eq!(list("outside"), [""; 0], "only its own server is asked");
    assert_eq!(list("faults"), [""; 0], "axe finds nothing serious");
    assert_eq!(list("wide"), [""; 0], "no view is wider than a phone");
    assert_eq!(seen["title"], "Live sessions · kgctx");
    assert_eq!(seen["project"], "zephyr");
    assert_eq!(seen["state"], "Live");
    assert_eq!(list("cards"), ["session-two", "session-one"]);
    assert_eq!(list("levels"), ["OK", "WARN"]);
    assert_eq!(seen["firstStop"], "Skip to the content");
    assert_eq!(seen["afterSkip"], "main");
    assert!(list("results").contains(&"Tile cache"), "{seen:#}");
    assert_eq!(seen["focusOnTitle"], true);
    let neighbours = list("neighbours");
    assert!(neighbours.contains(&"renderer, 3 notes in common"), "{neighbours:?}");
    assert_eq!(seen["rows"], neighbours.len());
    assert_eq!(seen["before"], "WARN");
    assert_eq!(seen["after"], "CRITICAL 170,000 of 200,000 tokens, 85 %");
    for section in ["Where the tokens went", "What the session gets", "What was left out"] {
        assert!(list("sections").contains(&section), "{seen:#}");
    }
    let beginnings = list("beginnings");
    assert!(beginnings.contains(&"eviction"), "the last context's, too: {beginnings:?}");
    assert_eq!(list("groups"), ["Waiting", "Finished"]);
    assert_eq!(list("steps").last(), Some(&"created → draft"), "{seen:#}");
    assert_eq!([&seen["images"], &seen["dialogs"]], [0, 0], "nothing of a note becomes markup");
    assert_eq!(seen["lost"][0], "Not connected");
    assert!(seen["lost"][1].as_str().unwrap().contains("kgctx serve --web"), "{seen:#}");
    assert_eq!(seen["stillThere"], 2);
}
