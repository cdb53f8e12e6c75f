//! Numbers in human-readable form.

/// A number with thousands separators: 12,345.
pub fn thousands(number: impl TryInto<i128>) -> String {
    let number = number.try_into().unwrap_or_default();
    let digits = number.unsigned_abs().to_string();
    let mut text = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    if number < 0 { format!("-{text}") } else { text }
}

/// A number with a noun, like `1 note` or `1,200 notes`.
pub fn counted(number: usize, what: &str) -> String {
    format!("{} {what}{}", thousands(number as i128), if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(1_000), "1,000");
        assert_eq!(thousands(-1_234_567), "-1,234,567");
    }

    #[test]
    fn one_thing_is_not_many() {
        assert_eq!(counted(0, "note"), "0 notes");
        assert_eq!(counted(1, "note"), "1 note");
        assert_eq!(counted(1_200, "note"), "1,200 notes");
    }
}
