//! Judges the name in front of a value: does it say that the value is a secret? Knows nothing of the value.

use super::runs::trailing;
use crate::core::text::words::words;

/// A name that contains one of these, without its separators, names a secret.
static SECRET: [Word; 19] = with_letters(words(
    "secret token apikey accesskey privatekey signingkey encryptionkey masterkey authkey \
     accountkey servicekey sharedkey licensekey credential connectionstring jwtkey appkey unsealkey \
     subscriptionkey",
));
/// The same, where the value is chosen by a person.
static PASSWORD: [Word; 6] =
    with_letters(words("password passwd passphrase passcode passwort kennwort"));
/// Too short to be looked for within a word: these must be a name's last part.
const LAST_PARTS: &[&str] = &["auth", "authorization"];
const PASSWORD_LAST_PARTS: &[&str] = &["pass", "pw", "pwd", "psk"];
/// A name that ends so says something about a secret, and not the secret.
static ABOUT: [&str; 61] = words(
    "id name type kind url uri endpoint path file dir folder arn hash sha sha1 sha256 md5 checksum \
     digest fingerprint thumbprint version ref count limit length len size ttl expiry expires \
     expiration policy field header prefix suffix class label usage budget provider manager hint \
     reset address contract symbol date time status state scope format regex pattern placeholder \
     example index claim store",
);
/// A name that holds one of these only looks like it.
const OTHER: &[&str] =
    &["tokeniz", "tokenis", "secretar", "passwordless", "publickey", "publictoken"];
/// Words that make a secret of the word `key` behind them.
static KEY_WORDS: [&str; 14] = words(
    "api access secret private signing encryption master auth account service aws unseal recovery \
     subscription",
);

/// A word, and which letters it has, one bit each: most names lack one of them, and need no closer look.
#[derive(Clone, Copy)]
struct Word {
    text: &'static str,
    letters: u32,
}

