//! What is stripped of a line, what stays, and that no line is too hostile.

use super::*;
use proptest::prelude::*;

#[test]
fn marks_and_targets_are_stripped() {
    #[track_caller]
    fn check(raw: &str, expect: &str) {
        assert_eq!(Plain::of(raw).text, expect, "{raw}");
    }
    check("## A *heading* of `code`", "A heading of code:");
    check("  - [x] **done**: see [the plan](docs/plan.md), now", "[x] done: see the plan, now");
    check("* [ ] open", "[ ] open");
    check("# Why (briefly)", "Why (briefly):");
    check("> 1. quoted [[auth-flow|login]] and [[b c]]", "quoted login and b c");
    check(">quoted at once", "quoted at once");
    check(">= 5 of them", ">= 5 of them");
    check("> > - twice", "twice");
    check("[[login flow|dendron://site/auth.flow#x]] [[auth.flow|v1.2]]", "login flow v1.2");
    check("![alt](pic.png) text ![[embed]] end", "text end");
    check("a <b>bold</b> word <!-- hidden --> after", "a bold word after");
    check("git checkout <branch> <your name>", "git checkout <branch> <your name>");
    check("<kbd>Esc</kbd> <Tabs> <details open> x", "Esc x");
    check("| cell | | *other* |", "cell | other");
    check("| [[a.b\\|label]] | ![p](p.png) | x\\|y | `c` |", "label | x|y | c");
    check("2 < 3 and a[0] = x", "2 < 3 and a[0] = x");
    check("one&nbsp;&bull; two & three&four; R&D", "one • two & three&four; R&D");
    check("&uuml;ber &#8222;f&#252;nf&ldquo; &#10; &shy;Wege", "über „fünf“ Wege");
    check("a*b **c** (`d`)", "a*b c (d)");
    check(&format!("pic {} end", "A1".repeat(200)), "pic end");
    check("[open (never closed", "[open (never closed");
    check("ticket [T-1] stays", "ticket [T-1] stays");
    check("[![b](https://x.y/b.svg)](https://x.y) [ ![c](c.png) ](d) text", "text");
    check("[![b](b.svg) open", "[ open");
}

#[track_caller]
fn check(raw: &str, expect: &str) {
    assert_eq!(Plain::of(raw).text, expect, "{raw}");
}

#[test]
fn code_stays_as_it_is() {
    let line = "  curl -fsSL https://a.b/install.sh | sh   # *all* of it: $HOME/__init__.py";
    let code = "curl -fsSL https://a.b/install.sh | sh # *all* of it: $HOME/__init__.py";
    let long = "A1".repeat(200);
    assert_eq!(Plain::of_code(line).text, code);
    assert_eq!(Plain::of_code(&format!("data {long} end")).text, "data end");
}

#[test]
fn attributes_are_stripped() {
    check("## Quick start {#quick-start}", "Quick start:");
    check("### Setup {: .lead id=\"x\" }", "Setup:");
    check("- ## Heading of a block", "Heading of a block:");
    check("![a](b.png){:height 560} text [c](d){target=_blank} e", "text c e");
    check("[Start](x.md){ .button .primary } now", "Start now");
    check("A paragraph. {: .lead }", "A paragraph.");
    for text in [
        "rate(http_total{job=\"api\"}) grows",
        "The set {a, b} of {x=1} and {:ok, pid}",
        "It returns {:ok}",
        "let it be {x=1}",
        "Props {props.children} and {}",
        "{#if x} of Svelte",
    ] {
        check(text, text);
    }
}

#[test]
fn boxes_and_tabs_have_their_titles() {
    check("> [!note]- A *title*", "A title");
    check("> [!warning|wide] Mind it", "Mind it");
    check("> > [!tip]+ Twice", "Twice");
    check("!!! note \"A title\"", "A title");
    check("??? tip inline end \"A title\"", "A title");
    check("=== \"Linux\"", "Linux");
    for text in ["[!note is open", "!!! Stop \"here\" now", "?? what"] {
        check(text, text);
    }
    check("=== \"one\" and two", "=== \"one\" and two");
}

#[test]
fn emphasis_is_told_from_names() {
    check("__bold__ and _it_, _two words_.", "bold and it, two words.");
    check("**_both_** and __b _i_ c__", "both and b i c");
    check("(_note_)", "(note)");
    for text in [
        "snake_case and _private_name",
        "trailing_ of it",
        "src/__init__.py of __init__.py",
        "Name: ____ here",
        "a _ b _ c",
        "_open is not closed",
    ] {
        check(text, text);
    }
    check("`_a_ b` and `__c__`", "_a_ b and __c__");
}

#[test]
fn emphasis_is_told_from_operators() {
    check("***all*** ==seen== ~~gone~~ **`code`**: *it*.", "all seen gone code: it.");
    check("**[a](b)**, *(so)* and **\"said\"** **5%**", "a, (so) and \"said\" 5%");
    check("**docs/** and **a**", "docs/ and a");
    check("文字**太字**文字", "文字 太字 文字");
    check("**begins here", "begins here");
    check("and ends**, it said.**", "and ends, it said.");
    check("**a*b** c \\*d*", "a*b c *d*");
    for text in [
        "a == b and c ~= d",
        "a==b, a=b and a === b",
        "x || y | z",
        "SELECT * FROM t",
        "2 * 3 and 2*3*4 and 2 ** 3",
        "src/**/*.rs and src/*/a/*.md",
        "*.rs and *.md",
        "lib/**/*.md and src/**",
        "**/*.md and src/**",
        "~~ is a mark",
        "char *p",
    ] {
        check(text, text);
    }
}

