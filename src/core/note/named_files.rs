//! The files of code that a note names: whoever works on such a file may need the note. Files of notes are references.

use crate::core::note::file_name::file_names;
use crate::core::note::reference::Key;
use crate::core::note::without_extension;
use crate::core::quote::lines::BodyLine;

/// A note that has more names is a list of files.
const MOST_NAMES: usize = 64;
/// A shorter word is no identifier that tells files apart.
pub const LEAST_STEM_LETTERS: usize = 4;
const LONGEST_EXTENSION_BYTES: usize = 10;

/// The keys of the names in a note, in order: of files with an extension, of their paths as far as they are written,
/// and of identifiers, which may be the stem of a file.
pub fn named_files(lines: &[BodyLine<'_>]) -> Vec<Key> {
    let mut keys = Vec::new();
    let mut add = |name: &str| {
        if keys.len() < MOST_NAMES {
            keys.extend(Key::of(name).filter(|key| !keys.contains(key)));
        }
    };
    for line in lines.iter().filter(|line| !line.is_code).map(|line| line.beginning()) {
        for word in file_names(line) {
            match word.rsplit_once('/') {
                Some((_, base)) if is_file_of_code(base) => {
                    add(word);
                    add(base);
                }
                None if is_file_of_code(word) || is_snake_case(word) => add(word),
                _ => {}
            }
        }
        camel_case_words(line).for_each(&mut add);
    }
    keys.sort_unstable();
    keys
}

/// Whether the name of a file has an extension, and not one of notes.
fn is_file_of_code(base: &str) -> bool {
    base.rsplit_once('.').is_some_and(|(stem, extension)| {
        stem.contains(char::is_alphabetic)
            && extension.len() <= LONGEST_EXTENSION_BYTES
            && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && extension.contains(|c: char| c.is_ascii_alphabetic())
            && without_extension(base) == base
    })
}

fn is_snake_case(word: &str) -> bool {
    word.contains('_') && !word.contains('.') && has_enough_letters(word)
}

/// Words such as `LocalIndex`. Most lines have none, and are skipped as bytes.
fn camel_case_words(line: &str) -> impl Iterator<Item = &str> {
    let bytes = line.as_bytes();
    let is_hump = |pair: &[u8]| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase();
    let is_outside = |byte: &u8| !byte.is_ascii_alphanumeric();
    let mut from = 0;
    let words = std::iter::from_fn(move || {
        let hump = from + bytes[from..].windows(2).position(is_hump)?;
        let start = bytes[..hump].iter().rposition(is_outside).map_or(0, |at| at + 1);
        from = bytes[hump..].iter().position(is_outside).map_or(bytes.len(), |end| hump + end);
        Some(&line[start..from])
    });
    words.filter(|word| has_enough_letters(word))
}

fn has_enough_letters(word: &str) -> bool {
    word.chars().filter(|c| c.is_alphabetic()).count() >= LEAST_STEM_LETTERS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::quote::lines::body_lines;

    #[test]
    fn names_of_files_and_identifiers_are_told_from_other_words() {
        let cases: &[(&str, &[&str])] = &[
            ("See `src/app/hook.rs`.", &["src/app/hook.rs", "hook.rs"]),
            ("(hook.rs, then __init__.py)", &["hook.rs", "__init__.py"]),
            ("By local_index and `LocalIndex`, not by Index.", &["local_index", "LocalIndex"]),
            ("Version 1.2.3 of 2026-05-05, see docs/guide.md and src/app.", &[]),
            ("```\ncargo run src/main.rs\n```", &[]),
            ("An a_b is too short, and a well-known word is none.", &[]),
        ];
        for (text, expect) in cases {
            let mut expect: Vec<Key> = expect.iter().filter_map(|name| Key::of(name)).collect();
            expect.sort_unstable();
            expect.dedup();
            assert_eq!(named_files(&body_lines(text)), expect, "{text}");
        }
    }

    #[test]
    fn a_list_of_files_is_cut() {
        let text: String = (0..200).map(|n| format!("- part{n}.rs\n")).collect();
        assert_eq!(named_files(&body_lines(&text)).len(), MOST_NAMES);
    }
}
