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
            self.short_rank(token)
        } else if token.len() <= LONGEST {
            self.long_rank(token)
        } else {
            None
        }
    }

    fn short_rank(&self, token: &[u8]) -> Option<u32> {
        let key = layout::key(token);
        let (lower, upper) = (key as u32, (key >> 32) as u32);
        let mut at = layout::home(layout::short_hash(key), self.short.len());
        loop {
            let [slot_lower, slot_upper, label] = numbers(&self.short[at]);
            if label == FREE {
                return None;
            }
            if (slot_lower, slot_upper) == (lower, upper) && length_in(label) == token.len() {
                return Some(rank_in(label));
            }
            at = after(at, self.short);
        }
    }

    fn long_rank(&self, token: &[u8]) -> Option<u32> {
        let hash = layout::long_hash(token);
        let mut at = layout::home(hash, self.long.len());
        loop {
            let [slot_hash, start, label] = numbers(&self.long[at]);
            if label == FREE {
                return None;
            }
            // The hash first: bytes of other tokens are pages that need not be read.
            if slot_hash == hash as u32
                && length_in(label) == token.len()
                && self.bytes[start as usize..].starts_with(token)
            {
                return Some(rank_in(label));
            }
            at = after(at, self.long);
        }
    }
}

fn numbers(&[first, second, third]: &Slot) -> [u32; 3] {
    [u32::from_le_bytes(first), u32::from_le_bytes(second), u32::from_le_bytes(third)]
}

fn rank_in(label: u32) -> u32 {
    label & ((1 << RANK_BITS) - 1)
}

fn length_in(label: u32) -> usize {
    (label >> RANK_BITS) as usize
}

/// The place that a search looks at next. Some place is always free, so that every search ends.
fn after(at: usize, table: &[Slot]) -> usize {
    if at + 1 == table.len() { 0 } else { at + 1 }
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
