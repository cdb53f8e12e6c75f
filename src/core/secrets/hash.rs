//! Finds hashes of passwords: `$2b$12$…`, `$argon2id$…`, `$6$salt$…`, `{SSHA}…`, `pbkdf2_sha256$…`. Whoever has one can
//! guess the password at leisure.

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
];

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
        let begun = BEGINNINGS.iter().filter(|(start, _)| text[at..].starts_with(start));
        let mut begun = begun.map(|(start, least)| (at, start.len(), *least)).chain(named);
        let Some((start, length, least)) = begun.next().filter(|(start, ..)| *start >= done) else {
            continue;
        };
        let is_word = start > 0 && text[start - 1].is_ascii_alphanumeric();
        // Behind `{SHA}` is base64, in a path such as `{SHA}_of_a_commit` it is not.
        let is_braced = text[start] == b'{';
        let is_body = |byte| is_in_hash(byte) && !(is_braced && b"_-.,$".contains(&byte));
        let body = leading(&text[start + length..], 512, is_body);
        if !is_word && body + length >= least {
            done = start + length + body;
            all.push(FoundSecret { range: start..done, kind: "password-hash" });
        }
    }
}

fn is_in_hash(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"./+$=,-_".contains(&byte)
}
