//! Judges the name in front of a value: does it say that the value is a secret? Knows nothing of the value.

use super::runs::trailing;
use super::spelling::{Spelling, letter};
use super::{markup, runs};
use crate::core::text::words::words;

/// A name that contains one of these, without its separators, names a secret.
static SECRET: [Word; 29] = with_letters(words(
    "secret token apikey accesskey privatekey signingkey encryptionkey masterkey authkey \
     accountkey servicekey sharedkey licensekey credential connectionstring jwtkey appkey unsealkey \
     subscriptionkey apischlüssel wlanschlüssel recoverycode backupcode accesscode unlockcode \
     activationcode zugangscode tosecurestring geheimnis",
));
/// The same, where the value is chosen by a person.
static PASSWORD: [Word; 28] = with_letters(words(
    "password passwd passphrase passcode passwort kennwort wachtwoord passord lösenord adgangskode senha \
     contraseña contrasena motdepasse hasło heslo jelszó salasana lozinka şifre parola пароль κωδικός \
     סיסמה 密码 密碼 パスワード 비밀번호",
));
/// Too short to be looked for within a name: these must be its last part.
const LAST_PARTS: &[&str] = &["auth", "authorization", "creds", "clave"];
const PASSWORD_LAST_PARTS: &[&str] = &["pass", "pw", "pwd", "psk", "passe"];
/// Whose a password is, where it is written as one word: `dbpass`. A `compass` is nobody's.
static OWNERS: [&str; 34] = words(
    "admin api app auth bind db email ftp http imap key ldap login mail master my mysql new old pg \
     proxy redis root service smtp sql ssh store sudo svc trust user vpn wifi",
);
/// Which of several passwords it is, behind its name: `DB_PASS_PROD`.
static QUALIFIERS: [&str; 30] = words(
    "prod production dev development staging stage test testing live local old new plain plaintext default \
     backup main primary secondary current temp tmp b64 base64 confirm confirmation string str value raw",
);
/// A name that ends so says something about a secret, and not the secret.
static ABOUT: [&str; 89] = words(
    "id name type kind url uri endpoint path file dir folder arn hash sha md checksum \
     digest fingerprint thumbprint version ref count limit length len size ttl validity expiry expires \
     expiration policy field header prefix suffix class label usage budget provider manager hint \
     reset address contract symbol date time status state scope format regex pattern placeholder \
     example index claim store func fn callback handler validator generator parser error message title \
     input form page option enabled required rotation factory request response event action rule \
     strength charset encoder algorithm method mode",
);
/// A name that holds one of these only looks like it.
const OTHER: &[&str] =
    &["tokeniz", "tokenis", "secretar", "passwordless", "nopasswd", "publickey", "publictoken"];
/// Words that make a secret of the word `key` behind them.
static KEY_WORDS: [&str; 44] = words(
    "api access secret private signing encryption master auth account service aws unseal recovery \
     subscription license licence activation storage session cookie hmac enc crypt cipher deploy \
     webhook shared pre-shared preshared openai anthropic stripe sendgrid github gitlab azure gcp google \
     jwt app fernet product wifi admin",
);
/// The same for `code` and `phrase`.
static CODE_WORDS: [&str; 8] =
    words("pass recovery backup access unlock activation security secret");
