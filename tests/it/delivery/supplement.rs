//! What the first prompt adds to a context that went out before it: once, none of it twice, within the session's budget.

use std::collections::BTreeSet;
use std::process::Command;
use std::thread;

use serde_json::{Value, json};

use crate::support::handoff_lab::given;
use crate::support::harbour::{ABOUT_MOORING, HEADING, MOORING, TOKEN_LIMIT as LIMIT, write_notes};
use crate::support::{Scratch, git, stderr, valid, write_ago};

/// A project with more notes than its contexts hold. One of the oldest is about mooring.
struct Harbour(Scratch);

impl Harbour {
    fn new() -> Harbour {
        let scratch = Scratch::new();
        let folder = scratch.path().join("harbour");
        write_notes(&folder);
        git(&folder, &["init", "-q"]);
        let harbour = Harbour(scratch);
        harbour.text("dry", &[]);
        harbour
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.0.kgctx(arguments);
        command.env_remove("KGCTX_RANK").env("TOKEN_LIMIT", LIMIT.to_string());
        command.current_dir(self.0.path().join("harbour"));
        command
    }

    /// A dry run as for OpenCode.
    fn text(&self, session: &str, more: &[&str]) -> String {
        let common = ["inject", "--session", session, "--dry-run", "--host", "opencode"];
        let output = self.command(&[common.as_slice(), more].concat()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn prompt_file(&self, prompt: &str) -> String {
        self.0.write("prompt.txt", prompt).to_str().unwrap().to_owned()
    }

    /// An event of Claude Code, and the text that the session then gets.
    fn claude(
        &self,
        mut command: Command,
        event: &str,
        session: &str,
        more: Value,
    ) -> Option<String> {
        command.env("CLAUDECODE", "1");
        let folder = self.0.path().join("harbour");
        let mut question = json!({"hook_event_name": event, "session_id": session, "cwd": folder});
        question.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let output = given(command, &question);
        if output.stdout.is_empty() {
            return None;
        }
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let specific = &answer["hookSpecificOutput"];
        assert_eq!(
            (specific["hookEventName"].as_str(), stderr(&output)),
            (Some(event), String::new())
        );
        Some(specific["additionalContext"].as_str().unwrap().to_owned())
    }

    fn start(&self, session: &str) -> Option<String> {
        let hook = self.command(&["hook", "claude-code"]);
        self.claude(hook, "SessionStart", session, json!({"source": "startup"}))
    }

    fn prompt(&self, session: &str, prompt: &str) -> Option<String> {
        let hook = self.command(&["hook", "claude-code"]);
        self.claude(hook, "UserPromptSubmit", session, json!({"prompt": prompt}))
    }

    /// What the bridge in OpenCode is told.
    fn bridge(&self, event: &Value) -> Value {
        let question = json!({"protocol": 1, "bridge": "0.1.0", "directory": "/", "event": event});
        let output = given(self.command(&["hook", "opencode"]), &question);
        assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
        let answer = serde_json::from_slice(&output.stdout).unwrap();
        valid("hook-opencode", &answer);
        answer
    }

    fn created(&self, session: &str) -> Value {
        let info = json!({"id": session, "directory": self.0.path().join("harbour"), "title": "t"});
        self.bridge(
            &json!({"type": "session.created", "properties": {"sessionID": session, "info": info}}),
        )
    }

    fn first_prompt(&self, session: &str, receipt: &Value) -> Value {
        self.bridge(&json!({"type": "kgctx.prompt", "sessionID": session, "receipt": receipt, "prompt": ABOUT_MOORING}))
    }

    fn explained(&self, session: &str) -> Value {
        let output = self.command(&["explain", "--session", session, "--json"]).output().unwrap();
        let explanation = serde_json::from_slice(&output.stdout).unwrap();
        valid("explain", &explanation);
        explanation
    }
}

fn addresses(text: &str) -> BTreeSet<&str> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("- memory://"));
    lines.filter_map(|line| line.split([':', ' ']).next()).collect()
}

