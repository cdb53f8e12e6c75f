//! An encoding's tokens and their ranks, searched where the binary holds them. Nothing is decoded or copied first.

use super::layout::{self, FREE, LONGEST, RANK_BITS, SHORT, Slot};

/// The ordinary tokens of one encoding. Special tokens are not among them.
pub(super) struct Vocabulary {
    short: &'static [Slot],
    long: &'static [Slot],
    /// The bytes of the long tokens.
    bytes: &'static [u8],
}

pub(super) static O200K_BASE: Vocabulary = Vocabulary {
    short: slots(include_bytes!(concat!(env!("OUT_DIR"), "/o200k_base.short"))),
    long: slots(include_bytes!(concat!(env!("OUT_DIR"), "/o200k_base.long"))),
    bytes: include_bytes!(concat!(env!("OUT_DIR"), "/o200k_base.bytes")),
};

pub(super) static CL100K_BASE: Vocabulary = Vocabulary {
    short: slots(include_bytes!(concat!(env!("OUT_DIR"), "/cl100k_base.short"))),
    long: slots(include_bytes!(concat!(env!("OUT_DIR"), "/cl100k_base.long"))),
    bytes: include_bytes!(concat!(env!("OUT_DIR"), "/cl100k_base.bytes")),
};

const fn slots(table: &'static [u8]) -> &'static [Slot] {
    table.as_chunks().0.as_chunks().0
}

impl Vocabulary {
    /// Returns the rank of the token that has exactly these bytes, if there is one.
    pub(super) fn rank(&self, token: &[u8]) -> Option<u32> {
        if token.len() <= SHORT {
            let key = layout::key(token);
            let halves = (key as u32, (key >> 32) as u32);
            search(self.short, layout::short_hash(key), token.len(), |slot| slot == halves)
        } else if token.len() <= LONGEST {
            let hash = layout::long_hash(token);
            // The hash first: bytes of other tokens are pages that need not be read.
            search(self.long, hash, token.len(), |(slot_hash, start)| {
                slot_hash == hash as u32 && self.bytes[start as usize..].starts_with(token)
            })
        } else {
            None
        }
    }
}

/// Returns the rank in the first place from `hash` on that has the token's length and whose first two numbers fit.
fn search(
    table: &[Slot],
    hash: u64,
    length: usize,
    fits: impl Fn((u32, u32)) -> bool,
) -> Option<u32> {
    let mut at = layout::home(hash, table.len());
    loop {
        let [first, second, label] = numbers(&table[at]);
        if label == FREE {
            return None;
        }
        if (label >> RANK_BITS) as usize == length && fits((first, second)) {
            return Some(label & ((1 << RANK_BITS) - 1));
        }
        // Some place is always free, so that every search ends.
        at = if at + 1 == table.len() { 0 } else { at + 1 };
    }
}

fn numbers(&[first, second, third]: &Slot) -> [u32; 3] {
    [u32::from_le_bytes(first), u32::from_le_bytes(second), u32::from_le_bytes(third)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_of_the_reference_is_found() {
        for (vocabulary, reference, tokens) in [
            (&O200K_BASE, tiktoken_rs::o200k_base().unwrap(), 199_998),
            (&CL100K_BASE, tiktoken_rs::cl100k_base().unwrap(), 100_256),
        ] {
            for rank in 0..tokens {
                let token = reference.decode_bytes(&[rank]).unwrap();
                assert_eq!(vocabulary.rank(&token), Some(rank), "{token:?}");
            }
            let stored = |table: &[Slot]| table.iter().filter(|slot| is_used(slot)).count();
            assert_eq!(stored(vocabulary.short) + stored(vocabulary.long), tokens as usize);
        }
    }

    #[test]
    fn nothing_else_is_found() {
        for vocabulary in [&O200K_BASE, &CL100K_BASE] {
            for text in ["", "!\0", "\0\0\0", "<|endoftext|>", "<|fim_prefix|>", " representatiom"]
            {
                assert_eq!(vocabulary.rank(text.as_bytes()), None, "{text:?}");
            }
            for length in [LONGEST + 1, 256 + SHORT, 1 << 20] {
                assert_eq!(vocabulary.rank(&vec![b' '; length]), None, "{length} spaces");
            }
        }
    }

    /// A poor hash would still be right, only slow: nothing else would notice.
    #[test]
    fn tokens_lie_near_their_homes() {
        for vocabulary in [&O200K_BASE, &CL100K_BASE] {
            for table in [vocabulary.short, vocabulary.long] {
                let longest = table.split(|slot| !is_used(slot)).map(<[Slot]>::len).max();
                assert!(longest < Some(120), "{longest:?} places in a row are used");
            }
        }
    }

    fn is_used(slot: &Slot) -> bool {
        numbers(slot)[2] != FREE
    }
}
