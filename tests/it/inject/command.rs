//! The injection as a user sees it: what is found, what is shown, what is explained, what switches it off.

use std::fs;

use serde_json::Value;

use super::Zephyr;
use crate::support::{atlas, git, stderr, valid, write_ago};

const NOW: &str = "2026-11-15T12:00:00Z";
const HOUR: u64 = 3_600;

impl Zephyr {
    fn note(&self, name: &str, text: &str, hours_ago: u64) {
        self.write(name, text, hours_ago * HOUR);
    }

    fn inject(&self, more: &[&str]) -> Value {
        let common = ["inject", "--session", "s", "--dry-run", "--format", "json", "--now", NOW];
        let answer = self.scratch.json([&["--dir", "zephyr"], common.as_slice(), more].concat());
        valid("inject", &answer);
        answer
    }

    fn explain(&self, more: &[&str]) -> Value {
        let answer = self.scratch.json([&["--dir", "zephyr", "explain", "--json"], more].concat());
        valid("explain", &answer);
        answer
    }
}

fn text(answer: &Value) -> &str {
    answer["text"].as_str().unwrap()
}

/// T-2.2.1: SearchMemories called with project name.
#[test]
fn t_2_2_1_a_search_for_the_projects_name_adds_its_concepts() {
    let zephyr = Zephyr::new();
    zephyr.note("old.md", "# Old\n\nHow zephyr uses the [[Wind Tunnel]].", 500);
    zephyr.note("other.md", "# Other\n\nNothing of the kind, but a [[Sail]].", 500);
    let answer = zephyr.inject(&[]);
    assert!(text(&answer).contains("- [[wind-tunnel]]"), "{answer:#}");
    assert!(!text(&answer).contains("[[sail]]"), "{answer:#}");
    let explained = zephyr.explain(&[]);
    let signal = &explained["receipt"]["entries"][0]["signals"][0];
    assert_eq!(signal["by"], "search", "{explained:#}");
    let found = explained["receipt"]["found"].as_array().unwrap();
    let behind =
        found.iter().find(|note| note["by"] == "search" && note["place"] == signal["place"]);
    assert_eq!(behind.unwrap()["uri"], "memory://docs/old");
    for n in 0..9 {
        zephyr.note(&format!("z{n}.md"), &format!("About zephyr and [[only-{n}]]."), 600 + n);
    }
    let found = zephyr.inject(&[])["text"].as_str().unwrap().matches("[[only-").count();
    assert!(found <= 5 * 2, "a search adds five notes at most");
}

/// T-2.3.1: RecentActivity called with 24h timespan.
#[test]
fn t_2_3_1_recent_activity_is_that_of_the_last_24_hours() {
    let zephyr = Zephyr::new();
    write_ago(&zephyr.notes(), "in.md", "# Just in\n\nAbout [[Rigging]].", 24 * HOUR - 1);
    write_ago(&zephyr.notes(), "out.md", "# Just out\n\nAbout [[Keel]].", 24 * HOUR + 1);
    write_ago(&zephyr.notes().join("deep"), "new.md", "# Newest\n\nThe [[Mast]] broke.", 60);
    let answer = zephyr.inject(&[]);
    let expect = "**Recent Activity (last 24h):**\n\
        - Newest - The [[Mast]] broke. (memory://docs/deep/new)\n\
        - Just in - About [[Rigging]]. (memory://docs/in)\n";
    assert!(text(&answer).contains(expect), "{}", text(&answer));
    assert!(!text(&answer).contains("Just out"), "{}", text(&answer));
    for n in 0..12 {
        zephyr.note(&format!("n{n}.md"), "# Many\n", 2);
    }
    let lines = zephyr.inject(&[])["text"].as_str().unwrap().matches(" (memory://").count();
    assert_eq!(lines, 10, "ten notes at most");
}

