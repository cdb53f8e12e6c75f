//! What the tool calls of a transcript tell of the work: changed files, commands that failed, the host's list of tasks, and
//! questions to the user. A call counts when its result is known.

use std::collections::HashMap;

use serde_json::Value;

use crate::core::handoff::conversation::{Conversation, FailedCommand};
use crate::hosts::transcript::change;

/// The last failures are kept.
const MAX_FAILURES: usize = 3;
/// Far more of an output than is ever shown. What failed is told at its end.
const MAX_OUTPUT_BYTES: usize = 4 * 1024;
/// Tools that change a file, each with the name of its path argument.
pub(super) const CHANGING_TOOLS: [(&str, &str); 4] = [
    ("Edit", "file_path"),
    ("MultiEdit", "file_path"),
    ("Write", "file_path"),
    ("NotebookEdit", "notebook_path"),
];

/// Collects what tools did.
#[derive(Default)]
pub(super) struct Tools {
    files: Vec<String>,
    failures: Vec<FailedCommand>,
    tasks: Vec<Task>,
    /// How many tasks were made: they are numbered.
    n_tasks: usize,
    /// Calls without a result yet, by their id.
    pending: HashMap<String, Call>,
    /// Questions without an answer, each with the id of its call.
    questions: Vec<(String, Vec<String>)>,
}

struct Task {
    id: String,
    subject: String,
    status: String,
}

/// A call whose result matters.
enum Call {
    Shell(String),
    /// The whole list anew.
    Tasks(Vec<Task>),
    NewTask(String),
    ChangedTask(Value),
    Question,
}

impl Tools {
    pub(super) fn called(&mut self, block: &Value) {
        let (name, input) = (block["name"].as_str().unwrap_or_default(), &block["input"]);
        if let Some((_, key)) = CHANGING_TOOLS.iter().find(|(tool, _)| *tool == name) {
            change(&mut self.files, input[key].as_str().unwrap_or_default());
            return;
        }
        let text = |key: &str| input[key].as_str().unwrap_or_default().to_owned();
        let id = block["id"].as_str().unwrap_or_default().to_owned();
        let call = match name {
            "Bash" => Call::Shell(text("command")),
            "TodoWrite" => Call::Tasks(tasks(&input["todos"])),
            "TaskCreate" => Call::NewTask(text("subject")),
            "TaskUpdate" => Call::ChangedTask(input.clone()),
            "AskUserQuestion" => {
                let asked = input["questions"].as_array().into_iter().flatten();
                let asked = asked.filter_map(|asked| Some(asked["question"].as_str()?.to_owned()));
                self.questions.push((id.clone(), asked.collect()));
                Call::Question
            }
            _ => return,
        };
        self.pending.insert(id, call);
    }

    /// `text`: what the model was told of the result. `facts`: what the host wrote down of it.
    pub(super) fn answered(&mut self, block: &Value, text: &str, facts: &Value) {
        let id = block["tool_use_id"].as_str().unwrap_or_default();
        let Some(call) = self.pending.remove(id) else { return };
        let has_failed = block["is_error"].as_bool().unwrap_or(false);
        match call {
            Call::Shell(command) => {
                self.failures.retain(|failed| failed.command != command);
                self.failures.extend(failure(command, text).filter(|_| has_failed));
                let surplus = self.failures.len().saturating_sub(MAX_FAILURES);
                self.failures.drain(..surplus);
            }
            // A question that the user turned away is still open; one that could not be asked is none.
            Call::Question if !has_failed || text.starts_with("<tool_use_error>") => {
                self.questions.retain(|(asked, _)| asked != id);
            }
            _ if has_failed => {}
            Call::Question => {}
            Call::Tasks(tasks) => self.tasks = tasks,
            Call::NewTask(subject) => {
                self.n_tasks += 1;
                let told = facts["task"]["id"].as_str().map(str::to_owned);
                let id = told.unwrap_or_else(|| self.n_tasks.to_string());
                self.tasks.push(Task { id, subject, status: "pending".to_owned() });
            }
            Call::ChangedTask(change) => self.change_task(&change),
        }
    }

    /// A prompt answers what was asked before it.
    pub(super) fn prompted(&mut self) {
        self.questions.clear();
    }

    pub(super) fn tell(self, conversation: &mut Conversation) {
        let Tools { files, failures, mut tasks, questions, .. } = self;
        tasks.retain(|task| !["completed", "deleted"].contains(&task.status.as_str()));
        tasks.sort_by_key(|task| task.status != "in_progress");
        conversation.files_changed = files;
        conversation.failures = failures;
        conversation.todos = tasks.into_iter().map(|task| task.subject).collect();
        conversation.questions = questions.into_iter().flat_map(|(_, asked)| asked).collect();
    }

    fn change_task(&mut self, change: &Value) {
        let id = &change["taskId"];
        let Some(task) = self.tasks.iter_mut().find(|task| *id == task.id) else { return };
        if let Some(status) = change["status"].as_str() {
            task.status = status.to_owned();
        }
        if let Some(subject) = change["subject"].as_str() {
            task.subject = subject.to_owned();
        }
    }
}

/// The whole list of tasks, as an older tool writes it.
fn tasks(list: &Value) -> Vec<Task> {
    let text = |task: &Value, key: &str| task[key].as_str().unwrap_or_default().to_owned();
    let task = |task: &Value| Task {
        id: String::new(),
        subject: text(task, "content"),
        status: text(task, "status"),
    };
    list.as_array().into_iter().flatten().map(task).collect()
}

/// How a command failed; `None` if it was never run, or if it only found nothing.
fn failure(command: String, told: &str) -> Option<FailedCommand> {
    let (end, output) = told.split_once('\n').unwrap_or((told, ""));
    let is_late = end.starts_with("Command timed out");
    let code = end.strip_prefix("Exit code ").map(str::trim);
    // `grep` and its like say by the code 1, and by nothing else, that there is nothing.
    if !is_late && (code.is_none() || (code == Some("1") && output.trim().is_empty())) {
        return None;
    }
    let end = code.map_or_else(|| "a timeout".to_owned(), |code| format!("exit code {code}"));
    let from = output.ceil_char_boundary(output.len().saturating_sub(MAX_OUTPUT_BYTES));
    Some(FailedCommand { command, end, output: output[from..].to_owned() })
}
