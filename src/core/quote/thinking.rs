//! What maenifold's own documents say: thinking sessions, workflows and assumptions. Their titles are ids, and most of
//! their lines are headings, times and JSON; a reader needs the question, the conclusion, and whether it is still open.

mod sections;

use serde_json::Value;

use crate::core::note::front_matter;
use crate::core::quote::lines::{BodyLine, body_lines};
use crate::core::quote::plain::is_heading;
use crate::core::quote::thinking::sections::{Section, SectionKind, front_value, queue, sections};
use crate::core::secrets;
use crate::core::text::for_model;

const LONGEST_TITLE_CHARS: usize = 80;
/// The title of what says nothing.
const EMPTY: &str = "Nothing was said yet";
/// A question is looked for in so much of the first thought.
const QUESTION_CHARS: usize = 600;
/// Half of them would say that there was a conclusion, and not which.
const CARD_WORDS: usize = 30;
const CARD_CHARS: usize = 220;

/// A session, a workflow or an assumption of maenifold's.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Thinking {
    /// The question, the step or the statement.
    pub title: String,
    pub card: String,
    /// What it says, most important first: the state with the conclusion or the last thought, then the rest.
    pub body: String,
    pub standing: Standing,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Standing {
    #[default]
    Settled,
    /// A session or a workflow that goes on.
    Open {
        /// `thought 2/5`
        at: String,
        /// Whether it says nothing beside its title and this.
        is_bare: bool,
    },
    /// Abandoned or cancelled.
    Dropped,
}

impl Thinking {
    /// Reads a document of maenifold's memory; `None` for a note. The text has been masked: half a secret has no shape
    /// any more.
    pub fn of(path: &str, yaml: &str, body: &str) -> Option<Thinking> {
        let kind = front_value(yaml, "type");
        let is = |folder: &str, of_kind: &str| path.starts_with(folder) || kind == Some(of_kind);
        let read = if is("thinking/sequential/", "sequential") {
            of_session
        } else if is("thinking/workflow/", "workflow") {
            of_workflow
        } else if path.starts_with("assumptions/") {
            of_assumption
        } else {
            return None;
        };
        read(yaml, &sections(body)).or_else(|| Thinking::empty(body))
    }

    /// A document that has nothing but its headings yet; `None` for one of another form, which is a note.
    fn empty(body: &str) -> Option<Thinking> {
        let says_nothing = body_lines(body).iter().all(|line| is_heading(line.raw));
        let (title, standing) = (EMPTY.to_owned(), Standing::Dropped);
        says_nothing.then(|| Thinking { title, standing, ..Thinking::default() })
    }

    /// Whether maenifold's tools keep their documents here.
    pub fn is_kept_at(path: &str) -> bool {
        ["thinking/", "assumptions/"].iter().any(|folder| path.starts_with(folder))
    }

    /// The same for a whole file, which is masked here.
    pub fn of_file(path: &str, text: &str) -> Option<Thinking> {
        let (yaml, body) = front_matter::split(text);
        let (yaml, body) = (for_model::visible(yaml.unwrap_or_default()), for_model::visible(body));
        Thinking::of(path, &secrets::mask(&yaml), &secrets::mask(&body))
    }

    /// Puts together what is told. Each part of the text begins a line.
    fn new(title: String, standing: Standing, parts: Vec<String>) -> Option<Thinking> {
        let card = parts.first().map(|part| beginning(part))?;
        (!title.is_empty()).then(|| Thinking { title, card, body: parts.join("\n"), standing })
    }
}