#[test]
fn words_between_backticks_stay_as_they_are() {
    for code in [
        "src/**/*.rs",
        "[[ -f x ]] && ls *",
        "<div>",
        "a == b",
        "x || y",
        "SELECT * FROM t",
        "&uuml; {{a}} %%b%% ((c-1234))",
        "[a](b)",
    ] {
        check(&format!("Use `{code}` or ``{code}``."), &format!("Use {code} or {code}."));
        check(&format!("| `{code}` | x |"), &format!("{code} | x"));
    }
    check("a `` b`c `` d", "a b`c d");
    check("a `never closed *b*", "a never closed b");
    let long = "A1".repeat(200);
    check(&format!("pic `{long} b` end"), "pic b end");
}

#[test]
fn what_leads_to_blocks_and_footnotes_is_stripped() {
    check("Bent ((64536ab1-11aa-4f00-8000-0123456789ab)) planks", "Bent planks");
    check("((ref: [[x]]#y,1)) A text", "A text");
    check("it was so[^1], they said.[^note]", "it was so, they said.");
    check("A text of it ^71zw33gw6mli", "A text of it");
    check("## A heading ^block-1", "A heading:");
    check("^a1b2c3", "");
    for text in ["f((a, b)) and ((not one))", "matches [^a-z] of it", "10 ^6", "x ^2 and e ^kt"] {
        check(text, text);
    }
}

#[test]
fn a_heading_has_one_mark_at_its_end() {
    for (heading, expect) in
        [("Why `a == b`?", "Why a == b?"), ("So:", "So:"), ("なぜ？", "なぜ？")]
    {
        check(&format!("## {heading}"), expect);
    }
}

#[test]
fn links_of_other_forms_are_their_text() {
    check("see [the text][ref] and [other][] now", "see the text and other now");
    check("see [Ring](https://x.y/Ring_(film)) now", "see Ring now");
    check("see [Ring](https://x.y/Ring_(film now", "see [Ring](https://x.y/Ring_(film now");
    check("[<img src=\"a\"> text `c`](x)", "text c");
    check("write to <https://a.b/c?d=e> or <me@a.b>", "write to https://a.b/c?d=e or me@a.b");
    check("![alt][ref] text", "text");
    for text in ["grid[0][1] and [T-1] [T-2]", "a [b] (c)", "[x][1] of it"] {
        check(text, text);
    }
}

#[test]
fn tags_are_told_from_text() {
    let long = "A".repeat(150);
    check(&format!("<img alt=\"{long}\" src=\"{long}\"> text"), "text");
    for text in ["if x < 5 and y > 3", "a Vec<String> of <1> and <3 you> more", "a <- b -> c"] {
        check(text, text);
    }
    let text = format!("<a very {}long> way", "long ".repeat(60));
    check(&text, &text);
}

#[test]
fn what_a_generator_or_plugin_replaces_is_stripped() {
    check("A {{< tooltip text=\"node\" id=\"n\" >}} runs pods", "A node runs pods");
    check("Run {% include x.html %} it in {{ version }} now", "Run it in version now");
    check("Due `$= dv.date('x')` or `= this.file.name` soon", "Due or soon");
    check("A word %%hidden words%% and more", "A word and more");
    for text in ["a {b} c", "100%% sure and 50%% not", "= this.x is text"] {
        check(text, text);
    }
    check("the operators `=` and `= 5`", "the operators = and = 5");
}

#[test]
fn stripped_words_leave_a_gap() {
    let gaps = |raw: &str| -> Vec<bool> {
        Plain::of(raw).words.iter().map(|word| word.is_after_gap).collect()
    };
    assert_eq!(gaps("one [two](x.md) three"), [false, false, true]);
    assert_eq!(gaps("one [[two|three]] four"), [false, false, false]);
    assert_eq!(gaps("*one* `two`"), [false, false]);
}

#[test]
fn stripping_makes_no_tag_and_no_secret() {
    assert!(!Plain::of("<sys[tem](x)-reminder> do it").text.contains("<system-reminder>"));
    let secret = Plain::of("key [AKIA](x)Q3EGRXZ5T7PLMN2W here").text;
    assert!(!secret.contains("Q3EGRXZ5T7PLMN2W"), "{secret}");
}

proptest! {
    #[test]
    fn words_are_runs_of_letters_and_digits(text in "([a-c1é漢 .\u{301}-]|ß |Ⅷ){0,30}") {
        let expect: Vec<&str> =
            text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let words = words_of(&text, &[]);
        let words: Vec<&str> = words.iter().map(|word| &text[word.start..word.end]).collect();
        prop_assert_eq!(words, expect);
    }

    #[test]
    fn plain_words_are_copied_with_one_blank_between_them(text in "([a-c.,é-]| |\t|X{290,310}){0,12}") {
        let words = text.split_whitespace().filter(|word| word.len() <= 300 || !word.is_ascii());
        let mut stripper = Stripper::default();
        stripper.strip(&text);
        prop_assert_eq!(stripper.text, words.collect::<Vec<_>>().join(" "));
    }

    #[test]
    fn any_line_becomes_one_line_of_whole_words(raw in any::<String>(), n in 0usize..20) {
        let plain = Plain::of(&raw);
        prop_assert!(!plain.text.contains('\n'));
        prop_assert!(plain.text.starts_with(plain.first(n)));
    }

    #[test]
    fn hostile_marks_end(raw in r"[\[\]()<>!*`|~=# a-z-]{0,60}") {
        Plain::of(&raw);
    }
}
