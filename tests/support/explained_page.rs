//! A page of `kgctx explain --html` about a project full of hostile notes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Scratch, git};

/// What hostile text sets the page's title to, if it ever runs.
pub(crate) const MARK: &str = "owned-by-a-note";

/// A copy of the project atlas with hostile notes, and a context made of it for a hostile session.
pub(crate) fn hostile_project() -> (Scratch, PathBuf) {
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

pub(crate) fn run_in(scratch: &Scratch, project: &Path, arguments: &[&str]) -> String {
    let mut command = scratch.kgctx(arguments);
    // A context that is cut off by its deadline has other sections.
    command.current_dir(project).env("KGCTX_DEADLINE_MS", "60000");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Makes a context, and returns its explanation and its page.
pub(crate) fn explained(scratch: &Scratch, project: &Path) -> (Value, PathBuf) {
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
pub(crate) fn concepts(explanation: &Value) -> BTreeSet<String> {
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
