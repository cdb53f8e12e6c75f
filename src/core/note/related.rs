//! The references in a note's front matter: wiki links in any key, and names under the keys that hold names of notes.
//!
//! Read line by line, because `related: [[A]], [[B]]` is no YAML and yet what people write.

use crate::core::note::wikilink;
use crate::core::text::bytes;

/// Keys whose values are titles or paths of notes.
const KEYS: [&str; 6] = ["related", "see-also", "see_also", "seealso", "see also", "links"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Related<'a> {
    /// The inner text of a `[[link]]`.
    Link(&'a str),
    /// A title or a path.
    Name(&'a str),
}

/// Calls `found` with every reference of a front matter.
pub fn find_related<'a>(yaml: &'a str, mut found: impl FnMut(Related<'a>)) {
    let mut is_under_key = false;
    for line in bytes::lines(yaml) {
        let is_continued = line.starts_with([' ', '\t', '-']);
        let colon = memchr::memchr(b':', line.as_bytes()).filter(|_| !is_continued);
        let value = match colon {
            Some(colon) => {
                let (key, value) = (line[..colon].trim(), &line[colon + 1..]);
                is_under_key = KEYS.iter().any(|known| known.eq_ignore_ascii_case(key));
                value
            }
            None => line,
        };
        let mut has_link = false;
        wikilink::find_places(value, |place| {
            has_link = true;
            found(Related::Link(&value[place]));
        });
        if is_under_key && !has_link {
            names(value).for_each(|name| found(Related::Name(name)));
        }
    }
}

/// The names of a list or of one text.
fn names(value: &str) -> impl Iterator<Item = &str> {
    let value = value.trim();
    let value = value.strip_prefix("- ").unwrap_or(value);
    let names = value.split(',').map(|name| {
        name.trim_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '[' | ']'))
    });
    names.filter(|name| name.contains(char::is_alphanumeric) && !name.contains("://"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Related::{Link, Name};

    #[track_caller]
    fn check(yaml: &str, expect: &[Related<'_>]) {
        let mut related = Vec::new();
        find_related(yaml, |reference| related.push(reference));
        assert_eq!(related, expect, "{yaml}");
    }

    #[test]
    fn lists_and_texts_are_read_in_any_form() {
        check("related: One note", &[Name("One note")]);
        check("related: [a.md, 'b c']\ntitle: x, y", &[Name("a.md"), Name("b c")]);
        check("see-also:\n  - ../a.md\n  - \"[[B|b]]\"\n", &[Name("../a.md"), Link("B|b")]);
        check("links:\n- a\n- https://x.y/z\n", &[Name("a")]);
        check("related: [[A]], [[B]]", &[Link("A"), Link("B")]);
        check("project: \"[[Ship]]\"\nup: mast", &[Link("Ship")]);
        check("Related: a\nother:\n  - b", &[Name("a")]);
        check("related:\nrelated: ~\ntitle: a", &[]);
        check("", &[]);
    }
}
