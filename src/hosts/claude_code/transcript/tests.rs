//! Tests of reading a transcript, on recorded and on odd lines.

use std::io::{Seek, SeekFrom, Write};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::json;

use crate::core::handoff::conversation::{FailedCommand, Message};
use crate::hosts::transcript::{
    MAX_FILE_BYTES, MAX_LINE_BYTES, MAX_TEXT_BYTES, each_line_of, read,
};

use super::tools::CHANGING_TOOLS;
use super::*;

fn understand(lines: &[u8]) -> io::Result<Conversation> {
    let mut listener = Listener::default();
    each_line_of(lines, |line| listener.hear_line(line))?;
    Ok(listener.told())
}

fn heard(lines: &[Value]) -> Conversation {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    understand(text.as_bytes()).unwrap()
}

fn user(content: impl Into<Value>) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": content.into()}})
}

fn assistant(id: &str, block: Value) -> Value {
    json!({"type": "assistant", "message": {"id": id, "model": "m", "content": [block]}})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn said(conversation: &Conversation) -> Vec<String> {
    let said = |message: &Message| format!("{}: {}", message.role, message.text);
    conversation.messages.iter().map(said).collect()
}

fn recorded(name: &str) -> Conversation {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/transcripts");
    read(&folder.join(name)).unwrap()
}

#[test]
fn a_recorded_transcript_is_understood() {
    let conversation = recorded("claude-code-2.1.325.jsonl");
    assert_eq!(
        said(&conversation),
        [
            "user: Please write it. [[write]] /home/ada/atlas/one.txt",
            "assistant: I will use a tool.",
            "assistant: pong",
            "user: Now a child. [[task]]",
            "assistant: I will use a tool.",
            "assistant: pong",
            "assistant: pong",
            "user: [[error]]",
            "user: Thanks",
        ]
    );
    assert_eq!(conversation.turns, 4);
    assert_eq!(conversation.files_changed, ["/home/ada/atlas/one.txt"]);
    // A sub-agent's own transcript holds nothing that a session said.
    assert_eq!(recorded("claude-code-2.1.325-subagent.jsonl"), Conversation::default());
}

#[test]
fn a_recorded_session_tells_its_work() {
    let conversation = recorded("claude-code-2.1.325-work.jsonl");
    assert_eq!(conversation.turns, 2);
    let opening = conversation.opening.unwrap();
    assert!(opening.starts_with("The tile cache keeps tiles"), "{opening}");
    let files = ["cache.py", "test_cache.py", "render.py"];
    assert_eq!(conversation.files_changed, files.map(|file| format!("/home/ada/atlas/{file}")));
    // What was done is off the list, what was begun comes first.
    let todos = ["Let the renderer use the setting", "Say in docs/cache.md what the limit means"];
    assert_eq!(conversation.todos, todos);
    // The tests failed once, and passed later. A question that could not be asked waits for nobody.
    let [failed] = conversation.failures.as_slice() else { panic!("{:?}", conversation.failures) };
    assert_eq!(failed.command, r#"python3 -c "import render; render.renderer({})""#);
    assert_eq!(failed.end, "exit code 1");
    assert!(failed.output.ends_with("KeyError: 'limit_seconds'"), "{}", failed.output);
    assert_eq!(conversation.questions, [""; 0]);
    let (began, last) = (conversation.began_ms.unwrap(), conversation.last_ms.unwrap());
    assert!((10_000..60_000).contains(&(last - began)), "{began} {last}");
}

#[test]
fn a_prompt_during_a_turn_is_a_prompt() {
    // Recorded with Claude Code 2.1.325.
    let queued = |mode: &str| {
        json!({"type": "attachment", "timestamp": "2026-11-18T01:51:46.153Z", "attachment":
            {"type": "queued_command", "prompt": "And the renderer.", "commandMode": mode}})
    };
    let conversation = heard(&[user("The cache."), queued("prompt"), queued("task-notification")]);
    assert_eq!(said(&conversation), ["user: The cache.", "user: And the renderer."]);
    assert_eq!(conversation.turns, 2);
}

fn call(id: &str, name: &str, input: Value) -> Value {
    assistant("m", json!({"type": "tool_use", "id": id, "name": name, "input": input}))
}

fn result(id: &str, text: &str, is_error: bool) -> Value {
    user(json!([{"type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error}]))
}

#[test]
fn only_commands_that_failed_last_are_told() {
    let run = |n: usize, command: &str, told: &str| {
        let id = format!("t{n}");
        let is_error = told.starts_with("Exit") || told.starts_with('C') || told.contains("want");
        [call(&id, "Bash", json!({"command": command})), result(&id, told, is_error)]
    };
    let conversation = heard(
        &[
            run(1, "mended", "Exit code 101\nerror"),
            run(2, "grep x", "Exit code 1"),
            run(3, "silent", "Exit code 2"),
            run(4, "refused", "The user doesn't want to proceed with this tool use."),
            run(5, "mended", "fine"),
            run(6, "slow", "Command timed out after 2m 0s\nlast words"),
            run(7, "twice", "Exit code 1\nfirst"),
            run(8, "twice", "Exit code 1\nsecond"),
            run(9, "last", &format!("Exit code 3\n{}END", "é".repeat(9_000))),
        ]
        .concat(),
    );
    let told = |failed: &FailedCommand| format!("{}: {}", failed.command, failed.end);
    let failures: Vec<String> = conversation.failures.iter().map(told).collect();
    assert_eq!(failures, ["slow: a timeout", "twice: exit code 1", "last: exit code 3"]);
    assert_eq!(conversation.failures[1].output, "second");
    let output = &conversation.failures[2].output;
    assert!(output.ends_with("éEND") && output.len() <= 4_096, "{}", output.len());
}

#[test]
fn an_older_list_is_replaced_as_a_whole_and_tasks_are_numbered() {
    let todo = |text: &str, status: &str| json!({"content": text, "status": status});
    let first = json!({"todos": [todo("a", "pending"), todo("b", "pending")]});
    let second =
        json!({"todos": [todo("a", "completed"), todo("b", "pending"), todo("c", "in_progress")]});
    let lines = [
        call("1", "TodoWrite", first),
        result("1", "ok", false),
        call("2", "TodoWrite", second),
        result("2", "ok", false),
        call("3", "TodoWrite", json!({"todos": []})),
        result("3", "<tool_use_error>no</tool_use_error>", true),
    ];
    assert_eq!(heard(&lines).todos, ["c", "b"]);
    let made = |id: &str, subject: &str| {
        [call(id, "TaskCreate", json!({"subject": subject})), result(id, "ok", false)]
    };
    let changed =
        |id: &str, change: Value| [call(id, "TaskUpdate", change), result(id, "ok", false)];
    let lines = [
        made("1", "one"),
        made("2", "two"),
        made("3", "three"),
        changed("4", json!({"taskId": "1", "status": "deleted"})),
        changed("5", json!({"taskId": "3", "status": "in_progress", "subject": "third"})),
        changed("6", json!({"taskId": "9", "status": "completed"})),
    ];
    assert_eq!(heard(&lines.concat()).todos, ["third", "two"]);
}

#[test]
fn a_question_is_open_until_somebody_answers_or_says_something_else() {
    let ask = call("q", "AskUserQuestion", json!({"questions": [{"question": "Which?"}]}));
    let open = |lines: &[Value]| heard(&[std::slice::from_ref(&ask), lines].concat()).questions;
    assert_eq!(open(&[]), ["Which?"]);
    assert_eq!(open(&[result("q", "The user doesn't want to proceed", true)]), ["Which?"]);
    assert_eq!(open(&[result("q", "Which? => This.", false)]), [""; 0]);
    assert_eq!(open(&[result("q", "<tool_use_error>disabled</tool_use_error>", true)]), [""; 0]);
    assert_eq!(open(&[user("Something else.")]), [""; 0]);
}

#[test]
fn a_secret_is_not_cut_in_half() {
    let token = format!("ghp_{}", "aB3dE5fG7h".repeat(4).split_at(36).0);
    let half = MAX_TEXT_BYTES / 2;
    for at in [half - 20, half, MAX_TEXT_BYTES - 20, MAX_TEXT_BYTES + 2_000 - half - 20] {
        let text = format!("{} {token} {}", "a".repeat(at), "b".repeat(MAX_TEXT_BYTES));
        let conversation = heard(&[user(text)]);
        let kept = &conversation.messages[0].text;
        assert!(!kept.contains(&token[..12]) && !kept.contains(&token[30..]), "{at}");
    }
}

#[test]
fn only_what_a_person_or_the_model_said_counts() {
    let with = |mut line: Value, key: &str| {
        line[key] = json!(true);
        line
    };
    let conversation = heard(&[
        user("a prompt"),
        with(user("meta"), "isMeta"),
        with(user("summary"), "isCompactSummary"),
        with(user("child"), "isSidechain"),
        user(json!([{"type": "tool_result", "content": "result"}, text("beside it")])),
        user("<system-reminder>\nreminded\n</system-reminder>"),
        user("[Request interrupted by user]"),
        with(assistant("1", text("error")), "isApiErrorMessage"),
        json!({"type": "assistant", "message": {"model": "<synthetic>", "content": "synthetic"}}),
        assistant("2", json!({"type": "thinking", "thinking": "thought"})),
        json!({"type": "summary", "summary": "sum"}),
        json!({"type": "user", "agentId": "a1", "message": {"content": "child"}}),
        user(json!([text("<ide_opened_file>x</ide_opened_file>"), text("two"), text("blocks")])),
        user(json!([{"type": "image", "source": {}}])),
    ]);
    assert_eq!(said(&conversation), ["user: a prompt", "user: two\nblocks"]);
    assert_eq!(conversation.turns, 3);
}

#[test]
fn the_blocks_of_one_answer_are_one_message() {
    let conversation = heard(&[
        user("q"),
        assistant("1", text("first")),
        assistant("1", json!({"type": "tool_use", "name": "Read", "input": {}})),
        assistant("1", text("second")),
        assistant("2", text("third")),
        user(json!([{"type": "tool_result"}])),
        assistant("2", text("after a tool")),
    ]);
    assert_eq!(
        said(&conversation),
        ["user: q", "assistant: first\nsecond", "assistant: third", "assistant: after a tool"]
    );
}

#[test]
fn a_command_is_a_prompt_if_the_model_answers_it() {
    let typed = |name: &str, args: &str| {
        user(format!(
            "<command-name>{name}</command-name>\n <command-message>x</command-message>\n\
             <command-args>{args}</command-args>"
        ))
    };
    let local = json!({"type": "system", "subtype": "local_command", "content": "out"});
    let conversation = heard(&[
        typed("/review", "the cache"),
        assistant("1", text("reviewed")),
        typed("/cost", ""),
        local.clone(),
        typed("/compact", ""),
        user("<local-command-stdout>Compacted</local-command-stdout>"),
        assistant("2", text("done")),
        typed("/usage", ""),
        local,
        assistant("3", text("more")),
    ]);
    assert_eq!(
        said(&conversation),
        ["user: /review the cache", "assistant: reviewed", "assistant: done", "assistant: more"]
    );
    assert_eq!(conversation.turns, 1);
}

#[test]
fn h_0_17_the_last_fifty_messages_and_the_first_twenty_files_are_kept() {
    // H-0.17
    let mut lines = Vec::new();
    for n in 0..60 {
        lines.push(user(format!("prompt {n}")));
        let (name, key) = CHANGING_TOOLS[n % 4];
        let input = json!({key: format!("/p/{}", n / 2)});
        lines.push(assistant("x", json!({"type": "tool_use", "name": name, "input": input})));
    }
    let conversation = heard(&lines);
    assert_eq!(conversation.turns, 60);
    assert_eq!(conversation.messages.len(), 50);
    assert_eq!(conversation.messages[0].text, "prompt 10");
    let files: Vec<String> = (0..20).map(|n| format!("/p/{n}")).collect();
    assert_eq!(conversation.files_changed, files);
}

#[test]
fn broken_lines_are_passed_over_one_by_one() {
    let good = user("good");
    let lines = format!(
        "{{\n\u{0}\n[]\n{good}\n{{\"type\":\"user\"}}\n{{\"type\":\"user\",\"message\":7}}\n\
         {{\"type\":7}}\n\n{}\n{good}",
        "[".repeat(100_000)
    );
    let mut bytes = lines.into_bytes();
    bytes.splice(0..0, *b"\xff\xfe\n");
    assert_eq!(said(&understand(bytes.as_slice()).unwrap()), ["user: good", "user: good"]);
    // The text after the longest line's limit belongs to that line.
    let absurd = format!("{}{good}\n{good}", " ".repeat(MAX_LINE_BYTES as usize));
    assert_eq!(said(&understand(absurd.as_bytes()).unwrap()), ["user: good"]);
    let long = user("é".repeat(MAX_TEXT_BYTES));
    let kept = heard(&[long]).messages[0].text.len();
    assert!((MAX_TEXT_BYTES..MAX_TEXT_BYTES + 10).contains(&kept), "{kept}");
}

#[test]
fn a_huge_file_with_absurd_lines_costs_neither_time_nor_memory() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    writeln!(file, "{}", user("before")).unwrap();
    // One line of 200 million zeros, stored as a sparse file.
    let end = file.as_file().metadata().unwrap().len() + 200_000_000;
    file.as_file().set_len(end).unwrap();
    file.seek(SeekFrom::End(0)).unwrap();
    writeln!(file, "\n{}", user("after")).unwrap();
    let start = Instant::now();
    let conversation = read(file.path()).unwrap();
    assert_eq!(said(&conversation), ["user: before", "user: after"]);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());

    // Only the end of a file over the limit is read.
    file.as_file().set_len(MAX_FILE_BYTES * 4).unwrap();
    file.seek(SeekFrom::End(0)).unwrap();
    writeln!(file, "\n{}", user("last")).unwrap();
    assert_eq!(said(&read(file.path()).unwrap()), ["user: last"]);
}

#[test]
fn what_is_no_file_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    assert!(read(folder.path()).is_err() && read(&folder.path().join("none")).is_err());
    assert!(read(Path::new("/dev/zero")).is_err());
}

proptest! {
    #[test]
    fn no_line_makes_the_reader_panic(
        start in "(\\{\"type\":\"(user|assistant|system)\",\"message\":\\{\"content\":)?",
        rest in "\\PC{0,80}",
    ) {
        understand(format!("{start}{rest}}}}}\n").as_bytes()).unwrap();
    }
}
