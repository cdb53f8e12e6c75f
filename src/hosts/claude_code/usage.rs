//! The usage that a Claude Code transcript tells: how many tokens the last answer of the main thread had in its context.
//! Reads from the end, and no more than it needs, because a hook waits after every tool.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use memchr::memmem;
use serde::Deserialize;

use crate::core::monitor::{Measurement, TokenSource};
use crate::core::time::Timestamp;
use crate::system::plain_file;

/// The first look at the end of a file. Each further look doubles.
const FIRST_BYTES: u64 = 64 * 1024;
/// Further back nothing is looked for while somebody waits, and otherwise.
pub const SOON_BYTES: u64 = 1024 * 1024;
pub const MOST_BYTES: u64 = 16 * 1024 * 1024;

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Line<'a> {
    r#type: &'a str,
    subtype: Option<&'a str>,
    is_sidechain: bool,
    agent_id: Option<String>,
    is_api_error_message: bool,
    timestamp: Option<String>,
    requested_model: Option<String>,
    message: Option<Message>,
    compact_metadata: Option<Compaction>,
}

#[derive(Deserialize)]
struct Message {
    model: Option<String>,
    usage: Option<Usage>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Usage {
    input_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_read_input_tokens: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Compaction {
    trigger: Option<String>,
    pre_tokens: Option<u64>,
    post_tokens: Option<u64>,
}

/// Measures a session by the last `most` bytes of its transcript, at the least.
pub fn measure(file: &Path, most: u64) -> io::Result<Measurement> {
    let mut opened = plain_file::open(file)?;
    let size = opened.metadata()?.len();
    let mut looked = FIRST_BYTES;
    loop {
        let start = size.saturating_sub(looked);
        opened.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::with_capacity((size - start) as usize);
        opened.by_ref().take(size - start).read_to_end(&mut bytes)?;
        let mut measured = understand(&bytes, start > 0);
        if measured.tokens.is_some() || start == 0 || looked >= most {
            measured.bytes = Some(size);
            return Ok(measured);
        }
        looked *= 2;
    }
}

/// Understands the end of a transcript. The first line may lack its beginning.
fn understand(bytes: &[u8], is_cut: bool) -> Measurement {
    let mut measured = Measurement::default();
    let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    if is_cut && !lines.is_empty() {
        lines.remove(0);
    }
    for line in lines.into_iter().rev().filter(|line| is_worth_reading(line)) {
        let Ok(line) = serde_json::from_slice::<Line<'_>>(line) else { continue };
        if line.is_sidechain || line.agent_id.is_some() {
            continue;
        }
        let at = line.timestamp.as_deref().and_then(Timestamp::parse).map(Timestamp::milliseconds);
        match (line.r#type, line.subtype) {
            ("assistant", _) => note_answer(&mut measured, line, at),
            ("system", Some("compact_boundary")) => {
                let compaction = line.compact_metadata;
                let post = compaction.as_ref().and_then(|compaction| compaction.post_tokens);
                let left = post.map(|post| (post, TokenSource::Compaction, at));
                measured.tokens = measured.tokens.or(left);
                measured.compacted_ms = measured.compacted_ms.or(at);
                let by_itself =
                    |compaction: &Compaction| compaction.trigger.as_deref() == Some("auto");
                let pre = compaction.filter(by_itself).and_then(|compaction| compaction.pre_tokens);
                measured.compacted_at = measured.compacted_at.or(pre);
            }
            _ => {}
        }
    }
    measured
}

/// Whether a line can tell anything. Most lines are long and tell nothing, so this is decided without reading them as JSON.
fn is_worth_reading(line: &[u8]) -> bool {
    let has = |word: &str| memmem::find(line, word.as_bytes()).is_some();
    has("\"input_tokens\"") || has("\"compact_boundary\"")
}

/// All lines of one answer repeat its usage, so the last one is as good as any.
fn note_answer(measured: &mut Measurement, line: Line<'_>, at: Option<i64>) {
    let Some(Message { model, usage: Some(usage) }) = line.message else { return };
    let is_synthetic = model.as_deref() == Some("<synthetic>");
    if measured.tokens.is_some() || is_synthetic || line.is_api_error_message {
        return;
    }
    let Usage { input_tokens, cache_creation_input_tokens, cache_read_input_tokens } = usage;
    let used = [cache_creation_input_tokens, cache_read_input_tokens];
    let used = used.into_iter().fold(input_tokens, u64::saturating_add);
    if used > 0 {
        measured.tokens = Some((used, TokenSource::Transcript, at));
        // Only the model as it was asked for tells its window.
        measured.model = line.requested_model.or(model);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::time::{Duration, Instant};

    use serde_json::{Value, json};

    use super::*;

    fn answer(used: u64) -> Value {
        json!({"type": "assistant", "requestId": "r", "timestamp": "2026-11-16T10:00:00Z",
            "requestedModel": "claude-sonnet-4-5[1m]", "message": {"model": "claude-sonnet-4-5",
            "usage": {"input_tokens": 1, "cache_creation_input_tokens": used - 2, "cache_read_input_tokens": 1}}})
    }

    fn with(mut line: Value, key: &str, value: Value) -> Value {
        line[key] = value;
        line
    }

    fn measured(lines: &[Value]) -> Measurement {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        understand(text.as_bytes(), false)
    }

    fn used(lines: &[Value]) -> Option<u64> {
        measured(lines).tokens.map(|(used, ..)| used)
    }

    #[test]
    fn a_1_28_the_last_answer_of_the_main_thread_counts() {
        // A-1.28
        let error = json!({"type": "assistant", "isApiErrorMessage": true,
            "message": {"model": "<synthetic>", "usage": {"input_tokens": 0}}});
        let noise = [
            with(answer(999), "isSidechain", json!(true)),
            with(answer(999), "agentId", json!("a1")),
            error,
            json!({"type": "user", "message": {"content": "\"input_tokens\":7"}}),
            json!({"type": "assistant", "message": {"usage": "input_tokens"}}),
        ];
        // The lines of one answer repeat its usage.
        let lines = [&[answer(10), answer(50), answer(50)], &noise[..]].concat();
        assert_eq!(used(&lines), Some(50));
        let Measurement { tokens, model, .. } = measured(&lines);
        let at = Timestamp::parse("2026-11-16T10:00:00Z").map(Timestamp::milliseconds);
        assert_eq!(tokens, Some((50, TokenSource::Transcript, at)));
        assert_eq!(model.as_deref(), Some("claude-sonnet-4-5[1m]"));
        assert_eq!(used(&noise), None);
        // Broken lines are passed over one by one.
        let text = format!(
            "{{\n\u{0}\n{}\n{{\"input_tokens\"\n\"input_tokens\"\n{}",
            answer(7),
            "[".repeat(9_000)
        );
        assert_eq!(understand(text.as_bytes(), false).tokens.map(|(used, ..)| used), Some(7));
    }

    #[test]
    fn a_1_28_a_compaction_counts_until_the_next_answer() {
        let boundary = |trigger: &str| {
            json!({"type": "system", "subtype": "compact_boundary", "timestamp": "2026-11-16T11:00:00Z",
                "compactMetadata": {"trigger": trigger, "preTokens": 50_098, "postTokens": 2_813}})
        };
        let after = measured(&[answer(50_000), boundary("manual")]);
        let at = Timestamp::parse("2026-11-16T11:00:00Z").map(Timestamp::milliseconds);
        assert_eq!(after.tokens, Some((2_813, TokenSource::Compaction, at)));
        assert_eq!((after.compacted_ms, after.compacted_at), (at, None));
        let later = measured(&[answer(50_000), boundary("auto"), answer(3_000)]);
        assert_eq!(later.tokens.map(|(used, ..)| used), Some(3_000));
        assert_eq!((later.compacted_ms, later.compacted_at), (at, Some(50_098)));
    }

    #[test]
    fn the_recorded_session_has_its_usage() {
        let file = "fixtures/transcripts/claude-code-2.1.325-work.jsonl";
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        let measured = measure(&file, MOST_BYTES).unwrap();
        assert_eq!(measured.model.as_deref(), Some("claude-opus-5-5"));
        assert!(measured.tokens.is_some_and(|(used, ..)| used > 50_000), "{measured:?}");
    }

    #[test]
    fn a_1_28_a_huge_file_is_read_from_its_end() {
        // A-1.28: less than 50 ms for 50 MB, even unoptimised.
        let mut file = tempfile::NamedTempFile::new().unwrap();
        writeln!(file, "{}", answer(5)).unwrap();
        let long = format!("{{\"type\":\"user\",\"text\":\"{}\"}}\n", "x".repeat(100_000));
        for _ in 0..3 {
            file.write_all(long.as_bytes()).unwrap();
        }
        // Further back than the first look.
        let near = measure(file.path(), MOST_BYTES).unwrap();
        assert_eq!(near.tokens.map(|(used, ..)| used), Some(5));
        for _ in 0..500 {
            file.write_all(long.as_bytes()).unwrap();
        }
        writeln!(file, "{}", answer(9)).unwrap();
        let best = (0..5).map(|_| {
            let started = Instant::now();
            let measured = measure(file.path(), MOST_BYTES).unwrap();
            assert_eq!(measured.tokens.map(|(used, ..)| used), Some(9));
            assert!(measured.bytes.is_some_and(|bytes| bytes > 50_000_000));
            started.elapsed()
        });
        let best = best.min().unwrap();
        assert!(best < Duration::from_millis(50), "{best:?}");
    }

    #[test]
    fn what_is_no_transcript_measures_nothing() {
        let folder = tempfile::tempdir().unwrap();
        assert!(
            measure(folder.path(), MOST_BYTES).is_err()
                && measure(&folder.path().join("none"), MOST_BYTES).is_err()
        );
        assert!(measure(Path::new("/dev/zero"), MOST_BYTES).is_err());
        let empty = tempfile::NamedTempFile::new().unwrap();
        let nothing = Measurement { bytes: Some(0), ..Measurement::default() };
        assert_eq!(measure(empty.path(), MOST_BYTES).unwrap(), nothing);
    }
}
