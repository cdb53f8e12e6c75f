//! Finds `#tags` in text from which code and HTML are already gone.

/// Calls `found` with every tag, without its `#`. `#[[a tag]]` is a link and found as one.
pub fn find_tags(text: &str, mut found: impl FnMut(&str)) {
    for (at, _) in text.match_indices('#') {
        let is_word = text[..at].ends_with(|c: char| !c.is_whitespace() && !"([{,;".contains(c));
        let rest = &text[at + 1..];
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '/' | '.');
        let tag = rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())].trim_end_matches('.');
        // `#12` is an issue, and `#ff8000` a colour.
        if !is_word && tag.contains(char::is_alphabetic) && !is_colour(tag) {
            found(tag);
        }
    }
}

fn is_colour(tag: &str) -> bool {
    matches!(tag.len(), 3 | 6 | 8)
        && tag.contains(|c: char| c.is_ascii_digit())
        && tag.chars().all(|c| c.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_a_word_behind_its_mark() {
        let tags = |text: &str| {
            let mut tags = Vec::new();
            find_tags(text, |tag| tags.push(tag.to_owned()));
            tags.join(" ")
        };
        for (text, expect) in [
            ("#one and #two-three, (#four/five).", "one two-three four/five"),
            ("#role.editor... #a.b.", "role.editor a.b"),
            ("#日本語 #größe_2", "日本語 größe_2"),
            ("a#b http://x.y/z#part #12 #ff8000 #1a2 # #", ""),
            ("#[[a tag]] ##x #face", "face"),
            ("", ""),
        ] {
            assert_eq!(tags(text), expect, "{text}");
        }
    }
}
