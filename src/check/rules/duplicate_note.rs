//! **duplicate-note**: two notes with the same text below the front matter, regardless of line
//! breaks, or with nearly the same text: at least nine tenths of all runs of five words are in
//! both. Reported at the later path. Ignores very short notes, templates and pages about older versions.
//!
//! Candidates are found by the smallest hashes of their runs (MinHash, in bands), so that the time
//! grows with the amount of text and not with the number of pairs.

use std::collections::{BTreeSet, HashMap, HashSet};

use rayon::prelude::*;

use super::checked_files::{CheckedFile, CheckedFiles, Problem};
use super::text_file;

/// Shorter notes never count as equal.
const MIN_WORDS: usize = 10;
/// Shorter notes never count as nearly equal.
const MIN_WORDS_NEARLY: usize = 50;
/// The number of words in a run.
const RUN: usize = 5;
/// The number of smallest hashes to keep, and the number per band. Notes that share nine tenths
/// have a band in common in all but one of ten thousand cases.
const MINIMA: usize = 32;
const BAND: usize = 4;
/// The number of notes per band to compare.
const MAX_COMPARED: usize = 4;

struct Fingerprint {
    n_words: usize,
    /// Equal for equal texts; different texts can collide.
    whole: u64,
    minima: [u64; MINIMA],
}

pub(super) fn find<'c>(checked: &'c CheckedFiles<'_>) -> Vec<Problem<'c>> {
    let notes: Vec<&CheckedFile<'_>> = checked.living_notes().map(|(_, file)| file).collect();
    let fingerprints: Vec<Fingerprint> =
        notes.par_iter().map(|file| fingerprint(file.body())).collect();
    let mut by_text: HashMap<u64, usize> = HashMap::new();
    let mut bands: HashMap<(usize, [u64; BAND]), Vec<usize>> = HashMap::new();
    let mut runs: HashMap<usize, HashSet<u64>> = HashMap::new();
    let mut problems = Vec::new();
    for (number, fingerprint) in fingerprints.iter().enumerate() {
        if fingerprint.n_words < MIN_WORDS {
            continue;
        }
        let words = |number: usize| notes[number].body().split_whitespace();
        let same = by_text.get(&fingerprint.whole).filter(|&&first| words(first).eq(words(number)));
        let mut found = same.map(|&first| (first, true));
        if found.is_none() && fingerprint.n_words >= MIN_WORDS_NEARLY {
            let (keys, _) = fingerprint.minima.as_chunks::<BAND>();
            let keys = keys.iter().copied().enumerate();
            let near = keys.clone().filter_map(|key| bands.get(&key)).flatten();
            let mut near = near.copied().collect::<BTreeSet<usize>>().into_iter();
            let near = near.find(|&first| are_nearly_same(&mut runs, &notes, first, number));
            found = near.map(|first| (first, false));
            if found.is_none() {
                for key in keys {
                    let band = bands.entry(key).or_default();
                    if band.len() < MAX_COMPARED {
                        band.push(number);
                    }
                }
            }
        }
        let Some((first, is_same)) = found else {
            by_text.insert(fingerprint.whole, number);
            continue;
        };
        let path = text_file::shown(notes[first].path);
        let nearly = if is_same { "" } else { "nearly " };
        let message = format!("this note has {nearly}the same text as {path}");
        problems.push(notes[number].problem(0..0, message, "keep one of them, and link to it"));
    }
    problems
}

fn fingerprint(body: &str) -> Fingerprint {
    let words = word_hashes(body);
    // The smallest hash of each class of runs. An empty class takes the hash of the next one.
    let mut minima = [u64::MAX; MINIMA];
    for hash in runs(&words) {
        let minimum = &mut minima[hash as usize % MINIMA];
        *minimum = hash.min(*minimum);
    }
    for n in (0..2 * MINIMA).rev() {
        if minima[n % MINIMA] == u64::MAX {
            minima[n % MINIMA] = minima[(n + 1) % MINIMA];
        }
    }
    Fingerprint { n_words: words.len(), whole: hash_of_run(&words), minima }
}

