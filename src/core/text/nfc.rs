//! One form of names that differ only in how their characters are composed: macOS writes file names decomposed, and
//! people type composed characters.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// The composed form of a text; nearly every text has it already.
pub fn nfc(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfc().collect())
    }
}

/// A name as written, and then, where they differ, composed and decomposed: a name on disk may have either form.
pub fn forms(name: &str) -> Vec<Cow<'_, str>> {
    let mut forms = vec![Cow::Borrowed(name)];
    if !name.is_ascii() {
        for form in [nfc(name), Cow::Owned(name.nfd().collect())] {
            if !forms.contains(&form) {
                forms.push(form);
            }
        }
    }
    forms
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn decomposed_names_are_composed() {
        for (decomposed, composed) in
            [("Gro\u{308}ße", "Größe"), ("cafe\u{301}", "café"), ("ガ", "ガ"), ("plain", "plain")]
        {
            assert_eq!(nfc(decomposed), composed);
        }
    }

    #[test]
    fn a_name_has_at_most_three_forms() {
        assert_eq!(forms("plain"), ["plain"]);
        assert_eq!(forms("é"), ["é", "e\u{301}"]);
        assert_eq!(forms("e\u{301}"), ["e\u{301}", "é"]);
        assert_eq!(forms("e\u{301}é"), ["e\u{301}é", "éé", "e\u{301}e\u{301}"]);
    }

    proptest! {
        #[test]
        fn both_forms_become_one(text in any::<String>()) {
            let decomposed: String = text.nfd().collect();
            prop_assert_eq!(nfc(&decomposed), nfc(&text));
        }
    }
}
