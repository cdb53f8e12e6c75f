//! Finds hashes of passwords: `$2b$12$…`, `$argon2id$…`, `$6$salt$…`, `{SSHA}…`, `pbkdf2_sha256$…`. Whoever has one can
//! guess the password at leisure.

use std::sync::LazyLock;

use memchr::memmem::{self, Finder};

use super::FoundSecret;
use super::runs::leading;

/// How a hash begins, and how long it is from there on at least.
const BEGINNINGS: &[(&[u8], usize)] = &[
    (b"$2a$", 56),
    (b"$2b$", 56),
    (b"$2x$", 56),
    (b"$2y$", 56),
    (b"$argon2", 40),
    (b"$1$", 24),
    (b"$5$", 44),
    (b"$6$", 80),
    (b"$7$", 40),
    (b"$y$", 40),
    (b"$gy$", 40),
    (b"$apr1$", 24),
    (b"$scrypt$", 40),
    (b"$pbkdf2", 40),
    (b"$S$", 50),
    (b"$P$", 30),
    (b"$H$", 30),
    (b"$8$", 50),
    (b"$9$", 50),
    (b"$wp$2y$", 56),
];
/// The same for those that begin otherwise.
const NAMED: &[(&[u8], usize)] = &[
    (b"{SSHA}", 28),
    (b"{SSHA256}", 40),
    (b"{SSHA512}", 80),
    (b"{SHA}", 27),
    (b"pbkdf2_sha256$", 40),
    (b"pbkdf2_sha1$", 30),
    (b"bcrypt_sha256$", 50),
    (b"scrypt$", 60),
    (b"SCRAM-SHA-256$", 80),
    (b"SCRAM-SHA-1$", 60),
];
/// How those of Werkzeug begin: with the method, its parameters, and a `$`.
const METHODS: &[&[u8]] = &[b"scrypt:", b"pbkdf2:"];
/// The shortest of those.
const WERKZEUG: usize = 40;
/// The longest method with its parameters.
const LONGEST_METHOD: usize = 40;
/// What follows the two hashes of Windows. Prepared once: most texts are short.
static NTLM: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(":::"));
/// How long each of them is.
const NTLM_PART: usize = 32;
/// The shortest salt or key of PostgreSQL.
const SCRAM_PART: usize = 16;

/// Finds the hashes of Windows, as programs dump them: `kim:1001:LM:NT:::`.
pub(super) fn find_ntlm(text: &[u8], all: &mut Vec<FoundSecret>) {
    for end in NTLM.find_iter(text) {
        let start = end.saturating_sub(2 * NTLM_PART + 1);
        let parts = &text[start..end];
        let is_hash =
            |part: &[u8]| part.len() == NTLM_PART && part.iter().all(u8::is_ascii_hexdigit);
        if parts.len() > NTLM_PART
            && parts[NTLM_PART] == b':'
            && is_hash(&parts[..NTLM_PART])
            && is_hash(&parts[NTLM_PART + 1..])
            && text[..start].ends_with(b":")
        {
            all.push(FoundSecret { range: start..end, kind: "password-hash" });
        }
    }
}

/// Finds all of them.
pub(super) fn find(text: &[u8], all: &mut Vec<FoundSecret>) {
    let mut done = 0;
    for at in memchr::memchr2_iter(b'$', b'{', text) {
        // A name may stand before the first `$`.
        let named = NAMED.iter().filter_map(|(name, least)| {
            let before = memchr::memchr2(b'$', b'{', name).unwrap_or_default();
            let start = at.checked_sub(before)?;
            text[start..].starts_with(name).then_some((start, name.len(), *least))
        });
        let method = METHODS.iter().find_map(|method| {
            let near = at.saturating_sub(LONGEST_METHOD);
            let start = near + memmem::rfind(&text[near..at], method)?;
            let is_in_method = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b':';
            text[start..at].iter().all(is_in_method).then_some((start, at + 1 - start, WERKZEUG))
        });
        let begun = BEGINNINGS.iter().filter(|(start, _)| text[at..].starts_with(start));
        let mut begun =
            begun.map(|(start, least)| (at, start.len(), *least)).chain(named).chain(method);
        let Some((start, length, least)) = begun.next().filter(|(start, ..)| *start >= done) else {
            continue;
        };
        let is_word = start > 0 && text[start - 1].is_ascii_alphanumeric();
        // Behind `{SHA}` is base64, in a path such as `{SHA}_of_a_commit` it is not.
        let is_braced = text[start] == b'{';
        let is_body = |byte| is_in_hash(byte) && !(is_braced && b"_-.,$".contains(&byte));
        let mut body = leading(&text[start + length..], 512, is_body);
        // PostgreSQL parts the salt and the keys with colons.
        while text[start..].starts_with(b"SCRAM") && text[start + length + body..].starts_with(b":")
        {
            let part = leading(&text[start + length + body + 1..], 512, is_in_hash);
            if part < SCRAM_PART {
                break;
            }
            body += 1 + part;
        }
        if !is_word && body + length >= least {
            done = start + length + body;
            all.push(FoundSecret { range: start..done, kind: "password-hash" });
        }
    }
}

fn is_in_hash(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"./+$=,-_".contains(&byte)
}
