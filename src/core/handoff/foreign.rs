//! Handoffs of other programs: what is found of them, made ready to be taken in, and ours in Amplifier's format.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::core::handoff::document::{self, Read, exact, quote};
use crate::core::handoff::tool::{Tool, spx_time};
use crate::core::handoff::{Document, HandoffId};
use crate::core::named::named;
use crate::core::time::Timestamp;

/// The unparsed file of another program's handoff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignHandoff {
    /// What its program calls it: the session that left it, or its id. `None` for a file that somebody named.
    pub name: Option<String>,
    pub path: PathBuf,
    pub bytes: Vec<u8>,
    pub modified: Timestamp,
}

/// A handoff of another program that is not taken in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// What its program calls it.
    pub source_id: String,
    pub why: WhyLeftOut,
}

/// Why a handoff of another program is not taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhyLeftOut {
    /// A session works on it.
    Doing,
    Archived,
    /// A session was given it.
    Consumed,
    /// Its program does not give it any more, or it would only take the place of one that is given.
    Expired,
    OtherProject,
}

named!(WhyLeftOut {
    Doing = "doing",
    Archived = "archived",
    Consumed = "consumed",
    Expired = "expired",
    OtherProject = "other-project",
});

/// A handoff that is about to be taken in.
#[derive(Debug)]
pub struct Incoming {
    /// Who wrote it, if known.
    pub tool: Option<Tool>,
    pub source_id: String,
    /// Tells it from everything else that its tool writes, for good.
    pub key: String,
    pub path: PathBuf,
    /// When it was written: by what it says, else by its name, else by its file.
    pub written: Timestamp,
    /// The document, in our words.
    pub document: Document,
    pub warnings: Vec<String>,
}

impl Incoming {
    /// Reads a file of a tool, or one whose writer it recognises. The error names the file.
    pub fn read(tool: Option<Tool>, found: ForeignHandoff) -> Result<Incoming, String> {
        let ForeignHandoff { name, path, bytes, modified } = found;
        let shown = path.display().to_string();
        let read = document::read(&bytes).map_err(|error| format!("{shown} is {error}"))?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let time_in_name = spx_time(name.as_deref().unwrap_or(&stem));
        let is_named_by_spx = || read.tool.is_none() && !read.has_kind && time_in_name.is_some();
        let tool = tool.or(read.tool).or_else(|| is_named_by_spx().then_some(Tool::Spx));
        // Without its priority, goal and files a task is another one. Whoever mends it can import it again.
        if let (Some(Tool::Spx), Some(why)) = (tool, why_not_a_task(&read)) {
            return Err(format!("{shown}: {why}; fix it and import it again"));
        }
        let mut document = read.document;
        let id = document.head.id.clone();
        let source_id = name.or(id).unwrap_or_else(|| match tool {
            Some(Tool::Amplifier) => amplifier_session(&document, &path),
            _ => name_of(&stem, &bytes),
        });
        if let Some(tool) = tool {
            tool.translate(&mut document, &source_id);
        }
        if document.body.trim().is_empty() {
            return Err(format!("{shown} is empty"));
        }
        let key = match tool {
            // A session that is resumed ends again, and writes the same file anew.
            Some(Tool::Amplifier) => format!("{source_id} {}", digest(&bytes)),
            _ => source_id.clone(),
        };
        let written = document.head.created_at.or(time_in_name).unwrap_or(modified);
        let warnings = read.warnings.iter().map(|warning| format!("{shown}: {warning}")).collect();
        Ok(Incoming { tool, source_id, key, path, written, document, warnings })
    }

    /// How the log tells where it came from, for good.
    pub fn origin(&self) -> Option<String> {
        Some(format!("imported from {}: {}", self.tool?.title(), self.key))
    }
}

/// What of a task could not be read.
fn why_not_a_task(read: &Read) -> Option<&str> {
    const KEYS: [&str; 5] = ["priority", "goal", "next_step", "specs", "files"];
    let mut unread = read.unread.iter();
    let at = match read.is_raw {
        true => 0,
        false => unread.position(|key| KEYS.contains(&key.as_str()))?,
    };
    read.warnings.get(at).map(String::as_str)
}

/// Sorts by the time in the document, so that an old file that was copied or touched does not count as new.
pub fn oldest_first(incoming: &mut [Incoming]) {
    incoming.sort_by(|a, b| {
        (a.written, &a.source_id, &a.path).cmp(&(b.written, &b.source_id, &b.path))
    });
}

/// The session that left a document of Amplifier's: as it says, else as its folder is called.
fn amplifier_session(document: &Document, path: &Path) -> String {
    let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
    let session = document.head.session_id.clone();
    session.unwrap_or_else(|| folder.to_string_lossy().into_owned())
}

/// Identifies a document without an id: by its file name if that is an id, else by its file name
/// and a hash, because many files share a name.
fn name_of(stem: &str, bytes: &[u8]) -> String {
    match HandoffId::parse(stem) {
        Ok(id) => id.to_string(),
        Err(_) => format!("{stem}-{}", digest(bytes)),
    }
}

