//! Removes invisible characters: controls, direction marks, and joiners and selectors without an effect. Visible
//! characters stay, including private and unassigned ones.

use crate::core::text::characters::{
    is_emoji, is_emoji_part, is_han, is_invisible, is_joining, is_mathematical,
};

const ZWNJ: char = '\u{200c}';
const ZWJ: char = '\u{200d}';

/// The visible text, with the joiners and selectors that it needs. Yields pieces: words of visible ASCII with single
/// blanks between them, or one other character.
pub(super) struct Cleaned<'t> {
    rest: &'t str,
    /// The last character that was kept.
    before: Option<char>,
}

impl<'t> Cleaned<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { rest: text, before: None }
    }

    /// The number of bytes that are left.
    pub(super) fn rest(&self) -> usize {
        self.rest.len()
    }

    /// Whether an invisible character affects its neighbours.
    fn is_needed(&self, c: char) -> bool {
        let (Some(before), after) = (self.before, self.rest.chars().next()) else { return false };
        let between = |test: fn(char) -> bool| test(before) && after.is_some_and(test);
        match c {
            // 👩‍💻 is two emoji and a joiner. A selector or a skin tone can precede the joiner, but not follow it.
            ZWJ if is_emoji_part(before) && after.is_some_and(is_emoji) => true,
            // In these scripts, a joiner changes the shape of the letters and the meaning of the word. No other
            // script needs one, and in Latin text it only hides content.
            ZWJ | ZWNJ => between(is_joining),
            // 1️⃣ is a digit, a selector and a frame.
            '\u{fe0f}' if matches!(before, '0'..='9' | '#' | '*') => after == Some('\u{20e3}'),
            '\u{fe0e}' | '\u{fe0f}' => is_emoji(before),
            '\u{fe00}'..='\u{fe02}' => is_han(before) || is_mathematical(before),
            '\u{e0100}'..='\u{e01ef}' => is_han(before),
            '\u{180b}'..='\u{180d}' | '\u{180f}' => matches!(before, '\u{1820}'..='\u{18aa}'),
            _ => false,
        }
    }
}

impl<'t> Iterator for Cleaned<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        loop {
            let plain = plain_words(self.rest.as_bytes());
            let first = self.rest[plain..].chars().next();
            let length = if plain > 0 { plain } else { first?.len_utf8() };
            let (piece, rest) = self.rest.split_at(length);
            self.rest = rest;
            let last = piece.chars().next_back()?;
            if plain > 0 || !is_invisible(last) || self.is_needed(last) {
                self.before = Some(last);
                return Some(piece);
            }
        }
    }
}

/// The length of the words of visible ASCII with which a text begins, with single blanks between them.
fn plain_words(text: &[u8]) -> usize {
    let mut end = 0;
    loop {
        end += text[end..].iter().take_while(|byte| byte.is_ascii_graphic()).count();
        match text[end..] {
            [b' ', after, ..] if end > 0 && after.is_ascii_graphic() => end += 1,
            _ => return end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pieces_are_all_characters_that_are_kept(text in "[a-c \n1é😀\u{200d}\u{fe0f}\u{20e3}\u{200b}]{0,30}") {
            let mut kept = String::new();
            for (at, c) in text.char_indices() {
                let rest = &text[at + c.len_utf8()..];
                let here = Cleaned { rest, before: kept.chars().next_back() };
                kept.extend((!is_invisible(c) || here.is_needed(c)).then_some(c));
            }
            prop_assert_eq!(Cleaned::new(&text).collect::<String>(), kept);
        }
    }
}
