//! What a session starts with where the memory holds thinking sessions, a workflow and an assumption, as the real
//! maenifold wrote them.

use std::fs;
use std::process::Command;

use crate::support::index_snapshot::{assert_same, snapshot};
use crate::support::maenifold_real::{VERSIONS, unpack};
use crate::support::{Scratch, git, maenifold};

const NOW: &str = "2026-11-17T09:00:00Z";
const CONCLUSION: &str = "Completed: Replays after expiry return the existing invoice from the ledger with 200; \
    idempotency-keys stay at 48 hours. Next: write the migration and the test for billing-api.";

/// A home with the memory of a version, and a project called billing-api.
fn billing_api(version: &str) -> Scratch {
    let scratch = Scratch::new();
    unpack(version, &scratch.home().join("maenifold"));
    fs::create_dir(scratch.path().join("billing-api")).unwrap();
    git(&scratch.path().join("billing-api"), &["init", "-q"]);
    scratch
}

fn kgctx(scratch: &Scratch, arguments: &[&str]) -> Command {
    let mut command = scratch.kgctx([&["--dir", "billing-api"], arguments].concat());
    command.env_remove("KGCTX_RANK");
    command
}

fn said(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn injection(scratch: &Scratch, more: &[&str]) -> Command {
    let common = ["inject", "--session", "s", "--dry-run", "--now", NOW];
    kgctx(scratch, &[&common, more].concat())
}

#[test]
fn a_context_says_what_was_concluded_and_what_goes_on() {
    for version in VERSIONS {
        let scratch = billing_api(version);
        let text = said(&mut injection(&scratch, &[]));
        assert!(text.contains(CONCLUSION), "{version}: {text}");
        let open =
            text.lines().find(|line| line.starts_with("- Open threads: ")).unwrap_or_default();
        assert!(open.contains("Investigate slow dashboard-v2 queries: sequential scan on projections of CQRS (thought 0/4, "), "{version}: {text}");
        for id in [
            "Sequential Thinking Session",
            "Workflow Session",
            "requiresEnhancedThinking",
            "[agent]",
            "07:5",
        ] {
            assert!(!text.contains(id), "{version}: {id}: {text}");
        }
        for line in text.lines().filter(|line| line.starts_with("- memory://")) {
            let (address, said) = line[2..].split_once([' ', ':']).unwrap();
            assert!(!address.is_empty() && said.split_whitespace().count() > 3, "{line}");
        }
        if version == "8b93684" {
            insta::assert_snapshot!("billing_api", text);
        }
    }
}

#[test]
fn every_source_tells_what_sessions_say() {
    let scratch = billing_api("8b93684");
    let text = said(&mut injection(&scratch, &["--source", "database"]));
    assert!(
        text.contains(
            "How should billing-api reject replays of idempotency-keys after expiry? Completed: "
        ),
        "{text}"
    );
    assert!(!text.contains("Sequential Thinking Session"), "{text}");
    // The front matter is in no database, but the file has it.
    let assumption = "never retries a webhook after 3 days: Assumption (active, high confidence, about billing-api).";
    assert!(text.contains(assumption), "{text}");
    let notes = |text: &str| text.split("Connected concepts").next().unwrap().to_owned();
    assert!(!notes(&text).contains("[["), "{text}");
    fs::create_dir_all(scratch.home().join("maenifold/assets/models")).unwrap();
    let mut command = injection(&scratch, &["--source", "cli"]);
    command.env("KGCTX_MAENIFOLD_BIN", maenifold()).env("STAND_IN_NOW", NOW);
    let text = said(command.env("KGCTX_DEADLINE_MS", "60000").env("CLI_TIMEOUT", "60000"));
    assert!(text.contains("after expiry? Completed: Replays after expiry return "), "{text}");
    assert!(!text.contains("Sequential Thinking Session"), "{text}");
    assert!(text.contains(assumption) && !notes(&text).contains("[["), "{text}");
    for source in ["index", "database"] {
        let found = said(&mut kgctx(&scratch, &["search", "replays", "--source", source]));
        assert!(found.contains("How should billing-api reject replays"), "{found}");
        for words in ["replays", "sequential scan", "agent"] {
            let found = said(&mut kgctx(&scratch, &["search", words, "--source", source]));
            for raw in ["## Thought", "[agent]", "07:5"] {
                assert!(!found.contains(raw), "{source}, {words}: {raw}: {found}");
            }
        }
        let recent = ["recent", "--filter", "thinking", "--now", NOW, "--source", source];
        let recent = said(&mut kgctx(&scratch, &recent));
        let workflow = "Workflow deductive-reasoning: Identify General Principles - Establish…";
        assert!(recent.contains(workflow), "{recent}");
        assert!(!recent.contains("Sequential Thinking Session"), "{recent}");
    }
}

/// These bytes are older than all of this.
#[test]
fn the_seeds_ranking_shows_what_it_always_showed() {
    let scratch = billing_api("8b93684");
    for (source, name) in [("auto", "frequency_auto"), ("index", "frequency_index")] {
        let mut command = injection(&scratch, &["--source", source]);
        insta::assert_snapshot!(name, said(command.env("KGCTX_RANK", "frequency")));
    }
}

#[test]
fn what_was_abandoned_comes_last() {
    let scratch = billing_api("8b93684");
    let memory = scratch.home().join("maenifold/memory");
    let session = memory.join("thinking/sequential/2026/11/17/session-1794902162414-51301.md");
    let text = fs::read_to_string(&session).unwrap();
    fs::write(&session, text.replace("status: active", "status: abandoned")).unwrap();
    let text = said(&mut injection(&scratch, &[]));
    assert!(!text.contains("Open threads"), "{text}");
    let notes: Vec<&str> = text.lines().filter(|line| line.starts_with("- memory://")).collect();
    let last = notes.last().unwrap();
    assert!(last.contains("projections of CQRS: Abandoned at thought 0/4."), "{text}");
}

#[test]
fn a_thread_of_another_project_is_not_told() {
    let scratch = billing_api("8b93684");
    let thread = |n: usize, thought: &str| {
        let text = format!(
            "---\ntype: sequential\nstatus: active\n---\n\n# Sequential Thinking Session\n\n## Thought 0/9 [agent]\n\n{thought}\n"
        );
        let path = format!(
            "home/maenifold/memory/thinking/sequential/2026/11/17/session-179490216300{n}-1.md"
        );
        scratch.write(&path, text);
    };
    thread(9, "What does [[tax-engine]] need of [[tower-http]] and [[vat]]? Much.");
    thread(2, "Why is [[billing-api]] slow at night? It may be [[cron]].");
    for n in 3..7 {
        thread(n, &format!("Is [[ledger]] entry {n} right? It may be."));
    }
    let text = said(&mut injection(&scratch, &[]));
    let open = text.lines().find(|line| line.starts_with("- Open threads: ")).unwrap();
    assert!(!open.contains("tax-engine"), "{open}");
    assert!(
        open.starts_with("- Open threads: Why is billing-api slow at night? (thought 0/9, "),
        "{open}"
    );
    assert_eq!(open.matches("memory://").count(), 3, "{open}");
}

#[test]
fn an_edited_session_is_indexed_as_in_a_new_build() {
    let scratch = billing_api("8b93684");
    let home = scratch.path().join("kgctx-home/cache/index");
    let index = || {
        let mut stores = fs::read_dir(&home).unwrap().flatten().map(|entry| entry.path());
        stores.find(|store| store.join("index.db").exists()).unwrap().join("index.db")
    };
    said(&mut injection(&scratch, &[]));
    let memory = scratch.home().join("maenifold/memory/thinking/sequential/2026/11/17");
    for (name, from, to) in [
        (
            "session-1794902162414-51301",
            "*2026-11-17",
            "\n## Conclusion\n\nAn index on [[cqrs]] will do.\n\n*2026-11-17",
        ),
        ("session-1794902161523-71562", "status: completed", "status: abandoned"),
    ] {
        let session = memory.join(format!("{name}.md"));
        let text = fs::read_to_string(&session).unwrap();
        fs::write(&session, text.replacen(from, to, 1)).unwrap();
        let text = said(&mut injection(&scratch, &[]));
        assert!(text.contains("An index on cqrs will do."), "{text}");
        let updated = snapshot(&index(), &["index", "ledger"]);
        fs::remove_dir_all(&home).unwrap();
        said(&mut injection(&scratch, &[]));
        assert_same(&updated, &snapshot(&index(), &["index", "ledger"]), name);
    }
}
