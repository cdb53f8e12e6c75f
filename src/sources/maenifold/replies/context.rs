//! Parses the answer of BuildContext: the concepts that share notes with one, strongest first; empty for an unknown
//! concept.

use serde_json::Value;

use super::MOST;
use super::reply::{self, named, unknown};
use crate::core::note::vault::SCHEME;
use crate::core::search::answer::RelatedConcept;

/// The maximum number of lines in a name.
const MOST_NAME_LINES: usize = 8;

/// Parses the output of BuildContext.
pub fn context(said: &[u8]) -> Result<Vec<RelatedConcept>, String> {
    reply::understand(said, of_object, of_text)
}

/// Accepts both known keys: `relatedConcepts`, and `directRelations` of maenifold's other interface.
fn of_object(answer: &Value) -> Result<Vec<RelatedConcept>, String> {
    let listed = answer["relatedConcepts"].as_array().or(answer["directRelations"].as_array());
    let listed = listed.ok_or_else(|| unknown(&answer.to_string()))?;
    let is_named = |relation: &Value| relation["name"].is_string();
    if !listed.is_empty() && !listed.iter().any(is_named) {
        return Err(unknown(&answer.to_string()));
    }
    Ok(listed.iter().filter_map(of_relation).take(MOST).collect())
}

fn of_relation(relation: &Value) -> Option<RelatedConcept> {
    let uris: Vec<String> = relation["files"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .filter(|uri| uri.starts_with(SCHEME))
        .take(MOST)
        .map(str::to_owned)
        .collect();
    let told = relation["coOccurrenceCount"].as_u64().or(relation["files"].as_u64());
    let notes = told.unwrap_or(uris.len() as u64);
    let name = named(relation["name"].as_str()?)?;
    Some(RelatedConcept { name, files: u32::try_from(notes).unwrap_or(u32::MAX), uris })
}

/// ```text
/// Context for CONCEPT: authentication
///
/// Direct relations (1 CONCEPTS):
///   • graph-rag (co-occurs in 1 files) [community 0]
///     Files: memory://rag-patterns
///
/// Expanded relations (2 hops):
///   • further-away
///
/// Community siblings (1 concepts in community 0):
///   • token-refresh (shared neighbors: 4, overlap: 0.571)
/// ```
fn of_text(text: &str) -> Result<Vec<RelatedConcept>, String> {
    if !text.starts_with("Context for CONCEPT:") {
        return Err(unknown(text));
    }
    let mut lines = text.lines();
    let told = lines.find_map(|line| {
        line.trim_end()
            .strip_prefix("Direct relations (")?
            .strip_suffix(" CONCEPTS):")?
            .parse()
            .ok()
    });
    let Some(told): Option<usize> = told else { return Err(unknown(text)) };
    let mut relations: Vec<RelatedConcept> = Vec::new();
    // Also counts entries whose names are not accepted.
    let mut seen = 0;
    let mut lines = lines.peekable();
    while seen < told.min(MOST)
        && let Some(line) = lines.next()
    {
        if line.starts_with("Expanded relations (") || line.starts_with("Community siblings (") {
            break;
        }
        let Some(mut entry) = bulleted(line).map(str::to_owned) else { continue };
        let mut n_lines = 1;
        let counted = loop {
            if let Some(counted) = name_and_count(&entry) {
                break Some(counted);
            }
            // A name can contain line breaks.
            let more = lines.next_if(|next| bulleted(next).is_none() && n_lines < MOST_NAME_LINES);
            let Some(more) = more else { break None };
            entry.push('\n');
            entry.push_str(more);
            n_lines += 1;
        };
        let Some((name, files)) = counted else { continue };
        seen += 1;
        let listed = lines.next_if(|next| next.starts_with("    Files: "));
        let uris = listed.map(uris).unwrap_or_default();
        relations.extend(named(name).map(|name| RelatedConcept { name, files, uris }));
    }
    if seen == 0 && told > 0 {
        return Err(unknown(text));
    }
    Ok(relations)
}

/// The text after the bullet of a relation. Accepts any bullet: a terminal without the character shows a question
/// mark.
fn bulleted(line: &str) -> Option<&str> {
    let line = line.strip_prefix("  ")?;
    let bullet = line.chars().next().filter(|c| !c.is_alphanumeric() && *c != ' ')?;
    line[bullet.len_utf8()..].strip_prefix(' ')
}

/// Parses a relation from the right, because its name can contain anything.
fn name_and_count(entry: &str) -> Option<(&str, u32)> {
    let entry = match entry.strip_suffix(']').and_then(|entry| entry.rsplit_once(" [community ")) {
        Some((before, community)) if community.parse::<i64>().is_ok() => before,
        _ => entry,
    };
    let (name, count) = entry.strip_suffix(" files)")?.rsplit_once(" (co-occurs in ")?;
    Some((name, count.parse().ok()?))
}

/// The addresses in a line of files. Paths can contain commas, too.
fn uris(line: &str) -> Vec<String> {
    let listed = line.trim_start().strip_prefix("Files: ").unwrap_or_default();
    let paths = listed.strip_prefix(SCHEME).unwrap_or_default().split(", memory://");
    paths.filter(|path| !path.is_empty()).take(MOST).map(|path| format!("{SCHEME}{path}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::note::concept::Concept;
    use proptest::prelude::*;

    const UNKNOWN: &str = "maenifold printed something unexpected: ";

    #[track_caller]
    fn check(said: &str, expect: &[&str]) {
        let shown = |relation: &RelatedConcept| {
            format!("{} {} {}", relation.name, relation.files, relation.uris.join(";"))
        };
        let relations = context(said.as_bytes()).unwrap();
        assert_eq!(relations.iter().map(shown).collect::<Vec<_>>(), expect, "{said}");
    }

    const TEXT: &str = "\
Context for CONCEPT: authentication

Direct relations (3 CONCEPTS):
  • graph-rag (co-occurs in 12 files) [community 0]
    Files: memory://rag-patterns, memory://a, b/c, memory://d
  • c++ (co-occurs in 1 files)
  • kgctx (co-occurs in 1 files) [community 0]
    Files: memory://tech/auth-note

Expanded relations (2 hops):
  • further-away
  • trap (co-occurs in 9 files)

Community siblings (2 concepts in community 0):
  • token-refresh (shared neighbors: 4, overlap: 0.571)
  • other (co-occurs in 9 files)
";

    #[test]
    fn direct_relations_alone_are_taken_from_the_text() {
        let expect = [
            "graph-rag 12 memory://rag-patterns;memory://a, b/c;memory://d",
            "c++ 1 ",
            "kgctx 1 memory://tech/auth-note",
        ];
        check(TEXT, &expect);
        check(&TEXT.replace('\n', "\r\n"), &expect);
        check(&TEXT.replace('•', "?"), &expect);
        // Even if the header announces more than follow.
        check(&TEXT.replace("(3 CONCEPTS)", "(9 CONCEPTS)"), &expect);
        let (start, rest) = TEXT.split_once("\nExpanded").unwrap();
        let siblings = &rest[rest.find("\nCommunity").unwrap()..];
        check(&format!("{start}{siblings}").replace("(3 CONCEPTS)", "(9 CONCEPTS)"), &expect);
        check("Context for CONCEPT: nobody\n\nDirect relations (0 CONCEPTS):\n", &[]);
    }

    #[test]
    fn names_may_look_like_anything() {
        let said = |name: &str| {
            format!(
                "Context for CONCEPT: x\n\nDirect relations (2 CONCEPTS):\n  • {name} (co-occurs in 2 files) [community 7]\n    \
                 Files: memory://a\n  • last (co-occurs in 1 files)\n"
            )
        };
        for name in ["a (co-occurs in 3 files)", "b [community 1]", "•", "two\nlines", "files:"] {
            let concept = Concept::parse(name).unwrap();
            check(&said(name), &[&format!("{concept} 2 memory://a"), "last 1 "]);
        }
        // maenifold stores a concept without a name, and treats a secret as a concept.
        check(&said(""), &["last 1 "]);
        check(&said("password=hunter2xyz9"), &["last 1 "]);
    }

    #[test]
    fn objects_are_understood() {
        check(
            r#"{"concept":"maenifold","relatedConcepts":[{"name":"OpenCode","relationship":"integrated-with","files":3},
                {"name":"Knowledge Graph","files":5},{"name":" / ","files":5}],"fileReferences":["memory://a"]}"#,
            &["opencode 3 ", "knowledge-graph 5 "],
        );
        check(
            r#"{"conceptName":"a","depth":1,"directRelations":[{"name":"b","coOccurrenceCount":4,
                "files":["memory://x","/etc/passwd"],"decayWeight":1.0}],"expandedRelations":["z"],
                "communitySiblings":[{"name":"s"}]}"#,
            &["b 4 memory://x"],
        );
        check(r#"{"concept":"x","relatedConcepts":[],"fileReferences":[]}"#, &[]);
    }

    #[test]
    fn what_is_not_understood_is_no_empty_answer() {
        for said in [
            "Segmentation fault",
            "Context for CONCEPT: x\n",
            "Context for CONCEPT: x\n\nDirect relations (2 CONCEPTS):\n  • a -> b\n",
            r#"{"success":true,"data":{},"error":null}"#,
            r#"{"relatedConcepts":["a"]}"#,
        ] {
            assert!(context(said.as_bytes()).unwrap_err().starts_with(UNKNOWN), "{said}");
        }
        let failed = r#"{"success":false,"data":null,"error":{"code":"INTERNAL_ERROR","message":"Error invoking"}}"#;
        assert!(context(failed.as_bytes()).unwrap_err().starts_with("maenifold refused: "));
    }

    #[test]
    fn answers_have_an_end() {
        let many = "  • a (co-occurs in 1 files)\n".repeat(1_500);
        let many = format!("Context for CONCEPT: x\n\nDirect relations (1500 CONCEPTS):\n{many}");
        assert_eq!(context(many.as_bytes()).unwrap().len(), MOST);
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_odd(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = context(&bytes);
        }

        #[test]
        fn no_cut_is_too_odd(at in 0..TEXT.len(), byte: u8) {
            let _ = context(&TEXT.as_bytes()[..at]);
            let mut changed = TEXT.as_bytes().to_vec();
            changed[at] = byte;
            let _ = context(&changed);
        }

        #[test]
        fn relations_come_back_from_the_text(
            relations in prop::collection::vec(
                ("[a-z0-9+#.()é]{1,10}", any::<u32>(), prop::collection::vec("[a-z, ]{0,6}[a-z]", 0..4), any::<bool>()), 0..8
            ),
        ) {
            let mut text =
                format!("Context for CONCEPT: x\n\nDirect relations ({} CONCEPTS):\n", relations.len());
            let mut expect = Vec::new();
            for (name, notes, paths, has_community) in &relations {
                let community = if *has_community { " [community 3]" } else { "" };
                text += &format!("  • {name} (co-occurs in {notes} files){community}\n");
                let uris: Vec<String> = paths.iter().map(|path| format!("memory://{path}")).collect();
                if !uris.is_empty() {
                    text += &format!("    Files: {}\n", uris.join(", "));
                }
                let name = Concept::from_normal_form(name.clone());
                expect.push(RelatedConcept { name, files: *notes, uris });
            }
            text += "\nCommunity siblings (1 concepts in community 0):\n  • s (shared neighbors: 4, overlap: 0.571)\n";
            prop_assert_eq!(context(text.as_bytes()).unwrap(), expect);
        }
    }
}
