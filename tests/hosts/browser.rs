//! The page that `kgctx explain --html` writes, as a real browser shows it.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::Scratch;
use crate::support::explained_page::{MARK, concepts, explained, hostile_project};
use crate::support::skips::skipped;

/// A browser that takes longer hangs.
const BROWSER_PATIENCE: Duration = Duration::from_secs(60);
pub(crate) const BROWSERS: [&str; 4] =
    ["chromium", "chromium-browser", "google-chrome", "chromium-headless-shell"];

/// A browser, where there is one.
pub(crate) fn browser() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("KGCTX_BROWSER").filter(|path| !path.is_empty()) {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let all = BROWSERS.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    all.into_iter().find(|program| program.is_file())
}

/// Shows a page in a browser that reaches no network, and returns what the browser prints.
fn look(browser: &Path, scratch: &Scratch, page: &Path, arguments: &[&str]) -> String {
    let printed = scratch.path().join("printed");
    let said = scratch.path().join("said");
    let mut child = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
        ])
        .args([
            "--hide-scrollbars",
            "--virtual-time-budget=2000",
            "--host-resolver-rules=MAP * ~NOTFOUND",
        ])
        .arg(format!("--user-data-dir={}", scratch.path().join("browser").display()))
        .args(arguments)
        .arg(format!("file://{}", page.display()))
        .env("HOME", scratch.home())
        .stdin(Stdio::null())
        // Files never fill up, as pipes that nobody reads do.
        .stdout(File::create(&printed).unwrap())
        .stderr(File::create(&said).unwrap())
        .spawn()
        .unwrap();
    let until = Instant::now() + BROWSER_PATIENCE;
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if Instant::now() > until {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("{} hangs: {}", browser.display(), fs::read_to_string(said).unwrap());
        }
        thread::sleep(Duration::from_millis(50));
    };
    assert!(status.success(), "{status}: {}", fs::read_to_string(said).unwrap());
    fs::read_to_string(printed).unwrap()
}

#[test]
fn a_browser_shows_the_page() {
    let Some(browser) = browser() else {
        let names = BROWSERS.join(", ");
        skipped(&format!("no browser is installed ({names}), nor named by KGCTX_BROWSER"));
        return;
    };
    let (scratch, project) = hostile_project();
    let (explanation, page) = explained(&scratch, &project);

    let dom = look(&browser, &scratch, &page, &["--dump-dom"]);
    assert!(!dom.contains("<script"), "{dom}");
    assert!(!dom.contains(&format!("<title>{MARK}")), "{dom}");
    assert!(dom.contains("<title>Context for atlas &lt;b title=x&gt;"), "{dom}");
    let headings: Vec<&str> = dom
        .split("<h2 ")
        .skip(1)
        .map(|rest| &rest[rest.find('>').unwrap() + 1..rest.find('<').unwrap()])
        .collect();
    assert_eq!(
        headings,
        [
            "Where the tokens went",
            "The graph",
            "What the session gets",
            "What was left out",
            "Faults",
            "How long it took"
        ]
    );
    let count = |tag: &str| dom.matches(&format!("<{tag}")).count();
    assert_eq!(count("circle"), concepts(&explanation).len());
    assert_eq!([count("img"), count("iframe"), count("link"), count("svg")], [0, 0, 0, 1]);
    let n = |list: &Value| list.as_array().unwrap().len();
    let parts: BTreeSet<&str> = explanation["lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line["part"].as_str().unwrap())
        .collect();
    let n_misses = n(&explanation["nearMisses"]);
    assert!(n_misses > 0, "the budget leaves nothing out");
    // Connections, lines and what was left out, each with a head; parts have a row each.
    let rows = [
        1 + count("path class=\"edge"),
        1 + parts.len() + n(&explanation["lines"]),
        1 + n_misses,
        1 + n(&explanation["receipt"]["stages"]),
    ];
    assert_eq!(count("tr>"), rows.iter().sum::<usize>());

    let picture = scratch.path().join("page.png");
    let screenshot = format!("--screenshot={}", picture.display());
    look(&browser, &scratch, &page, &["--window-size=1200,1600", &screenshot]);
    let picture = fs::read(picture).unwrap();
    assert_eq!(&picture[..8], b"\x89PNG\r\n\x1a\n");
    assert_eq!(&picture[16..24], [0, 0, 4, 176, 0, 0, 6, 64], "not 1200 by 1600");
    // An empty page of this size has some 9,000 bytes.
    assert!(picture.len() > 50_000, "{} bytes", picture.len());
}