/// T-2.4.1: BuildContext called for merged concepts.
#[test]
fn t_2_4_1_the_five_most_frequent_concepts_are_expanded() {
    let zephyr = Zephyr::new();
    // Concept c<n> stands in n + 1 notes, spelt in several ways.
    let spelling = |n: usize, m: usize| match m % 3 {
        0 => format!("[[Area {n}]]"),
        1 => format!("[[area_{n}]]"),
        _ => format!("[[area/{n}]]"),
    };
    for m in 0..8 {
        let links: Vec<String> = (m..8).map(|n| spelling(n, m)).collect();
        zephyr.note(&format!("n{m}.md"), &format!("# N{m}\n\nSays {}.\n", links.join(", ")), 1);
    }
    let answer = zephyr.inject(&[]);
    let graph = text(&answer).split("**Graph Connections:**\n").nth(1).unwrap();
    let heads: Vec<&str> = graph
        .lines()
        .take_while(|line| line.starts_with("- "))
        .map(|line| line.split(" → ").next().unwrap())
        .collect();
    assert_eq!(
        heads,
        ["- [[area-7]]", "- [[area-6]]", "- [[area-5]]", "- [[area-4]]", "- [[area-3]]"]
    );
    assert!(graph.starts_with("- [[area-7]] → [[area-6]], [[area-5]], [[area-4]]"), "{graph}");
    let many: String = (0..30).map(|n| format!("[[x{n}]] ")).collect();
    zephyr.note("many.md", &format!("# Many\n\n[[area-7]] {many}"), 1);
    let answer = zephyr.inject(&[]);
    let widest = text(&answer).lines().filter(|line| line.contains(" → "));
    assert!(widest.map(|line| line.matches("[[").count()).max().unwrap() <= 11, "ten neighbours");
}

/// T-2.6.1: Context truncated at TOKEN_LIMIT.
#[test]
fn t_2_6_1_token_limit_is_kept_and_what_was_left_out_is_said() {
    let zephyr = Zephyr::new();
    for n in 0..10 {
        zephyr.note(
            &format!("n{n}.md"),
            &format!("# N{n}\n\nSentence {n} of [[c{n}]] and more words."),
            1,
        );
    }
    let all = zephyr.inject(&[]);
    assert_eq!(all["omitted"].as_array().unwrap().len(), 0);
    let limit = all["tokens"].as_u64().unwrap() - 100;
    let mut command = zephyr.scratch.kgctx(["--dir", "zephyr", "inject", "--session", "s"]);
    command.args(["--dry-run", "--format", "json", "--now", NOW]);
    let output = command.env("TOKEN_LIMIT", limit.to_string()).output().unwrap();
    let less: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(less["budget"], limit);
    assert!(less["tokens"].as_u64().unwrap() <= limit, "{less:#}");
    let n_omitted = less["omitted"].as_array().unwrap().len();
    assert!(n_omitted > 0 && text(&less).contains(&format!("*{n_omitted} more entr")), "{less:#}");
    let reference = tiktoken_rs::o200k_base_singleton();
    assert_eq!(less["tokens"], reference.encode_ordinary(text(&less)).len());
    for budget in 0..200 {
        let answer = zephyr.inject(&["--budget", &budget.to_string()]);
        assert!(answer["tokens"].as_u64().unwrap() <= budget);
    }
}

#[test]
fn the_text_is_that_of_the_specification() {
    let scratch = atlas();
    git(&scratch.path().join("atlas"), &["init", "-q"]);
    let arguments = ["--dir", "atlas", "inject", "--session", "s", "--dry-run", "--now", NOW];
    insta::assert_snapshot!("inject", scratch.run(arguments));
    let budget = [arguments.as_slice(), &["--budget", "260"]].concat();
    insta::assert_snapshot!("inject_small", scratch.run(&budget));
    let explained = scratch.run(["--dir", "atlas", "explain", "--session", "s"]);
    let (explained, timings) = explained.rsplit_once("\nms: ").unwrap();
    insta::assert_snapshot!("explain", explained);
    for stage in ["find", "open", "list", "refresh", "search", "recent", "graph", "pack", "all"] {
        assert!(timings.contains(&format!("{stage} ")), "{timings}");
    }
    // No clock, no score, no path of this machine.
    let text = scratch.run(&budget);
    assert!(!text.contains(scratch.path().to_str().unwrap()) && !text.contains("2026"), "{text}");
}

