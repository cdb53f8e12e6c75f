//! The shapes of SPEC-2 §4, which no maenifold ever answered with, filled with what is really there.

use serde_json::{Value, json};

use crate::Thrown;
use crate::context::context;
use crate::markdown::{Markdown, links};
use crate::payload::Payload;
use crate::places::Places;
use crate::recent::rows;
use crate::search::{Searched, search};

/// The answer of a tool; `None` of one that the specification does not speak of.
pub(crate) fn answer(
    places: &Places,
    tool: &str,
    payload: &Payload,
) -> Result<Option<String>, Thrown> {
    let answer = match tool {
        "searchmemories" => {
            let found = match search(places, payload)? {
                Searched::Page(page) => page.found,
                Searched::Sentence(_) => Vec::new(),
            };
            let results = found.iter().map(|found| {
                let note = places.note(&found.uri).and_then(|path| Markdown::read(&path).ok());
                let concepts = note.map(|note| names(&note.body));
                json!({ "uri": found.uri, "title": found.title, "score": found.score, "concepts": concepts })
            });
            json!({ "results": results.collect::<Value>() })
        }
        "recentactivity" => {
            let items = rows(places, payload)?.unwrap_or_default();
            let items = items.iter().map(|row| {
                let modified = row.last_indexed.replace('Z', "+00:00");
                json!({ "uri": row.uri, "title": row.title, "modified": modified, "concepts": names(&row.content) })
            });
            json!({ "items": items.collect::<Value>() })
        }
        "buildcontext" => {
            let context = context(places, payload)?;
            let mut files: Vec<&String> =
                context.relations.iter().flat_map(|relation| &relation.files).collect();
            files.sort();
            files.dedup();
            let related = context.relations.iter().map(|relation| {
                json!({ "name": relation.name, "relationship": "co-occurs-with", "files": relation.count })
            });
            json!({
                "concept": context.concept,
                "relatedConcepts": related.collect::<Value>(),
                "fileReferences": files,
            })
        }
        _ => return Ok(None),
    };
    Ok(Some(format!("{answer:#}")))
}

/// The names of a body's links, each once, as they are written.
fn names(body: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in links(body) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}
