//! The name of a way to break text into tokens. Counts none itself.

use serde::{Deserialize, Serialize};

use crate::core::named::named;

/// In which encoding tokens are counted.
///
/// Models of different makers break text differently: a count is exact for the models of its encoding, and an
/// estimate for all others. So a count should never be shown without its encoding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Encoding {
    /// `o200k_base`: GPT-4o and later.
    #[default]
    #[serde(rename = "o200k_base")]
    O200kBase,
    /// `cl100k_base`: GPT-3.5 and GPT-4.
    #[serde(rename = "cl100k_base")]
    Cl100kBase,
}

named!(Encoding { O200kBase = "o200k_base", Cl100kBase = "cl100k_base" });

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::named::Named;

    #[test]
    fn a_name_is_the_same_wherever_it_is_written() {
        for &encoding in Encoding::ALL {
            let name = encoding.to_string();
            assert_eq!(Encoding::parse(&name), Some(encoding));
            assert_eq!(serde_json::to_value(encoding).unwrap(), name);
            assert_eq!(serde_json::from_value::<Encoding>(name.into()).unwrap(), encoding);
        }
        assert_eq!(Encoding::default().to_string(), "o200k_base");
    }

    #[test]
    fn other_names_are_no_encodings() {
        for name in ["", "o200k", "O200K_BASE", " o200k_base", "o200k_harmony", "p50k_base"] {
            assert_eq!(Encoding::parse(name), None, "{name}");
            assert!(serde_json::from_value::<Encoding>(name.into()).is_err(), "{name}");
        }
    }
}
