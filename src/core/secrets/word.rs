//! Tells words, names in code, numbers and versions from characters drawn by lot.

use crate::core::text::words::words;

/// For each letter those that follow it in words, from the words of public documentation and code in which a pair is at
/// least one of 5,000. Of two drawn letters four in ten are no such pair.
static FOLLOWERS: [&str; 26] = words(
    "abcdefghiklmnprstuvwxyz abcdeijlmorstuy acdefhiklmnoprstuy abcdefgijlmnoprstuvwy \
     abcdefghiklmnopqrstuvwxy acdefgilorstuy aceghilmnorstu aeilmnorstuy abcdefgklmnopqrstvxz aeosu \
     adegilnostu abcdefgiklmnopstuvy abcdeilmnopstuy abcdefghijklmnoprstuvwy abcdefgijklmnoprstuvwxy \
     acdefhikloprstuy lu abcdefgiklmnoprstuvwy acdefghiklmnopqrstuwy abcdefghilmnoprstuvwyz abcdefgilmnoprstx \
     aeio aehilnors aceioptx aceilmnoprst aeio",
);
/// The same, one bit for each letter.
static PAIRS: [u32; 26] = {
    let mut pairs = [0; 26];
    let mut n = 0;
    while n < 26 {
        let followers = FOLLOWERS[n].as_bytes();
        let mut at = 0;
        while at < followers.len() {
            pairs[n] |= 1 << (followers[at] - b'a');
            at += 1;
        }
        n += 1;
    }
    pairs
};
/// Short parts of names. Of three drawn letters every fourth could be spoken, so these are listed.
static SHORT: [&str; 95] = words(
    "id to by of in on at is no db up my or ip as if ok it add all any api app arg aws bar bot box can cfg con csv ctx \
     dev dir doc dst end env err ext foo for get has hex hub int jwt key lib log map max min msg net new num obj old \
     opt org out pem pin pub raw ref req res row rsa run sdk set sql src ssh ssl str sub tag the tls tmp top uid url \
     use val var web xml zip",
);
/// Parts of names in capitals.
static ABBREVIATIONS: [&str; 26] = words(
    "ID IDS URL URI API JSON XML HTML HTTP HTTPS SQL AWS JWT UUID DB UI OS IO IP SSH TLS SSL CSRF SDK PEM CI",
);
/// The longest abbreviation.
const LONGEST_ABBREVIATION: usize = 5;
/// No word has more consonants in a row.
const MOST_CONSONANTS: usize = 5;

/// Whether a run of letters and digits is a word, a number, or a name made of them: `token`, `sha256`, `newPassword`.
pub(super) fn is_wordy(run: &[u8]) -> bool {
    let pieces = run.chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit());
    let n_pieces = pieces.clone().count();
    if n_pieces == 1 {
        return run[0].is_ascii_digit() || is_name(run);
    }
    // Names with numbers are short, or their words are whole.
    let n_digits = run.iter().filter(|byte| byte.is_ascii_digit()).count();
    let is_word = |piece: &[u8]| match piece.len() {
        ..=2 => !piece[0].is_ascii_lowercase() || !piece.iter().any(u8::is_ascii_uppercase),
        3..=4 if run.len() <= 8 => is_name(piece),
        length => is_name(piece) && (is_spoken(piece, length / 6) || !is_one_case(piece)),
    };
    run.len() <= 5 && pieces.clone().all(|piece| piece[0].is_ascii_digit() || is_name(piece))
        || n_digits <= 8
            && n_pieces <= 3
            && pieces.into_iter().all(|piece| piece[0].is_ascii_digit() || is_word(piece))
}

/// How many letters of a run are in words that can be spoken.
pub(super) fn spoken(run: &[u8]) -> usize {
    let pieces = run.chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit());
    let words = pieces.filter(|piece| {
        !piece.is_ascii()
            || is_spoken(piece, piece.len() / 6)
            || !is_one_case(piece) && is_name(piece)
    });
    words.map(<[u8]>::len).sum()
}

