//! The forms of a word: `migrate`, `migration`, `migrations`. Finds the beginning that they share.
//!
//! Knows common endings of a few languages, and no language: a vault may have several, and the index has each word as it
//! is written. So forms are looked up by their beginning, when a query is asked, and cost the index nothing.

use crate::core::text::words::words;

/// A shorter beginning is shared by words that have nothing else in common.
const SHORTEST: usize = 4;

/// Endings of English and of languages that are written alike, longest first.
const ENDINGS: [&str; 85] = words(
    "ations ements lardan lerden ungen ation ating ement ments ities liche larda lerde ates ated ment \
     ings ions ness able ible ally lich ität keit heit ları leri ung ate ing ion ies ity ers ern est ive \
     lar ler ssa ssä sta stä lla llä lta ltä lle ksi ями ами ого его ому ему ыми ими иях ed er es en em \
     ly ar ях ах ов ев ей ой ий ый ая яя ое ее ую юю ом ем ам ям s",
);

/// Final vowels, one of which is left off a word without any other ending.
const VOWELS: &str = "aeiouyáéíóúýàèìòùâêîôûäöüåæøãõąęůě\
                      аеёийоуыьэюяіїє";

/// Korean particles, which are written without a blank behind a word, longest first.
const PARTICLES: [&str; 32] = words(
    "으로부터 에서는 에서도 이라는 으로는 에서 에게 한테 으로 부터 까지 처럼 보다 하고 이나 라는 들이 들을 \
     들은 은 는 이 가 을 를 의 에 와 과 로 도 만",
);
const SHORTEST_KOREAN: usize = 2;
/// What Arabic writes before a word: the article, alone and behind what is joined to it, longest first.
const ARTICLES: [&str; 4] = words("وال بال لل ال");
const SHORTEST_ARABIC: usize = 3;

/// The beginning that other forms of a word share, if it is long enough to tell; `None` for anything but a word in
/// letters. The word is in lower case.
pub fn beginning(word: &str) -> Option<&str> {
    if word.chars().all(is_hangul) {
        return Some(without_particle(word)).filter(|word| is_long(word, SHORTEST_KOREAN));
    }
    if word.chars().all(is_arabic) {
        return Some(without_article(word)).filter(|word| is_long(word, SHORTEST_ARABIC));
    }
    if !is_long(word, SHORTEST) || !word.chars().all(char::is_alphabetic) {
        return None;
    }
    let without = |ending: &&str| word.strip_suffix(*ending).filter(|rest| is_long(rest, SHORTEST));
    let stem = ENDINGS.iter().find_map(without).unwrap_or(word);
    let rest = stem.strip_suffix(|c| VOWELS.contains(c));
    Some(rest.filter(|rest| is_long(rest, SHORTEST)).unwrap_or(stem))
}

/// The beginnings of the other forms of a word: its own, and in Arabic those with an article.
pub fn beginnings(word: &str) -> Vec<String> {
    let Some(beginning) = beginning(word) else { return Vec::new() };
    let articles = ARTICLES.iter().filter(|_| word.chars().all(is_arabic));
    let with_article = articles.map(|article| format!("{article}{beginning}"));
    [beginning.to_owned()].into_iter().chain(with_article).collect()
}

/// A word as a title has it: without the particle or the article that belongs to a sentence. `None` if it has none.
pub fn bare(word: &str) -> Option<&str> {
    let bare = match word.chars().next()? {
        c if is_hangul(c) => without_particle(word),
        c if is_arabic(c) => without_article(word),
        _ => word,
    };
    (bare != word).then_some(bare)
}

fn without_particle(word: &str) -> &str {
    let without = |particle: &&str| word.strip_suffix(*particle);
    PARTICLES.iter().filter_map(without).find(|rest| is_long(rest, SHORTEST_KOREAN)).unwrap_or(word)
}

fn without_article(word: &str) -> &str {
    let without = |article: &&str| word.strip_prefix(*article);
    ARTICLES.iter().filter_map(without).find(|rest| is_long(rest, SHORTEST_ARABIC)).unwrap_or(word)
}

fn is_long(word: &str, least: usize) -> bool {
    word.chars().nth(least - 1).is_some()
}

/// Whether a character is a Korean syllable.
pub fn is_hangul(c: char) -> bool {
    matches!(c, '\u{ac00}'..='\u{d7a3}')
}

fn is_arabic(c: char) -> bool {
    matches!(c, '\u{620}'..='\u{64a}')
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
            &["оплата", "оплаты", "оплатой", "оплатами"],
            &["пользователь", "пользователей", "пользователями"],
            &["servisler", "servisleri", "servislerden"],
            &["palvelu", "palvelussa", "palvelulle"],
            &["결제", "결제에서", "결제를", "결제는"],
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
    fn arabic_words_are_found_with_and_without_article() {
        for (word, other) in [("نشر", "النشر"), ("النشر", "نشر"), ("النشر", "والنشر")]
        {
            let beginnings = beginnings(word);
            assert!(beginnings.iter().any(|beginning| other.starts_with(beginning)), "{word}");
        }
        assert_eq!((bare("النشر"), bare("نشر")), (Some("نشر"), None));
    }

    #[test]
    fn korean_words_are_bare_without_their_particle() {
        assert_eq!((bare("결제에서"), bare("결제"), bare("회의")), (Some("결제"), None, None));
        assert_eq!((bare("auth"), bare("")), (None, None));
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
