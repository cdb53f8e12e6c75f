//! What the tool calls of an OpenCode session tell of the work, as the bridge passes them on: changed files, commands that
//! failed, and the list of things to do. What cannot be read is skipped.

use serde::Deserialize;
use serde_json::Value;

use crate::core::handoff::conversation::{Conversation, FailedCommand};
use crate::core::secrets;
use crate::hosts::transcript::change;

/// The last failures are kept.
const MAX_FAILURES: usize = 3;
/// Tools that change a file.
const CHANGING_TOOLS: [&str; 3] = ["edit", "write", "multiedit"];

#[derive(Deserialize)]
struct RawCall {
    tool: String,
    #[serde(default)]
    input: Value,
    /// The exit code of a command.
    #[serde(default)]
    exit: Option<i64>,
    #[serde(default)]
    output: String,
}

/// Adds what these calls did, the last of which is the newest.
pub(super) fn tell(conversation: &mut Conversation, calls: &[Value]) {
    for RawCall { tool, input, exit, output } in
        calls.iter().filter_map(|call| RawCall::deserialize(call).ok())
    {
        let text = |key: &str| input[key].as_str().unwrap_or_default();
        match tool.as_str() {
            "bash" => {
                let command = secrets::mask(text("command")).into_owned();
                conversation.failures.retain(|failed| failed.command != command);
                conversation.failures.extend(failure(command, exit, output));
                let surplus = conversation.failures.len().saturating_sub(MAX_FAILURES);
                conversation.failures.drain(..surplus);
            }
            "todowrite" => conversation.todos = todos(&input["todos"]),
            tool if CHANGING_TOOLS.contains(&tool) => {
                change(&mut conversation.files_changed, text("filePath"));
            }
            _ => {}
        }
    }
}

/// How a command failed; `None` if it did not, or if it only found nothing.
fn failure(command: String, exit: Option<i64>, output: String) -> Option<FailedCommand> {
    let code = exit.filter(|code| *code != 0)?;
    // `grep` and its like say by the code 1, and by nothing else, that there is nothing.
    let found_nothing = code == 1 && matches!(output.trim(), "" | "(no output)");
    let (end, output) = (format!("exit code {code}"), secrets::mask(&output).into_owned());
    (!found_nothing).then_some(FailedCommand { command, end, output })
}

/// What is not done, what was begun first.
fn todos(list: &Value) -> Vec<String> {
    let text = |todo: &Value, key: &str| todo[key].as_str().unwrap_or_default().to_owned();
    let list = list.as_array().into_iter().flatten();
    let mut open: Vec<_> = list.map(|todo| (text(todo, "status"), text(todo, "content"))).collect();
    open.retain(|(status, _)| !["completed", "cancelled"].contains(&status.as_str()));
    open.sort_by_key(|(status, _)| status != "in_progress");
    open.into_iter().map(|(_, content)| secrets::mask(&content).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_failed_last_what_changed_and_what_is_to_be_done_is_told() {
        let bash = |command: &str, exit: i64, output: &str| json!({"tool": "bash", "input": {"command": command}, "exit": exit, "output": output});
        let todo = |content: &str, status: &str| json!({"content": content, "status": status});
        let calls = [
            bash("make", 2, "error: no rule"),
            bash("grep x", 1, ""),
            bash("cargo test", 101, "error[E0425]"),
            bash("make", 0, "done"),
            json!({"tool": "todowrite", "input": {"todos": [todo("old", "pending")]}}),
            json!({"tool": "edit", "input": {"filePath": "/p/a.rs"}}),
            json!({"tool": "edit", "input": {"filePath": "/p/a.rs"}}),
            json!({"tool": "todowrite", "input": {"todos": [todo("a", "completed"), todo("b", "pending"),
                todo("c", "in_progress"), todo("d", "cancelled")]}}),
            json!({"tool": 7}),
            json!("odd"),
        ];
        let mut conversation = Conversation::default();
        tell(&mut conversation, &calls);
        let [failed] = conversation.failures.as_slice() else { panic!("{conversation:?}") };
        assert_eq!((failed.command.as_str(), failed.end.as_str()), ("cargo test", "exit code 101"));
        assert_eq!(conversation.todos, ["c", "b"]);
        assert_eq!(conversation.files_changed, ["/p/a.rs"]);
    }
}