fn is_one_case(letters: &[u8]) -> bool {
    letters[1..].iter().all(u8::is_ascii_lowercase) || letters.iter().all(u8::is_ascii_uppercase)
}

/// Whether letters are a word or words written together.
fn is_name(letters: &[u8]) -> bool {
    if !letters.is_ascii() {
        return !has_inner_capital(letters);
    }
    if is_one_case(letters) {
        return letters.len() < LONGEST_ABBREVIATION || is_spoken(letters, letters.len() / 5);
    }
    let (mut n_words, mut n_unknown) = (0, 0);
    let mut rest = letters;
    while !rest.is_empty() {
        let upper = rest.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
        let lower = rest[upper..].iter().take_while(|byte| byte.is_ascii_lowercase()).count();
        let length = match (upper, lower) {
            // The beginning of `newPassword`, or one of its words.
            (0 | 1, _) => upper + lower,
            // The end of `userID`.
            (_, 0) => upper,
            // The beginning of `AWSSecret`: the last capital begins the next word.
            _ => upper - 1,
        };
        let word = &rest[..length];
        rest = &rest[length..];
        let is_known = |known: &[&str]| known.iter().any(|known| known.as_bytes() == word);
        let is_short = || SHORT.iter().any(|short| word.eq_ignore_ascii_case(short.as_bytes()));
        if upper <= 1 && (length > 3 && is_spoken(word, length / 5) || is_short()) {
            n_words += usize::from(length > 2);
        } else if upper > 1 && length <= LONGEST_ABBREVIATION {
            n_unknown += usize::from(!is_known(&ABBREVIATIONS));
        } else {
            return false;
        }
    }
    // Among several words an abbreviation of its own is believed.
    n_words > 0 && (n_unknown == 0 || n_words >= 3)
}

/// Whether a capital follows a small letter, also of other alphabets than ours.
fn has_inner_capital(letters: &[u8]) -> bool {
    let letters = String::from_utf8_lossy(letters);
    let mut pairs = letters.chars().zip(letters.chars().skip(1));
    pairs.any(|(a, b)| a.is_lowercase() && b.is_uppercase())
}

/// Whether letters can be spoken. At most `most_odd` pairs of them are such as words do not have.
fn is_spoken(letters: &[u8], most_odd: usize) -> bool {
    let is_vowel = |byte: &u8| b"aeiouyAEIOUY".contains(byte);
    let is_odd = |pair: &&[u8]| {
        let [a, b] = [pair[0], pair[1]].map(|byte| (byte | 0x20).wrapping_sub(b'a'));
        PAIRS.get(a as usize).is_none_or(|followers| followers & 1 << (b & 31) == 0)
    };
    letters.len() >= 3
        && letters.iter().any(is_vowel)
        && letters.split(is_vowel).all(|run| run.len() <= MOST_CONSONANTS)
        && letters.windows(2).filter(is_odd).count() <= most_odd
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_names_are_told_from_drawn_letters() {
        for word in [
            "token",
            "TOKEN",
            "Token",
            "sha256",
            "v2",
            "newPassword",
            "SecretString",
            "userID",
            "AWSSecretKey",
            "getUserById",
            "k8s",
            "i18n",
            "2026",
            "30Z",
            "ed25519",
            "OSLGetMarkTokenUPP",
            "jwt",
            "größe",
            "dbPassword",
            "X509CertificateTemplatePrivateKeyFlag",
        ] {
            assert!(is_wordy(word.as_bytes()), "{word}");
        }
        for drawn in
            ["kRtQwZpLmNbX", "q7Rz2mXk", "aBcD", "QxZr7Lp", "xkcdqwrtpsdfgh", "a1b2c3", "aB"]
        {
            assert!(!is_wordy(drawn.as_bytes()), "{drawn}");
        }
    }
}
