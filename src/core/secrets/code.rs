//! Knows code where a value could be: what a function returns, a part of something, a type, something that is built.

use super::dictionary::is_one_token;
use super::runs::{leading, trailing};
use super::value::{LOOKED_AT, is_known, is_letter};
use super::word::{is_wordy, spoken};

/// Whether a value without quotes is code: what a function returns, a part of something, a type.
pub(super) fn is_code(value: &[u8]) -> bool {
    let value = &value[..value.len().min(LOOKED_AT)];
    is_type(value)
        || is_generic(value)
        || is_opened(value)
        || is_method(value)
        || is_list(value)
        || is_call(value)
        || is_getter(value)
        || is_count(value)
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

/// `['user'`: the first of a list of names.
fn is_list(value: &[u8]) -> bool {
    let item = value.strip_prefix(b"[").unwrap_or_default();
    let quote = leading(item, 1, |byte| b"'\"".contains(&byte));
    let name = &item[quote..];
    let name = &name[..name.len() - trailing(name, 1, |byte| b"'\"".contains(&byte))];
    name.len() >= 3 && name.iter().all(u8::is_ascii_alphabetic) && is_path(name)
}

/// A shorter type with parameters has a name of three letters at least.
const SHORTEST_TYPE: usize = 8;

/// Whether a value is a type with parameters, maybe cut off at a blank: `Callable[[str]`, `Option<&'a`, `[]byte("x"`.
fn is_generic(value: &[u8]) -> bool {
    let bare = &value[leading(value, 4, |byte| b"[]*&".contains(&byte))..];
    let name = leading(bare, 64, |byte| byte.is_ascii_alphanumeric() || b"_:.".contains(&byte));
    let parameters = &bare[name..];
    let is_in = |byte: &u8| byte.is_ascii_alphanumeric() || b"_<>[]()&',:*".contains(byte);
    let is_list = value.starts_with(b"[]") && name >= 3 && value[2].is_ascii_alphabetic();
    is_list
        || matches!(parameters.first(), Some(b'<' | b'['))
            && (name >= 3 || bare.len() >= SHORTEST_TYPE)
            && is_path(&bare[..name])
            && (parameters[0] == b'<' || !bare[..name].contains(&b'.'))
            && parameters.iter().all(is_in)
            && parameters.split(|byte| !is_letter(*byte) && !byte.is_ascii_digit()).all(is_path)
}

/// Whether a value is what stands before the arguments of a call or the fields of a struct: `Uuid::new_v4(`, `[]Token{`.
fn is_opened(value: &[u8]) -> bool {
    let Some((b'(' | b'{' | b'[', name)) = value.split_last() else { return false };
    let name = name.strip_suffix(b"(").unwrap_or(name);
    let bare = &name[leading(name, 4, |byte| b"[]*&".contains(&byte))..];
    let is_in = |byte: &u8| byte.is_ascii_alphanumeric() || b"_:.".contains(byte);
    let has_digits = bare.iter().any(u8::is_ascii_digit);
    !bare.is_empty() && bare.iter().all(is_in) && (!has_digits || is_path(bare))
}

/// Whether a value calls something by a path of names, with whatever arguments, or by a macro: `repo.GetCreds(x`, `Token![;`.
fn is_method(value: &[u8]) -> bool {
    let path = leading(value, 64, |byte| byte.is_ascii_alphanumeric() || b"_:.".contains(&byte));
    let (name, rest) = value.split_at(path);
    let n_letters = name.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let is_joined = name.windows(2).any(|pair| pair == b"::" || pair[0] == b'.');
    let is_called = rest.starts_with(b"(") && is_joined;
    let is_macro = rest.starts_with(b"![") || rest.starts_with(b"!(");
    name.starts_with(b"::")
        || memchr::memmem::find(value, b">::").is_some()
        || (is_called || is_macro) && n_letters >= 5 && is_path(name)
}

/// Whether a value is a name in code: by what it holds, by its words, or by what follows it: `csrfToken`, `tls.RequireClientCert`,
/// `AuthDotJson {`.
pub(super) fn is_named(value: &[u8], behind: &[u8]) -> bool {
    let bare = &value[leading(value, 2, |byte| b"*&".contains(&byte))..];
    let is_in = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    if bare.len() < 3 || !bare.iter().all(is_in) || bare[0].is_ascii_digit() {
        return false;
    }
    let n_digits = bare.iter().filter(|byte| byte.is_ascii_digit()).count();
    let is_capital = bare[0].is_ascii_uppercase() && n_digits == 0;
    let is_joined =
        || bare[1..].iter().any(|byte| byte.is_ascii_uppercase() || b"._".contains(byte));
    is_capital && behind.starts_with(b" {")
        || behind.starts_with(b" + ") && bare.len() < 16
        || ends_in_secret(bare)
        || n_digits == 0 && is_joined() && is_path(bare)
        || n_digits == 2 && is_type_name(bare)
}

/// Whether letters are a name whose last word says what it holds: `CodexAuth`, `csrfToken`, `db.password`, `HF_TOKEN`.
pub(super) fn ends_in_secret(name: &[u8]) -> bool {
    const LAST: [&[u8]; 12] = [
        b"auth",
        b"token",
        b"creds",
        b"credential",
        b"secret",
        b"password",
        b"passwd",
        b"pass",
        b"pwd",
        b"key",
        b"authorization",
        b"passphrase",
    ];
    let is_in = |byte: &u8| byte.is_ascii_alphabetic() || b"_.-".contains(byte);
    let single = name.strip_suffix(b"s").or(name.strip_suffix(b"S")).unwrap_or(name);
    let ends = |name: &[u8], last: &[u8]| {
        let Some(at) = name.len().checked_sub(last.len()) else { return false };
        let (front, word) = name.split_at(at);
        let is_whole = match front.last() {
            Some(b'_' | b'.' | b'-') => true,
            Some(before) => {
                word[0].is_ascii_uppercase()
                    && (before.is_ascii_lowercase() || word[1].is_ascii_lowercase())
            }
            None => false,
        };
        is_whole && word.eq_ignore_ascii_case(last)
    };
    name.iter().all(is_in) && LAST.iter().any(|last| ends(name, last) || ends(single, last))
}

/// `AtomicU64`: a type says how many bits it has.
fn is_type_name(name: &[u8]) -> bool {
    let has_bits = [&b"U64"[..], b"U32", b"I64", b"I32", b"Uint64", b"Uint32", b"Int64", b"Int32"];
    has_bits.iter().any(|ending| name.ends_with(ending)) && is_camel_case(name)
}

/// Whether the parts of a name are words, or short.
fn is_path(name: &[u8]) -> bool {
    let mut parts = name.split(|byte| b"_:.".contains(byte)).filter(|part| !part.is_empty());
    parts.all(|part| part.len() <= 2 || is_wordy(part) || is_camel_case(part))
}

/// Whether letters are words of the dictionary, of four letters on average, each with a capital: `VecDeque`, `AtomicU64`.
fn is_camel_case(part: &[u8]) -> bool {
    let digits = trailing(part, 3, |byte| byte.is_ascii_digit());
    let letters = &part[..part.len() - digits];
    let is_start = |at: &usize| {
        let next_is_small = letters.get(at + 1).is_some_and(u8::is_ascii_lowercase);
        letters[*at].is_ascii_uppercase() && (letters[at - 1].is_ascii_lowercase() || next_is_small)
    };
    let mut starts: Vec<usize> = (1..letters.len()).filter(is_start).collect();
    starts.push(letters.len());
    let mut from = 0;
    let words: Vec<&[u8]> =
        starts.into_iter().map(|to| &letters[std::mem::replace(&mut from, to)..to]).collect();
    let n_short = words.iter().filter(|word| word.len() <= 2).count();
    letters.iter().all(u8::is_ascii_alphabetic)
        && n_short <= 1
        && words.iter().any(|word| word.len() >= 4)
        && (words.len() - n_short) * 4 <= letters.len() + 1
        && words.into_iter().all(|word| word.len() <= 2 || is_one_token(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_code_is_told_by_its_words_or_by_what_follows() {
        for (name, behind) in [
            ("PyxTokens", ","),
            ("csrfToken", ""),
            ("AuthDotJson", " {"),
            ("cfg.SASLPassword", ","),
            ("tls.RequireAndVerifyClientCert", ""),
            ("AtomicU64", ","),
            ("v1Prefix", " + x"),
        ] {
            assert!(is_named(name.as_bytes(), behind.as_bytes()), "{name}");
        }
        for drawn in ["kRtQwZpLmNbX", "kite7Runner", "LSA7KXYF", "silverBridge50", "hunter"] {
            assert!(!is_named(drawn.as_bytes(), b""), "{drawn}");
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
            "Callable[[str]",
            "Option<&'a",
            "LazyLock<Option<Vec<u8>>>",
            "Uuid::new_v4(",
            "[]Token{",
            "[]byte(\"test\"",
            "Token![;",
            "::core::ffi::c_int",
            "repo.GetGitCreds(r.store",
            "['user'",
        ] {
            assert!(is_code(code.as_bytes()), "{code}");
        }
        for drawn in ["RSEKO(c)J~~}7mUg", "a(b", "q7Rz(x)", "Ab<c"] {
            assert!(!is_code(drawn.as_bytes()), "{drawn}");
        }
    }
}
