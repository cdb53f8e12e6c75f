//! JSON that people edit by hand: an edit in one place keeps every other byte. Knows no settings.

use std::ops::Range;

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde::Serialize;
use serde::de::{DeserializeOwned, Error as _};
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

const BYTE_ORDER_MARK: char = '\u{feff}';

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct JsonText {
    pub(super) text: String,
    pub(super) root: Node,
}

/// A value, with its name if it is a member of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    /// Empty for an element of an array, and for the root.
    pub(super) name: String,
    pub(super) kind: Kind,
    /// The members of an object, or the elements of an array.
    pub(super) children: Vec<Node>,
    /// The first byte, of the name if there is one.
    start: usize,
    value: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Object,
    Array,
    Plain,
}

impl Node {
    fn of(name: &str, start: usize, value: &ast::Value<'_>, offset: usize) -> Node {
        let member = |member: &ast::ObjectProp<'_>| {
            Node::of(member.name.as_str(), member.range.start, &member.value, offset)
        };
        let element = |value: &ast::Value<'_>| Node::of("", value.start(), value, offset);
        let (kind, children) = match value {
            ast::Value::Object(object) => {
                (Kind::Object, object.properties.iter().map(member).collect())
            }
            ast::Value::Array(array) => (Kind::Array, array.elements.iter().map(element).collect()),
            _ => (Kind::Plain, Vec::new()),
        };
        let value = offset + value.start()..offset + value.end();
        Node { name: name.to_owned(), kind, children, start: offset + start, value }
    }

    /// Finds an object's member and its position. The last of several with the same name wins, as
    /// in every host.
    pub(super) fn member(&self, name: &str) -> Option<(usize, &Node)> {
        let place = self.children.iter().rposition(|member| member.name == name)?;
        Some((place, &self.children[place]))
    }

    /// An object's members and their positions, without those that a later one overrides.
    pub(super) fn members(&self) -> impl Iterator<Item = (usize, &Node)> {
        let counts = |(place, member): &(usize, &Node)| {
            self.member(&member.name).is_some_and(|(last, _)| last == *place)
        };
        self.children.iter().enumerate().filter(counts)
    }

    /// An array's elements; empty for other values.
    pub(super) fn elements(&self) -> &[Node] {
        if self.kind == Kind::Array { &self.children } else { &[] }
    }

    /// The bytes between the brackets.
    fn inside(&self) -> Range<usize> {
        self.value.start + 1..self.value.end - 1
    }
}

