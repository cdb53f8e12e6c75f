//! What is known of a session without a summary: its last words, what it left open, and what it changed. Sections in a fixed
//! order, the most useful first, within a number of tokens.

use crate::core::handoff::conversation::{Conversation, FailedCommand, Message, Role};
use crate::core::handoff::ending::line;
use crate::core::handoff::section::shorten;
use crate::core::handoff::work::{ChangedFile, ChangedLines, Work};
use crate::core::text::for_model;
use crate::core::text::number::thousands;

/// The number of changed files and of commits that are named.
const NAMED: usize = 10;
/// The maximum length of an entry, and of the line that says how a command failed.
const ENTRY_CHARS: usize = 160;
/// The number of messages before the last ones, and how much of each is told.
const EARLIER: usize = 13;
const EARLIER_CHARS: usize = 300;
/// A first entry is not shortened below this length.
const FIRST_CHARS: usize = 40;
/// Stands for what was left out of a text.
const CUT: &str = "[…]";

/// A section: its heading, the tokens that it may have while others want some, too, and what it says.
pub(super) struct Section {
    heading: &'static str,
    share: usize,
    content: Content,
}

/// Which sections grow first.
#[derive(PartialEq, Eq)]
enum Rank {
    Entries,
    Quote,
    Rest,
}

enum Content {
    /// The words of a person or of the model.
    Quote(String),
    /// Entries, and how many more there are.
    Entries(Vec<String>, usize),
}

/// Writes what is known within `room` tokens, as `count` counts them. `about` are lines that always stand at the end.
pub(super) fn write(
    sections: &[Section],
    about: &str,
    room: usize,
    count: &dyn Fn(&str) -> usize,
) -> String {
    let about = format!("## About the session\n\n{about}");
    // A joint of two sections can cost a token more than both alone.
    let cost = |text: &str| if text.is_empty() { 0 } else { count(text) + 1 };
    let mut left = room.saturating_sub(cost(&about));
    let mut texts: Vec<String> = Vec::new();
    for section in sections {
        let text = section.within(section.share.min(left), count);
        left = left.saturating_sub(cost(&text));
        texts.push(text);
    }
    // What others did not need goes to the most useful first, and to quotations after that: they take all there is.
    for rank in [Rank::Entries, Rank::Quote, Rank::Rest] {
        let ranked = sections.iter().zip(&mut texts);
        for (section, text) in ranked.filter(|(section, _)| section.rank() == rank) {
            let room = left + cost(text);
            *text = section.within(room.saturating_sub(1), count);
            left = room.saturating_sub(cost(text));
        }
    }
    let texts = texts.into_iter().chain([about]).filter(|text| !text.is_empty());
    texts.collect::<Vec<_>>().join("\n")
}

/// `goal`: what the head of the document says, and is not said again.
pub(super) fn sections(
    conversation: &Conversation,
    work: &Work,
    goal: Option<&str>,
) -> Vec<Section> {
    let quote = |role| {
        let message = conversation.last_of(role);
        Content::Quote(message.map(|said| for_model::lines(&said.text)).unwrap_or_default())
    };
    let entries = |texts: Vec<String>| {
        let shown = texts.iter().map(|text| shorten(text, ENTRY_CHARS));
        let shown: Vec<String> = shown.filter(|text| !text.is_empty()).collect();
        Content::Entries(shown, 0)
    };
    let said = |texts: &[String]| texts.iter().map(|text| for_model::one_line(text)).collect();
    let answer = match conversation.is_answered() {
        true => "## Last answer",
        false => "## Last answer, before that request",
    };
    let section = |heading, share, content| Section { heading, share, content };
    vec![
        section("## Last request", 150, quote(Role::User)),
        section(answer, 170, quote(Role::Assistant)),
        section("## Questions not answered", 50, entries(questions(conversation))),
        section("## To do", 70, entries(said(&conversation.todos))),
        section("## Commands that failed last", 80, failures(&conversation.failures)),
        section("## Changed files", 80, files(&conversation.files_changed, work)),
        section("## Commits since it began", 60, commits(&work.commits)),
        // Only with tokens that are left.
        section("## Before that, the newest first", 0, earlier(conversation, goal)),
    ]
}

