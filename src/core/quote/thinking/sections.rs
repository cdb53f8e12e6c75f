//! The sections of a document that maenifold's tools wrote, and the keys of its front matter. A heading that an agent
//! wrote inside of a thought begins no section.

use crate::core::text::bytes;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Section<'a> {
    pub(super) kind: SectionKind<'a>,
    /// Without the line that tells the time.
    pub(super) text: String,
}

/// The headings of the second level that the tools write. A number is `2/5`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SectionKind<'a> {
    Thought(&'a str),
    Conclusion,
    Step(&'a str),
    Answer(&'a str),
    Statement,
    Plan,
    Update,
    Abandoned,
    /// Says nothing about the matter.
    Other,
}

impl<'a> SectionKind<'a> {
    fn of(heading: &'a str) -> Option<SectionKind<'a>> {
        if let Some((number, _)) = numbered(heading, "Thought ") {
            return Some(SectionKind::Thought(number));
        }
        if let Some((number, rest)) = numbered(heading, "Step ") {
            return match rest {
                "" => Some(SectionKind::Step(number)),
                "Response" => Some(SectionKind::Answer(number)),
                _ => None,
            };
        }
        match heading {
            "Conclusion" => Some(SectionKind::Conclusion),
            "Statement" => Some(SectionKind::Statement),
            "Validation Plan" => Some(SectionKind::Plan),
            "Session Abandoned" => Some(SectionKind::Abandoned),
            "Related Concepts" | "Completion" | "Cancellation" => Some(SectionKind::Other),
            _ if heading.starts_with("Update: ") => Some(SectionKind::Update),
            _ => None,
        }
    }
}

/// `2/5` and what follows it.
fn numbered<'a>(heading: &'a str, name: &str) -> Option<(&'a str, &'a str)> {
    let rest = heading.strip_prefix(name)?;
    let (number, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let (n, of) = number.split_once('/')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(n) && is_number(of)).then_some((number, rest.trim()))
}

pub(super) fn sections(body: &str) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    let mut fence: Option<&str> = None;
    for line in bytes::lines(body) {
        let trimmed = line.trim();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            // A thought ends here, also one whose code was never closed.
            _ if is_time(trimmed) => fence = None,
            _ => {}
        }
        let heading = line.strip_prefix("## ").filter(|_| fence.is_none());
        if let Some(kind) = heading.and_then(|heading| SectionKind::of(heading.trim())) {
            sections.push(Section { kind, text: String::new() });
        } else if let Some(section) = sections.last_mut()
            && !is_time(trimmed)
        {
            section.text.extend([line, "\n"]);
        }
    }
    sections
}

/// Whether a line is `*2026-11-17 07:56:01 UTC*`.
fn is_time(line: &str) -> bool {
    let inner = line.strip_prefix('*').and_then(|line| line.strip_suffix('*'));
    let Some(inner) = inner.map(|inner| inner.strip_suffix(" UTC").unwrap_or(inner)) else {
        return false;
    };
    inner.len() == "2026-11-17 07:56:01".len()
        && inner.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b':' | b' '))
}

/// The value of a key of the front matter, without quotes.
pub(super) fn front_value<'a>(yaml: &'a str, key: &str) -> Option<&'a str> {
    let values = bytes::lines(yaml).filter_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
    values.map(unquoted).find(|value| !value.is_empty())
}

/// The names of the workflows that are to be done, in order.
pub(super) fn queue(yaml: &str) -> Vec<&str> {
    let items = bytes::lines(yaml).skip_while(|line| !line.starts_with("queue:")).skip(1);
    items.map_while(|line| line.trim_start().strip_prefix("- ")).map(unquoted).collect()
}

fn unquoted(value: &str) -> &str {
    value.trim().trim_matches(['"', '\''])
}
