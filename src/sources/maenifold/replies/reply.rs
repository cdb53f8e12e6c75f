//! A reply: detects whether maenifold's program answered, and in which format. Independent of the tool.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::core::note::concept::Concept;
use crate::core::note::vault::SCHEME;
use crate::core::note::wikilink;
use crate::core::secrets;
use crate::core::settings::LinkStyle;
use crate::core::text::for_model;
use crate::core::time::Timestamp;
use crate::sources::maenifold::answers::{AnsweredNote, NotePlace, most_mentioned};

/// The length limit of output in error messages.
const SHOWN_CHARS: usize = 120;
/// The length of the output from which an error message is made.
const LOOKED_AT_BYTES: usize = 2_000;

/// An answer in its original format.
enum Reply {
    /// An object without its envelope.
    Json(Value),
    /// Text for people, without blank lines around it.
    Text(String),
    /// A message that nothing was found.
    Nothing,
}

/// Parses an answer in any format. A message that nothing was found gives an empty list.
pub(super) fn understand<T>(
    said: &[u8],
    of_object: impl Fn(&Value) -> Result<Vec<T>, String>,
    of_text: impl Fn(&str) -> Result<Vec<T>, String>,
) -> Result<Vec<T>, String> {
    match read(said)? {
        Reply::Nothing => Ok(Vec::new()),
        Reply::Json(answer) => of_object(&answer),
        Reply::Text(text) => of_text(&text),
    }
}

/// The notes that an answer lists under a key.
pub(super) fn listed_notes(
    answer: &Value,
    key: &str,
    of_item: impl Fn(&Value) -> Option<AnsweredNote>,
) -> Result<Vec<AnsweredNote>, String> {
    let items = answer[key].as_array().ok_or_else(|| unknown(&answer.to_string()))?;
    let notes: Vec<AnsweredNote> = items.iter().filter_map(of_item).take(super::MOST).collect();
    if notes.is_empty() && !items.is_empty() {
        return Err(unknown(&answer.to_string()));
    }
    Ok(notes)
}

pub(super) fn listed_note(item: &Value) -> Option<AnsweredNote> {
    let uri = item["uri"].as_str().or(item["path"].as_str())?;
    let named = listed_concepts(item);
    uri.starts_with(SCHEME).then(|| AnsweredNote {
        place: NotePlace::Uri(uri.to_owned()),
        title: item["title"].as_str().map(str::to_owned),
        modified: item["modified"].as_str().and_then(Timestamp::parse),
        has_words: None,
        names_all_concepts: named.is_some(),
        concepts: named.unwrap_or_else(|| linked(item["snippet"].as_str())),
    })
}

/// Detects the format of the output.
fn read(bytes: &[u8]) -> Result<Reply, String> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}').trim_matches(['\r', '\n', ' ', '\t']);
    if text.is_empty() {
        return Err("maenifold printed nothing".to_owned());
    }
    if !text.starts_with('{') {
        return of_text(text);
    }
    // Ignores any text after the object.
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    match values.next() {
        Some(Ok(value)) => of_object(value),
        Some(Err(error)) if error.is_eof() => {
            Err("maenifold's answer stops in the middle".to_owned())
        }
        _ => Err(unknown(text)),
    }
}

/// An error that quotes the beginning of unknown output.
pub(super) fn unknown(said: &str) -> String {
    format!("maenifold printed something unexpected: {}", shown(said))
}

fn of_object(mut value: Value) -> Result<Reply, String> {
    let error = value.get("error").filter(|error| !error.is_null());
    let has_succeeded = match value.get("success").and_then(Value::as_bool) {
        Some(has_succeeded) => has_succeeded,
        None if error.is_none() => return Ok(Reply::Json(value)),
        None => false,
    };
    if !has_succeeded {
        return of_failure(error.unwrap_or(&Value::Null));
    }
    match value["data"].take() {
        Value::String(text) => of_text(text.trim()),
        data => Ok(Reply::Json(data)),
    }
}

/// Interprets the envelope of a failure.
fn of_failure(error: &Value) -> Result<Reply, String> {
    let code = error["code"].as_str().unwrap_or_default();
    let message = error["message"].as_str().or(error.as_str()).unwrap_or_default();
    if let Some(verdict) = verdict(message) {
        return verdict;
    }
    let said = match (code, message) {
        ("", "") => "it does not say why".to_owned(),
        ("", said) | (said, "") => shown(said),
        (code, message) => shown(&format!("{code}: {message}")),
    };
    Err(format!("maenifold refused: {said}"))
}

