//! The forms of a word: `migrate`, `migration`, `migrations`. Finds the beginning that they share.
//!
//! Knows common endings of a few languages, and no language: a vault may have several, and the index has each word as it
//! is written. So forms are looked up by their beginning, when a query is asked, and cost the index nothing.

/// A shorter beginning is shared by words that have nothing else in common.
const SHORTEST: usize = 4;

/// Endings of English and of languages that are written alike, longest first.
const ENDINGS: [&str; 40] = crate::core::text::words::words(
    "ations ements ungen ation ating ement ments ities ates ated ment ings ions ness able ible ally liche \
     lich ität keit heit ung ate ing ion ies ity ers ern est ive ed er es en em ly ar s",
);

/// Final vowels, one of which is left off a word without any other ending.
const VOWELS: &str = "aeiouyáéíóúýàèìòùâêîôûäöüåæøãõąęůě\
                      аеёийоуыьэюяіїє";

/// The beginning that other forms of a word share, if it is long enough to tell; `None` for anything but a word in
/// letters. The word is in lower case.
pub fn beginning(word: &str) -> Option<&str> {
    let is_long = |beginning: &str| beginning.chars().count() >= SHORTEST;
    if !is_long(word) || !word.chars().all(char::is_alphabetic) {
        return None;
    }
    let without = |ending: &&str| word.strip_suffix(*ending).filter(|rest| is_long(rest));
    let stem = ENDINGS.iter().find_map(without).unwrap_or(word);
    Some(stem.strip_suffix(|c| VOWELS.contains(c)).filter(|rest| is_long(rest)).unwrap_or(stem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_have_the_same_beginning() {
        for forms in [
            &["migrate", "migrates", "migrated", "migrating", "migration", "migrations"][..],
            &["implement", "implements", "implementing", "implementation"],
            &["configure", "configuration", "configured"],
            &["authenticate", "authentication"],
            &["create", "created", "creation"],
            &["query", "queries"],
            &["policy", "policies"],
            &["cache", "caches", "cached", "caching"],
            &["deploy", "deployment", "deployments"],
            &["note", "notes"],
            &["häuser", "häusern"],
            &["einstellung", "einstellungen", "einstellen"],
            &["poznámka", "poznámky", "poznámku"],
            &["migrace", "migraci", "migrací"],
            &["миграция", "миграции", "миграцию"],
        ] {
            let shared = beginning(forms[0]).unwrap();
            for form in forms {
                let own = beginning(form).unwrap();
                // Either finds the other one.
                assert!(
                    form.starts_with(shared) && forms[0].starts_with(own),
                    "{form}: {own}, {shared}"
                );
            }
        }
    }

    #[test]
    fn what_is_no_word_or_too_short_has_no_other_forms() {
        for word in ["", "run", "git", "v2", "utf8mb4", "日本語", "0f3a9c"] {
            assert_eq!(beginning(word), None, "{word}");
        }
        for (word, expect) in
            [("haus", "haus"), ("rust", "rust"), ("class", "clas"), ("ring", "ring")]
        {
            assert_eq!(beginning(word), Some(expect));
        }
    }
}
