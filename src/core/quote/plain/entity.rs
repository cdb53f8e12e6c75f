//! Characters that are written by their names or numbers, as in HTML: `&uuml;`, `&#252;`, `&#xfc;`.

use crate::core::text::words::words;

const LONGEST_BYTES: usize = 10;
/// From U+00A0 on, one after the other.
static LATIN_1: [&str; 96] = words(
    "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro \
     para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil \
     Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave \
     Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml \
     igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute \
     thorn yuml",
);
const FIRST_OF_LATIN_1: u32 = 0xa0;
/// In the order of [`CHARACTERS`].
static NAMES: [&str; 40] = words(
    "amp lt gt quot apos ndash mdash hellip lsquo rsquo sbquo ldquo rdquo bdquo lsaquo rsaquo bull euro trade larr uarr \
     rarr darr harr rArr hArr ne le ge minus infin asymp check ensp emsp thinsp OElig oelig Scaron scaron",
);
const CHARACTERS: &str = "&<>\"'–—…‘’‚“”„‹›•€™←↑→↓↔⇒⇔≠≤≥−∞≈✓\u{2002}\u{2003}\u{2009}ŒœŠš";

/// The character with whose name a text begins, and the length of the name in bytes.
pub(super) fn at_start_of(text: &str) -> Option<(char, usize)> {
    let near = text.as_bytes().get(1..)?;
    let end = near.iter().take(LONGEST_BYTES).position(|&byte| byte == b';')?;
    let name = text.get(1..1 + end)?;
    let c = match name.strip_prefix('#') {
        Some(number) => {
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)?
        }
        None => named(name)?,
    };
    Some((c, end + 2))
}

fn named(name: &str) -> Option<char> {
    let place = |names: &[&str]| names.iter().position(|other| *other == name);
    match place(&LATIN_1) {
        Some(at) => char::from_u32(FIRST_OF_LATIN_1 + at as u32),
        None => CHARACTERS.chars().nth(place(&NAMES)?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_told_by_names_and_numbers() {
        for (text, expect) in [
            ("&uuml;ber", 'ü'),
            ("&nbsp;", '\u{a0}'),
            ("&yuml;", 'ÿ'),
            ("&amp;", '&'),
            ("&rarr;", '→'),
            ("&scaron;", 'š'),
            ("&#252;", 'ü'),
            ("&#xFC;", 'ü'),
            ("&#128512;", '😀'),
        ] {
            let end = text.find(';').unwrap() + 1;
            assert_eq!(at_start_of(text), Some((expect, end)), "{text}");
        }
        for text in ["&", "&;", "& b;", "&four;", "&#;", "&#xd800;", "&aé;", "&#x110000;", "&uuml"]
        {
            assert_eq!(at_start_of(text), None, "{text}");
        }
        assert_eq!(CHARACTERS.chars().count(), NAMES.len());
    }
}