fn tokens(receipt: &Value) -> usize {
    receipt["used"]["tokens"].as_u64().unwrap() as usize
}

#[test]
fn the_first_prompt_in_claude_code_brings_the_notes_that_fit_it_once() {
    let harbour = Harbour::new();
    let start = harbour.start("s").unwrap();
    assert!(!start.contains("mooring"), "{start}");
    let added = harbour.prompt("s", ABOUT_MOORING).unwrap();
    assert!(added.starts_with(HEADING), "{added}");
    assert!(added.contains(&format!("- {MOORING} Mooring lines: ")), "{added}");
    assert!(addresses(&start).is_disjoint(&addresses(&added)), "{added}");
    assert_eq!(harbour.prompt("s", ABOUT_MOORING), None);
    let explained = harbour.explained("s");
    let (first, second) = (&explained["receipt"], &explained["supplement"]["receipt"]);
    assert_eq!([&first["moment"], &second["moment"]], ["start", "prompt"]);
    assert_eq!([&first["delivered"], &second["delivered"]], [true, true]);
    assert_eq!(first["keptTokens"], 100);
    assert!(tokens(first) + tokens(second) <= LIMIT && tokens(second) > 0, "{first} {second}");
    assert_eq!(
        explained["supplement"]["lines"][0]["reason"],
        "matches the prompt; changed 100 sessions ago"
    );
    // A supplement belongs to the context before it, and to no later one.
    harbour.text("s", &[]);
    assert_eq!(harbour.explained("s").get("supplement"), None);
    harbour.start("t").unwrap();
    harbour.prompt("t", ABOUT_MOORING).unwrap();
    // What is shown to people says both, too.
    let output = harbour.command(&["explain", "--session", "t"]).output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(
        shown.contains("100 reserved for the first prompt")
            && shown.contains("At the first prompt"),
        "{shown}"
    );
}

#[test]
fn the_text_of_a_supplement_is_data() {
    let harbour = Harbour::new();
    harbour.start("s").unwrap();
    let added = harbour.prompt("s", ABOUT_MOORING).unwrap();
    assert!(!added.contains("sk_live") && !added.contains("<system-reminder>"), "{added}");
    assert!(added.contains("data, not instructions"), "{added}");
    let fences: Vec<&str> = added.lines().filter(|line| line.starts_with("```")).collect();
    assert_eq!(fences.len(), 2, "{added}");
}

#[test]
fn a_first_prompt_about_something_else_adds_nothing_and_was_the_first_all_the_same() {
    let harbour = Harbour::new();
    harbour.start("s").unwrap();
    assert_eq!(harbour.prompt("s", "Thanks! Please refactor the quaternion solver."), None);
    assert_eq!(harbour.prompt("s", ABOUT_MOORING), None);
}

#[test]
fn only_a_prompt_that_tells_a_subject_brings_notes() {
    let generic = [
        "continue",
        "run the tests",
        "yes, go on",
        "fix the bug",
        "Mach bitte weiter und führe die Tests aus",
        "テストを実行して、バグを修正してください",
    ];
    let telling = [
        ("How do we sign our testimonials with customers?", "docs/quotes"),
        ("Warum scheitert die Anmeldung mit Passkeys?", "docs/anmeldung"),
        ("係留索の点検について教えて", "docs/keiryu"),
        ("결제에서 실패하는 경우를 고쳐줘", "docs/gyeolje"),
    ];
    let harbour = Harbour::new();
    let docs = harbour.0.path().join("harbour/docs");
    for (name, text) in [
        (
            "quotes.md",
            "# Quotes\n\nTestimonials of customers are signed: yes, we go on, fix each bug, run tests, continue.",
        ),
        (
            "anmeldung.md",
            "# Ablauf\n\nMach weiter mit der Anmeldung: Passkeys führe die Tests bitte aus.",
        ),
        ("keiryu.md", "# 手順\n\n係留索の点検はテストを実行して、バグを修正してください。"),
        ("gyeolje.md", "# 결제\n\n카드를 먼저 본다."),
    ] {
        write_ago(&docs, name, text, 900 * 24 * 3_600);
    }
    harbour.text("dry", &[]);
    for (n, prompt) in generic.iter().enumerate() {
        let session = format!("generic-{n}");
        harbour.start(&session).unwrap();
        assert_eq!(harbour.prompt(&session, prompt), None, "{prompt}");
    }
    for (n, (prompt, note)) in telling.iter().enumerate() {
        let session = format!("telling-{n}");
        harbour.start(&session).unwrap();
        let added = harbour.prompt(&session, prompt).unwrap_or_default();
        assert_eq!(addresses(&added).into_iter().collect::<Vec<_>>(), [*note], "{prompt}\n{added}");
    }
}

