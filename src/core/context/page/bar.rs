//! The bar that shows which part takes up how much of the budget.

use crate::core::context::candidate::Part;
use crate::core::context::receipt::Receipt;
use crate::core::text::for_html::escape;
use crate::core::text::number::thousands;

/// All of the bar, in hundredths of a percent.
const WHOLE: usize = 10_000;

/// A piece of the bar.
#[derive(Debug, PartialEq, Eq)]
struct Piece {
    /// The part; `None` for unused room.
    part: Option<Part>,
    tokens: usize,
    /// Its width, in hundredths of a percent of the bar.
    share: usize,
}

impl Piece {
    fn class(&self) -> &'static str {
        self.part.map_or("unused", Part::name)
    }

    fn title(&self) -> &'static str {
        self.part.map_or("Unused", Part::title)
    }

    fn percent(&self) -> String {
        match self.share {
            0 if self.tokens > 0 => "under 0.1 %".to_owned(),
            share if share < 10 && share > 0 => "under 0.1 %".to_owned(),
            share if share < 1_000 && share % 100 != 0 => {
                format!("{}.{} %", share / 100, share / 10 % 10)
            }
            share => format!("{} %", (share + 50) / 100),
        }
    }
}

/// The pieces from left to right. Their widths add up to the whole bar.
fn pieces(receipt: &Receipt) -> Vec<Piece> {
    let used: usize = receipt.parts.iter().map(|part| part.tokens).sum();
    let unused = receipt.budget.tokens.saturating_sub(used);
    let whole = (used + unused).max(1);
    let share = |tokens: usize| tokens * WHOLE / whole;
    let mut pieces: Vec<Piece> = receipt
        .parts
        .iter()
        .filter(|part| part.tokens > 0)
        .map(|part| Piece { part: Some(part.name), tokens: part.tokens, share: share(part.tokens) })
        .collect();
    if unused > 0 || pieces.is_empty() {
        pieces.push(Piece { part: None, tokens: unused, share: share(unused) });
    }
    // What rounding down has lost goes to the widest, where it is not seen.
    let lost = WHOLE - pieces.iter().map(|piece| piece.share).sum::<usize>();
    if let Some(widest) = pieces.iter_mut().max_by_key(|piece| piece.share) {
        widest.share += lost;
    }
    pieces
}

/// The bar and its legend.
pub(super) fn bar(receipt: &Receipt) -> String {
    let pieces = pieces(receipt);
    let mut html = String::new();
    if receipt.budget.tokens == 0 {
        html.push_str("<p>The budget was 0 tokens, so there was no room for anything.</p>\n");
    } else if receipt.used.tokens == 0 {
        html.push_str("<p>None of the budget was used.</p>\n");
    }
    let spoken: Vec<String> = pieces
        .iter()
        .map(|piece| format!("{} {}", piece.title().to_lowercase(), thousands(piece.tokens)))
        .collect();
    html.push_str(&format!(
        "<div class=\"bar\" role=\"img\" aria-label=\"Tokens: {}\">",
        escape(&spoken.join(", "))
    ));
    for piece in &pieces {
        html.push_str(&format!(
            "<span class=\"piece {}\" style=\"width:{}.{:02}%\"></span>",
            piece.class(),
            piece.share / 100,
            piece.share % 100
        ));
    }
    html.push_str("</div>\n<ul class=\"legend\">\n");
    for piece in &pieces {
        html.push_str(&format!(
            "<li><span class=\"swatch {}\"></span><span class=\"what\">{}</span> <strong>{}</strong> \
             <span class=\"soft\">{}</span></li>\n",
            piece.class(),
            piece.title(),
            thousands(piece.tokens),
            piece.percent()
        ));
    }
    html.push_str("</ul>\n");
    html
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::context::page::tests::receipt;
    use crate::core::context::receipt::PartUse;
    use proptest::prelude::*;

    fn with(budget: usize, tokens: &[usize]) -> Receipt {
        let mut receipt = receipt();
        receipt.budget.tokens = budget;
        receipt.parts = Part::ALL
            .into_iter()
            .zip(tokens)
            .map(|(name, &tokens)| PartUse { name, tokens })
            .collect();
        receipt
    }

    #[test]
    fn the_widths_are_shares_of_the_budget() {
        let shares = |budget, tokens: &[usize]| -> Vec<usize> {
            pieces(&with(budget, tokens)).iter().map(|piece| piece.share).collect()
        };
        assert_eq!(shares(1_000, &[100, 0, 250, 50, 100]), [1_000, 2_500, 500, 1_000, 5_000]);
        assert_eq!(shares(300, &[100, 100, 100]), [3_333, 3_333, 3_334]);
        assert_eq!(shares(0, &[]), [10_000]);
        assert_eq!(shares(1_000_000, &[1]), [0, 10_000]);
    }

    #[test]
    fn a_share_is_said_as_exactly_as_it_matters() {
        let percent = |share| Piece { part: None, tokens: usize::from(share > 0), share }.percent();
        assert_eq!(
            [0, 5, 42, 250, 900, 1_250].map(percent),
            ["0 %", "under 0.1 %", "0.4 %", "2.5 %", "9 %", "13 %"]
        );
    }

    #[test]
    fn a_budget_of_nothing_is_said_to_be_so() {
        assert!(bar(&with(0, &[])).contains("there was no room for anything"));
    }

    proptest! {
        #[test]
        fn the_widths_always_add_up(budget in 0usize..5_000, tokens in prop::collection::vec(0usize..2_000, 0..=5)) {
            let pieces = pieces(&with(budget, &tokens));
            prop_assert_eq!(pieces.iter().map(|piece| piece.share).sum::<usize>(), WHOLE);
        }
    }
}
