//! Reads a note's YAML front matter. Never fails: what is no YAML is read line by line, and said so.

mod toml;

use serde::Deserialize;
use serde::de::{self, Deserializer, SeqAccess, Visitor};
use serde_saphyr::options::DuplicateKeyPolicy;

use crate::core::text::bytes;

/// Longer front matter is read line by line: no person wrote it.
const MAX_YAML_BYTES: usize = 64 * 1024;
/// The YAML parser reads front matter with more keys.
const MOST_PLAIN_KEYS: usize = 32;

/// The keys that kgctx reads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct FrontMatter {
    /// `title`
    pub title: Option<String>,
    /// `aliases` or `alias`, a list or one text.
    #[serde(alias = "alias", deserialize_with = "one_or_many")]
    pub aliases: Vec<String>,
    /// `tags` or `tag`, a list or one text with commas.
    #[serde(alias = "tag", deserialize_with = "one_or_many")]
    pub tags: Vec<String>,
    /// `created`
    pub created: Option<String>,
    /// `modified` or `updated`
    #[serde(alias = "updated")]
    pub modified: Option<String>,
    /// `status`
    pub status: Option<String>,
    /// `description`, else `desc`, else `summary`.
    #[serde(deserialize_with = "text_of_any")]
    pub description: Option<String>,
    #[serde(deserialize_with = "text_of_any")]
    desc: Option<String>,
    #[serde(deserialize_with = "text_of_any")]
    summary: Option<String>,
}

/// Whether the front matter was what it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Validity {
    Valid,
    /// It was not; single lines were read.
    Broken,
}

/// Splits a text into its front matter, without the `---` lines, and the rest.
pub fn split(text: &str) -> (Option<&str>, &str) {
    let is_fence = |line: &str| line.trim_end() == "---";
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| is_fence(line)) else { return (None, text) };
    let mut end = first.len();
    for line in lines {
        if is_fence(line) || line.trim_end() == "..." {
            return (Some(&text[first.len()..end]), &text[end + line.len()..]);
        }
        end += line.len();
    }
    (None, text)
}

/// The same for front matter of any form: YAML, TOML between `+++` lines, or a JSON object.
pub fn split_any(text: &str) -> (Option<&str>, &str) {
    match text.as_bytes().first() {
        Some(b'+') => toml::split(text),
        Some(b'{') => split_json(text),
        _ => split(text),
    }
}

/// Splits a text into the JSON object with which it begins and the rest.
fn split_json(text: &str) -> (Option<&str>, &str) {
    let end = text.find("\n}").map(|end| end + 2);
    let ends_line = |end: &usize| text[*end..].lines().next().is_none_or(|l| l.trim().is_empty());
    let is_object = |end: &usize| {
        let object = &text[..*end];
        *end <= MAX_YAML_BYTES && serde_json::from_str::<de::IgnoredAny>(object).is_ok()
    };
    match end.filter(ends_line).filter(is_object) {
        Some(end) => (Some(&text[..end]), text[end..].trim_start()),
        None => (None, text),
    }
}

/// Reads front matter of any form; JSON is YAML, too.
pub fn parse_any(text: &str) -> (FrontMatter, Validity) {
    match toml::is_toml(text) {
        true => toml::parse(text),
        false => parse(text),
    }
}

pub fn parse(yaml: &str) -> (FrontMatter, Validity) {
    let short = Some(yaml).filter(|yaml| yaml.len() <= MAX_YAML_BYTES);
    match short.and_then(|yaml| parse_plain(yaml).or_else(|| parse_yaml(yaml))) {
        Some(front_matter) => (front_matter, Validity::Valid),
        None => (parse_lines(yaml), Validity::Broken),
    }
}

fn parse_yaml(yaml: &str) -> Option<FrontMatter> {
    let options = serde_saphyr::options! {
        duplicate_keys: DuplicateKeyPolicy::LastWins,
        // Enough for any front matter of the size above; a bomb of aliases stops here.
        budget: serde_saphyr::budget! { max_events: 20_000, max_nodes: 10_000 },
    };
    let parsed: Option<FrontMatter> = serde_saphyr::from_str_with_options(yaml, options).ok()?;
    Some(parsed.unwrap_or_default().tidy())
}

