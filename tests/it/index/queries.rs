//! The three questions and the summary, as a person and as a program reads them.

use serde_json::json;

use crate::support::vault_generator;
use crate::support::{Scratch, atlas, stderr, valid};

const NOW: &str = "2026-11-15T12:00:00Z";

/// An answer with the scratch folder's path replaced.
fn plain(scratch: &Scratch, text: &str) -> String {
    text.replace(scratch.path().to_str().unwrap(), "/scratch")
}

#[test]
fn a_search_is_readable() {
    let scratch = atlas();
    let text = scratch.run(["--dir", "atlas", "search", "tile", "cache", "--limit", "3"]);
    insta::assert_snapshot!(text);
}

/// What a question prints whose answer is no.
#[track_caller]
fn says_no(scratch: &Scratch, arguments: &[&str]) -> String {
    let output = scratch.kgctx([&["--dir", "atlas"], arguments].concat()).output().unwrap();
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(1), ""));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn an_answer_without_a_note_is_no() {
    let scratch = atlas();
    let none = says_no(&scratch, &["search", "zeppelin"]);
    assert_eq!(none, "No note matches \"zeppelin\".\n");
    for arguments in [["search", "zeppelin", "--json"], ["context", "zeppelin", "--json"]] {
        let answer = says_no(&scratch, &arguments);
        valid(arguments[0], &serde_json::from_str(&answer).unwrap());
    }
}

#[test]
fn a_flag_that_is_mistyped_is_no_query() {
    let scratch = atlas();
    for (command, flag) in [("search", "--limt"), ("context", "--dept"), ("read", "--token")] {
        let (code, message) = scratch.fail(["--dir", "atlas", command, flag, "3", "tile"]);
        assert_eq!(code, 2, "{message}");
        assert!(message.contains(&format!("unexpected argument '{flag}'")), "{message}");
    }
    let words = scratch.json(["--dir", "atlas", "search", "--json", "--", "-tile", "cache"]);
    assert_eq!(words["query"], "-tile cache");
    let known = scratch.json(["--dir", "atlas", "context", "--json", "--", "-renderer-"]);
    assert_eq!(known["known"], true);
}

#[test]
fn none_at_most_is_refused() {
    let scratch = atlas();
    for arguments in [
        &["search", "tile", "--limit", "0"][..],
        &["recent", "--limit", "0"],
        &["context", "renderer", "--max-entities", "0"],
        &["read", "tile cache", "--tokens", "0"],
        &["read", "tile cache", "--from", "0"],
        &["handoff", "log", "--limit", "0"],
    ] {
        let (code, message) = scratch.fail([&["--dir", "atlas"], arguments].concat());
        assert_eq!(code, 2, "{message}");
        assert!(message.contains("it is not a number of at least 1"), "{message}");
    }
}

#[test]
fn recent_activity_is_readable() {
    let scratch = atlas();
    insta::assert_snapshot!(scratch.run([
        "--dir",
        "atlas",
        "recent",
        "--timespan",
        "7d",
        "--now",
        NOW
    ]));
    let none = scratch.run(["--dir", "atlas", "recent", "--now", "2026-12-31"]);
    insta::assert_snapshot!(none);
}

#[test]
fn a_context_is_readable() {
    let scratch = atlas();
    insta::assert_snapshot!(scratch.run(["--dir", "atlas", "context", "Renderer", "--now", NOW]));
    insta::assert_snapshot!(says_no(&scratch, &["context", "rendrer"]));
}

#[test]
fn a_summary_is_readable() {
    let scratch = atlas();
    scratch.write("atlas/docs/crlf.md", "a\r\nb\r\n");
    scratch.write("atlas/docs/broken.md", "---\ntitle: a: b\n---\n");
    scratch.write("atlas/docs/image.md", b"\x89PNG\0");
    scratch.write("atlas/docs/.hidden/x.md", "x");
    let text = plain(&scratch, &scratch.run(["--dir", "atlas", "index"]));
    let (before, _) = text.split_once("Time").unwrap();
    insta::assert_snapshot!(before);
}