const fn with_letters<const N: usize>(texts: [&'static str; N]) -> [Word; N] {
    let mut words = [Word { text: "", letters: 0 }; N];
    let mut n = 0;
    while n < N {
        words[n].text = texts[n];
        let mut at = 0;
        while at < texts[n].len() {
            words[n].letters |= letter(texts[n].as_bytes()[at]);
            at += 1;
        }
        n += 1;
    }
    words
}

const fn letter(byte: u8) -> u32 {
    1 << (byte & 31)
}

/// A longer name is judged by its end.
const LONGEST: usize = 64;

/// A name, lower case and without separators.
pub(super) struct Name {
    flat: [u8; LONGEST],
    length: usize,
    letters: u32,
    /// Where its last part begins.
    last: usize,
    /// Where it begins in the text.
    start: usize,
    /// Whether it begins with a hyphen.
    is_flag: bool,
}

/// The name that ends at `end`, where quotes and emphasis may close it.
pub(super) fn before(text: &[u8], end: usize) -> Option<Name> {
    let end = before_number(text, before_remark(text, end));
    // `["name"] = value`.
    let bracket = [&b"\"]"[..], b"']"].iter().any(|ending| text[..end].ends_with(ending));
    let end = end - usize::from(bracket);
    let mut start = end - trailing(&text[..end], 5, is_closing);
    let mut words = [&text[..0]; 3];
    for n in 0..words.len() {
        let to = start;
        start -= trailing(&text[..to], LONGEST, is_name);
        words[n] = &text[start..to];
        // `secret access key`: the words in front of this one belong to it.
        let goes_on = match n {
            0 => words[0].eq_ignore_ascii_case(b"key"),
            _ => KEY_WORDS.iter().any(|word| words[n].eq_ignore_ascii_case(word.as_bytes())),
        };
        if !goes_on && n > 0 {
            words[n] = &text[..0];
        }
        if !goes_on || !text[..start].ends_with(b" ") {
            break;
        }
        start -= 1;
    }
    let is_flag = text[start..].starts_with(b"-");
    let mut name = Name { flat: [0; LONGEST], length: 0, letters: 0, last: 0, start, is_flag };
    for word in words.iter().rev().filter(|word| !word.is_empty()) {
        name.last = name.length;
        for &byte in *word {
            if !byte.is_ascii_alphanumeric() {
                name.last = name.length;
            } else if name.length < LONGEST {
                name.flat[name.length] = byte.to_ascii_lowercase();
                name.length += 1;
                name.letters |= letter(byte);
            }
        }
    }
    (name.length > 0).then_some(name)
}

/// `token (prod): value`: the remark is no part of the name.
fn before_remark(text: &[u8], end: usize) -> usize {
    if !text[..end].ends_with(b")") {
        return end;
    }
    let near = &text[end.saturating_sub(LONGEST)..end];
    let open = memchr::memrchr(b'(', near).filter(|&open| open > 0 && near[open - 1] == b' ');
    open.map_or(end, |open| end - near.len() + open - 1)
}

/// `Unseal Key 1: value`: the number is no part of the name.
fn before_number(text: &[u8], end: usize) -> usize {
    let digits = trailing(&text[..end], 2, |byte| byte.is_ascii_digit());
    let is_number = digits > 0 && text[..end - digits].ends_with(b"Key ");
    if is_number { end - digits - 1 } else { end }
}

impl Name {
    /// Whether it is a user that follows the flag for one: `-ukim`.
    pub(super) fn is_user(&self) -> bool {
        self.flat().first() == Some(&b'u') && self.is_flag
    }

    /// Whether `word` is its last part.
    pub(super) fn ends_in(&self, word: &str) -> bool {
        &self.flat()[self.last..] == word.as_bytes()
    }

    /// The text before it, without quotes and emphasis.
    pub(super) fn front<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        let front = &text[..self.start];
        &front[..front.len() - trailing(front, 5, is_closing)]
    }

    /// Whether it is that of a parameter in a query string.
    pub(super) fn is_parameter(&self, text: &[u8]) -> bool {
        matches!(text[..self.start].last(), Some(b'?' | b'&'))
    }

    /// Whether the value is secret, chosen or generated.
    pub(super) fn is_secret(&self) -> bool {
        // Alone, `pat` is a pattern.
        let personal_access_token = self.last > 0 && self.ends_in("pat");
        self.says(&SECRET, LAST_PARTS) || personal_access_token || self.is_password()
    }

    /// Whether the value is a secret that a person chose.
    pub(super) fn is_password(&self) -> bool {
        self.says(&PASSWORD, PASSWORD_LAST_PARTS)
    }

    /// Whether the value may be a number of tokens.
    pub(super) fn is_count(&self) -> bool {
        self.flat().ends_with(b"tokens")
    }

    /// Whether the value is the secret half of a pair of Amazon's keys.
    pub(super) fn is_aws_secret(&self) -> bool {
        self.contains("secretaccesskey") || self.contains("aws") && self.contains("secret")
    }

    fn says(&self, within: &[Word], last: &[&str]) -> bool {
        let has_letters = |word: &&Word| word.letters & !self.letters == 0;
        let said = within.iter().filter(has_letters).any(|word| self.contains(word.text))
            || last.iter().any(|word| self.ends_in(word));
        said && !OTHER.iter().any(|word| self.contains(word)) && !self.is_about()
    }

    fn is_about(&self) -> bool {
        let flat = self.flat();
        let singular = flat.strip_suffix(b"s").unwrap_or(flat);
        let ends_in = |name: &[u8]| ABOUT.iter().any(|word| name.ends_with(word.as_bytes()));
        ends_in(flat) || ends_in(singular)
    }

    fn contains(&self, word: &str) -> bool {
        self.flat().windows(word.len()).any(|part| part == word.as_bytes())
    }

    pub(super) fn flat(&self) -> &[u8] {
        &self.flat[..self.length]
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// The text between a name and its `=`: `"name":`, `**name**:`, `name?:`, `["name"] =`.
fn is_closing(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`' | b'*' | b'?' | b'\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_its_value_is() {
        #[track_caller]
        fn check(text: &str, secret: bool, password: bool) {
            let name = before(text.as_bytes(), text.len());
            assert_eq!(name.as_ref().is_some_and(Name::is_secret), secret, "{text}");
            assert_eq!(name.as_ref().is_some_and(Name::is_password), password, "{text}");
        }
        for text in [
            "TOKEN",
            "api_key",
            "apiKey",
            "x-api-key",
            "\"client_secret\"",
            "**Token**",
            "a.b.token",
        ] {
            check(text, true, false);
        }
        for text in [
            "API key",
            "secret access key",
            "the api key",
            "GITHUB_PAT",
            "_auth",
            "env[\"TOKEN\"]",
            "\\\"token\\\"",
        ] {
            check(text, true, false);
        }
        for text in ["password", "DB_PASS", "pw", "my password", "Passwort-Passwd", "sshPassphrase"]
        {
            check(text, true, true);
        }
        for text in [
            "key",
            "a key",
            "monkey",
            "compass",
            "pat",
            "path",
            "author",
            "token_id",
            "secretName",
            "passwordHash",
        ] {
            check(text, false, false);
        }
        for text in [
            "tokenizer",
            "secretary",
            "passwordless",
            "public_key",
            "token_urls",
            "",
            " ",
            "[masked: jwt]",
            "token)",
        ] {
            check(text, false, false);
        }
        check(&format!("{}token", "x".repeat(500)), true, false);
    }
}