#[test]
fn json_and_markdown_are_the_same_text() {
    let zephyr = Zephyr::new();
    zephyr.note("a.md", "# A\n\nA sentence about [[B]].", 1);
    let answer = zephyr.inject(&["--host", "claude-code"]);
    let printed = zephyr.scratch.run([
        "--dir",
        "zephyr",
        "inject",
        "--session",
        "s",
        "--dry-run",
        "--now",
        NOW,
        "--host",
        "claude-code",
    ]);
    assert_eq!(text(&answer), printed);
    assert_eq!(answer["chars"], printed.encode_utf16().count());
    assert_eq!(answer["project"], "zephyr");
    let parts = answer["parts"].as_array().unwrap();
    let sum: u64 = parts.iter().map(|part| part["tokens"].as_u64().unwrap()).sum();
    assert_eq!(answer["tokens"], sum);
}

#[test]
fn cl100k_is_counted_where_it_is_asked_for() {
    let zephyr = Zephyr::new();
    zephyr.note("a.md", "# 設計\n\n知識グラフの文脈 about [[文脈]].", 1);
    zephyr.scratch.write("zephyr/kgctx.toml", "encoding = \"cl100k_base\"\n");
    let answer = zephyr.inject(&[]);
    let reference = tiktoken_rs::cl100k_base_singleton();
    assert_eq!(answer["tokens"], reference.encode_ordinary(text(&answer)).len());
    assert_eq!(zephyr.explain(&[])["receipt"]["encoding"], "cl100k_base");
}

#[test]
fn switches_turn_it_off() {
    let zephyr = Zephyr::new();
    zephyr.note("a.md", "# A\n\nA sentence about [[B]].", 1);
    let arguments = ["--dir", "zephyr", "inject", "--session", "off", "--dry-run"];
    let mut command = zephyr.scratch.kgctx(arguments);
    let output = command.env("SESSION_START_ENABLED", "false").output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    assert_eq!(
        stderr(&output),
        "kgctx: settings: context is switched off by SESSION_START_ENABLED\n"
    );
    zephyr.scratch.write("zephyr/kgctx.toml", "enabled = false\n");
    let output = zephyr.scratch.kgctx(arguments).output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    assert!(stderr(&output).contains("kgctx.toml"), "{output:?}");
    let (code, message) = zephyr.scratch.fail(["--dir", "zephyr", "explain", "--session", "off"]);
    assert_eq!(code, 1, "nothing was injected: {message}");
    let output =
        zephyr.scratch.kgctx(["--dir", "zephyr", "inject", "--session", "off"]).output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty(), "not an error: {output:?}");
    let answer = zephyr.inject(&["--budget", "0"]);
    assert_eq!(text(&answer), "");
}

#[test]
fn an_empty_context_says_why_it_is_empty() {
    let zephyr = Zephyr::new();
    let said = |arguments: &[&str]| {
        let dry = ["--dir", "zephyr", "inject", "--session", "s", "--dry-run"];
        let mut kgctx = zephyr.scratch.kgctx([&dry[..], arguments].concat());
        let output = kgctx.env("KGCTX_RANK", "notes").output().unwrap();
        assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
        stderr(&output)
    };
    zephyr.note("a.md", "", 1);
    assert!(said(&[]).contains("there is nothing to show; `kgctx doctor`"), "{}", said(&[]));
    zephyr.note("a.md", "# A\n\nA sentence about [[B]].", 1);
    let few = said(&["--budget", "7"]);
    assert_eq!(few, "kgctx: the context is empty: 7 tokens are too few for any of it\n");
}

#[test]
fn without_a_server_nothing_is_delivered_and_no_receipt_says_so() {
    let zephyr = Zephyr::new();
    zephyr.note("a.md", "# A\n\nA sentence about [[B]].", 1);
    let inject = |session: &str, server: &str| {
        zephyr.scratch.fail(["--dir", "zephyr", "inject", "--session", session, "--server", server])
    };
    let (code, message) = inject("ses_real", "http://127.0.0.1:1");
    assert_eq!(code, 3);
    assert!(message.contains("no OpenCode server at http://127.0.0.1:1"), "{message}");
    let (code, message) = inject("real", "http://127.0.0.1:1");
    assert_eq!(code, 2);
    assert!(message.contains("is not the id of an OpenCode session"), "{message}");
    let (code, message) = inject("ses_real", "https://127.0.0.1:1");
    assert_eq!(code, 2);
    assert!(message.contains("https"), "{message}");
    let (code, message) =
        zephyr.scratch.fail(["--dir", "zephyr", "explain", "--session", "ses_real"]);
    assert_eq!(code, 1);
    assert!(message.contains("ses_real") && message.contains("--dry-run"), "{message}");
    zephyr.inject(&[]);
    assert_eq!(zephyr.explain(&["--session", "s"])["receipt"]["delivered"], false);
}

