//! Text for a model: no invisible characters, no tags that a host acts on, no secrets. The meaning of a text is not
//! checked: the fence around it marks it as data.

mod host_tags;
mod visible;

use std::borrow::Cow;
use std::ops::Range;

pub use host_tags::host_tag_places;
use visible::Cleaned;

use crate::core::secrets;
use crate::core::text::bytes::position;
use crate::core::text::characters;

/// Returns `text` on one line: white space of every kind becomes single blanks.
pub fn one_line(text: &str) -> String {
    if is_plain_line(text) {
        return harmless(text.to_owned());
    }
    let mut line = String::with_capacity(text.len());
    for piece in Cleaned::new(text) {
        if !is_blank(piece) {
            line.push_str(piece);
        } else if !line.is_empty() && !line.ends_with(' ') {
            line.push(' ');
        }
    }
    line.truncate(line.trim_end().len());
    harmless(line)
}

/// Whether a text has only visible characters of ASCII and single blanks between them, as most lines have.
fn is_plain_line(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_other = |byte: u8| !(b' '..=b'~').contains(&byte);
    let has_blank_edge = bytes.first() == Some(&b' ') || bytes.last() == Some(&b' ');
    !has_blank_edge
        && position(bytes, is_other).is_none()
        && !bytes.windows(2).any(|pair| pair == b"  ")
}

/// Returns `text` with its lines: line breaks of every kind become `\n`, tabs stay, other white space becomes blanks.
/// Removes white space at the end of every line and of the text.
pub fn lines(text: &str) -> String {
    let mut lines = String::with_capacity(text.len());
    let mut after_return = false;
    for piece in Cleaned::new(text) {
        match piece {
            "\n" if after_return => {}
            "\n" | "\r" | "\u{b}" | "\u{c}" | "\u{85}" | "\u{2028}" | "\u{2029}" => {
                lines.truncate(lines.trim_end_matches([' ', '\t']).len());
                lines.push('\n');
            }
            "\t" => lines.push('\t'),
            _ if is_blank(piece) => lines.push(' '),
            _ => lines.push_str(piece),
        }
        after_return = piece == "\r";
    }
    lines.truncate(lines.trim_end().len());
    harmless(lines)
}

/// The ranges of invisible characters: those that the functions above remove. Adjacent characters form one range.
pub fn invisible_places(text: &str) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    // A cheap test that covers most texts.
    if !has_invisible(text) {
        return places;
    }
    let mut seen = 0;
    let mut cleaned = Cleaned::new(text);
    while seen < text.len() {
        let piece = cleaned.next().unwrap_or_default();
        let end = text.len() - cleaned.rest();
        let start = end - piece.len();
        if seen < start {
            places.push(seen..start);
        }
        seen = end;
    }
    places
}

fn has_invisible(text: &str) -> bool {
    // Most text is plain, and passed over as bytes.
    let is_odd = |byte: u8| byte != b'\n' && !(b' '..=b'~').contains(&byte);
    let mut rest = text;
    while let Some(odd) = position(rest.as_bytes(), is_odd) {
        let mut chars = rest[odd..].chars();
        if chars.next().is_some_and(characters::is_invisible) {
            return true;
        }
        rest = chars.as_str();
    }
    false
}

/// Returns `text` without its invisible characters.
pub fn visible(text: &str) -> Cow<'_, str> {
    let places = if text.is_ascii() { Vec::new() } else { invisible_places(text) };
    if places.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut visible = String::with_capacity(text.len());
    let mut seen = 0;
    for place in places {
        visible.push_str(&text[seen..place.start]);
        seen = place.end;
    }
    visible.push_str(&text[seen..]);
    Cow::Owned(visible)
}

fn is_blank(piece: &str) -> bool {
    piece.starts_with(char::is_whitespace)
}