/// What a person was asked last, and did not answer.
fn questions(conversation: &Conversation) -> Vec<String> {
    let mut asked: Vec<String> =
        conversation.questions.iter().map(|text| for_model::one_line(text)).collect();
    if let Some(last) = conversation.messages.last().filter(|_| conversation.is_answered()) {
        let text = for_model::lines(&last.text);
        let end = text.trim_end().rsplit("\n\n").next().unwrap_or_default();
        let lines = end.lines().map(|line| line.trim_start_matches(['-', '*', '>', ' ']));
        let questions = lines.filter(|line| line.trim_end_matches(['*', '_']).ends_with('?'));
        asked.extend(questions.map(for_model::one_line));
    }
    asked
}

fn failures(failures: &[FailedCommand]) -> Content {
    let entry = |failed: &FailedCommand| {
        let command = shorten(&for_model::one_line(&failed.command), ENTRY_CHARS);
        let why = shorten(&for_model::one_line(&telling_line(&failed.output)), ENTRY_CHARS);
        let why = if why.is_empty() { why } else { format!(": {why}") };
        format!("`{}` ended with {}{why}", command.replace('`', "'"), failed.end)
    };
    Content::Entries(failures.iter().rev().map(entry).collect(), 0)
}

/// The line of an output that says where a program panicked, with the next one, which says why; else the first line that names
/// an error, else the last line.
fn telling_line(output: &str) -> String {
    if let Some((_, panic)) = output.split_once(" panicked at ") {
        let lines: Vec<&str> = panic.lines().map(str::trim).take(2).collect();
        return format!("panicked at {}", lines.join(" "));
    }
    let mut lines = output.lines().map(str::trim).filter(|line| !line.is_empty());
    let names_error = |line: &&str| {
        let line = line.to_lowercase();
        ["error", "panicked", "fatal", "failed"].iter().any(|word| line.contains(word))
    };
    let last = lines.clone().next_back();
    lines.find(names_error).or(last).unwrap_or_default().to_owned()
}

/// What git shows, then what was changed where git does not look.
fn files(changed: &[String], work: &Work) -> Content {
    let relative = |file: &String| {
        let inside = file.strip_prefix(&work.top).and_then(|rest| rest.strip_prefix('/'));
        inside.filter(|_| !work.top.is_empty()).unwrap_or(file).to_owned()
    };
    let is_known = |file: &String| work.files.iter().any(|known| known.path == *file);
    let others = changed.iter().map(relative).filter(|file| !is_known(file));
    let others = others.map(|file| for_model::one_line(&file));
    let entries: Vec<String> = work.files.iter().map(file_entry).chain(others).collect();
    let more = entries.len().saturating_sub(NAMED);
    Content::Entries(entries.into_iter().take(NAMED).collect(), more)
}

fn file_entry(file: &ChangedFile) -> String {
    let path = shorten(&for_model::one_line(&file.path), ENTRY_CHARS);
    let lines = match file.lines {
        ChangedLines::Counted { added, removed } => format!(" +{added} -{removed}"),
        ChangedLines::Uncounted => String::new(),
        ChangedLines::New => return format!("{path} (new, not committed)"),
    };
    format!("{path}{lines}{}", if file.is_committed { "" } else { " (not committed)" })
}

