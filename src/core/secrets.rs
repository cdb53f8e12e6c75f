//! Finds secrets in text by their shape, and masks them by kind: `[masked: github-token]`.
//!
//! It knows shapes and the names in front of values. Behind a name that says that it is a secret, the whole value goes,
//! unless it is a placeholder, a reference, a type, a name in code or plain words. Nothing is verified, looked up or learnt: a
//! password made of a word (`password: letmein`) looks like any other word, and stays, but right behind a variable (`PASSWORD=letmein`).
//!
//! It runs in a process that has a few milliseconds in all, so there is no pattern to compile. Each scanner looks at the
//! few places where its kind of secret can be, and is linear in any text.
//!
//! Mask before you cut: half a token has no shape any more.

mod apart;
mod argument;
mod assignment;
mod code;
mod column;
mod command;
mod dictionary;
mod extent;
mod hash;
mod header;
mod marked;
mod markup;
mod name;
mod pem;
mod phrase;
mod placeholder;
mod rules;
mod runs;
mod sign;
mod signs;
mod spelling;
mod tokens;
mod typed;
mod url;
mod value;
mod word;

use std::borrow::Cow;
use std::ops::Range;

use runs::Runs;
use serde_json::Value;
use signs::Signs;

/// How a mask begins. Whatever holds this is never taken for a secret, so that masking twice changes nothing.
const MASK: &str = "[masked: ";
/// A run of letters and digits from this length on is no word.
const LONGEST_WORD: usize = 17;
/// How often a text is masked at most. A hostile one pays for each of these.
const MOST_LOOKS: usize = 4;

/// A place that holds a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundSecret {
    /// Which bytes of the text.
    pub range: Range<usize>,
    /// What it is, as the mask says it.
    pub kind: &'static str,
}

/// Replaces every secret by its kind. What is around it stays as it is.
pub fn mask(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    // A mask can bare another secret: in `x.Bearer y` a word begins where a token ended. A second look finds nothing but
    // in texts made for it.
    for _ in 0..MOST_LOOKS {
        let found = find(&text);
        if found.is_empty() {
            break;
        }
        text = Cow::Owned(replaced(&text, &found));
    }
    text
}

/// Whether the normal form of a concept may hold a secret, as far as can still be told: its letters have become small, and its
/// underscores, slashes and spaces hyphens. Text that is clearly not a concept passes too.
pub fn are_in_name(name: &str) -> bool {
    let underscored = name.replace('-', "_");
    let forms = [
        name.to_uppercase(),
        underscored.to_uppercase(),
        underscored,
        name.replace('-', " "),
        // An address has lost its slashes, and what came before its user.
        name.replace(":-", "://").replace('-', "/"),
    ];
    let has_shape = |form: &str| !find(form).is_empty();
    let has_login = name.split_once('@').is_some_and(|(login, _)| login.contains(':'));
    has_shape(name) || forms.iter().any(|form| has_shape(form)) || has_login || has_random_run(name)
}

/// Whether letters and digits are mixed over a length that no word has.
fn has_random_run(name: &str) -> bool {
    name.split(|c: char| !c.is_ascii_alphanumeric()).any(|run| {
        let n_digits = run.bytes().filter(u8::is_ascii_digit).count();
        run.len() >= LONGEST_WORD && n_digits >= 2 && n_digits < run.len()
    })
}

/// Masks a text in place.
pub fn mask_in(text: &mut String) {
    if let Cow::Owned(masked) = mask(text) {
        *text = masked;
    }
}

/// Masks all strings of a value.
pub fn mask_json(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(mask(&text).into_owned()),
        Value::Array(items) => items.into_iter().map(mask_json).collect(),
        Value::Object(map) => map.into_iter().map(|(key, value)| (key, mask_json(value))).collect(),
        other => other,
    }
}

fn replaced(text: &str, found: &[FoundSecret]) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut copied = 0;
    for FoundSecret { range, kind } in found {
        masked.push_str(&text[copied..range.start]);
        masked.extend([MASK, kind, "]"]);
        copied = range.end;
    }
    masked.push_str(&text[copied..]);
    masked
}

