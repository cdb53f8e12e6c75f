//! The index against an independent count of every note's links.

use crate::support::link_counts::check_link_counts;
use crate::support::{Scratch, vault_generator};

#[test]
fn a_generated_vault_is_counted_right() {
    let scratch = Scratch::new();
    let vault = scratch.path().join("vault");
    vault_generator::generate(&vault, 600, 11);
    let (notes, links) = check_link_counts(&vault);
    assert_eq!(notes, 600);
    assert!(links > 3_000, "{links}");
}
