//! The page that `kgctx explain --html` writes: as text, and as a real browser shows it.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Scratch, git};

/// What hostile text sets the page's title to, if it ever runs.
const MARK: &str = "owned-by-a-note";
/// A browser that takes longer hangs.
const BROWSER_PATIENCE: Duration = Duration::from_secs(60);
const BROWSERS: [&str; 4] =
    ["chromium", "chromium-browser", "google-chrome", "chromium-headless-shell"];

/// Every element that a page has.
const ELEMENTS: &str = "html head meta title style body header main footer section h1 h2 p span strong b bdi code time \
    dl dt dd div ul li figure figcaption details summary table caption thead tbody tr th td svg desc g path circle text";

/// A copy of the project atlas with hostile notes, and a context made of it for a hostile session.
fn hostile_project() -> (Scratch, PathBuf) {
    let scratch = Scratch::new();
    let project = scratch.path().join("atlas <b title=x>'\"&amp;");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/projects/atlas"), &project);
    git(&project, &["init", "--quiet"]);
    let run = format!("<script>document.title='{MARK}'</script>");
    let notes = [
        ("script", format!("# {run}\n\nSays {run} about the [[Renderer]] and [[{run}]].\n")),
        (
            "image",
            format!(
                "# </td></table><img src=https://example.com/x.png onerror=\"document.title='{MARK}'\">\n\n\
                 <svg onload=\"document.title='{MARK}'\"> [[Renderer]] [[\"><circle onclick=x>]] [[</svg>]]\n"
            ),
        ),
        (
            "quotes ' & <i>",
            format!(
                "# </title></style>{run}<!-- \n\n<style>@import url(https://example.com/x.css);</style> \
                 [[Renderer]] [[a' onmouseover='x]] [[{}]]\n",
                "long-".repeat(18)
            ),
        ),
    ];
    for (name, text) in notes {
        fs::write(project.join("docs").join(format!("{name}.md")), text).unwrap();
    }
    (scratch, project)
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn run_in(scratch: &Scratch, project: &Path, arguments: &[&str]) -> String {
    let mut command = scratch.kgctx(arguments);
    // A context that is cut off by its deadline has other sections.
    command.current_dir(project).env("KGCTX_DEADLINE_MS", "60000");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Makes a context, and returns its explanation and its page.
fn explained(scratch: &Scratch, project: &Path) -> (Value, PathBuf) {
    let session = format!("s\"><script>document.title='{MARK}'</script>");
    let inject = |budget: &str| {
        let arguments = ["inject", "--dry-run", "--format", "json", "--session", &session];
        let json = run_in(scratch, project, &[&arguments[..], &["--budget", budget]].concat());
        serde_json::from_str::<Value>(&json).unwrap()["tokens"].as_u64().unwrap()
    };
    // Some of what was found has no room.
    inject(&(inject("100000") * 4 / 5).to_string());
    let json = run_in(scratch, project, &["explain", "--json"]);
    let page = scratch.path().join("page.html");
    let said = run_in(scratch, project, &["explain", "--html", page.to_str().unwrap()]);
    assert_eq!(said, format!("wrote {}\n", page.display()));
    (serde_json::from_str(&json).unwrap(), page)
}

/// The concepts that the shown lines name, read from the lines themselves.
fn concepts(explanation: &Value) -> BTreeSet<String> {
    let mut concepts = BTreeSet::new();
    for line in explanation["lines"].as_array().unwrap() {
        let text = line["text"].as_str().unwrap();
        let named = text.split("[[").skip(1).filter_map(|link| Some(link.split_once("]]")?.0));
        match line["part"].as_str().unwrap() {
            "concepts" => concepts.extend(named.take(1).map(str::to_owned)),
            "graph" => concepts.extend(named.map(str::to_owned)),
            _ => {}
        }
    }
    concepts
}

/// A tag of a page: its name and its attributes. A closing one has a `/` before its name.
#[derive(Debug)]
struct Tag {
    name: String,
    attributes: Vec<(String, String)>,
}

/// Reads a page's tags, as strictly as this program writes them; anything else is an error.
fn tags(page: &str) -> Vec<Tag> {
    let mut tags = Vec::new();
    let mut rest = page.strip_prefix("<!DOCTYPE html>").unwrap();
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '/').unwrap();
        let mut tag = Tag { name: rest[..end].to_owned(), attributes: Vec::new() };
        assert!(tag.name.len() > usize::from(tag.name.starts_with('/')), "a stray < before {rest}");
        rest = &rest[end..];
        while let Some(attribute) = rest.strip_prefix(' ') {
            let (name, value) = attribute.split_once("=\"").unwrap();
            let (value, after) = value.split_once('"').unwrap();
            assert!(name.bytes().all(|b| b.is_ascii_alphabetic() || b == b'-'), "{name}");
            tag.attributes.push((name.to_owned(), value.to_owned()));
            rest = after;
        }
        rest = rest.strip_prefix('>').unwrap_or_else(|| panic!("an open {tag:?}"));
        if tag.name == "style" {
            rest = &rest[rest.find("</style>").unwrap()..];
        }
        tags.push(tag);
    }
    tags
}

