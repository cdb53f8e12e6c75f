//! Settings of all kinds, with an item and without it again.

use proptest::prelude::*;

use super::*;

const KEYS: ListKeys = ["bundle", "app"];
const ITEM: &str = "file:///home/ada/.local/state/kgctx/amplifier/kgctx";

fn settings(text: &str) -> YamlSettings {
    YamlSettings::parse(Path::new("settings.yaml"), KEYS, text.into()).unwrap()
}

/// The same text with the item shown as ITEM.
fn short(settings: &YamlSettings) -> String {
    settings.text.replace(ITEM, "ITEM")
}

#[test]
fn an_item_is_added_and_every_other_byte_stays() {
    #[track_caller]
    fn check(before: &str, after: &str) {
        let (found, wanted) = (settings(before), settings(before).with_item(ITEM).unwrap());
        assert_eq!(short(&wanted), after, "{before:?}");
        assert!(settings(&wanted.text).items().contains(&ITEM));
        assert_eq!(wanted.with_item(ITEM).unwrap(), wanted, "once is enough");
        let undone = wanted.without_item(ITEM, Some(&found)).unwrap();
        assert_eq!(settings(&undone.text).root, found.root, "{before:?}");
    }
    let alone = "bundle:\n  app:\n  - ITEM\n";
    check("", alone);
    check("{}\n", alone);
    check("# mine\n", &format!("# mine\n{alone}"));
    check("a: 1", &format!("a: 1\n{alone}"));
    check("---\na: 1\n", &format!("---\na: 1\n{alone}"));
    check("bundle:\n", alone);
    check("bundle: {}  # none\n", "bundle:  # none\n  app:\n  - ITEM\n");
    check("bundle: null\nz: 1\n", "bundle:\n  app:\n  - ITEM\nz: 1\n");
    check(
        "# top\nbundle:   # which\n    # inner\n    active: x\n\nz: 1\n",
        "# top\nbundle:   # which\n    app:\n    - ITEM\n    # inner\n    active: x\n\nz: 1\n",
    );
    check("bundle:\n  app: []\n  b: 1\n", "bundle:\n  app:\n  - ITEM\n  b: 1\n");
    check("bundle:\n  app:\n", alone);
    check(
        "bundle:\n  app:\n  - one # 1\n  # about two\n  - two\n\n  # end\nz: 1\n",
        "bundle:\n  app:\n  - one # 1\n  # about two\n  - two\n  - ITEM\n\n  # end\nz: 1\n",
    );
    check("bundle:\n  app:\n      - one\n", "bundle:\n  app:\n      - one\n      - ITEM\n");
    check("bundle:\n  app:\n  - one", "bundle:\n  app:\n  - one\n  - ITEM\n");
    check("bundle:\r\n  app:\r\n  - one\r\n", "bundle:\r\n  app:\r\n  - one\r\n  - ITEM\r\n");
    check("\u{feff}a: 1\n", &format!("\u{feff}a: 1\n{alone}"));
    check(
        "bundle:\n  app:\n  - a: 1\n    b: 2\n  added:\n    app: x\n",
        "bundle:\n  app:\n  - a: 1\n    b: 2\n  - ITEM\n  added:\n    app: x\n",
    );
    check(
        "note: |\n  bundle:\n    app:\nbundle:\n  app:\n  - one\n",
        "note: |\n  bundle:\n    app:\nbundle:\n  app:\n  - one\n  - ITEM\n",
    );
}

#[test]
fn other_styles_are_left_alone() {
    for text in [
        "bundle: {app: [one]}\n",
        "bundle: {active: x}\n",
        "bundle:\n  app: [one, two]\n",
        "bundle:\n  app: &list\n  - one\nagain: *list\n",
        "bundle: &b\n  app:\n  - one\nagain: *b\n",
        "\"bundle\":\n  app:\n  - one\n",
        "bundle:\n  'app':\n  - one\n",
        "bundle: text\n",
        "bundle:\n  app: text\n",
        "bundle:\n- one\n",
        "{a: 1}\n",
        "a: 1\n...\n",
    ] {
        let error = settings(text).with_item(ITEM).unwrap_err().to_string();
        assert!(error.contains("a style that kgctx does not edit"), "{text:?}: {error}");
    }
    for text in
        ["bundle:\n\tapp:\n\t- one\n", "a: 1\n---\nb: 2\n", "- one\n", "a: [", "a: 1\na: 2\n"]
    {
        let read = YamlSettings::parse(Path::new("settings.yaml"), KEYS, text.into());
        assert!(matches!(read, Err(SettingsFileError::Shape { .. })), "{text:?}");
    }
    let flow = settings(&format!("bundle: {{app: [{ITEM}]}}\n"));
    assert_eq!(flow.items(), [ITEM]);
    assert_eq!(flow.with_item(ITEM).unwrap(), flow);
    assert!(flow.without_item(ITEM, None).is_err());
}

