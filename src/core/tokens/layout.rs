//! How the tables lie in their bytes. Compiled into the build script, which writes them, and into the program, which
//! reads them: a change here changes both.

/// Tokens of at most this many bytes lie in the table itself; of longer ones it only holds where they are.
pub(crate) const SHORT: usize = 8;
/// No token is longer. The build fails if one is, so longer pieces are never looked up.
pub(crate) const LONGEST: usize = 128;

/// One place in a table of tokens: three little-endian numbers.
///
/// | table | first | second | third |
/// |---|---|---|---|
/// | short tokens | [`key`], lower half | [`key`], upper half | label |
/// | long tokens | [`long_hash`], lower half | where its bytes begin | label |
pub(crate) type Slot = [[u8; 4]; 3];
/// The label of a place that holds no token: a search ends there.
pub(crate) const FREE: u32 = u32::MAX;

/// A label is a token's rank, and above these bits its length: a [`key`] alone does not tell `a` from `a\0`.
pub(crate) const RANK_BITS: u32 = 24;

/// Returns a short token's bytes as a number, its first byte lowest.
pub(crate) fn key(token: &[u8]) -> u64 {
    // Four bytes from the front and four from the back, which may overlap, are cheaper than a loop.
    if let (Some(&front), Some(&back)) = (token.first_chunk(), token.last_chunk()) {
        let back = u64::from(u32::from_le_bytes(back));
        return u64::from(u32::from_le_bytes(front)) | (back << (8 * (token.len() - 4)));
    }
    token.iter().rev().fold(0, |key, &byte| (key << 8) | u64::from(byte))
}

/// Spreads the keys of short tokens.
pub(crate) fn short_hash(key: u64) -> u64 {
    spread(key)
}

/// Spreads long tokens.
pub(crate) fn long_hash(token: &[u8]) -> u64 {
    let (words, rest) = token.as_chunks();
    let start = token.len() as u64;
    let hash = words
        .iter()
        .fold(start, |hash, &word| spread(hash.rotate_left(5) ^ u64::from_le_bytes(word)));
    spread(hash.rotate_left(5) ^ key(rest))
}

/// Returns where a search begins in a table of `slots` places; it goes on to the next place, and from the last to the
/// first, until it finds the token or a free place.
pub(crate) fn home(hash: u64, slots: usize) -> usize {
    // A product instead of a remainder: as even, without a division, and for any number of places.
    (((hash >> 32) * slots as u64) >> 32) as usize
}

fn spread(value: u64) -> u64 {
    let product = value.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    product ^ (product >> 32)
}

/// What a character is to the patterns, one bit each: a set of them is a sum, and no bit is the end of the text.
pub(crate) mod class {
    /// `\p{M}`.
    pub(crate) const MARK: u8 = 1;
    /// `\p{Lu}` and `\p{Lt}`.
    pub(crate) const UPPER: u8 = 1 << 1;
    /// `\p{Ll}`.
    pub(crate) const LOWER: u8 = 1 << 2;
    /// `\p{Lm}` and `\p{Lo}`: letters without case.
    pub(crate) const CASELESS: u8 = 1 << 3;
    /// `\p{N}`.
    pub(crate) const NUMBER: u8 = 1 << 4;
    /// `\s`, other than the next.
    pub(crate) const SPACE: u8 = 1 << 5;
    /// `[\r\n]`.
    pub(crate) const NEWLINE: u8 = 1 << 6;
    /// Everything else.
    pub(crate) const SYMBOL: u8 = 1 << 7;

    /// How many characters share one row of the table of classes. The table begins with one byte per row of
    /// characters, which says the row of classes that they have; equal rows are stored once.
    pub(crate) const ROW: usize = 256;
    /// How many rows of characters there are.
    pub(crate) const ROWS: usize = 0x11_0000 / ROW;
}
