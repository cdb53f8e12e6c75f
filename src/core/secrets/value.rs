//! Judges a value: is it a secret, or a placeholder, a reference, a type or plain words?

use super::runs::{leading, trailing};
use super::word::{is_wordy, spoken};
use crate::core::text::words::words;

/// Nothing longer is looked at: what a value is shows at its beginning.
const LOOKED_AT: usize = 256;

/// Whoever writes one of these means that the reader should put a value in its place.
static STAND_INS: [&str; 18] = words(
    "example placeholder redacted masked changeme change-me change_me changethis your \
     dummy replace insert goes-here goes_here 12345678 abcdefgh 00000000 deadbeef",
);
/// Where a value that is computed or filled in later begins.
const TEMPLATES: &[&str] = &["${", "{{", "$(", "<%=", "%{", "#{"];
/// Names of methods and products that have digits, and so look like passwords.
static WORDS: [&str; 27] = words(
    "1password argon2 argon2i argon2id base32 base58 base64 bcrypt2 ed25519 hmac256 hs256 hs512 \
     keepass2 md5sum oauth2 oauth2.0 pbkdf2 rs256 rs512 es256 sha256 sha384 sha512 totp30 utf8mb4 \
     web3 x509v3",
);

/// How many bytes of a value are in parts that look random.
pub(super) fn random(value: &[u8]) -> usize {
    let value = &value[..value.len().min(LOOKED_AT)];
    let parts = value.split(|byte| !is_letter(*byte) && !byte.is_ascii_digit());
    parts.filter(|part| is_random(part)).map(<[u8]>::len).sum()
}

/// Whether a value is at once seen to be a short word of prose, which is no secret under any name: most are.
pub(super) fn begins_with_word(value: &[u8]) -> bool {
    let capital = leading(value, 1, |byte| byte.is_ascii_uppercase());
    let length = capital + leading(&value[capital..], 16, |byte| byte.is_ascii_lowercase());
    // Nothing at all, or a line break, is no value either.
    length < 16 && value.get(length).is_none_or(u8::is_ascii_whitespace)
}

/// Whether a value is a placeholder: `your-token`, `${TOKEN}`, `xxxx`.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    let value = &value[..value.len().min(LOOKED_AT)];
    // `$oidc.clientSecret`.
    let is_named = |byte: &u8| is_letter(*byte) || matches!(byte, b'_' | b'.' | b'}' | b'%');
    let is_variable = |name: &[u8]| {
        name.iter().all(is_named)
            && name.split(|byte| !is_letter(*byte)).all(|part| part.is_empty() || is_wordy(part))
    };
    let variable = matches!(value, [b'$' | b'{' | b'%', name @ ..] if is_variable(name));
    // `%%-name-%%`.
    let filled = value.len() > 4 && value.starts_with(b"%%") && value.ends_with(b"%%");
    let is_in_name = |byte: &u8| is_letter(*byte) || b"-_.%".contains(byte);
    let variable = variable || is_bracketed(value) || filled && value.iter().all(is_in_name);
    let template = TEMPLATES.iter().any(|open| {
        let at = memchr::memmem::find(value, open.as_bytes());
        // `${{ secrets.TOKEN }}`.
        let is_first = |at: usize| matches!(value[..at], [] | [b'$']);
        at.is_some_and(|at| fills_in(&value[at + open.len()..], *open == "{{", is_first(at)))
    });
    // Nobody draws the same sign eight times; but Amazon puts `//////////` into its session tokens.
    let is_repeated = |same: &[u8]| match (same[0], same.len()) {
        (b'x' | b'X', length) => length >= 6 || length >= 4 && length * 4 >= value.len(),
        (b'*', length) => length >= 3 && length * 2 >= value.len(),
        (sign, length) => length >= 8 && sign != b'/',
    };
    let repeated = value.chunk_by(PartialEq::eq).any(is_repeated);
    let says_so = || STAND_INS.iter().any(|word| contains_ignoring_case(value, word.as_bytes()));
    variable || template || repeated || says_so()
}

/// Whether a value is a name in angle brackets, alone or the first of a list: `<api-key>`, `[<secret>, …]`.
fn is_bracketed(value: &[u8]) -> bool {
    let list = leading(value, 3, |byte| b"[(\"'".contains(&byte));
    let Some(name) = value[list..].strip_prefix(b"<") else { return false };
    let length = leading(name, 64, |byte| is_letter(byte) || b"_-.:|/ ".contains(&byte));
    let mut words = name[..length].split(|byte| !is_letter(*byte));
    let behind = &name[length..];
    // What ends a value without quotes may have cut off the last bracket.
    (behind.is_empty() || behind[0] == b'>')
        && !behind.iter().any(u8::is_ascii_alphanumeric)
        && words.any(|word| word.len() >= 3 && is_wordy(word))
}