/// What the host makes of a file when it writes it anew: keys in order, no comments, long texts folded.
#[test]
fn an_item_is_taken_out_of_what_the_host_has_written() {
    #[track_caller]
    fn check(found: &str, before: Option<&str>, item: &str, after: &str) {
        let before = before.map(settings);
        let rest = settings(found).without_item(item, before.as_ref()).unwrap();
        assert_eq!(rest.text, after);
        assert_eq!(rest.root, settings(after).root);
    }
    let found = format!("bundle:\n  app:\n  - {ITEM}\nupdates:\n  last_check: '2026'\n");
    let rest = "updates:\n  last_check: '2026'\n";
    check(&found, None, ITEM, rest);
    check(&found, Some("# mine\n"), ITEM, rest);
    check(&found, Some("bundle:\n"), ITEM, &format!("bundle: null\n{rest}"));
    check(&found, Some("bundle: {}\n"), ITEM, &format!("bundle: {{}}\n{rest}"));
    check(&found, Some("bundle:\n  app:\n"), ITEM, &format!("bundle:\n  app: null\n{rest}"));
    check(&found, Some("bundle:\n  app: []\n"), ITEM, &format!("bundle:\n  app: []\n{rest}"));
    check(
        &format!("bundle:\n  active: x\n  app:\n  - {ITEM}\n  - two\n"),
        Some("bundle:\n  app:\n  - two\n"),
        ITEM,
        "bundle:\n  active: x\n  app:\n  - two\n",
    );
    let spaced = "file:///home/ada lovelace/a folder with a very long name/and another one/kgctx";
    check(
        "bundle:\n  app:\n  - one\n  - file:///home/ada lovelace/a folder with a very long name/and\n    another one/kgctx\n  - two\nz: 1\n",
        None,
        spaced,
        "bundle:\n  app:\n  - one\n  - two\nz: 1\n",
    );
    check("a: 1\n", None, ITEM, "a: 1\n");
}

#[test]
fn an_item_is_quoted_where_it_must_be() {
    for path in ["/home/ada", "/home/ä b/#x", "/h: o", "/it's \"q\"", "/a\\b", "/%20", "/x:"] {
        let item = format!("file://{path}");
        let wanted = settings("").with_item(&item).unwrap();
        assert_eq!(wanted.items(), [&*item]);
        assert_eq!(settings(&wanted.text).items(), [&*item], "{}", wanted.text);
    }
    assert_eq!(scalar(ITEM), ITEM);
}

proptest! {
    /// Whatever the settings are: an edit says what it should and is undone, or there is none.
    #[test]
    fn an_edit_is_right_or_not_made(
        lines in proptest::collection::vec(
            "(bundle:|  app:|  app: \\[\\]|  - one|    - two|  active: x|# c|a: 1|- z|  |\t|app:|    b: |bundle: \\{\\}|---|  - \"q\"|c: \\|)",
            0..9,
        ),
        end in "\n?",
    ) {
        let text = lines.join("\n") + &end;
        let Ok(found) = YamlSettings::parse(Path::new("x"), KEYS, text.clone().into()) else { return Ok(()) };
        let Ok(wanted) = found.with_item(ITEM) else { return Ok(()) };
        let mut items = found.items();
        items.push(ITEM);
        let reread = settings(&wanted.text);
        prop_assert_eq!(reread.items(), items, "{}", text);
        let kept = |line: &str| !["", "[]", "{}"].contains(&line);
        for line in text.lines().filter(|line| kept(line) && !line.contains("[]") && !line.contains("{}")) {
            prop_assert!(wanted.text.contains(line), "{:?} lost {:?}", text, line);
        }
        let undone = wanted.without_item(ITEM, Some(&found)).unwrap();
        prop_assert_eq!(settings(&undone.text).root, found.root, "{:?}", text);
    }
}
