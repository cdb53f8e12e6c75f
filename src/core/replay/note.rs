//! A note of a replay: its body, title and other names, read by a few simple rules.

use std::sync::Arc;

use percent_encoding::percent_decode_str;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastNote {
    pub text: Arc<str>,
    body_at: usize,
    pub title: String,
    /// What links can call it, as `link_key` writes names; the strongest first.
    pub keys: Vec<String>,
}

impl PastNote {
    pub fn new(path: &str, text: Arc<str>) -> PastNote {
        let (front, body_at) = front_matter(&text);
        let stem = without_md(path);
        let name = file_name(stem);
        let (mut title, mut aliases) = (None, Vec::new());
        for (key, value) in front.split('\n').filter_map(|line| line.split_once(':')) {
            let value = value.trim().trim_matches(['"', '\'']);
            match key.trim() {
                "title" if !value.is_empty() => title = Some(value.to_owned()),
                "aliases" | "alias" => {
                    let listed = value.trim_matches(['[', ']']).split(',');
                    let listed = listed.map(|alias| alias.trim_matches([' ', '"', '\'']));
                    aliases.extend(listed.filter(|alias| !alias.is_empty()).map(str::to_owned));
                }
                _ => {}
            }
        }
        let title = title.or_else(|| first_heading(&text[body_at..]));
        let title = title.unwrap_or_else(|| name.to_owned());
        let others = [stem.to_owned(), name.to_owned(), name.replace("___", "/"), decoded(name)];
        let names = others.into_iter().chain([title.clone()]).chain(aliases);
        let keys = names.map(|name| link_key(&name)).collect();
        PastNote { body_at, title, keys, text }
    }

    /// The text without front matter.
    pub fn body(&self) -> &str {
        &self.text[self.body_at..]
    }

    /// Whether the bodies differ in more than white space.
    pub fn has_other_words(&self, other: &PastNote) -> bool {
        !self.body().split_whitespace().eq(other.body().split_whitespace())
    }
}

/// A name without the differences that links ignore: case, and how words are separated.
pub fn link_key(name: &str) -> String {
    let is_between = |c: char| c.is_whitespace() || matches!(c, '_' | '-');
    let words: Vec<&str> = name.split(is_between).filter(|word| !word.is_empty()).collect();
    words.join(" ").to_lowercase()
}

pub fn without_md(path: &str) -> &str {
    path.strip_suffix(".md").unwrap_or(path)
}

pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A name with `%20` and the like decoded.
pub fn decoded(name: &str) -> String {
    percent_decode_str(name).decode_utf8_lossy().into_owned()
}

/// The lines between the first `---` and the next, and where the body begins.
fn front_matter(text: &str) -> (&str, usize) {
    let Some(start) = ["---\n", "---\r\n"].iter().find(|mark| text.starts_with(**mark)) else {
        return ("", 0);
    };
    let inside = &text[start.len()..];
    for (end, mark) in inside.match_indices("\n---") {
        let at = start.len() + end + mark.len();
        let rest = text[at..].trim_start_matches([' ', '\t']);
        let after = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n'));
        if let Some(body) = after.or_else(|| rest.is_empty().then_some("")) {
            return (inside[..end].trim_end_matches('\r'), text.len() - body.len());
        }
    }
    ("", 0)
}

/// The first heading of the first three levels.
fn first_heading(body: &str) -> Option<String> {
    let mut start = 0;
    for line in body.split_inclusive('\n') {
        let marks = line.len() - line.trim_start_matches('#').len();
        let rest = &body[start + marks..];
        start += line.len();
        if !(1..=3).contains(&marks) || !rest.starts_with(char::is_whitespace) {
            continue;
        }
        let line = rest.trim_start().split('\n').next().unwrap_or_default().trim_end();
        let plain = line.trim_end_matches('#').trim_end();
        let title = if plain.is_empty() { line } else { plain };
        if !title.is_empty() {
            return Some(title.to_owned());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(path: &str, text: &str) -> PastNote {
        PastNote::new(path, Arc::from(text))
    }

    #[test]
    fn titles_and_bodies() {
        for (text, title, body) in [
            ("plain", "Note_1", "plain"),
            ("text\n## A heading ##\n# Later", "A heading", "text\n## A heading ##\n# Later"),
            ("#### too deep", "Note_1", "#### too deep"),
            ("#no-heading", "Note_1", "#no-heading"),
            ("---\ntitle: \"Mine\"\n---\n# Other", "Mine", "# Other"),
            ("---\r\ntitle: Mine\r\n---  \r\nbody", "Mine", "body"),
            ("---\ntitle: Mine\n---", "Mine", ""),
            ("---\ntitle: Mine\n----\nbody", "Note_1", "---\ntitle: Mine\n----\nbody"),
            ("---\n---\nbody", "Note_1", "---\n---\nbody"),
        ] {
            let note = note("dir/Note_1.md", text);
            assert_eq!((note.title.as_str(), note.body()), (title, body), "{text:?}");
        }
    }

    #[test]
    fn the_names_that_links_can_use() {
        let note =
            note("Dir/My%20own___note-1.md", "---\ntitle: T\naliases: [One, 'two x']\n---\n");
        let expect = [
            "dir/my%20own note 1",
            "my%20own note 1",
            "my%20own/note 1",
            "my own note 1",
            "t",
            "one",
            "two x",
        ];
        assert_eq!(note.keys, expect);
    }

    #[test]
    fn front_matter_and_white_space_are_no_words() {
        let old = note("a.md", "---\nupdated: 1\n---\none two\n");
        assert!(!old.has_other_words(&note("a.md", "---\nupdated: 2\n---\none\n\n  two")));
        assert!(old.has_other_words(&note("a.md", "one two three")));
    }
}