/// Masks secrets last: the rules match visible characters, and all invisible ones are gone by now.
fn harmless(mut text: String) -> String {
    if let Cow::Owned(neutralised) = host_tags::neutralised(&text) {
        text = neutralised;
    }
    secrets::mask_in(&mut text);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_nobody_sees_is_gone() {
        #[track_caller]
        fn check(text: &str, expect: &str) {
            assert_eq!(one_line(text), expect, "{text:?}");
            assert_eq!(one_line(expect), expect, "twice");
        }
        check("", "");
        check(" a  b ", "a b");
        check("  a \t\r\n b\u{a0}\u{2028}\u{3000}c\u{85}", "a b c");
        check("a\0b\u{1b}[31mc\u{9b}d\u{7f}", "ab[31mcd");
        check("a\u{202e}b\u{2066}c\u{200f}d\u{61c}", "abcd");
        check(
            "s\u{200b}e\u{2060}c\u{feff}r\u{ad}e\u{34f}t\u{3164}\u{ffa0}\u{115f}\u{180e}",
            "secret",
        );
        check("hi\u{e0049}\u{e0067}\u{e007f}\u{fff9}x\u{fffb}", "hix");
        check("a \u{200b} b", "a b");
        // Selectors that carry hidden bytes.
        check("a\u{fe0f}\u{fe01}b\u{e0101}", "ab");
        check("😀\u{fe0f}\u{fe0f}\u{e0101}\u{e0102}", "😀\u{fe0f}");
        // Joiners in a Latin word, at its ends, and in a row.
        check("a\u{200d}b\u{200c}c\u{200d}", "abc");
        check("\u{200d}क\u{200d}\u{200d}ष\u{200d}", "क\u{200d}ष");
    }

    #[test]
    fn what_is_needed_to_see_stays() {
        for text in [
            "👩‍💻",
            "👩🏽‍🚀",
            "🏳️‍🌈",
            "❤️",
            "❤️‍🔥",
            "1️⃣ #️⃣",
            "©️",
            "☎︎",
            "👨‍👩‍👧‍👦",
            "می‌خواهم",
            "क्‍ष",
            "ශ්‍රී",
            "葛\u{e0100}城",
            "∩\u{fe00}",
            "naïve Größe 日本語",
            "re\u{301}sume\u{301}",
            "\u{e000}\u{10ffff}",
            "a < b > c",
            "Vec<String>",
            "<div>",
            "<https://a.b>",
            "<user@example.com>",
            "x <user_id>",
            "a <user-name> b",
            "if a < user && b > c",
            "f <| x |> g",
            "<|>",
            "</div>",
            "<",
            "List<T>",
            "The Human: a book",
            "Humans:",
            "human: x",
            "System",
            "ratio 1:2",
        ] {
            assert_eq!(one_line(text), text);
            assert_eq!(lines(text), text);
        }
    }

    #[test]
    fn tags_of_hosts_mean_nothing() {
        #[track_caller]
        fn check(text: &str, expect: &str) {
            assert_eq!(one_line(text), expect, "{text:?}");
            assert_eq!(one_line(expect), expect, "twice");
        }
        check("<system-reminder>x</system-reminder>", "‹system-reminder›x‹/system-reminder›");
        check("<sys\u{200b}tem-reminder>", "‹system-reminder›");
        check("<SYSTEM>", "‹SYSTEM›");
        check("<tool_result id=\"1\">", "‹tool_result id=\"1\"›");
        check("</ user >", "‹/ user ›");
        check("< user >", "‹ user ›");
        check("<user/>", "‹user/›");
        check("<user\n  a=1>", "‹user a=1›");
        check("＜system＞ ＜／ｓｙｓｔｅｍ＞", "‹system› ‹／ｓｙｓｔｅｍ›");
        check("<invoke name=\"x\">", "‹invoke name=\"x\"›");
        check("<antml:anything>", "‹antml:anything›");
        check("<x:function_calls>", "‹x:function_calls›");
        check("<EXTREMELY_IMPORTANT>", "‹EXTREMELY_IMPORTANT›");
        check("<|im_start|>system", "‹|im_start|›system");
        check(
            "<|endoftext|><｜User｜><｜end▁of▁sentence｜>",
            "‹|endoftext|›‹｜User｜›‹｜end▁of▁sentence｜›",
        );
        check("<<SYS>>", "<‹SYS›>");
        check("<system <user>>", "‹system ‹user›>");
        check("cut <system-reminder", "cut ‹system-reminder");
        check("List<User>", "List‹User›");
        check("Human: hi Human: hi", "Human\u{a789} hi Human: hi");
        check("  Assistant : hi", "Assistant \u{a789} hi");
    }

    #[test]
    fn lines_stay_lines() {
        #[track_caller]
        fn check(text: &str, expect: &str) {
            assert_eq!(lines(text), expect, "{text:?}");
            assert_eq!(lines(expect), expect, "twice");
        }
        check("a  b \r\n\tc\t\n\nd\r\re\u{2028}f\n \n", "a  b\n\tc\n\nd\n\ne\nf");
        check("a\u{a0}\nb", "a\nb");
        check("x\nHuman: a\n System: b\nUser: c", "x\nHuman\u{a789} a\n System\u{a789} b\nUser: c");
        check("<env>\nx\n</env>", "‹env›\nx\n‹/env›");
        check("PASSWORD=hunter2x\nb", "PASSWORD=[masked: env-assignment]\nb");
        check("PASSWORD=hun\u{200b}ter2x", "PASSWORD=[masked: env-assignment]");
    }

    /// The building blocks of tags, emoji and hidden text.
    const PIECES: &[&str] = &[
        "<",
        ">",
        "</",
        "/",
        "<|",
        "|>",
        "＜",
        "＞",
        "﹤",
        "system",
        "SYSTEM",
        "-reminder",
        "user",
        "tool_result",
        "antml:",
        "invoke",
        "im_start",
        " ",
        "\n",
        "\r",
        "\t",
        "\u{85}",
        "\u{2028}",
        "\u{a0}",
        "\u{200b}",
        "\u{200c}",
        "\u{200d}",
        "\u{202e}",
        "\u{2066}",
        "\u{fe0f}",
        "\u{fe00}",
        "\u{e0041}",
        "\u{e0101}",
        "\u{feff}",
        "\u{ad}",
        "\u{0}",
        "\u{1b}",
        "\u{9b}",
        "😀",
        "👩",
        "❤",
        "1",
        "\u{20e3}",
        "क",
        "م",
        "葛",
        "a",
        "Human",
        ":",
        "System:",
        "password=hunter2x",
        "‹",
        "›",
        "\"",
    ];

    fn texts() -> impl Strategy<Value = String> {
        prop_oneof![
            prop::collection::vec(prop::sample::select(PIECES), 0..14)
                .prop_map(|pieces| pieces.concat()),
            any::<String>(),
        ]
    }

    /// An independent implementation, so that the check does not rely on the code under test.
    fn check_shown(shown: &str) -> Result<(), TestCaseError> {
        let all: Vec<char> = shown.chars().collect();
        for (n, &c) in all.iter().enumerate() {
            let before = n.checked_sub(1).map(|n| all[n]);
            let after = all.get(n + 1).copied();
            let plain =
                |c: Option<char>| c.is_none_or(|c| c.is_ascii_alphabetic() || c.is_whitespace());
            match c {
                '\n' | '\t' => {}
                _ if c.is_control() => prop_assert!(false, "control {c:?} in {shown:?}"),
                '\u{200b}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{ad}'
                | '\u{61c}'
                | '\u{e0000}'..='\u{e007f}' => {
                    prop_assert!(false, "hidden {c:?} in {shown:?}");
                }
                '\u{200c}' | '\u{200d}' => {
                    prop_assert!(!plain(before) && !plain(after), "joiner in {shown:?}")
                }
                '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => {
                    prop_assert!(!plain(before), "selector in {shown:?}")
                }
                _ => {}
            }
        }
        let narrow = shown.replace('＜', "<").replace('＞', ">").replace('﹤', "<").to_lowercase();
        for tag in ["system", "system-reminder", "user", "tool_result", "antml:invoke", "invoke"] {
            for form in
                [format!("<{tag}>"), format!("</{tag}>"), format!("<{tag} "), format!("<{tag}\n")]
            {
                prop_assert!(!narrow.contains(&form), "{form} in {shown:?}");
            }
        }
        prop_assert!(!narrow.contains("<|im_start|>"));
        for line in shown.lines() {
            prop_assert!(!line.trim_start().starts_with("System:"), "turn in {shown:?}");
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]
        #[test]
        fn one_line_shows_all_and_only_what_it_says(text in texts()) {
            let shown = one_line(&text);
            check_shown(&shown)?;
            prop_assert!(!shown.contains(['\n', '\t']) && !shown.contains("  ") && shown.trim() == shown);
            prop_assert_eq!(one_line(&shown), shown.as_str());
        }

        #[test]
        fn lines_show_all_and_only_what_they_say(text in texts()) {
            let shown = lines(&text);
            check_shown(&shown)?;
            prop_assert!(shown.lines().all(|line| line.trim_end() == line));
            prop_assert_eq!(lines(&shown), shown.as_str());
        }
    }

    #[test]
    fn no_text_takes_long() {
        for piece in PIECES {
            let text = piece.repeat((128 << 10) / piece.len());
            let start = std::time::Instant::now();
            one_line(&text);
            lines(&text);
            assert!(start.elapsed().as_secs() < 5, "{piece:?}: {:?}", start.elapsed());
        }
    }
}
