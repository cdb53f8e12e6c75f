//! Tests whose strength is their number: at full size in the soak tier, at a tenth of it in the fast tier.

mod budget;
mod handoff_races;
mod index_crash;
mod index_updates;
mod links_of_a_note;
mod maenifold_traces;
mod note_fuzz;
mod reproducible_context;
mod token_counts;

/// A number at full size, as large as this tier has it.
const fn sized(full: usize) -> usize {
    full.div_ceil(crate::ONE_IN)
}
