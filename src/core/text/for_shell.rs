//! Text for a shell.

/// A word as a shell reads it.
pub fn word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./+@%:,".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
