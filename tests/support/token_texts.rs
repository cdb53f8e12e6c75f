//! Texts of every kind that a tokenizer may trip over, from a seed. Says nothing about what they count.

use crate::support::vault_generator::Random;

/// Makes the text of a seed: of one kind, or of several that meet in the middle of something.
pub(crate) fn text(seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
    let kind = random.below(KINDS.len() + 2);
    if let Some(kind) = KINDS.get(kind) {
        return kind(&mut random);
    }
    let mut text = String::new();
    for _ in 0..2 + random.below(2) {
        let part = KINDS[random.below(KINDS.len())](&mut random);
        let n_chars = random.below(60);
        text.extend(part.chars().take(n_chars));
    }
    text
}

const KINDS: &[fn(&mut Random) -> String] = &[
    by_class,
    any_character,
    |random| of(random, MARKDOWN, 20),
    |random| of(random, CODE, 20),
    |random| of(random, CJK, 24),
    |random| of(random, EMOJI, 16),
    |random| of(random, RIGHT_TO_LEFT, 16),
    base64,
    |random| of(random, JSON, 24),
    |random| of(random, WHITE_SPACE, 16),
    |random| of(random, APOSTROPHES, 24),
    |random| of(random, SPECIAL, 10),
    |random| of(random, PUNCTUATION, 24),
    repeated,
];

/// Some words of a list, one after the other.
fn of(random: &mut Random, words: &[&str], most: usize) -> String {
    (0..1 + random.below(most)).map(|_| random.pick(words)).collect()
}

/// A few of every class that a pattern names, so that every class meets every other.
fn by_class(random: &mut Random) -> String {
    const CLASSES: &[&str] = &[
        "ABZÀÉΩЖ\u{10400}",                                          // Lu
        "ǅǈǋǲᾈ",                                                     // Lt
        "abzßéωжſ\u{10428}",                                         // Ll
        "ʰˇ々ーᵃ\u{ff70}",                                           // Lm
        "ªºא日あ한ก\u{20000}",                                       // Lo
        "\u{300}\u{301}\u{308}\u{93f}\u{20dd}\u{fe0f}\u{e0100}",     // M
        "0129٣५",                                                    // Nd
        "Ⅷ½²①〇\u{1f100}",                                           // Nl, No
        " \t\u{b}\u{c}\u{85}\u{a0}\u{1680}\u{2028}\u{2029}\u{3000}", // white space
        "\r\n",
        "'’/._-<|>`\"#",
        "\0\u{7}\u{1b}\u{7f}\u{ad}\u{200b}\u{200d}\u{feff}\u{e000}\u{fffd}\u{10ffff}", // controls, formats
        "€∑→☃🦀\u{1f3fd}\u{378}", // symbols, unassigned
    ];
    let mut text = String::new();
    while random.below(8) > 0 || text.is_empty() {
        let class = random.pick(CLASSES);
        for _ in 0..=random.below(4) {
            text.extend(class.chars().nth(random.below(class.chars().count())));
        }
    }
    text
}

fn any_character(random: &mut Random) -> String {
    let mut text = String::new();
    for _ in 0..1 + random.below(24) {
        let below = [0x80, 0x250, 0x3000, 0x1_0000, 0x2_0000, 0x11_0000][random.below(6)];
        text.extend(char::from_u32(random.below(below) as u32));
    }
    text
}

fn base64(random: &mut Random) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for _ in 0..1 + random.below(100) {
        text.push(char::from(DIGITS[random.below(DIGITS.len())]));
    }
    text + ["", "=", "=="][random.below(3)]
}

/// Runs around the lengths at which a table, a search or a token ends.
fn repeated(random: &mut Random) -> String {
    const UNITS: &[&str] = &[
        "a", "A", "aB", "e\u{301}", "日", "🦀", " ", "\n", "\r\n", "\t", " \n", "-", "=", "_", "/",
        "//", "'", "'s", "1", "0", "ab", "the", " the", "\u{a0}", "\0", "\u{301}", "ǅ", "אב",
    ];
    const LENGTHS: [usize; 12] = [1, 1, 2, 2, 3, 4, 6, 7, 14, 15, 62, 126];
    let n_parts = 1 + random.below(4);
    (0..n_parts)
        .map(|_| random.pick(UNITS).repeat(LENGTHS[random.below(LENGTHS.len())] + random.below(3)))
        .collect()
}

// The lists keep their lines: one word per line would hide what is in them.

#[rustfmt::skip]
const MARKDOWN: &[&str] = &[
    "# ", "## ", "### Title\n", "\n", "\n\n", "- ", "  - ", "* ", "1. ", "10. ", "> ", "---\n",
    "***", "`", "``", "```rust\n", "```\n", "[[", "]]", "[[Knowledge Graph]]",
    "[link](https://example.org/a?b=c#d)", "![", "](", ")", "|", "| a | b |\n", "|---|---|\n",
    "**bold**", "_it_", "~~", "<br/>", "<!-- ", " -->", "&amp;", "title: ", "tags: [a, b]\n",
    "The ", "tokenizer ", "counts ", "words", " and", " don't ", "it's ", "2026-01-05", " 3.14",
    ", ", ". ", ".\n", "\\", "é", "ü", "–", "…", " “quoted” ", "- [ ] ", "- [x] ", ":\n", "#tag",
    "@name", "$x^2$", "\t",
];

