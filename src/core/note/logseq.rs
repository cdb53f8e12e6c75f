//! A page of Logseq: its properties, its title, and the ids of its blocks.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// Properties that Logseq writes for itself.
const OF_PROGRAM: [&str; 20] = [
    "id",
    "collapsed",
    "heading",
    "background-color",
    "file",
    "file-path",
    "ls-type",
    "hl-page",
    "hl-color",
    "card-ease-factor",
    "card-last-interval",
    "card-last-reviewed",
    "card-last-score",
    "card-next-schedule",
    "card-repeats",
    "created-at",
    "updated-at",
    "logseq.order-list-type",
    "query-properties",
    "query-table",
];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// What the properties at the beginning of a page say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageProperties {
    pub title: Option<String>,
    pub aliases: Vec<String>,
    pub tags: Vec<String>,
    pub description: Option<String>,
}

impl PageProperties {
    /// Reads `key:: value` lines.
    pub fn parse(lines: &str) -> PageProperties {
        let mut properties = PageProperties::default();
        for (key, value) in lines.lines().filter_map(property) {
            match key.to_ascii_lowercase().as_str() {
                "title" => properties.title = Some(value.to_owned()),
                "alias" | "aliases" => properties.aliases.extend(items(value)),
                "tags" | "tag" => properties.tags.extend(items(value)),
                "description" => properties.description = Some(value.to_owned()),
                _ => {}
            }
        }
        properties
    }
}

/// Splits a page into the properties at its beginning and the rest.
pub fn split(body: &str) -> (&str, &str) {
    let mut end = 0;
    for line in body.split_inclusive('\n') {
        let is_blank = line.trim().is_empty();
        if !is_blank && property(line).is_none() || is_blank && end > 0 {
            break;
        }
        end += line.len();
    }
    body.split_at(end)
}

/// A text without the properties that Logseq writes for itself.
pub fn without_properties_of_program(body: &str) -> Cow<'_, str> {
    let is_of_program =
        |line: &str| property(line).is_some_and(|(key, _)| OF_PROGRAM.contains(&key));
    if !body.contains("::") || !body.lines().any(is_of_program) {
        return Cow::Borrowed(body);
    }
    Cow::Owned(body.split_inclusive('\n').filter(|line| !is_of_program(line)).collect())
}

/// The ids of the blocks of a text, to which `((id))` refers.
pub fn block_ids(text: &str) -> impl Iterator<Item = &str> {
    let properties = text.lines().filter(|line| line.contains("id::")).filter_map(property);
    properties.filter(|(key, _)| *key == "id").map(|(_, id)| id)
}

/// A longer text in brackets is no id.
const LONGEST_ID_BYTES: usize = 256;

/// The ids of blocks that a line refers to.
pub fn block_references(line: &str) -> impl Iterator<Item = &str> {
    let starts = line.match_indices("((").map(|(at, _)| &line[at + 2..]);
    let near = starts.map(|rest| &rest[..rest.floor_char_boundary(LONGEST_ID_BYTES)]);
    near.filter_map(|rest| rest.split_once("))")).map(|(id, _)| id)
}

/// The title that Logseq shows for the file of a page without a title.
pub fn page_title(stem: &str) -> String {
    journal_title(stem).unwrap_or_else(|| {
        let stem = stem.replace("___", "/");
        percent_decode_str(&stem).decode_utf8_lossy().into_owned()
    })
}

/// The title of a journal page, in the form that Logseq starts with: `2026_01_05` is "Jan 5th, 2026".
fn journal_title(stem: &str) -> Option<String> {
    let mut parts = stem.split(['_', '-']);
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let number = |part: &str, digits: usize| {
        (part.len() == digits).then(|| part.parse::<usize>().ok()).flatten()
    };
    let (year, month, day) = (number(year, 4)?, number(month, 2)?, number(day, 2)?);
    let month = MONTHS.get(month.checked_sub(1)?)?;
    let ending = match (day / 10, day % 10) {
        (1, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    (parts.next().is_none() && (1..=31).contains(&day))
        .then(|| format!("{month} {day}{ending}, {year}"))
}

/// The key and value of a `key:: value` line.
fn property(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let (key, value) = line.strip_prefix("- ").unwrap_or(line).split_once("::")?;
    let is_key = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    let is_property = !key.is_empty()
        && key.chars().all(is_key)
        && (value.is_empty() || value.starts_with(char::is_whitespace));
    is_property.then(|| (key, value.trim()))
}

/// The names of a list: `a, [[b]], #c`.
fn items(value: &str) -> impl Iterator<Item = String> {
    let names = value.split(',').map(|item| {
        let item = item.trim().trim_start_matches('#');
        item.strip_prefix("[[").and_then(|item| item.strip_suffix("]]")).unwrap_or(item).trim()
    });
    names.filter(|name| !name.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn properties_stand_at_the_beginning() {
        for (body, properties) in [
            ("alias:: a, b\ntags:: [[x]], #y\n\n- text", "alias:: a, b\ntags:: [[x]], #y\n"),
            ("\ntitle:: T\n- text", "\ntitle:: T\n"),
            ("- text\n  id:: 7", ""),
            ("std::vec is a type", ""),
            ("a b:: c", ""),
            ("", ""),
        ] {
            assert_eq!(split(body).0, properties, "{body}");
        }
        let properties =
            PageProperties::parse("Title:: A b\nalias:: a, [[b]]\ntags:: #x, #[[y z]]");
        assert_eq!(properties.title.as_deref(), Some("A b"));
        assert_eq!(properties.aliases, ["a", "b"]);
        assert_eq!(properties.tags, ["x", "y z"]);
    }

    #[test]
    fn titles_are_those_that_logseq_shows() {
        for (stem, title) in [
            ("Ship", "Ship"),
            ("ship___hull", "ship/hull"),
            ("a%3Ab", "a:b"),
            ("2026_01_05", "Jan 5th, 2026"),
            ("2026-11-22", "Nov 22nd, 2026"),
            ("2026_12_11", "Dec 11th, 2026"),
            ("2026_03_31", "Mar 31st, 2026"),
            ("2026_13_01", "2026_13_01"),
            ("2026_01_05_b", "2026_01_05_b"),
            ("2026_01", "2026_01"),
        ] {
            assert_eq!(page_title(stem), title);
        }
    }

    #[test]
    fn blocks_have_ids_that_are_no_text() {
        let body =
            "- one\n  id:: 6453-a\n  collapsed:: true\n  card-last-interval:: 4\n- type:: ship\n";
        assert_eq!(without_properties_of_program(body), "- one\n- type:: ship\n");
        assert_eq!(block_ids(body).collect::<Vec<_>>(), ["6453-a"]);
        let line = "see ((6453-a)) and {{embed ((b))}} ((";
        assert_eq!(block_references(line).collect::<Vec<_>>(), ["6453-a", "b"]);
    }

    proptest! {
        #[test]
        fn any_page_is_split_without_loss(body in "[a:\\- \\n\\[\\]#,]{0,40}") {
            let (properties, rest) = split(&body);
            prop_assert_eq!(format!("{properties}{rest}"), body);
        }
    }
}
