//! Drops the characters that nobody sees: controls, marks of direction, joiners and selectors out of their place.
//! What is visible stays, private and unassigned characters too.

/// What a reader would see of a text, and the joiners that this needs: piece by piece, where a piece is a run of
/// visible ASCII or one other character.
pub(super) struct Cleaned<'t> {
    rest: &'t str,
    /// What was last let through.
    before: Option<char>,
}

impl<'t> Cleaned<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { rest: text, before: None }
    }

    /// How many bytes are still to come.
    pub(super) fn rest(&self) -> usize {
        self.rest.len()
    }

    /// Whether an invisible character does something for its neighbours.
    fn is_needed(&self, c: char) -> bool {
        let (Some(before), after) = (self.before, self.rest.chars().next()) else { return false };
        let between = |test: fn(char) -> bool| test(before) && after.is_some_and(test);
        match c {
            // 👩‍💻 is two emoji and a joiner. A selector or a skin colour may stand before the joiner, never behind it.
            ZWJ if is_emoji_part(before) && after.is_some_and(is_emoji) => true,
            // The letters of these scripts take other shapes around a joiner, and mean other words. Nothing else
            // needs one, and in Latin it only hides what is written.
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
            let plain = self.rest.bytes().take_while(u8::is_ascii_graphic).count();
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

const ZWNJ: char = '\u{200c}';
const ZWJ: char = '\u{200d}';

/// Whether a character shows nothing and takes no room.
pub(super) fn is_invisible(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control() && !c.is_whitespace();
    }
    matches!(c,
        '\u{80}'..='\u{84}' | '\u{86}'..='\u{9f}'     // C1 controls; U+0085 is a line break
        | '\u{ad}'                                    // soft hyphen
        | '\u{34f}'                                   // combining grapheme joiner
        | '\u{61c}'                                   // Arabic letter mark
        | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' // Hangul fillers
        | '\u{17b4}' | '\u{17b5}'                     // Khmer inherent vowels
        | '\u{180b}'..='\u{180f}'                     // Mongolian selectors and vowel separator
        | '\u{200b}'..='\u{200f}'                     // zero width, joiners, marks of direction
        | '\u{202a}'..='\u{202e}'                     // embeddings and overrides
        | '\u{2060}'..='\u{206f}'                     // word joiner, invisible operators, isolates
        | '\u{fe00}'..='\u{fe0f}'                     // variation selectors
        | '\u{feff}'                                  // byte order mark
        | '\u{fff0}'..='\u{fffb}'                     // interlinear annotation
        | '\u{1bca0}'..='\u{1bca3}'                   // shorthand format controls
        | '\u{1d173}'..='\u{1d17a}'                   // musical format controls
        | '\u{e0000}'..='\u{e0fff}'                   // tags, which spell hidden ASCII, and more selectors
    )
}

/// Whether a character is drawn as a picture, or can be.
fn is_emoji(c: char) -> bool {
    matches!(c,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{24c2}' | '\u{25a0}'..='\u{27bf}'
        | '\u{2934}' | '\u{2935}' | '\u{2b00}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}'
        | '\u{1f000}'..='\u{1faff}')
}

/// The skin colours are among the emoji.
fn is_emoji_part(c: char) -> bool {
    is_emoji(c) || c == '\u{fe0f}'
}

/// Whether a script joins its letters: Arabic and its neighbours, the scripts of India and of what lies behind it.
fn is_joining(c: char) -> bool {
    matches!(c, '\u{600}'..='\u{8ff}' | '\u{900}'..='\u{dff}' | '\u{f00}'..='\u{109f}' | '\u{1780}'..='\u{18aa}'
        | '\u{1900}'..='\u{1cff}' | '\u{a800}'..='\u{abff}' | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}'
        | '\u{11000}'..='\u{11fff}')
        && !is_invisible(c)
}

fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

fn is_mathematical(c: char) -> bool {
    matches!(c, '\u{2200}'..='\u{22ff}' | '\u{2a00}'..='\u{2aff}')
}
