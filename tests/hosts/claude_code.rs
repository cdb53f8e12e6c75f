//! The real Claude Code, driven on a throw-away machine without a model and without a network: it runs the hooks of the
//! settings that `kgctx install claude-code` has written, tells them what the fixtures say, and what they answer reaches
//! the model.
//!
//! All five sources of a start come about without a window: `startup`, `resume` (`--continue`, `--resume`), `fork`
//! (`--fork-session`), `clear` and `compact` (as prompts). So do the ends `clear` and `other`; `prompt_input_exit` and
//! `resume` come about in the window. Not seen are `logout`, which needs an account, and the VS Code extension.

mod handoff;
pub(crate) mod lab;
pub(crate) mod model;
mod rotation;
mod window;
mod wrap;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use kgctx::core::host::Host;
use kgctx::hosts::claude_code::ClaudeCode;
use kgctx::hosts::words::{EventKind, HostWords, SessionEvent, StartCause};
use serde_json::Value;

use lab::{Lab, program_of};
use window::ClaudeCodeWindow;

use crate::support::harbour;

const CANARY: &str = "CANARY-7f3a";

/// The keys of an event.
fn keys(event: &Value) -> BTreeSet<String> {
    event.as_object().unwrap().keys().cloned().collect()
}

/// Asserts that a fixture has the shape of what was heard.
#[track_caller]
fn like_fixture(heard: &Value, name: &str) {
    let file = format!("fixtures/events/claude-code/{name}.json");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let fixture: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(keys(heard), keys(&fixture), "{name}");
    for key in ["hook_event_name", "source", "reason"] {
        assert_eq!(heard[key], fixture[key], "{name}");
    }
}

fn event(heard: &Value) -> SessionEvent {
    ClaudeCode.read(heard.to_string().as_bytes()).unwrap()
}

fn session(heard: &Value) -> &str {
    heard["session_id"].as_str().unwrap()
}

/// How often the canary is in the last request.
fn canaries(lab: &Lab) -> usize {
    lab.model.told().last().expect("the model was asked").matches(CANARY).count()
}

#[test]
fn the_installed_hooks_are_run_and_their_text_reaches_the_model() {
    let lab = Lab::new(None);
    lab.answer_with_context(&format!("{CANARY} \u{1}\"\\\u{2028}\u{2029}\nline two 😀"));
    assert_eq!(lab.run(&["-p", "hello"]).trim(), "MOCK-REPLY");
    let heard = lab.heard();
    let [start, end] = heard.as_slice() else { panic!("{heard:#?}") };
    like_fixture(start, "session-start-startup");
    like_fixture(end, "session-end-other");
    assert_eq!(start["source"], "startup");
    let SessionEvent { session: id, folder, transcript, kind, .. } = event(start);
    assert_eq!((folder, kind), (lab.project(), EventKind::Started(StartCause::New)));
    let transcript = transcript.unwrap();
    assert!(transcript.starts_with(lab.scratch.home()) && transcript.is_file());
    assert_eq!(transcript.file_stem().unwrap().to_str(), Some(id.as_str()));
    let told = lab.model.told();
    assert_eq!(told.len(), 1);
    let expected = format!("{CANARY} \u{1}\"\\\u{2028}\u{2029}\nline two 😀");
    assert_eq!(told[0].matches(&expected).count(), 1);
}

#[test]
fn the_end_of_a_turn_is_told_as_the_fixture_says() {
    let lab = Lab::installed(None, &["install", "claude-code", "--rotation"]);
    lab.run(&["-p", "hello"]);
    let heard = lab.heard();
    let stop = heard.iter().find(|heard| heard["hook_event_name"] == "Stop");
    let stop = stop.unwrap_or_else(|| panic!("{heard:#?}"));
    like_fixture(stop, "stop");
    let expected = EventKind::TurnEnded { is_working: false, has_agents: false };
    assert_eq!(
        (event(stop).kind, event(stop).answer.as_deref()),
        (expected, Some("MOCK-REPLY")),
        "{stop}"
    );
}

#[test]
fn the_first_prompt_brings_the_notes_that_fit_it_once() {
    let lab = Lab::with_kgctx(None, &["install", "claude-code"]);
    harbour::write_notes(&lab.project());
    let settings = format!("token_limit = {}\n", harbour::TOKEN_LIMIT);
    fs::write(lab.project().join("kgctx.toml"), settings).unwrap();
    lab.run_prompts(&[harbour::ABOUT_MOORING, "And now?"]);
    let told = lab.model.told();
    let [first, second] = told.as_slice() else { panic!("{told:#?}") };
    for request in [first, second] {
        assert_eq!(request.matches("## Knowledge Graph Context").count(), 1, "{request}");
        assert_eq!(request.matches(harbour::HEADING).count(), 1, "{request}");
        assert_eq!(request.matches(harbour::MOORING).count(), 1, "{request}");
    }
}

