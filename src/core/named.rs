//! Enums whose values have fixed names, the same in settings, on the command line and in answers.

/// An enum with a name for each value; see `named!`.
pub trait Named: Copy + Send + Sync + 'static {
    /// Every value, in the order of the help texts.
    const ALL: &'static [Self];

    fn name(self) -> &'static str;

    /// Finds a value by its exact name.
    fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|value| value.name() == name)
    }

    /// All names in words, like "auto, index or cli".
    fn names() -> String {
        in_words(Self::ALL.iter().copied())
    }
}

/// Some names in words.
pub(crate) fn in_words<T: Named>(values: impl Iterator<Item = T>) -> String {
    let names: Vec<&str> = values.map(T::name).collect();
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => names.concat(),
    }
}

/// Implements [`Named`] and `Display` for an enum.
macro_rules! named {
    ($of:ident { $($value:ident = $name:literal),+ $(,)? }) => {
        impl $crate::core::named::Named for $of {
            const ALL: &'static [$of] = &[$($of::$value),+];

            fn name(self) -> &'static str {
                match self {
                    $($of::$value => $name),+
                }
            }
        }

        impl std::fmt::Display for $of {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad($crate::core::named::Named::name(*self))
            }
        }
    };
}
pub(crate) use named;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::relevance::uncommitted::UncommittedFiles;
    use crate::core::session::{Announcement, Delivery};
    use crate::core::settings::{LinkPreference, LinkStyle};
    use crate::core::source::SourcePreference;
    use crate::core::tokens::encoding::Encoding;

    #[test]
    fn a_name_is_the_same_in_settings_and_in_json() {
        fn check<T: Named + std::fmt::Debug + serde::Serialize + PartialEq>() {
            for value in T::ALL {
                assert_eq!(serde_json::to_value(value).unwrap(), value.name());
                assert_eq!(T::parse(value.name()), Some(*value));
            }
        }
        check::<Announcement>();
        check::<Delivery>();
        check::<Encoding>();
        check::<LinkPreference>();
        check::<LinkStyle>();
        check::<SourcePreference>();
        check::<UncommittedFiles>();
    }

    #[test]
    fn names_are_listed_in_words() {
        assert_eq!(SourcePreference::names(), "auto, index, database or cli");
        assert_eq!(LinkPreference::names(), "auto, obsidian, logseq, dendron or maenifold");
    }
}
