//! Git's compressed bitmaps (EWAH): runs of equal words, and words as they are.

/// Reads a bitmap at the beginning of `bytes`. Returns whether each place is set, and the bytes after it; `None` if it is
/// damaged.
pub(super) fn read(bytes: &[u8], most_bits: usize) -> Option<(Vec<bool>, &[u8])> {
    let (n_bits, rest) = number(bytes)?;
    let (n_words, rest) = number(rest)?;
    let (words, rest) = rest.split_at_checked(n_words.checked_mul(8)?)?;
    let (_, rest) = number(rest)?;
    if n_bits > most_bits {
        return None;
    }
    let mut words = words.as_chunks::<8>().0.iter().map(|word| u64::from_be_bytes(*word));
    let mut bits = Vec::with_capacity(n_bits);
    while let Some(marker) = words.next() {
        // From the lowest bit: the repeated bit, how many words repeat it, how many words follow as they are.
        let n_repeated = (marker >> 1 & 0xffff_ffff) as usize * 64;
        bits.resize((bits.len() + n_repeated).min(n_bits), marker & 1 == 1);
        for _ in 0..marker >> 33 {
            let word = words.next()?;
            let n_left = n_bits - bits.len();
            bits.extend((0..64).map(|bit| word >> bit & 1 == 1).take(n_left));
        }
    }
    bits.resize(n_bits, false);
    Some((bits, rest))
}

fn number(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((u32::from_be_bytes(*number) as usize, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bitmap(n_bits: u32, words: &[u64]) -> Vec<u8> {
        let mut bytes = [n_bits.to_be_bytes(), (words.len() as u32).to_be_bytes()].concat();
        bytes.extend(words.iter().flat_map(|word| word.to_be_bytes()));
        bytes.extend([0; 4]);
        bytes
    }

    #[test]
    fn runs_and_words_become_bits() {
        let bytes = bitmap(140, &[1 | 1 << 1 | 1 << 33, 0b101]);
        let (bits, rest) = read(&bytes, 1_000).unwrap();
        let expect = |place: usize| place <= 64 || place == 66;
        assert_eq!(bits, (0..140).map(expect).collect::<Vec<_>>());
        assert!(rest.is_empty());
    }

    #[test]
    fn a_damaged_bitmap_is_none() {
        let whole = bitmap(70, &[2 << 33, 1, 2]);
        for end in 0..whole.len() {
            assert_eq!(read(&whole[..end], 1_000), None, "{end} bytes");
        }
        assert_eq!(read(&bitmap(70, &[3 << 33, 1, 2]), 1_000), None, "a word is missing");
        assert_eq!(read(&whole, 69), None, "more bits than files");
        let endless = bitmap(70, &[u64::MAX >> 31]);
        assert_eq!(read(&endless, 1_000).unwrap().0.len(), 70, "a run ends with the bitmap");
    }
}
