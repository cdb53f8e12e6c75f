//! Judges a value: is it a secret, or a placeholder, a reference, a type or plain words?

use super::dictionary::has_words;
use super::placeholder::is_placeholder;
use super::runs::{leading, trailing};
use super::word::{is_wordy, spoken};
use crate::core::text::words::words;

/// Nothing longer is looked at: what a value is shows at its beginning.
pub(super) const LOOKED_AT: usize = 256;
/// What a machine makes is not shorter.
const SHORTEST: usize = 8;
/// More words in quotes are a text.
const LONGEST_PHRASE: usize = 128;

/// Names of methods and products that have digits, and so look like passwords.
static WORDS: [&str; 29] = words(
    "1password argon2 argon2i argon2id base32 base58 base64 bcrypt2 ed25519 hmac256 hs256 hs512 \
     keepass2 md5sum oauth2 oauth2.0 pbkdf2 rs256 rs512 es256 sha256 sha384 sha512 totp30 utf8mb4 \
     web3 x509v3 x25519 sha3",
);

/// How many bytes of a value are in parts that look random.
pub(super) fn random(value: &[u8]) -> usize {
    let value = &value[..value.len().min(LOOKED_AT)];
    let parts = value.split(|byte| !is_letter(*byte) && !byte.is_ascii_digit());
    parts.filter(|part| is_random(part)).map(<[u8]>::len).sum()
}

/// Whether a value is at once seen to be a short word, which is no secret under any name: most are.
pub(super) fn begins_with_word(value: &[u8]) -> bool {
    begins_with_letters(value, SHORTEST)
}

/// The same for a value in a sentence, where words are longer.
pub(super) fn begins_with_prose(value: &[u8]) -> bool {
    begins_with_letters(value, 16)
}

fn begins_with_letters(value: &[u8], most: usize) -> bool {
    let capital = leading(value, 1, |byte| byte.is_ascii_uppercase());
    let length = capital + leading(&value[capital..], most, |byte| byte.is_ascii_lowercase());
    // Nothing at all, or a line break, is no value either.
    length < most && value.get(length).is_none_or(u8::is_ascii_whitespace)
}

/// Whether a value is a path or an address.
pub(super) fn is_address(value: &[u8]) -> bool {
    memchr::memmem::find(&value[..value.len().min(LOOKED_AT)], b"://").is_some()
        || value.starts_with(b"~/")
        || value.starts_with(b"arn:")
        // A number, or an account or a contract on a chain, which are public; a key of one is longer.
        || matches!(value, [b'0', b'x', hex @ ..]
            if (hex.len() <= 16 || hex.len() == 40) && hex.iter().all(u8::is_ascii_hexdigit))
}

/// A value without the punctuation of the sentence that it ends, and cut where dots say that it was.
pub(super) fn trimmed(value: &[u8]) -> &[u8] {
    let cut =
        ["...", "…"].iter().filter_map(|dots| memchr::memmem::find(value, dots.as_bytes())).min();
    let value = &value[..cut.unwrap_or(value.len())];
    let ends_sentence = |byte| b".,:)]}*|\\".contains(&byte);
    &value[..value.len() - trailing(value, value.len(), ends_sentence)]
}

/// Whether a value was drawn by lot. For what may be a sentence, where a name proves less.
pub(super) fn is_drawn(value: &[u8]) -> bool {
    let makeup = Makeup::of(value);
    let drawn = random(value) >= 8 || makeup.specials >= 3 && makeup.is_mixed;
    value.len() >= 10 && drawn && is_written_out(value)
}

/// Whether a value looks made by a machine, where a sentence says what it is.
pub(super) fn is_made(value: &[u8]) -> bool {
    let is_one_word = value.iter().skip(1).all(u8::is_ascii_lowercase);
    !is_one_word && is_secret(value)
}

/// Whether a value behind a secret's name is the secret: it is, unless it is plainly something else.
pub(super) fn is_secret(value: &[u8]) -> bool {
    let is_made = || match has_blanks(value) {
        true => is_phrase(value, |_| false),
        false => !is_plain(value) || is_number(value),
    };
    value.len() >= SHORTEST && is_written_out(value) && is_made()
}

