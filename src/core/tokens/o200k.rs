//! How `o200k_base` cuts a text into pieces before it looks for tokens in each.
//!
//! ```text
//! [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! \p{N}{1,3}
//!  ?[^\s\p{L}\p{N}]+[\r\n/]*
//! \s*[\r\n]+
//! \s+(?!\S)
//! \s+
//! ```
//!
//! The first of these that matches makes the piece, with all the backtracking of a regular expression.

use super::layout::class::{LOWER, MARK, UPPER};
use super::scan::{HEAD, LEAD, Scan, TAIL};

/// Returns where the piece that begins at `place` ends.
pub(super) fn end_of_piece(scan: Scan<'_>, place: usize) -> usize {
    word(scan, place)
        .map(|end| scan.contraction(end).unwrap_or(end))
        .or_else(|| scan.numbers(place))
        .or_else(|| scan.symbols(place, b"\r\n/"))
        .unwrap_or_else(|| scan.blank(place))
}

/// The first two lines of the pattern, without the contraction.
fn word(scan: Scan<'_>, place: usize) -> Option<usize> {
    let (class, width) = scan.at(place);
    // A mark may lead a word too. It can as well be the word's first character: the piece is the same.
    let start = if class & (LEAD & !MARK) != 0 { place + width } else { place };
    // `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*`, where `cased` has failed: the head has nothing but
    // capitals, and no tail follows.
    cased(scan, start).or_else(|| scan.some(start, HEAD))
}

/// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+`
fn cased(scan: Scan<'_>, start: usize) -> Option<usize> {
    let mut place = start;
    // Where the head has to give back to, if no lower-case letter follows it: after its last character that a
    // tail may have too.
    let mut given_back = None;
    loop {
        let (class, width) = scan.at(place);
        if class == LOWER {
            return Some(scan.run(place, TAIL));
        }
        if class & HEAD == 0 {
            return given_back;
        }
        place += width;
        if class != UPPER {
            given_back = Some(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::pieces;
    use super::*;

    #[test]
    fn a_word_takes_the_character_before_it() {
        check(&["Hello", " world"]);
        check(&["(a", ")."]);
        check(&["\ta"]);
        check(&["\n", "a"]);
        check(&["\r\n", "a"]);
        check(&["a", "_b"]);
        check(&[" _", "b"]);
        check(&["  ", " a"]);
        check(&["\u{a0}a"]);
        check(&["1", "a"]);
        check(&["#a"]);
        check(&["[[", "b", "]]"]);
    }

    #[test]
    fn a_capital_begins_a_new_word_after_a_small_letter() {
        check(&["camel", "Case"]);
        check(&["HTTPServer"]);
        check(&["ABC"]);
        check(&["ABCd", "Ef"]);
        check(&[" XMLHttp", "Request"]);
        check(&["\u{1c5}a", "\u{1c5}"]);
        check(&["\u{1c5}\u{1c8}"]);
        check(&["a", "À"]);
        check(&["ßa"]);
    }

    #[test]
    fn letters_without_case_belong_to_both_sides() {
        check(&["日本語"]);
        check(&["日本", "ABC"]);
        check(&["ABC日本"]);
        check(&["a日", "B"]);
        check(&["A日B日", "C"]);
        check(&["ªº"]);
        check(&["שלום", " עולם"]);
        check(&["क\u{93f}a"]);
    }

    #[test]
    fn marks_lead_words_and_are_part_of_them() {
        check(&["e\u{301}a"]);
        check(&["E\u{301}", "A"]);
        check(&["\u{301}a"]);
        check(&["\u{301}\u{301}a"]);
        check(&["\u{301}", "A"]);
        check(&["\u{301}"]);
        check(&["\u{301}\u{301}"]);
        check(&[" \u{301}"]);
        check(&["-\u{301}"]);
        check(&["--\u{301}"]);
        check(&["1", "\u{301}"]);
        check(&["a", "=\u{301}\u{301}b"]);
    }

    #[test]
    fn a_contraction_ends_its_word() {
        check(&["don't"]);
        check(&["DON'T"]);
        check(&["we'll", "x"]);
        check(&["we've", " they're"]);
        check(&["I'm", "I'd"]);
        check(&["it'ſ"]);
        check(&["IT'ſ", "a"]);
        check(&["it's", "s"]);
        check(&["x", "'l"]);
        check(&["x", "'x"]);
        check(&["x", "''", "s"]);
        check(&["'s"]);
        check(&["'re's"]);
        check(&["日's"]);
        check(&["1", "'s"]);
        check(&["x'S", "'t"]);
    }

    #[test]
    fn numbers_come_in_threes() {
        check(&["123", "456", "7"]);
        check(&["12", "a"]);
        check(&[" ", "1"]);
        check(&["1", "."]);
        check(&["½²١", "٢"]);
        check(&["a", "1", "b"]);
        check(&["Ⅷ"]);
    }

    #[test]
    fn symbols_take_newlines_and_slashes_after_them() {
        check(&[" ==\n//"]);
        check(&["==\r\n\r\n"]);
        check(&["//", " //"]);
        check(&["==\n", "a"]);
        check(&["==\n/", "*"]);
        check(&["--", "a"]);
        check(&[":\n\n", " b"]);
        check(&["/\n/", "a"]);
        check(&["*/\n", "b"]);
        check(&["  ", " =="]);
    }

    #[test]
    fn emoji_and_controls_are_symbols() {
        check(&["👩\u{200d}👩\u{200d}👧"]);
        check(&["❤\u{fe0f}"]);
        check(&[" 🦀\n"]);
        check(&["\u{0}\u{7}"]);
        check(&["\u{0}\u{7f}", "a"]);
        check(&["\u{200b}a"]);
        check(&["\u{200b}\u{200b}", "a"]);
        check(&["🇩🇪", "x"]);
    }

    #[test]
    fn white_space_ends_at_its_last_newline() {
        check(&["a", " \n\t\n", "  ", " b"]);
        check(&["a", "\n", "  "]);
        check(&["a", "\r\n\r\n", "b"]);
        check(&["   "]);
        check(&["a", "   "]);
        check(&["a", "  ", " b"]);
        check(&["a", " ", "1"]);
        check(&["a", " ", " ", "1"]);
        check(&["\t\t", "\tx"]);
        check(&["\u{85}x"]);
        check(&["\u{2028}\u{2028}\n"]);
        check(&["\u{85}", "\u{85}x"]);
        check(&["\u{3000}日"]);
        check(&["\u{a0}", "\u{a0}", "="]);
    }

    /// The text is its pieces together, which must be cut where they were.
    #[track_caller]
    fn check(expect: &[&str]) {
        let text = expect.concat();
        let found: Vec<&str> = pieces(&text, end_of_piece).collect();
        assert_eq!(found, expect);
    }
}