#[rustfmt::skip]
const CODE: &[&str] = &[
    "fn ", "let ", "mut ", "self", ".", "::", "->", " => ", "{", "}", "{\n", "}\n", "(", ")", "()",
    ");\n", "[0]", "<T>", ";", ";\n", "\n", "    ", "\t", "\t\t", "        ", "// ", "//", "///",
    "/* ", " */", "#include <", "# ", "\"", "\\n", "\\\"", "'a", "'", "camelCase", "snake_case",
    "SCREAMING_CASE", "HTTPServer", "XMLHttpRequest", "i32", "u8", "0x1F", "1_000", "3.5e-7", " = ",
    " == ", "!=", " && ", "||", "&mut ", "*ptr", "+=", "++", "return ", "import ", "def ", "class ",
    "function", "=>", "`${", "}`", "</div>", "<a href=\"/", "\">", "$HOME", "/usr/bin/env", "../",
    "./a", "https://", "\r\n", "lambda x: ", "?.", "??",
];

#[rustfmt::skip]
const CJK: &[&str] = &[
    "日本語", "のメモ", "を", "書く", "。", "、", "「", "」", "中文", "测试", "知識", "图谱", "，", "！", "？", "한국어",
    " 문장", "입니다", "ー", "カタカナ", "ｶﾀｶﾅ", "ﾞ", "々", "〇", "一二三", "１２３", "Ａｂｃ", "　", "\n", " ", "a",
    "Go", "2026年", "5月", "ㄅㄆ", "ไทย", "ภาษา", "ที่", "\u{3099}", "か\u{3099}", "\u{20b9f}",
    "ᄀ\u{1161}\u{11a8}",
];

#[rustfmt::skip]
const EMOJI: &[&str] = &[
    "👩\u{200d}👩\u{200d}👧\u{200d}👦", "👨🏽\u{200d}💻", "🏳\u{fe0f}\u{200d}🌈", "❤\u{fe0f}", "✅", "🦀",
    "🇩🇪", "🇯🇵", "1\u{fe0f}\u{20e3}", "#\u{fe0f}\u{20e3}", "👍🏿", "\u{200d}", "\u{fe0f}", "☺",
    "🏴\u{e0067}\u{e0062}\u{e007f}", " ", "\n", "a", "A", "!", "ok", "🤷\u{200d}♀\u{fe0f}", "©", "™",
    "⌘",
];

#[rustfmt::skip]
const RIGHT_TO_LEFT: &[&str] = &[
    "שלום", " עולם", "שָׁלוֹם", "־", "״", "مرحبا", " بالعالم", "العَرَبِيَّة", "،", "؟", "١٢٣",
    "۴۵۶", "\u{200f}", "\u{202b}", "\u{202c}", "\u{2067}", "\u{2069}", "\u{640}", "لا", "فارسی",
    "می\u{200c}خواهم", "اردو", " ", "\n", "abc", "12", "ܫܠܡܐ", "ދިވެހި",
];

#[rustfmt::skip]
const JSON: &[&str] = &[
    "{\"", "\":\"", "\",\"", "\":", "\":{\"", "},{\"", "\"}", "}]", "[", "]", ",", "null", "true",
    "false", "0", "-1", "12345", "1.5e+10", "id", "name", "createdAt", "user_id",
    "2026-01-05T10:00:00Z", "\\u00e9", "\\\\", "\\/", "https:\\/\\/", "a b", "[]", "{}", "[[",
    "\\n", "é",
];

#[rustfmt::skip]
const WHITE_SPACE: &[&str] = &[
    " ", "  ", "   ", "        ", "\t", "\t\t", "\n", "\n\n", "\r\n", "\r", "\n\r", "\u{b}",
    "\u{c}", "\u{85}", "\u{a0}", "\u{1680}", "\u{2003}", "\u{2028}", "\u{2029}", "\u{202f}",
    "\u{3000}", " \n", "\n ", " \t\n", "a", "1", ".", "/", "\u{200b}", "\u{feff}", "B", "é", "'s",
    "==",
];

#[rustfmt::skip]
const APOSTROPHES: &[&str] = &[
    "'", "''", "’", "'s", "'S", "'t", "'T", "'re", "'Re", "'rE", "'RE", "'ve", "'VE", "'m", "'M",
    "'ll", "'LL", "'lL", "'d", "'D", "'ſ", "'ſt", "'l", "'r", "'v", "'e", "'K", "'\u{212a}", "'é",
    "'1", "' ", "\n'", "a", "A", "I", "we", "they", "don", "DON", " ", "日", "1", "ſ", "e\u{301}",
    "s", "t", ".", "-", "/", "'\u{301}", "ª", "ǅ",
];

#[rustfmt::skip]
const SPECIAL: &[&str] = &[
    "<|endoftext|>", "<|endofprompt|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>",
    "<|im_start|>", "<|im_end|>", "<|start|>", "<|end|>", "<|", "|>", "<", ">", "|", "endoftext",
    "user", "assistant", "\n", " ", "<s>", "</s>", "[INST]", "<|reserved_200000|>",
];

#[rustfmt::skip]
const PUNCTUATION: &[&str] = &[
    "/", "//", "///", "\n", "\r\n", "\r", "\n/", "/\n", "\n\n", "==", "=", "-", "--", "---", ".",
    "..", "...", ":", ";", ",", "!", "?", "(", ")", "()", "{", "}", "[", "]", "<", ">", "*", "**",
    "*/", "/*", "\\", "|", "_", "~", "^", "@", "#", "##", "$", "%", "&", "+", "`", "\"", " ", " /",
    " =", "a", "A", "1", "\u{301}", "→", "…", "«", "»", "“", "”",
];