/// The same behind a password's name: people choose shorter ones, made of words.
pub(super) fn is_password(value: &[u8]) -> bool {
    let makeup = Makeup::of(value);
    let chosen = match makeup.separators {
        0 => makeup.is_mixed || makeup.has_letters && makeup.specials_within > 0,
        // `step-2` is a name. `blue-Kestrel-42!` is not.
        _ => makeup.is_mixed && makeup.specials > 0 && !is_mail_address(value),
    };
    let is_one = || match has_blanks(value) {
        true => is_phrase(value, |part| Makeup::of(part).is_mixed && !is_known(part)),
        false => !is_known(value) && (chosen || !is_plain(value) || is_number(value)),
    };
    value.len() >= 6 && is_written_out(value) && is_one()
}

fn is_known(value: &[u8]) -> bool {
    WORDS.iter().any(|word| value.eq_ignore_ascii_case(word.as_bytes()))
}

/// Whether a value consists of digits.
pub(super) fn is_number(value: &[u8]) -> bool {
    value.iter().all(u8::is_ascii_digit)
}

fn has_blanks(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_whitespace)
}

/// Whether a value in quotes, with blanks, is more than a sentence: at least a third of it is no words.
fn is_phrase(value: &[u8], is_chosen: impl Fn(&[u8]) -> bool) -> bool {
    let is_odd = |part: &&[u8]| {
        if is_chosen(part) {
            return true;
        }
        let mut runs = part.split(|byte| !is_letter(*byte) && !byte.is_ascii_digit());
        !runs.all(|run| run.is_empty() || is_wordy(run))
    };
    let parts = value.split(u8::is_ascii_whitespace);
    let n_odd: usize = parts.filter(is_odd).map(<[u8]>::len).sum();
    value.len() <= LONGEST_PHRASE && n_odd * 3 >= value.len()
}

/// Whether a value consists of words, numbers, and the signs between them: `us-east-1`, `Option<String>`, `10.0.0.1`.
fn is_plain(value: &[u8]) -> bool {
    let value = &value[..value.len().min(LOOKED_AT)];
    let is_in_run = |byte: &u8| is_letter(*byte) || byte.is_ascii_digit();
    let (mut n_spoken, mut n_signs, mut is_code) = (0, 0, false);
    for run in value.chunk_by(|a, b| is_in_run(a) == is_in_run(b)) {
        if !is_in_run(&run[0]) {
            is_code |= run.iter().any(|byte| !b"-_./:,+|".contains(byte));
            n_signs += run.len();
        } else if is_wordy(run) {
            n_spoken += spoken(run);
        } else {
            return false;
        }
    }
    // Few signs make a name or a date. Among many, drawn characters fall into runs too short to tell.
    let is_one_case =
        !value.iter().any(u8::is_ascii_uppercase) || !value.iter().any(u8::is_ascii_lowercase);
    let is_name =
        n_signs * 3 <= value.len() && !is_code && (is_one_case || n_spoken * 3 >= value.len());
    (is_name || n_spoken * 3 > value.len() * 2) && has_words(value)
}

/// Whether words are written like `Vec<u8>` or `[]byte`.
fn is_type(value: &[u8]) -> bool {
    let bare = &value[leading(value, 4, |byte| b"[]*&".contains(&byte))..];
    if bare.len() < value.len() {
        return bare.len() > 2 && bare.iter().all(u8::is_ascii_alphabetic) && is_wordy(bare);
    }
    let open = leading(value, 32, |byte| byte.is_ascii_alphabetic());
    let is_word = |run: &[u8]| run.is_empty() || is_wordy(run);
    let mut runs = value.split(|byte| !byte.is_ascii_alphanumeric());
    open >= 3 && value.get(open) == Some(&b'<') && value.ends_with(b">") && runs.all(is_word)
}

fn is_mail_address(value: &[u8]) -> bool {
    let (name, host) = value.split_at(memchr::memchr(b'@', value).unwrap_or(value.len()));
    !name.is_empty() && host.contains(&b'.') && Makeup::of(host).specials == 1
}

