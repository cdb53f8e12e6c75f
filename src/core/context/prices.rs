//! The price of an omitted entry: the budget at which it would fit.

use crate::core::context::budget::Budget;
use crate::core::context::build::ContextRequest;
use crate::core::context::candidate::Candidate;
use crate::core::context::pack::Packer;

/// The number of larger budgets that are tried one by one.
const TRIED_ONE_BY_ONE: usize = 300;

/// For every omitted entry, a budget in tokens at which it fits: the smallest of the next few hundred, or a larger
/// one such that one token less is too few. `None` for shown entries, and for entries that the host's own limit keeps
/// out. `grant` turns a number of tokens into the budget that the host allows.
pub fn prices(
    request: &ContextRequest<'_>,
    candidates: &[Candidate],
    grant: impl Fn(usize) -> Budget,
) -> Vec<Option<usize>> {
    let packer = Packer::new(request, candidates);
    let now = request.budget.tokens;
    let taken_at = |tokens: usize| packer.fill_all(grant(tokens)).placed;
    let mut missing: Vec<bool> =
        packer.fill_all(request.budget).placed.iter().map(Option::is_none).collect();
    let mut prices = vec![None; missing.len()];
    // An entry that fits one budget may not fit the next larger one, so bisection would miss the smallest.
    for tokens in (now + 1)..=(now + TRIED_ONE_BY_ONE) {
        if !missing.contains(&true) || grant(tokens).tokens < tokens {
            return prices;
        }
        for (candidate, placed) in taken_at(tokens).iter().enumerate() {
            if missing[candidate] && placed.is_some() {
                missing[candidate] = false;
                prices[candidate] = Some(tokens);
            }
        }
    }
    let all: usize = (0..missing.len()).map(|candidate| packer.whole(candidate).tokens).sum();
    let most = now + all + TRIED_ONE_BY_ONE;
    let taken_at_most = taken_at(most);
    for candidate in (0..missing.len()).filter(|&candidate| missing[candidate]) {
        if taken_at_most[candidate].is_none() {
            continue;
        }
        let (mut without, mut with) = (now + TRIED_ONE_BY_ONE, most);
        while with - without > 1 {
            let middle = without + (with - without) / 2;
            if taken_at(middle)[candidate].is_some() { with = middle } else { without = middle }
        }
        prices[candidate] = Some(with);
    }
    prices
}
