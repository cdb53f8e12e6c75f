//! Parses the answer of SearchMemories: the notes that a search found, best first.

use std::iter::Peekable;
use std::str::Lines;

use serde_json::Value;

use super::MOST;
use super::reply::{self, linked, listed_note, listed_notes, unknown};
use crate::core::note::vault::SCHEME;
use crate::sources::maenifold::answers::{AnsweredNote, NotePlace};

/// The maximum number of lines in a title.
const MOST_TITLE_LINES: usize = 8;

/// Parses the output of SearchMemories.
pub fn search(said: &[u8]) -> Result<Vec<AnsweredNote>, String> {
    reply::understand(said, of_object, of_text)
}

fn of_object(answer: &Value) -> Result<Vec<AnsweredNote>, String> {
    let finds_words = answer["mode"].as_str().is_some_and(|mode| mode == "FullText");
    listed_notes(answer, "results", |result| {
        let text_score = result["textScore"].as_f64();
        let has_words = text_score.map(|score| score > 0.0).or(finds_words.then_some(true));
        let mut note = AnsweredNote { has_words, ..listed_note(result)? };
        if let (NotePlace::Uri(uri), None) = (&note.place, &note.title) {
            note.title = uri.rsplit('/').next().map(str::to_owned);
        }
        Some(note)
    })
}

/// ```text
/// 🔍 **Hybrid Search** (combining text + semantic similarity)
/// Found 1 matches (page 1):
/// Text results: 1, Semantic results: 1
///
/// 📄 **Title** (memory://folder/note)
///    📊 Scores - Fused: 0.033 | Text: 0.010 | Semantic: 1.000
///    📝 A piece of the text, always on one line.
/// ```
fn of_text(text: &str) -> Result<Vec<AnsweredNote>, String> {
    let mut lines = text.lines().peekable();
    let is_search = lines.next().is_some_and(|head| head.contains("Search**"));
    let matches = lines.next().and_then(|line| line.strip_prefix("Found ")?.split_once(" matches"));
    let Some((matches, _)) = matches.filter(|_| is_search) else { return Err(unknown(text)) };
    let mut notes = Vec::new();
    while notes.len() < MOST
        && let Some(line) = lines.next()
    {
        let Some(title_start) = marked(line).and_then(|line| line.strip_prefix("**")) else {
            continue;
        };
        let Some((title, uri)) = title_and_uri(title_start, &mut lines) else { continue };
        let has_words = lines.peek().copied().and_then(scores);
        if has_words.is_some() {
            lines.next();
        }
        // The line after the scores is the piece of text, whatever it looks like.
        let piece =
            lines.next_if(|line| line.starts_with("   ")).and_then(|line| marked(&line[3..]));
        notes.push(AnsweredNote {
            place: NotePlace::Uri(uri),
            title: Some(title),
            has_words: has_words.flatten(),
            concepts: linked(piece),
            ..AnsweredNote::default()
        });
    }
    if notes.is_empty() && matches != "0" {
        return Err(unknown(text));
    }
    Ok(notes)
}

/// The text after the mark at the start of a line. Accepts any mark: a terminal without the characters shows question
/// marks.
fn marked(line: &str) -> Option<&str> {
    let (mark, rest) = line.split_once(' ')?;
    let is_mark = !mark.is_empty() && mark.len() <= 8 && !mark.contains(char::is_alphanumeric);
    is_mark.then_some(rest)
}

/// Parses a title and its address from the right: a title can contain anything, an address has no `//` inside.
fn title_and_uri(start: &str, lines: &mut Peekable<Lines<'_>>) -> Option<(String, String)> {
    let mut head = start.to_owned();
    for _ in 0..MOST_TITLE_LINES {
        let inner = head.strip_suffix(')');
        if let Some((title, path)) = inner.and_then(|head| head.rsplit_once("** (memory://")) {
            return Some((title.to_owned(), format!("{SCHEME}{path}")));
        }
        let more = lines.next_if(|line| !line.is_empty() && scores(line).is_none())?;
        head.push(' ');
        head.push_str(more);
    }
    None
}