/// Which characters a value has, and how many.
struct Makeup {
    has_letters: bool,
    /// Letters and digits.
    is_mixed: bool,
    specials: usize,
    /// Those neither first nor last: code and prose have them at the ends too.
    specials_within: usize,
    separators: usize,
}

impl Makeup {
    fn of(value: &[u8]) -> Self {
        let shown = String::from_utf8_lossy(&value[..value.len().min(LOOKED_AT)]);
        let count = |test: fn(char) -> bool| shown.chars().filter(|c| test(*c)).count();
        let is_special = |c| matches!(c, '!' | '#' | '$' | '%' | '^' | '&' | '*' | '?' | '~' | '@');
        let at_ends = shown.starts_with(is_special) as usize + shown.ends_with(is_special) as usize;
        let specials = count(is_special);
        let has_letters = shown.contains(char::is_alphabetic);
        Self {
            has_letters,
            is_mixed: has_letters && shown.contains(|c: char| c.is_ascii_digit()),
            specials,
            specials_within: specials.saturating_sub(at_ends),
            separators: count(|c| matches!(c, '-' | '_' | '.' | '/' | ':' | '=' | ',')),
        }
    }
}

/// Whether a value is there, and not code, a type or an address that leads to it.
fn is_written_out(value: &[u8]) -> bool {
    let value = &value[..value.len().min(LOOKED_AT)];
    let colour = matches!(value, [b'#', hex @ ..] if hex.len() <= 8 && hex.iter().all(u8::is_ascii_hexdigit));
    let is_in_link =
        |byte: &u8| is_letter(*byte) || byte.is_ascii_digit() || b"[] _-#|/.".contains(byte);
    let link = value.starts_with(b"[[") && value.iter().all(is_in_link);
    !colour
        && !link
        && !is_address(value)
        && !is_placeholder(value)
        // Dots and bullets in place of a password.
        && value.iter().any(|byte| byte.is_ascii_alphanumeric())
}

/// Whether a value without quotes is code: what a function returns, a part of something, a type.
pub(super) fn is_code(value: &[u8]) -> bool {
    let value = &value[..value.len().min(LOOKED_AT)];
    is_type(value) || is_call(value) || is_getter(value) || is_count(value)
}

/// `getCsrfToken()`, also where the name is no plain words.
fn is_getter(value: &[u8]) -> bool {
    let rest =
        [&b"get"[..], b"fetch", b"load", b"read"].iter().find_map(|verb| value.strip_prefix(*verb));
    let Some(rest) =
        rest.filter(|rest| rest.first().is_some_and(|c| c.is_ascii_uppercase() || *c == b'_'))
    else {
        return false;
    };
    let name = leading(rest, 64, |byte| is_letter(byte) || byte == b'_');
    rest.get(name) == Some(&b'(') && !rest[name..].iter().any(u8::is_ascii_alphanumeric)
}

/// A number in JSON, before the next member: `14,"completion_tokens":8`. A list of a few digits: `['123'`.
fn is_count(value: &[u8]) -> bool {
    let digits = leading(value, 20, |byte| byte.is_ascii_digit());
    let is_in_list = |byte: &u8| byte.is_ascii_digit() || b"[]()'\",".contains(byte);
    let is_list = || {
        value.starts_with(b"[")
            && value.iter().all(is_in_list)
            && value.iter().filter(|byte| byte.is_ascii_digit()).count() < 6
    };
    (1..=6).contains(&digits) && value[digits..].starts_with(b",\"") || is_list()
}

