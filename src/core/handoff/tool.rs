//! The other programs that leave handoffs, and how their documents are recognised. Reads no file.

use serde::Serialize;

use crate::core::handoff::{Document, Head, Kind, Occasion};
use crate::core::named::named;
use crate::core::time::Timestamp;

/// A program, other than kgctx, that leaves handoffs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tool {
    /// A queue of tasks in the repository.
    Spx,
    /// One handoff per channel, below the user's home folder.
    ClaudeAutoHandoff,
    /// One handoff per session, written at its end.
    Amplifier,
}

named!(Tool {
    Spx = "spx",
    ClaudeAutoHandoff = "claude-auto-handoff",
    Amplifier = "amplifier",
});

impl Tool {
    /// The name for people.
    pub fn title(self) -> &'static str {
        match self {
            Tool::Spx => "spx",
            Tool::ClaudeAutoHandoff => "claude-auto-handoff",
            Tool::Amplifier => "Amplifier",
        }
    }

    /// Recognises who wrote a document by the keys of its front matter.
    pub(super) fn of_keys(keys: &[&str]) -> Option<Tool> {
        let has = |key: &str| keys.contains(&key);
        // kgctx always writes it, and whoever else does says what the document is.
        if has("kind") {
            None
        } else if ["priority", "specs", "files"].into_iter().all(has) {
            Some(Tool::Spx)
        } else if has("project") && (has("duration_turns") || has("duration_minutes")) {
            Some(Tool::Amplifier)
        } else {
            None
        }
    }

    /// Says in our words what the document is. `name`: what the tool calls it.
    pub(super) fn translate(self, document: &mut Document, name: &str) {
        let head = &mut document.head;
        match self {
            Tool::Spx => {
                head.kind = Kind::Task;
                for text in [&mut head.goal, &mut head.next_step, &mut head.git_ref] {
                    *text = text.take().filter(|text| !text.trim().is_empty());
                }
                // The first generation of spx had no goal, but a title.
                head.goal = head.goal.take().or_else(|| title(&document.body));
                for paths in [&mut head.specs, &mut head.files] {
                    paths.retain(|path| !path.trim().is_empty());
                }
                if document.body.trim().is_empty() {
                    document.body = body_of(head).unwrap_or_default();
                }
            }
            Tool::ClaudeAutoHandoff => {
                head.session_id = head.session_id.take().filter(|session| session != "unknown");
            }
            Tool::Amplifier => {
                head.occasion.get_or_insert(Occasion::End);
                head.session_id.get_or_insert_with(|| name.to_owned());
            }
        }
    }
}

/// The first heading of a text.
fn title(body: &str) -> Option<String> {
    let heading = body.lines().find(|line| line.starts_with('#'))?;
    let title = heading.trim_start_matches('#').trim();
    (!title.is_empty()).then(|| title.to_owned())
}

/// The time in a name that spx gives: `2026-01-31_12-00-00`, in UTC.
pub fn spx_time(name: &str) -> Option<Timestamp> {
    let (date, time) = name.split_once('_')?;
    let is_digit = |at: usize| ![4, 7, 10, 13, 16].contains(&at);
    let fits = name.len() == 19
        && name.bytes().enumerate().all(|(at, byte)| byte.is_ascii_digit() == is_digit(at));
    fits.then(|| Timestamp::parse(&format!("{date}T{}Z", time.replace('-', ":"))))?
}

/// The text of a handoff whose front matter says everything.
pub fn body_of(head: &Head) -> Option<String> {
    let section = |title: &str, text: &Option<String>| {
        let text = text.as_deref().map(str::trim).filter(|text| !text.is_empty())?;
        Some(format!("## {title}\n\n{text}\n"))
    };
    let sections =
        [section("Goal", &head.goal), section("Next step", &head.next_step)].into_iter().flatten();
    let body = sections.collect::<Vec<_>>().join("\n");
    (!body.is_empty()).then_some(body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::handoff::document;

    #[test]
    fn every_writer_is_recognised_by_its_head() {
        for (text, tool) in [
            (
                "---\n\"priority\": \"low\"\n\"goal\": \"g\"\n\"specs\": []\n\"files\": []\n---\nx",
                Some(Tool::Spx),
            ),
            // The first generation of spx.
            (
                "---\nid: 2026-01-13_08-01-05\npriority: high\ntags: [a]\nbranch: b\nspecs:\n  - a\nfiles: []\n---\nx",
                Some(Tool::Spx),
            ),
            ("---\npriority: high\nkind: session\nspecs: []\nfiles: []\n---\nx", None),
            ("---\npriority: high\n---\nx", None),
            (
                "---\nsession_id: s\ntimestamp: 2026-02-27T10:11:12Z\nproject: atlas\nduration_turns: 7\nfiles_changed:\n  []\n---\nx",
                Some(Tool::Amplifier),
            ),
            ("---\nproject: atlas\nduration_minutes: 12\n---\nx", Some(Tool::Amplifier)),
            ("---\nproject: atlas\n---\nx", None),
            (
                "<!-- HANDOFF-ID: HO-20260202-064530-c74cc080 -->\n\nx",
                Some(Tool::ClaudeAutoHandoff),
            ),
            ("---\ngoal: [\n---\nx", None),
            ("x", None),
        ] {
            assert_eq!(document::read(text.as_bytes()).unwrap().tool, tool, "{text}");
        }
        let ours = document::write(&Document { body: "x".to_owned(), ..Document::default() });
        assert_eq!(document::read(ours.as_bytes()).unwrap().tool, None);
    }

    #[test]
    fn a_name_of_spx_is_a_time() {
        let time = Timestamp::parse("2026-01-13T08:01:05Z");
        assert_eq!(spx_time("2026-01-13_08-01-05"), time);
        for other in [
            "",
            "2026-01-13_08-01-05x",
            "2026-01-13_08-01-5x",
            "2026-13-13_08-01-05",
            "2026-01-13-08-01-05",
            "README",
            "２026-01-13_08-01-0",
        ] {
            assert_eq!(spx_time(other), None, "{other}");
        }
    }
}
