//! Classes of characters that can mislead a reader: invisible characters, line breaks and direction controls. All
//! modules of `text` share these tables.

/// Whether a character changes the direction of the following text: embeddings, overrides, isolates.
pub(super) fn turns_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a character is an invisible direction mark. Right-to-left text needs these marks; a terminal does not.
pub(super) fn is_direction_mark(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}')
}

/// Whether Unicode defines the character as a line or paragraph separator. Few programs treat it as one.
pub(super) fn is_line_separator(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}')
}

/// Whether a character is invisible and has no width.
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

/// Whether a character is, or can be, displayed as an emoji.
pub(super) fn is_emoji(c: char) -> bool {
    matches!(c,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{24c2}' | '\u{25a0}'..='\u{27bf}'
        | '\u{2934}' | '\u{2935}' | '\u{2b00}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}'
        | '\u{1f000}'..='\u{1faff}')
}

/// Whether a character is an emoji or the emoji selector. Skin tones are emoji.
pub(super) fn is_emoji_part(c: char) -> bool {
    is_emoji(c) || c == '\u{fe0f}'
}

/// Whether a character belongs to a script with joined letters: Arabic and related scripts, the Indic scripts and
/// their relatives.
pub(super) fn is_joining(c: char) -> bool {
    matches!(c, '\u{600}'..='\u{8ff}' | '\u{900}'..='\u{dff}' | '\u{f00}'..='\u{109f}' | '\u{1780}'..='\u{18aa}'
        | '\u{1900}'..='\u{1cff}' | '\u{a800}'..='\u{abff}' | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}'
        | '\u{11000}'..='\u{11fff}')
        && !is_invisible(c)
}

pub(super) fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

pub(super) fn is_mathematical(c: char) -> bool {
    matches!(c, '\u{2200}'..='\u{22ff}' | '\u{2a00}'..='\u{2aff}')
}