/// The beginning of a hash.
fn digest(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().take(4).fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

/// Writes a document with Amplifier's front matter. `turns` overrides the number in the head.
pub fn amplifier_text(document: &Document, project: &str, turns: Option<u64>) -> String {
    let head = &document.head;
    let stated = head.other.iter().find(|(key, _)| key == "duration_turns");
    let turns = turns.or_else(|| stated?.1.as_u64());
    let lines = [
        ("session_id", head.session_id.as_deref().map(quote)),
        ("timestamp", head.created_at.map(exact)),
        ("project", Some(quote(project))),
        ("duration_turns", turns.map(|turns| turns.to_string())),
        // Amplifier passes the document on unchanged, so its sessions see these two keys.
        ("goal", head.goal.as_deref().map(quote)),
        ("next_step", head.next_step.as_deref().map(quote)),
    ];
    let mut text = String::from("---\n");
    for (key, value) in lines {
        if let Some(value) = value {
            let _ = writeln!(text, "{key}: {value}");
        }
    }
    text.push_str("files_changed:\n");
    if head.files_changed.is_empty() {
        text.push_str("  []\n");
    }
    for file in &head.files_changed {
        let _ = writeln!(text, "  - {}", quote(file));
    }
    text.push_str("---\n\n");
    text.push_str(document.body.trim_start_matches(['\n', '\r']));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::handoff::{Head, Kind, Occasion, Priority};

    fn found(name: &str, bytes: &[u8], modified: i64) -> ForeignHandoff {
        ForeignHandoff {
            name: Some(name.to_owned()),
            path: format!("/p/{name}/handoff.md").into(),
            bytes: bytes.to_vec(),
            modified: Timestamp::from_seconds(modified),
        }
    }

    fn read_all(found: Vec<ForeignHandoff>) -> (Vec<Incoming>, Vec<String>) {
        let (mut incoming, mut failed) = (Vec::new(), Vec::new());
        for one in found {
            match Incoming::read(Some(Tool::Amplifier), one) {
                Ok(one) => incoming.push(one),
                Err(error) => failed.push(error),
            }
        }
        oldest_first(&mut incoming);
        (incoming, failed)
    }

    #[track_caller]
    fn check(handoffs: Vec<ForeignHandoff>, expect: &[&str]) -> Vec<String> {
        let (incoming, failed) = read_all(handoffs);
        let names: Vec<_> = incoming.iter().map(|one| one.source_id.as_str()).collect();
        assert_eq!(names, expect);
        failed
    }

    #[test]
    fn h_0_2_the_newest_is_last_by_what_it_says_of_itself() {
        // H-0.2
        let told =
            |day: u32| format!("---\ntimestamp: 2026-01-{day:02}T00:00:00.5Z\n---\nx").into_bytes();
        let february = Timestamp::parse("2026-02-01").unwrap().seconds();
        let mid_january = Timestamp::parse("2026-01-15").unwrap().seconds();
        let handoffs = vec![
            found("touched", &told(3), february),
            found("told", &told(20), 0),
            found("silent", b"x", mid_january),
            found("tie-a", &told(10), 0),
            found("tie-b", &told(10), 0),
        ];
        let expect = ["touched", "tie-a", "tie-b", "silent", "told"];
        assert!(check(handoffs.clone(), &expect).is_empty());
        assert!(check(handoffs.into_iter().rev().collect(), &expect).is_empty());
    }

    #[test]
    fn h_0_5_empty_ones_are_named_and_the_next_is_taken() {
        // H-0.5, H-0.6, H-0.7
        let handoffs = vec![
            found("empty", b"", 9),
            found("blank", b" \n\t", 8),
            found("head-only", b"---\ngoal: g\n---\n\n", 7),
            found("latin", b"Gr\xf6\xdfe", 6),
            found("broken", b"---\ngoal: [\n---\nx", 5),
            found("good", b"x", 4),
        ];
        let failed = check(handoffs, &["good", "broken"]);
        assert_eq!(
            failed,
            [
                "/p/empty/handoff.md is empty",
                "/p/blank/handoff.md is empty",
                "/p/head-only/handoff.md is empty",
                "/p/latin/handoff.md is not UTF-8 text (byte 2)",
            ]
        );
        assert_eq!(check(vec![found("empty", b"", 9)], &[]).len(), 1);
    }

    fn named(path: &str, text: &str) -> Result<Incoming, String> {
        let (path, bytes) = (path.into(), text.as_bytes().to_vec());
        let modified = Timestamp::from_seconds(7);
        Incoming::read(None, ForeignHandoff { name: None, path, bytes, modified })
    }

    #[test]
    fn a_session_of_spx_is_a_task() {
        let text = "---\n\"priority\": \"high\"\n\"git_ref\": \"\"\n\"goal\": \"g\"\n\"next_step\": \"n\"\n\
                    \"specs\": [\"a\", \"\"]\n\"files\": []\n---\nBody";
        let Incoming { tool, source_id, key, written, document, .. } =
            named("/x/2026-11-17_07-52-34.md", text).unwrap();
        assert_eq!((tool, &*source_id), (Some(Tool::Spx), "2026-11-17_07-52-34"));
        assert_eq!((key, Some(written)), (source_id, Timestamp::parse("2026-11-17T07:52:34Z")));
        let Head { kind, priority, goal, git_ref, specs, .. } = document.head;
        assert_eq!((kind, priority, git_ref), (Kind::Task, Priority::High, None));
        assert_eq!((goal.as_deref(), specs), (Some("g"), vec!["a".to_owned()]));
        // Under another name it is still one, and whatever has such a name and says nothing else is one.
        let other = named("/x/copy.md", text).unwrap();
        assert_eq!((other.tool, other.document.head.kind), (Some(Tool::Spx), Kind::Task));
        let plain = named("/x/2026-11-17_07-52-34.md", "Body").unwrap();
        assert_eq!((plain.tool, plain.document.head.kind), (Some(Tool::Spx), Kind::Task));
        let ours = named("/x/2026-11-17_07-52-34.md", "---\nkind: session\n---\nBody").unwrap();
        assert_eq!((ours.tool, ours.document.head.kind), (None, Kind::Session));
        let why = named("/x/2026-11-17_07-52-34.md", "---\ngoal: [\n---\nBody").unwrap_err();
        assert!(why.starts_with("/x/2026-11-17_07-52-34.md: the front matter"), "{why}");
        for (key, right, wrong, said) in [
            ("files", "[]", "\"src/a.ts\"", "files is a text, not a list of texts"),
            ("files", "[]", "[\"a\", 7]", "files has a number as item 2, not a text"),
            ("specs", "[\"a\", \"\"]", "{}", "specs is a map, not a list of texts"),
            ("priority", "\"high\"", "\"urgent\"", "priority is \"urgent\", which is unknown"),
        ] {
            let [right, wrong] = [right, wrong].map(|value| format!("\"{key}\": {value}\n"));
            assert!(text.contains(&right), "{right}");
            let why =
                named("/x/2026-11-17_07-52-34.md", &text.replace(&right, &wrong)).unwrap_err();
            assert!(why.starts_with("/x/2026-11-17_07-52-34.md: ") && why.contains(said), "{why}");
            assert!(why.ends_with("; fix it and import it again"), "{why}");
        }
        let other = text.replace("\"git_ref\": \"\"", "\"git_ref\": []\n\"tags\": 7");
        let other = named("/x/2026-11-17_07-52-34.md", &other).unwrap();
        assert_eq!((other.warnings.len(), other.document.head.priority), (2, Priority::High));
        let titled = named("/x/2026-11-17_07-52-34.md", "Text\n\n## The title ##x\n").unwrap();
        assert_eq!(titled.document.head.goal.as_deref(), Some("The title ##x"));
        // Its head may say everything.
        let short = text.replace("Body", "");
        let short = named("/x/2026-11-17_07-52-34.md", &short).unwrap();
        assert_eq!(short.document.body, "## Goal\n\ng\n\n## Next step\n\nn\n");
    }

    #[test]
    fn a_handoff_of_amplifier_is_known_by_its_session_and_its_text() {
        let text = |body: &str| {
            format!(
                "---\nsession_id: s\nproject: p\nduration_turns: 2\nfiles_changed:\n  []\n---\n{body}"
            )
        };
        let read = |body: &str| named("/x/handoff.md", &text(body)).unwrap();
        let (one, same, other) = (read("a"), read("a"), read("b"));
        assert_eq!((&*one.source_id, &one.document.head.occasion), ("s", &Some(Occasion::End)));
        assert!(one.key == same.key && one.key != other.key);
        let silent = "---\nproject: p\nduration_minutes: 2\n---\nx";
        assert_eq!(named("/p/sessions/s7/handoff.md", silent).unwrap().source_id, "s7");
    }

    #[test]
    fn h_0_15_what_is_written_for_amplifier_is_what_amplifier_writes() {
        // H-0.15
        let head = Head {
            session_id: Some("7f3a: #".to_owned()),
            created_at: Timestamp::parse("2026-02-27T10:11:12.25Z"),
            ..Head::default()
        };
        let mut document = Document { head, body: "\n## Accomplished\n".to_owned() };
        assert_eq!(
            amplifier_text(&document, "atlas", Some(7)),
            "---\nsession_id: \"7f3a: #\"\ntimestamp: 2026-02-27T10:11:12.25Z\nproject: \"atlas\"\nduration_turns: 7\n\
             files_changed:\n  []\n---\n\n## Accomplished\n"
        );
        document.head.files_changed = vec!["a b".to_owned()];
        document.head.goal = Some("g".to_owned());
        let back = document::read(amplifier_text(&document, "atlas", None).as_bytes()).unwrap();
        assert!(back.warnings.is_empty());
        assert_eq!(back.document.head.session_id, document.head.session_id);
        assert_eq!(back.document.head.created_at, document.head.created_at);
        assert_eq!(back.document.head.files_changed, ["a b"]);
        assert_eq!(back.document.head.goal.as_deref(), Some("g"));
        assert_eq!(back.document.body, document.body);
    }
}
