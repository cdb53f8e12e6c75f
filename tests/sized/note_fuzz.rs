//! Texts that nobody would write, a hundred thousand at full size, for the parser and for the search.

use std::time::{Duration, Instant};

use kgctx::core::note::Remarks;
use kgctx::core::note::decode::{self, Decoded};
use kgctx::core::note::front_matter;
use kgctx::core::note::markdown;
use kgctx::core::search::fulltext;
use kgctx::core::search::snippet;
use kgctx::core::settings::LinkStyle;
use kgctx::sources::search;
use kgctx::workspace::refresh::Mode;

use super::sized;
use crate::support::vault_generator::Random;
use crate::support::{Scratch, refreshed};

const CASES: usize = sized(100_000);
/// No text of this size may take longer, on the slowest machine that runs the tests.
const LONGEST: Duration = Duration::from_secs(5);

/// Pieces that mean something to a parser, alone or next to each other.
const PIECES: &[&str] = &[
    "[[",
    "]]",
    "[",
    "]",
    "[[a]]",
    "[[a|b]]",
    "[[ / ]]",
    "![[",
    "](",
    ")",
    "`",
    "``",
    "```\n",
    "~~~",
    "---\n",
    "---",
    "...\n",
    "title: ",
    "tags: [",
    "aliases:\n- ",
    "created: 2026-01-05\n",
    ": ",
    "- ",
    "* ",
    "1. ",
    "> ",
    "# ",
    "## ",
    "===\n",
    "|",
    "\n",
    "\n\n",
    "\r\n",
    "\t",
    "    ",
    " ",
    "<!--",
    "-->",
    "<div>",
    "</div>",
    "<a ",
    ">",
    "<",
    "&amp;",
    "\\",
    "*",
    "_",
    "**",
    "'",
    "\"",
    "{",
    "}",
    "&x",
    "*x",
    "!!",
    "%",
    "@",
    "text",
    "Größe",
    "日本語",
    "🦀",
    "e\u{301}",
    "\u{202e}",
    "\u{200b}",
    "\u{feff}",
    "\u{0}",
    "http://x.y",
    "[^1]",
    "[^1]: ",
    "[x]: /y",
    "$$",
    "AND",
    "OR",
    "NOT",
    "NEAR(",
    "title:",
    "^",
    "+",
    "memory://",
    "../",
    "a",
];

fn text(random: &mut Random) -> String {
    let n = match random.below(50) {
        0 => 400,
        1..10 => 60,
        _ => 12,
    };
    (0..random.below(n)).map(|_| random.pick(PIECES)).collect()
}

#[test]
fn no_text_breaks_the_parser() {
    let mut random = Random(1);
    for case in 0..CASES {
        let mut bytes = text(&mut random).into_bytes();
        for _ in 0..random.below(3) {
            if !bytes.is_empty() && random.below(4) == 0 {
                let at = random.below(bytes.len());
                bytes[at] = random.next() as u8;
            }
        }
        let started = Instant::now();
        let size = bytes.len();
        if let Decoded::Text(text, remarks) = decode::decode(bytes) {
            let style = if case % 2 == 0 { LinkStyle::Maenifold } else { LinkStyle::Obsidian };
            let note = markdown::parse(&text, "stem", style, remarks);
            assert!(!note.title.is_empty());
            assert!(note.mentions.keys().all(|concept| !concept.as_str().is_empty() && !concept.as_str().contains("[[")));
            assert!(note.mentions.values().sum::<u32>() as usize <= size / 5);
            assert!(note.excerpt.chars().count() <= 201);
            let (yaml, body) = front_matter::split(&text);
            assert!(yaml.unwrap_or_default().len() + body.len() <= text.len());
            let shown = snippet::snippet(body, &fulltext::terms(&text));
            assert!(shown.chars().count() <= 202, "{shown:?}");
        }
        assert!(started.elapsed() < LONGEST, "case {case} took {:?}", started.elapsed());
    }
}

#[test]
fn no_query_breaks_the_search() {
    let scratch = Scratch::new();
    let mut random = Random(2);
    for n in 0..40 {
        scratch.write(&format!("vault/n{n}.md"), text(&mut random).replace('\0', ""));
    }
    let workspace = scratch.workspace(&scratch.path().join("vault"));
    refreshed(&workspace, Mode::Full);
    let index = workspace.last_index().unwrap();
    for case in 0..CASES {
        let query = text(&mut random);
        let started = Instant::now();
        let answer = search::answer(&workspace, &index, &query, 3)
            .unwrap_or_else(|error| panic!("{query:?}: {error}"));
        assert!(answer.results.iter().all(|hit| (0.0..=1.0).contains(&hit.score)));
        assert!(started.elapsed() < LONGEST, "case {case} took {:?}", started.elapsed());
    }
}

#[test]
fn hostile_vaults_are_indexed_in_bounded_memory() {
    let scratch = Scratch::new();
    for (n, pattern) in ["[[", "*_", "[[a]] ", "](", "![[", "> "].into_iter().enumerate() {
        scratch.write(&format!("vault/h{n}.md"), pattern.repeat(sized(6_000_000) / pattern.len()));
    }
    // At full size all files together would take some two gigabytes; one at a time stays far below one.
    let script = "ulimit -v 1500000; exec \"$0\" \"$@\"";
    let output = std::process::Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_kgctx"), "--vault", "vault", "index", "--json"])
        .current_dir(scratch.path())
        .env("KGCTX_HOME", scratch.path().join("kgctx-home"))
        // Every thread reserves room of its own, which is not what is measured here.
        .env("RAYON_NUM_THREADS", "2")
        .env("MALLOC_ARENA_MAX", "2")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["notes"], 6);
}

#[test]
fn large_hostile_texts_are_read_in_time() {
    for pattern in [
        "[[", "[[a]] ", "](", "`", "<!--", "> ", "- ", "*_", "![[", "\\", "&", "# ", "<a ", "|",
        "日", "[^x]: ",
    ] {
        let text = pattern.repeat(sized(2_000_000) / pattern.len());
        let started = Instant::now();
        let note = markdown::parse(&text, "stem", LinkStyle::Maenifold, Remarks::default());
        assert!(note.mentions.len() <= 1);
        assert!(started.elapsed() < 4 * LONGEST, "{pattern:?} took {:?}", started.elapsed());
    }
    let keys: String = (0..sized(400_000)).map(|n| format!("k{n}: x\n")).collect();
    let aliases: String = (0..sized(9_000)).map(|n| format!("- a{n}\n")).collect();
    for yaml in [
        keys,
        "title: x\n".repeat(sized(400_000)),
        format!("aliases:\n{aliases}"),
        format!("tags: [{}]", "a,".repeat(sized(500_000))),
    ] {
        let started = Instant::now();
        markdown::parse(
            &format!("---\n{yaml}---\ntext"),
            "stem",
            LinkStyle::Maenifold,
            Remarks::default(),
        );
        assert!(started.elapsed() < LONGEST, "{:?} took {:?}", &yaml[..20], started.elapsed());
    }
    let query = format!("needle {}", "ab".repeat(5_000));
    let started = Instant::now();
    snippet::snippet(&"ab".repeat(120_000), &fulltext::terms(&query));
    assert!(started.elapsed() < LONGEST, "took {:?}", started.elapsed());
}
