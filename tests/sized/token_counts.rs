//! The token counter against its reference, on half a million texts in each encoding at full size.

use std::num::NonZero;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use kgctx::core::named::Named;
use kgctx::core::tokens;
use kgctx::core::tokens::encoding::Encoding;
use tiktoken_rs::CoreBPE;

use super::sized;
use crate::ONE_IN;
use crate::support::token_texts;
use crate::support::vault_generator::Random;

const TEXTS: u64 = sized(300_000) as u64;
const CONCATENATIONS: u64 = sized(20_000) as u64;
/// Two megabytes may take no longer, unoptimised and on the slowest machine that runs the tests. What is quadratic
/// takes hours.
const LONGEST: Duration = Duration::from_secs(120);

fn reference(encoding: Encoding) -> &'static CoreBPE {
    match encoding {
        Encoding::O200kBase => tiktoken_rs::o200k_base_singleton(),
        Encoding::Cl100kBase => tiktoken_rs::cl100k_base_singleton(),
    }
}

#[track_caller]
fn check(text: &str) {
    for &encoding in Encoding::ALL {
        let expect = reference(encoding).encode_ordinary(text).len();
        assert_eq!(tokens::count(encoding, text), expect, "{encoding} of {text:?}");
    }
}

/// Checks every seed below `seeds`, on all cores.
fn for_all(seeds: u64, check: impl Fn(u64) + Sync) {
    let next = AtomicU64::new(0);
    let worker = || {
        const SHARE: u64 = 500;
        loop {
            let start = next.fetch_add(SHARE, Ordering::Relaxed);
            if start >= seeds {
                break;
            }
            (start..seeds.min(start + SHARE)).for_each(&check);
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, NonZero::get) {
            scope.spawn(worker);
        }
    });
}

#[test]
fn counts_are_those_of_the_reference() {
    for_all(TEXTS, |seed| check(&token_texts::text(seed)));
}

#[test]
fn every_character_is_of_the_right_class() {
    // Planes 3 to 16 are nearly empty: there a sample will do.
    for_all((0x3_2000 + (0x11_0000 - 0x3_2000) / 61) / ONE_IN as u64, |n| {
        let n = n * ONE_IN as u64;
        let code = if n < 0x3_2000 { n } else { 0x3_2000 + (n - 0x3_2000) * 61 };
        let Some(c) = u32::try_from(code).ok().and_then(char::from_u32) else { return };
        check(&format!("a{c}A{c}{c}1 {c}\n{c}'s"));
    });
}

#[test]
fn long_texts_count_as_the_reference_says() {
    const UNITS: &[&str] = &[
        "a", "A", "aB", "日", "🦀", "e\u{301}", "1", "-", "/", " ", "\n", "\t ", "'s", "xyzzy", "ǅ",
    ];
    for unit in UNITS {
        check(&unit.repeat((16 << 10) / unit.len()));
    }
    check(&(0..2_000).map(token_texts::text).collect::<String>());
}

#[test]
fn a_megabyte_without_a_break_is_counted_fast() {
    // The longest token there is has 128 spaces.
    const SIZE: usize = (1 << 20) / ONE_IN / 128 * 128;
    let letters = "a".repeat(SIZE);
    let spaces = " ".repeat(SIZE);
    for &encoding in Encoding::ALL {
        let start = Instant::now();
        let found = [tokens::count(encoding, &letters), tokens::count(encoding, &spaces)];
        assert!(start.elapsed() < LONGEST, "{encoding}: {:?}", start.elapsed());
        // On so many spaces the reference overflows its stack.
        let expect = [reference(encoding).encode_ordinary(&letters).len(), SIZE / 128];
        assert_eq!(found, expect, "{encoding}");
    }
}

/// Whether `text` can follow a line without the two becoming fewer or more tokens than each has alone. The reason is in
/// the patterns: only `\s*[\r\n]+` and `[\r\n/]*` carry a piece beyond a `\n`, the one needs white space next and the
/// other white space or `/`.
fn starts_fragment(text: &str) -> bool {
    !text.starts_with(|c: char| c == '/' || c.is_whitespace())
}

#[test]
fn fragments_add_up() {
    for_all(CONCATENATIONS, |seed| {
        let mut random = Random(seed);
        let n_fragments = 2 + random.below(6);
        let mut fragments: Vec<String> = Vec::new();
        while fragments.len() < n_fragments {
            let mut fragment = token_texts::text(random.next());
            // Only the last one may end otherwise.
            if fragments.len() + 1 < n_fragments || random.below(2) == 0 {
                fragment.push('\n');
            }
            if starts_fragment(&fragment) {
                fragments.push(fragment);
            }
        }
        for &encoding in Encoding::ALL {
            let sum: usize = fragments.iter().map(|text| tokens::count(encoding, text)).sum();
            let expect = reference(encoding).encode_ordinary(&fragments.concat()).len();
            assert_eq!(sum, expect, "{encoding} of {fragments:?}");
        }
    });
}