/// Reads the plain subset that nearly all front matter stays in: `key: value`, `key: [a, b]` and `- item`
/// lines, with values that need no quotes or have plain ones. `None` for anything else, which is the YAML parser's to judge.
///
/// The full parser takes longer for ten lines of front matter than all other work on a note; a test holds the
/// two to the same answers.
fn parse_plain(yaml: &str) -> Option<FrontMatter> {
    let mut front_matter = FrontMatter::default();
    let mut list_key: Option<&str> = None;
    let mut seen: Vec<&str> = Vec::with_capacity(MOST_PLAIN_KEYS);
    for line in bytes::lines(yaml) {
        if line.is_empty() {
            continue;
        }
        if let Some(item) = line.strip_prefix("  - ").or_else(|| line.strip_prefix("- ")) {
            let key = list_key?;
            front_matter.push(key, plain_scalar(item, "")?)?;
            continue;
        }
        let (key, value) = line.split_once(':')?;
        let is_plain_key = key.starts_with(|c: char| c.is_ascii_lowercase())
            && key.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_');
        // Twice the same key, or one key under two names: the YAML parser's policy decides.
        if !is_plain_key || seen.len() == MOST_PLAIN_KEYS || seen.contains(&canonical(key)) {
            return None;
        }
        seen.push(canonical(key));
        list_key = None;
        if value.is_empty() {
            list_key = Some(key);
        } else if let Some(list) = value.strip_prefix(" [") {
            for item in list.strip_suffix(']')?.split(',') {
                front_matter
                    .push(key, plain_scalar(item.strip_prefix(' ').unwrap_or(item), ",[]{}")?)?;
            }
        } else {
            front_matter.set(key, plain_scalar(value.strip_prefix(' ')?, "")?)?;
        }
    }
    Some(front_matter.tidy())
}

/// Returns `text` without its quotes, if it has any, and otherwise unchanged, if YAML would read it as this string in any
/// field.
fn plain_scalar<'a>(text: &'a str, forbidden: &str) -> Option<&'a str> {
    if let Some(inner) = quoted(text) {
        let is_odd = |c: char| c.is_control() || matches!(c, '\u{feff}' | '\'' | '"' | '\\');
        return (!inner.contains(is_odd)).then_some(inner);
    }
    let is_plain = text.starts_with(char::is_alphanumeric)
        && !text.ends_with([' ', ':'])
        && !text.as_bytes().windows(2).any(|pair| matches!(pair, b": " | b" #"))
        && !has_any(text, forbidden)
        && !text.eq_ignore_ascii_case("null");
    is_plain.then_some(text)
}

/// Whether a text has a character that is forbidden, or one that nobody sees.
fn has_any(text: &str, forbidden: &str) -> bool {
    let is_forbidden = |byte: u8| byte.is_ascii_control() || forbidden.as_bytes().contains(&byte);
    match text.is_ascii() {
        true => text.bytes().any(is_forbidden),
        false => {
            text.contains(|c: char| c.is_control() || c == '\u{feff}' || forbidden.contains(c))
        }
    }
}

/// The name under which a key is known here.
fn canonical(key: &str) -> &str {
    match key {
        "alias" => "aliases",
        "tag" => "tags",
        "updated" => "modified",
        _ => key,
    }
}

/// Reads `key: value` lines, each for itself, and passes over everything else.
fn parse_lines(yaml: &str) -> FrontMatter {
    let mut front_matter = FrontMatter::default();
    for line in yaml.lines() {
        let Some((key, value)) = line.split_once(':') else { continue };
        let value = value.trim();
        let inner =
            value.strip_prefix('[').and_then(|list| list.strip_suffix(']')).unwrap_or(value);
        match canonical(key) {
            key @ ("tags" | "aliases") => {
                for item in inner.split(',') {
                    // Both keys have lists.
                    let _ = front_matter.push(key, unquoted(item.trim()));
                }
            }
            key if !value.is_empty() => {
                // A known key always takes a text, and an unknown one is of no interest here.
                let _ = front_matter.set(key, unquoted(value));
            }
            _ => {}
        }
    }
    front_matter.tidy()
}

fn unquoted(text: &str) -> &str {
    quoted(text).unwrap_or(text)
}

/// The text between quotes; `None` where there are none.
fn quoted(text: &str) -> Option<&str> {
    ['"', '\''].into_iter().find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote))
}

impl FrontMatter {
    /// Sets a key to one text; `None` where a plain reader should not decide what that means.
    fn set(&mut self, key: &str, text: &str) -> Option<()> {
        let value = || Some(text.to_owned());
        match canonical(key) {
            "title" => self.title = value(),
            "created" => self.created = value(),
            "modified" => self.modified = value(),
            "status" => self.status = value(),
            "description" | "desc" | "summary" if !is_telling(text) => {}
            "description" => self.description = value(),
            "desc" => self.desc = value(),
            "summary" => self.summary = value(),
            "tags" | "aliases" => return None,
            _ => {}
        }
        Some(())
    }