/// Returns the places of all secrets, in order; no two of them overlap.
pub fn find(text: &str) -> Vec<FoundSecret> {
    let mut runs = Runs::new(text.as_bytes());
    let mut all = Vec::new();
    let signs = Signs::of(runs.text);
    // The most telling first: where two overlap, the kind of the earlier one is kept.
    if signs.has_dash() && signs.has_blank() {
        pem::find(runs.text, &mut all);
    }
    if signs.has_hash() {
        hash::find(runs.text, &mut all);
    }
    if signs.has_assignment() {
        pem::find_putty(runs.text, &mut all);
        hash::find_ntlm(runs.text, &mut all);
    }
    let behind_words = tokens::find(&mut runs, &mut all);
    if signs.has_assignment() {
        url::find(runs.text, &mut all);
    }
    assignment::find(&mut runs, signs, &mut all);
    all.extend(behind_words);
    without_overlaps(all)
}

/// Joins overlapping places: a password with a token inside is secret from end to end.
fn without_overlaps(all: Vec<FoundSecret>) -> Vec<FoundSecret> {
    // Stable, so that among equal starts the more telling kind stays in front.
    let mut ranked: Vec<(usize, FoundSecret)> = all.into_iter().enumerate().collect();
    ranked.sort_by_key(|(_, found)| found.range.start);
    let mut joined: Vec<(usize, FoundSecret)> = Vec::with_capacity(ranked.len());
    for (rank, found) in ranked {
        match joined.last_mut() {
            Some((last_rank, last)) if found.range.start < last.range.end => {
                last.range.end = last.range.end.max(found.range.end);
                if rank < *last_rank {
                    (*last_rank, last.kind) = (rank, found.kind);
                }
            }
            _ => joined.push((rank, found)),
        }
    }
    joined.into_iter().map(|(_, found)| found).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::{Duration, Instant};

    #[track_caller]
    fn check(text: &str, expect: &str) {
        assert_eq!(mask(text), expect);
        assert_eq!(mask(expect), expect, "masked twice");
    }

    /// Stands in for twelve characters drawn by lot, so that no test holds what a scanner takes for a token.
    fn drawn(text: &str) -> String {
        text.replace('#', "q7Rz2mXk9TbW")
    }

    #[test]
    fn a_secret_that_became_a_name_is_still_one() {
        use crate::core::note::concept::Concept;
        for secret in ["ghp_###", "AKIAQ7RZ2MXK9TBWJ3PL", "glpat-#_#", "password=#_q/Q!#"] {
            let secret = drawn(secret);
            assert!(!find(&secret).is_empty(), "{secret}");
            let name = Concept::parse(&secret).unwrap();
            assert!(are_in_name(name.as_str()), "{name}");
        }
        for name in [
            "session-management",
            "c++",
            "gh-pages",
            "key-value-store",
            "api-key-rotation",
            "größe",
            "akia",
        ] {
            assert!(!are_in_name(name), "{name}");
        }
    }

    #[test]
    fn what_is_around_a_secret_stays() {
        #[track_caller]
        fn check_drawn(text: &str, expect: &str) {
            check(&drawn(text), &drawn(expect));
        }
        check_drawn("ghp_###", "[masked: github-token]");
        check_drawn("(ghp_###)", "([masked: github-token])");
        check_drawn("ghp_###.", "[masked: github-token].");
        check_drawn("größe=ghp_###äö", "größe=[masked: github-token]äö");
        check_drawn("ghp_### ghp_###", "[masked: github-token] [masked: github-token]");
        check_drawn("x\\nghp_###\\n", "x\\n[masked: github-token]\\n");
        check_drawn("?q=a%20ghp_###", "?q=a%20[masked: github-token]");
        check_drawn("xghp_###", "xghp_###");
        check_drawn("ghp_##", "ghp_##");
        // The most telling kind, from end to end.
        check_drawn("TOKEN=ghp_###", "TOKEN=[masked: github-token]");
        check_drawn("TOKEN=a-ghp_###/z9", "TOKEN=[masked: github-token]");
        check_drawn("https://u:ghp_###@host", "https://u:[masked: github-token]@host");
    }

    #[test]
    fn a_value_ends_where_its_notation_says() {
        check("PASSWORD=hunter2x", "PASSWORD=[masked: env-assignment]");
        check("PASSWORD = 'hunter2 x'", "PASSWORD = '[masked: env-assignment]'");
        check("password: \"correct horse battery\"", "password: \"correct horse battery\"");
        check("password: hunter2x, user: kim", "password: [masked: env-assignment], user: kim");
        check("(password: hunter2x)", "(password: [masked: env-assignment])");
        check("password: \"hunter2x\" # old", "password: \"[masked: env-assignment]\" # old");
        check("password: \"hunter2x", "password: \"[masked: env-assignment]");
        check("<p>password: hunter2x</p>", "<p>password: [masked: env-assignment]</p>");
        check("?password=hunter2x&user=kim", "?password=[masked: env-assignment]&user=kim");
        check("password=hun&ter2x", "password=[masked: env-assignment]");
        check("password: hunter2xyz…", "password: [masked: env-assignment]…");
        check("password: hünter2x", "password: [masked: env-assignment]");
        check("PASSWORD= USER=kim2000", "PASSWORD= USER=kim2000");
        check("password:\nhunter2x", "password:\n[masked: env-assignment]");
        check("password:\n\n  hunter2x\n", "password:\n\n  [masked: env-assignment]\n");
        check("password:\nhunter2x and more", "password:\nhunter2x and more");
        check("DB_PASS=hunter2x TOKEN=", "DB_PASS=[masked: env-assignment] TOKEN=");
    }

    #[test]
    fn a_key_that_was_cut_is_masked_as_far_as_it_goes() {
        let line = drawn("#####a1b2");
        let key = format!("-----BEGIN PRIVATE KEY-----\n{line}\n{line}\n");
        for (rest, expect) in [
            ("", "\n"),
            ("q7Rz2mXk9TbW==\n", "\n"),
            ("q7Rz2mXk9T… and so on", "… and so on"),
            ("and so on", "\nand so on"),
            ("-----END PRIVATE KEY-----, you see", ", you see"),
            ("-----END PRIV", ""),
            ("-----BEGIN CERTIFICATE-----", "\n-----BEGIN CERTIFICATE-----"),
        ] {
            check(&format!("a {key}{rest}"), &format!("a [masked: private-key]{expect}"));
        }
        let squeezed = key.replace('\n', " ");
        check(&format!("{squeezed}and so on"), "[masked: private-key] and so on");
        let coded = key.replace('\n', "\\n");
        check(&format!("\"{coded}\""), "\"[masked: private-key]\\n\"");
        check(&format!("{key}{key}"), "[masked: private-key]\n[masked: private-key]\n");
    }

    #[test]
    fn a_short_text_has_the_secrets_that_it_has_within_a_long_one() {
        let key = "-----BEGIN PRIVATE KEY-----\n#####\n-----END PRIVATE KEY-----";
        let secrets = ["| password | # |", "https://kim:#@host", "password is #", key];
        for secret in secrets {
            assert!(!find(&drawn(secret)).is_empty(), "{secret}");
        }
        let words = drawn(
            "password # --password # mysql -p# token=# $2b$12$##### {SSHA}### ghp_### \
             | password | # | https://kim:#@host password is #",
        );
        // Where a key ends that was cut depends on what follows.
        let key = drawn(key);
        let parts: Vec<&str> = words.split(' ').chain([key.as_str()]).collect();
        let long = " x".repeat(200);
        for from in 0..parts.len() {
            for to in from + 1..=parts.len() {
                let short = parts[from..to].join(" ");
                assert_eq!(find(&short), find(&format!("{short}{long}")), "{short}");
            }
        }
    }

    #[test]
    fn places_that_overlap_are_one() {
        let found = |range, kind| FoundSecret { range, kind };
        let all = vec![found(8..12, "a"), found(0..4, "b"), found(2..9, "c"), found(12..13, "d")];
        assert_eq!(without_overlaps(all), [found(0..12, "a"), found(12..13, "d")]);
    }

    #[test]
    fn counts_calls_and_gaps_are_no_secrets() {
        for text in [
            r#"{"usage":{"prompt_tokens":14,"completion_tokens":8}}"#,
            "headers: {'X-CSRFToken': getCsrfToken(), a: 1}",
            "X-CSRFToken: getCsrfToken()",
            "### option: APIRequest.newContext.httpCredentials = %%-context-option-httpcredentials-%%",
            r#"requests.get(url, auth=("<user>", "<API_TOKEN>"))"#,
            "a file in `migrations/version/{SHA}_this_will_be_in_the_migration_filename.py`",
            "'forbidden_passwords': ['123'],",
            "access_token_validity = \"minutes=120\"",
        ] {
            assert_eq!(mask(text), text);
        }
        for text in [
            "token: 14,q7Rz2mXk9TbW",
            "password: getRz2mXk9TbW",
            r#"auth=("<user>","q7Rz2mXk9TbW")"#,
            "{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=",
            "passwords: ['q7Rz2mXk9T', 'b']",
            "password = %%q7Rz2mXk9TbW%%",
        ] {
            assert_ne!(mask(text), text);
        }
    }

    /// Pieces that mean something to a scanner, alone or next to each other.
    const PIECES: &[&str] = &[
        "ghp_",
        "sk-",
        "AKIA",
        "eyJ",
        ".",
        "://",
        ":",
        "@",
        "=",
        " = ",
        ": ",
        "\"",
        "'",
        "`",
        "\\",
        "\n",
        " ",
        "-",
        "_",
        "token",
        "password",
        "api key",
        "max_tokens",
        "secret_name",
        "Bearer ",
        "Authorization: Basic ",
        "--",
        " --token ",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "-----",
        "[masked: jwt]",
        "[masked: ",
        "]",
        "hunter2",
        "q7Rz2mXk9TbW",
        "q7Rz2mXk9TbWq7Rz2mXk9TbWq7Rz2mXk9TbW",
        "Q7RZ2MXK9TBWQ7RZ",
        "ä",
        "…",
        "...",
        "xxxx",
        "${",
        "&",
        "&a=",
        ";",
        "<",
        ">",
        "(",
        ")",
        "[",
        "/",
        "dXNlcjpwYXNz",
        "123456789",
        ":AA",
        "glpat-",
    ];

    fn texts() -> impl Strategy<Value = String> {
        prop::collection::vec(prop::sample::select(PIECES), 0..12)
            .prop_map(|pieces| pieces.concat())
    }

    fn check_any(text: &str) -> Result<(), TestCaseError> {
        let found = find(text);
        for pair in found.windows(2) {
            prop_assert!(pair[0].range.end <= pair[1].range.start);
        }
        for FoundSecret { range, .. } in &found {
            prop_assert!(!text[range.clone()].is_empty());
        }
        let masked = mask(text);
        prop_assert_eq!(mask(&masked), masked.as_ref(), "{}", text);
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]
        #[test]
        fn masking_twice_changes_nothing(text in texts()) {
            check_any(&text)?;
        }

        #[test]
        fn any_text_can_be_masked(text in "\\PC{0,64}") {
            check_any(&text)?;
        }
    }

    #[test]
    fn no_text_takes_long() {
        for piece in PIECES.iter().chain(&[
            "token=",
            "token=\"",
            "a://b:c",
            "sk-ant-",
            "token: x1&",
            "-eyJ",
            "token=a'",
            "token=a;b",
            "$6$",
            " -p",
            "mysql -p",
            "login a password ",
            "-us1",
        ]) {
            let text = piece.repeat((128 << 10) / piece.len());
            let start = Instant::now();
            find(&text);
            assert!(start.elapsed() < Duration::from_secs(5), "{piece:?}: {:?}", start.elapsed());
        }
    }
}
