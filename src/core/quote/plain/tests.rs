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
    check("  - [x] **done**: see [the plan](docs/plan.md), now", "done: see the plan, now");
    check("> 1. quoted [[auth-flow|login]] and [[b c]]", "quoted login and b c");
    check(">quoted at once", "quoted at once");
    check(">= 5 of them", ">= 5 of them");
    check("> > - twice", "twice");
    check("[[login flow|dendron://site/auth.flow#x]] [[auth.flow|v1.2]]", "login flow v1.2");
    check("![alt](pic.png) text ![[embed]] end", "text end");
    check("a <b>bold</b> word <!-- hidden --> after", "a bold word after");
    check("git checkout <branch> <your name>", "git checkout <branch> <your name>");
    check("<kbd>Esc</kbd> <Tabs> <details open> <https://a.b> x", "Esc x");
    check("| cell | other |", "cell other");
    check("2 < 3 and a[0] = x", "2 < 3 and a[0] = x");
    check("one&nbsp;&bull; two & three&four; R&D", "one two & three R&D");
    check("a*b **c** (`d`)", "a b c (d)");
    check(&format!("pic {} end", "A1".repeat(200)), "pic end");
    check("[open (never closed", "[open (never closed");
    check("ticket [T-1] stays", "ticket [T-1] stays");
    check("[![b](https://x.y/b.svg)](https://x.y) [ ![c](c.png) ](d) text", "[ ](d) text");
    check("[![b](b.svg) open", "[ open");
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
