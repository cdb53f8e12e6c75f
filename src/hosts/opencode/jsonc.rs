//! JSON with comments and trailing commas, as people write OpenCode's configuration. Everything else that is not JSON
//! is left for the parser to complain about.

/// Returns the text as plain JSON.
pub(super) fn plain(text: &str) -> String {
    let mut rest = text.trim_start_matches('\u{feff}');
    let mut json = String::with_capacity(rest.len());
    // Where the last comma stands, as long as nothing has come after it.
    let mut comma = None;
    while let Some(c) = rest.chars().next() {
        if let Some(comment) = rest.strip_prefix("//") {
            rest = comment.find('\n').map_or("", |end| &comment[end..]);
            continue;
        }
        if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/").map_or("", |(_, after)| after);
            json.push(' ');
            continue;
        }
        let n = if c == '"' { string_length(rest) } else { c.len_utf8() };
        match c {
            ',' => comma = Some(json.len()),
            '}' | ']' => {
                if let Some(at) = comma.take() {
                    json.replace_range(at..=at, " ");
                }
            }
            c if c.is_whitespace() => {}
            _ => comma = None,
        }
        json.push_str(&rest[..n]);
        rest = &rest[n..];
    }
    json
}

/// How long the string is with which a text begins, quotes included.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !is_escaped => return at + 1,
            _ => is_escaped = c == '\\' && !is_escaped,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    #[track_caller]
    fn check(text: &str, expected: Option<Value>) {
        assert_eq!(serde_json::from_str(&plain(text)).ok(), expected, "{text}");
    }

    #[test]
    fn comments_and_trailing_commas_are_let_through() {
        check("{\"a\": [1, 2,], // two\n}", Some(json!({"a": [1, 2]})));
        check("/* head */ {\"a\": 1 /* one */, /* last */ }", Some(json!({"a": 1})));
        check("[1, // one\n // nothing\n]", Some(json!([1])));
        check("\u{feff}{}", Some(json!({})));
        check("{\"ä\": \"ö\"} // ü", Some(json!({"ä": "ö"})));
    }

    #[test]
    fn what_stands_in_strings_stays() {
        check(r#"["http://x/*", "a,]", "\"// no", "\\", 1,]"#, {
            Some(json!(["http://x/*", "a,]", "\"// no", "\\", 1]))
        });
    }

    #[test]
    fn what_is_broken_stays_broken() {
        for broken in ["{\"a\" 1}", "[1 2]", "{a: 1}", "[1,,2]", "\"open", "[1] /* open", "/", ""] {
            let is_json = serde_json::from_str::<Value>(&plain(broken)).is_ok();
            assert_eq!(is_json, broken == "[1] /* open", "{broken}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_survived_and_json_stays_as_it_is(text in ".*", number in any::<i32>()) {
            plain(&text);
            let value = json!({ text: [number, "a // b /* c */ ,]"] });
            let json = serde_json::to_string_pretty(&value).unwrap();
            prop_assert_eq!(plain(&json), json);
        }
    }
}
