//! The answer of a summariser: checks its form and extracts the next step.

use thiserror::Error;

use crate::core::handoff::ending::{LINE_CHARS, SECTIONS, shorten};
use crate::core::text::for_model;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UnusableAnswer {
    #[error("the summariser said nothing")]
    Empty,
    #[error("the summariser's answer has no {0:?} where it should be")]
    Missing(&'static str),
}

/// Strips everything around the sections of an answer, and checks that all sections are present and in order.
pub(super) fn check(answer: &str) -> Result<String, UnusableAnswer> {
    if answer.trim().is_empty() {
        return Err(UnusableAnswer::Empty);
    }
    let mut missing = SECTIONS.iter().map(|(heading, _)| *heading);
    let mut next = missing.next();
    let mut body = String::new();
    let mut fence = None;
    for line in answer.lines() {
        // Chatter precedes the first section, and perhaps the opening of one fence around the whole answer.
        let is_begun = !body.is_empty();
        match fence {
            Some(mark) if is_begun && line.trim() == mark => fence = None,
            None if is_begun => fence = fence_of(line),
            _ => {}
        }
        if fence.is_none() && next.is_some_and(|heading| line.trim_end() == heading) {
            next = missing.next();
            body = body + line.trim_end() + "\n";
        } else if is_begun {
            body = body + line + "\n";
        }
    }
    if let Some(heading) = next {
        return Err(UnusableAnswer::Missing(heading));
    }
    // A fence that is open at the end is the closing line of the fence around the whole answer.
    let body = body.trim_end();
    let body = if fence.is_some() { body.trim_end_matches('`').trim_end() } else { body };
    let is_empty = |line: &str| line.trim().is_empty() || line.starts_with("## ");
    if body.lines().all(is_empty) { Err(UnusableAnswer::Empty) } else { Ok(format!("{body}\n")) }
}

fn fence_of(line: &str) -> Option<&'static str> {
    ["```", "~~~"].into_iter().find(|mark| line.trim_start().starts_with(mark))
}

/// The first next step in a checked answer.
pub(super) fn next_step(body: &str) -> Option<String> {
    let (heading, _) = SECTIONS[3];
    let steps = body.lines().skip_while(|line| *line != heading).skip(1);
    let mut steps = steps.map(|line| {
        let line = for_model::one_line(line);
        let is_mark = |c: char| c.is_ascii_digit() || "-*+.) ".contains(c);
        shorten(line.trim_start_matches(is_mark), LINE_CHARS)
    });
    steps.find(|step| !step.is_empty()).filter(|step| step != "Nothing.")
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
            ANSWER.replace('\n', "\r\n"),
        ] {
            assert_eq!(check(&around).unwrap(), ANSWER, "{around:?}");
        }
        let with_code = ANSWER.replace("- Nothing.", "```\n## Decisions\n```\nmore");
        assert_eq!(check(&with_code).unwrap(), with_code);
    }

    #[test]
    fn h_0_18_a_useless_answer_is_refused() {
        // H-0.18
        let refused = |answer: &str| check(answer).unwrap_err();
        for empty in ["", " \n\t\n"] {
            assert_eq!(refused(empty), UnusableAnswer::Empty);
        }
        assert_eq!(refused("I cannot do that."), UnusableAnswer::Missing("## Accomplished"));
        for (heading, _) in SECTIONS {
            let without = ANSWER.replace(heading, "## Else");
            assert_eq!(refused(&without), UnusableAnswer::Missing(heading));
            assert!(check(&ANSWER.replace(heading, &heading.to_uppercase())).is_err());
        }
        let hollow: String = SECTIONS.iter().map(|(heading, _)| format!("{heading}\n\n")).collect();
        assert_eq!(refused(&hollow), UnusableAnswer::Empty);
        let hidden = ANSWER.replace("## Next steps", "```\n## Next steps\n```");
        assert_eq!(refused(&hidden), UnusableAnswer::Missing("## Next steps"));
    }
}
