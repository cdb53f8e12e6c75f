//! Randomness of the operating system.

use std::io;

/// Text that nobody can guess: 256 bits in hexadecimal.
pub fn secret() -> io::Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
