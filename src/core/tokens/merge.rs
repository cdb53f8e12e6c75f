//! How many tokens a piece of text becomes: byte-pair merging, as tiktoken does it.
//!
//! A piece begins as single bytes. Of all neighbours that together are a token, those of the lowest rank are merged,
//! the leftmost first, until no two neighbours are a token. Which tokens remain is not asked here, only how many.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::vocabulary::Vocabulary;

/// In pieces of at most this many bytes the next merge is found by looking at all parts. That is quadratic, and still
/// faster than a queue, because nearly all pieces are words.
const LONGEST_SEARCHED: usize = 128;
/// Neighbours that are no token: worse than any rank.
const NEVER: u32 = u32::MAX;

/// Returns how many tokens `piece` becomes.
pub(super) fn count(vocabulary: &Vocabulary, piece: &[u8]) -> usize {
    // Most pieces are one token.
    if piece.len() == 1 || vocabulary.rank(piece).is_some() {
        1
    } else if piece.len() <= LONGEST_SEARCHED {
        count_by_search(vocabulary, piece)
    } else {
        count_by_queue(vocabulary, piece)
    }
}

fn count_by_search(vocabulary: &Vocabulary, piece: &[u8]) -> usize {
    // Part n begins at `starts[n]`; `ranks[n]` is that of parts n and n + 1 together. After the last part comes the
    // piece's end, as if it were the start of another.
    let mut starts = [0_usize; LONGEST_SEARCHED + 1];
    let mut ranks = [NEVER; LONGEST_SEARCHED];
    let mut parts = piece.len();
    for (n, start) in starts[..=parts].iter_mut().enumerate() {
        *start = n;
    }
    for (rank, pair) in ranks.iter_mut().zip(piece.windows(2)) {
        *rank = vocabulary.rank(pair).unwrap_or(NEVER);
    }
    loop {
        let mut lowest = (NEVER, 0);
        for (n, &rank) in ranks[..parts].iter().enumerate() {
            if rank < lowest.0 {
                lowest = (rank, n);
            }
        }
        let (rank, left) = lowest;
        if rank == NEVER {
            return parts;
        }
        starts.copy_within(left + 2..=parts, left + 1);
        ranks.copy_within(left + 1..parts, left);
        parts -= 1;
        // Only the merged part has new neighbours.
        for n in left.saturating_sub(1)..=left {
            ranks[n] = if n + 1 < parts {
                vocabulary.rank(&piece[starts[n]..starts[n + 2]]).unwrap_or(NEVER)
            } else {
                NEVER
            };
        }
    }
}

fn count_by_queue(vocabulary: &Vocabulary, piece: &[u8]) -> usize {
    // A part is known by where it begins. `ends` is 0 for what is no longer a part's beginning.
    let mut ends: Vec<usize> = (1..=piece.len()).collect();
    let mut befores: Vec<usize> = (0..piece.len()).map(|start| start.saturating_sub(1)).collect();
    let mut parts = piece.len();
    // The smallest first: rank, then place. The end tells whether the neighbours are still those that were queued.
    let mut queue = BinaryHeap::new();
    let candidate = |start: usize, end: usize| {
        vocabulary.rank(&piece[start..end]).map(|rank| Reverse((rank, start, end)))
    };
    queue.extend((2..=piece.len()).filter_map(|end| candidate(end - 2, end)));
    while let Some(Reverse((_, left, end))) = queue.pop() {
        let right = ends[left];
        if right == 0 || right == piece.len() || ends[right] != end {
            continue;
        }
        ends[left] = end;
        ends[right] = 0;
        parts -= 1;
        if end < piece.len() {
            befores[end] = left;
            queue.extend(candidate(left, ends[end]));
        }
        if left > 0 {
            queue.extend(candidate(befores[left], end));
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::vocabulary::{CL100K_BASE, O200K_BASE};
    use super::*;

    #[test]
    fn a_piece_is_a_token_or_several() {
        for vocabulary in [&O200K_BASE, &CL100K_BASE] {
            assert_eq!(count(vocabulary, b"a"), 1);
            assert_eq!(count(vocabulary, b" the"), 1);
            assert_eq!(count(vocabulary, b"\xff\xff"), 2);
        }
    }

    proptest! {
        #[test]
        fn both_ways_count_the_same(
            piece in prop::collection::vec(prop::sample::select(b"aeinst.- \n\xc3\xa9".to_vec()), 2..=LONGEST_SEARCHED),
        ) {
            for vocabulary in [&O200K_BASE, &CL100K_BASE] {
                prop_assert_eq!(count_by_search(vocabulary, &piece), count_by_queue(vocabulary, &piece));
            }
        }
    }
}
