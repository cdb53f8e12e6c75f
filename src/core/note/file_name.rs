//! Names of files in a text: words that have what most names of files have and most other words have not.

/// Bytes that most names of files have and most other words have not.
const MARKS: &[u8] = b"-_/.0123456789";
/// The same as a table: every byte of every note is looked up.
const IS_MARK: [bool; 256] = {
    let mut is_mark = [false; 256];
    let mut n = 0;
    while n < MARKS.len() {
        is_mark[MARKS[n] as usize] = true;
        n += 1;
    }
    is_mark
};

/// The words of a text that look like the name of a file, with folders or without, in order.
pub fn file_names(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '/' | '-');
    let is_mark = |byte: &u8| IS_MARK[usize::from(*byte)];
    let mut from = 0;
    let words = std::iter::from_fn(move || {
        // Most words have no mark of a file's name, and are skipped as bytes.
        let mark = from + bytes[from..].iter().position(is_mark)?;
        let start = text[..mark]
            .rfind(|c| !is_part(c))
            .map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
        let end = text[mark..].find(|c| !is_part(c)).map_or(text.len(), |end| mark + end);
        from = end.max(mark + 1);
        Some(text[start..end].trim_matches(['.', '/', '-', '_']))
    });
    words.filter(|word| is_file_name(word))
}

/// Whether a word looks like the name of a file and not like a word of a sentence.
fn is_file_name(word: &str) -> bool {
    word.len() >= 2
        && word.len() <= 100
        && word.contains(char::is_alphabetic)
        && word.contains(|c: char| c.is_ascii_digit() || matches!(c, '-' | '_' | '/' | '.'))
}
