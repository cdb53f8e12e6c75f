//! A share in per cent.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A whole number from 0 to 100.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u32")]
pub struct Percent(u32);

impl Percent {
    /// More than the whole counts as the whole.
    pub const fn of_100(share: u32) -> Percent {
        Percent(if share > 100 { 100 } else { share })
    }

    /// This share of a number, rounded down.
    pub fn of(self, whole: usize) -> usize {
        // By hundreds, so that no number is too large.
        let share = self.0 as usize;
        whole / 100 * share + whole % 100 * share / 100
    }
}

impl TryFrom<u32> for Percent {
    type Error = String;

    fn try_from(share: u32) -> Result<Percent, String> {
        let is_share = share <= 100;
        is_share
            .then_some(Percent(share))
            .ok_or_else(|| format!("{share} is more than 100 percent"))
    }
}

impl FromStr for Percent {
    type Err = String;

    fn from_str(text: &str) -> Result<Percent, String> {
        text.parse::<u32>().map_err(|error| error.to_string())?.try_into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_share_is_at_most_the_whole() {
        assert_eq!("10".parse::<Percent>().unwrap().of(4_000), 400);
        assert!("101".parse::<Percent>().is_err() && "-1".parse::<Percent>().is_err());
        assert_eq!(Percent::of_100(100).of(usize::MAX), usize::MAX);
    }

    proptest! {
        #[test]
        fn two_shares_of_a_whole_never_exceed_it(share in 0..=100_u32, whole in any::<usize>()) {
            let of = |share| Percent::of_100(share).of(whole);
            prop_assert!(of(share).checked_add(of(100 - share)).is_some_and(|sum| sum <= whole));
        }
    }
}