    /// Adds an item to a key's list; `None` where the key should have one text.
    fn push(&mut self, key: &str, item: &str) -> Option<()> {
        match canonical(key) {
            "tags" => self.tags.push(item.to_owned()),
            "aliases" => self.aliases.push(item.to_owned()),
            "title" | "created" | "modified" | "status" => return None,
            "description" | "desc" | "summary" => return None,
            _ => {}
        }
        Some(())
    }

    /// Splits `a, b` tags, drops `#` marks and empty items, and chooses the description.
    fn tidy(mut self) -> FrontMatter {
        self.tags = self
            .tags
            .iter()
            .flat_map(|tag| tag.split(','))
            .map(|tag| tag.trim().trim_start_matches('#').to_owned())
            .filter(|tag| !tag.is_empty())
            .collect();
        self.aliases.retain(|alias| !alias.trim().is_empty());
        self.title = self.title.filter(|title| !title.trim().is_empty());
        let descriptions = [self.description.take(), self.desc.take(), self.summary.take()];
        self.description = descriptions.into_iter().flatten().find(|text| is_telling(text));
        self
    }
}

/// Whether a description says something: a single word hardly does, and YAML may take it for a number. Scripts without
/// blanks have sentences of one word.
fn is_telling(description: &str) -> bool {
    description.trim().contains(' ') || !description.is_ascii()
}

/// Takes a text, or nothing for any other value: other programs keep lists and tables under the same keys.
fn text_of_any<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Any {
        Text(String),
        Other(de::IgnoredAny),
    }
    Ok(match Any::deserialize(deserializer)? {
        Any::Text(text) => Some(text),
        Any::Other(_) => None,
    })
}