#[test]
fn answers_have_the_seeds_shapes() {
    let scratch = atlas();
    let index = scratch.json(["--dir", "atlas", "index", "--json"]);
    valid("index", &index);
    assert_eq!(index["notes"], 7);
    assert_eq!((&index["changed"], &index["removed"]), (&json!(7), &json!(0)));
    assert_eq!(index["links"], 27);
    assert_eq!(index["concepts"], 10);

    let search = scratch.json(["--dir", "atlas", "search", "renderer queue", "--json"]);
    valid("search", &search);
    let first = &search["results"][0];
    assert_eq!(first["uri"], "memory://project/tech/renderer-queue");
    assert_eq!(first["title"], "Renderer queue");
    let file = scratch.path().join("atlas/.kgctx/memory/tech/renderer-queue.md");
    assert_eq!(first["path"], json!(file));
    assert_eq!(first["concepts"][0], "backpressure");
    let named = scratch.json(["--dir", "atlas", "search", "stale while revalidate", "--json"]);
    let beginning = named["results"][0]["snippet"].as_str().unwrap();
    assert!(beginning.starts_with("We serve an old tile"), "{beginning}");

    let recent = scratch.json(["--dir", "atlas", "recent", "--now", NOW, "--json"]);
    valid("recent", &recent);
    assert_eq!(
        recent["items"],
        json!([{
            "uri": "memory://project/session-notes",
            "path": scratch.path().join("atlas/.kgctx/memory/session-notes.md"),
            "title": "Session notes",
            "modified": "2026-11-15T11:00:00Z",
            "concepts": ["backpressure", "renderer", "vector-data"],
        }])
    );

    let context = scratch.json(["--dir", "atlas", "context", "TILE_cache", "--now", NOW, "--json"]);
    valid("context", &context);
    assert_eq!(context["concept"], "tile-cache");
    let overview = scratch.path().join("atlas/docs/overview.md");
    assert_eq!(context["paths"]["memory://docs/overview"], json!(overview));
    let names: Vec<&str> = context["relatedConcepts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["name"].as_str().unwrap())
        .collect();
    assert_eq!(names[..2], ["object-storage", "stale-while-revalidate"]);
    let (code, unknown) = scratch.answer(["--dir", "atlas", "context", "tile cash", "--json"]);
    assert_eq!(code, 1);
    valid("context", &unknown);
    assert_eq!(unknown["relatedConcepts"], json!([]));
    assert_eq!(unknown["nearest"][0], "tile-cache");
    let wide =
        scratch.json(["--dir", "atlas", "context", "token bucket", "--depth", "3", "--json"]);
    valid("context", &wide);
    assert!(wide["expandedConcepts"].as_array().unwrap().contains(&json!("tile-cache")));

    valid("whoami", &scratch.json(["--dir", "atlas", "whoami", "--json"]));
    valid("whoami", &scratch.json(["--dir", "/", "whoami", "--json"]));
    valid("config", &scratch.json(["--dir", "atlas", "config", "--json"]));
}

#[test]
fn the_note_that_is_called_so_comes_first() {
    let scratch = Scratch::new();
    // A hub: its words stand in every note, most often in others.
    for n in 0..60 {
        let words = "edge gateway ".repeat(5 + n);
        scratch
            .write(&format!("vault/n{n}.md"), format!("# Note {n}\n\n{words} [[Edge Gateway]]\n"));
    }
    scratch
        .write("vault/gw.md", "---\ntitle: Edge Gateway\naliases: [The Front Door]\n---\nShort.\n");
    let first = |query: &str| {
        let (_, answer) = scratch.answer(["--vault", "vault", "search", query, "--json"]);
        let first = &answer["results"][0];
        (
            first["uri"].as_str().unwrap_or("").to_owned(),
            first["matched"].as_str().unwrap_or("").to_owned(),
        )
    };
    for (query, matched) in [
        ("Edge Gateway", "title"),
        ("edge-gateway", "title"),
        (" EDGE  gateway ", "title"),
        ("the front door", "alias"),
        ("gw", "file"),
        ("memory://gw", "uri"),
        ("memory://gw.md", "uri"),
    ] {
        assert_eq!(first(query), ("memory://gw".to_owned(), matched.to_owned()), "{query}");
    }
    // Two titles, one name: the spelling decides.
    scratch.write("vault/x1.md", "---\ntitle: A/B\n---\n");
    scratch.write("vault/x2.md", "---\ntitle: A B\n---\n");
    assert_eq!(first("A/B").0, "memory://x1");
    assert_eq!(first("a b").0, "memory://x2");
    assert_ne!(first("memory://../vault/gw").1, "uri", "no address leads out and back in");
}

#[test]
fn any_text_is_a_query() {
    let scratch = atlas();
    let long = "tile cache \"OR\" ".repeat(700);
    for query in [
        "",
        " ",
        "\"",
        "\"\"",
        "'",
        "a\"b",
        "AND",
        "OR",
        "NOT",
        "NEAR",
        "NEAR(a b, 2)",
        "title:x",
        "-x",
        "--",
        "*",
        "a*",
        "^a",
        "(",
        ")",
        "a AND",
        "{title}: x",
        "🦀",
        "日本語",
        "🦀 OR 日本語*",
        ";",
        "\\",
        "%",
        "_",
        "[[x]]",
        "#tag",
        "memory://",
        "memory://../../etc/passwd",
        "a\nb",
        long.as_str(),
    ] {
        for arguments in [&["search", query, "--json"][..], &["search", "--json", "--", query]] {
            if arguments[1] == query && query.starts_with('-') {
                // A flag, here as everywhere.
                continue;
            }
            let (_, answer) = scratch.answer([&["--dir", "atlas"][..], arguments].concat());
            valid("search", &answer);
            assert_eq!(answer["query"], query);
        }
    }
}

#[test]
fn unspaced_scripts_are_found_inside_of_sentences() {
    let scratch = Scratch::new();
    scratch.write("vault/ja.md", "# 検索\n\n日本語のメモを検索する。\n");
    scratch.write("vault/de.md", "# Größe\n\nDie Größenordnung stimmt.\n");
    let found = |query: &str| {
        let (_, answer) = scratch.answer(["--vault", "vault", "search", query, "--json"]);
        answer["results"][0]["uri"].clone()
    };
    assert_eq!(found("日本語"), "memory://ja");
    // Nobody writes a question as it stands in a note: its pairs of characters are looked up.
    assert_eq!(found("メモの検索のしかたは？"), "memory://ja");
    assert_eq!(found("メモ"), "memory://ja");
    assert_eq!(found("grösse"), json!(null), "ß is a letter of its own");
    assert_eq!(found("große"), "memory://de", "accents do not matter");
    assert_eq!(
        found("größenord"),
        "memory://de",
        "the beginning of a word is enough where nothing else matches"
    );
}

#[test]
fn recent_activity_can_be_filtered() {
    let scratch = Scratch::new();
    for (folder, hours) in [("", 1), ("thinking/sequential/2026", 2), ("tech", 30)] {
        let folder = scratch.path().join("vault").join(folder);
        vault_generator::write(
            &folder,
            &format!("h{hours}.md"),
            "x",
            vault_generator::END_SECONDS - hours * 3_600,
        );
    }
    let found = |arguments: &[&str]| -> Vec<String> {
        let all = [&["--vault", "vault", "recent", "--json"][..], arguments].concat();
        let all =
            if arguments.contains(&"--now") { all } else { [&all[..], &["--now", NOW]].concat() };
        let answer = scratch.json(all);
        answer["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["title"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(found(&[]), ["h1", "h2"]);
    assert_eq!(found(&["--timespan", "1.00:00:00"]), ["h1", "h2"]);
    assert_eq!(found(&["--timespan", "2d"]), ["h1", "h2", "h30"]);
    assert_eq!(found(&["--timespan", "2d", "--limit", "1"]), ["h1"]);
    assert_eq!(found(&["--timespan", "90m"]), ["h1"]);
    assert_eq!(found(&["--filter", "thinking"]), ["h2"]);
    assert_eq!(found(&["--filter", "memory", "--timespan", "2d"]), ["h1", "h30"]);
    assert_eq!(
        found(&["--now", "2026-11-15T10:30:00Z"]),
        ["h2"],
        "what came later had not happened"
    );
}

#[test]
fn neighbours_come_in_maenifolds_order() {
    let scratch = Scratch::new();
    let note = |name: &str, created: &str, links: &str| {
        scratch.write(
            &format!("vault/{name}.md"),
            format!("---\ncreated: {created}\n---\n[[hub]] {links}\n"),
        );
    };
    // Old notes fade: three of them weigh less than two new ones.
    note("o1", "2025-01-01", "[[old]]");
    note("o2", "2025-01-02", "[[old]]");
    note("o3", "2025-01-03", "[[old]]");
    note("n1", "2026-11-10", "[[new]]");
    note("n2", "2026-11-11", "[[new]]");
    note("t1", "2026-11-11", "[[zeta]] [[beta]]");
    let names = |max: &str| -> Vec<String> {
        let answer = scratch.json([
            "--vault",
            "vault",
            "context",
            "hub",
            "--now",
            NOW,
            "--max-entities",
            max,
            "--json",
        ]);
        let related = answer["relatedConcepts"].as_array().unwrap();
        related.iter().map(|c| format!("{} {}", c["name"].as_str().unwrap(), c["files"])).collect()
    };
    assert_eq!(names("10"), ["new 2", "beta 1", "zeta 1", "old 3"]);
    // The most notes decide who is in, before freshness decides the order.
    assert_eq!(names("2"), ["new 2", "old 3"]);
    assert_eq!(names("3"), ["new 2", "beta 1", "old 3"]);
    assert_eq!(names("18446744073709551615").len(), 4);
}

#[test]
fn a_snippet_holds_no_front_matter() {
    let scratch = Scratch::new();
    scratch.write("vault/toml.md", "+++\ntitle = \"Gateway\"\n+++\n\nThe gateway listens.\n");
    scratch.write("vault/json.md", "{\n\"title\": \"Gateway\"\n}\n\nThe gateway listens.\n");
    let answer = scratch.json(["--vault", "vault", "search", "gateway", "--json"]);
    let results = answer["results"].as_array().unwrap();
    assert!(results.iter().all(|hit| hit["snippet"] == "The gateway listens."), "{answer}");
    assert_eq!(results.len(), 2);
}

#[test]
fn forms_of_a_word_are_found_after_the_word_itself() {
    let scratch = Scratch::new();
    scratch.write("vault/exact.md", "They migrate at night, and once more: migrate.");
    scratch.write("vault/other.md", "# Migration\n\nThe migration of all migrations.");
    scratch.write("vault/house.md", "Das Haus am See.");
    scratch.write("vault/houses.md", "Zwei Häuser im Wald.");
    scratch.write("vault/czech.md", "Krátké poznámky.");
    scratch.write("vault/both.md", "Deployments need the gateway.");
    scratch.write("vault/one.md", "The gateway, the gateway, the gateway.");
    let found = |query: &str| -> Vec<String> {
        let answer = scratch.json(["--vault", "vault", "search", query, "--json"]);
        valid("search", &answer);
        let hits = answer["results"].as_array().unwrap();
        let scores: Vec<f64> = hits.iter().map(|hit| hit["score"].as_f64().unwrap()).collect();
        assert!(scores.is_sorted_by(|a, b| a >= b), "{answer}");
        hits.iter()
            .map(|hit| hit["uri"].as_str().unwrap()["memory://".len()..].to_owned())
            .collect()
    };
    assert_eq!(found("migrate"), ["exact", "other"]);
    assert_eq!(found("migrating"), ["other", "exact"]);
    assert_eq!(found("Häuser"), ["houses", "house"]);
    assert_eq!(found("Haus"), ["house", "houses"]);
    assert_eq!(found("poznámka"), ["czech"]);
    // A word that no note has counts through its forms, beside one that many have.
    assert_eq!(found("deploy gateway"), ["both", "one"]);
    let answer = scratch.json(["--vault", "vault", "search", "poznámka", "--json"]);
    assert_eq!(answer["results"][0]["snippet"], "Krátké poznámky.");
}

#[test]
fn a_word_is_found_without_its_particle_or_article() {
    let scratch = Scratch::new();
    for (name, text) in [
        ("korean.md", "# 결제\n\n카드를 먼저 본다."),
        ("arabic.md", "# دليل\n\nيبدأ النشر كل يوم."),
        ("russian.md", "# Деньги\n\nКлиент видит оплаты сразу."),
    ] {
        scratch.write(&format!("vault/{name}"), text);
    }
    for (query, expect) in [
        ("결제에서", "memory://korean"),
        ("카드", "memory://korean"),
        ("نشر", "memory://arabic"),
        ("والنشر", "memory://arabic"),
        ("оплатой", "memory://russian"),
    ] {
        let (_, answer) = scratch.answer(["--vault", "vault", "search", query, "--json"]);
        assert_eq!(answer["results"][0]["uri"], expect, "{query}: {answer}");
    }
}