/// Whether what follows the opening of a template names what is filled in: `SECRET}`, ` token }}`. At the beginning of a
/// value it may be cut off.
fn fills_in(inner: &[u8], is_double: bool, is_first: bool) -> bool {
    let name = inner.trim_ascii_start();
    // `./tool.py`.
    let is_joint = |byte: &u8| b"_.-/".contains(byte);
    let length = leading(name, 64, |byte| byte.is_ascii_alphanumeric() || is_joint(&byte));
    let mut parts = name[..length].split(is_joint).filter(|part| !part.is_empty());
    let is_named = parts.clone().next().is_some() && parts.all(is_wordy);
    match name.get(length) {
        None => is_first && (is_named || name.is_empty()),
        Some(b'}') => is_named && (is_first || !is_double || name[length..].starts_with(b"}}")),
        Some(sign) => is_named && is_first && (b"[:?(".contains(sign) || *sign == b' '),
    }
}

/// Whether a value is a path or an address.
pub(super) fn is_address(value: &[u8]) -> bool {
    memchr::memmem::find(&value[..value.len().min(LOOKED_AT)], b"://").is_some()
        // A number, or an account or a contract on a chain, which are public; a key of one is longer.
        || matches!(value, [b'0', b'x', hex @ ..] if hex.len() <= 40 && hex.iter().all(u8::is_ascii_hexdigit))
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

/// Whether a value behind a secret's name is the secret: it is, unless it is plainly something else.
pub(super) fn is_secret(value: &[u8]) -> bool {
    value.len() >= 8 && is_written_out(value) && !is_plain(value)
}

/// The same behind a password's name: people choose shorter ones, made of words.
pub(super) fn is_password(value: &[u8]) -> bool {
    let makeup = Makeup::of(value);
    let chosen = match makeup.separators {
        0 => makeup.is_mixed || makeup.has_letters && makeup.specials_within > 0,
        // `step-2` is a name. `blue-Kestrel-42!` is not.
        _ => makeup.is_mixed && makeup.specials > 0 && !is_mail_address(value),
    };
    let known = WORDS.iter().any(|word| value.eq_ignore_ascii_case(word.as_bytes()));
    value.len() >= 6 && !known && (chosen || !is_plain(value)) && is_written_out(value)
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
    is_name || n_spoken * 3 > value.len() * 2
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
        && !value.iter().any(u8::is_ascii_whitespace)
        // Dots and bullets in place of a password.
        && value.iter().any(|byte| byte.is_ascii_alphanumeric())
}

/// Whether a value without quotes is code: what a function returns, a part of something, a type.
pub(super) fn is_code(value: &[u8]) -> bool {
    let value = &value[..value.len().min(LOOKED_AT)];
    is_type(value) || is_call(value) || is_getter(value) || is_number(value)
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
fn is_number(value: &[u8]) -> bool {
    let digits = leading(value, 20, |byte| byte.is_ascii_digit());
    let is_in_list = |byte: &u8| byte.is_ascii_digit() || b"[]()'\",".contains(byte);
    let is_list = || {
        value.starts_with(b"[")
            && value.iter().all(is_in_list)
            && value.iter().filter(|byte| byte.is_ascii_digit()).count() < 6
    };
    digits > 0 && value[digits..].starts_with(b",\"") || is_list()
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
    let is_named = n_spoken >= 4 || [&b"env"[..], b"get", b"var", b"new"].contains(&name);
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

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || !byte.is_ascii()
}

/// `word` is lower case.
fn contains_ignoring_case(text: &[u8], word: &[u8]) -> bool {
    memchr::memchr2_iter(word[0], word[0].to_ascii_uppercase(), text)
        .any(|at| text.get(at..at + word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word)))
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

    #[test]
    fn a_stand_in_is_no_secret() {
        for text in [
            "your-token",
            "XXXXXXXX",
            "${TOKEN}",
            "{{ token }}",
            "$TOKEN",
            "%TOKEN%",
            "{token}",
            "aaaaaaaaa",
            "a***b",
            "<api-key>",
            "<pd-api-token>",
            "[<secret>,",
            "$oidc.azure.clientSecret",
            "$(./manage.py",
        ] {
            assert!(is_placeholder(text.as_bytes()), "{text}");
        }
        for text in ["q7Rz2mXk", "$q7Rz2mXk", "{q7Rz", "aaaa", "<q7Rz2mXk>", "<Rz", "<api>q7Rz2mXk"]
        {
            assert!(!is_placeholder(text.as_bytes()), "{text}");
        }
    }
}