/// The messages before the last request and the last answer.
fn earlier(conversation: &Conversation, goal: Option<&str>) -> Content {
    let last = [Role::User, Role::Assistant].map(|role| conversation.last_of(role));
    let is_last = |said: &&Message| last.iter().flatten().any(|last| std::ptr::eq(*last, *said));
    let messages = conversation.messages.iter().rev().take(EARLIER + 2);
    let entry = |said: &Message| {
        let text = shorten(&for_model::one_line(&said.text), EARLIER_CHARS);
        (!text.is_empty()).then(|| format!("{}: {text}", said.role))
    };
    let is_goal = |said: &&Message| said.role == Role::User && goal == Some(&*line(&said.text));
    let messages = messages.filter(|said| !is_last(said) && !is_goal(said)).filter_map(entry);
    Content::Entries(messages.take(EARLIER).collect(), 0)
}

fn commits(commits: &[String]) -> Content {
    let shown = commits.iter().take(NAMED);
    let shown = shown.map(|commit| shorten(&for_model::one_line(commit), ENTRY_CHARS));
    Content::Entries(shown.collect(), commits.len().saturating_sub(NAMED))
}

impl Section {
    fn rank(&self) -> Rank {
        match self.content {
            _ if self.share == 0 => Rank::Rest,
            Content::Quote(_) => Rank::Quote,
            Content::Entries(..) => Rank::Entries,
        }
    }

    /// As much of the section as fits, with its heading; empty if nothing does.
    fn within(&self, room: usize, count: &dyn Fn(&str) -> usize) -> String {
        let written = |text: String| match text.is_empty() {
            true => text,
            false => format!("{}\n\n{text}\n", self.heading),
        };
        let fits = |text: &String| count(text) <= room;
        match &self.content {
            Content::Quote(text) => {
                let whole = written(quoted(text));
                if fits(&whole) {
                    return whole;
                }
                // The most characters that fit. Below 40 nothing is said.
                let (mut shown, mut most) = (0, text.chars().count());
                while most - shown > 4 {
                    let middle = shown.midpoint(most);
                    match fits(&written(quoted(&cut(text, middle)))) {
                        true => shown = middle,
                        false => most = middle,
                    }
                }
                if shown < 40 { String::new() } else { written(quoted(&cut(text, shown))) }
            }
            Content::Entries(entries, more) => {
                let list = |shown: &[String]| {
                    let mut lines: Vec<String> =
                        shown.iter().map(|entry| format!("- {entry}")).collect();
                    let hidden = entries.len() - shown.len() + more;
                    if hidden > 0 && !shown.is_empty() {
                        lines.push(format!("- and {} more", thousands(hidden as i128)));
                    }
                    written(lines.join("\n"))
                };
                let most =
                    (1..=entries.len()).rev().map(|shown| list(&entries[..shown])).find(fits);
                let first = || {
                    let first = entries.first()?;
                    let lengths = (FIRST_CHARS..first.chars().count()).rev().step_by(8);
                    lengths.map(|length| list(&[shorten(first, length)])).find(fits)
                };
                most.or_else(first).unwrap_or_default()
            }
        }
    }
}

/// A text as a quotation: no line of it can be taken for a heading or a fence of the document.
fn quoted(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.dedup_by(|next, line| next.is_empty() && line.is_empty());
    let quote = |line: &&str| if line.is_empty() { ">".to_owned() } else { format!("> {line}") };
    lines.iter().map(quote).collect::<Vec<_>>().join("\n")
}

/// The beginning and the end of a text, some `shown` characters in all, cut between words where there are any.
fn cut(text: &str, shown: usize) -> String {
    let n_chars = text.chars().count();
    let (head, tail) = (shown * 2 / 3, shown - shown * 2 / 3);
    let place = |n: usize| text.char_indices().nth(n).map_or(text.len(), |(at, _)| at);
    let (head, tail) = (place(head), place(n_chars - tail));
    let is_blank = |c: char| c.is_whitespace();
    let head = text[..head].rfind(is_blank).filter(|at| *at > head / 2).unwrap_or(head);
    let word = text[tail..].find(is_blank).filter(|at| *at < (text.len() - tail) / 2);
    let tail = tail + word.unwrap_or(0);
    format!("{}\n{CUT}\n{}", text[..head].trim_end(), text[tail..].trim_start())
}