/// The hash of each word.
fn word_hashes(body: &str) -> Vec<u64> {
    body.split_whitespace().map(|word| hash_of(word.as_bytes())).collect()
}

/// The hash of each run of words.
fn runs(words: &[u64]) -> impl Iterator<Item = u64> {
    words.windows(RUN).map(hash_of_run)
}

fn hash_of_run(words: &[u64]) -> u64 {
    words.iter().fold(0, |sum, &word| mixed(sum ^ word))
}

fn runs_of(body: &str) -> HashSet<u64> {
    runs(&word_hashes(body)).collect()
}

/// FNV-1a: gives the same hash on every machine.
fn hash_of(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Spreads a number over all bits (the finaliser of MurmurHash3).
fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let number = (number ^ (number >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    number ^ (number >> 33)
}

fn are_nearly_same(
    seen: &mut HashMap<usize, HashSet<u64>>,
    notes: &[&CheckedFile<'_>],
    first: usize,
    second: usize,
) -> bool {
    let first = seen.entry(first).or_insert_with(|| runs_of(notes[first].body()));
    let second = runs_of(notes[second].body());
    let common = second.iter().filter(|run| first.contains(run)).count();
    let all = first.len() + second.len() - common;
    common * 10 >= all * 9
}

#[cfg(test)]
mod tests {
    use super::super::tests::TestRepository;
    use super::*;
    use crate::check::finding::Rule::DuplicateNote;
    use proptest::prelude::*;

    fn words(from: usize, to: usize) -> String {
        (from..to).map(|n| format!("w{n} ")).collect()
    }

    #[test]
    fn the_same_text_twice_is_told_at_the_later_path() {
        let text = words(0, 12);
        let other = format!("---\ntitle: other\n---\n{}\n", text.replace("w5 ", "w5\n\n"));
        TestRepository::new()
            .with("docs/b.md", &other)
            .with("docs/a.md", &text)
            .with("docs/c.md", &text.replace("w5", "x5"))
            .check(DuplicateNote, &["docs/b.md:1:1+0"]);
    }

    #[test]
    fn nearly_the_same_text_is_told_too() {
        let repository = TestRepository::new()
            .with("docs/a.md", &words(0, 300))
            .with("docs/b.md", &words(0, 305))
            .with("docs/c.md", &words(60, 300));
        assert_eq!(
            repository.of(DuplicateNote)[0].message,
            "this note has nearly the same text as docs/a.md"
        );
        repository.check(DuplicateNote, &["docs/b.md:1:1+0"]);
    }

    #[test]
    fn a_few_words_say_too_little() {
        TestRepository::new()
            .with("docs/a.md", "To do.")
            .with("docs/b.md", "To do.")
            .check(DuplicateNote, &[]);
    }

    #[test]
    fn thousands_of_the_same_take_no_time() {
        let repository = (0..3_000).fold(TestRepository::new(), |repository, n| {
            repository.with(&format!("docs/{n}.md"), &format!("{}end{n}", words(0, 100)))
        });
        let started = std::time::Instant::now();
        assert_eq!(repository.of(DuplicateNote).len(), 2_999);
        assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn bands_find_what_a_comparison_of_all_pairs_finds(seed in 0usize..1_000_000, changed in 0usize..12) {
            let first = words(seed, seed + 200);
            let second = (0..changed).fold(first.clone(), |text, n| {
                text.replace(&format!("w{} ", seed + n * 15 + 3), "other ")
            });
            let (a, b) = (runs_of(&first), runs_of(&second));
            let is_near = a.intersection(&b).count() * 10 >= a.union(&b).count() * 9;
            let repository = TestRepository::new().with("docs/a.md", &first).with("docs/b.md", &second);
            prop_assert_eq!(repository.of(DuplicateNote).len(), usize::from(is_near));
        }
    }
}
