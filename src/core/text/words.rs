//! A list of words, written as one text. The compiler splits it: a search in the list costs what it costs in any other.

/// Returns the `N` words of a text. The build fails if it has fewer or more, or two blanks in a row.
pub(crate) const fn words<const N: usize>(text: &'static str) -> [&'static str; N] {
    let mut words = [""; N];
    let (mut rest, mut n) = (text, 0);
    while n < N {
        let mut end = 0;
        while end < rest.len() && rest.as_bytes()[end] != b' ' {
            end += 1;
        }
        assert!(end > 0, "a word is missing");
        (words[n], rest) = rest.split_at(end);
        (_, rest) = rest.split_at(!rest.is_empty() as usize);
        n += 1;
    }
    assert!(rest.is_empty(), "there are more words");
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_becomes_its_words() {
        assert_eq!(words(""), [""; 0]);
        assert_eq!(words("secret"), ["secret"]);
        assert_eq!(words("a change-me ${ ü"), ["a", "change-me", "${", "ü"]);
    }
}
