//! The bar that shows which part takes up how much of the budget.

use crate::core::context::receipt::Receipt;
use crate::core::text::for_html::escape;
use crate::core::text::number::thousands;

/// All of the bar, in hundredths of a percent.
const WHOLE: usize = 10_000;

/// A piece of the bar.
#[derive(Debug, PartialEq, Eq)]
struct Piece {
    class: &'static str,
    title: &'static str,
    tokens: usize,
    /// Its width, in hundredths of a percent of the bar.
    share: usize,
}

/// The pieces from left to right. Their widths add up to the whole bar.
fn pieces(receipt: &Receipt) -> Vec<Piece> {
    let used: usize = receipt.parts.iter().map(|part| part.tokens).sum();
    let unused = receipt.budget.tokens.saturating_sub(used);
    let whole = (used + unused).max(1);
    let piece =
        |class, title, tokens| Piece { class, title, tokens, share: tokens * WHOLE / whole };
    let parts = receipt.parts.iter().filter(|part| part.tokens > 0);
    let mut pieces: Vec<Piece> =
        parts.map(|part| piece(part.name.name(), part.name.title(), part.tokens)).collect();
    if unused > 0 || pieces.is_empty() {
        pieces.push(piece("unused", "Unused", unused));
    }
    // What rounding down has lost goes to the widest, where it is not seen.
    let lost = WHOLE - pieces.iter().map(|piece| piece.share).sum::<usize>();
    if let Some(widest) = pieces.iter_mut().max_by_key(|piece| piece.share) {
        widest.share += lost;
    }
    pieces
}

fn percent(tokens: usize, share: usize) -> String {
    match share {
        ..10 if tokens > 0 => "under 0.1 %".to_owned(),
        ..1_000 if !share.is_multiple_of(100) => format!("{}.{} %", share / 100, share / 10 % 10),
        _ => format!("{} %", (share + 50) / 100),
    }
}

/// The bar and its legend.
pub(super) fn bar(receipt: &Receipt) -> String {
    let remark = match (receipt.budget.tokens, receipt.used.tokens) {
        (0, _) => "<p>The budget was 0 tokens, so there was no room for anything.</p>\n",
        (_, 0) => "<p>None of the budget was used.</p>\n",
        _ => "",
    };
    let (mut spoken, mut bar, mut legend) = (Vec::new(), String::new(), String::new());
    for Piece { class, title, tokens, share } in pieces(receipt) {
        let number = thousands(tokens);
        let percent = percent(tokens, share);
        let (whole, rest) = (share / 100, share % 100);
        spoken.push(format!("{} {number}", title.to_lowercase()));
        bar += &format!("<span class=\"piece {class}\" style=\"width:{whole}.{rest:02}%\"></span>");
        legend += &format!(
            "<li><span class=\"swatch {class}\"></span><span class=\"what\">{title}</span> \
             <strong>{number}</strong> <span class=\"soft\">{percent}</span></li>\n"
        );
    }
    let spoken = escape(&spoken.join(", "));
    format!(
        "{remark}<div class=\"bar\" role=\"img\" aria-label=\"Tokens: {spoken}\">{bar}</div>\n\
         <ul class=\"legend\">\n{legend}</ul>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::context::candidate::Part;
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
    fn every_part_has_a_colour_of_its_own() {
        let style = include_str!("style.css");
        for name in Part::ALL.map(Part::name).into_iter().chain(["unused"]) {
            let rule = format!(".{name} {{ background: var(--{name}); }}");
            assert!(style.contains(&rule), "{rule}");
            assert_eq!(style.matches(&format!("--{name}: #")).count(), 2, "light and dark: {name}");
        }
    }

    #[test]
    fn a_share_is_said_as_exactly_as_it_matters() {
        assert_eq!(
            [0, 5, 42, 250, 900, 1_250].map(|share| percent(usize::from(share > 0), share)),
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
