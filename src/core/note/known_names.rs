//! The concepts of link names that were read before. Most links of a vault repeat the names of others, and what a name means
//! takes far longer to tell than to look up.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::core::note::concept::Concept;
use crate::core::note::wikilink;
use crate::core::secrets;
use crate::core::settings::LinkStyle;

/// More names are forgotten, all at once.
const MOST_NAMES: usize = 10_000;
/// Longer names are hardly ever repeated.
const LONGEST_NAME_BYTES: usize = 80;

thread_local! {
    static KNOWN: RefCell<KnownNames> = RefCell::new(KnownNames::default());
}

#[derive(Default)]
struct KnownNames {
    style: Option<LinkStyle>,
    concepts: HashMap<Box<str>, Option<Concept>>,
}

/// The concept that a link's inner text names under `style`; `None` if it names none, or holds a secret.
pub(super) fn concept(inner: &str, style: LinkStyle) -> Option<Concept> {
    if inner.len() > LONGEST_NAME_BYTES {
        return read(inner, style);
    }
    KNOWN.with_borrow_mut(|known| {
        if known.style != Some(style) || known.concepts.len() == MOST_NAMES {
            known.concepts.clear();
            known.style = Some(style);
        }
        if let Some(concept) = known.concepts.get(inner) {
            return concept.clone();
        }
        let concept = read(inner, style);
        known.concepts.insert(inner.into(), concept.clone());
        concept
    })
}

fn read(inner: &str, style: LinkStyle) -> Option<Concept> {
    // Looked at as it was written: the normal form of a secret has no shape any more.
    let is_secret = !secrets::find(inner).is_empty();
    wikilink::concept(inner, style).filter(|_| !is_secret)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::core::named::Named;

    #[test]
    fn a_name_means_in_each_style_what_it_means_there() {
        for _ in 0..2 {
            for &style in LinkStyle::ALL {
                for inner in
                    ["A b", "label|target", "x#part", "a.png", "password=hunter2-Xy9z!", ""]
                {
                    assert_eq!(concept(inner, style), read(inner, style), "{style:?} {inner}");
                }
            }
        }
    }

    #[test]
    fn names_are_forgotten_before_there_are_too_many() {
        for n in 0..2 * MOST_NAMES {
            assert_eq!(
                concept(&format!("n{n}"), LinkStyle::Plain),
                Concept::parse(&format!("n{n}"))
            );
        }
        KNOWN.with_borrow(|known| assert!(known.concepts.len() <= MOST_NAMES));
    }

    proptest! {
        #[test]
        fn what_is_known_is_what_is_read(inner in ".{0,100}") {
            for style in [LinkStyle::Plain, LinkStyle::Obsidian] {
                prop_assert_eq!(concept(&inner, style), read(&inner, style));
                prop_assert_eq!(concept(&inner, style), read(&inner, style));
            }
        }
    }
}