/// What else a `key` in a constant's name can be.
static OTHER_KEYS: [&str; 68] = words(
    "public primary foreign sort partition cache row column object map hot shortcut group index unique data \
     dict registry gpg pgp kms s3 idempotency dedup event message routing query lookup search issue project item \
     node label tag meta header translation locale state store route config setting settings feature flag metric \
     trace lock queue topic field form param env arrow enter tab space modifier leader host known any default \
     context",
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

/// A longer name is judged by its end.
const LONGEST: usize = 64;
/// No name of a password has more parts.
const MOST_PARTS: u32 = 6;
/// A longer word does not belong to a name of several words.
const LONGEST_BLANKS: usize = 64;

/// A name, as it is spelt, and where it is.
pub(super) struct Name {
    spelling: Spelling<LONGEST>,
    /// Where it begins in the text.
    start: usize,
    /// Whether it begins with a hyphen.
    is_flag: bool,
    /// Whether it is written in capitals: that of a variable.
    is_constant: bool,
}

/// The name that ends at `end`, where quotes, markup and blanks may close it.
pub(super) fn before(text: &[u8], end: usize) -> Option<Name> {
    let end = end - runs::blanks_before(&text[..end], LONGEST_BLANKS);
    let end = before_number(text, markup::before_closing(text, end));
    let mut start = end - trailing(&text[..end], 5, is_closing);
    let mut words = [&text[..0]; 3];
    for n in 0..words.len() {
        let to = start;
        start -= name_length(&text[..to]);
        words[n] = &text[start..to];
        // `secret access key`: the words in front of this one belong to it.
        let known: &[&str] = match n {
            0 => &["key", "keys", "code", "codes", "phrase", "word"],
            _ if words[0].to_ascii_lowercase().starts_with(b"key") => &KEY_WORDS,
            _ => &CODE_WORDS,
        };
        let goes_on = known.iter().any(|word| words[n].eq_ignore_ascii_case(word.as_bytes()));
        if !goes_on && n > 0 {
            words[n] = &text[..0];
        }
        if !goes_on || !text[..start].ends_with(b" ") {
            break;
        }
        start -= 1;
    }
    let is_flag = text[start..].starts_with(b"-");
    let mut spelling = Spelling::default();
    for word in words.iter().rev() {
        spelling.push(word);
    }
    let is_constant = words[0].iter().filter(|byte| byte.is_ascii_uppercase()).count() >= 2
        && !words[0].iter().any(u8::is_ascii_lowercase);
    (!spelling.flat().is_empty()).then_some(Name { spelling, start, is_flag, is_constant })
}

/// How long the word is with which a text ends. Markdown escapes the signs in names: `API\_KEY`.
fn name_length(text: &[u8]) -> usize {
    let mut length = trailing(text, LONGEST, is_name);
    if length > 0 && !text[text.len() - length..].is_ascii() {
        return length - other_script(&text[text.len() - length..]);
    }
    while length > 0 && length < LONGEST {
        let (front, name) = text.split_at(text.len() - length);
        if !front.ends_with(b"\\") || !name.starts_with(b"_") {
            break;
        }
        length += 1 + trailing(&front[..front.len() - 1], LONGEST, is_name);
    }
    length
}

/// How much of a word is before its last letters, if these are of another script: Chinese and its neighbours need no blanks.
fn other_script(word: &[u8]) -> usize {
    let is_wide = |byte: &u8| *byte >= 0xe0 || (0x80..0xc0).contains(byte);
    let ends_wide = word.last().is_some_and(is_wide) && word.iter().any(|byte| *byte >= 0xe0);
    match ends_wide {
        true => word.iter().rposition(u8::is_ascii).map_or(0, |at| at + 1),
        false => word.iter().rposition(|byte| *byte >= 0xe0).map_or(0, |at| at + 3),
    }
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
        self.spelling.last(&[]) == word.as_bytes()
    }

    /// Whether it says that it sets something: `setToken`.
    pub(super) fn is_setter(&self) -> bool {
        ["set", "with", "use"].iter().any(|verb| self.flat().starts_with(verb.as_bytes()))
    }

    /// The text before it, without quotes and emphasis.
    pub(super) fn front<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        let front = &text[..self.start];
        let is_quote = |byte| b"\"'`*?\\".contains(&byte);
        &front[..front.len() - trailing(front, 5, is_quote)]
    }

    /// Whether it is that of a parameter in a query string.
    pub(super) fn is_parameter(&self, text: &[u8]) -> bool {
        matches!(text[..self.start].last(), Some(b'?' | b'&'))
    }

    /// Whether it is that of a variable which holds a secret and nothing else: `DB_PASSWORD`.
    pub(super) fn is_sure(&self) -> bool {
        self.is_constant && !self.is_count() && (self.says(&SECRET, &[]) || self.is_password())
    }

    /// Whether the value is secret, chosen or generated.
    pub(super) fn is_secret(&self) -> bool {
        // Alone, `pat` is a pattern.
        let is_access_token =
            || self.flat().ends_with(b"pat") && self.spelling.n_parts() > 1 && self.ends_in("pat");
        self.says(&SECRET, LAST_PARTS)
            || self.is_password()
            || self.is_key()
            || is_access_token()
            || self.flat().ends_with(b"vaultsecretid")
    }

    /// Whether the value is a secret that a person chose.
    pub(super) fn is_password(&self) -> bool {
        self.says(&PASSWORD, &[]) || self.is_short_password()
    }

    /// `dbPass`, `DB_PW1`, `rootpw`.
    fn is_short_password(&self) -> bool {
        // Most names have none of these.
        let has_one = |a: u8, b: u8| self.flat().windows(2).any(|pair| pair == [a, b]);
        let has_letter = self.spelling.letters() & letter(b'p') != 0;
        // What is drawn by lot has more parts than a name.
        if !has_letter
            || self.spelling.n_parts() > MOST_PARTS
            || !has_one(b'p', b'w') && !has_one(b'p', b'a') && !has_one(b'p', b's')
        {
            return false;
        }
        let last = self.spelling.last(&QUALIFIERS);
        let owner = |ending: &str| last.strip_suffix(ending.as_bytes());
        let is_owned = owner("pass").is_some_and(|owner| is_any(&OWNERS, owner));
        is_any(PASSWORD_LAST_PARTS, last)
            || is_owned
            || ["pwd", "pw"].iter().any(|short| owner(short).is_some())
    }

    /// Whether it is that of a key to something: `SESSION_KEY`, `licenseKey`.
    fn is_key(&self) -> bool {
        if !self.contains("key") {
            return false;
        }
        let last = self.spelling.last(&QUALIFIERS);
        let Some(owner) = last.strip_suffix(b"key") else { return false };
        let owner = if owner.is_empty() { self.spelling.before_last(&QUALIFIERS) } else { owner };
        let is_constant = || self.is_constant && owner.len() > 1 && !is_any(&OTHER_KEYS, owner);
        !self.is_other() && (is_any(&KEY_WORDS, owner) || is_constant())
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
        let has_letters = |word: &&Word| word.letters & !self.spelling.letters() == 0;
        let said = within.iter().filter(has_letters).any(|word| self.contains(word.text))
            || !last.is_empty() && is_any(last, self.spelling.last(&[]));
        said && !self.is_other() && !self.is_about()
    }

    fn is_other(&self) -> bool {
        OTHER.iter().any(|word| self.contains(word))
    }

    fn is_about(&self) -> bool {
        let last = self.spelling.last(&[]);
        let singular = last.strip_suffix(b"s").unwrap_or(last);
        // `tokenurl`, but no `candidate`.
        let is_behind = |part: &[u8], about: &str| {
            part.strip_suffix(about.as_bytes()).is_some_and(|secret| {
                let ends = |word: &Word| secret.ends_with(word.text.as_bytes());
                secret.is_empty() || SECRET.iter().chain(&PASSWORD).any(ends)
            })
        };
        ABOUT.iter().any(|about| is_behind(last, about) || is_behind(singular, about))
    }

    fn contains(&self, word: &str) -> bool {
        let (word, flat) = (word.as_bytes(), self.flat());
        // Most places differ in their first byte.
        memchr::memchr_iter(word[0], flat).any(|at| flat[at..].starts_with(word))
    }

    pub(super) fn flat(&self) -> &[u8] {
        self.spelling.flat()
    }
}

fn is_any(words: &[&str], word: &[u8]) -> bool {
    words.iter().any(|known| known.as_bytes() == word)
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.') || !byte.is_ascii()
}

/// The text between a name and its `=`: `"name":`, `**name**:`, `name?:`, `["name"] =`.
fn is_closing(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`' | b'*' | b'?' | b'\\' | b'[' | b']' | b'~' | b'=')
}

#[cfg(test)]
mod tests;