/// Separate arguments of a hook are read since 2.1.139. What `install` writes works before and after.
#[test]
fn every_version_gets_its_context_by_what_install_writes() {
    for version in ["2.1.138", "2.1.139"] {
        let lab = Lab::with_kgctx(None, &["install", "claude-code"]);
        fs::create_dir(lab.project().join("docs")).unwrap();
        fs::write(lab.project().join("docs/a.md"), format!("# App\n\n{CANARY} is [[Here]].\n"))
            .unwrap();
        let program = program_of(version);
        assert_eq!(lab.run_program(&program, &["-p", "hello"], "").trim(), "MOCK-REPLY");
        let told = lab.model.told().pop().unwrap();
        assert_eq!(told.matches(CANARY).count(), 1, "{version}: {told}");

        // Hooks of an older kgctx, which had separate arguments.
        let file = lab.scratch.path().join("home/.claude/settings.json");
        let written = fs::read_to_string(&file).unwrap();
        let exec = written.replace(
            "\"kgctx hook claude-code\"",
            "\"kgctx\", \"args\": [\"hook\", \"claude-code\"]",
        );
        assert_ne!(exec, written);
        fs::write(&file, exec).unwrap();
        lab.run_program(&program, &["-p", "hello"], "");
        // Without arguments kgctx says nothing, and does not stop the prompt either.
        let told = lab.model.told().pop().unwrap();
        let is_read = version >= "2.1.139";
        assert_eq!(told.matches(CANARY).count(), usize::from(is_read), "{version}: {told}");
    }
}

#[test]
fn a_prompt_is_told_as_the_fixture_has_it() {
    let lab = Lab::new(None);
    lab.run(&["-p", "hello"]);
    let heard = lab.heard_all();
    let [_, prompt, _] = heard.as_slice() else { panic!("{heard:#?}") };
    like_fixture(prompt, "user-prompt-submit");
    let SessionEvent { kind, prompt, .. } = event(prompt);
    assert_eq!((kind, prompt.as_deref()), (EventKind::Prompted, Some("hello")));
}

#[test]
fn every_source_is_told_apart_and_its_text_delivered() {
    let lab = Lab::new(None);
    lab.answer_with_context("nothing");
    lab.run(&["-p", "hello"]);
    let first = session(&lab.heard()[0]).to_owned();
    lab.answer_with_context(CANARY);

    for arguments in [&["--continue"][..], &["--resume", &first]] {
        lab.run(&[&["-p", "again"], arguments].concat());
        let heard = lab.heard();
        like_fixture(&heard[0], "session-start-resume");
        assert_eq!(session(&heard[0]), first);
        assert!(canaries(&lab) >= 1, "{arguments:?}");
    }

    lab.run(&["-p", "again", "--resume", &first, "--fork-session"]);
    let heard = lab.heard();
    like_fixture(&heard[0], "session-start-fork");
    assert_ne!(session(&heard[0]), first);
    assert!(canaries(&lab) >= 1);
}

#[test]
fn clearing_gives_a_new_session_and_compacting_keeps_it() {
    let lab = Lab::new(None);
    lab.answer_with_context(CANARY);
    lab.run_prompts(&["one", "/clear", "two", "/compact", "three"]);
    let heard = lab.heard();
    let [startup, cleared, start, compact, end] = heard.as_slice() else { panic!("{heard:#?}") };
    like_fixture(startup, "session-start-startup");
    like_fixture(cleared, "session-end-clear");
    like_fixture(start, "session-start-clear");
    like_fixture(compact, "session-start-compact");
    like_fixture(end, "session-end-other");
    assert_eq!(session(cleared), session(startup));
    assert_ne!(session(start), session(startup));
    assert_eq!((session(compact), session(end)), (session(start), session(start)));
    assert_eq!(
        canaries(&lab),
        1,
        "what was there before the compaction is gone, and came once more"
    );
}

