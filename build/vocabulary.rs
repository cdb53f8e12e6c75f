//! One encoding's tokens as two tables that are searched by hash.

use tiktoken_rs::CoreBPE;

use crate::layout::{self, FREE, LONGEST, RANK_BITS, SHORT, Slot};

/// What the program searches.
pub(crate) struct Tables {
    /// Tokens of up to eight bytes.
    pub(crate) short: Vec<Slot>,
    /// Longer tokens.
    pub(crate) long: Vec<Slot>,
    /// The bytes of the longer tokens, one after the other.
    pub(crate) bytes: Vec<u8>,
}

/// Asks the reference for the bytes of its `expected` ordinary tokens and lays them out.
pub(crate) fn tables(reference: &CoreBPE, expected: usize) -> Result<Tables, String> {
    let tokens: Vec<Vec<u8>> =
        (0..).map_while(|rank| reference.decode_bytes(&[rank]).ok()).collect();
    if tokens.len() != expected {
        return Err(format!("{} ordinary tokens instead of {expected}", tokens.len()));
    }
    if tokens.iter().filter(|token| token.len() == 1).count() != 256 {
        return Err("not every byte is a token of its own".to_owned());
    }
    // Also what makes a length fit beside its rank.
    if let Some(token) = tokens.iter().find(|token| token.len() > LONGEST) {
        return Err(format!("a token of {} bytes, more than {LONGEST}", token.len()));
    }
    let n_short = tokens.iter().filter(|token| token.len() <= SHORT).count();
    let mut short = table_for(n_short);
    let mut long = table_for(tokens.len() - n_short);
    let mut bytes = Vec::new();
    // By rank, so that the tokens that are most often looked for are nearest to their homes.
    for (rank, token) in (0..).zip(&tokens) {
        let label = rank | ((token.len() as u32) << RANK_BITS);
        if token.len() <= SHORT {
            let key = layout::key(token);
            let hash = layout::short_hash(key);
            put(&mut short, hash, [key as u32, (key >> 32) as u32, label]);
        } else {
            let hash = layout::long_hash(token);
            put(&mut long, hash, [hash as u32, bytes.len() as u32, label]);
            bytes.extend_from_slice(token);
        }
    }
    Ok(Tables { short, long, bytes })
}

/// Two thirds full: most searches end at the first place, and the binary does not grow for the sake of free ones.
fn table_for(tokens: usize) -> Vec<Slot> {
    vec![[FREE.to_le_bytes(); 3]; tokens * 3 / 2]
}

fn put(table: &mut [Slot], hash: u64, numbers: [u32; 3]) {
    let mut at = layout::home(hash, table.len());
    while table[at][2] != FREE.to_le_bytes() {
        at = (at + 1) % table.len();
    }
    table[at] = numbers.map(u32::to_le_bytes);
}
