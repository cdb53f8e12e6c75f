//! The answer of a summariser: takes off what programs put around it, and extracts the next step. Keeps all its words,
//! whatever their headings.

use thiserror::Error;

use crate::core::handoff::ending::{LINE_CHARS, SECTIONS, shorten};
use crate::core::text::for_model;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("it printed nothing")]
pub struct EmptyAnswer;

/// The words of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Summary {
    pub(super) body: String,
    /// Whether it has the sections that were asked for, in order.
    pub(super) has_sections: bool,
}

impl Summary {
    pub(super) fn of(answer: &str) -> Result<Summary, EmptyAnswer> {
        let lines: Vec<&str> = answer.lines().map(str::trim_end).collect();
        let lines = without_preamble(without_fence(&lines));
        let is_empty = |line: &&str| line.trim().is_empty() || heading(line).is_some();
        if lines.iter().all(is_empty) {
            return Err(EmptyAnswer);
        }
        let has_sections = has_sections(lines);
        let body = lines.join("\n");
        Ok(Summary { body: format!("{}\n", body.trim_matches('\n').trim_end()), has_sections })
    }

    /// The first next step.
    pub(super) fn next_step(&self) -> Option<String> {
        let is_next = |line: &&str| {
            heading(line).is_some_and(|words| words == "next steps" || words == "next step")
        };
        let steps = self.body.lines().skip_while(|line| !is_next(line)).skip(1);
        let mut steps = steps.take_while(|line| heading(line).is_none()).map(|line| {
            let line = for_model::one_line(line);
            let is_mark = |c: char| c.is_ascii_digit() || "-*+.) ".contains(c);
            shorten(line.trim_start_matches(is_mark), LINE_CHARS)
        });
        steps.find(|step| !step.is_empty()).filter(|step| step != "Nothing.")
    }
}

/// Takes off one fence around the whole answer, with a line of chatter before it.
fn without_fence<'a, 'b>(lines: &'a [&'b str]) -> &'a [&'b str] {
    let Some(open) = lines.iter().position(|line| fence_of(line).is_some()) else { return lines };
    let Some(close) = lines.iter().rposition(|line| !line.trim().is_empty()) else { return lines };
    let mut before = lines[..open].iter().filter(|line| !line.trim().is_empty());
    let is_chatter =
        before.next().is_none_or(|line| line.ends_with(':')) && before.next().is_none();
    // The name of a language may follow.
    let opening = lines[open].trim();
    let language = opening.trim_start_matches(['`', '~']);
    let marks = &opening[..opening.len() - language.len()];
    let is_open = language.chars().all(char::is_alphanumeric);
    let is_closed = close > open && marks == lines[close].trim();
    let inside = lines.get(open + 1..close).unwrap_or_default();
    let n_fences = inside.iter().filter(|line| fence_of(line).is_some()).count();
    let is_around = is_chatter && is_open && is_closed && n_fences % 2 == 0;
    if is_around { inside } else { lines }
}

/// Takes off a line like "Here it is:" before the first heading.
fn without_preamble<'a, 'b>(lines: &'a [&'b str]) -> &'a [&'b str] {
    let mut said = lines.iter().enumerate().filter(|(_, line)| !line.trim().is_empty());
    match (said.next(), said.next()) {
        (Some((_, first)), Some((at, second)))
            if first.ends_with(':') && heading(first).is_none() && heading(second).is_some() =>
        {
            &lines[at..]
        }
        _ => lines,
    }
}

fn has_sections(lines: &[&str]) -> bool {
    let mut missing = SECTIONS.iter().map(|(heading, _)| *heading).peekable();
    let mut fence = None;
    for line in lines {
        match fence {
            Some(mark) if line.trim() == mark => fence = None,
            Some(_) => {}
            None => fence = fence_of(line),
        }
        if fence.is_none() {
            missing.next_if(|heading| line == heading);
        }
    }
    missing.peek().is_none()
}

fn fence_of(line: &str) -> Option<&'static str> {
    ["```", "~~~"].into_iter().find(|mark| line.trim_start().starts_with(mark))
}

/// The words of a heading, in lower case: of `## 4. Next steps`, of `**Next steps:**`.
fn heading(line: &str) -> Option<String> {
    let line = line.trim();
    let bold = line.trim_end_matches(':');
    let is_bold = bold.len() > 4 && bold.starts_with("**") && bold.ends_with("**");
    let is_heading = line.starts_with('#') || is_bold;
    let words = line.trim_start_matches(|c: char| !c.is_alphabetic());
    let words = words.trim_end_matches(|c: char| !c.is_alphanumeric());
    is_heading.then(|| words.to_lowercase())
}

#[cfg(test)]
pub(super) const ANSWER: &str = "## Accomplished\n- The cache is there.\n\n## In progress\n- Nothing.\n\n## Decisions\n\
                      - LRU, because it is simple.\n\n## Next steps\n1. Measure it with `bench`.\n2. Ship.\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_summariser_puts_around_its_answer_is_taken_off() {
        for around in [
            format!("Here it is:\n\n{ANSWER}"),
            format!("```markdown\n{ANSWER}```"),
            format!("\n```\n{ANSWER}\n```\n\n"),
            format!("Here it is:\n```md\n{ANSWER}```\n"),
            ANSWER.replace('\n', "\r\n"),
        ] {
            let summary = Summary { body: ANSWER.to_owned(), has_sections: true };
            assert_eq!(Summary::of(&around), Ok(summary), "{around:?}");
        }
        let with_code = ANSWER.replace("- Nothing.", "```\n## Decisions\n```\nmore");
        assert_eq!(Summary::of(&with_code).unwrap().body, with_code);
    }

    #[test]
    fn h_0_18_words_are_kept_whatever_their_headings() {
        // H-0.18: only an answer without words is refused.
        for empty in ["", " \n\t\n", "```\n```", "# Summary\n\n**Done**\n"] {
            assert_eq!(Summary::of(empty), Err(EmptyAnswer), "{empty:?}");
        }
        let hollow: String = SECTIONS.iter().map(|(heading, _)| format!("{heading}\n\n")).collect();
        assert_eq!(Summary::of(&hollow), Err(EmptyAnswer));
        let step = Some("Measure it with `bench`.");
        for (answer, next_step) in [
            ("I cannot do that.\n".to_owned(), None),
            (ANSWER.replace("## ", "# "), step),
            (ANSWER.replace("## ", "### "), step),
            (ANSWER.to_uppercase(), Some("MEASURE IT WITH `BENCH`.")),
            (ANSWER.replace("## Next steps", "**Next steps:**"), step),
            (ANSWER.replace("## Next steps", "## 4. Next Steps"), step),
            (ANSWER.replace("## Accomplished", "## Erledigt"), step),
            (ANSWER.replace("## Next steps", "## Weiter"), None),
            (ANSWER.replace("## Next steps", "```\n## Next steps\n```"), None),
            (
                format!("Two things matter.\n\n{ANSWER}\nGood luck!\n")
                    .replace("## In", "## Still in"),
                step,
            ),
            ("## Next steps\n\n## Risks\n- It may break.\n".to_owned(), None),
        ] {
            let summary = Summary::of(&answer).unwrap();
            assert_eq!((&summary.body, summary.has_sections), (&answer, false));
            // Inside of a fence it is code.
            if !answer.contains("```\n##") {
                assert_eq!(summary.next_step().as_deref(), next_step, "{answer}");
            }
        }
    }
}