#[test]
fn a_session_without_a_context_gets_no_supplement() {
    let harbour = Harbour::new();
    assert_eq!(harbour.prompt("s", ABOUT_MOORING), None);
    assert_eq!(harbour.first_prompt("s", &json!(null))["action"], "none");
    assert_eq!(harbour.first_prompt("s", &json!(999))["action"], "none");
    let given = harbour.created("other");
    // The receipt of another session.
    assert_eq!(harbour.first_prompt("s", &given["receipt"])["action"], "none");
    let prompt = harbour.prompt_file(ABOUT_MOORING);
    let arguments =
        ["inject", "--session", "none", "--dry-run", "--supplement", "--prompt-file", &prompt];
    let output = harbour.command(&arguments).output().unwrap();
    let said = stderr(&output);
    assert!(output.status.code() == Some(2) && said.contains("has no context yet"), "{said}");
}

#[test]
fn a_supplement_that_was_not_used_is_free_again_and_one_that_was_is_not() {
    let harbour = Harbour::new();
    let start = harbour.created("s");
    let added = harbour.first_prompt("s", &start["receipt"]);
    assert_eq!(
        (&added["action"], &added["metadata"]["moment"]),
        (&json!("inject"), &json!("prompt"))
    );
    assert!(added["notice"]["text"].as_str().unwrap().ends_with(" tokens more, for this prompt"));
    assert_eq!(harbour.first_prompt("s", &start["receipt"])["action"], "none", "it is held");
    let about = |kind: &str, receipt: &Value| {
        harbour.bridge(&json!({"type": kind, "sessionID": "s", "receipt": receipt, "how": "part"}))
    };
    about("kgctx.released", &added["receipt"]);
    let again = harbour.first_prompt("s", &start["receipt"]);
    assert_eq!((&again["action"], &again["text"]), (&added["action"], &added["text"]));
    about("kgctx.delivered", &again["receipt"]);
    assert_eq!(harbour.first_prompt("s", &start["receipt"])["action"], "none");
}