fn of_session(yaml: &str, sections: &[Section<'_>]) -> Option<Thinking> {
    let thoughts: Vec<(&str, String)> = sections
        .iter()
        .filter_map(|section| match section.kind {
            SectionKind::Thought(number) => Some((number, said(&section.text))),
            _ => None,
        })
        .filter(|(_, text)| !text.is_empty())
        .collect();
    let conclusion = conclusion(sections);
    let first = thoughts.first().map(|(_, thought)| thought);
    let (title, rest) = question(first.or(conclusion.as_ref())?);
    // What the title says is not said again.
    let told = |n: usize| if n == 0 { rest.as_str() } else { thoughts[n].1.as_str() };
    let thought = |n: usize| labelled(&format!("Thought {}", thoughts[n].0), told(n));
    let is_told = |n: &usize| !told(*n).is_empty();
    if let Some(conclusion) = conclusion {
        let thoughts = (0..thoughts.len()).filter(is_told).map(thought);
        let state = State::of(yaml, sections, "completed");
        let parts = [labelled(&state.name, &conclusion)].into_iter().chain(thoughts).collect();
        return Thinking::new(title, state.standing(None), parts);
    }
    let last = thoughts.len() - 1;
    let at = format!("thought {}", thoughts[last].0);
    let state = State::of(yaml, sections, "active");
    let now = labelled(&format!("{} at {at}", state.name), told(last));
    // The newest first: that is where it goes on.
    let earlier = (0..last).rev().filter(is_told).map(thought);
    let parts: Vec<String> = [now].into_iter().chain(earlier).collect();
    let is_bare = parts.len() == 1 && told(last).is_empty();
    Thinking::new(title, state.standing(Some(Standing::Open { at, is_bare })), parts)
}

fn of_workflow(yaml: &str, sections: &[Section<'_>]) -> Option<Thinking> {
    let queue = queue(yaml);
    let current = front_value(yaml, "currentWorkflow").and_then(|at| at.parse::<usize>().ok());
    let current = queue.get(current.unwrap_or_default()).or_else(|| queue.last());
    let whole = |name: &str| format!("Workflow {name}").trim_end().to_owned();
    let answers = sections.iter().rev().filter_map(|section| match section.kind {
        SectionKind::Answer(number) => {
            Some(labelled(&format!("Step {number} answered"), &plain(&section.text)))
        }
        _ => None,
    });
    if let Some(conclusion) = conclusion(sections) {
        let state = State::of(yaml, sections, "completed");
        let first = labelled(&state.name, &conclusion);
        let parts = [first].into_iter().chain(answers).collect();
        return Thinking::new(shortened(&whole(&queue.join(", "))), state.standing(None), parts);
    }
    let (number, step) = sections.iter().rev().find_map(|section| match section.kind {
        SectionKind::Step(number) => Some((number, step(&section.text))),
        _ => None,
    })?;
    let (at, state) = (format!("step {number}"), State::of(yaml, sections, "active"));
    let name = match (current, step.name.is_empty()) {
        (Some(name), true) => whole(name),
        (Some(name), false) => whole(&format!("{name}: {}", step.name)),
        (None, _) => whole(&step.name),
    };
    let title = shortened(&name);
    let task = match left_out(&name, &title) {
        Some(rest) => format!("{rest}. {}", step.task).trim_end().to_owned(),
        None => step.task,
    };
    let now = labelled(&format!("{} at {at}", state.name), &task);
    let parts = [now].into_iter().chain(answers).collect();
    Thinking::new(title, state.standing(Some(Standing::Open { at, is_bare: false })), parts)
}

fn of_assumption(yaml: &str, sections: &[Section<'_>]) -> Option<Thinking> {
    let of = |kind: SectionKind<'static>| {
        let found = sections.iter().rev().filter(move |section| section.kind == kind);
        found.map(|section| plain(&section.text)).filter(|text| !text.is_empty())
    };
    let statement = of(SectionKind::Statement).next()?;
    let state = State::of(yaml, sections, "active").name.to_lowercase();
    let confidence = front_value(yaml, "confidence").map(|how| format!("{how} confidence"));
    let about = front_value(yaml, "context").map(|what| format!("about {}", plain(what)));
    let facts: Vec<String> = [Some(state), confidence, about].into_iter().flatten().collect();
    let label = format!("Assumption ({})", facts.join(", "));
    let title = shortened(statement.trim_end_matches('.'));
    let rest = left_out(&statement, &title).unwrap_or_default();
    let updates = of(SectionKind::Update).map(|update| labelled("Update", &update));
    let plans = of(SectionKind::Plan).map(|plan| labelled("To be validated", &plan));
    let parts = [labelled(&label, &rest)].into_iter().chain(updates).chain(plans).collect();
    Thinking::new(title, Standing::Settled, parts)
}

fn conclusion(sections: &[Section<'_>]) -> Option<String> {
    let conclusions =
        sections.iter().rev().filter(|section| section.kind == SectionKind::Conclusion);
    conclusions.map(|section| said(&section.text)).find(|text| !text.is_empty())
}

/// What the front matter says of the state; without it, the sections do.
struct State {
    /// With a capital letter.
    name: String,
    is_active: bool,
    is_dropped: bool,
}

impl State {
    fn of(yaml: &str, sections: &[Section<'_>], otherwise: &'static str) -> State {
        let is_abandoned = sections.iter().any(|section| section.kind == SectionKind::Abandoned);
        let otherwise = if is_abandoned { "abandoned" } else { otherwise };
        let state = front_value(yaml, "status").unwrap_or(otherwise);
        let mut chars = state.chars();
        let name = chars.next().map(|first| first.to_uppercase().chain(chars).collect());
        State {
            name: name.unwrap_or_default(),
            is_active: state == "active",
            is_dropped: matches!(state, "abandoned" | "cancelled"),
        }
    }

    fn standing(&self, open: Option<Standing>) -> Standing {
        match open {
            _ if self.is_dropped => Standing::Dropped,
            Some(open) if self.is_active => open,
            _ => Standing::Settled,
        }
    }
}

/// The step of a workflow, which is kept as JSON.
struct Step {
    name: String,
    task: String,
}

fn step(text: &str) -> Step {
    let step: Value = serde_json::from_str(text.trim()).unwrap_or_default();
    let field = |name: &str| step[name].as_str().map(plain).unwrap_or_default();
    Step { name: field("name"), task: field("description") }
}

/// The text of a section as it reads, or as it is written if it has nothing but a heading or code.
fn said(text: &str) -> String {
    let told = plain(text);
    if !told.is_empty() {
        return told;
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace("[[", "").replace("]]", "").trim_matches(['#', '`', ' ']).to_owned()
}

/// The words of a text, in one line. The items of a list stay apart, and a heading at the beginning is left out: the
/// state stands there.
fn plain(text: &str) -> String {
    let mut told = String::new();
    let lines = body_lines(text);
    let is_title = |line: &&BodyLine<'_>| is_heading(line.raw) && !line.is_code;
    for line in lines.iter().skip_while(is_title) {
        let raw = line.raw.trim_start();
        let number = raw.trim_start_matches(|c: char| c.is_ascii_digit());
        let is_item = raw.starts_with(['-', '*', '+']) || raw != number && number.starts_with('.');
        match told.chars().next_back() {
            Some(last) if is_item && (last.is_alphanumeric() || last == ')') => told.push_str("; "),
            Some(_) => told.push(' '),
            None => {}
        }
        told.push_str(&line.plain().text);
    }
    told
}

/// `Label: text`, or `Label.` where there is none.
fn labelled(label: &str, text: &str) -> String {
    if text.is_empty() { format!("{label}.") } else { format!("{label}: {text}") }
}

/// The question of a thought, as a title, and the thought without it: its first question, or its first sentence.
fn question(thought: &str) -> (String, String) {
    let start = &thought[..thought.floor_char_boundary(QUESTION_CHARS)];
    let ends: Vec<usize> = sentence_ends(start).collect();
    let asked = ends.iter().position(|&end| start[..end].ends_with(['?', '？']));
    let n = asked.unwrap_or_default();
    let from = n.checked_sub(1).map_or(0, |before| ends[before]);
    let end = ends.get(n).copied().unwrap_or(thought.len());
    let sentence = thought[from..end].trim();
    let title = shortened(sentence.trim_end_matches(['.', '。', ':']));
    let cut = left_out(sentence, &title).unwrap_or_default();
    let mut rest = vec![thought[..from].trim(), &cut, thought[end..].trim()];
    rest.retain(|part| !part.is_empty());
    let rest = rest.join(" ");
    (title, rest)
}

/// Where the sentences of a text end.
fn sentence_ends(text: &str) -> impl Iterator<Item = usize> {
    let ends = text.match_indices(['.', '!', '?', '。', '！', '？']);
    ends.map(|(at, mark)| at + mark.len()).filter(move |&end| {
        text[end..].is_empty()
            || text[end..].starts_with(' ')
            || !text[..end].ends_with(['.', '!', '?'])
    })
}

/// A text that fits a title, cut after a word.
fn shortened(text: &str) -> String {
    let Some((limit, _)) = text.char_indices().nth(LONGEST_TITLE_CHARS) else {
        return text.to_owned();
    };
    let (room, _) = text[..limit].char_indices().next_back().unwrap_or_default();
    let cut = text[..room].rfind(' ').filter(|&cut| cut > room / 2).unwrap_or(room);
    format!("{}…", text[..cut].trim_end_matches([' ', ',', ';', ':', '-']))
}

/// How a text goes on behind a title that was cut: what a title says is not said again.
fn left_out(text: &str, title: &str) -> Option<String> {
    let rest = text.strip_prefix(title.strip_suffix('…')?)?;
    let rest = rest.trim_start_matches([' ', ',', ';', ':', '-']);
    (!rest.starts_with('…')).then(|| format!("…{rest}"))
}

/// The beginning of a text, up to the end of a sentence where there is one.
fn beginning(text: &str) -> String {
    let words = text.split(' ').scan(0, |end, word| {
        *end += word.len() + 1;
        Some(*end - 1)
    });
    let by_words = words.into_iter().nth(CARD_WORDS - 1).unwrap_or(text.len());
    let by_chars = text.char_indices().nth(CARD_CHARS).map_or(text.len(), |(at, _)| at);
    let limit = by_words.min(by_chars);
    if limit == text.len() {
        return text.to_owned();
    }
    let room = &text[..limit];
    let sentence = sentence_ends(room).filter(|&end| end > limit / 2).last();
    match sentence {
        Some(end) => room[..end].to_owned(),
        None => {
            let cut = if text[limit..].starts_with(' ') {
                limit
            } else {
                room.rfind(' ').unwrap_or(limit)
            };
            format!("{}…", &room[..cut])
        }
    }
}

#[cfg(test)]
mod tests;
