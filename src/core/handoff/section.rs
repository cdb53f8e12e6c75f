//! A handoff in a context: shortened by section to its share of the room, never inside a line. Goal and next step
//! have priority.

use crate::core::context::budget::{Budget, Size};
use crate::core::handoff::pickup::{escape_delimiters, remark};
use crate::core::handoff::record::HandoffRecord;
use crate::core::handoff::{
    Consume, Document, FoundFile, Handoff, HandoffId, HandoffSection, ListedFile, Occasion,
};
use crate::core::text::for_model;
use crate::core::time::Timestamp;

/// The length limit of the goal and the next step in the facts, so that every host shows both.
const MAX_FACT_CHARS: usize = 500;
/// A body up to this length is shown whole wherever its beginning is shown.
const SHORT_BODY_CHARS: usize = 900;
/// The length limit of the list of omitted sections.
const MAX_NAMED_CHARS: usize = 120;
/// Headings of sections about the next step.
const NEXT: [&str; 4] = ["next step", "next", "todo", "to do"];
/// Headings of sections about the goal.
const GOAL: [&str; 4] = ["goal", "objective", "purpose", "task"];

/// Sanitizes a handoff for a model.
pub fn prepare(record: &HandoffRecord, document: &Document, files: Vec<ListedFile>) -> Handoff {
    let head = &document.head;
    let body = for_model::lines(&document.body);
    let body = escape_delimiters(body.trim_matches('\n')).into_owned();
    let id = record.id.to_string();
    let unknown = || "unknown".to_owned();
    let session =
        record.session.as_deref().map(for_model::one_line).filter(|text| !text.is_empty());
    let mut facts = vec![
        format!("Channel: {}", for_model::one_line(&record.channel)),
        format!("Previous Session: {}", session.unwrap_or_else(unknown)),
        format!("Type: {}", for_model::one_line(record.occasion.as_str())),
    ];
    let fact = |name: &str, value: Option<String>| {
        let value = value.filter(|value| !value.is_empty())?;
        Some(format!("{name}: {}", shorten(&value, MAX_FACT_CHARS)))
    };
    let line = |text: &Option<String>| text.as_deref().map(for_model::one_line);
    let is_short = body.chars().count() <= SHORT_BODY_CHARS;
    let told = |name: &str, said: &Option<String>, names: &[&str]| {
        // The facts do not repeat what a short body says.
        match section_below(&body, names) {
            Some(_) if is_short => None,
            below => fact(name, line(said).or(below)),
        }
    };
    facts.extend(told("Goal", &head.goal, &GOAL));
    facts.extend(told("Next step", &head.next_step, &NEXT));
    facts.extend(fact("Git ref", line(&head.git_ref)));
    let remark = match record.consume {
        Consume::Once => format!("*This session received it; it is archived as {id}.*"),
        Consume::Sticky => format!("*It also goes to later sessions, as {id}.*"),
    };
    let clean = |file: ListedFile| {
        let mut file =
            file.map_text(|text| escape_delimiters(&for_model::lines(text)).into_owned());
        file.path = for_model::one_line(&file.path);
        if let FoundFile::Unreadable { why } = &mut file.found {
            *why = for_model::one_line(why);
        }
        file
    };
    let files = files.into_iter().map(clean).collect();
    Handoff { id, facts, body, remark, tasks: None, files }
}

/// The remark about a handoff that its own session sees again after a compaction.
pub fn still_waits(id: &HandoffId) -> String {
    format!("*This session left it; it still waits for the next one as {id}.*")
}

/// The remark about a handoff that is too old. It names the day instead of the age, so that the text stays the same
/// every day.
pub fn too_old(record: &HandoffRecord) -> HandoffSection {
    let HandoffRecord { id, occasion, created, .. } = record;
    let limit = match occasion {
        Occasion::Auto | Occasion::Rotation => "older than 2 hours",
        _ => "too old",
    };
    HandoffSection::Remark(format!(
        "[Handoff {id} ({occasion}, written {created}) is {limit} and was not loaded; `kgctx handoff pickup {id}` \
        loads it.]"
    ))
}

/// The remark about a handoff whose date is wrong: nothing tells how old it is.
pub fn misdated(record: &HandoffRecord, created: Timestamp) -> HandoffSection {
    let id = &record.id;
    HandoffSection::Remark(format!(
        "[Handoff {id} is dated in the future ({created}) and was not loaded; `kgctx handoff pickup {id}` loads it.]"
    ))
}

