//! A concept: the normalised name inside a `[[WikiLink]]`. Knows nothing of markdown or of where links count.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A concept name in maenifold's normal form, never empty.
///
/// The form is maenifold's `NormalizeConcept` to the letter, so that both tools name the same node: trim
/// white space, lower-case, turn spaces, `_` and `/` into `-`, collapse runs of `-`, trim `-`. Everything
/// else (dots, `+`, `#`, `|`, accents, inner tabs and newlines) stays.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Concept(String);

impl Concept {
    /// Normalises `raw`; `None` where nothing is left, as in `[[ / ]]`.
    pub fn parse(raw: &str) -> Option<Concept> {
        if raw.is_ascii() {
            return Concept::parse_ascii(raw.trim());
        }
        let mut name = String::with_capacity(raw.len());
        for c in raw.trim().chars() {
            match c {
                ' ' | '_' | '/' | '-' => {
                    // Leading hyphens are trimmed and runs collapse, so neither is ever written.
                    if !name.is_empty() && !name.ends_with('-') {
                        name.push('-');
                    }
                }
                _ => push_lower_invariant(&mut name, c),
            }
        }
        if name.ends_with('-') {
            name.pop();
        }
        (!name.is_empty()).then_some(Concept(name))
    }

    /// The same for bytes: most names are ASCII, and a full index parses each of its links.
    fn parse_ascii(raw: &str) -> Option<Concept> {
        let mut name: Vec<u8> = Vec::with_capacity(raw.len());
        for byte in raw.bytes() {
            match byte {
                b' ' | b'_' | b'/' | b'-' => {
                    if name.last().is_some_and(|last| *last != b'-') {
                        name.push(b'-');
                    }
                }
                _ => name.push(byte.to_ascii_lowercase()),
            }
        }
        name.pop_if(|last| *last == b'-');
        String::from_utf8(name).ok().filter(|name| !name.is_empty()).map(Concept)
    }

    /// Takes a name that is already in normal form, as the index stores it.
    pub fn from_normal_form(name: String) -> Concept {
        Concept(name)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Lower-cases like .NET's invariant culture: one code point to one code point, and U+0130 to itself.
///
/// `str::to_lowercase` would differ twice: it knows the final sigma, and it turns U+0130 into two characters.
fn push_lower_invariant(name: &mut String, c: char) {
    if c.is_ascii() {
        name.push(c.to_ascii_lowercase());
    } else if c == '\u{130}' {
        name.push(c);
    } else {
        name.extend(c.to_lowercase());
    }
}

impl fmt::Display for Concept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(raw: &str, expect: &str) {
        let found = Concept::parse(raw).map_or(String::new(), |concept| concept.0);
        assert_eq!(found, expect, "normal form of {raw:?}");
    }

    #[test]
    fn bytes_and_characters_have_one_normal_form() {
        for raw in ["", " ", "--", "A b", "a__/b", "\tX Y-", "_a", "C++ #1 \x1f", "\x0b.md"] {
            // A name with a character that is no byte is read character by character.
            let slow = Concept::parse(&format!("{raw}ß")).map_or(String::new(), |name| name.0);
            let fast = Concept::parse(&format!("{raw}s")).map_or(String::new(), |name| name.0);
            assert_eq!(slow.trim_end_matches('ß'), fast.trim_end_matches('s'), "{raw:?}");
        }
        check("a-", "a");
        check(" - ", "");
    }

    #[test]
    fn names_take_maenifolds_normal_form() {
        check("Machine Learning", "machine-learning");
        check("snake_case/and path", "snake-case-and-path");
        check("C++", "c++");
        check(".NET", ".net");
        check("src/Foo.cs", "src-foo.cs");
        check("auth / / token", "auth-token");
        check("--edge--", "edge");
        check("a|b", "a|b");
        check("a#b", "a#b");
        check("Größe", "größe");
        check("日本語のメモ", "日本語のメモ");
        check("emoji ✅ marker", "emoji-✅-marker");
        check("\u{a0} padded \u{3000}", "padded");
    }

    #[test]
    fn inner_white_space_other_than_the_space_stays() {
        check("a\tb", "a\tb");
        check("a\nb", "a\nb");
        check("a\u{a0}b", "a\u{a0}b");
        // The trim comes first: what the hyphens hid is not trimmed again.
        check("-\tx", "\tx");
    }

    #[test]
    fn lower_casing_is_simple_and_invariant() {
        check("ΟΔΟΣ", "οδοσ");
        check("İstanbul", "İstanbul".replace('I', "i").as_str());
        check("STRASSE ẞ", "strasse-ß");
        check("𐐀", "𐐨");
    }

    #[test]
    fn nothing_left_is_no_concept() {
        for raw in ["", " ", " / ", "---", "_", "\t\n"] {
            check(raw, "");
        }
    }

    /// maenifold's five steps, one after the other, as its source has them.
    fn step_by_step(raw: &str) -> String {
        let mut name: String = raw
            .trim()
            .chars()
            .flat_map(|c| if c == '\u{130}' { vec![c] } else { c.to_lowercase().collect() })
            .map(|c| if matches!(c, ' ' | '_' | '/') { '-' } else { c })
            .collect();
        while name.contains("--") {
            name = name.replace("--", "-");
        }
        name.trim_matches('-').to_owned()
    }

    proptest! {
        #[test]
        fn one_pass_equals_the_five_steps(raw in r"[ \-_/a-zA-ZÀ-ſΑ-ω\t\n|#İẞ]{0,24}") {
            check(&raw, &step_by_step(&raw));
        }

        #[test]
        fn a_normal_form_is_read_as_the_five_steps_read_it(raw in any::<String>()) {
            if let Some(concept) = Concept::parse(&raw) {
                let again = step_by_step(concept.as_str());
                prop_assert_eq!(Concept::parse(concept.as_str()).map_or(String::new(), |c| c.0), again);
            }
        }
    }
}