#[test]
fn receipts_are_kept_by_session_and_the_last_one_comes_first() {
    let zephyr = Zephyr::new();
    zephyr.note("a.md", "# A\n\nA sentence about [[B]].", 1);
    for session in ["one", "two"] {
        let arguments = ["inject", "--session", session, "--dry-run", "--now", NOW];
        zephyr.scratch.run([&["--dir", "zephyr"], &arguments[..]].concat());
    }
    assert_eq!(zephyr.explain(&[])["receipt"]["session"], "two");
    assert_eq!(zephyr.explain(&["--session", "one"])["receipt"]["session"], "one");
    assert_eq!(zephyr.explain(&["one"])["receipt"]["session"], "one");
    let (code, message) = zephyr.scratch.fail(["--dir", "zephyr", "explain", "nobody"]);
    assert!(code == 1 && message.contains("session \"nobody\""), "{message}");
    let (code, message) =
        zephyr.scratch.fail(["--dir", "zephyr", "explain", "one", "--session", "two"]);
    assert!(code == 2 && message.contains("cannot be used with"), "{message}");
    let dry = zephyr.explain(&["--dry-run", "--session", "three", "--budget", "150", "--now", NOW]);
    assert_eq!(dry["receipt"]["budget"]["tokens"], 150);
    assert_eq!(zephyr.explain(&[])["receipt"]["session"], "two", "a dry run explained is not kept");
    let state = zephyr.scratch.path().join("kgctx-home/state/state.db");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&state).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let connection = rusqlite::Connection::open(state).unwrap();
    let (tokens, sha256): (i64, String) = connection
        .query_row("SELECT tokens, sha256 FROM injections WHERE session = 'one'", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    let receipt = &zephyr.explain(&["--session", "one"])["receipt"];
    assert_eq!(
        (receipt["used"]["tokens"].as_i64(), receipt["sha256"].as_str()),
        (Some(tokens), Some(&*sha256))
    );
}

#[test]
fn near_misses_say_what_they_would_cost() {
    let zephyr = Zephyr::new();
    for n in 0..10 {
        zephyr.note(
            &format!("n{n}.md"),
            &format!("# N{n}\n\nSentence {n} of [[c{n}]] and more words."),
            1,
        );
    }
    let dry = |budget: &str| zephyr.explain(&["--dry-run", "--now", NOW, "--budget", budget]);
    let explained = dry("300");
    let miss = &explained["nearMisses"][0];
    let enters_at = miss["entersAt"].as_u64().unwrap();
    let name = miss["text"].as_str().unwrap().split(" - ").next().unwrap().to_owned();
    let has = |explained: &Value| {
        let lines = explained["lines"].as_array().unwrap();
        lines.iter().any(|line| line["text"].as_str().unwrap().starts_with(&name))
    };
    assert!(!has(&explained) && has(&dry(&enters_at.to_string())), "{explained:#}");
    assert!(!has(&dry(&(enters_at - 1).to_string())), "{name} at {enters_at}");
}

#[test]
fn hosts_limits_are_kept() {
    let zephyr = Zephyr::new();
    for n in 0..10 {
        let links: String =
            (0..60).map(|m| format!("[[the long name of concept {n} {m}]] ")).collect();
        zephyr.note(&format!("n{n}.md"), &format!("# N{n}\n\n{links}"), 1);
    }
    let of = |host: &str| zephyr.inject(&["--host", host, "--budget", "4000"]);
    assert!((3_800..=4_000).contains(&of("plain")["tokens"].as_u64().unwrap()));
    assert_eq!(text(&of("opencode")), text(&of("plain")));
    let claude = of("claude-code");
    let chars = claude["chars"].as_u64().unwrap();
    assert!((9_000..=9_500).contains(&chars), "{chars}");
    let codex = of("codex");
    assert!((2_280..=2_400).contains(&codex["tokens"].as_u64().unwrap()), "{codex:#}");
    assert_eq!(codex["budget"], 2_400);
}