/// Whether a line shows scores, and what they say about the words of the query.
fn scores(line: &str) -> Option<Option<bool>> {
    let told = marked(line.strip_prefix("   ")?)?;
    if told.starts_with("Semantic similarity: ") {
        return Some(None);
    }
    if told.starts_with("Text relevance: ") {
        return Some(Some(true));
    }
    let (_, scores) = told.strip_prefix("Scores - ")?.split_once("| Text: ")?;
    let score: f64 = scores.split(' ').next()?.parse().ok()?;
    Some(Some(score > 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const UNKNOWN: &str = "maenifold printed something unexpected: ";

    /// Each note on a line: address, title, whether it contains the words, concepts.
    fn shown(notes: &[AnsweredNote]) -> Vec<String> {
        let shown = |note: &AnsweredNote| {
            let concepts: Vec<&str> =
                note.concepts.iter().map(|concept| concept.as_str()).collect();
            let words = note.has_words.map_or("?", |has| if has { "words" } else { "akin" });
            let all = if note.names_all_concepts { "all" } else { "some" };
            let NotePlace::Uri(uri) = &note.place else { panic!("{note:?}") };
            let title = note.title.as_deref().unwrap_or("-");
            format!("{uri} | {title} | {words} | {all}: {}", concepts.join(" "))
        };
        notes.iter().map(shown).collect()
    }

    #[track_caller]
    fn check(said: &str, expect: &[&str]) {
        assert_eq!(shown(&search(said.as_bytes()).unwrap()), expect, "{said}");
    }

    #[test]
    fn the_envelope_of_a_search_is_understood() {
        check(
            r##"{"success":true,"data":{"mode":"Hybrid","query":"authentication","totalCount":2,"page":1,"pageSize":5,
            "textResultCount":2,"semanticResultCount":2,"results":[
            {"title":"Auth Note","path":"memory://tech/auth-note","fusedScore":0.03278688524590164,"textScore":0.01,
            "semanticScore":1,"snippet":"ng [[OAuth2]] for [[authentication]] in [[kgctx]].  ## Next  Wire [[sess"},
            {"title":"Caf\u00E9 \uD83D\uDE80 \u003Cb\u003E","path":"memory://rag-patterns","fusedScore":0.032,"textScore":0,
            "semanticScore":0,"snippet":""},
            {"title":"No address"},{"title":"x","path":"/etc/passwd"}]},"error":null}"##,
            &[
                "memory://tech/auth-note | Auth Note | words | some: authentication kgctx oauth2",
                "memory://rag-patterns | Café 🚀 <b> | akin | some: ",
            ],
        );
        let full_text = r#"{"success":true,"data":{"mode":"FullText","results":[
            {"title":"A","path":"memory://a","score":1,"snippet":""}]},"error":null}"#;
        check(full_text, &["memory://a | A | words | some: "]);
        check(&full_text.replace("FullText", "Semantic"), &["memory://a | A | ? | some: "]);
    }

    #[test]
    fn the_seeds_object_is_understood() {
        check(
            r#"{"results":[{"uri":"memory://tech/plugin","title":"Plugin","score":0.85,
                "concepts":["OpenCode","maenifold","[[plugin]]","opencode"," / ","password=hunter2xyz9"]},
                {"uri":"memory://tech/bare"}]}"#,
            &[
                "memory://tech/plugin | Plugin | ? | all: opencode maenifold plugin",
                "memory://tech/bare | bare | ? | some: ",
            ],
        );
        check(r#"{"results":[]}"#, &[]);
    }

    const TEXT: &str = "\
🔍 **Hybrid Search** (combining text + semantic similarity)
Found 2 matches (page 1):
Text results: 2, Semantic results: 2

