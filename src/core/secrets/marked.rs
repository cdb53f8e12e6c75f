//! Finds keys that tell themselves by what is in their middle or at their end: `….atlasv1.…`, `…-us21`, `…NRAL`.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::FoundSecret;
use super::runs::{Alphabet, contains, leading, trailing};

/// A mark, and what is before and behind it.
struct Mark {
    kind: &'static str,
    /// Prepared once: most texts are short.
    text: LazyLock<Finder<'static>>,
    before: (Alphabet, usize),
    behind: (Alphabet, usize, usize),
}

static MARKS: [Mark; 4] = [
    Mark {
        kind: "terraform-token",
        text: LazyLock::new(|| Finder::new(".atlasv1.")),
        before: (Alphabet::Alnum, 14),
        behind: (Alphabet::Url, 60, 70),
    },
    Mark {
        kind: "mailchimp-key",
        text: LazyLock::new(|| Finder::new("-us")),
        before: (Alphabet::Hex, 32),
        behind: (Alphabet::Digits, 1, 2),
    },
    Mark {
        kind: "new-relic-key",
        text: LazyLock::new(|| Finder::new("NRAL")),
        before: (Alphabet::Hex, 36),
        behind: (Alphabet::Alnum, 0, 0),
    },
    Mark {
        kind: "azure-client-secret",
        text: LazyLock::new(|| Finder::new("8Q~")),
        before: (Alphabet::Alnum, 3),
        behind: (Alphabet::Unreserved, 31, 37),
    },
];
/// The parts of a Mailgun key: hexadecimal, with hyphens between them. No UUID has such.
const MAILGUN: [usize; 3] = [32, 8, 8];

/// No key is shorter.
const SHORTEST: usize = 36;

/// Finds all of them in a run of the bytes that tokens can have.
pub(super) fn find(text: &[u8], run: Range<usize>, all: &mut Vec<FoundSecret>) {
    if run.len() < SHORTEST {
        return;
    }
    for mark in &MARKS {
        let places = mark.text.find_iter(&text[run.clone()]);
        all.extend(places.filter_map(|at| around(text, run.start + at, mark)));
    }
}

fn around(text: &[u8], at: usize, mark: &Mark) -> Option<FoundSecret> {
    let (alphabet, length) = mark.before;
    let start = at - trailing(&text[..at], length + 1, |byte| contains(alphabet, byte));
    let behind = at + mark.text.needle().len();
    let (alphabet, shortest, longest) = mark.behind;
    let n_behind = leading(&text[behind..], longest + 1, |byte| contains(alphabet, byte));
    let end = behind + n_behind;
    let begins_word = start == 0 || !contains(Alphabet::Word, text[start - 1]);
    let ends_word = !text.get(end).is_some_and(|byte| contains(Alphabet::Alnum, *byte));
    let fits = at - start == length
        && (shortest..=longest).contains(&n_behind)
        && begins_word
        && ends_word;
    fits.then_some(FoundSecret { range: start..end, kind: mark.kind })
}

/// The Mailgun key that begins where a run of hexadecimal digits does, if it is one.
pub(super) fn mailgun(text: &[u8], start: usize) -> Option<FoundSecret> {
    let mut end = start;
    for (n, length) in MAILGUN.into_iter().enumerate() {
        if n > 0 {
            text.get(end).filter(|byte| **byte == b'-')?;
            end += 1;
        }
        let digits = leading(&text[end..], length + 1, |byte| contains(Alphabet::Hex, byte));
        end += (digits == length).then_some(length)?;
    }
    let ends = !text.get(end).is_some_and(|byte| contains(Alphabet::Url, *byte));
    ends.then_some(FoundSecret { range: start..end, kind: "mailgun-key" })
}