#[test]
fn a_project_is_explained_its_own_context() {
    let zephyr = Zephyr::new();
    zephyr.note("a.md", "# A\n\nA sentence about [[B]].", 1);
    zephyr.inject(&[]);
    zephyr.scratch.write("other/.kgctx/memory/b.md", "# B\n\nOf [[C]].");
    zephyr.scratch.run(["--dir", "other", "inject", "--session", "o", "--dry-run"]);
    assert_eq!(zephyr.explain(&[])["receipt"]["project"], "zephyr");
    assert_eq!(zephyr.explain(&["--session", "o"])["receipt"]["project"], "other");
    let (code, message) = zephyr.scratch.fail(["--dir", "zephyr", "explain", "--budget", "9"]);
    assert!(code == 2 && message.contains("--dry-run"), "{message}");
    let (code, _) = zephyr.scratch.fail(["explain", "--dry-run", "--budget", "99999999999"]);
    assert_eq!(code, 2, "no such budget");
}

/// Every kind of secret in every place of a note that reaches a context: nothing of it is shown or kept.
#[test]
fn no_secret_is_shown_or_kept() {
    let table =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/secrets/secrets.tsv"));
    let zephyr = Zephyr::new();
    let mut hidden = Vec::new();
    for (n, line) in table.unwrap().lines().filter(|line| !line.starts_with('#')).enumerate() {
        let Some((kind, sample)) = line.split_once('\t') else { continue };
        // Names need something around them to be known as secrets; what is a secret by its shape does not.
        let Some((secret, _)) = sample.split_once('⟦').and_then(|(_, rest)| rest.split_once('⟧'))
        else {
            continue;
        };
        let secret = secret.replace('¦', "");
        if secret.contains('⏎') || secret.len() < 16 || n % 4 != 0 || kind == "env-assignment" {
            continue;
        }
        let sample = sample.replace(['¦', '⟦', '⟧'], "").replace('⏎', "\n");
        let in_title = sample.replace('\n', " ");
        let note = format!("# T{n} {in_title}\n\nOf zephyr. {in_title} [[{in_title}]] [[x{n}]]\n");
        zephyr.note(&format!("n{n}.md"), &note, 1 + n as u64 % 20);
        hidden.push(secret);
    }
    assert!(hidden.len() > 10, "{} samples", hidden.len());
    let mut shown = zephyr.inject(&["--budget", "8000"]).to_string();
    shown.push_str(&zephyr.explain(&[]).to_string());
    shown.push_str(&zephyr.scratch.run(["--dir", "zephyr", "explain"]));
    zephyr.scratch.run(["--dir", "zephyr", "explain", "--html", "page.html"]);
    shown.push_str(&fs::read_to_string(zephyr.scratch.path().join("page.html")).unwrap());
    for file in fs::read_dir(zephyr.scratch.path().join("kgctx-home/state")).unwrap() {
        shown.push_str(&String::from_utf8_lossy(&fs::read(file.unwrap().path()).unwrap()));
    }
    let shown = shown.to_lowercase();
    for secret in hidden {
        let middle: String = secret.chars().skip(secret.chars().count() / 2 - 4).take(8).collect();
        let normal = middle.to_lowercase().replace(['_', '/', ' '], "-");
        for form in [middle.to_lowercase(), normal] {
            assert!(!shown.contains(&form), "{secret} is shown");
        }
    }
}

#[test]
fn names_that_are_none_keep_nobody_out() {
    let zephyr = Zephyr::new();
    let long = |n: usize| format!("[[a {n} {}]] ", "very long name ".repeat(9));
    for n in 0..3 {
        // Six of them in every note, and three hundred more in one of them.
        let long: String = (0..if n == 0 { 306 } else { 6 }).map(long).collect();
        let links = "[[\u{200b}]] [[renderer]] [[cache]]";
        zephyr.note(&format!("n{n}.md"), &format!("# N{n}\n\n{long} {links}"), 1);
    }
    let answer = zephyr.inject(&[]);
    assert!(text(&answer).contains("- [[renderer]] → [[cache]]"), "{}", text(&answer));
    assert!(!text(&answer).contains("[[]]"), "{}", text(&answer));
}