📄 **Auth Note** (memory://tech/auth-note)
   📊 Scores - Fused: 0.033 | Text: 0.010 | Semantic: 1.000
   📝 ng [[OAuth2]] for [[authentication]] in [[kgctx]].  ## Next  Wire [[session-mana

📄 **RAG** (memory://rag)
   📊 Scores - Fused: 0.032 | Text: 0.000 | Semantic: 0.000
   📝 

💡 Next: Consider using ReadMemory, BuildContext for related operations.
";

    #[test]
    fn the_text_of_a_search_is_understood() {
        let expect = [
            "memory://tech/auth-note | Auth Note | words | some: authentication kgctx oauth2",
            "memory://rag | RAG | akin | some: ",
        ];
        check(TEXT, &expect);
        check(&TEXT.replace('\n', "\r\n"), &expect);
        // As on a terminal without these characters.
        check(&TEXT.replace(['🔍', '📄', '📊', '📝', '💡'], "??"), &expect);
        let semantic = "🧠 **Semantic Search** (concept similarity)\nFound 1 matches (page 1):\n\n\
            📄 **A** (memory://a)\n   🎯 Semantic similarity: 0.512\n   📝 [[b]]\n\n";
        check(semantic, &["memory://a | A | ? | some: b"]);
        let full_text = "📝 **Full-Text Search** (keyword matching)\nFound 1 matches (page 1):\n\n\
            📄 **A** (memory://a)\n   📊 Text relevance: 0.51\n   📝 [[b]]\n\n";
        check(full_text, &["memory://a | A | words | some: b"]);
        let nothing = "🔍 **Hybrid Search** (combining text + semantic similarity)\nFound 0 matches (page 1):\n\
            Text results: 0, Semantic results: 0\n\n\n💡 Next: Consider using ReadMemory\n";
        check(nothing, &[]);
    }

    #[test]
    fn texts_and_titles_may_look_like_anything() {
        let with = |head: &str, piece: &str| {
            TEXT.replace("**Auth Note** (memory://tech/auth-note)", head)
                .replace("ng [[OAuth2]] for [[authentication]] in [[kgctx]].", piece)
        };
        let akin = "memory://rag | RAG | akin | some: ";
        for title in
            ["**x** (memory://fake)", "🚀 (memory://", "a) ** (b", "", "** (memory://", "** "]
        {
            let first = format!("memory://a (b)/c) | {title} | words | some: d");
            check(&with(&format!("**{title}** (memory://a (b)/c))"), "[[d]]"), &[&first, akin]);
        }
        for piece in [
            "Scores - Fused: 1 | Text: 0.000 | Semantic: 0",
            "📄 **Fake** (memory://fake)",
            "   📊 Scores - Fused: 0.033 | Text: 0.000 | Semantic: 1.000",
        ] {
            let first = "memory://a | A | words | some: d";
            check(&with("**A** (memory://a)", &format!("{piece} [[d]]")), &[first, akin]);
        }
        let broken = with("**Two\nlines** (memory://a)", "[[d]]");
        check(&broken, &["memory://a | Two lines | words | some: d", akin]);
    }

    #[test]
    fn what_is_not_understood_is_no_empty_answer() {
        for said in [
            "Segmentation fault",
            "🔍 **Hybrid Search**\nFound 3 matches (page 1):\n\nA new way to show notes\n",
            r#"{"success":true,"data":{"hits":[]},"error":null}"#,
            r#"{"success":true,"data":null,"error":null}"#,
            r#"{"results":[{"title":"no address"}]}"#,
        ] {
            assert!(search(said.as_bytes()).unwrap_err().starts_with(UNKNOWN), "{said}");
        }
    }

    #[test]
    fn answers_have_an_end() {
        let many =
            format!("{{\"results\":[{}]}}", vec!["{\"uri\":\"memory://a\"}"; 1_500].join(","));
        assert_eq!(search(many.as_bytes()).unwrap().len(), MOST);
    }

    fn note() -> impl Strategy<Value = (String, String, bool, Vec<String>)> {
        let title = prop_oneof!["[^\r\n]{0,20}", "[*()a /:]{0,12}(memory://)?[*() ]{0,4}"];
        let path = "[a-z()*. ]{1,8}(/[a-zé🚀()* ]{1,6}){0,2}";
        (title, path, any::<bool>(), prop::collection::vec("[a-z0-9]{1,6}", 0..4))
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_odd(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = search(&bytes);
        }

        #[test]
        fn no_cut_is_too_odd(at in 0..TEXT.len(), byte: u8) {
            let _ = search(&TEXT.as_bytes()[..at]);
            let mut changed = TEXT.as_bytes().to_vec();
            changed[at] = byte;
            let _ = search(&changed);
        }

        #[test]
        fn notes_come_back_from_the_text(notes in prop::collection::vec(note(), 1..6)) {
            let mut text = format!(
                "🔍 **Hybrid Search** (combining text + semantic similarity)\nFound {} matches (page 1):\n\
                 Text results: 1, Semantic results: 1\n\n", notes.len()
            );
            let mut expect = Vec::new();
            for (title, path, has_words, concepts) in &notes {
                let score = if *has_words { "0.010" } else { "0.000" };
                let links: Vec<String> = concepts.iter().map(|name| format!("[[{name}]]")).collect();
                text += &format!("📄 **{title}** (memory://{path})\n   \
                    📊 Scores - Fused: 0.033 | Text: {score} | Semantic: 1.000\n   📝 {}\n\n", links.join(" "));
                expect.push(AnsweredNote {
                    place: NotePlace::Uri(format!("memory://{path}")),
                    title: Some(title.clone()),
                    has_words: Some(*has_words),
                    concepts: linked(links.iter().map(String::as_str)),
                    ..AnsweredNote::default()
                });
            }
            text += "\n💡 Next: Consider using ReadMemory, BuildContext for related operations.\n";
            prop_assert_eq!(search(text.as_bytes()).unwrap(), expect);
        }
    }
}