/// Takes one text or a list of texts; nothing for an empty value.
fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    struct OneOrMany;

    impl<'de> Visitor<'de> for OneOrMany {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a text or a list of texts")
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<Vec<String>, E> {
            Ok(vec![text.to_owned()])
        }

        fn visit_bool<E: de::Error>(self, value: bool) -> Result<Vec<String>, E> {
            Ok(vec![value.to_string()])
        }

        fn visit_i64<E: de::Error>(self, value: i64) -> Result<Vec<String>, E> {
            Ok(vec![value.to_string()])
        }

        fn visit_u64<E: de::Error>(self, value: u64) -> Result<Vec<String>, E> {
            Ok(vec![value.to_string()])
        }

        fn visit_f64<E: de::Error>(self, value: f64) -> Result<Vec<String>, E> {
            Ok(vec![value.to_string()])
        }

        fn visit_unit<E: de::Error>(self) -> Result<Vec<String>, E> {
            Ok(Vec::new())
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<String>, A::Error> {
            let mut texts = Vec::new();
            while let Some(item) = list.next_element::<Option<String>>()? {
                texts.extend(item);
            }
            Ok(texts)
        }
    }

    deserializer.deserialize_any(OneOrMany)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(items: &[&str]) -> Vec<String> {
        items.iter().map(|&item| item.to_owned()).collect()
    }

    #[test]
    fn the_front_matter_is_what_stands_between_two_fences() {
        #[track_caller]
        fn check(text: &str, yaml: Option<&str>, body: &str) {
            assert_eq!(split(text), (yaml, body), "{text:?}");
        }
        check("---\ntitle: a\n---\nbody", Some("title: a\n"), "body");
        check("--- \na: b\n...\nbody", Some("a: b\n"), "body");
        check("---\n---\n", Some(""), "");
        check("---\ntitle: a\n", None, "---\ntitle: a\n");
        check("text\n---\na: b\n---\n", None, "text\n---\na: b\n---\n");
        check("----\na: b\n---\n", None, "----\na: b\n---\n");
        check("", None, "");
    }

    #[test]
    fn yaml_of_many_forms_is_read() {
        #[track_caller]
        fn check(yaml: &str, expect: FrontMatter) {
            assert_eq!(parse(yaml), (expect, Validity::Valid), "{yaml}");
        }
        let with = |change: fn(&mut FrontMatter)| {
            let mut front_matter = FrontMatter::default();
            change(&mut front_matter);
            front_matter
        };
        check("", with(|_| {}));
        check("# nothing but a comment\n", with(|_| {}));
        check("title: Auth Note\n", with(|f| f.title = Some("Auth Note".into())));
        check("title: \"Auth: Note\"\n", with(|f| f.title = Some("Auth: Note".into())));
        check("title: 2026\n", with(|f| f.title = Some("2026".into())));
        check("title: no\n", with(|f| f.title = Some("no".into())));
        check("title: >\n  folded\n  text\n", with(|f| f.title = Some("folded text\n".into())));
        check("title:\n", with(|_| {}));
        check("tags: [a, '#b', c]\n", with(|f| f.tags = texts(&["a", "b", "c"])));
        check("tags: a, b\n", with(|f| f.tags = texts(&["a", "b"])));
        check("tags:\n  - a\n  - b\n", with(|f| f.tags = texts(&["a", "b"])));
        check("tags:\n- a\n-\n- 7\n", with(|f| f.tags = texts(&["a", "7"])));
        check("tags: 2026\n", with(|f| f.tags = texts(&["2026"])));
        check("alias: One Name\n", with(|f| f.aliases = texts(&["One Name"])));
        check(
            "aliases: [A, B]\nstatus: saved\n",
            with(|f| {
                f.aliases = texts(&["A", "B"]);
                f.status = Some("saved".into());
            }),
        );
        check("updated: 2026-01-05\n", with(|f| f.modified = Some("2026-01-05".into())));
        check("title: a\ntitle: b\n", with(|f| f.title = Some("b".into())));
        check("other: {deep: [1, {x: y}]}\ntitle: a\n", with(|f| f.title = Some("a".into())));
        for yaml in [
            "description: of keys\n",
            "description: >-\n  of\n  keys\n",
            "desc: of keys\n",
            "summary: of keys\ndescription: ''\n",
            "summary: too long\ndesc: 'of keys'\n",
            "summary: {of: map}\ndesc: [a]\ndescription: of keys\n",
        ] {
            check(yaml, with(|f| f.description = Some("of keys".into())));
        }
        check("description: 鍵の説明\n", with(|f| f.description = Some("鍵の説明".into())));
        for yaml in ["description: [a, b]\n", "desc: ''\n", "desc: word\n", "summary: 007\n"] {
            check(yaml, with(|_| {}));
        }
    }

    #[test]
    fn broken_yaml_is_read_line_by_line() {
        #[track_caller]
        fn check(yaml: &str, title: Option<&str>) -> FrontMatter {
            let (front_matter, validity) = parse(yaml);
            assert_eq!(validity, Validity::Broken, "{yaml}");
            assert_eq!(front_matter.title.as_deref(), title, "{yaml}");
            front_matter
        }
        check("title: Foo: bar\n", Some("Foo: bar"));
        check("title: @home\n", Some("@home"));
        check("related: [[A]], [[B]]\ntitle: 'x'\n", Some("x"));
        check("title: [unclosed\n", Some("[unclosed"));
        check("status: [open, done]\ntitle: a list as status\n", Some("a list as status"));
        let front_matter = check("tags: [a, b]\n: :\ntitle: ok\n", Some("ok"));
        assert_eq!(front_matter.tags, texts(&["a", "b"]));
    }

    #[test]
    fn bombs_are_defused_in_time() {
        let mut laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for n in 1..20 {
            let refs = vec![format!("*a{}", n - 1); 9].join(", ");
            laughs += &format!("a{n}: &a{n} [{refs}]\n");
        }
        let started = std::time::Instant::now();
        assert_eq!(parse(&laughs).1, Validity::Broken);
        assert_eq!(parse(&"[".repeat(60_000)).1, Validity::Broken);
        assert_eq!(parse(&format!("title: {}\n", "x ".repeat(MAX_YAML_BYTES))).0.tags, texts(&[]));
        assert!(started.elapsed().as_secs() < 5, "took {:?}", started.elapsed());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3_000))]
        #[test]
        fn the_plain_reader_agrees_with_the_yaml_parser(
            lines in prop::collection::vec(
                (
                    prop::sample::select(vec!["title", "tags", "alias", "aliases", "status", "created", "type", "updated", "navOrder", "description", "desc", "summary"]),
                    prop_oneof![
                        "[ ]?[a-zA-Z0-9äß][a-z0-9 :#,.'\"_/!-]{0,12}",
                        r" \[[a-z0-9äß ,.:-]{0,14}\]",
                        r#"[ ]?('[a-z0-9 :#,.'\\\[-]{0,6}'|"[a-z0-9 :#,.'\\\[-]{0,6}")[ ]?"#,
                        r#" \[('[a-z ,:]{0,3}'|"[a-z ,#]{0,3}"|[a-z]{1,2})(, ?('[a-z ,]{0,3}'|"[a-z]{0,3}")){0,2}\]"#,
                        prop::sample::select(vec!["", " ~", " null", " no", " 007", " 1.50", " 0x1F", " 1e3", "\n  - a\n  - b c", "\n- x", "\n", " |"])
                            .prop_map(str::to_owned),
                    ],
                ),
                0..5,
            ),
        ) {
            let yaml: String = lines.iter().map(|(key, value)| format!("{key}:{value}\n")).collect();
            if let Some(plain) = parse_plain(&yaml) {
                prop_assert_eq!(Some(plain), parse_yaml(&yaml), "{}", yaml);
            }
        }
    }
}
