//! Judges a value: is it a secret, or a placeholder, a reference, a type or plain words?

use super::LONGEST_WORD;
use super::code::ends_in_secret;
use super::dictionary::{has_words, is_one_token};
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

/// What says that there is no secret, or of which type it is.
static LITERALS: [&str; 29] = words(
    "true false null none nil undefined empty unset disabled enabled required optional string bytes number integer \
     boolean text value hidden unknown basic bearer default auto file foobar testing abc123",
);
/// A word that ends so names a secret, or the account that everyone has.
static NAMING: [&str; 14] = words(
    "password passwd passwort pass pwd secret token key credentials creds postgres admin root guest",
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

/// Whether a value may look made by a machine, as its first word tells: it has a digit, or a capital within.
pub(super) fn may_be_made(value: &[u8]) -> bool {
    let word = leading(value, LOOKED_AT, |byte| byte > b' ');
    let word = &value[..word];
    word.len() >= SHORTEST
        && (word.iter().any(u8::is_ascii_digit) || word[1..].iter().any(u8::is_ascii_uppercase))
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

/// The same behind the name of a variable that holds a secret and nothing else, right behind the sign: `PASSWORD=letmein`. There
/// a word is a secret, too, unless it names one or says that there is none.
pub(super) fn is_sure(value: &[u8]) -> bool {
    let value = &value[..value.len().min(LOOKED_AT)];
    let is_one_of = |words: &[&str]| words.iter().any(|w| value.eq_ignore_ascii_case(w.as_bytes()));
    // `prod/db/password`, `os.environ`, `vault:secret/app`.
    let is_reference = || value.iter().any(|byte| b"/.:|(".contains(byte)) && is_plain(value);
    let is_named = || {
        let small = value.to_ascii_lowercase();
        let mut parts = small.split(|byte| !byte.is_ascii_alphabetic());
        let n_digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
        n_digits < 2
            && is_plain(value)
            && parts.any(|part| NAMING.iter().any(|word| part.ends_with(word.as_bytes())))
    };
    // `VOTRE_JETON_ICI`.
    let is_told = value.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_')
        && value.iter().filter(|byte| **byte == b'_').count() >= 2;
    value.len() >= 5
        && is_written_out(value)
        && !is_told
        && !is_one_of(&LITERALS)
        && !is_reference()
        && !is_named()
        && match (has_blanks(value), is_number(value)) {
            (true, _) => is_password(value),
            (_, true) => value.len() >= 6,
            _ => true,
        }
}

/// The same behind a password's name: people choose shorter ones, made of words.
pub(super) fn is_password(value: &[u8]) -> bool {
    let makeup = Makeup::of(value);
    let chosen = match makeup.separators {
        0 => makeup.is_mixed || makeup.has_letters && makeup.specials_within > 0,
        // `step-2` is a name. `blue-Kestrel-42!` and `Kestrel-garden7803` are not.
        _ => {
            makeup.is_mixed
                && (makeup.specials > 0 || has_numbered_word(value))
                && !is_mail_address(value)
        }
    };
    let is_one = || match has_blanks(value) {
        true => is_phrase(value, |part| Makeup::of(part).is_mixed && !is_known(part)),
        false => !is_known(value) && (chosen || !is_plain(value) || is_number(value)),
    };
    value.len() >= 6 && is_written_out(value) && is_one()
}

/// Whether a number of several digits is joined to a word: in names a sign parts them.
fn has_numbered_word(value: &[u8]) -> bool {
    let mut parts = value.split(|byte| !is_letter(*byte) && !byte.is_ascii_digit());
    !value.contains(&b'/')
        && parts.any(|part| {
            let digits = trailing(part, part.len(), |byte| byte.is_ascii_digit());
            digits >= 2 && part.len() - digits >= 3 && !is_known(part)
        })
}

pub(super) fn is_known(value: &[u8]) -> bool {
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

/// Whether letters and digits are a number, or a word that ends in one: `staging2`.
fn is_numbered_word(run: &[u8]) -> bool {
    let digits = trailing(run, run.len(), |byte| byte.is_ascii_digit());
    let word = &run[..run.len() - digits];
    word.is_empty()
        || (run.len() < SHORTEST || run.len() >= LONGEST_WORD) && is_wordy(run)
        || (1..=4).contains(&digits) && word.len() >= 3 && is_wordy(word) && is_one_token(word)
}

/// Whether a value consists of words, numbers, and the signs between them: `us-east-1`, `Option<String>`, `10.0.0.1`.
fn is_plain(value: &[u8]) -> bool {
    let value = &value[..value.len().min(LOOKED_AT)];
    let is_in_run = |byte: &u8| is_letter(*byte) || byte.is_ascii_digit();
    if is_known(value) {
        return true;
    }
    if value.iter().all(is_in_run) && !value.iter().all(|byte| is_letter(*byte)) {
        return is_numbered_word(value);
    }
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
    // `[a-z0-9]+`.
    let is_pattern = memchr::memchr_iter(b'[', value).any(|at| {
        [&b"[a-z"[..], b"[A-Z", b"[0-9"].iter().any(|sign| value[at..].starts_with(sign))
    });
    !colour
        && !link
        && !is_pattern
        && !ends_in_secret(value)
        && !value.starts_with(b" ")
        && !is_address(value)
        && !is_placeholder(value)
        // Dots and bullets in place of a password.
        && value.iter().any(|byte| byte.is_ascii_alphanumeric())
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
    fn behind_the_name_of_a_variable_a_word_is_a_secret() {
        for secret in ["letmein", "kestrel-garden-lamp", "ab3de7gh", "Sommer2026", "123456"] {
            assert!(is_sure(secret.as_bytes()), "{secret}");
        }
        for other in [
            "true",
            "none",
            "8192",
            "postgres",
            "password",
            "my-secret-key",
            "db_password",
            "VOTRE_JETON_ICI",
            "/run/secrets/db",
            "prod/db/app",
            "vault:secret/app",
            "changeme",
            "$PASSWORD",
        ] {
            assert!(!is_sure(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn passwords_are_chosen_by_people() {
        for chosen in [
            "hunter2",
            "P@ssword",
            "Summer2026!",
            "blue-Kestrel-42!",
            "Kestrel-garden7803",
            "ldEasNoNxPrü",
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
}