#[track_caller]
fn assert_well_nested(tags: &[Tag]) {
    let mut open: Vec<&str> = Vec::new();
    for Tag { name, .. } in tags {
        match name.strip_prefix('/') {
            Some(closed) => assert_eq!(open.pop(), Some(closed)),
            None if name == "meta" => {}
            None => open.push(name),
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn a_page_needs_nothing_but_itself() {
    let (scratch, project) = hostile_project();
    let (explanation, path) = explained(&scratch, &project);
    let page = fs::read_to_string(&path).unwrap();
    let tags = tags(&page);
    assert_well_nested(&tags);

    for Tag { name, attributes } in &tags {
        let known = name.trim_start_matches('/');
        assert!(ELEMENTS.split_whitespace().any(|element| element == known), "{name}");
        for (attribute, value) in attributes {
            let is_harmless = !attribute.starts_with("on")
                && !["src", "href", "srcset", "action", "data"].contains(&attribute.as_str());
            assert!(is_harmless, "{name} has {attribute}");
            assert!(attribute != "style" || value.starts_with("width:"), "{value}");
        }
    }
    let policy =
        tags.iter().flat_map(|tag| &tag.attributes).find(|(_, v)| v.contains("-src")).unwrap();
    assert_eq!(policy.1, "default-src 'none'; style-src 'unsafe-inline'; img-src data:");
    let (_, style) = page.split_once("<style>").unwrap();
    let (style, _) = style.split_once("</style>").unwrap();
    for loads in ["@import", "url(", "http", "//", "src"] {
        assert!(!style.contains(loads), "the style has {loads}");
    }

    let count = |name: &str| tags.iter().filter(|tag| tag.name == name).count();
    assert_eq!(count("circle"), concepts(&explanation).len());
    for address in ["script", "image", "quotes"] {
        let address = format!("memory://docs/{address}");
        assert!(page.contains(&address), "{address} is not in the context");
    }

    // The same receipt gives the same bytes.
    run_in(&scratch, &project, &["explain", "--html", path.to_str().unwrap()]);
    assert_eq!(fs::read_to_string(&path).unwrap(), page);
}

#[test]
fn a_page_that_cannot_be_written_is_a_failure() {
    let scratch = Scratch::new();
    scratch.write("vault/a.md", "# A\n\n[[b]]\n");
    let explain =
        |file: &str| scratch.fail(["--vault", "vault", "explain", "--dry-run", "--html", file]);
    for file in ["missing/page.html", "vault"] {
        let (code, message) = explain(file);
        assert_eq!(code, 2, "{message}");
        assert!(message.starts_with(&format!("kgctx: cannot write {file}: ")), "{message}");
        assert!(message.contains("name a file in a folder"), "{message}");
    }
    let page = ["--vault", "vault", "explain", "--dry-run", "--html", "page.html"];
    assert_eq!(scratch.run(page), "wrote page.html\n");
}

/// A browser, where there is one.
fn browser() -> Option<PathBuf> {
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
        eprintln!(
            "skipped: no browser is installed ({}), nor named by KGCTX_BROWSER",
            BROWSERS.join(", ")
        );
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
            "What the session is given",
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