#[test]
fn ten_thousand_units_reach_the_model_and_not_one_more() {
    let lab = Lab::new(None);
    let delivered = |filling: &str, count: usize| {
        let text = format!("{CANARY}{}END-OF-IT", filling.repeat(count));
        lab.answer_with_context(&text);
        lab.run(&["-p", "hello"]);
        let is_whole = lab.model.told().last().unwrap().contains(&text);
        assert_eq!(text.encode_utf16().count() <= 10_000, is_whole, "{filling} × {count}");
        is_whole
    };
    let around = CANARY.len() + "END-OF-IT".len();
    let ours = Host::ClaudeCode.budget(usize::MAX).chars.unwrap();
    assert!(ours <= 10_000, "a context of ours always fits");
    assert!(delivered("a", ours - around));
    assert!(delivered("ü", 10_000 - around));
    assert!(!delivered("a", 10_001 - around));
    // Characters beyond the first plane count twice.
    assert!(delivered("😀", (10_000 - around) / 2));
    assert!(!delivered("😀", (10_000 - around) / 2 + 1));

    // The model is then shown the beginning, and where the rest is.
    lab.answer_with_context(&format!("{CANARY}{}END-OF-IT", "a".repeat(20_000)));
    lab.run(&["-p", "hello"]);
    let told = lab.model.told().pop().unwrap();
    assert!(told.contains(&format!("{CANARY}{}", "a".repeat(1_900))));
    assert!(!told.contains(&"a".repeat(2_001)) && told.contains("<persisted-output>"));
}

#[test]
fn what_is_no_envelope_is_dropped_or_taken_for_text() {
    let lab = Lab::new(None);
    let check = |answer: &str, expected: usize| {
        lab.answer(answer);
        lab.run(&["-p", "hello"]);
        assert_eq!(canaries(&lab), expected, "{answer}");
    };
    check(&format!(r#"{{"hookSpecificOutput":{{"additionalContext":"{CANARY}"}}}}"#), 0);
    check(&format!(r#"{{"additionalContext":"{CANARY}"}}"#), 0);
    check(&format!("{CANARY} as plain text"), 1);
    check(&format!("{{ {CANARY} and no JSON"), 1);
}

#[test]
fn settings_that_others_wrote_are_accepted_with_our_hooks_in_them() {
    let other = r#"{"hooks":{"SessionStart":[{"matcher":"startup","hooks":[{"type":"command","command":"echo OTHER-HOOK"}]}]},"env":{"A":"b"}}"#;
    for settings in ["", "\u{feff}{\r\n\t\"env\": {}\r\n}\r\n", other] {
        let lab = Lab::new(Some(settings));
        lab.answer_with_context(CANARY);
        lab.run(&["-p", "hello"]);
        assert_eq!(lab.heard().len(), 2, "{settings:?}");
        let told = lab.model.told().pop().unwrap();
        assert_eq!(told.matches(CANARY).count(), 1, "{settings:?}");
        assert_eq!(told.contains("OTHER-HOOK"), settings == other);
    }
}

#[test]
fn a_projects_own_settings_count_in_it_alone() {
    let lab = Lab::installed(None, &["install", "claude-code", "--project"]);
    lab.answer_with_context(CANARY);
    lab.run(&["-p", "hello"]);
    assert_eq!((lab.heard().len(), canaries(&lab)), (2, 1));
    fs::remove_file(lab.project().join(".claude/settings.local.json")).unwrap();
    lab.run(&["-p", "hello"]);
    assert_eq!((lab.heard().len(), canaries(&lab)), (0, 0));
}

#[test]
fn in_the_window_a_session_starts_changes_and_ends() {
    let lab = Lab::new(None);
    lab.answer_with_context(CANARY);
    let Some(window) = ClaudeCodeWindow::open(&lab) else { return };
    let start = window.heard(1);
    like_fixture(&start[0], "session-start-startup-window");
    let first = session(&start[0]);

    window.say("hello");
    window.wait_for("MOCK-REPLY");
    assert_eq!(canaries(&lab), 1);
    window.say("/clear");
    let cleared = window.heard(2);
    like_fixture(&cleared[0], "session-end-clear");
    like_fixture(&cleared[1], "session-start-clear");

    window.say("second");
    window.wait_for("MOCK-REPLY");
    window.say("/resume");
    window.wait_for("Resume session");
    window.wait_for("❯ hello");
    window.key("Enter");
    let resumed = window.heard(2);
    like_fixture(&resumed[0], "session-end-resume");
    like_fixture(&resumed[1], "session-start-resume-window");
    assert_eq!(session(&resumed[1]), first);

    window.say("/exit");
    like_fixture(&window.heard(1)[0], "session-end-prompt-input-exit");
}
