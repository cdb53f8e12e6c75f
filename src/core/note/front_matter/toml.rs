//! Front matter in TOML, between two `+++` lines, as Hugo and Zola have it.

use toml::{Table, Value};

use crate::core::note::front_matter::{FrontMatter, MAX_YAML_BYTES, Validity, is_telling};

/// Splits a text into its front matter, without the `+++` lines, and the rest.
pub(super) fn split(text: &str) -> (Option<&str>, &str) {
    let is_fence = |line: &str| line.trim_end() == "+++";
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| is_fence(line)) else { return (None, text) };
    let mut end = first.len();
    for line in lines {
        if is_fence(line) {
            return (Some(&text[first.len()..end]), &text[end + line.len()..]);
        }
        end += line.len();
    }
    (None, text)
}

/// Whether the first line with words is a `key = value` or a `[table]`.
pub(super) fn is_toml(text: &str) -> bool {
    let lines = text.lines().map(str::trim);
    let first = lines.into_iter().find(|line| !line.is_empty() && !line.starts_with('#'));
    first.is_some_and(|line| {
        let key = line.split('=').next().unwrap_or_default().trim_end();
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        let is_pair = key.len() < line.len() && !key.is_empty() && key.bytes().all(is_part);
        is_pair || line.starts_with('[') && line.ends_with(']')
    })
}

pub(super) fn parse(text: &str) -> (FrontMatter, Validity) {
    let short = Some(text).filter(|text| text.len() <= MAX_YAML_BYTES);
    let Some(table) = short.and_then(|text| text.parse::<Table>().ok()) else {
        return (FrontMatter::default(), Validity::Broken);
    };
    let tags = table.get("tags").or_else(|| table.get("taxonomies")?.get("tags"));
    let description =
        ["description", "summary"].into_iter().filter_map(|key| text_of(table.get(key)?));
    let front_matter = FrontMatter {
        title: table.get("title").and_then(text_of),
        tags: tags.map(texts_of).unwrap_or_default(),
        // Hugo's aliases are addresses.
        aliases: table.get("aliases").map(texts_of).unwrap_or_default(),
        created: table.get("created").and_then(text_of),
        modified: table.get("updated").or_else(|| table.get("modified")).and_then(text_of),
        status: table.get("status").and_then(text_of),
        description: description.into_iter().find(|text| is_telling(text)),
        ..FrontMatter::default()
    };
    (front_matter.tidy(), Validity::Valid)
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Datetime(time) => Some(time.to_string()),
        _ => None,
    }
}

fn texts_of(value: &Value) -> Vec<String> {
    let texts = match value {
        Value::Array(items) => items.iter().filter_map(text_of).collect(),
        _ => Vec::from_iter(text_of(value)),
    };
    texts.into_iter().filter(|text| !text.starts_with('/')).collect()
}

#[cfg(test)]
mod tests {
    use crate::core::note::front_matter::{Validity, parse_any, split_any};

    #[test]
    fn front_matter_of_other_forms_is_split_off() {
        #[track_caller]
        fn check(text: &str, front: Option<&str>, body: &str) {
            assert_eq!(split_any(text), (front, body), "{text:?}");
        }
        check("+++\ntitle = \"a\"\n+++\nbody", Some("title = \"a\"\n"), "body");
        check("---\ntitle: a\n---\nbody", Some("title: a\n"), "body");
        check("{\n\"title\": \"a\"\n}\n\nbody", Some("{\n\"title\": \"a\"\n}"), "body");
        for text in ["+++\ntitle", "++++\na\n+++\n", "{{< x >}}\n}\n", "{\na b\n}\n", "{", "+"] {
            check(text, None, text);
        }
    }

    #[test]
    fn toml_and_json_are_read() {
        let toml = "# mine\ntitle = \"A = b\"\ndate = 2026-01-05\nupdated = 2026-01-06\naliases = [\"/old/\", \"B\"]\nsummary = \"Of keys\"\n[taxonomies]\ntags = [\"x\", \"y\"]\n";
        let (read, validity) = parse_any(toml);
        assert_eq!(validity, Validity::Valid);
        assert_eq!(
            (read.title.as_deref(), read.modified.as_deref()),
            (Some("A = b"), Some("2026-01-06"))
        );
        assert_eq!(
            (read.tags, read.aliases),
            (vec!["x".to_owned(), "y".to_owned()], vec!["B".to_owned()])
        );
        assert_eq!(read.description.as_deref(), Some("Of keys"));
        assert_eq!(parse_any("title = \n").1, Validity::Broken);
        let (read, _) = parse_any("{\n\"title\": \"A\",\n\"tags\": [\"x\"]\n}");
        assert_eq!((read.title.as_deref(), read.tags), (Some("A"), vec!["x".to_owned()]));
        assert_eq!(parse_any("title: a = b\n").0.title.as_deref(), Some("a = b"));
    }
}