/// The line about the tasks that wait; `None` if there are none.
pub fn waiting_tasks(n_tasks: usize, first: Option<&HandoffRecord>) -> Option<String> {
    let first = first?;
    let HandoffRecord { id, priority, .. } = first;
    let goal = first.goal.as_deref().map(for_model::one_line).filter(|goal| !goal.is_empty());
    let goal =
        goal.map(|goal| format!(": {}", shorten(&goal, MAX_NAMED_CHARS))).unwrap_or_default();
    let wait = match n_tasks {
        1 => "1 task waits:".to_owned(),
        n => format!("{n} tasks wait, first"),
    };
    Some(format!("[{wait} {id} ({priority}){goal}; `kgctx handoff pickup {id}` takes it.]"))
}

impl HandoffSection {
    /// The section with the line about the tasks that wait at its end.
    pub fn with_tasks(mut self, line: String) -> HandoffSection {
        match &mut self {
            HandoffSection::Remark(remark) => {
                remark.push('\n');
                remark.push_str(&line);
            }
            HandoffSection::Handoff(handoff) => handoff.tasks = Some(line),
        }
        self
    }
}

/// The remark about a handoff for work that another live session is doing.
pub fn withheld(record: &HandoffRecord) -> HandoffSection {
    let channel = for_model::one_line(&record.channel);
    HandoffSection::Remark(format!(
        "=== PARALLEL SESSION (Channel: {channel}) ===\nAnother session works in this channel. Handoff {} was left \
        for it and was not loaded; `kgctx handoff pickup {}` loads it.",
        record.id, record.id
    ))
}

/// The room for a text that is put together from pieces.
#[derive(Clone, Copy)]
struct Room<'m> {
    budget: Budget,
    used: Size,
    measure: &'m dyn Fn(&str) -> Size,
}

impl Room<'_> {
    /// Takes the room of a piece; `false` if there is not enough.
    fn take(&mut self, piece: &str) -> bool {
        // One extra token per piece: blank lines at the joints may tokenize differently in the whole text.
        let needed = self.used + (self.measure)(piece) + Size { tokens: 1, chars: 0 };
        let is_enough = self.budget.holds(needed);
        if is_enough {
            self.used = needed;
        }
        is_enough
    }

    /// Takes the room of the first lines of a text, as many as fit.
    fn take_lines<'t>(&mut self, text: &'t str) -> &'t str {
        let lines = text.split_inclusive('\n').take_while(|line| self.take(line));
        &text[..lines.map(str::len).sum()]
    }
}

/// Writes the handoff section within `room`; `None` if nothing fits.
pub fn render(
    legacy: &HandoffSection,
    room: Budget,
    measure: impl Fn(&str) -> Size,
) -> Option<String> {
    match legacy {
        HandoffSection::Handoff(handoff) => {
            let unused = Room { budget: room, used: Size::default(), measure: &measure };
            let text = render_handoff(handoff, unused)?;
            // The whole handoff comes first, then this line.
            let tasks = handoff.tasks.as_ref();
            let with_tasks = tasks.map(|line| format!("{}\n{line}\n\n", text.trim_end()));
            Some(with_tasks.filter(|whole| unused.clone().take(whole)).unwrap_or(text))
        }
        HandoffSection::Remark(remark) => {
            let text = format!("{remark}\n\n");
            room.holds(measure(&text)).then_some(text)
        }
    }
}

/// Writes the facts and the whole sections in order, between banners. If not all fit, the sections about the goal and
/// the next step get room first, and the omitted ones are named.
fn render_handoff(handoff: &Handoff, mut room: Room<'_>) -> Option<String> {
    let Handoff { id, facts, body, remark, .. } = handoff;
    let opening = format!("=== HANDOFF LOADED (ID: {id}) ===\n{}\n\n", facts.join("\n"));
    let closing = format!("=== END HANDOFF ===\n{remark}\n\n");
    if ![&opening, &closing, "\n\n"].into_iter().all(|piece| room.take(piece)) {
        return None;
    }
    let sections = sections(body);
    let mut room_for_all = room;
    if sections.iter().all(|section| room_for_all.take(section)) {
        let text = body.trim_end_matches('\n');
        return Some(format!("{opening}{text}\n\n{closing}"));
    }
    let titles: Vec<&str> = sections.iter().map(|section| title(section)).collect();
    if !room.take(&left_out(id, &titles)) {
        return None;
    }
    let mut order: Vec<usize> = (0..sections.len()).collect();
    order.sort_by_key(|&n| !is_about(titles[n], &GOAL) && !is_about(titles[n], &NEXT));
    let mut kept = vec![""; sections.len()];
    for n in order {
        if room.take(sections[n]) {
            kept[n] = sections[n];
        }
    }
    if kept.iter().all(|section| section.is_empty()) {
        kept[0] = room.take_lines(sections[0]);
    }
    let missing: Vec<&str> =
        (0..sections.len()).filter(|&n| kept[n] != sections[n]).map(|n| titles[n]).collect();
    let text = kept.concat();
    let text = text.trim_end_matches('\n');
    let text = if text.is_empty() { String::new() } else { format!("{text}\n\n") };
    Some(format!("{opening}{text}{}{closing}", left_out(id, &missing)))
}