/// `getpass()`, `settings.db["key"]`, `()=>unknown`.
fn is_call(value: &[u8]) -> bool {
    if value.starts_with(b"()") {
        return true;
    }
    let joins = |byte: &u8| b"_.:->!$".contains(byte);
    let is_called = |byte: &u8| is_letter(*byte) || byte.is_ascii_digit() || joins(byte);
    let Some(open) = value.iter().position(|byte| !is_called(byte)) else { return false };
    let (name, arguments) = (&value[..open], &value[open + 1..]);
    let mut parts = name.split(joins).filter(|part| !part.is_empty());
    let n_spoken: usize = parts.clone().map(spoken).sum();
    let is_method = || is_known(name);
    let is_named =
        n_spoken >= 4 || is_method() || [&b"env"[..], b"get", b"var", b"new"].contains(&name);
    let mut words = arguments.split(|byte| !is_letter(*byte) && !byte.is_ascii_digit());
    let is_quoted = matches!(arguments.first(), Some(b'"' | b'\'' | b'`'));
    let opens = match value[open] {
        b'[' | b'{' => is_quoted || arguments.first().is_none_or(u8::is_ascii_alphabetic),
        sign => sign == b'(',
    };
    opens
        && is_named
        && parts.all(is_wordy)
        && (is_quoted || n_spoken >= 8 || words.all(|word| word.is_empty() || is_wordy(word)))
}

/// Whether letters and digits take turns as they do in no word.
fn is_random(part: &[u8]) -> bool {
    // `sha256`, `v20260105`, `2fa`, `X509Certificate`: a number at a word, or within one, makes fewer turns.
    let turns =
        part.windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit()).count();
    let has_digits = part.iter().any(u8::is_ascii_digit);
    part.len() >= 8 && turns >= 3 || part.len() >= 16 && !has_digits && is_random_letters(part)
}

fn is_random_letters(part: &[u8]) -> bool {
    let upper = part.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    let humps = part
        .windows(2)
        .filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
        .count();
    let mixed =
        upper * 10 >= part.len() * 3 && upper * 10 <= part.len() * 7 && humps * 5 >= part.len();
    let mut without_vowel = part.split(|byte| b"aeiouyAEIOUY".contains(byte) || !byte.is_ascii());
    mixed || without_vowel.any(|run| run.len() >= 7)
}

pub(super) fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || !byte.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_numbers_are_not_drawn_by_lot() {
        for word in [
            "",
            "token",
            "sha256",
            "v20260105",
            "2fa",
            "ed25519",
            "us-east-1",
            "x86_64",
            "2026-01-05T10:20:30Z",
            "10.0.0.1:8080",
            "1234567890123456",
            "getUserAccessTokenFromRequest",
            "CREDENTIAL_PROVIDER_CHAIN",
            "Donaudampfschifffahrtsgesellschaft",
            "my-app-secret-2",
            "k8s-i18n-e2e",
            "gpt-4o-mini-2024",
        ] {
            assert_eq!(random(word.as_bytes()), 0, "{word}");
        }
        for drawn in
            ["q7Rz2mXk", "3f9a8b7c6d5e", "aQwErTzUiOpAsDfG", "xkcdqwrtpsdfghzz", "a1b2c3d4e5f6a7b8"]
        {
            assert_eq!(random(drawn.as_bytes()), drawn.len(), "{drawn}");
        }
        assert_eq!(random(b"app-q7Rz2mXk-2026"), 8);
    }

    #[test]
    fn passwords_are_chosen_by_people() {
        for chosen in [
            "hunter2",
            "P@ssword",
            "Summer2026!",
            "blue-Kestrel-42!",
            "kite7Runner",
            "q7Rz-2mXk-9TbWx8Lp",
        ] {
            assert!(is_password(chosen.as_bytes()), "{chosen}");
        }
        for other in [
            "string",
            "ab1",
            "required",
            "argon2id",
            "1Password",
            "step-2",
            "user@example.com",
            "changeme1",
            "$PASSWORD",
            "${PW1}",
            "/run/secrets/db1",
            "https://a1.example",
            "[[Note 1]]",
            "!vault",
            "&mut",
        ] {
            assert!(!is_password(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn code_is_no_secret() {
        for code in [
            "getpass2()",
            "os.environ[\"X\"",
            "Vec<u8>",
            "env(\"A1\"",
            "ec.generate_key(ec.SECP256R1(",
        ] {
            assert!(is_code(code.as_bytes()), "{code}");
        }
        for drawn in ["RSEKO(c)J~~}7mUg", "a(b", "q7Rz(x)", "Ab<c"] {
            assert!(!is_code(drawn.as_bytes()), "{drawn}");
        }
    }
}