impl JsonText {
    pub(super) fn parse(text: String) -> serde_json::Result<JsonText> {
        let json = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&text);
        // serde_json's errors name line and column, and it rejects deep nesting.
        let _: Value = serde_json::from_str(json)?;
        let offset = text.len() - json.len();
        let parsed = parse_to_ast(json, &CollectOptions::default(), &ParseOptions::default())
            .map_err(serde_json::Error::custom)?;
        let root = parsed.value.map(|value| Node::of("", value.start(), &value, offset));
        let root = root.ok_or_else(|| serde_json::Error::custom("it is empty"))?;
        Ok(JsonText { text, root })
    }

    pub(super) fn read<T: DeserializeOwned>(&self, node: &Node) -> Option<T> {
        serde_json::from_str(self.raw(node)).ok()
    }

    /// A node's value as it is written.
    pub(super) fn raw(&self, node: &Node) -> &str {
        &self.text[node.value.clone()]
    }

    /// Returns the text with a node's value replaced by a text.
    pub(super) fn replaced_by(&self, node: &Node, raw: &str) -> serde_json::Result<JsonText> {
        self.spliced(node.value.clone(), raw)
    }

    /// Returns the text with a node's value replaced.
    pub(super) fn replaced(
        &self,
        node: &Node,
        value: &impl Serialize,
    ) -> serde_json::Result<JsonText> {
        let indentation = self.has_lines().then(|| self.indentation_of_line(node.value.start));
        let value = self.rendered(None, value, indentation)?;
        self.spliced(node.value.clone(), &value)
    }

    /// Returns the text without one member or element.
    pub(super) fn removed(&self, container: &Node, place: usize) -> serde_json::Result<JsonText> {
        let gone = match (container.children.as_slice(), place) {
            ([_], _) => container.inside(),
            ([first, second, ..], 0) => first.start..second.start,
            (all, _) => all[place - 1].value.end..all[place].value.end,
        };
        self.spliced(gone, "")
    }

    /// Returns the text with one element or member appended to a container.
    pub(super) fn added(
        &self,
        container: &Node,
        name: Option<&str>,
        value: &impl Serialize,
    ) -> serde_json::Result<JsonText> {
        let (before, end) = match container.children.as_slice() {
            [] => return self.filled(container, name, value),
            [only] => (&self.text[container.value.start + 1..only.start], only.value.end),
            [.., previous, last] => {
                let between = &self.text[previous.value.end..last.start];
                (between.trim_start().trim_start_matches(','), last.value.end)
            }
        };
        let indentation = before.rsplit_once('\n').map(|(_, indentation)| indentation);
        let space = match indentation {
            Some(indentation) => format!("{}{indentation}", self.line_break()),
            None => before.to_owned(),
        };
        let item = self.rendered(name, value, indentation)?;
        self.spliced(end..end, &format!(",{space}{item}"))
    }

    /// Returns the text with a first element or member in an empty container.
    fn filled(
        &self,
        container: &Node,
        name: Option<&str>,
        value: &impl Serialize,
    ) -> serde_json::Result<JsonText> {
        let inside = if self.has_lines() {
            let outer = self.indentation_of_line(container.value.start);
            let inner = format!("{outer}{}", self.unit());
            let item = self.rendered(name, value, Some(&inner))?;
            let line_break = self.line_break();
            format!("{line_break}{inner}{item}{line_break}{outer}")
        } else {
            self.rendered(name, value, None)?
        };
        self.spliced(container.inside(), &inside)
    }

    fn spliced(&self, place: Range<usize>, by: &str) -> serde_json::Result<JsonText> {
        let mut text = self.text.clone();
        text.replace_range(place, by);
        JsonText::parse(text)
    }

    /// Formats a value or a member in the style of this text: with line breaks if the text has
    /// them.
    fn rendered(
        &self,
        name: Option<&str>,
        value: &impl Serialize,
        indentation: Option<&str>,
    ) -> serde_json::Result<String> {
        let name = name.map(serde_json::to_string).transpose()?;
        let Some(indentation) = indentation else {
            let value = serde_json::to_string(value)?;
            return Ok(name.map_or(value.clone(), |name| format!("{name}:{value}")));
        };
        let mut written = Vec::new();
        let formatter = PrettyFormatter::with_indent(self.unit().as_bytes());
        value.serialize(&mut Serializer::with_formatter(&mut written, formatter))?;
        let value = String::from_utf8(written).map_err(serde_json::Error::custom)?;
        // A JSON string holds no raw line break, so these are all between tokens.
        let value = value.replace('\n', &format!("{}{indentation}", self.line_break()));
        Ok(name.map_or(value.clone(), |name| format!("{name}: {value}")))
    }

    /// Whether the text has line breaks between members. An empty object counts as one that has.
    fn has_lines(&self) -> bool {
        self.root.children.is_empty() || self.first_space().contains('\n')
    }

    fn line_break(&self) -> &'static str {
        if self.text.contains("\r\n") { "\r\n" } else { "\n" }
    }

    fn unit(&self) -> &str {
        let space = self.first_space();
        space.rsplit_once('\n').map_or("  ", |(_, indentation)| indentation)
    }

    /// The white space between the first bracket and the first member.
    fn first_space(&self) -> &str {
        let first = self.root.children.first();
        first.map_or("", |first| &self.text[self.root.value.start + 1..first.start])
    }

    fn indentation_of_line(&self, at: usize) -> &str {
        let before = &self.text[..at];
        let line = before.rsplit_once('\n').map_or(before, |(_, line)| line);
        let line = line.trim_start_matches(BYTE_ORDER_MARK);
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn text(of: &str) -> JsonText {
        JsonText::parse(of.to_owned()).unwrap()
    }

    #[test]
    fn what_is_added_looks_like_the_rest() {
        let check = |before: &str, after: &str| {
            let json = text(before);
            let added = json.added(&json.root, Some("b"), &json!({"c": [1]})).unwrap();
            assert_eq!(added.text, after);
            let (place, _) = added.root.member("b").unwrap();
            if !json.root.children.is_empty() {
                assert_eq!(added.removed(&added.root, place).unwrap().text, before);
            }
        };
        check("{}", "{\n  \"b\": {\n    \"c\": [\n      1\n    ]\n  }\n}");
        check(r#"{"a":1}"#, r#"{"a":1,"b":{"c":[1]}}"#);
        check(r#"{ "a":1 , "d":2 }"#, r#"{ "a":1 , "d":2, "b":{"c":[1]} }"#);
        check(
            "{\r\n\t\"a\": 1\r\n}\r\n",
            "{\r\n\t\"a\": 1,\r\n\t\"b\": {\r\n\t\t\"c\": [\r\n\t\t\t1\r\n\t\t]\r\n\t}\r\n}\r\n",
        );
        check(
            "\u{feff}{\n \"a\":1}",
            "\u{feff}{\n \"a\":1,\n \"b\": {\n  \"c\": [\n   1\n  ]\n }}",
        );
    }

    #[test]
    fn an_empty_place_is_filled_with_its_own_indentation() {
        let json = text("{\n    \"a\": {},\n    \"z\": []\n}");
        let (_, node) = json.root.member("a").unwrap();
        let filled = json.added(node, Some("b"), &1).unwrap();
        assert_eq!(filled.text, "{\n    \"a\": {\n        \"b\": 1\n    },\n    \"z\": []\n}");
        let json = text(r#"{"a":[ ]}"#);
        let (_, node) = json.root.member("a").unwrap();
        assert_eq!(json.added(node, None, &true).unwrap().text, r#"{"a":[true]}"#);
    }

    #[test]
    fn of_two_members_with_one_name_the_last_counts() {
        let json = text(r#"{"a":1,"b":2,"\u0061":{"x":"\"}"}}"#);
        let (place, node) = json.root.member("a").unwrap();
        assert_eq!((place, json.read::<Value>(node)), (2, Some(json!({"x": "\"}"}))));
        assert_eq!(
            json.root.members().map(|(_, member)| &member.name).collect::<Vec<_>>(),
            ["b", "a"]
        );
    }

    #[test]
    fn what_is_no_json_is_refused_with_its_place() {
        for wrong in
            ["", "{", "{\"a\":1,}", "// c\n{}", "{}{}", "{\"a\":\"\n\"}", &"[".repeat(9_999)]
        {
            assert!(JsonText::parse(wrong.to_owned()).is_err(), "{wrong:?}");
        }
        let error = JsonText::parse("{\n \"a\": 1\n \"b\"}".to_owned()).unwrap_err();
        assert_eq!((error.line(), error.column()), (3, 2));
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i32>().prop_map(Value::from),
            "[\\PC\"\\\\{}\\[\\],:\n]{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::btree_map("[a-c{\"]{0,3}", inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn adding_to_any_object_and_removing_changes_nothing(
            members in proptest::collection::btree_map("[a-y\"{]{0,4}", any_json(), 1..5),
            value in any_json(),
            is_pretty: bool,
        ) {
            let before = Value::Object(members.into_iter().collect());
            let written = if is_pretty { format!("{before:#}") } else { before.to_string() };
            let json = text(&written);
            let added = json.added(&json.root, Some("~~"), &value).unwrap();
            let mut expected = before.clone();
            expected["~~"] = value;
            prop_assert_eq!(serde_json::from_str::<Value>(&added.text).unwrap(), expected.clone());
            if is_pretty {
                prop_assert_eq!(&added.text, &format!("{expected:#}"));
            }
            let (place, _) = added.root.member("~~").unwrap();
            prop_assert_eq!(added.removed(&added.root, place).unwrap().text, written);
        }
    }
}