fn of_text(text: &str) -> Result<Reply, String> {
    const REFUSALS: [&str; 4] = ["ERROR:", "Error invoking", "Unknown tool:", "DIAGNOSTIC:"];
    if let Some(verdict) = verdict(text) {
        return verdict;
    }
    if REFUSALS.iter().any(|refusal| text.starts_with(refusal)) {
        // Further lines contain a hint.
        let said = shown(text.lines().next().unwrap_or_default());
        return Err(format!("maenifold refused: {said}"));
    }
    if text.starts_with("maenifold CLI") || text.starts_with("Usage:") {
        let usage = "maenifold rejected the call and printed its usage";
        return Err(usage.to_owned());
    }
    Ok(Reply::Text(text.to_owned()))
}

/// Interprets messages that can occur as text and as a failure.
fn verdict(message: &str) -> Option<Result<Reply, String>> {
    const NOTHING: [&str; 4] = [
        "No memories found in specified folder",
        "No recent activity found",
        // A project can have the name `the`.
        "ERROR: Query contains no informative keywords",
        "Query contains no informative keywords",
    ];
    let message = message.strip_prefix("# Recent Activity").unwrap_or(message).trim_start();
    if NOTHING.iter().any(|nothing| message.starts_with(nothing)) {
        return Some(Ok(Reply::Nothing));
    }
    let no_database = || Err("maenifold has no database yet; its `Sync` makes one".to_owned());
    message.starts_with("No database found").then(no_database)
}

/// The beginning of the output, on one line and without secrets.
fn shown(said: &str) -> String {
    let mut line = for_model::one_line(&said[..said.floor_char_boundary(LOOKED_AT_BYTES)]);
    if let Some((end, _)) = line.char_indices().nth(SHOWN_CHARS) {
        line.truncate(end);
        line.push('…');
    }
    line
}

/// The concepts that pieces of a note's text link, most mentioned first. Only complete links count: a piece can begin
/// or end inside one.
pub(super) fn linked<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Vec<Concept> {
    let mut mentions: BTreeMap<Concept, u32> = BTreeMap::new();
    for piece in pieces {
        wikilink::find_links(piece, |inner| {
            let concept = wikilink::concept(inner, LinkStyle::Maenifold);
            if let Some(concept) = concept.filter(|_| may_be_told(inner)) {
                *mentions.entry(concept).or_default() += 1;
            }
        });
    }
    most_mentioned(mentions)
}

/// The concept of a name; `None` for an empty name, and for a secret.
pub(super) fn named(name: &str) -> Option<Concept> {
    Concept::parse(name).filter(|_| may_be_told(name))
}

/// Whether a name contains no secret and no broken character.
fn may_be_told(name: &str) -> bool {
    !name.contains(char::REPLACEMENT_CHARACTER) && !secrets::are_in_name(name)
}

