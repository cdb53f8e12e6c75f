//! How `cl100k_base` cuts a text into pieces before it looks for tokens in each.
//!
//! ```text
//! '(?i:[sdmt]|ll|ve|re)
//! [^\r\n\p{L}\p{N}]?+\p{L}++
//! \p{N}{1,3}+
//!  ?[^\s\p{L}\p{N}]++[\r\n]*+
//! \s++$
//! \s*[\r\n]
//! \s+(?!\S)
//! \s
//! ```
//!
//! The first of these that matches makes the piece.

use super::scan::{LEAD, LETTERS, Scan, WHITE};

/// Returns where the piece that begins at `place` ends.
pub(super) fn end_of_piece(scan: Scan<'_>, place: usize) -> usize {
    let word = || {
        let (class, width) = scan.at(place);
        let start = if class & LEAD == 0 { place } else { place + width };
        scan.some(start, LETTERS)
    };
    // Changes no count, because no token goes on from a newline to spaces without another newline after them.
    let last_blank = || Some(scan.run(place, WHITE)).filter(|end| *end == scan.0.len());
    scan.contraction(place)
        .or_else(word)
        .or_else(|| scan.numbers(place))
        .or_else(|| scan.symbols(place, b"\r\n"))
        .or_else(last_blank)
        .unwrap_or_else(|| scan.blank(place))
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
        check(&["  ", " a"]);
        check(&["\u{a0}a"]);
        check(&["1", "a"]);
        check(&["[[", "b", "]]"]);
    }

    #[test]
    fn case_cuts_no_word() {
        check(&["camelCase"]);
        check(&["HTTPServer"]);
        check(&["\u{1c5}a\u{1c5}"]);
        check(&["日本ABC"]);
        check(&["שלום", " עולם"]);
    }

    #[test]
    fn marks_are_symbols() {
        check(&["e", "\u{301}a"]);
        check(&["e", "\u{301}\u{301}"]);
        check(&["\u{301}a"]);
        check(&["क", "\u{93f}a"]);
        check(&["1", "\u{301}"]);
        check(&[" \u{301}"]);
    }

    #[test]
    fn a_contraction_is_a_piece() {
        check(&["don", "'t"]);
        check(&["DON", "'T"]);
        check(&["we", "'ll", "x"]);
        check(&["they", "'re"]);
        check(&["'ve"]);
        check(&["it", "'ſ"]);
        check(&["'ſ", "a"]);
        check(&["'s", "s"]);
        check(&["''", "s"]);
        check(&["x", "'x"]);
        check(&["x", "'l"]);
        check(&["1", "'d"]);
        check(&["'t", "is"]);
    }

    #[test]
    fn numbers_come_in_threes() {
        check(&["123", "456", "7"]);
        check(&["12", "a"]);
        check(&[" ", "1"]);
        check(&["½²١", "٢"]);
    }

    #[test]
    fn symbols_take_newlines_after_them() {
        check(&[" ==\n", "//"]);
        check(&["==\r\n\r\n"]);
        check(&["//", " //"]);
        check(&["==\n", "/a"]);
        check(&[":\n\n", " b"]);
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
    }

    #[test]
    fn white_space_ends_at_its_last_newline_or_with_the_text() {
        check(&["a", " \n\t\n", "  ", " b"]);
        check(&["a", "\n  "]);
        check(&["a", " \n \n "]);
        check(&["a", "\r\n\r\n", "b"]);
        check(&["   "]);
        check(&["a", "  ", " b"]);
        check(&["a", " ", " ", "1"]);
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