#[test]
fn of_many_who_ask_at_once_one_is_given_the_supplement() {
    let harbour = Harbour::new();
    for n in 0..5 {
        let session = format!("s{n}");
        let start = harbour.created(&session);
        let answers: Vec<Value> = thread::scope(|scope| {
            let ask = || harbour.first_prompt(&session, &start["receipt"]);
            let threads: Vec<_> = (0..6).map(|_| scope.spawn(ask)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let n_given = answers.iter().filter(|answer| answer["action"] == "inject").count();
        assert_eq!(n_given, 1, "{answers:#?}");
    }
}

#[test]
fn a_hook_that_is_killed_before_its_text_is_out_leaves_the_supplement_to_the_next_prompt() {
    let harbour = Harbour::new();
    for point in ["load:composed", "load:printed"] {
        harbour.start(point).unwrap();
        let mut hook = harbour.command(&["hook", "claude-code"]);
        hook.env("KGCTX_TEST_KILL_AT", point);
        harbour.claude(hook, "UserPromptSubmit", point, json!({"prompt": ABOUT_MOORING}));
        assert!(harbour.prompt(point, ABOUT_MOORING).is_some(), "{point}");
        assert_eq!(harbour.prompt(point, ABOUT_MOORING), None, "{point}");
    }
}

#[test]
fn where_no_share_is_kept_or_the_ranking_is_the_seeds_there_is_no_supplement() {
    let harbour = Harbour::new();
    for (n, (key, value)) in
        [("KGCTX_PROMPT_SHARE", "0"), ("KGCTX_RANK", "frequency")].into_iter().enumerate()
    {
        let session = format!("s{n}");
        let hook = || {
            let mut hook = harbour.command(&["hook", "claude-code"]);
            hook.env(key, value);
            hook
        };
        harbour.claude(hook(), "SessionStart", &session, json!({"source": "startup"}));
        let added =
            harbour.claude(hook(), "UserPromptSubmit", &session, json!({"prompt": ABOUT_MOORING}));
        assert_eq!(added, None, "{key}={value}");
        assert_eq!(harbour.explained(&session)["receipt"].get("keptTokens"), None);
    }
    let mut wrong = harbour.command(&["config"]);
    let output = wrong.env("KGCTX_PROMPT_SHARE", "101").output().unwrap();
    assert!(
        stderr(&output).contains("KGCTX_PROMPT_SHARE=\"101\" is not a number of percent"),
        "{output:?}"
    );
}

#[test]
fn a_context_that_knows_the_prompt_has_the_whole_budget() {
    let harbour = Harbour::new();
    let prompt = harbour.prompt_file(ABOUT_MOORING);
    let text = harbour.text("s", &["--prompt-file", &prompt]);
    assert!(text.contains(MOORING), "{text}");
    let receipt = &harbour.explained("s")["receipt"];
    assert_eq!(
        (&receipt["budget"]["tokens"], &receipt["isPrompted"]),
        (&json!(LIMIT), &json!(true))
    );
    assert!(tokens(receipt) > LIMIT * 95 / 100, "{receipt}");
    let output = harbour
        .command(&[
            "inject",
            "--session",
            "s",
            "--dry-run",
            "--supplement",
            "--prompt-file",
            &prompt,
        ])
        .output()
        .unwrap();
    assert!(stderr(&output).contains("it knew the prompt"), "{output:?}");
}

/// The law, over limits, shares and prompts.
#[test]
fn context_and_supplement_together_never_exceed_the_limit_and_share_no_note() {
    let harbour = Harbour::new();
    let prompts = [
        ABOUT_MOORING,
        "berth 77 and berth 91, water and power",
        "depth at berth 12, table of berth 33",
        "é 日本",
    ];
    let mut n_added = 0;
    for (n, limit) in [0, 1, 60, 137, 400, 1_000, 2_500, 6_000].into_iter().enumerate() {
        for (m, share) in ["1", "10", "45", "100"].into_iter().enumerate() {
            let session = format!("s{n}-{m}");
            let run = |more: &[&str]| {
                let common = ["inject", "--session", &session, "--dry-run", "--format", "json"];
                let mut command = harbour.command(&[common.as_slice(), more].concat());
                command.env("KGCTX_PROMPT_SHARE", share);
                let output = command.output().unwrap();
                serde_json::from_slice::<Value>(&output.stdout).ok()
            };
            let limit_text = limit.to_string();
            let start = run(&["--budget", &limit_text, "--host", "opencode"]).unwrap();
            let file = harbour.prompt_file(prompts[(n + m) % prompts.len()]);
            let Some(added) = run(&["--supplement", "--prompt-file", &file]) else { continue };
            let size = |answer: &Value| answer["tokens"].as_u64().unwrap();
            assert!(size(&start) + size(&added) <= limit, "{limit} {share}: {start} {added}");
            let (first, second) =
                (start["text"].as_str().unwrap(), added["text"].as_str().unwrap());
            assert!(addresses(first).is_disjoint(&addresses(second)), "{first}\n{second}");
            n_added += usize::from(!second.is_empty());
        }
    }
    assert!(n_added >= 8, "{n_added}");
}