/// Writes the listed files of a handoff within `room`; `None` if nothing fits.
pub fn render_files(
    files: &[ListedFile],
    room: Budget,
    measure: impl Fn(&str) -> Size,
) -> Option<String> {
    let mut room = Room { budget: room, used: Size::default(), measure: &measure };
    let mut text = String::from("=== Injected Files ===\n\n");
    let heading = text.len();
    if !room.take(&text) {
        return None;
    }
    for file in files {
        let ListedFile { path, found } = file;
        let piece = match found {
            FoundFile::Missing | FoundFile::Unreadable { .. } => {
                format!("{}\n\n", remark(file, 0).unwrap_or_default())
            }
            FoundFile::NoRoom { total } => not_shown(path, *total),
            FoundFile::Text { text, total } => file_within(path, text, *total, room),
        };
        if room.take(&piece) {
            text.push_str(&piece);
        }
    }
    (text.len() > heading).then_some(text)
}

/// A file's text below its delimiter: the whole text, or as many lines as fit.
fn file_within(path: &str, text: &str, total: u64, mut room: Room<'_>) -> String {
    let opening = format!("--- {path} ---\n");
    let is_whole = text.len() as u64 >= total;
    let text = text.trim_end_matches('\n');
    let whole = format!("{opening}{text}\n\n");
    if is_whole && room.clone().take(&whole) {
        return whole;
    }
    let mark = |shown: usize| format!("[Truncated: {path}, {shown} of {total} bytes]\n\n");
    let has_room = room.take(&opening) && room.take(&mark(text.len()));
    let shown = if has_room { room.take_lines(text) } else { "" };
    if shown.is_empty() {
        return not_shown(path, total);
    }
    format!("{opening}{}\n{}", shown.trim_end_matches('\n'), mark(shown.len()))
}

fn not_shown(path: &str, total: u64) -> String {
    format!("[Not shown: {path}, {total} bytes]\n\n")
}

/// Names the omitted sections, and the command that prints the whole handoff.
fn left_out(id: &str, titles: &[&str]) -> String {
    let named = shorten(&titles.join(", "), MAX_NAMED_CHARS);
    format!("[Left out, no room: {named}; `kgctx handoff show {id}` prints all of it]\n")
}

/// A section's heading, or its first words.
fn title(section: &str) -> &str {
    let first = section.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let title = first.trim_start_matches('#').trim();
    let end = title.char_indices().nth(40).map_or(title.len(), |(at, _)| at);
    &title[..end]
}

fn is_about(title: &str, names: &[&str]) -> bool {
    let title = title.to_lowercase();
    names.iter().any(|name| title.starts_with(name))
}

/// The text of the section with one of these headings, on one line.
fn section_below(body: &str, names: &[&str]) -> Option<String> {
    let is_it = |section: &&str| section.starts_with('#') && is_about(title(section), names);
    let section = sections(body).into_iter().find(is_it)?;
    let (_, text) = section.split_once('\n')?;
    Some(for_model::one_line(text))
}

/// Cuts a text to `most` characters; an ellipsis marks the cut.
pub(crate) fn shorten(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", text[..at].trim_end()),
        None => text.to_owned(),
    }
}

/// Splits markdown before each heading outside code.
fn sections(body: &str) -> Vec<&str> {
    let mut sections = Vec::new();
    let mut start = 0;
    let mut at = 0;
    let mut fence: Option<&str> = None;
    for line in body.split_inclusive('\n') {
        let trimmed = line.trim_start();
        match fence {
            Some(mark) if trimmed.starts_with(mark) => fence = None,
            Some(_) => {}
            None if trimmed.starts_with("```") => fence = Some("```"),
            None if trimmed.starts_with("~~~") => fence = Some("~~~"),
            None if line.starts_with('#') && at > start => {
                sections.push(&body[start..at]);
                start = at;
            }
            None => {}
        }
        at += line.len();
    }
    if at > start {
        sections.push(&body[start..at]);
    }
    sections
}

#[cfg(test)]
mod tests;