/// The concepts that an object lists by name, in order, without duplicates; `None` if it has no list.
fn listed_concepts(object: &Value) -> Option<Vec<Concept>> {
    let mut concepts: Vec<Concept> = Vec::new();
    for name in object["concepts"].as_array()?.iter().filter_map(Value::as_str).take(super::MOST) {
        let name = name.trim().trim_start_matches("[[").trim_end_matches("]]");
        concepts.extend(named(name).filter(|concept| !concepts.contains(concept)));
    }
    Some(concepts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check_error(said: impl AsRef<[u8]>, expect: &str) {
        let error = read(said.as_ref()).map(|_| ()).unwrap_err();
        assert_eq!(error, expect);
    }

    #[track_caller]
    fn check_nothing(said: &str) {
        assert!(matches!(read(said.as_bytes()), Ok(Reply::Nothing)), "{said}");
    }

    #[test]
    fn failures_that_end_with_success_are_failures() {
        check_error(
            "{\"success\":false,\"data\":null,\"error\":{\"code\":\"INVALID_ARGUMENT\",\"message\":\"Error invoking \
             SearchMemories: Missing \\u0027query\\u0027\"}}\n",
            "maenifold refused: INVALID_ARGUMENT: Error invoking SearchMemories: Missing 'query'",
        );
        check_error("{\"success\":false}", "maenifold refused: it does not say why");
        check_error("{\"error\":\"no memory\"}", "maenifold refused: no memory");
        check_error("ERROR: disk is full\n💡 Try again", "maenifold refused: ERROR: disk is full");
        check_error(
            "Error invoking BuildContext: bad\n",
            "maenifold refused: Error invoking BuildContext: bad",
        );
        check_error("Unknown tool: X", "maenifold refused: Unknown tool: X");
        check_error("DIAGNOSTIC: no vectors", "maenifold refused: DIAGNOSTIC: no vectors");
        check_error(
            "maenifold CLI\n\nUsage:\n  MCP Server mode:   maenifold --mcp\n",
            "maenifold rejected the call and printed its usage",
        );
        check_error(
            "# Recent Activity\n\nNo database found. Run the `Sync` command first to index memory files.\n",
            "maenifold has no database yet; its `Sync` makes one",
        );
        check_error(" \r\n\n", "maenifold printed nothing");
        check_error("{\"success\":true,\"data\":{\"res", "maenifold's answer stops in the middle");
        check_error("{nonsense}", "maenifold printed something unexpected: {nonsense}");
    }

    #[test]
    fn nothing_found_is_an_answer() {
        check_nothing("No memories found in specified folder\n");
        check_nothing("No recent activity found\n");
        check_nothing(
            "ERROR: Query contains no informative keywords. Try adding specific terms.\n💡 Hint",
        );
        check_nothing(
            "{\"success\":false,\"data\":null,\"error\":{\"code\":\"VALIDATION_ERROR\",\"message\":\"Query contains no \
             informative keywords.\"}}",
        );
    }

    #[test]
    fn the_object_comes_out_of_its_envelope() {
        let json = |said: &str| match read(said.as_bytes()) {
            Ok(Reply::Json(value)) => value.to_string(),
            _ => panic!("{said} is not an object"),
        };
        assert_eq!(
            json("\u{feff}{\"success\":true,\"data\":{\"a\":1},\"error\":null}\n"),
            "{\"a\":1}"
        );
        assert_eq!(json("{\"results\":[]}\nsome later line"), "{\"results\":[]}");
        assert!(matches!(
            read(b"{\"success\":true,\"data\":\"# A text\",\"error\":null}"),
            Ok(Reply::Text(text)) if text == "# A text"
        ));
    }

    #[test]
    fn a_broken_character_does_not_break_the_answer() {
        let said = b"{\"success\":true,\"data\":{\"a\":\"x\xff\xfey\"},\"error\":null}";
        let Ok(Reply::Json(value)) = read(said) else { panic!("it is an answer") };
        assert_eq!(value["a"], "x\u{fffd}\u{fffd}y");
    }

    #[test]
    fn an_error_shows_little_and_no_secrets() {
        let key = format!("AKIA{}", "Q3EGRXZ5T7PLMN2W");
        let error = read(format!("ERROR: key {key} is\u{7} \u{1b}[31mbad").as_bytes());
        let error = error.map(|_| ()).unwrap_err();
        assert!(!error.contains("AKIA") && !error.contains(char::is_control), "{error}");
        let error = unknown(&"é".repeat(5_000));
        assert!(error.chars().count() < 200, "{error}");
    }

    #[test]
    fn only_whole_links_of_a_piece_are_concepts() {
        let names = |piece: &str| -> Vec<String> {
            linked([piece]).iter().map(Concept::to_string).collect()
        };
        assert_eq!(names("uth]] [[b]] [[Auth Flow]] [[b]] [[OAu"), ["b", "auth-flow"]);
        assert_eq!(names("[[[a]]] [[ / ]] [[password=hunter2xyz9]]"), [""; 0]);
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_odd(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            if let Err(error) = read(&bytes) {
                prop_assert!(!error.contains(char::is_control));
            }
        }

        #[test]
        fn errors_stay_on_one_short_line(text in "(ERROR:|\\{|x)?\\PC{0,40}[\\n\\r\\t\\x00-\\x1f\u{2028}]?.{0,400}") {
            if let Err(error) = read(text.as_bytes()) {
                prop_assert!(!error.contains(char::is_control) && error.chars().count() < 200, "{error:?}");
            }
        }
    }
}
